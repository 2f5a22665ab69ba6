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

    data = b"\n".join([shutdown(0, 1), *(shutdown(depth, depth) for depth in range(940, 1010)), b""])
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
