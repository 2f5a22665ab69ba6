"""JSON-RPC 2.0 vectors against a transport: where the protocol's own rules win is written down, everything else must match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.runtime.rig import Rig, Wire

# Vector -> the rule of PROTOCOL.md that asks for something else.
DEPARTURES: Final = {
    # broken input is dropped without a reply
    "parse error": "T8",
    "two texts on one line": "T11",
    "trailing comma": "T8",
    "NaN": "T8",
    "Infinity": "T8",
    "raw control character in string": "T8",
    "100k open brackets": "T8",
    "top level number": "T9",
    "top level string": "T9",
    "top level null": "T9",
    "empty object": "T20",
    "empty batch": "T10",
    "batch of junk": "T10",
    "batch of two": "T10",
    # frames are classified by the types of id and method alone
    "id null request": "T19",
    "id object": "T19",
    "id array": "T19",
    "id bool": "T19",
    "method number": "T18",
    "version 1.0": "T15",
    "version number": "T15",
    # the handler decides on methods and params, and its failures have one code
    "unknown method": "S9",
    "reserved rpc. prefix": "S9",
    "dunder method": "S9",
    "attribute-like method": "S9",
    "empty method": "S9",
    "params string": "T27",
    "params number": "T27",
    "params array for named method": "T27",
    "params wrong shape": "T37",
    # what is valid JSON reaches the handler, and what the encoding spoiled is repaired
    "invalid utf-8": "T6",
    "overlong utf-8": "T6",
    "5000 digit integer": "T35",
    "exponent overflow": "T35",
    "lone surrogate escape": "S9",
}

SILENT: Final = {"T8", "T9", "T10", "T11", "T18", "T19", "T20"}
"""The rules among them that ask for no reply."""

SENTINEL: Final = b'{"jsonrpc":"2.0","id":"sentinel","method":"noargs"}\n'


def handle(method: str, params: dict[str, Any]) -> Any:
    match method:
        case "echo":
            if not isinstance(params.get("x", 0), int | float):
                raise TypeError("x is no number")
            return params
        case "noargs":
            return "ok"
        case "none":
            return None
        case "unenc":
            return object()
        case "fail":
            raise ValueError("no luck")
        case _:
            raise LookupError(f"unknown method: {method}")


def replies(wire: Wire) -> list[Any]:
    """What comes before the answer to the sentinel, or instead of it."""
    got: list[Any] = []
    while True:
        frame = wire.read()
        if isinstance(frame, dict) and frame.get("id") == "sentinel":
            return got
        got.append(frame)


def matches(got: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(map(matches, got, expected))
    if not isinstance(got, dict) or got["id"] != expected["id"] or type(got["id"]) is not type(expected["id"]):
        return False
    if "result" in expected:
        return "result" in got and bool(got["result"] == expected["result"])
    code = got.get("error", {}).get("code")
    low, high = expected.get("code_range", (expected.get("code"), expected.get("code")))
    return code is not None and bool(low <= code <= high)


def test_vectors(rig: Rig, reference_dir: Path) -> None:
    path = reference_dir / "suites" / "jsonrpc2-vectors" / "vectors.jsonl"
    vectors = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    side, wire = rig.wired(start=False)
    side.on_request(handle)
    side.on_notification(lambda *_: None)
    side.start()
    differing = {}
    for vector in vectors:
        # Requests are handled side by side, so an answer that is due is waited for before the sentinel asks.
        wire.feed(bytes.fromhex(vector["in_hex"]) + b"\n")
        silent = [] in vector["accept"] or DEPARTURES.get(vector["name"]) in SILENT
        got: list[Any] = [] if silent else [wire.read()]
        wire.feed(SENTINEL)
        got += replies(wire)
        if not any(matches(got, accepted) for accepted in vector["accept"]):
            differing[vector["name"]] = got
    assert set(differing) == set(DEPARTURES), differing
    assert len(vectors) == 65


@pytest.mark.parametrize("rule", sorted(set(DEPARTURES.values())))
def test_departures_cite_rules(rule: str) -> None:
    text = (Path(__file__).parents[2] / "schema" / "PROTOCOL.md").read_text(encoding="utf-8")
    assert f"- **{rule}** " in text
