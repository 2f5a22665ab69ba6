"""JSONTestSuite files as frames: whole, one byte at a time, and inside params, in every flavour."""

from __future__ import annotations

import json
from math import isinf
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_runtime.connection import Connection, Event, LineDropped, RequestReceived
from tests.runtime.rig import Rig

SNAPSHOT: Final = Path(__file__).parent / "json_suite.json"
"""What becomes of the files whose verdict the suite leaves open: as a line, and inside params. Reviewed, like code."""

NO_REQUEST: Final = {
    "the line is no JSON object",
    "the frame has neither a method nor an id",
    "nobody waits for a response with this id",
}
BLANK: Final = {"n_single_space.json", "n_structure_no_data.json", "n_structure_UTF8_BOM_no_data.json"}


def in_params(data: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":' + data + b"}}"


def events_of(chunks: list[bytes]) -> list[Event[str]]:
    reader: Connection[str] = Connection()
    return [event for chunk in chunks for event in reader.receive(chunk)]


def outcome(data: bytes) -> str:
    """What a line with this text is."""
    match events_of([data + b"\n"]):
        case []:
            return "blank"
        case [LineDropped(reason)]:
            return reason.split(":")[0]
        case [RequestReceived(_, _, params)]:
            return json.dumps(_shown(params.get("x")))[:60]
        case _:
            return "several lines"


def _shown(value: Any) -> Any:
    return str(value) if isinstance(value, float) and isinf(value) else value


@pytest.fixture(scope="module")
def suite(reference_dir: Path) -> dict[str, bytes]:
    folder = reference_dir / "suites" / "jsontestsuite" / "test_parsing"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}


def test_verdicts(suite: dict[str, bytes]) -> None:
    assert len(suite) == 318
    wrong = {}
    for name, data in suite.items():
        alone, inside = outcome(data), outcome(in_params(data))
        if b"\n" in data:
            continue
        if name.startswith("y_"):
            good = alone in NO_REQUEST and not inside.startswith("the line")
        elif name.startswith("n_"):
            good = alone in {"the line is not JSON", "the line is nested too deeply to be read"} or name in BLANK
            good &= inside.startswith("the line")
        else:
            continue
        if not good:
            wrong[name] = (alone, inside)
    assert wrong == {}


def test_open_verdicts(suite: dict[str, bytes]) -> None:
    found = {name: [outcome(data), outcome(in_params(data))] for name, data in suite.items() if name.startswith("i_")}
    assert found == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_one_byte_at_a_time(suite: dict[str, bytes]) -> None:
    for name, data in suite.items():
        for line in (data + b"\n", in_params(data) + b"\n"):
            whole = events_of([line])
            cut = events_of([line[at : at + 1] for at in range(len(line))])
            assert repr(cut) == repr(whole), name  # as text, since what is infinite or not a number equals nothing


def test_on_the_wire(rig: Rig, suite: dict[str, bytes]) -> None:
    """Nothing in them ends a conversation, and every flavour answers what `Connection` calls a request."""
    side, wire = rig.wired(start=False)
    side.on_request(lambda _, params: repr(params.get("x", ""))[:100])
    side.start()
    answers = {"sentinel": 0, 1: 0}
    for data in suite.values():
        wire.feed(data + b"\n" + in_params(data) + b"\n")
        if len(data) < 100:
            for at in range(len(data)):
                wire.feed(data[at : at + 1])
            wire.feed(b"\n")
        wire.send({"id": "sentinel", "method": "m"})
        while True:
            frame = wire.read()
            answers[frame["id"]] += 1
            if frame["id"] == "sentinel":
                break
    requests = sum(
        isinstance(event, RequestReceived) for data in suite.values() for event in events_of([in_params(data) + b"\n"])
    )
    while answers[1] < requests:
        answers[wire.read()["id"]] += 1
    assert answers == {"sentinel": len(suite), 1: requests}
    assert wire.quiet()
