"""The quick lanes give the report of the long way: on healthy and broken logs, cut, mutated, in rows and bare."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.sequencing import load_sequencing
from dsh_codegen.frames.setup import Setup
from dsh_codegen.frames.shortcut import Shortcut
from tests.codegen.frames.sequence_logs import bundle
from tests.codegen.frames.test_reading import on_a_stack
from tests.codegen.frames.test_stream import LOG, LOGS, SETUP, TABLE, report
from tests.codegen.frames.toy import BUNDLE, log, request, result, row

REVISIONS: Final = ("2026-07-29", "0.1.1", "0.1.5", "0.2.1")
SETUPS: Final = {
    revision: Setup(Protocol(revision, bundle(revision)), load_sequencing(TABLE, revision)) for revision in REVISIONS
}


def same(setup: Setup, data: bytes, **options: Any) -> str:
    """The report, whatever the lane."""
    quick = report(setup, [("log", data)], **options)
    assert quick == report(replace(setup, quick=False), [("log", data)], **options)
    return quick


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("name", ["healthy", "healthy-0.1.5", "broken"])
def test_logs_of_ours_under_every_revision(name: str, revision: str) -> None:
    same(SETUPS[revision], (LOGS / f"{name}.jsonl").read_bytes())


def test_captures_under_every_revision(reference_dir: Path) -> None:
    for path in sorted((reference_dir / "captures").glob("*.jsonl")):
        for setup in SETUPS.values():
            same(setup, path.read_bytes())


def test_several_conversations_cut_and_strict() -> None:
    same(SETUP, LOG, cuts=range(0, len(LOG), 9001))
    same(replace(SETUP, strict=True), LOG, known=True)


def test_frames_without_rows() -> None:
    frames = [json.loads(line)["frame"] for line in (LOGS / "healthy.jsonl").read_bytes().splitlines()]
    bare = log(*(frame for frame in frames if frame is not None))
    assert json.loads(same(SETUP, bare))["summary"]["errors"] == 0


def test_nearly_every_line_of_a_healthy_log_takes_the_quick_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    missed: list[int] = []
    judge = Shortcut.judge

    def counted(self: Shortcut, batch: Any, first: int) -> Iterator[int]:
        for index in judge(self, batch, first):
            missed.append(index)
            yield index

    monkeypatch.setattr(Shortcut, "judge", counted)
    data = (LOGS / "healthy.jsonl").read_bytes()
    report(SETUP, [("log", data)])
    markers = [index for index, line in enumerate(data.splitlines()) if json.loads(line)["frame"] is None]
    assert missed == markers


def mutants(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """The log with some lines changed: a number, a letter, a member's name, a line twice, two lines swapped, one gone."""
    random = Random(seed)
    for _ in range(count):
        lines = data.split(b"\n")
        for _ in range(random.randint(1, 3)):
            at = random.randrange(len(lines) - 1)
            line = bytearray(lines[at])
            match random.randrange(6):
                case 0 if line:
                    line[random.randrange(len(line))] = random.choice(b'0159-"{}[],:aetrx \\\x00\xff')
                case 1 if line:
                    del line[random.randrange(len(line))]
                case 2:
                    lines.insert(at, lines[at])
                case 3:
                    other = random.randrange(len(lines) - 1)
                    lines[at], lines[other] = lines[other], lines[at]
                    continue
                case 4:
                    line.clear()
                case _:
                    lines.append(bytes(line))
            lines[at] = bytes(line)
        yield b"\n".join(lines)


@pytest.mark.parametrize("seq", ['"5"', "null", "5.0", "1e400", "true", "-1", str(2**70)])
def test_odd_values_where_numbers_should_rise(seq: str) -> None:
    lines = (LOGS / "healthy.jsonl").read_bytes().splitlines(keepends=True)
    lines[10] = lines[10].replace(b'"seq":', f'"seq":{seq},"seq_":'.encode())
    assert json.loads(same(SETUP, b"".join(lines), cuts=[3000]))["summary"]["frames"] == 33


def test_mutated_logs() -> None:
    for changed in mutants((LOGS / "healthy.jsonl").read_bytes(), 1, 120):
        same(SETUP, changed)


def test_how_deep_a_frame_may_be_does_not_depend_on_the_lane_nor_on_the_stack() -> None:
    def shutdown(number: int, depth: int) -> bytes:
        frame = {"jsonrpc": "2.0", "id": number, "method": "shutdown", "params": 0}
        return json.dumps(row("c2s", frame)).replace(": 0", f": {'[' * depth}{']' * depth}").encode()

    data = b"\n".join([shutdown(0, 1), *(shutdown(depth, depth) for depth in (*range(940, 1010), 200_000)), b""])
    found = [on_a_stack(used, partial(same, SETUP, data)) for used in (0, 7, 300)]
    assert found[1:] == found[:-1]
    assert {each["rule"] for each in json.loads(found[0])["groups"]} >= {"json/nesting"}


TOY: Final = Setup(Protocol("1", BUNDLE))


@pytest.mark.parametrize(
    "second",
    [
        row("s2c", result("a", {"id": "m"})),
        row("s2c", result("a", {})),
        row("s2c", {"jsonrpc": "2.0", "id": "a", "error": {"code": -32603, "message": ""}}),
        row("s2c", {"jsonrpc": "2.0", "id": "a", "error": {"code": 5, "message": ""}}),
        row("c2s", result("a", {"id": "m"})),
        row("c2s", request("a", "ping")),
        row("s2c", request("a", "recall")),
        row("s2c", request("a", "who/knows")),
    ],
)
def test_what_comes_after_a_request(second: Any) -> None:
    same(TOY, log(row("c2s", request("a", "ask/question", {"sessionId": "s", "blocks": []})), second))


def rule(name: str, first: tuple[str, str | list[str]], second: tuple[str, str | list[str]]) -> dict[str, Any]:
    """The second event follows the first one with the same key, once."""
    return {
        "id": f"sequence/{name}",
        "severity": "error",
        "sentence": "In turn.",
        "protocol": ["S1"],
        "per": dict([first, second]),
        "after": {first[0]: ["", second[0]], second[0]: [first[0]]},
        "says": {first[0]: f"{name}: again {{key}}", second[0]: f"{name}: nothing before {{key}}"},
        "ends": {first[0]: f"{name}: open {{key}}"},
    }


ODD: Final[dict[str, Any]] = {
    "events": {
        "changed": {"notification": "change"},
        "started": {"notification": "change", "where": {"params.change.kind": "started"}},
        "stopped": {"notification": "change", "where": {"params.change.kind": "stopped"}},
        "asked": {"request": "ask/question"},
        "placed": {"request": "ask/question", "where": {"params.place": "append"}},
        "answered": {"response": "ask/question", "has": "result"},
        "refused": {"response": "ask/question", "has": "error"},
        "m answered": {"response": "ask/question", "where": {"result.id": "m"}},
        "pinged": {"request": "ping", "has": "params"},
        "pinged 1": {"request": "ping", "where": {"params.n[*]": 1}},
        "recalled": {"request": "recall", "has": "id"},
        "free": {"response": "free", "where": {"result.done": True}},
        "mapped": {"response": "map", "has": "result"},
    },
    "rules": [
        rule("echo", ("stopped", "params.change.echo.to[*].id"), ("pinged", "params.to")),
        rule("two-parts", ("pinged 1", ["params.a", "params.b.c"]), ("stopped", ["params.change.echo.a", "params.change.why"])),
        rule("answers", ("asked", ""), ("answered", "")),
        rule("ids", ("placed", "params.sessionId"), ("m answered", "result.id")),
        rule("refusals", ("recalled", "id"), ("refused", "error.code")),
        rule("results", ("free", "result.key"), ("mapped", "result.key")),
        {
            "id": "sequence/rising",
            "severity": "error",
            "sentence": "Rises.",
            "protocol": ["S2"],
            "per": {"stopped": "params.change.kind"},
            "rising": "params.change.echo.n",
        },
        {
            "id": "sequence/words",
            "severity": "error",
            "sentence": "What is no number does not rise.",
            "protocol": ["S2"],
            "per": {"changed": "params.change.kind"},
            "rising": "params.change.kind",
        },
    ],
}
FREE: Final[list[Any]] = [
    None,
    5,
    {"to": [{"id": "x"}, {"id": 1}, {"id": None}, {}, 3], "a": "x", "n": 1},
    {"to": [{"id": "x"}], "a": 1, "n": 0.5, "b": {"c": "asked"}, "key": "k"},
    {"to": "x", "n": [1], "a": {}, "b": {"c": "failed"}, "key": 1, "done": True},
    {"to": "x", "n": [2, 1], "a": "x", "b": {"c": "asked"}},
    {"to": "x", "n": 2, "a": "x", "b": {"c": "asked"}, "key": "k", "done": True},
]


def odd_log(seed: int) -> bytes:
    """Calls and responses with anything where a rule may look for something."""
    random = Random(seed)
    rows: list[Any] = []
    asked: list[tuple[int, str]] = []
    for number in range(30):
        free, kind = random.choice(FREE), random.choice(["started", "stopped"])
        id_, method = random.choice(asked) if asked else (0, "ping")
        rows.append(
            random.choice(
                [
                    row("s2c", {"jsonrpc": "2.0", "method": "change", "params": {"change": {"kind": "started", "at": 1}}}),
                    row("s2c", {"jsonrpc": "2.0", "method": "change", "params": {"change": {"kind": kind, "echo": free}}}),
                    row(
                        "s2c",
                        {
                            "jsonrpc": "2.0",
                            "method": "change",
                            "params": {"change": {"kind": kind, "echo": free, "why": "asked"}},
                        },
                    ),
                    row("c2s", request(number, "ping", *[] if free is None else [free])),
                    row(
                        "c2s",
                        request(number, "ask/question", {"sessionId": random.choice("mn"), "blocks": [], "place": "append"}),
                    ),
                    row("c2s", request(number, "free", free)),
                    row("c2s", request(number, "map")),
                    row("s2c", request(random.choice("mn"), "recall")),
                    row("s2c", result(id_, {"id": random.choice("mn")} if method == "ask/question" else free)),
                    row("s2c", {"jsonrpc": "2.0", "id": id_, "error": {"code": -32601, "message": ""}}),
                ]
            )
        )
        frame = rows[-1]["frame"]
        if rows[-1]["dir"] == "c2s":
            asked.append((number, frame["method"]))
        elif "method" not in frame and asked:
            asked.remove((id_, method))
    return log(*rows)


def test_rules_that_lead_anywhere() -> None:
    free = {"name": "free", "sender": "client", "params": None, "result": "Free", "description": ""}
    map_ = {"name": "map", "sender": "client", "params": None, "result": "Map", "description": ""}
    definitions = {**BUNDLE["$defs"], "Free": {}, "Map": {"type": "object", "additionalProperties": True}}
    protocol = Protocol("1", {**BUNDLE, "x-methods": [*BUNDLE["x-methods"], free, map_], "$defs": definitions})
    setup = Setup(protocol, load_sequencing(ODD, "1"))
    told: set[str] = set()
    for seed in range(300):
        data = odd_log(seed)
        found = json.loads(same(setup, data, cuts=[seed * 7 % len(data), 1000]))
        told |= {finding["rule"] for finding in found["findings"]}
    assert told >= {rule["id"] for rule in ODD["rules"]} - {"sequence/words"}


def test_a_frame_at_the_limit_of_the_stack() -> None:
    """A lane may give up on it in one place and take it in another, with another stack."""
    setup = SETUPS["0.2.1"]
    for depth in range(955, 1000, 3):
        params = b'{"a":' + b"[" * depth + b"]" * depth + b"}"
        same(setup, b'{"dir":"c2s","frame":{"jsonrpc":"2.0","id":1,"method":"shutdown","params":%s}}\n' % params)


@pytest.mark.parametrize("free", [b'"\xff"', b"[" + b"7" * 5_000 + b"]", b'"\xed\xa0\x80"'])
@pytest.mark.parametrize("response", [False, True])
def test_what_is_wrong_inside_free_json_is_found(free: bytes, *, response: bool) -> None:
    """`shutdown` takes any params, and of a result that comes twice the first one leaves no trace."""
    asked = b'{"dir":"c2s","frame":{"jsonrpc":"2.0","id":1,"method":"shutdown","params":%s}}\n'
    answered = b'{"dir":"s2c","frame":{"jsonrpc":"2.0","id":1,"result":%s,"result":{}}}\n'
    data = asked % (b"{}" if response else free) + answered % (free if response else b"{}")
    found = json.loads(same(SETUPS["0.2.1"], data * 3, cuts=[len(data)]))
    assert [finding["line"] for finding in found["findings"] if finding["rule"].startswith(("line/", "json/"))]
