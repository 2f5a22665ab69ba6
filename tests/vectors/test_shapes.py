"""Vectors of schemas that say what the protocol's own do not, and of some that have none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dsh_codegen.emit.bundle import bundle
from dsh_codegen.errors import CodegenError
from dsh_codegen.ir import Protocol
from dsh_codegen.vectors.build import build
from dsh_codegen.vectors.mutate import mutants
from dsh_codegen.vectors.prove import Judge, prove
from dsh_codegen.vectors.row import Vector, canonical, place, text_of
from dsh_codegen.vectors.score import Score, score
from dsh_codegen.vectors.text import beside, matching
from tests.codegen.packages import read_defs

POINT: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


def arm(tag: object, **members: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"kind": {"const": tag}, **members},
        "required": ["kind", *members],
    }


SHAPES: dict[str, dict[str, Any]] = {
    "bounds": {
        "A": {"type": "integer", "minimum": 3, "maximum": 5},
        "B": {"type": "number", "exclusiveMinimum": -2, "exclusiveMaximum": 0.5},
        "C": {"type": "integer", "minimum": 10, "multipleOf": 7},
        "D": {"type": "string", "minLength": 2, "maxLength": 3},
        "E": {"type": ["integer", "null"], "maximum": -1},
        "F": {"type": "number", "maximum": -1.5},
    },
    "arrays": {
        "A": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3},
        "B": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 2},
        "C": {"type": "array", "items": {"$ref": "#/$defs/P"}, "uniqueItems": True},
        "D": {"type": "array", "items": {"type": "array", "items": {"type": ["boolean", "null"]}}},
        "E": {"type": "array", "maxItems": 0},
        "F": {"type": "array", "uniqueItems": True, "minItems": 3},
        "P": POINT,
    },
    "maps": {
        "A": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
        "B": {"type": "object", "properties": {"m": {"type": "object"}, "any": {}}, "required": ["any"]},
        "C": {"type": ["object", "string"]},
    },
    "closed": {
        "A": {**POINT, "additionalProperties": False},
        "B": {"enum": [1, 2, "three", None, True]},
        "C": {"const": False},
        "D": {"type": "string", "not": {"enum": ["a", "b"]}},
    },
    "unions": {
        "Closed": {"anyOf": [{"$ref": "#/$defs/One"}, {"$ref": "#/$defs/Two"}, {"type": "string", "minLength": 2}]},
        "One": arm("one", body={"type": "string"}),
        "Two": arm("two", body={"type": "integer"}, more={"$ref": "#/$defs/Closed"}),
        "Maybe": {"anyOf": [{"$ref": "#/$defs/One"}, {"type": "null"}]},
        "User": {"type": "object", "properties": {"maybe": {"$ref": "#/$defs/Maybe"}, "own": {"$ref": "#/$defs/Closed"}}},
    },
    "open unions": {
        "Open": {"anyOf": [{"$ref": "#/$defs/One"}, {"$ref": "#/$defs/Other"}], "x-open": True},
        "One": arm("one", body={"type": "string"}),
        "Other": {
            "type": "object",
            "properties": {"kind": {"type": "string", "minLength": 1, "not": {"enum": ["old"]}}},
            "required": ["kind"],
        },
        "Word": {"type": "string", "enum": ["a", "bb"], "x-open": True, "minLength": 1},
    },
    "recursion": {
        "Tree": {
            "type": "object",
            "properties": {"leaves": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}, "next": {"$ref": "#/$defs/Tree"}},
            "required": ["leaves"],
        },
        "Value": {
            "anyOf": [
                {"type": "array", "items": {"$ref": "#/$defs/Value"}, "minItems": 1},
                {"type": "string"},
            ]
        },
    },
    "patterns": {
        "A": {"type": "string", "pattern": "^[a-f]{2,4}(?:-[0-9]+)?$"},
        "B": {"type": "string", "pattern": r"^(?:one|two\.three)\s?$".replace(r"\s", " ")},
        "C": {"type": "string", "pattern": r"^(?!0)\d{3}$"},
    },
}


def read(folder: Path, definitions: dict[str, Any]) -> tuple[Protocol, tuple[Vector, ...], Score]:
    protocol = read_defs(folder, definitions)
    found = build(protocol)
    schema = bundle(protocol, "test")
    prove(protocol, Judge(schema), found)
    assert build(read_defs(folder, definitions)) == found
    return protocol, found, score(protocol, schema, found)


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_pinned_down(name: str, tmp_path: Path) -> None:
    protocol, found, result = read(tmp_path, SHAPES[name])
    assert {vector.definition for vector in found} == {definition.name for definition in protocol.definitions}
    assert [f"{each.pointer}: {each.operator}" for each in result.unexplained] == []


def test_what_vectors_are_like(tmp_path: Path) -> None:
    _, found, _ = read(tmp_path, {"P": {**POINT, "properties": {"x": {"type": "integer", "minimum": 0}, "odd name": {}}}})
    assert [(vector.id, vector.valid) for vector in found][:5] == [
        ("P:minimal:$", True),
        ("P:full:$", True),
        ("P:missing:$.x", False),
        ("P:boundary:$.x=1", True),
        ("P:out-of-range:$.x=-1", False),
    ]
    assert (
        found[0].row()
        == '{"id":"P:minimal:$","definition":"P","kind":"minimal","valid":true,"reason":"","path":"$","value":{"x":0}}'
    )
    assert any(vector.path == '$["odd name"]' for vector in found)


def test_a_type_that_always_contains_itself(tmp_path: Path) -> None:
    endless = {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"]}}
    with pytest.raises(CodegenError, match=r"\$defs/A: no value fits it, because it always contains itself"):
        build(read_defs(tmp_path, endless))


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "pattern": "^a$", "minLength": 2}, "no string is known"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "no number is known"),
        ({"type": "array", "items": {"enum": ["a"]}, "uniqueItems": True, "minItems": 2}, "no 2 different items are known"),
    ],
)
def test_a_type_without_values(schema: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match=words):
        build(read_defs(tmp_path, {"A": schema}))


def test_large_bounds_make_no_large_vectors(tmp_path: Path) -> None:
    large = {"A": {"type": "string", "maxLength": 10**9}, "B": {"type": "array", "maxItems": 10**9}}
    assert sum(len(vector.row()) for vector in build(read_defs(tmp_path, large))) < 100_000


@pytest.mark.parametrize(
    "pattern",
    ["^a|bc$", r"^[^\n]+x{3}$", "^(?:[A-Z]{2}){2,}$", r"^\x41\u00e9\n\.[\]\-]$", "^(?=a)[ab]$", "", "^(?:a(?:b|c)?)*$"],
)
def test_texts_of_a_pattern(pattern: str) -> None:
    texts = matching(pattern)
    assert texts
    assert all(re.search(pattern, text) for text in texts)
    assert not any(re.search(pattern, text) for text in beside(pattern))


def test_paths() -> None:
    assert text_of(("a", 0, "b c", "é")) == '$.a[0]["b c"]["\\u00e9"]'
    assert place({"a": [1]}, ("a", 0)) == (1,)
    assert place({"a": None}, ("a",)) == (None,)
    assert place({"a": [1]}, ("a", 1)) is None
    assert place({"a": 1}, ("a", "b")) is None
    assert canonical([1, 1.0, True]) == "[1,1.0,true]"


def test_every_operator_is_applied() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "minLength": 2, "pattern": r"^x$(?!\n)"},
            "b": {"type": ["integer", "null"], "minimum": 1},
            "c": {"enum": [1, 2]},
        },
        "required": ["a"],
    }
    found = {(mutant.pointer, mutant.operator) for mutant in mutants(schema, lambda part: "null" in part.get("type", ()))}
    assert found >= {
        ("", "close"),
        ("", "null on"),
        ("/properties", "drop"),
        ("/properties/a", "drop"),
        ("/properties/a/minLength", "down"),
        ("/properties/a/minLength", "up"),
        ("/properties/a/pattern", "loose start"),
        ("/properties/a/pattern", "loose end"),
        ("/properties/a/type", "swap string for integer"),
        ("/properties/a", "null on"),
        ("/properties/b/type", "null off"),
        ("/properties/c/enum", "forget 1"),
        ("/properties/c/enum", "add 3"),
        ("/required", "forget 'a'"),
        ("/required", "add 'b'"),
    }
