"""Reading a table of sequencing rules: what comes out of it, and how a broken one is refused."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from dsh_codegen.errors import CodegenError
from dsh_codegen.frames.sequencing import (
    EMPTY,
    End,
    Event,
    SequenceRule,
    Sequencing,
    Span,
    fill,
    load_sequencing,
    load_sequencings,
)

SCHEMA: Final = Path(__file__).parents[3] / "schema"
META: Final = json.loads((SCHEMA / "sequencing.meta.json").read_text(encoding="utf-8"))

TABLE: Final[dict[str, Any]] = {
    "begins": "hello",
    "events": {
        "hello": {"request": "hello"},
        "open": {"notification": "door", "where": {"params.state": "open", "params.sure": True}, "comment": "as it says"},
        "shut": {"notification": ["door", "gate"], "where": {"params.state": "shut"}, "revisions": ["2", "3"]},
        "answer": {"response": "ask", "has": "result"},
    },
    "rules": [
        {
            "id": "sequence/doors",
            "severity": "warning",
            "sentence": "Doors are opened and shut in turn.",
            "comment": "as doors are",
            "protocol": ["S1", "S20"],
            "per": {"open": ["params.house", "params.door"], "shut": ["params.house", "params.doors[*].id"]},
            "after": {"open": ["", "shut"]},
            "not_after": {"shut": ["", "shut"]},
            "says": {"open": "door {1} of {0} is open since line {line}: {{{event} after {previous}, {key}}}"},
            "ends": {"open": [{"if": "shut", "says": "door {1} was left open"}, {"says": "no door was ever shut"}]},
        },
        {
            "id": "sequence/answers",
            "severity": "error",
            "sentence": "Hello comes first.",
            "protocol": ["S2"],
            "revisions": ["1", "2"],
            "over": "log",
            "per": {"hello": "", "answer": ""},
            "after": {"answer": ["hello", "answer"]},
            "ends": {"hello": "nobody answered"},
        },
        {
            "id": "sequence/number",
            "severity": "error",
            "sentence": "Numbers rise.",
            "protocol": ["S3"],
            "over": "conversation",
            "per": {"shut": "params.house"},
            "rising": "params.number",
        },
    ],
    "spans": [{"name": "opening", "start": "open", "end": "shut", "per": "params.door", "outcome": "params.by"}],
    "sessions": {"open": "params.house", "shut": "params.house"},
}


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    """The table with one place set to another value."""
    table = copy.deepcopy(TABLE)
    place: Any = table
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return table


def without(*path: str | int) -> dict[str, Any]:
    table = copy.deepcopy(TABLE)
    place: Any = table
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return table


def accepts(table: Any) -> bool:
    """The verdict of the meta schema."""
    validator: Any = Draft202012Validator(META)
    return bool(validator.is_valid(table))


def test_the_meta_schema_is_one() -> None:
    Draft202012Validator.check_schema(META)


def test_a_table_becomes_values() -> None:
    assert accepts(TABLE)
    doors = SequenceRule(
        "sequence/doors",
        "warning",
        "Doors are opened and shut in turn.",
        ("S1", "S20"),
        {"open": ("params.house", "params.door"), "shut": ("params.house", "params.doors[*].id")},
        {"open": frozenset({"", "shut"}), "shut": frozenset({"open"})},
        says={"open": "door {1} of {0} is open since line {line}: {{{event} after {previous}, {key}}}"},
        ends={"open": (End("door {1} was left open", "shut"), End("no door was ever shut"))},
    )
    answers = SequenceRule(
        "sequence/answers",
        "error",
        "Hello comes first.",
        ("S2",),
        {"hello": (), "answer": ()},
        {"hello": frozenset({"", "hello", "answer"}), "answer": frozenset({"hello", "answer"})},
        whole=True,
        ends={"hello": (End("nobody answered"),)},
    )
    number = SequenceRule(
        "sequence/number",
        "error",
        "Numbers rise.",
        ("S3",),
        {"shut": ("params.house",)},
        {"shut": frozenset({"", "shut"})},
        rising="params.number",
    )
    assert load_sequencing(TABLE, "2") == Sequencing(
        {
            "hello": Event("hello", "request", ("hello",)),
            "open": Event("open", "notification", ("door",), (("params.state", "open"), ("params.sure", True))),
            "shut": Event("shut", "notification", ("door", "gate"), (("params.state", "shut"),)),
            "answer": Event("answer", "response", ("ask",), (), "result"),
        },
        (doors, answers, number),
        (Span("opening", "open", "shut", ("params.door",), "params.by"),),
        {"open": "params.house", "shut": "params.house"},
        "hello",
    )


def test_a_table_can_be_as_small_as_its_rules() -> None:
    table = {"events": TABLE["events"], "rules": TABLE["rules"][:1]}
    assert accepts(table)
    found = load_sequencing(table, "2")
    assert (found.spans, found.sessions, found.begins) == ((), {}, None)


def test_of_another_revision_only_what_it_has_is_left() -> None:
    first = load_sequencing(TABLE, "1")
    assert list(first.events) == ["hello", "open", "answer"]
    assert [rule.id for rule in first.rules] == ["sequence/doors", "sequence/answers"]  # nothing to number
    doors = first.rules[0]
    assert doors.events == {"open": ("params.house", "params.door")}
    assert doors.after == {"open": {""}}
    assert doors.ends == {"open": (End("no door was ever shut"),)}  # the other one can't apply
    assert (first.spans, first.sessions, first.begins) == ((), {"open": "params.house"}, "hello")

    assert [rule.id for rule in load_sequencing(TABLE, "3").rules] == ["sequence/doors", "sequence/number"]

    assert load_sequencing(changed("events", "hello", "revisions", to=["2"]), "1").begins is None


def test_several_revisions_are_read_at_once() -> None:
    assert load_sequencings(TABLE, ["1", "2", "3"]) == [load_sequencing(TABLE, revision) for revision in ("1", "2", "3")]


def test_a_rule_that_nothing_can_break_any_more_is_left_out() -> None:
    table = changed("events", "open", "revisions", to=["2"])
    assert [rule.id for rule in load_sequencing(table, "1").rules] == ["sequence/answers"]
    table = without("rules", 0, "after")
    assert [rule.id for rule in load_sequencing(table, "1").rules] == ["sequence/answers"]


def test_what_leaves_a_key_as_new() -> None:
    doors, answers, number = load_sequencing(TABLE, "2").rules
    assert doors.closing == {"shut"}
    assert answers.closing == set()  # the start of the log is told from an answer
    assert number.closing == set()  # the next number has to be greater than the last one

    again = load_sequencing(changed("rules", 0, "not_after", "shut", to=[""]), "2").rules[0]
    assert again.after["shut"] == {"open", "shut"}
    assert again.closing == set()


def test_sentences_are_filled_in() -> None:
    rule = load_sequencing(TABLE, "2").rules[0]
    told = fill(rule.says["open"], "open", "open", 7, ['"h"', "3"])
    assert told == 'door 3 of "h" is open since line 7: {open after open, "h", 3}'


def test_rules_travel_to_other_processes() -> None:
    assert Sequencing() == EMPTY
    found = load_sequencing(TABLE, "2")
    assert pickle.loads(pickle.dumps(found)) == found


Broken = tuple[dict[str, Any] | Any, str, str]
R: Final = ("rules", 0)

# Table, the place that is named, words of the reason.
BROKEN: Final[dict[str, Broken]] = {
    "no object": ([], "", "expected an object"),
    "no rules": (without("rules"), "", '"rules" is missing'),
    "unknown member": (changed("event", to={}), "", 'no member "event"'),
    "schema of another kind": (changed("$schema", to=1), "/$schema", "expected a text"),
    "empty events": (changed("events", to={}), "/events", "empty"),
    "event without a name": (changed("events", "", to={"request": "x"}), "/events/", "needs a name"),
    "event with a control character": (changed("events", "a\nb", to={"request": "x"}), "/events", "control"),
    "event of two kinds": (changed("events", "hello", "response", to="x"), "/events/hello", "is one of"),
    "event of no kind": (changed("events", "hello", to={"has": "x"}), "/events/hello", "is one of"),
    "method that is no text": (changed("events", "hello", "request", to=5), "/events/hello/request", "expected a method"),
    "method without a name": (changed("events", "hello", "request", to=""), "/events/hello/request", "expected a method"),
    "no methods": (changed("events", "hello", "request", to=[]), "/events/hello/request", "empty"),
    "a method twice": (changed("events", "hello", "request", to=["a", "a"]), "/events/hello/request/1", "twice"),
    "value that is null": (
        changed("events", "open", "where", "a", to=None),
        "/events/open/where/a",
        "expected a string",
    ),
    "value with a fraction": (changed("events", "open", "where", "a", to=0.5), "/events/open/where/a", "expected a string"),
    "path that is none": (changed("events", "open", "where", "a/b", to="x"), "/events/open/where/a~1b", "expected a path"),
    "nothing to have": (changed("events", "answer", "has", to=""), "/events/answer/has", "expected a text"),
    "no revisions": (changed("events", "shut", "revisions", to=[]), "/events/shut/revisions", "empty"),
    "revision that is none": (changed("events", "shut", "revisions", to=["a b"]), "/events/shut/revisions/0", "revision"),
    "comment that is none": (changed("events", "open", "comment", to=""), "/events/open/comment", "expected a text"),
    "rules that are no array": (changed("rules", to={}), "/rules", "expected an array"),
    "rule without a key": (without(*R, "per"), "/rules/0", '"per" is missing'),
    "rule with an unknown member": (changed(*R, "before", to={}), "/rules/0", 'no member "before"'),
    "rule with another id": (changed(*R, "id", to="turns"), "/rules/0/id", "expected a rule id"),
    "rule of another severity": (changed(*R, "severity", to="note"), "/rules/0/severity", 'no severity "note"'),
    "rule without a sentence": (changed(*R, "sentence", to=""), "/rules/0/sentence", "expected a text"),
    "rule without a reason": (changed(*R, "protocol", to=[]), "/rules/0/protocol", "empty"),
    "rule with a reason that is none": (changed(*R, "protocol", to=["S01"]), "/rules/0/protocol/0", "the id of a rule"),
    "comment on a rule": (changed(*R, "comment", to=5), "/rules/0/comment", "expected a text"),
    "rule over something else": (changed(*R, "over", to="file"), "/rules/0/over", 'no extent "file"'),
    "rule that asks for nothing": (without("rules", 2, "rising"), "/rules/2", "either"),
    "rule that asks for too much": (changed(*R, "rising", to="params.n"), "/rules/0", "either"),
    "rising at no path": (changed("rules", 2, "rising", to="params..n"), "/rules/2/rising", "expected a path"),
    "key at no path": (changed(*R, "per", "open", to=["params.house", "params[*]."]), "/rules/0/per/open/1", "expected a path"),
    "key of no paths": (changed(*R, "per", "open", to=[]), "/rules/0/per/open", "empty"),
    "no predecessors": (changed(*R, "after", "open", to=[]), "/rules/0/after/open", "empty"),
    "predecessor that is no text": (changed(*R, "after", "open", to=[1]), "/rules/0/after/open/0", "no event of this rule 1"),
    "predecessor twice": (changed(*R, "after", "open", to=["", ""]), "/rules/0/after/open/1", "twice"),
    "message that is no text": (changed(*R, "says", "open", to=1), "/rules/0/says/open", "expected a text"),
    "no messages": (changed(*R, "says", to={}), "/rules/0/says", "empty"),
    "ends of no kind": (changed(*R, "ends", "open", to=1), "/rules/0/ends/open", "expected an array"),
    "end that says nothing": (changed(*R, "ends", "open", to=[{"if": "shut"}]), "/rules/0/ends/open/0", '"says" is missing'),
    "end with an unknown member": (changed(*R, "ends", "open", 0, "unless", to="x"), "/rules/0/ends/open/0", '"unless"'),
    "no spans": (changed("spans", to=[]), "/spans", "empty"),
    "span without an outcome": (without("spans", 0, "outcome"), "/spans/0", '"outcome" is missing'),
    "span without a name": (changed("spans", 0, "name", to=""), "/spans/0/name", "expected a text"),
    "span at no path": (changed("spans", 0, "per", to="a b"), "/spans/0/per", "expected a path"),
    "session at no path": (changed("sessions", "open", to=""), "/sessions/open", "expected a path"),
}

# What the meta schema can't know.
UNFIT: Final[dict[str, Broken]] = {
    "beginning that is no event": (changed("begins", to="hallo"), "/begins", 'no event "hallo"'),
    "key of no event": (changed(*R, "per", "opened", to="x"), "/rules/0/per/opened", 'no event "opened"'),
    "keys of different size": (changed(*R, "per", "open", to="params.door"), "/rules/0/per", "same number of paths"),
    "rule twice": (changed("rules", 2, "id", to="sequence/doors"), "/rules/2/id", "stands twice"),
    "event of another rule": (changed(*R, "after", "hello", to=[""]), "/rules/0/after/hello", "no event of this rule"),
    "predecessor of another rule": (
        changed(*R, "after", "open", to=["hello"]),
        "/rules/0/after/open/0",
        "no event of this rule",
    ),
    "both ways": (changed(*R, "not_after", "open", to=["open"]), "/rules/0/not_after/open", "stands under `after`"),
    "message for no event": (changed(*R, "says", "hello", to="x"), "/rules/0/says/hello", "no event of this rule"),
    "place for nothing": (changed(*R, "says", "open", to="{2}"), "/rules/0/says/open", "nothing to put in the place of {2}"),
    "place with an attribute": (changed(*R, "says", "open", to="{key.x}"), "/rules/0/says/open", "nothing to put"),
    "place with a format": (changed(*R, "says", "open", to="{line:>9}"), "/rules/0/says/open", "nothing to put"),
    "place with a conversion": (changed(*R, "says", "open", to="{key!r}"), "/rules/0/says/open", "nothing to put"),
    "brace": (changed(*R, "says", "open", to="{key"), "/rules/0/says/open", "write a brace twice"),
    "end after no event": (changed(*R, "ends", "hello", to="x"), "/rules/0/ends/hello", "no event of this rule"),
    "end if nothing": (changed(*R, "ends", "open", 0, "if", to="x"), "/rules/0/ends/open/0/if", 'no event "x"'),
    "end after one that always applies": (
        changed(*R, "ends", "open", to=[{"says": "x"}, {"says": "y"}]),
        "/rules/0/ends/open/1",
        "applies always",
    ),
    "end with a place for nothing": (changed(*R, "ends", "open", 0, "says", to="{x}"), "/rules/0/ends/open/0/says", "{x}"),
    "end after what leaves nothing": (changed(*R, "ends", "shut", to="x"), "/rules/0/ends/shut", "leaves nothing open"),
    "span of no event": (changed("spans", 0, "start", to="x"), "/spans/0/start", 'no event "x"'),
    "session of no event": (changed("sessions", "x", to="params.house"), "/sessions/x", 'no event "x"'),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_table_is_refused_by_loader_and_schema(name: str) -> None:
    table, pointer, reason = BROKEN[name]
    assert not accepts(table)
    refused(table, pointer, reason)


@pytest.mark.parametrize("name", UNFIT)
def test_a_table_that_does_not_fit_itself_is_refused(name: str) -> None:
    table, pointer, reason = UNFIT[name]
    assert accepts(table)
    refused(table, pointer, reason)


def refused(table: Any, pointer: str, reason: str) -> None:
    """One sentence with the place, whatever the revision."""
    for revision in ("1", "2"):
        with pytest.raises(CodegenError) as caught:
            load_sequencing(table, revision)
        text = str(caught.value)
        assert text.startswith(f"sequencing.json#{pointer}: ")
        assert reason in text
        assert "\n" not in text


def everywhere(value: Any, visit: Callable[[Any, Any], None]) -> None:
    """Visit every place in a table, as a container and a key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        visit(value, key)
        if isinstance(value[key], dict | list):
            everywhere(value[key], visit)


def test_loader_and_schema_agree_on_every_place() -> None:
    """Each value of the table is replaced by one of each JSON type: what the schema refuses, the loader does."""
    table = copy.deepcopy(TABLE)
    refusals = 0

    def visit(container: Any, key: Any) -> None:
        nonlocal refusals
        kept = container[key]
        for other in (None, True, 5, 0.5, "", "a b", "\n", [], {}, [None], {"x": None}):
            container[key] = other
            try:
                load_sequencing(table, "2")
            except CodegenError:
                refusals += 1
            else:
                assert accepts(table), (key, other)
        container[key] = kept

    everywhere(table, visit)
    assert refusals > 500
