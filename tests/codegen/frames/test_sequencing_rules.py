"""The sequencing table against what the protocol says, what real runtimes do, and logs put out of order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from dsh_codegen.frames.sequencing import NOTHING, Event, SequenceRule
from tests.codegen.frames.sequence_logs import (
    LOGS,
    REVISIONS,
    ROOT,
    TABLE,
    Edit,
    Rows,
    bundle,
    drop,
    healthy,
    load,
    move,
    renumber,
    repeat,
    revision_of,
    senders,
    swap,
    table,
    told,
)
from tests.codegen.frames.sequence_oracle import Frame, is_event, read
from tests.codegen.frames.test_sequencing import accepts

OURS: Final = ("healthy", "healthy-0.1.5", "by hand")

# The table and the protocol


def rules() -> Iterator[tuple[str, SequenceRule]]:
    return ((revision, rule) for revision in REVISIONS for rule in table(revision).rules)


def test_the_table_is_valid() -> None:
    assert accepts(TABLE)


def test_every_event_is_there_for_something() -> None:
    used = {TABLE["begins"], *TABLE["sessions"], *(span[end] for span in TABLE["spans"] for end in ("start", "end"))}
    for rule in TABLE["rules"]:
        used |= rule["per"].keys()
    assert used == TABLE["events"].keys()
    named = {revision for each in [*TABLE["events"].values(), *TABLE["rules"]] for revision in each.get("revisions", ())}
    assert named <= set(REVISIONS)


@pytest.mark.parametrize("revision", REVISIONS)
def test_events_are_frames_of_the_revision(revision: str) -> None:
    methods = {row["name"]: row for row in bundle(revision)["x-methods"]}
    for event in table(revision).events.values():
        there = [methods[method] for method in event.methods if method in methods]
        assert there, event.name
        assert len(event.methods) > 1 or len(there) == 1, event.name
        assert all(("result" in row) == (event.kind != "notification") for row in there), event.name
        for path, value in event.where:
            for row in there:
                found = list(places(bundle(revision), row["params"], event, path))
                assert any(value in (schema.get("const"), *schema.get("enum", ())) for schema in found), (event.name, path)


@pytest.mark.parametrize("revision", REVISIONS)
def test_paths_lead_somewhere_in_the_schema(revision: str) -> None:
    sequencing = table(revision)
    asked = [(name, path) for rule in sequencing.rules for name, paths in rule.events.items() for path in paths]
    asked += [(name, rule.rising) for rule in sequencing.rules if rule.rising for name in rule.events]
    asked += list(sequencing.sessions.items())
    for span in sequencing.spans:
        asked += [(name, path) for name in (span.start, span.end) for path in span.per] + [(span.end, span.outcome)]
    methods = {row["name"]: row for row in bundle(revision)["x-methods"]}
    for name, path in asked:
        event = sequencing.events[name]
        member = "result" if event.kind == "response" else "params"
        for method in event.methods:
            found = list(places(bundle(revision), methods[method][member], event, path))
            assert found, (name, path)


def places(schemas: Any, definition: str, event: Event, path: str) -> Iterator[dict[str, Any]]:
    """The schemas of the values at a path in frames that are this event."""
    steps = path.replace("[*]", ".[*]").split(".")[1:]
    wanted = dict(event.where)

    def walk(schema: dict[str, Any], at: int, above: str) -> Iterator[dict[str, Any]]:
        if "$ref" in schema:
            yield from walk(schemas["$defs"][schema["$ref"].rpartition("/")[2]], at, above)
        for arm in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
            yield from walk(arm, at, above)
        if "anyOf" in schema or "$ref" in schema:
            return
        if at == len(steps):
            yield schema
            return
        for member, value in schema.get("properties", {}).items():
            if "const" in value and wanted.get(f"{above}.{member}", value["const"]) != value["const"]:
                return  # another arm than this event's
        below = schema.get("items") if steps[at] == "[*]" else schema.get("properties", {}).get(steps[at])
        if below is not None:
            yield from walk(below, at + 1, f"{above}.{steps[at]}")

    yield from walk(schemas["$defs"][definition], 0, path.partition(".")[0])


def test_no_frame_is_two_events_of_one_rule() -> None:
    for revision, rule in rules():
        events = table(revision).events
        for one, other in combinations([events[name] for name in rule.events], 2):
            values = dict(one.where)
            apart = any(values.get(path, value) != value for path, value in other.where)
            assert apart or one.kind != other.kind or not {*one.methods} & {*other.methods}, (rule.id, one.name, other.name)


class Mark(NamedTuple):
    revisions: tuple[str, ...]
    observed: bool


def marks() -> dict[str, Mark]:
    """For which revisions each rule of PROTOCOL.md holds, and whether it is only observed."""
    text = (ROOT / "schema" / "PROTOCOL.md").read_text(encoding="utf-8")
    found: dict[str, Mark] = {}
    for id_, mark, observed in re.findall(r"^- \*\*([TSC]\d+)\*\* (?:\[(\d[^\]]*)\] )?(\[observed\] )?", text, re.MULTILINE):
        named = tuple(mark.removesuffix("+").split(", ")) if mark else REVISIONS
        later = REVISIONS[REVISIONS.index(named[0]) :]
        found[id_] = Mark(later if mark.endswith("+") else named, bool(observed))
    return found


def test_marks_are_read() -> None:
    found = marks()
    assert found["S93"] == Mark(REVISIONS, False)
    assert found["S124"] == Mark(("0.1.1", "0.1.5", "0.2.1"), True)
    assert found["S29"] == Mark(("2026-07-29", "0.1.1"), False)
    assert found["S176"] == Mark(("2026-07-29",), False)


def test_rules_rest_on_the_protocol() -> None:
    """Each rule cites what holds in its revisions; it is an error if all that is promised, a warning if all is observed."""
    known = marks()
    for revision, rule in rules():
        holding = [known[id_] for id_ in rule.protocol if revision in known[id_].revisions]
        assert holding, (rule.id, revision)
        assert {mark.observed for mark in holding} == {rule.severity == "warning"}, (rule.id, revision)
    for rule in TABLE["rules"]:
        revisions = {revision for revision, each in rules() if each.id == rule["id"]}
        assert revisions == set(rule.get("revisions", REVISIONS)), rule["id"]
        assert all(revisions & set(known[id_].revisions) for id_ in rule["protocol"]), rule["id"]


# Healthy logs, and those of clients that misbehave on purpose

BREACHES: Final = {
    "h_initialize_errors": [(1, "sequence/initialize-first")],
    "l1_shutdown_twice": [(26, "sequence/late-request")],
}
BROKEN_OFF: Final = (
    "the log ends in the middle of this turn of session {}: `shutdown` stopped it, and then neither `turn/end` nor an idle "
    "status is sent (rule S125)"
)
CUT_OFF: Final = (
    "the log ends in the middle of this turn of session {}: the runtime was stopped or killed, or its input ended (rule S125), "
    "or the log is cut off"
)
NOTES: Final = {
    "d6_tool_todo_goal_wd": [(92, "sequence/turn-running", BROKEN_OFF.format("session-d6"))],  # a goal began a turn by itself
    "l3_eof_while_running": [(9, "sequence/turn-running", CUT_OFF.format("session-l3"))],
    "l4_shutdown_while_running": [(9, "sequence/turn-running", BROKEN_OFF.format("session-l4"))],
}


def test_real_logs_are_in_order_as_far_as_they_mean_to_be(reference_dir: Path) -> None:
    captures = {path.stem: path for path in (reference_dir / "captures").glob("*.jsonl")}
    assert {revision_of(name) for name in captures} == set(REVISIONS) - {"2026-07-29"}
    found: dict[str, Any] = {}
    noted: dict[str, Any] = {}
    for name, path in captures.items():
        breaches, notes = told(load(path), revision_of(name))
        if breaches:
            found[name] = [(each.line, each.rule) for each in breaches]
        if notes:
            noted[name] = [(each.line, each.rule, each.message) for each in notes]
    assert found == BREACHES
    assert noted == NOTES


@pytest.mark.parametrize("name", OURS)
def test_our_own_logs_are_in_order(name: str) -> None:
    rows, revision = healthy(name)
    assert told(rows, revision) == ([], [])
    assert told([row["frame"] for row in rows if "frame" in row], revision) == ([], [])  # without saying who sent what


def test_a_damaged_frame_is_missed_where_it_should_be() -> None:
    breaches, _ = told(load(LOGS / "broken.jsonl"), "0.2.1")
    assert [(each.line, each.rule.removeprefix("sequence/")) for each in breaches] == [
        (9, "turn-running"),  # the status of line 8 names no session
        (24, "tool-result"),  # the call of line 21 has no id
        (26, "steps"),  # the step/end of line 25 is sent by another method
        (32, "status"),
    ]


# Logs that are parts of healthy ones, or several of them


def check_parts(rows: Rows, revision: str) -> None:
    for cut in range(len(rows)):
        assert told(rows[:cut], revision)[0] == [], f"broken off before line {cut + 1}"
        assert told([*rows[:cut], *rows], revision)[0] == [], f"killed before line {cut + 1}, and then again"
        again = [*rows[:cut], rows[0], *rows[cut:]]
        if not any(is_shutdown(row) for row in rows[:cut]):
            assert told(again, revision)[0] == [], f"initialized again in line {cut + 1}"
        # Nothing tells a log that begins with a request from one of a client that forgot to initialize.
        breaches = told(rows[cut:], revision)[0]
        assert {each.rule for each in breaches} <= {"sequence/initialize-first"}, f"cut before line {cut + 1}"
        if any("method" in (row.get("frame") or {}) and row["dir"] == "s2c" for row in rows[cut : cut + 1]):
            assert not breaches, f"cut before the notification in line {cut + 1}"


def is_shutdown(row: Any) -> bool:
    return bool((row.get("frame") or {}).get("method") == "shutdown")


@pytest.mark.parametrize("name", OURS)
def test_parts_of_our_own_logs_are_in_order(name: str) -> None:
    check_parts(*healthy(name))


@pytest.mark.parametrize("name", ["j4_subagent_two_parallel_nested", "n1_overlapped_prompts", "d10_workflow"])
def test_parts_of_real_logs_are_in_order(reference_dir: Path, name: str) -> None:
    check_parts(*healthy(name, reference_dir))


# Logs put out of order


class Mutant(NamedTuple):
    """A healthy log and an edit after which just this rule is broken, in this line, by this event."""

    rule: str
    event: str
    log: str
    edit: Edit
    line: int
    message: str = ""

    def __str__(self) -> str:
        return f"{self.rule}: {self.event} in line {self.line} of {self.log}"


MUTANTS: Final = [
    Mutant("initialize-first", "prompt request", "healthy-0.1.5", move(3, 1), 1, "before any `initialize`"),
    Mutant("initialize-first", "session request", "o1_new_methods", move(13, 1), 1),
    Mutant("initialize-first", "wait request", "o1_new_methods", move(3, 1), 1),
    Mutant("late-request", "prompt request", "healthy", repeat(3, 33), 33, "(line 32)"),
    Mutant("late-request", "prompt request", "by hand", repeat(3, 31), 31, "(line 30)"),
    Mutant("late-request", "session request", "o1_new_methods", repeat(13, 53), 53),
    Mutant("late-request", "wait request", "o1_new_methods", repeat(3, 54), 54),
    Mutant("after-shutdown", "notification", "healthy", move(31, 33), 33, "(line 32)"),
    Mutant("seq", "session event", "healthy", swap(14, 15), 15),
    Mutant("receipt", "prompt response", "healthy", move(11, 7), 7, "message 0b1a055d-5cd5-4123-9498-9618d69691ea"),
    Mutant("status", "running", "healthy-0.1.5", drop(22), 24, "since line 8"),
    Mutant("status", "idle", "healthy", repeat(31, 32), 32, "is not running"),
    Mutant("turns", "turn/start", "healthy", repeat(9, 10), 10, "the one of line 9 is open"),
    Mutant("turns", "turn/end", "healthy", repeat(30, 31), 31, "none is open"),
    Mutant("turns", "turn/end", "by hand", repeat(9, 10), 10, "none is open"),
    Mutant("turn-running", "turn/start", "healthy", swap(8, 9), 8, "is not running"),
    Mutant("turn-running", "idle", "healthy", swap(30, 31), 30, "its turn of line 9 is open"),
    Mutant("steps", "step/start", "healthy", drop(25), 25),
    Mutant("steps", "step/end", "healthy", repeat(29, 30), 30),
    Mutant("steps", "turn/end", "healthy", drop(29), 29, "its step of line 26 is open"),
    Mutant("steps", "turn/end", "by hand", drop(8), 8, "its step of line 5 is open"),
    Mutant("tool-result", "tool/result", "healthy", move(24, 21), 21, "tool call call_mock_bash_1 of session session-d1"),
    Mutant("tool-result", "tool/result", "healthy", repeat(24, 25), 25),
    Mutant("tool-result", "tool/result", "by hand", swap(6, 7), 6),
    Mutant("tool-result", "tool/result", "v_mixed_0.1.0rc7", swap(113, 114), 113),
    Mutant("tool-result", "tool/result", "v_mixed_0.1.5rc1", swap(44, 45), 44),
    Mutant("subagent-started", "subagent.started", "j1_subagent_spawn", swap(22, 23), 23, "(line 22)"),
    Mutant("subagent-started", "subagent.started", "v_mixed_0.1.0rc7", move(203, 205), 205, "(line 204)"),
    Mutant("subagent-finished", "subagent.finished", "j1_subagent_spawn", drop(22), 59, "never started"),
    Mutant("jobs", "job/registered", "healthy", repeat(22, 23), 23, "as in line 22"),
    Mutant("jobs", "job/settled", "healthy", swap(22, 23), 22),
    Mutant("approvals", "approval/asked", "d8_approval_fails_closed", repeat(22, 23), 23, "as in line 22"),
    Mutant("approvals", "approval/decided", "d8_approval_fails_closed", swap(22, 23), 22),
    Mutant("compactions", "compaction/start", "p2_minimal_compaction", repeat(56, 57), 57, "as in line 56"),
    Mutant("compactions", "compaction/summary", "p2_minimal_compaction", repeat(58, 59), 59),
    Mutant("compactions", "compaction/end", "p2_minimal_compaction", repeat(60, 61), 61),
    Mutant("retries", "llm/retry-started", "g3_http_500_once_then_ok", swap(20, 21), 20, "retry 1 of 6783edd8-"),
    Mutant("workflow-runs", "tool-workflow/run-start", "d10_workflow", repeat(22, 23), 23),
    Mutant("workflow-runs", "tool-workflow/agent-start", "d10_workflow", repeat(29, 46), 46),
    Mutant("workflow-runs", "tool-workflow/agent-end", "d10_workflow", move(43, 45), 45),
    Mutant("workflow-runs", "tool-workflow/run-end", "d10_workflow", repeat(44, 45), 45),
    Mutant("workflow-agents", "tool-workflow/agent-start", "d10_workflow", repeat(29, 30), 30, "as in line 29"),
    Mutant("workflow-agents", "tool-workflow/agent-end", "d10_workflow", repeat(43, 44), 44),
    Mutant("finished-first", "prompt response", "by hand", swap(10, 11), 10, "no `session.finished`"),
    Mutant("finished-first", "prompt response", "by hand", drop(19), 19),
    Mutant("finished-turn", "session.finished", "by hand", move(10, 9), 9, "its turn of line 4 is open"),
]


def check(mutant: Mutant, reference: Path | None) -> None:
    rows, revision = healthy(mutant.log, reference)
    mutant.edit(rows)
    if mutant.rule != "seq":
        renumber(rows)
    breaches, _ = told(rows, revision)
    assert [(each.line, each.rule) for each in breaches] == [(mutant.line, f"sequence/{mutant.rule}")]
    assert mutant.message in (breaches[0].message or "")
    assert is_event(table(revision).events[mutant.event], frame_at(rows, revision, mutant.line))


def frame_at(rows: Rows, revision: str, line: int) -> Frame:
    return next(frame for frame in read(rows, senders(revision)) if frame.line == line)


@pytest.mark.parametrize("mutant", [each for each in MUTANTS if each.log in OURS], ids=str)
def test_just_what_is_out_of_order_is_told(mutant: Mutant) -> None:
    check(mutant, None)


@pytest.mark.parametrize("mutant", [each for each in MUTANTS if each.log not in OURS], ids=str)
def test_just_what_is_out_of_order_in_a_real_log_is_told(reference_dir: Path, mutant: Mutant) -> None:
    check(mutant, reference_dir)


def test_every_event_that_can_break_a_rule_does() -> None:
    able = {
        (rule.id.removeprefix("sequence/"), name)
        for _, rule in rules()
        for name in rule.events
        if rule.rising is not None or rule.after[name] != {*rule.events, NOTHING}
    }
    assert {(each.rule, each.event) for each in MUTANTS} == able


# How logs end


class Open(NamedTuple):
    """What a log leaves open: the line of the last event, the rule, that event, words of the note."""

    line: int
    rule: str
    event: str
    words: str


class Ending(NamedTuple):
    """A healthy log that breaks off after a line."""

    log: str
    lines: int
    notes: list[Open]


TURN: Final = Open(9, "turn-running", "turn/start", "or the log is cut off")
ENDINGS: Final = [
    Ending("healthy", 8, [Open(8, "turn-running", "running", "while session session-d1 is running, before a turn has begun")]),
    Ending("healthy", 20, [TURN]),
    Ending(
        "healthy",
        22,
        [
            TURN,
            Open(21, "tool-result", "tool/call", "before the result of tool call call_mock_bash_1 of session session-d1"),
            Open(22, "jobs", "job/registered", "before job bash-587e8ae98645497e of session session-d1 has settled"),
        ],
    ),
    Ending("healthy", 30, [Open(30, "turn-running", "turn/end", "before the session has become idle")]),
    Ending("healthy", 31, []),
    Ending("healthy", 33, []),
    Ending("by hand", 8, [Open(4, "finished-turn", "turn/start", "or the log is cut off")]),
    Ending("by hand", 9, []),
    Ending(
        "d8_approval_fails_closed",
        22,
        [
            TURN,
            Open(21, "tool-result", "tool/call", "call_mock_esc_1"),
            Open(
                22, "approvals", "approval/asked", "before approval b703fffb-494c-4524-895b-20c5f9fe8298 of session session-d8"
            ),
        ],
    ),
    Ending("d7_tool_background_job", 30, [Open(22, "jobs", "job/registered", "has settled")]),
    Ending(
        "j1_subagent_spawn",
        26,
        [
            Open(9, "turn-running", "turn/start", "session-j1"),
            Open(25, "turn-running", "turn/start", "session 86e34456-"),
            Open(21, "tool-result", "tool/call", "call_mock_sub_1"),
        ],
    ),
]


def check_ending(ending: Ending, reference: Path | None) -> None:
    rows, revision = healthy(ending.log, reference)
    breaches, notes = told(rows[: ending.lines], revision)
    assert breaches == []
    assert [(note.line, note.rule) for note in notes] == [(each.line, f"sequence/{each.rule}") for each in ending.notes]
    for note, expected in zip(notes, ending.notes, strict=True):
        assert expected.words in (note.message or "")
        assert is_event(table(revision).events[expected.event], frame_at(rows, revision, note.line))


@pytest.mark.parametrize("ending", [each for each in ENDINGS if each.log in OURS], ids=str)
def test_what_a_log_leaves_open_is_told(ending: Ending) -> None:
    check_ending(ending, None)


@pytest.mark.parametrize("ending", [each for each in ENDINGS if each.log not in OURS], ids=str)
def test_what_a_real_log_leaves_open_is_told(reference_dir: Path, ending: Ending) -> None:
    check_ending(ending, reference_dir)


def test_every_end_is_told() -> None:
    able = {(rule.id.removeprefix("sequence/"), name) for _, rule in rules() for name in rule.ends}
    assert {(each.rule, each.event) for ending in ENDINGS for each in ending.notes} == able


@pytest.mark.parametrize(("name", "turn", "shutdown"), [("healthy", 9, 32), ("by hand", 4, 30)])
def test_shutdown_is_told_as_the_reason_only_in_its_own_conversation(name: str, turn: int, shutdown: int) -> None:
    rows, revision = healthy(name)
    stopped = [*rows[:turn], rows[shutdown - 1], rows[shutdown]]

    def endings(rows: Rows) -> list[tuple[int, bool]]:
        return [(note.line, "`shutdown` stopped it" in str(note.message)) for note in told(rows, revision)[1]]

    assert endings(stopped) == [(turn, True)]
    assert endings([*stopped, *rows[:turn]]) == [(len(stopped) + turn, False)]
    assert endings([*rows[:turn], *stopped]) == [(turn + turn, True)]
    assert endings([*stopped, rows[0], rows[1]]) == [(turn, False)]
    assert endings([*rows[:turn], rows[0], rows[shutdown - 1], rows[shutdown]]) == [(turn, False)]
