"""The quick judge never says yes where `jsonschema` says no, and does not fall over what it can't judge."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_codegen.frames import compiled as module
from dsh_codegen.frames.compiled import MOST_ENTRIES, Compiled
from tests.codegen.frames.lanes import ODD, Reference, Text, bundle, bundle_of, effort
from tests.codegen.frames.toy import BUNDLE, ref

NUMBERS: Final = [
    *(0, -0.0, 0.0, 1, 1.0, 1e2, 1.5, 0.5, -1, True, False, 2**53 - 1, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, 2**63),
    *(2**64 - 1, 2**64, 2**64 + 1, 2**70, 2**127, 2**128 + 1, 2**200, -(2**63), -(2**63) - 1, -(2**64), -(2**128), 10**400),
    *(1e308, 1e300, -1e300, 5e-324, float(2**64), float(2**70), "1", None),
]


def judged(schema: Any, *values: Any, **more: Any) -> list[bool]:
    """The verdicts, after the reference was asked about each that was accepted."""
    made = bundle_of({"X": schema, **more})
    judge, reference = Compiled(made), Reference(made, plainly=1)
    verdicts = [judge.is_valid("X", value) for value in values]
    for value, verdict in zip(values, verdicts, strict=True):
        if verdict:
            assert reference.is_valid("X", value), value
    return verdicts


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer"},
        {"type": "number"},
        {"minimum": 0},
        {"maximum": 2**53 - 1},
        {"maximum": 2**53},
        {"exclusiveMinimum": 0},
        {"exclusiveMaximum": 2**53},
        {"minimum": 0.5},
        {"maximum": -0.5},
        {"minimum": 2**63},
        {"maximum": 2**64},
        {"maximum": -(2**63)},
        {"maximum": 2**70},
        {"minimum": 1e300},
        {"exclusiveMaximum": 1e300},
        {"const": 1},
        {"const": 1.0},
        {"const": 0},
        {"const": True},
        {"enum": [1, True]},
        {"enum": [False]},
        {"enum": [2**53 + 1]},
        {"const": 2**64},
        {"enum": [2**70, None]},
    ],
)
def test_numbers_get_the_verdict_of_jsonschema(schema: Any) -> None:
    reference = Reference(bundle_of({"X": schema}), plainly=1)
    assert judged(schema, *NUMBERS) == [reference.is_valid("X", value) for value in NUMBERS]


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "string", "minLength": 2}, ["😀", "😀😀", "e\u0301", "a", "\0\0"]),
        ({"type": "string", "maxLength": 1}, ["😀", "e\u0301", ""]),
        (
            {"type": "array", "items": {"type": "number"}, "uniqueItems": True},
            [[1, 1.0], [1, 2], [0, -0.0], [2**53, 2**53 + 1]],
        ),
        ({"type": "array", "items": ref("Y"), "uniqueItems": True}, [["a", "a"], ["a", "b"], ["é", "e\u0301"]]),
        ({"type": "array", "items": {"type": "array"}, "uniqueItems": False}, [[[1], [1]], [1]]),
        ({"const": {"a": [1]}}, [{"a": [1.0]}, {"a": [True]}, {"a": [1], "b": 1}]),
        ({"anyOf": [{"type": "null"}, {"type": "string"}], "description": "d"}, [None, "", 1]),
        ({"allOf": [{"type": "string"}, {"not": {"enum": ["a"]}}]}, ["a", "b", 1]),
        ({"not": {"properties": {"t": {"const": 1}}, "required": ["t"]}}, [{"t": 1.0}, {"t": True}, {}, 1]),
        ({"type": "object", "properties": {"a": True}, "additionalProperties": False}, [{}, {"a": 1}, {"b": 1}]),
        ({"type": "string", "format": "date"}, ["no date"]),
        (True, [1, None]),
        (False, [1, None]),
    ],
)
def test_other_values_get_the_verdict_of_jsonschema(schema: Any, values: list[Any]) -> None:
    reference = Reference(bundle_of({"X": schema, "Y": {"type": "string"}}), plainly=1)
    assert judged(schema, *values, Y={"type": "string"}) == [reference.is_valid("X", value) for value in values]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer", "multipleOf": 3}, 3),
        ({"oneOf": [{"type": "string"}]}, "a"),
        ({"if": True, "then": True}, 1),
        ({"type": "string", "pattern": "\\d"}, "1"),
        ({"type": "string", "pattern": "^a$"}, "a"),
        ({"type": "string", "pattern": "(?i)a"}, "a"),
        ({"type": "string", "pattern": "(?=a)"}, "a"),
        ({"type": "string", "pattern": "."}, "a"),
        ({"type": "string", "pattern": "a*+"}, "a"),
        ({"type": "string", "pattern": "[a--b]"}, "a"),
        ({"type": "string", "pattern": "é"}, "é"),
        ({"type": "string", "pattern": 1}, "a"),
        ({"type": "array", "uniqueItems": True}, [1]),
        ({"type": "array", "items": {"type": ["array", "null"]}, "uniqueItems": True}, [None]),
        ({"type": "array", "items": ref("Loop"), "uniqueItems": True}, []),
        ({"not": {"pattern": "a"}}, "b"),
        ({"not": False}, 1),
        ({"not": {"properties": {"a": {"pattern": "a"}}}}, 1),
        ({"properties": [], "type": "object"}, {}),
        ({"type": "string", "minLength": -1}, "a"),
        ({"type": "object", "properties": {"a": 1}}, {}),
        ({"x-what": 1}, 1),
        ({"$anchor": "a"}, 1),
        ({"$ref": "#/$defs/Missing"}, 1),
        ({"$ref": "other.json"}, 1),
        ({"$ref": "#/$defs/Loop"}, 1),
        ({"$ref": "#/$defs/a~1b"}, 1),
        ({"$ref": 1}, 1),
    ],
)
def test_what_may_be_read_in_two_ways_is_for_the_reference(schema: Any, value: Any) -> None:
    judge = Compiled(bundle_of({"X": schema, "Loop": {"$ref": "#/$defs/Loop"}, "a~1b": True}))
    assert not judge.is_valid("X", value)
    assert not judge.is_valid("X", value)  # and it is not tried again
    assert not judge.decides("X", value)


def test_definitions_that_there_are_not() -> None:
    judge = Compiled(BUNDLE)
    assert not judge.is_valid("Missing", {})
    assert (judge.decides("Missing", {}), judge.decides("AskResult", {})) == (False, True)


def test_values_that_make_it_raise_are_for_the_reference() -> None:
    schema = {"type": "object", "properties": {"a": {"pattern": "x"}, "b": {}}}
    values: list[Any] = [{"a": "\ud800x"}, {"\ud800": 1}, {1: 2}, {"b": "\ud800"}, {"b": {"c": [{}] * 9}}]
    assert judged(schema, {"a": "xy"}, *values) == [True, False, False, False, True, True]


def test_panics_are_caught_and_interrupts_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})
    for error, caught in ((panic("oh"), True), (MemoryError(), True), (KeyboardInterrupt(), False)):

        class Validator:
            error_: BaseException = error

            def is_valid(self, _value: Any) -> bool:
                raise self.error_

        monkeypatch.setattr("jsonschema_rs.validator_for", lambda *_args, **_options: Validator())
        judge = Compiled(bundle_of({"X": True}))
        if caught:
            assert not judge.is_valid("X", 1)
        else:
            with pytest.raises(KeyboardInterrupt):
                judge.is_valid("X", 1)


def test_recursive_definitions_are_followed_down_to_some_depth() -> None:
    tree = {"type": "object", "properties": {"in": {"type": "array", "items": ref("X")}}}

    def nested(depth: int) -> Any:
        value: Any = {}
        for _ in range(depth - 1):
            value = {"in": [value]}
        return value

    assert judged(tree, nested(1), nested(MOST_ENTRIES), nested(MOST_ENTRIES + 1)) == [True, True, False]
    deep = nested(50_000)
    assert not Compiled(bundle_of({"X": tree})).is_valid("X", deep)  # which would use up the stack
    while deep:  # nor may its end
        deep = deep["in"][0] if "in" in deep else None
    free = {"type": "object", "properties": {"any": {}, "map": {"additionalProperties": {}}}}
    assert judged(free, {"any": {"a": [[[[1]]]]}, "map": {"b": {"c": {}}}}) == [True]


_ATOMS: Final = st.sampled_from(
    [*"abAZ019_:/,@=% -", *(rf"\{char}" for char in ".nrtfv$^*+?()[]{}|/\\"), "[ab]", "[^a-c]", "[A-Z+/=]"]
)
_QUANTIFIERS: Final = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{0,3}", "{1,}", "*?", "??"])
_SEQUENCES: Final = st.lists(st.tuples(_ATOMS, _QUANTIFIERS).map("".join), max_size=4).map("".join)
_PATTERNS: Final = st.recursive(
    _SEQUENCES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("|".join),
        st.tuples(st.sampled_from(["(", "(?:"]), inner, st.just(")"), _QUANTIFIERS, inner).map("".join),
        inner.map("^{}".format),
        inner.map("{}$(?!\\n)".format),
    ),
    max_leaves=4,
)


@settings(max_examples=effort(300), deadline=None)
@given(
    pattern=_PATTERNS,
    texts=st.lists(st.text("abcAZ019_:/,@=% -.\n\r\t$^*+?()[]{}|\\\x0b\x0cé😀\u2028", max_size=6), min_size=8),
)
def test_patterns_mean_the_same_in_both_engines(pattern: str, texts: list[str]) -> None:
    assert module._PATTERN.fullmatch(pattern), "the strategy draws what is let through"
    search = re.compile(pattern).search
    judge = Compiled(bundle_of({"X": {"type": "string", "pattern": pattern}}))
    if judge.decides("X", ""):  # Rust may find a pattern too large
        assert [judge.is_valid("X", text) for text in texts] == [search(text) is not None for text in texts]


@pytest.mark.parametrize("revision", ["2026-07-29", "0.1.1", "0.1.5", "0.2.1"])
def test_every_definition_of_every_revision_is_compiled(revision: str) -> None:
    made = bundle(revision)
    judge = Compiled(made)
    for name in made["$defs"]:
        assert judge.decides(name, None), name


def test_images_of_some_size() -> None:
    judge = Compiled(bundle("0.2.1"))
    image: dict[str, Any] = {"type": "image", "data": "AAAA" * 500_000, "mimeType": "image/png"}
    assert judge.is_valid("SdkEncodedImageBlock", image)
    assert not judge.is_valid("SdkEncodedImageBlock", image | {"data": image["data"][:-1] + "!"})
    assert not judge.is_valid("SdkEncodedImageBlock", image | {"data": image["data"] + "\n"})


def test_odd_values_for_every_definition() -> None:
    made = bundle("0.1.5")
    judge, reference = Compiled(made), Reference(made)
    random = Random("odd values")
    values = [value for value in ODD if not isinstance(value, Text)]
    accepted = 0
    for name in made["$defs"]:
        required = made["$defs"][name].get("required", [])
        for value in [*values, *({key: random.choice(values) for key in required} for _ in range(10))]:
            if judge.is_valid(name, value):
                accepted += 1
                assert reference.is_valid(name, value), (name, value)
    assert accepted > 100
    assert json.dumps(made["$defs"], sort_keys=True) == json.dumps(bundle("0.1.5")["$defs"], sort_keys=True)  # left as it was
