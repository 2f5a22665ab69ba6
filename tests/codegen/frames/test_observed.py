"""What `--report` tells of frames of the toy protocol, exactly; and that cutting a log anywhere changes nothing of it."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen.frames import observed as module
from dsh_codegen.frames.frame import classify
from dsh_codegen.frames.observed import Observed, Observer, as_json, tables
from dsh_codegen.frames.observing import sessions
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.sequencing import Event, Sequencing, Span
from tests.codegen.frames.test_judge import bundle
from tests.codegen.frames.toy import BUNDLE, DEFINITIONS, NAME, ref, request, result

LOGS: Final = Path(__file__).parents[2] / "fixtures" / "logs"

_CHANGE: Final = {
    "type": "object",
    "properties": {"change": ref("Change"), "sessionId": NAME, "other": NAME},
    "required": ["change"],
}
TOY: Final = Protocol("1", {**BUNDLE, "$defs": {**DEFINITIONS, "ChangeParams": _CHANGE}}, {"wait": "2"})
TURNS: Final = Sequencing(
    events={
        "asked": Event("asked", "request", ("ask/question",)),
        "answered": Event("answered", "response", ("ask/question",), has="result"),
        "changed": Event("changed", "notification", ("change",)),
        "started": Event("started", "notification", ("change",), (("params.change.kind", "started"),)),
        "stopped": Event("stopped", "notification", ("change",), (("params.change.kind", "stopped"),)),
        "recalled": Event("recalled", "request", ("recall",)),
        "unused": Event("unused", "request", ("ping",)),
    },
    spans=(Span("turn", "started", "stopped", ("params.sessionId",), "params.change.why"),),
    sessions={"asked": "params.sessionId", "changed": "params.sessionId", "answered": "result.session"},
    begins="recalled",
)


def change(kind: str, session: str | None = None, **members: Any) -> dict[str, Any]:
    params = {"change": {"kind": kind, **members}, **({} if session is None else {"sessionId": session})}
    return {"jsonrpc": "2.0", "method": "change", "params": params}


class Line(NamedTuple):
    """A frame with its time and the length of its line."""

    frame: Any
    ts: Any = None
    size: int = 100


class Cutter:
    """Observes a log in parts, as a stream does: responses to requests of earlier parts are left for later."""

    def __init__(self, protocol: Protocol = TOY, sequencing: Sequencing | None = TURNS) -> None:
        self._protocol = protocol
        self._sequencing = sequencing
        self._asked: dict[Any, tuple[str, Any]] = {}

    def part(self, lines: Sequence[Line]) -> Observed:
        """What is observed in lines that follow those of earlier parts."""
        here: dict[Any, tuple[str, Any]] = {}
        late: list[int] = []
        observer = self._observe([*enumerate(lines, 1)], here, late)
        rest = self._observe([(number, lines[number - 1]) for number in late], self._asked, [])
        observed = observer.observed
        observed.merge(rest.observed)
        self._asked |= here
        copied: Observed = pickle.loads(pickle.dumps(observed))
        return copied

    def _observe(self, lines: list[tuple[int, Line]], asked: dict[Any, tuple[str, Any]], late: list[int]) -> Observer:
        observer = Observer(self._protocol, self._sequencing)
        for number, line in lines:
            frame = classify(line.frame)
            method, values = frame.method, []
            known = self._protocol.methods.get(method or "")
            if frame.kind == "response":
                request_, time = asked.pop(frame.id, (None, None))
                if request_ is None and asked is not self._asked:
                    late.append(number)
                    continue
                method, known = request_, self._protocol.methods.get(request_ or "")
                if known is not None and known.result is not None and "result" in frame.members:
                    values.append((known.result, frame.members["result"]))
                if method is not None and isinstance(time, int) and isinstance(line.ts, int):
                    observer.latency(method, (line.ts - time) * 1_000_000_000)
            elif known is not None and known.params is not None and "params" in frame.members:
                values.append((known.params, frame.members["params"]))
            if frame.kind == "request" and method is not None:
                asked[frame.id] = (method, line.ts)
            observer.frame(frame, method, values, line=number, size=line.size, ts=line.ts)
        return observer


def observe(*frames: Any, file: str = "log", cuts: Iterable[int] = (), **how: Any) -> Observed:
    """A log of frames, or of `Line`s, observed in parts."""
    lines = [frame if isinstance(frame, Line) else Line(frame) for frame in frames]
    bounds = sorted({0, len(lines), *(cut for cut in cuts if cut < len(lines))})
    cutter, whole = Cutter(**how), Observed()
    for start, end in pairwise(bounds):
        whole.merge(cutter.part(lines[start:end]), file=file, lines_before=start)
    whole.end_of_log()
    return whole


def told(*frames: Any, **how: Any) -> dict[str, Any]:
    return as_json(observe(*frames, **how))


def undeclared(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        tuple(name[each] for each in ("kind", "schema", "member", "value", "count", "line"))
        for name in found["undeclared"]["names"]
    ]


ASK: Final = request(1, "ask/question", {"sessionId": "a", "blocks": []})


def test_undeclared_things_are_counted_and_placed_where_they_were_seen_first() -> None:
    odd = {**ASK, "id": 2, "trace": "t", "params": {"sessionId": "a", "blocks": [{"type": "sound"}], "mood": "good"}}
    frames = [ASK, odd, {**odd, "id": 3}, {"jsonrpc": "2.0", "method": "sing"}, request(9, "wait")]
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no", "data": 1, "code2": 1}}
    frames += [refused, change("stopped", why="bored"), change("paused")]
    found = told(*frames, file="some.jsonl")
    assert undeclared(found) == [
        ("tag", "#/$defs/SentBlock", "type", "sound", 2, 2),
        ("member", "#/$defs/AskParams", "mood", None, 2, 2),
        ("member", None, "trace", None, 2, 2),
        ("method", None, None, "sing", 1, 4),
        ("method", None, None, "wait", 1, 5),
        ("member", None, "error.data", None, 1, 6),
        ("member", None, "error.code2", None, 1, 6),
        ("code", None, None, "-32000", 1, 6),
        ("value", "#/$defs/Stopped/properties/why", None, "bored", 1, 7),
        ("tag", "#/$defs/Change", "kind", "paused", 1, 8),
    ]
    assert {name["file"] for name in found["undeclared"]["names"]} == {"some.jsonl"}
    assert found["undeclared"]["left_out"] == 0


def test_coverage_tells_what_of_the_schema_was_never_seen() -> None:
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}}
    odd_codes = [{"jsonrpc": "2.0", "id": "x", "error": {"code": code, "message": ""}} for code in (True, "x", None)]
    found = told(ASK, refused, request(2, "ping"), change("stopped", why="asked"), *odd_codes)["coverage"]
    assert found["methods"] == {"declared": 4, "seen": 3, "never": ["recall"]}
    assert found["unanswered"] == ["ping"]
    assert found["errors"] == {"declared": 2, "seen": 1, "never": ["-32601"], "counts": {"-32603": 1}}
    never = ["TextBlock", "PictureBlock", "UploadBlock", "OtherBlock", "Block", "SentBlock", "Size", "Started", "Placement"]
    assert found["definitions"] == {"declared": 15, "seen": 4, "never": [*never, "AskResult", "PingResult"]}
    assert found["details"] == [
        {"definition": "#/$defs/Stopped", "seen": 1, "never": {"members": ["echo"], "tags": {}, "values": {"why": ["failed"]}}},
        {"definition": "#/$defs/Change", "seen": 1, "never": {"members": [], "tags": {"": ["started"]}, "values": {}}},
        {"definition": "#/$defs/AskParams", "seen": 1, "never": {"members": ["place", "labels"], "tags": {}, "values": {}}},
        {
            "definition": "#/$defs/ChangeParams",
            "seen": 1,
            "never": {"members": ["sessionId", "other"], "tags": {}, "values": {}},
        },
    ]


def test_where_no_error_codes_are_declared_none_is_undeclared() -> None:
    bundle = {**BUNDLE, "x-errors": []}
    found = told({"jsonrpc": "2.0", "id": 1, "error": {"code": 7, "message": ""}}, protocol=Protocol("1", bundle))
    assert (found["undeclared"]["names"], found["coverage"]["errors"]["declared"]) == ([], 0)


def test_traffic_is_counted_by_method_and_kind_and_its_rate_by_the_clock() -> None:
    lines = [
        Line(ASK, 10, 50),
        Line(result(1, {"id": "x"}), 12.5, 150),
        Line({**ASK, "id": 2}, 11, 70),
        Line({**ASK, "id": 3}, None, 90),
    ]
    lines += [Line(request(4, "sing"), 20), Line(5, 15), Line(result(99, {}), 14), Line(request(6, "wait"), True)]
    found = told(*lines)
    assert found["seconds"] == 10
    names = ("method", "kind", "frames", "bytes", "min", "p50", "p99", "max", "per_second")
    assert [tuple(row[name] for name in names) for row in found["traffic"]] == [
        ("ask/question", "request", 3, 210, 50, 70, 90, 90, 0.2),
        ("ask/question", "response", 1, 150, 150, 150, 150, 150, 0.1),
        ("(other)", "request", 1, 100, 100, 100, 100, 100, 0.1),
        ("wait", "request", 1, 100, 100, 100, 100, 100, None),
        (None, None, 1, 100, 100, 100, 100, 100, 0.1),
        (None, "response", 1, 100, 100, 100, 100, 100, 0.1),
    ]


@pytest.mark.parametrize("ts", [None, True, "10", [], float("nan"), float("inf"), -1e12, 10**400])
def test_what_is_no_time_is_no_time(ts: Any) -> None:
    found = told(Line(ASK, 10), Line(ASK, ts), Line(ASK, 8))
    assert (found["seconds"], found["traffic"][0]["per_second"]) == (2, 1)


def test_logs_take_their_time_one_after_the_other() -> None:
    whole = observe(Line(ASK, 1000), Line(ASK, 1001))
    whole.merge(observe(Line(ASK, 5), Line(ASK, 8)))
    assert as_json(whole)["seconds"] == 4
    assert told(Line(ASK, 3))["traffic"][0]["per_second"] is None


def test_answers_take_their_time_by_method() -> None:
    observer = Observer(TOY, None)
    for nanoseconds in (100, 2_000_000, 2_000_000, 3_000_000_000):
        observer.latency("ask/question", nanoseconds)
    observer.latency("ask/question", -1)
    observer.latency("sing", 5)
    observer.latency("ping", -5)
    first, second, third = as_json(observer.observed)["latency"]
    assert second == {
        "method": "ask/question",
        "answers": 4,
        "min": 1e-7,
        "p50": second["p50"],
        "p99": 3.0,
        "max": 3.0,
        "backwards": 1,
    }
    assert second["p50"] == pytest.approx(0.002, rel=0.008)
    assert (first["method"], first["max"]) == ("(other)", 5e-9)
    assert third == {"method": "ping", "answers": 0, "min": None, "p50": None, "p99": None, "max": None, "backwards": 1}


def test_sessions_and_their_turns_are_counted() -> None:
    frames = [
        ASK,
        change("started", "a"),
        change("stopped", "a", why="asked"),
        change("started", "b", at=1),
        change("started", "a"),
    ]
    frames += [change("stopped", "a"), change("started", "a"), change("started"), change("stopped", "c", why="asked")]
    found = told(*frames, result(1, {"session": "b"}), {"jsonrpc": "2.0", "id": 1, "error": {}})["sessions"]
    assert (found["count"], found["exact"], found["left_out"]) == (3, True, 0)
    assert found["spans"] == {"turn": {"started": 4, "ended": 3, "outcomes": {"": 1, "asked": 2}, "open": 2}}
    a, b, c = found["listed"]
    turns = {"started": 3, "ended": 2, "outcomes": {"": 1, "asked": 1}}
    assert a == {"session": "a", "frames": 6, "file": "log", "line": 1, "spans": {"turn": turns}}
    assert (b["session"], b["frames"], b["line"]) == ("b", 2, 4)
    assert c["spans"] == {"turn": {"started": 0, "ended": 1, "outcomes": {"asked": 1}}}


def test_turns_stay_open_where_a_conversation_or_a_log_ends() -> None:
    begin = {"jsonrpc": "2.0", "id": "r", "method": "recall"}
    frames = [change("started", "a"), begin, change("started", "a"), change("stopped", "a"), begin, change("started", "b")]
    whole = observe(*frames)
    assert whole.sessions.left_open() == {"turn": 2}
    for cut in range(6):
        assert observe(*frames, cuts=[cut, 3]) == whole
        assert observe(*frames[:4], cuts=[cut]).sessions.left_open() == {"turn": 1}
    whole.merge(observe(change("stopped", "b"), file="later"))
    assert whole.sessions.left_open() == {"turn": 2}
    whole.merge(observe(change("started", "b"), file="last"))
    assert whole.sessions.left_open() == {"turn": 3}
    unfinished = Observed()
    unfinished.merge(Cutter().part([Line(frame) for frame in frames]), file="log")
    assert len(unfinished.sessions.last) == 1  # those of earlier conversations are counted and forgotten
    assert unfinished.sessions.left_open() == {"turn": 2}
    part = Cutter().part([Line(frame) for frame in frames])
    assert part.sessions.left_open() == {"turn": 2}
    part.end_of_log()
    assert part.sessions.left_open() == {"turn": 2}


def test_responses_that_are_looked_at_late_count_in_their_place() -> None:
    spans = (Span("answer", "answered", "stopped", ("result.session",), "params.change.why"),)
    table = Sequencing(TURNS.events, spans=(*TURNS.spans, *spans), sessions=TURNS.sessions)
    stop = {**change("stopped", "a"), "result": {"session": "a"}}
    answers = [result(number, {"id": "x", "session": "a", "new": 1}) for number in (1, 2)]
    frames = [ASK, {**ASK, "id": 2}, answers[0], {**ASK, "id": 3}, stop, answers[1], result(3, {"id": "y", "new": 1}), stop]
    for end in (6, 8):
        for cut in range(end):
            whole = observe(*frames[2:end], cuts=[cut], sequencing=table)
            assert whole == observe(*frames[2:end], sequencing=table)
            whole = observe(*frames[:end], cuts=[cut], sequencing=table)
            found = as_json(whole)
            assert [name[4:] for name in undeclared(found) if name[2] == "new"] == [(end // 2 - 1, 3)]
            assert found["sessions"]["listed"][0]["line"] == 1
            assert whole.sessions.left_open() == ({"answer": 1} if end == 6 else {})


def test_a_part_remembers_what_ends_a_turn_of_an_earlier_part() -> None:
    begin, middle, end = (Cutter().part([Line(frame)]) for frame in (change("started", "a"), ASK, change("stopped", "a")))
    middle.merge(end, lines_before=1)
    whole = Observed()
    whole.merge(begin, file="log")
    assert whole.sessions.left_open() == {"turn": 1}
    whole.merge(middle, file="log", lines_before=1)
    assert whole.sessions.left_open() == {}


def test_sessions_are_not_followed_without_a_table() -> None:
    assert told(ASK, sequencing=None)["sessions"] == {"count": 0, "exact": True, "spans": {}, "listed": [], "left_out": 0}


def test_observations_under_different_revisions_do_not_merge() -> None:
    other = Observer(Protocol("2", BUNDLE), None).observed
    with pytest.raises(ValueError, match="different revisions"):
        observe(ASK).merge(other)


def test_nothing_observed_is_told_as_nothing() -> None:
    nothing = Observed()
    nothing.merge(Observed())
    assert as_json(nothing)["coverage"] == {}
    assert tables(nothing) == []


NAMES: Final = st.sampled_from([*"abcde", "x" * 100, "x" * 100 + "y"])
FRAMES: Final = st.one_of(
    st.builds(
        lambda name, tag: request(name, "ask/question", {"sessionId": name, name: 1, "blocks": [{"type": tag}]}), NAMES, NAMES
    ),
    st.builds(lambda kind, name, why: change(kind, name, why=why), st.sampled_from(["started", "stopped"]), NAMES, NAMES),
    st.builds(lambda name: result(name, {"id": name, "session": name, name: 1}), NAMES),
    st.builds(lambda name: {"jsonrpc": "2.0", "method": name}, NAMES),
    st.builds(lambda name: {"jsonrpc": "2.0", "id": name, "error": {"code": -32601, "message": "", name: 0}}, NAMES),
    st.just({"jsonrpc": "2.0", "id": "r", "method": "recall"}),
    st.sampled_from([None, [], {}]),
)
LINES: Final = st.builds(Line, FRAMES, st.none() | st.integers(0, 100) | st.floats(0, 100), st.integers(0, 1000))


@pytest.mark.parametrize("limit", [1000, 3])
@given(lines=st.lists(LINES, max_size=40), cuts=st.lists(st.integers(1, 40), max_size=5))
def test_a_log_gives_the_same_however_it_is_cut(limit: int, lines: list[Line], cuts: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_NAMES", limit)
        patch.setattr(sessions, "MOST_SESSIONS", limit)
        patch.setattr(sessions, "MOST_OUTCOMES", limit)
        lines = _with_ids_used_once(lines)
        at_once, in_parts = observe(*lines), observe(*lines, cuts=cuts)
        assert as_json(at_once) == as_json(in_parts)
        assert at_once == in_parts
        assert tables(at_once) == tables(in_parts)


def _with_ids_used_once(lines: list[Line]) -> list[Line]:
    """Without the requests whose id was used before: which of two requests a response means is not the matter here."""
    used: set[str] = set()
    kept: list[Line] = []
    for line in lines:
        if classify(line.frame).kind == "request":
            if line.frame["id"] in used:
                continue
            used.add(line.frame["id"])
        kept.append(line)
    return kept


@given(lines=st.lists(LINES, max_size=40), cut=st.integers(0, 40), second=st.integers(0, 40))
def test_merging_parts_is_associative(lines: list[Line], cut: int, second: int) -> None:
    lines = _with_ids_used_once(lines)
    first, second = sorted((min(cut, len(lines)), min(second, len(lines))))
    cutter = Cutter()
    parts = [cutter.part(lines[start:end]) for start, end in ((0, first), (first, second), (second, len(lines)))]
    before = pickle.dumps(parts)
    left, right = Observed(), Observed()
    for part, start in zip(parts, (0, first, second), strict=True):
        left.merge(part, file="log", lines_before=start)
    tail = pickle.loads(before)[1]
    tail.merge(parts[2], lines_before=second - first)
    right.merge(parts[0], file="log")
    right.merge(tail, file="log", lines_before=first)
    assert left == right
    assert as_json(left) == as_json(right)
    assert pickle.loads(before) == parts  # what is merged stays as it is


@pytest.mark.parametrize(("revision", "log"), [("0.1.5", "healthy-0.1.5"), ("0.2.1", "healthy"), ("0.2.1", "broken")])
def test_real_logs_give_the_same_however_they_are_cut(revision: str, log: str) -> None:
    rows = [json.loads(line) for line in (LOGS / f"{log}.jsonl").read_text(encoding="utf-8").splitlines()[:-1]]
    lines = [Line(row["frame"], row["ts"], len(json.dumps(row))) for row in rows if isinstance(row.get("frame"), dict)]
    protocol = Protocol(revision, bundle(revision))
    at_once = observe(*lines, protocol=protocol, sequencing=None)
    for size in (1, 2, 7):
        assert observe(*lines, protocol=protocol, sequencing=None, cuts=range(0, len(lines), size)) == at_once
    found = as_json(at_once)
    assert bool(found["undeclared"]["names"]) is (log == "broken")
    assert found["coverage"]["definitions"]["seen"] > 30


HOSTILE: Final = ("\x1b[31m\u202e\ud800\n|`" + "é" * 2_000_000, "", "\x00", "a.b", "']")


def test_hostile_names_are_shortened_and_harmless() -> None:
    frames: list[Any] = []
    for number, name in enumerate(HOSTILE):
        frames += [
            request(number, name, {name: name}),
            {**request(number, "ask/question", {"sessionId": name, name: 1}), name: 1},
        ]
        frames += [change(name, name), change("stopped", name, why=name), {"jsonrpc": "2.0", "id": number, "error": {name: 1}}]
    whole = observe(*frames, file="\x1b[2J.jsonl")
    assert len(pickle.dumps(whole)) < 40_000
    assert len(json.dumps(as_json(whole))) < 40_000
    cells = [cell for table in tables(whole) for row in (table.columns, *table.rows) for cell in row]
    assert all(cell.isprintable() and len(cell) < 2000 for cell in cells)
    assert any("\\u001b[31m" in cell for cell in cells)


def test_any_number_of_names_is_counted_in_bounded_memory() -> None:
    lines = [Line(request(number, f"m{number}", {})) for number in range(5000)]
    lines += [Line(change("stopped", f"s{number}", why=f"w{number}")) for number in range(5000)]
    found = told(*lines)
    assert len(found["undeclared"]["names"]) == 1000
    assert sum(name["count"] for name in found["undeclared"]["names"]) + found["undeclared"]["left_out"] == 10_000
    assert {name["kind"] for name in found["undeclared"]["names"]} == {"method", "value"}
    assert len(found["sessions"]["listed"]) == 1000
    assert (found["sessions"]["count"], found["sessions"]["left_out"]) == (5000, 4000)
    turns = found["sessions"]["spans"]["turn"]
    assert (turns["ended"], len(turns["outcomes"])) == (5000, 20)
    observer = Observer(TOY, TURNS)
    for number, line in enumerate(lines[3500:6500]):
        observer.frame(classify(line.frame), line.frame["method"], [], line=number, size=1, ts=None)
    assert len(observer.observed.undeclared.entries) == len(observer.observed.sessions.table.entries) == 1000
    assert len(observer.observed.sessions.spans["turn"].outcomes.entries) == 20


def test_tables_are_short_and_tell_the_most_important_first() -> None:
    frames = [request(number, f"m{number}", {}) for number in range(50)] + [{"jsonrpc": "2.0", "method": "m7"}]
    found = tables(observe(*frames, ASK, change("started", "a"), change("stopped", "a", why="bored"), change("started", "a")))
    titles = [table.title for table in found]
    assert titles == [
        "Undeclared",
        "Schema coverage",
        "Never seen in what was seen",
        "Traffic",
        "Sessions and spans",
        "Sessions",
    ]
    names, covered, gaps, traffic, spans, listed = (table.rows for table in found)
    assert names[0] == ("method", "m7", "(frame)", "2", "log:8")
    assert (len(names), names[-1]) == (31, ("… 21 more", "", "", "", ""))
    assert covered[0] == ("methods", "4", "2", "ping and recall")
    assert covered[-1] == ("never answered", "", "", "ask/question")
    assert ("Stopped", "1", "echo, why: asked and why: failed") in gaps
    assert traffic[0] == ("ask/question", "request", "1", "100", "100", "100", "100", "100", "")
    assert spans == (("sessions", "1", "", "", ""), ("turn", "2", "1", "1", "bored 1"))
    assert listed == (("a", "4", "turn 2 (bored 1)", "log:52"),)


def test_tables_say_what_was_left_out_and_what_is_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_NAMES", 2)
    monkeypatch.setattr(sessions, "MOST_OUTCOMES", 1)
    whole = observe(
        *(change("stopped", f"s{number}", why=f"w{number}") for number in range(5)), Line(ASK, 1), Line(result(1, {}), 4)
    )
    whole.sessions.distinct.limit = 3
    whole.sessions.distinct.cut()
    found = {table.title: table.rows for table in tables(whole)}
    assert found["Undeclared"][-1] == ("others", "", "", "3", "")
    assert found["Sessions and spans"][0][1].startswith("about ")
    assert found["Sessions and spans"][1][4].endswith(" 1, others 4")
    assert found["Latency"] == (("ask/question", "1", *["3.000 s"] * 4),)
    short = Observer(TOY, None)
    short.latency("ping", 1_500_000)
    assert tables(short.observed)[-1].rows == (("ping", "1", *["1.500 ms"] * 4),)
