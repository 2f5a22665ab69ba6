"""A log may be cut anywhere, and the report is the same: what makes it safe to leave pieces to others."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen.frames import order
from dsh_codegen.frames.engine import Joiner, Task
from dsh_codegen.frames.examine import examine
from dsh_codegen.frames.findings import Finding
from dsh_codegen.frames.formats import renderer
from dsh_codegen.frames.part import Part
from dsh_codegen.frames.pending import MOST_ALIKE, MOST_WAITING, Asked, Pending
from dsh_codegen.frames.plan import InputFile
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.report import Report
from dsh_codegen.frames.sequencing import EMPTY, load_sequencing
from dsh_codegen.frames.setup import Setup
from dsh_codegen.frames.source import Piece
from dsh_codegen.frames.stream import Stream
from dsh_codegen.frames.words import rules
from tests.codegen.frames.sequence_logs import bundle
from tests.codegen.frames.toy import BUNDLE, log, request, result, row

ROOT: Final = Path(__file__).parents[3]
LOGS: Final = ROOT / "tests" / "fixtures" / "logs"
TABLE: Final = json.loads((ROOT / "schema" / "sequencing.json").read_text(encoding="utf-8"))
PROTOCOL: Final = Protocol("0.2.1", bundle("0.2.1"))
SETUP: Final = Setup(PROTOCOL, load_sequencing(TABLE, "0.2.1"), observe=False)
OBSERVING: Final = Setup(PROTOCOL, SETUP.sequencing, observe=True)


def report(setup: Setup, files: Sequence[tuple[str, bytes]], cuts: Iterable[int] = (), *, known: bool = False) -> str:
    """The JSON report on files that make up one log, each cut at these bytes.

    `known`: a piece is examined knowing what waits before it, as one process alone does it.
    """
    joiner = Joiner(setup)
    first = True
    for name, data in files:
        file = InputFile(name, name, "plain", len(data))
        joiner.join(Task(0, file, None), None)
        for piece in pieces(name, data, cuts):
            part = None if known else examine(setup, piece, Pending() if first else None)
            joiner.join(Task(0, file, piece, first), part)
            first = False
    outcome = joiner.finish(ended=True)
    groups = outcome.groups
    made = Report(
        "0.2.1", outcome.summary, groups.ordered(), groups.files, observed=outcome.observed, sequencing=rules(setup.sequencing)
    )
    text = io.StringIO()
    renderer("json")(made, text)
    return text.getvalue()


def pieces(name: str, data: bytes, cuts: Iterable[int]) -> Iterator[Piece]:
    """Whole lines, cut at the line that begins at or after each byte."""
    starts = [0, *sorted({at + 1 for cut in cuts if 0 <= (at := data.find(b"\n", cut)) < len(data) - 1})]
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        yield Piece(name, name, start, None, data[start:end], last=end == len(data))


def conversations() -> bytes:
    """Several in one log: healthy, broken, cut off in the middle, a second `initialize`, ids used again, odd lines."""
    healthy = (LOGS / "healthy.jsonl").read_bytes()
    broken = (LOGS / "broken.jsonl").read_bytes()
    lines = healthy.splitlines(keepends=True)
    middle = len(lines) // 2
    again = [lines[0], *lines[1:6], lines[0], *lines[6:middle]]
    return b"".join([*again, broken, b"\nnoise\n", healthy, b"\n", *lines[middle:], *lines[:middle], b"\x00\x00\n", broken])


LOG: Final = conversations()
CUTS: Final = st.lists(st.integers(0, len(LOG)), max_size=12)


@pytest.mark.parametrize("observe", [False, True])
@given(cuts=CUTS)
def test_a_report_does_not_depend_on_cuts(observe: bool, cuts: list[int]) -> None:
    setup = OBSERVING if observe else SETUP
    files = [("log", LOG)]
    whole = report(setup, files, known=True)
    assert report(setup, files, cuts) == whole
    assert report(setup, files, cuts, known=True) == whole


def test_every_single_cut_of_a_conversation() -> None:
    errors: list[int] = []
    for name in ("healthy", "broken"):
        data = (LOGS / f"{name}.jsonl").read_bytes()
        whole = report(SETUP, [("log", data)])
        assert {report(SETUP, [("log", data)], [at]) for at in range(0, len(data), 250)} == {whole}
        errors.append(json.loads(whole)["summary"]["errors"])
    assert errors[0] == 0 < errors[1]


def test_files_of_one_log_go_on_where_the_last_one_ended() -> None:
    data = (LOGS / "healthy.jsonl").read_bytes()
    at = data.index(b"\n", len(data) // 2) + 1
    found = json.loads(report(SETUP, [("a", data[:at]), ("b", data[at:])]))
    assert found["findings"] == []
    assert found["summary"]["files"] == 2


TOY: Final = Setup(Protocol("1", BUNDLE), count_undeclared=True)
CLIENT: Final = st.sampled_from(
    [
        *(
            row("c2s", request(id_, method, {"sessionId": "s", "blocks": []}))
            for id_ in (1, "1", 2)
            for method in ("ask/question", "ping")
        ),
        row("s2c", request(1, "recall")),
    ]
)
SERVER: Final = st.sampled_from(
    [
        *(row(way, result(id_, value)) for id_ in (1, "1", 2) for value in ({}, {"id": "m"}, 5) for way in ("s2c", "c2s")),
        *(result(id_, {}) for id_ in (1, "1")),
        row("s2c", {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": ""}}),
    ]
)


@given(rows=st.lists(st.one_of(CLIENT, SERVER), max_size=14), cuts=st.lists(st.integers(0, 1500), max_size=4))
def test_responses_find_their_requests_across_cuts_whatever_their_ids(rows: list[Any], cuts: list[int]) -> None:
    files = [("log", log(*rows))]
    assert report(TOY, files, cuts) == report(TOY, files, known=True)


def test_a_late_response_belongs_to_the_conversation_that_it_comes_in() -> None:
    route = {"cwd": "/", "provider": "p", "model": "m"}
    before = log(row("c2s", request("a", "initialize", route)), row("c2s", request("s", "shutdown")))
    status = {"jsonrpc": "2.0", "method": "session.status", "params": {"sessionId": "x", "status": "running"}}
    after = log(row("c2s", request("b", "initialize", route)), row("s2c", result("s", {})), row("s2c", status))
    files = [("log", before + after)]
    cut = report(SETUP, files, [len(before) - 1])
    assert cut == report(SETUP, files, known=True)
    assert [each["line"] for each in json.loads(cut)["findings"] if each["rule"] == "sequence/after-shutdown"] == [5]


def _event(session: str, seq: int, type_: str, **data: Any) -> dict[str, Any]:
    event = {"type": type_, "seq": seq, "time": 1, "data": data}
    return row("s2c", {"jsonrpc": "2.0", "method": "session.event", "params": {"sessionId": session, "event": event}})


def _receipt(seq: int, message: str) -> dict[str, Any]:
    return _event("s", seq, "agent/inbox/spliced", target="next-turn", start=0, inserted=[{"id": message}])


def _prompt(id_: str) -> dict[str, Any]:
    return row("c2s", request(id_, "session/prompt", {"sessionId": "s", "contentBlocks": []}))


def _accepted(id_: str, message: str) -> dict[str, Any]:
    return row("s2c", result(id_, {"messageId": message}))


ORDERLY: Final = st.sampled_from(
    [
        *(_prompt(id_) for id_ in "ab"),
        *(_accepted(id_, message) for id_ in "ab" for message in "mn"),
        *(_receipt(seq, message) for seq in (1, 4) for message in "mn"),
        *(_event(session, seq, name, turn=1) for session in "st" for seq in (2, 5) for name in ("turn/start", "turn/end")),
        *(_event("s", 3, "approval/asked" if asked else "approval/decided", id="x") for asked in (True, False)),
        row("c2s", request("i", "initialize", {})),
        row("c2s", request("z", "shutdown")),
        row("s2c", result("z", {})),
    ]
)


@given(rows=st.lists(ORDERLY, max_size=16), cuts=st.lists(st.integers(0, 2500), max_size=4))
def test_the_order_of_frames_is_followed_across_cuts_whatever_closed_in_a_part(rows: list[Any], cuts: list[int]) -> None:
    files = [("log", log(*rows))]
    assert report(SETUP, files, cuts) == report(SETUP, files, known=True)


AGAIN: Final = [_receipt(2, "m"), _prompt("b"), _accepted("b", "m")]
"""The message was received, and the prompt answered: of the rule on receipts nothing is left."""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([_receipt(1, "m")], AGAIN),  # something is known of the message
        ([_prompt("a")], [*AGAIN, _accepted("a", "m")]),  # a response comes whose request is known only when parts are joined
        ([_prompt("a")], [_prompt("a"), *AGAIN, _accepted("a", "m"), _accepted("a", "n")]),
    ],
)
def test_a_key_that_closed_in_a_part_is_looked_into_if_more_is_known_of_it(before: list[Any], after: list[Any]) -> None:
    first = log(row("c2s", request("i", "initialize", {})), *before)
    files = [("log", first + log(*after))]
    asked: list[Piece] = []

    def again(setup: Setup, piece: Piece, pending: Pending) -> Part:
        asked.append(piece)
        return examine(setup, piece, pending)

    stream = Stream(SETUP, again)
    stream.open("log")
    for number, piece in enumerate(pieces("log", files[0][1], [len(first) - 1])):
        stream.add(piece, examine(SETUP, piece, None if number else Pending()))
    assert len(asked) == 1
    assert report(SETUP, files, [len(first) - 1]) == report(SETUP, files, known=True)


def test_of_too_many_keys_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "MOST_KEYS", 3)  # one is that of rules without a key
    parts = [
        log(
            row("c2s", request("i", "initialize", {})),
            _event("s", 9, "turn/start", turn=1),
            _event("t", 9, "turn/start", turn=1),
        ),
        log(_event("u", 9, "turn/start", turn=1)),
        log(_event("s", 5, "turn/end", turn=1), _event("u", 5, "turn/end", turn=1)),
    ]
    found = json.loads(report(SETUP, [("log", b"".join(parts))], [len(parts[0]) - 1, len(parts[0] + parts[1]) - 1]))
    told = [(each["rule"], each["line"]) for each in found["findings"]]
    assert ("sequence/seq", 6) in told
    assert ("sequence/seq", 5) not in told
    assert ("sequence/turns", 5) not in told


def test_what_is_open_at_the_end_is_told_where_it_began() -> None:
    data = log(row("c2s", request(7, "ping")), row("c2s", request(8, "ping")), row("s2c", result(7, {})))
    (only,) = json.loads(report(TOY, [("log", data)]))["findings"]
    assert (only["line"], only["rule"], only["severity"]) == (2, "request/unanswered", "note")


def test_a_log_of_requests_only_keeps_a_limited_number_of_them() -> None:
    pending = Pending()
    for number in range(MOST_WAITING + 3):
        pending.ask(("number", number), Asked("c2s", "ping", number + 1))
    gone = pending.trim()
    assert [asked.line for asked in gone] == [1, 2, 3]
    assert (len(pending), pending.forgotten, pending.trim()) == (MOST_WAITING, True, [])
    pending = Pending()
    for number in range(MOST_ALIKE + 3):
        pending.ask(("string", "always"), Asked("c2s", "ping", number))
    assert [asked.line for asked in pending.trim()] == [0, 1, 2]
    assert (len(pending), pending.forgotten, pending.trim()) == (MOST_ALIKE, True, [])


def test_an_orphan_is_no_finding_once_requests_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pending.trim, "__defaults__", (1, MOST_ALIKE))
    data = log(*(row("c2s", request(number, "ping")) for number in range(3)), "\n", row("s2c", result(0, {})))
    found = json.loads(report(TOY, [("log", data)], [data.index(b"\n\n")]))
    assert [(each["line"], each["rule"]) for each in found["findings"]] == [(line, "request/unanswered") for line in (1, 2, 3)]


def test_findings_are_values_without_identity() -> None:
    one, other = (Finding("f", 1, None, None, None, "r", "$", None, "m") for _ in range(2))
    assert one == other


def test_without_rules_nothing_is_said_about_order() -> None:
    setup = Setup(PROTOCOL, EMPTY)
    assert "sequence/" not in report(setup, [("log", (LOGS / "broken.jsonl").read_bytes())])
