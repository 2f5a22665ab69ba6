"""Walks over values of the toy protocol: what they count, and what they find undeclared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_codegen.frames.members import undeclared
from dsh_codegen.frames.observing.coverage import Coverage, coverage
from dsh_codegen.frames.observing.walks import DEEPEST, Tally
from dsh_codegen.frames.protocol import Protocol
from tests.codegen.frames.test_judge import bundle
from tests.codegen.frames.toy import BUNDLE, DEFINITIONS, NAME, TEXT, arm, ref

LOGS: Final = Path(__file__).parents[2] / "fixtures" / "logs"
TOY: Final = Protocol("1", BUNDLE)


def protocol(**definitions: Any) -> Protocol:
    """A protocol of one notification, whose params are `Root`."""
    methods = [{"name": "note", "sender": "client", "params": "Root", "description": ""}]
    return Protocol("1", {**BUNDLE, "x-methods": methods, "$defs": {**DEFINITIONS, **definitions}})


class Walked:
    """Values walked, by name: `counts` of what was seen, and what was `told`."""

    def __init__(self, of: Protocol, definition: str, *values: Any) -> None:
        self.told: list[tuple[str, str, str, str]] = []
        self.coverage: Coverage = coverage(of)
        self.tally = Tally(self.coverage.layout.size, lambda *told: self.told.append(told))
        for value in values:
            self.coverage.walk(definition, value, self.tally)

    @property
    def counts(self) -> dict[str, int]:
        """What was counted at all: `Definition`, `Definition.member`, `Definition#tag or value`."""
        return {name: count for name, number in self._names() if (count := self.tally.counts[number])}

    @property
    def declared(self) -> list[str]:
        return [name for name, _ in self._names()]

    def _names(self) -> Iterator[tuple[str, int]]:
        for definition, places in self.coverage.layout.definitions:
            for place in places:
                label = f"{definition}/{place.label}" if place.label else definition
                yield label, place.number
                yield from ((f"{label}.{name}", number) for name, number in place.members)
                yield from ((f"{label}#{name}", number) for name, number in (*place.tags, *place.values))


def test_a_request_counts_its_definitions_members_tags_and_values() -> None:
    value = {
        "sessionId": "s",
        "blocks": [{"type": "text", "text": "a"}, {"type": "picture", "url": "b", "size": {"wide": 1}}],
        "place": "append",
        "labels": {"any": {"kind": "stopped", "why": "asked"}, "other": {"kind": "started", "at": 1}},
    }
    walked = Walked(TOY, "AskParams", value)
    assert walked.told == []
    assert walked.counts == {
        **dict.fromkeys(["AskParams", "AskParams.sessionId", "AskParams.blocks", "AskParams.place", "AskParams.labels"], 1),
        "SentBlock": 2,
        "SentBlock#text": 1,
        "SentBlock#picture": 1,
        "Block": 2,
        "Block#text": 1,
        "Block#picture": 1,
        **dict.fromkeys(["TextBlock", "TextBlock.type", "TextBlock.text"], 1),
        **dict.fromkeys(["PictureBlock", "PictureBlock.type", "PictureBlock.url", "PictureBlock.size"], 1),
        **dict.fromkeys(["Size", "Size#object", "Placement", "Placement#append", "Started", "Started.kind", "Started.at"], 1),
        **dict.fromkeys(["Stopped", "Stopped.kind", "Stopped.why", "Stopped/why#asked", "Stopped/why"], 1),
        "Change": 2,
        "Change#started": 1,
        "Change#stopped": 1,
        "Size.wide": 1,
    }


def test_what_methods_lead_to_is_declared_and_nothing_else() -> None:
    walked = Walked(protocol(Root={"type": "object", "properties": {"change": ref("Change")}}), "Root")
    assert walked.declared == [
        *("Started", "Started.kind", "Started.at", "Stopped", "Stopped.kind", "Stopped.why", "Stopped.echo"),
        *("Stopped/why", "Stopped/why#asked", "Stopped/why#failed", "Change", "Change#started", "Change#stopped"),
        *("Root", "Root.change"),
    ]


def test_undeclared_things_are_told_with_the_schema_that_lacks_them() -> None:
    value = {
        "sessionId": "s",
        "more": 1,
        "blocks": [
            {"type": "text", "text": "a", "bold": True},
            {"type": "sound"},
            {"type": "gone"},
            {"type": "picture", "data": "a", "x": 1},
        ],
        "place": "prepend",
        "labels": {"a": {"kind": "paused"}, "b": {"kind": "stopped", "why": "bored", "echo": {"any": 1}}},
    }
    assert Walked(TOY, "AskParams", value).told == [
        ("member", "#/$defs/AskParams", "", "more"),
        ("member", "#/$defs/TextBlock", "", "bold"),
        ("tag", "#/$defs/SentBlock", "type", "sound"),
        ("tag", "#/$defs/SentBlock", "type", "gone"),
        ("member", "#/$defs/UploadBlock", "", "x"),
        ("value", "#/$defs/Placement", "", "prepend"),
        ("tag", "#/$defs/Change", "kind", "paused"),
        ("value", "#/$defs/Stopped/properties/why", "", "bored"),
    ]


def test_an_object_of_an_unknown_tag_counts_for_its_open_arm_and_hides_what_it_carries() -> None:
    other = {
        "type": "object",
        "properties": {"type": NAME, "change": ref("Change"), "why": {"enum": ["asked"]}},
        "required": ["type"],
    }
    union = {"x-tag": "type", "anyOf": [ref("TextBlock"), ref("Other")]}
    walked = Walked(
        protocol(Root=union, Other=other),
        "Root",
        {"type": "sound", "why": "new", "new": 1, "change": {"kind": "stopped", "new": 1}},
    )
    assert walked.told == [("tag", "#/$defs/Root", "type", "sound")]
    assert {"Root": 1, "Other": 1, "Other.change": 1, "Stopped": 1}.items() <= walked.counts.items()


def test_values_that_break_the_schema_are_followed_as_far_as_they_go() -> None:
    values: list[Any] = [
        None,
        [],
        "text",
        {"blocks": {}, "labels": [], "place": 5},
        {"blocks": [None, {}, {"type": 1}, {"type": []}, 3]},
    ]
    walked = Walked(TOY, "AskParams", *values)
    assert walked.told == [("tag", "#/$defs/SentBlock", "type", "1")]
    assert walked.counts == {"AskParams": 2, "AskParams.blocks": 2, "AskParams.labels": 1, "AskParams.place": 1, "SentBlock": 3}


def test_enumerations_compare_as_json_does_and_look_at_values_of_their_type_only() -> None:
    root = {"enum": [1, "1", None, False]}
    walked = Walked(protocol(Root=root), "Root", 1, 1.0, "1", True, False, None, {}, [], 2, "x")
    assert walked.counts == {"Root": 7, "Root#1": 3, "Root#false": 1}
    assert [told[3] for told in walked.told] == ["true", "2", "x"]


def test_open_strings_know_the_values_that_they_name() -> None:
    walked = Walked(protocol(Root={"type": "string", "x-open": True, "x-known": ["a", "b"]}), "Root", "a", "c", 5)
    assert (walked.counts, walked.told) == ({"Root": 2, "Root#a": 1}, [("value", "#/$defs/Root", "", "c")])


def test_a_union_without_a_tag_goes_by_constant_and_then_by_type() -> None:
    arms = [
        {"const": 1},
        {"const": "all"},
        {"type": "string"},
        {"type": "array", "items": ref("Started")},
        ref("Stopped"),
        {"type": "null"},
    ]
    walked = Walked(
        protocol(Root={"anyOf": arms}), "Root", "all", "some", 1, 2, True, [{"kind": "started", "a/b": 1}], {"why": 1}, None
    )
    assert walked.told == [("value", "#/$defs/Root", "", "2"), ("member", "#/$defs/Started", "", "a/b")]
    expected = {"Root": 5, "Root#all": 1, "Root#string": 1, "Root#1": 1, "Root#array": 1, "Root#Stopped": 1}
    assert expected.items() <= walked.counts.items()
    assert "Root#null" not in walked.declared


def test_arms_without_a_type_take_any_value() -> None:
    walked = Walked(protocol(Root={"anyOf": [ref("Change"), {}]}), "Root", {"kind": "paused"}, [], None, "x")
    assert walked.counts == {"Root": 4, "Root#Change": 1, "Root#anything": 3, "Change": 1}
    assert walked.told == [("tag", "#/$defs/Change", "kind", "paused")]


def test_an_arm_that_declares_nothing_takes_what_no_other_does() -> None:
    walked = Walked(protocol(Root={"x-tag": "type", "anyOf": [ref("TextBlock"), {}]}), "Root", {"type": "new"}, 5)
    assert (walked.counts, walked.told) == ({"Root": 2}, [])


def test_an_arm_that_refuses_nothing_takes_what_no_tag_tells() -> None:
    union = {"x-tag": "type", "anyOf": [ref("TextBlock"), {"type": "object", "properties": {"any": True}}]}
    walked = Walked(protocol(Root=union), "Root", {"any": 1}, {"type": "new", "x": 1}, {"type": "text"}, [])
    assert walked.told == [("member", "#/$defs/Root/anyOf/1", "", "type"), ("member", "#/$defs/Root/anyOf/1", "", "x")]


def test_schemas_of_all_kinds_have_their_counters() -> None:
    root = {
        "type": "object",
        "properties": {
            "again": ref("Again"),
            "echo": ref("Echo"),
            "text": ref("Text"),
            "free": {"type": "object"},
            "any": True,
            "a/b~c": {"type": "object", "properties": {"x": {"enum": ["y"]}}, "additionalProperties": False},
            "list": {"type": "array", "items": {"type": "array", "items": {"enum": ["z"]}}},
            "map": {"type": "object", "additionalProperties": True, "properties": {"known": TEXT}},
        },
    }
    of = protocol(Root=root, Again=ref("Text"), Text=TEXT, Echo={"x-lenient": True})
    value: dict[str, Any] = {"again": "a", "echo": {"new": 1}, "text": "b", "free": {"new": 1}, "any": {"new": 1}}
    value |= {"a/b~c": {"x": "y", "new": 1}, "list": [["z", "q"]], "map": {"new": 1, "known": ""}}
    walked = Walked(of, "Root", value)
    assert walked.told == [
        ("member", "#/$defs/Root/properties/a~1b~0c", "", "new"),
        ("value", "#/$defs/Root/properties/list/items/items", "", "q"),
    ]
    expected = {"Again": 1, "Text": 2, "Echo": 1, "Root/a/b~c": 1, "Root/a/b~c.x": 1, "Root/a/b~c.x#y": 1, "Root/list[][]#z": 1}
    assert expected.items() <= walked.counts.items()
    assert walked.counts["Root/map.known"] == 1


def nested(depth: int) -> Any:
    value: Any = {"kind": "leaf"}
    for _ in range(depth):
        value = {"kind": "node", "inner": [value]}
    return value


def test_definitions_inside_themselves_are_walked_to_a_fixed_depth() -> None:
    tree = {"x-tag": "kind", "anyOf": [arm("kind", "leaf"), arm("kind", "node", inner={"type": "array", "items": ref("Root")})]}
    of = protocol(Root=tree)
    assert Walked(of, "Root", nested(7)).counts["Root#node"] == 7
    assert Walked(of, "Root", {"kind": "node", "inner": [nested(1)] * 200}).counts["Root#node"] == 201
    assert Walked(of, "Root", nested(150), nested(150)).counts["Root#node"] == 2 * (DEEPEST + 1)


def test_too_deep_a_value_is_counted_in_part() -> None:
    circle: dict[str, Any] = {f"D{n}": {"type": "array", "items": ref(f"D{(n + 1) % 40}")} for n in range(40)}
    of = protocol(Root={"type": "array", "items": ref("D0")}, **circle)
    value: Any = []
    for _ in range(5000):
        value = [value]
    walked = Walked(of, "Root", value, [[]])
    assert walked.counts["D0"] > walked.counts["D39"] > 1
    assert walked.counts["Root"] == 2


def test_every_protocol_is_compiled_once() -> None:
    assert coverage(TOY) is coverage(TOY)
    assert coverage(Protocol("1", BUNDLE)) is not coverage(TOY)
    assert coverage(Protocol("1", BUNDLE)).layout == coverage(TOY).layout


def test_a_definition_that_no_method_names_is_not_walked() -> None:
    assert Walked(TOY, "NoSuchDefinition", {}).counts == {}


_WORDS: Final = st.sampled_from(["text", "picture", "gone", "other", "started", "stopped", "append", "asked", "type", "kind"])
_SCALARS: Final = st.one_of(_WORDS, st.none(), st.booleans(), st.sampled_from([0, 1, 1.5]))
_MEMBERS: Final = st.sampled_from(["type", "kind", "text", "url", "data", "size", "wide", "at", "why", "after", "echo", "x"])
_VALUES: Final = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_MEMBERS, inner, max_size=4), max_leaves=8
)


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from(["sessionId", "blocks", "place", "labels", "x"]), _VALUES))
def test_members_and_open_tags_are_those_that_strict_reports(value: Any) -> None:
    strict = [(each.tag, None if each.tag else each.path[-1]) for each in undeclared(TOY.definitions, "AskParams", value, ())]
    told = Walked(TOY, "AskParams", value).told
    closed = {("tag", "gone"), ("tag", "1"), ("tag", "0"), ("tag", "1.5"), ("tag", "true"), ("tag", "false")}
    ours = [
        (kind == "tag", None if kind == "tag" else name)
        for kind, schema, _, name in told
        if kind == "member" or (kind == "tag" and schema == "#/$defs/SentBlock" and (kind, name) not in closed)
    ]
    assert ours == strict


@pytest.mark.parametrize(("revision", "log"), [("0.1.5", "healthy-0.1.5"), ("0.2.1", "healthy")])
def test_healthy_logs_make_use_of_what_they_carry_and_of_nothing_undeclared(revision: str, log: str) -> None:
    of = Protocol(revision, bundle(revision))
    rows = map(json.loads, (LOGS / f"{log}.jsonl").read_text(encoding="utf-8").splitlines())
    frames = [row["frame"] for row in rows if row["frame"] is not None]
    events = [frame["params"] for frame in frames if frame.get("method") == "session.event"]
    walked = Walked(of, "SessionEventNotification", *events)
    assert walked.told == []
    for event in (each["event"] for each in events):
        same = [each for each in events if each["event"]["type"] == event["type"]]
        assert walked.counts[f"SessionEvent#{event['type']}"] == len(same)
    assert walked.counts["SessionEventNotification"] == len(events)
