"""The quickest lane on single definitions: what it takes, and what it leaves to others. Frames: test_struct_frames."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from dsh_codegen.frames.struct_shapes import MOST_ENTRIES
from dsh_codegen.frames.structs import Structs
from tests.codegen.frames.lanes import Reference, bundle_of, dump
from tests.codegen.frames.toy import COUNT, DEFINITIONS, NAME, TEXT, arm, ref


def takes(schema: Any, *values: Any, **more: Any) -> list[bool]:
    """Whether a definition takes each value; nothing is taken that the reference refuses."""
    made = bundle_of({"X": schema, **more})
    structs, reference = Structs(made), Reference(made, plainly=1)
    taken = [structs.accepts("X", dump(value)) for value in values]
    for value, took in zip(values, taken, strict=True):
        if took:
            assert reference.is_clean("X", reference.read(dump(value))), value
    return taken


# --- schemas


@pytest.mark.parametrize(
    ("schema", "taken", "left"),
    [
        (TEXT, ["", "a", "\0", "😀"], [1, None, True, [], {}]),
        (NAME, ["a"], [""]),
        ({"type": "string", "maxLength": 2}, ["😀😀", "e\u0301"], ["abc", "e\u0301x"]),
        ({"type": "string", "minLength": 2}, ["e\u0301", "😀😀"], ["😀", "a"]),
        ({"type": "string", "pattern": "b"}, ["abc", "b"], ["a", ""]),
        (COUNT, [1, 9], [0, 10, 1.0, 1.5, True, "1", -(2**70), 2**70, 2**64, -(2**63) - 1]),
        ({"type": "integer"}, [0, -1, 2**70, -(2**70), 10**400], [1.0, False, None]),
        ({"type": "integer", "minimum": 0}, [2**64, 2**70], [-1, -(2**63), -(2**64), -(2**70)]),
        ({"type": "integer", "exclusiveMaximum": 10}, [9, -(2**70)], [10, 2**63, 2**70]),
        ({"type": "integer", "minimum": 0.5, "maximum": 2.5}, [1, 2], [0, 3]),
        ({"type": "number", "maximum": 2**53}, [2**53, float(2**53), -1e300], [2**53 + 1, 2**53 + 2.0, 2**64, 1e300]),
        ({"type": "number", "exclusiveMinimum": 0}, [1, 5e-324, 0.1], [0, 0.0, -0.0, -1, True]),
        ({"type": ["integer", "null"]}, [1, None], ["", 1.5]),
        ({"type": ["integer", "number"]}, [1, 1.5], ["1", True]),
        ({"type": ["string", "number", "null", "boolean", "array", "object"]}, ["", 1, 1.5, None, True, [1], {"a": 1}], []),
        ({"type": "boolean"}, [True, False], [0, 1, None]),
        ({"type": "null"}, [None], [False, 0]),
        ({"const": True}, [True], [False, 1, 1.0, "true", None, [], {}]),
        ({"enum": [False]}, [False], [True, 0, -0.0, None]),
        ({"enum": [True, None]}, [True, None], [False, 0]),
        ({"enum": [True, False]}, [True, False], [0]),
        ({"enum": [True, 0, "a"]}, [True, 0, "a"], [False, 1, "true"]),
        ({"anyOf": [{"const": True}, {"type": "integer"}]}, [True, 1], [False, 1.5]),
        ({"enum": ["a", 1, None, "é"]}, ["a", 1, None, "é"], ["b", 1.0, True, False, "1"]),
        ({"enum": ["a", 1], "type": "string"}, ["a"], [1]),
        ({"enum": [2**63, -(2**63), 1.5, [], {}, "\ud800"]}, [-(2**63)], [2**63, 1.5, [], {}]),
        ({"const": 1}, [1], [1.0, True]),
        ({"type": "array"}, [[], [1, "a", [None]]], [{}, "[]"]),
        ({"type": "array", "items": COUNT, "minItems": 1, "maxItems": 2}, [[1], [1, 2]], [[], [0], [1, 2, 3], [1, None]]),
        ({"type": "object"}, [{}, {"a": {"b": [1]}}], [[], None]),
        ({"type": "object", "additionalProperties": COUNT}, [{}, {"a": 1, "": 2}], [{"a": 0}, {"a": None}]),
        ({"type": "object", "additionalProperties": False}, [{}], [{"a": 1}]),
        ({"type": "object", "properties": {}, "additionalProperties": True}, [{}], [{"a": 1}]),
        ({}, [None, 1, "a", {"a": []}], []),
        (True, [None, 1], []),
        ({"x-lenient": True, "description": "d"}, [{"type": "future"}, 1], []),
        ({"type": "string", "x-open": True, "x-known": ["a"]}, ["a", "b"], [1]),
        ({"type": "string", "format": "date"}, ["no date"], [1]),
        ({"anyOf": [{"type": "null"}, COUNT]}, [None, 1], [0, "a"]),
        ({"anyOf": [NAME, TEXT]}, ["a"], [""]),  # one type of each kind: the first
        ({"anyOf": [TEXT, {}]}, ["a"], [1, None, {}]),  # an arm that takes anything may hide another one
    ],
)
def test_schemas_that_it_understands(schema: Any, taken: list[Any], left: list[Any]) -> None:
    assert takes(schema, *taken) == [True] * len(taken)
    assert takes(schema, *left) == [False] * len(left)
    member = {"type": "object", "properties": {"m": schema}, "required": ["m"]}
    assert takes(member, *({"m": value} for value in taken)) == [True] * len(taken)
    assert takes(member, {}, {"m": taken[0], "n": 1}) == [False] * 2
    optional = {"type": "object", "properties": {"m": schema}}
    assert takes(optional, {}, *({"m": value} for value in taken)) == [True] * (len(taken) + 1)
    assert takes(optional, *({"m": value} for value in left)) == [False] * len(left)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (False, 1),
        ({"type": "integer", "multipleOf": 2}, 2),
        ({"minimum": 1}, 1),
        ({"type": "string", "minimum": 1}, "a"),
        ({"type": "string", "minLength": 1.0}, "a"),
        ({"type": "string", "maxLength": 2**40}, "a"),
        ({"type": "string", "pattern": "["}, "a"),
        ({"type": "string", "pattern": 1}, "a"),
        ({"type": "integer", "minimum": 2**63}, 2**63),
        ({"type": "integer", "minimum": 1e300}, 10**400),
        ({"type": "integer", "minimum": "0"}, 1),
        ({"type": "number", "minimum": 2**53 + 1}, 2**53 + 2),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": 1}, 2),
        ({"type": "integer", "maximum": 1, "exclusiveMaximum": 1}, 0),
        ({"type": "string", "not": {"enum": ["b"]}}, "a"),
        ({"type": "object", "minProperties": 1}, {"a": 1}),
        ({"type": "object", "required": ["a"]}, {"a": 1}),
        ({"type": "object", "properties": {"b": TEXT}, "required": ["a"]}, {"a": 1}),
        ({"type": "object", "properties": {"\ud800": TEXT}}, {}),
        ({"type": "object", "properties": {'"': TEXT}, "required": ['"']}, {'"': "a"}),
        ({"type": "array", "items": False}, []),
        ({"type": "array", "minItems": -1}, []),
        ({"type": "array", "uniqueItems": 1}, []),
        ({"type": "array", "contains": {}}, [1]),
        ({"type": "array", "uniqueItems": True}, [1]),  # only as a member
        ({"type": "array", "items": {"type": "array", "uniqueItems": True}}, [[1]]),
        ({"type": "object", "additionalProperties": {"type": "array", "uniqueItems": True}}, {"a": [1]}),
        ({"oneOf": [TEXT]}, "a"),
        ({"allOf": [TEXT]}, "a"),
        ({"anyOf": [TEXT], "description": "d", "type": "string"}, "a"),
        ({"anyOf": [{"type": "object", "minProperties": 1}, {"type": "object", "properties": {}}]}, {}),
        ({"$ref": "#/$defs/X"}, 1),
        ({"$ref": "#/$defs/Missing"}, 1),
        ({"$ref": "#/$defs/Y", "type": "string"}, "a"),
        ({"x-lenient": True, "type": "string"}, "a"),
        ({"x-what": 1}, 1),
        ({"type": "whatever"}, 1),
        ({"enum": [], "type": "string"}, "a"),
        ({"const": [1]}, [1]),
    ],
)
def test_schemas_that_it_leaves_to_others(schema: Any, value: Any) -> None:
    structs = Structs(bundle_of({"X": schema, "Y": TEXT}))
    assert not structs.accepts("X", dump(value))
    record = {"type": "object", "properties": {"m": schema, "n": TEXT}}
    structs = Structs(bundle_of({"Optional": record, "Required": {**record, "required": ["m"]}, "X": False, "Y": TEXT}))
    if "uniqueItems" not in json.dumps(schema) or value == []:
        assert not structs.accepts("Optional", dump({"m": value}))
    assert structs.accepts("Optional", b'{"n":"a"}')
    assert not structs.accepts("Required", b'{"n":"a"}')


def test_items_that_differ() -> None:
    schema = {"type": "object", "properties": {"m": {"type": ["array", "null"], "uniqueItems": True}}}
    differing = [{}, {"m": None}, {"m": []}, {"m": [1, 2, "1", None, "é"]}, {"m": [2**53, 2**53 + 1]}]
    assert takes(schema, *differing) == [True] * 5
    assert takes(schema, {"m": [1, 1]}, {"m": [1, 1.0]}, {"m": ["a", "a"]}) == [False] * 3
    assert takes(schema, {"m": [1, True]}, {"m": [[1], [2]]}, {"m": [{}]}) == [False] * 3  # these are for the reference
    records = {"type": "array", "items": arm("kind", "x"), "uniqueItems": True}
    assert takes({"type": "object", "properties": {"m": records}}, {"m": [{"kind": "x"}]}, {"m": []}, {}) == [
        False,
        False,
        True,
    ]


def test_members_with_odd_names() -> None:
    names = ["class", "_x", "__post_init__", "x_61", "a b", "é", "", "self", "mro", "a.b", "None", "0", "ﬁ", "type"]
    schema = {"type": "object", "properties": dict.fromkeys(names, COUNT), "required": names}
    value = dict.fromkeys(names, 1)
    made = bundle_of({"X": schema})
    assert takes(schema, value, {**value, "class": 0}, {**value, "x_": 1}) == [True, False, False]
    for name in set(names) - {"a.b"}:
        structs = Structs(made)
        decoded = structs.result("X", dump(value | {name: 7}))
        get = structs.getter(type(decoded), name)
        assert get is not None
        assert get(decoded) == 7
    left = {"type": "object", "properties": {'"': COUNT, "\\": COUNT, "\n": COUNT, "a": COUNT}, "required": ["a"]}
    assert takes(left, {"a": 1}, {"a": 1, '"': 1}, {"a": 1, "\n": 1}) == [True, False, False]


# --- unions

ARMS: Final = {"X1": arm("t", "x", m=COUNT), "X2": arm("t", "y", m=TEXT), "Both": arm("t", "z", x_=TEXT)}
ARMS["Both"]["properties"]["t"] = {"enum": ["z", "w", "é"]}
UNION: Final = {"x-tag": "t", "anyOf": [ref("X1"), ref("X2"), ref("Both")]}


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        (b'{"t":"x","m":1}', True),
        (b'{"m":1,"t":"x"}', True),
        (b'{"m":"a","t":"y"}', True),
        (b'{"t":"w"}', True),
        ('{"t":"é"}'.encode(), True),
        (b'{"t":"\\u00e9","x":"a"}', True),
        (b'{"\\u0074":"\\u0078","m":1}', True),
        (b'{"t":"x","m":1,"t":"x"}', True),
        (b'{"t":"x","m":1,"t":"y"}', False),
        (b'{"t":"y","m":1,"t":"x"}', False),
        (b'{"t":"y","t":"x","m":1}', False),
        (b'{"t":"x","m":"a","m":1}', False),
        (b'{"t":"x","m":1,"m":"a"}', False),
        (b'{"m":1}', False),
        (b"{}", False),
        (b'{"t":1,"m":1}', False),
        (b'{"t":null,"m":1}', False),
        (b'{"t":["x"],"m":1}', False),
        (b'{"t":"q","m":1}', False),
        (b'{"m":[1,"t":"x"}', False),
        (b'{"m":\xff,"t":"x"}', False),
        (b'{"m":"\xff","t":"y"}', False),
        (b'{"m":"\\ud800","t":"y"}', False),
        (b'{"t":"x\xff","m":1}', False),
        (b'{"t":"x","m":1}}', False),
        (b'{"t":"x","m":1} {}', False),
        (b'[{"t":"x","m":1}]', False),
        (b"null", False),
    ],
)
def test_tagged_unions(text: bytes, taken: bool) -> None:
    assert Structs(bundle_of({"X": UNION, **ARMS})).accepts("X", text) is taken


def test_unions_of_which_one_arm_is_left_keep_its_tag() -> None:
    alone = {"x-tag": "t", "anyOf": [ref("X1"), ref("Open"), ref("Odd")]}
    more = {
        "Open": {"type": "object", "properties": {"t": {"type": "string", "not": {"enum": ["x"]}}}, "required": ["t"]},
        "Odd": {**arm("t", "odd"), "minProperties": 1},
    }
    values = [{"t": "x", "m": 1}, {"m": 1}, {"t": "other"}, {"t": "odd"}]
    assert takes(alone, *values, **ARMS, **more) == [True, False, False, False]
    both = {"x-tag": "t", "anyOf": [ref("Both")]}
    assert takes(both, {"t": "z"}, {"t": "w"}, {"t": "x"}, {}, **ARMS) == [True, True, False, False]


def test_unions_in_unions_and_beside_other_types() -> None:
    union = {"x-tag": "t", "anyOf": [ref("Inner"), ref("Both"), {"type": "null"}, {"type": "string"}]}
    inner = {"x-tag": "t", "anyOf": [ref("X1"), ref("X2")]}
    values = [{"t": "x", "m": 1}, {"t": "y", "m": ""}, {"t": "z"}, None, "a"]
    assert takes(union, *values, {"t": "y", "m": 1}, 1, Inner=inner, **ARMS) == [True] * 5 + [False] * 2
    plain = {"anyOf": [{"const": "append"}, ref("Inner"), {"type": "array", "items": COUNT}]}
    assert takes(plain, "append", {"t": "x", "m": 1}, [1], "x", {}, Inner=inner, **ARMS) == [True] * 3 + [False] * 2
    other_tag = {"x-tag": "kind", "anyOf": [ref("Inner"), ref("K")]}
    assert takes(other_tag, {"kind": "k"}, {"t": "x", "m": 1}, Inner=inner, K=arm("kind", "k"), **ARMS) == [False, False]
    only_other = {"x-tag": "kind", "anyOf": [ref("Inner")]}
    assert takes(only_other, {"t": "x", "m": 1}, {"kind": "x", "t": "x", "m": 1}, Inner=inner, **ARMS) == [False, False]


def test_tags_that_are_integers() -> None:
    arms = {"One": arm("t", "1"), "Two": arm("t", "2"), "Text": arm("t", "x")}
    arms["One"]["properties"]["t"] = {"const": 1}
    arms["Two"]["properties"]["t"] = {"enum": [2, 3, True, 1.5]}
    union = {"x-tag": "t", "anyOf": [ref("One"), ref("Two")]}
    assert takes(union, {"t": 1}, {"t": 3}, {"t": 1.0}, {"t": True}, {"t": "1"}, **arms) == [True, True, False, False, False]
    mixed = {"x-tag": "t", "anyOf": [ref("One"), ref("Two"), ref("Text")]}
    assert takes(mixed, {"t": "x"}, {"t": 1}, **arms) == [True, False]


def test_arms_that_are_told_by_a_member() -> None:
    values = [
        {"type": "text", "text": "t"},
        {"type": "picture", "data": "abc"},
        {"type": "picture", "data": "xyz"},
        {"type": "picture", "url": "u"},  # the arm that gives way: for others
        {"type": "other"},
        {"type": "picture", "data": "abc", "url": "u"},
    ]
    assert takes(DEFINITIONS["SentBlock"], *values, **DEFINITIONS) == [True, True, False, False, False, False]
    # two arms for one tag, and nothing tells them apart
    twice = {"x-tag": "t", "anyOf": [ref("X1"), ref("Again"), ref("X2")]}
    assert takes(twice, {"t": "x", "m": 1}, {"t": "y", "m": ""}, Again=arm("t", "x", m=COUNT), **ARMS) == [False, True]
    # what gives way takes objects only
    wide = {"anyOf": [TEXT, ref("X1")], "x-tag": "t"}
    rule = {"not": {"properties": {"t": {"enum": ["y"]}}, "required": ["t", "m"]}}
    odd = {"x-tag": "t", "x-by-member": {"X2": "m"}, "anyOf": [{"allOf": [ref("Wide"), rule]}, ref("X2")]}
    assert takes(odd, {"t": "x", "m": 1}, {"t": "y", "m": ""}, "a", Wide=wide, **ARMS) == [True, True, False]
    # `not` that says something else
    odd = {"x-tag": "t", "anyOf": [{"allOf": [ref("X1"), {"not": {"required": ["t"]}}]}, ref("X2")]}
    assert takes(odd, {"t": "x", "m": 1}, {"t": "y", "m": ""}, **ARMS) == [False, True]
    # the member that tells is not required, or an earlier arm is told by one too
    optional = {"x-tag": "t", "x-by-member": {"Again": "n"}, "anyOf": [ref("X1"), ref("Again")]}
    assert takes(optional, {"t": "x", "m": 1}, {"t": "x", "n": 1}, Again=arm("t", "x", n_=COUNT), **ARMS) == [False, False]
    both = {"x-tag": "t", "x-by-member": {"X1": "m", "Again": "n"}, "anyOf": [ref("X1"), ref("Again")]}
    assert takes(both, {"t": "x", "m": 1}, {"t": "x", "n": 1}, Again=arm("t", "x", n=COUNT), **ARMS) == [True, False]


def test_a_tag_that_msgspec_can_not_name_leaves_its_union_to_others() -> None:
    arms = {"One": arm('"', "x"), "Two": arm('"', "y")}
    union = {"x-tag": '"', "anyOf": [ref("One"), ref("Two"), {"type": "null"}]}
    assert takes(union, {'"': "x"}, None, **arms) == [False, True]


def test_recursive_definitions_are_taken_down_to_some_depth() -> None:
    tree = {"type": "object", "properties": {"in": {"type": "array", "items": ref("X")}}}

    def nested(depth: int) -> Any:
        value: Any = {}
        for _ in range(depth - 1):
            value = {"in": [value]}
        return value

    depths = [1, 2, MOST_ENTRIES, MOST_ENTRIES + 1, 60]
    assert takes(tree, *map(nested, depths)) == [True, True, True, False, False]
    # through a definition that is not recursive itself the count starts anew, and there is no way back
    outer = {"type": "object", "properties": {"tree": ref("Tree")}}
    assert takes(
        outer, {"tree": {"in": [{}]}}, Tree={**tree, "properties": {"in": {"items": ref("Tree"), "type": "array"}}}
    ) == [True]


def test_definitions_that_are_themselves_are_left_to_others() -> None:
    endless = {"anyOf": [{"type": "string"}, ref("X")]}
    structs = Structs(bundle_of({"X": endless, "User": {"type": "object", "properties": {"x": ref("X")}}, "Other": TEXT}))
    assert not structs.accepts("X", b'"a"')
    assert not structs.accepts("User", b"{}")
    assert structs.accepts("Other", b'"a"')
