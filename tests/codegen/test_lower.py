"""One schema, one type: what each form is read as, and where each refusal points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsh_codegen.errors import SchemaError
from dsh_codegen.ir import (
    Array,
    Boolean,
    Definition,
    Json,
    Literals,
    Map,
    Member,
    Null,
    Number,
    OpenEnum,
    Record,
    Ref,
    String,
    Type,
    Union,
)
from dsh_codegen.load.profile import REFUSED
from tests.codegen.packages import read, read_defs

STRING = {"type": "string"}


def obj(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def lower(folder: Path, schema: Any, **others: Any) -> Type:
    return read_defs(folder, {"A": schema, **others}).definitions[0].type


def members(*found: Member, closed: bool = False) -> Record:
    return Record(found, closed)


def optional(wire: str, node: Type, doc: str = "", *, deprecated: bool = False) -> Member:
    return Member(wire, node, required=False, doc=doc, deprecated=deprecated)


def required(wire: str, node: Type) -> Member:
    return Member(wire, node, required=True)


def declared(node: Type) -> tuple[Type, ...]:
    assert isinstance(node, Union)
    return node.declared


@pytest.mark.parametrize(
    ("schema", "node"),
    [
        (True, Json()),
        ({}, Json()),
        ({"description": "x", "examples": [1], "$comment": "y", "x-vendor": {"z": 1}, "format": "date", "title": "T"}, Json()),
        ({"x-lenient": True}, Json(lenient=True)),
        ({"x-lenient": False}, Json()),
        ({"type": "null"}, Null()),
        ({"type": "boolean"}, Boolean()),
        (STRING, String()),
        ({"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^\\d$"}, String(1, 3, "^[0-9]$(?!\\n)")),
        ({"type": "string", "minLength": 1.0, "not": {"enum": ["a", "b", "a"]}}, String(1, None, None, ("a", "b"))),
        ({"type": "string", "format": "uuid"}, String()),
        ({"type": "integer"}, Number(integer=True)),
        ({"type": "number", "minimum": 0, "maximum": 1.5}, Number(False, 0, 1.5)),
        ({"type": "integer", "minimum": 1.0, "exclusiveMaximum": 2**64}, Number(True, 1, exclusive_maximum=2**64)),
        ({"type": "number", "exclusiveMinimum": -0.5, "multipleOf": 2.0}, Number(False, exclusive_minimum=-0.5, multiple_of=2)),
        ({"type": ["integer", "number"]}, Number(integer=False)),
        ({"type": ["string"]}, String()),
        ({"const": "a"}, Literals(("a",))),
        ({"const": None}, Literals((None,))),
        ({"const": 1, "type": "number"}, Literals((1,))),
        ({"enum": ["a", 1, True, None, "a", 1]}, Literals(("a", 1, True, None))),
        ({"enum": ["a"], "type": "string"}, Literals(("a",))),
        ({"oneOf": [{"const": "r", "title": "Read"}, {"const": "w", "description": "W"}]}, Literals(("r", "w"))),
        ({"anyOf": [{"const": 1}, {"enum": [True, 1, 2]}]}, Literals((1, True, 2))),
        ({"type": "string", "enum": ["a", "b"], "x-open": True}, OpenEnum(("a", "b"))),
        ({"type": "string", "minLength": 1, "x-open": True, "x-known": ["a"]}, OpenEnum(("a",), 1)),
        ({"type": "array"}, Array(Json())),
        (
            {"type": "array", "items": STRING, "minItems": 1, "maxItems": 2.0, "uniqueItems": True},
            Array(String(), 1, 2, unique=True),
        ),
        ({"type": "array", "items": {"type": "array", "items": {"$ref": "#/$defs/A"}}}, Array(Array(Ref("A")))),
        ({"type": "object"}, Map(Json())),
        ({"type": "object", "additionalProperties": True}, Map(Json())),
        ({"type": "object", "additionalProperties": STRING}, Map(String())),
        ({"type": "object", "properties": {}, "additionalProperties": {}}, Map(Json())),
        ({"type": "object", "properties": {}}, members()),
        ({"type": "object", "additionalProperties": False}, members(closed=True)),
        ({"type": "object", "properties": {"a": True}}, members(optional("a", Json()))),
        (
            {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": STRING}}},
            members(optional("a", Map(String()))),
        ),
        (
            {
                "type": "object",
                "properties": {"b": STRING, "t": {"const": "x"}},
                "required": ["t", "z"],
                "additionalProperties": True,
            },
            members(required("t", Literals(("x",))), required("z", Json()), optional("b", String())),
        ),
        ({"allOf": [STRING]}, String()),
        ({"allOf": [{"anyOf": [{"oneOf": [STRING]}]}], "description": "x"}, String()),
        ({"$ref": "#/$defs/A2", "description": "x"}, Ref("A2")),
    ],
)
def test_one_schema_one_type(schema: Any, node: Type, tmp_path: Path) -> None:
    found = lower(tmp_path, schema, A2=STRING)
    if isinstance(node, Record):
        assert isinstance(found, Record)
        assert sorted(found.members, key=lambda member: member.wire) == sorted(node.members, key=lambda member: member.wire)
        assert found.closed == node.closed
    else:
        assert found == node


def test_unions_by_json_type(tmp_path: Path) -> None:
    for schema in (
        {"type": ["string", "null"], "minLength": 1},
        {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]},
    ):
        assert declared(lower(tmp_path, schema)) == (String(1), Null())
    node = lower(tmp_path, {"type": ["object", "array"], "items": {"type": "integer"}, "additionalProperties": STRING})
    assert declared(node) == (Map(String()), Array(Number(integer=True)))
    assert declared(lower(tmp_path, {"type": ["string", "boolean"], "default": "x"})) == (String(), Boolean())


def test_documentation_and_position(tmp_path: Path) -> None:
    files = {
        "b-two.schema.json": {
            "$defs": {"Z": {"description": " Line one.  \n\n  more\t\n", "deprecated": True, **STRING}, "Y": True}
        },
        "a.json": {
            "$defs": {
                "X": obj(
                    m={"description": "words", "deprecated": True, **STRING},
                    n={"$ref": "b-two.schema.json#/$defs/Z", "description": "own"},
                )
            }
        },
    }
    assert read(tmp_path, files).definitions == (
        Definition(
            "X",
            "a.json#/$defs/X",
            "a",
            members(optional("m", String(), "words", deprecated=True), optional("n", Ref("Z"), "own")),
        ),
        Definition("Z", "b-two.schema.json#/$defs/Z", "b_two", String(), "Line one.\n\n  more", deprecated=True),
        Definition("Y", "b-two.schema.json#/$defs/Y", "b_two", Json()),
    )


# Objects that extend others


def test_inherited_members_come_first_and_are_required_by_anyone(tmp_path: Path) -> None:
    base = {**obj("a", a=STRING, b={"type": "null"}), "x-abstract": True}
    protocol = read_defs(
        tmp_path,
        {
            "A": {"allOf": [{"$ref": "#/$defs/Base"}], "type": "object", "properties": {"c": True}, "required": ["b"]},
            "Base": base,
        },
    )
    assert protocol.definitions == (
        Definition(
            "A",
            "all.schema.json#/$defs/A",
            "all",
            members(required("a", String()), required("b", Null()), optional("c", Json())),
        ),
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/B", "properties": {"c": STRING}},
        {"$ref": "#/$defs/B", "type": "object", "properties": {"c": STRING}},
        {"allOf": [{"$ref": "#/$defs/B"}, obj(c=STRING)]},
        {"allOf": [{"$ref": "#/$defs/B"}], "properties": {"c": STRING}},
        {"allOf": [{"$ref": "#/$defs/B", "properties": {"c": STRING}}, {"type": "object"}]},
        {"allOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/C"}]},
        {"allOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/B"}, {"$ref": "#/$defs/C"}]},
    ],
)
def test_ways_to_extend(schema: Any, tmp_path: Path) -> None:
    assert lower(tmp_path, schema, B=obj("b", b=STRING), C=obj(c=STRING)) == members(
        required("b", String()), optional("c", String())
    )


@pytest.mark.parametrize(
    ("definitions", "where", "reason"),
    [
        (
            {"A": {"allOf": [{"$ref": "#/$defs/B"}], "properties": {"b": {"type": "null"}}}, "B": obj(b=STRING)},
            "A/properties/b",
            "declared twice, in different ways",
        ),
        (
            {"A": {"allOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/C"}]}, "B": obj(b=STRING), "C": obj(b=True)},
            "C/properties/b",
            "declared twice",
        ),
        ({"A": {"allOf": [{"$ref": "#/$defs/A"}], "properties": {}}}, "A", "extends itself"),
        ({"A": {"$ref": "#/$defs/B", "properties": {}}, "B": {"$ref": "#/$defs/A", "required": ["x"]}}, "A", "extends itself"),
        (
            {
                "A": {"allOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/C"}]},
                "B": {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/C"}]},
                "C": obj(),
            },
            "A",
            "extends itself",
        ),
        ({"A": {"allOf": [{"$ref": "#/$defs/B"}], "type": "object"}, "B": STRING}, "A", "which is not an object with members"),
        (
            {"A": {"allOf": [{"$ref": "#/$defs/B"}], "properties": {}}, "B": {"anyOf": [obj(), STRING]}},
            "A",
            "which is not an object with members",
        ),
        ({"A": {"allOf": [True, True]}}, "A/allOf", "for objects only"),
        ({"A": {"allOf": [STRING, {"minLength": 1}]}}, "A/allOf", "for objects only"),
        (
            {"A": {"allOf": [{"$ref": "#/$defs/B"}], "properties": {}, "additionalProperties": False}, "B": obj()},
            "A",
            "sees only its own 'properties'",
        ),
        (
            {"A": {"allOf": [{"$ref": "#/$defs/B"}], "properties": {}}, "B": {**obj(), "additionalProperties": False}},
            "B",
            "sees only its own 'properties'",
        ),
        ({"A": {"$ref": "#/$defs/B", "properties": {}, "minLength": 1}, "B": obj()}, "A", "'minLength'"),
        (
            {"A": {"allOf": [{"$ref": "#/$defs/B"}], "type": "object"}, "B": {"x-abstract": True, "minProperties": 1, **obj()}},
            "B/minProperties",
            "not supported",
        ),
        ({"A": {"allOf": [{"$ref": "#/$defs/B"}, {"type": "object", "if": {}}]}, "B": obj()}, "A/allOf/1/if", "not supported"),
        ({"A": {"$ref": "#/$defs/B"}, "B": {"x-abstract": True, **obj()}}, "A", "'B' is abstract"),
        ({"A": {"$ref": "#/$defs/A"}}, "A", "refers to itself"),
        ({"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}, "A", "refers to itself"),
    ],
)
def test_objects_that_cannot_be_united(definitions: dict[str, Any], where: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError) as refusal:
        read_defs(tmp_path, definitions)
    assert refusal.value.where == f"all.schema.json#/$defs/{where}"
    assert reason in refusal.value.reason


# Refusals


@pytest.mark.parametrize("keyword", sorted(REFUSED - {"$vocabulary"}))
def test_refused_keyword(keyword: str, tmp_path: Path) -> None:
    values: dict[str, Any] = {
        **dict.fromkeys(("minContains", "maxContains", "minProperties", "maxProperties"), 1),
        **{name: {} for name in ("dependentRequired", "dependentSchemas", "dependencies", "patternProperties")},
        "prefixItems": [True],
        **dict.fromkeys(("$anchor", "$dynamicAnchor"), "here"),
        "$dynamicRef": "#here",
        "$recursiveRef": "#",
        "$recursiveAnchor": "here",
    }
    value = values.get(keyword, True)
    for schema, place in [
        ({keyword: value}, ""),
        ({"type": "object", keyword: value}, ""),
        (obj(x={"type": ["array", "null"], keyword: value}), "/properties/x"),
        ({"type": "array", "items": {"const": 1, keyword: value}}, "/items"),
        ({"oneOf": [{"const": 1}, {"const": 2, keyword: value}]}, "/oneOf/1"),
        ({"$ref": "#/$defs/B", keyword: value}, ""),
        ({"x-lenient": True, keyword: value}, ""),
    ]:
        with pytest.raises(SchemaError, match=r"is not supported|not valid") as refusal:
            read_defs(tmp_path, {"A": schema, "B": STRING})
        assert refusal.value.where in {f"all.schema.json#/$defs/A{place}/{keyword}", "all.schema.json#/$defs/A/dependencies"}


@pytest.mark.parametrize(
    ("schema", "where", "reason"),
    [
        (False, "", "admits nothing"),
        (obj(a=False), "/properties/a", "admits nothing"),
        ({"type": "array", "items": False}, "/items", "admits nothing"),
        ({"minLength": 1}, "/minLength", "speaks of string only"),
        ({"properties": {}}, "/properties", "speaks of object only"),
        ({"type": "string", "minimum": 1}, "/minimum", "speaks of integer or number only"),
        ({"type": "integer", "not": {"enum": ["a"]}}, "/not", "'not' speaks of"),
        ({"not": {}}, "/not", "'not' speaks of"),
        ({"type": "string", "not": {"const": "a"}}, "/not", "only as {'enum'"),
        ({"type": "string", "not": {"enum": [1]}}, "/not", "only as {'enum'"),
        ({"type": "string", "not": {"enum": []}}, "/not", "only as {'enum'"),
        ({"type": "string", "pattern": "\\p{L}"}, "/pattern", "the pattern can't be used"),
        ({"type": "string", "pattern": "("}, "/pattern", "the pattern can't be used"),
        ({"type": "number", "multipleOf": 0.5}, "/multipleOf", "fractional"),
        ({"enum": []}, "/enum", "no value is admitted"),
        ({"enum": ["a", 1.5]}, "/enum", "1.5 can't be a literal"),
        ({"enum": [[1]]}, "/enum", "can't be a literal"),
        ({"const": {"a": 1}}, "/const", "can't be a literal"),
        ({"const": "a", "type": "integer"}, "/const", "is not of type 'integer'"),
        ({"const": True, "type": ["integer", "number"]}, "/const", "is not of type"),
        ({"enum": ["a"], "minLength": 1}, "", "beside 'enum' are not supported"),
        ({"const": "a", "enum": ["a"]}, "", "beside 'const' are not supported"),
        ({"oneOf": [{"const": 1}, {"const": 1}]}, "/oneOf", "two arms admit 1"),
        ({"anyOf": [STRING], "type": "string"}, "", "beside 'anyOf' are not supported"),
        ({"anyOf": [STRING], "oneOf": [STRING]}, "", "beside 'anyOf' are not supported"),
        ({"$ref": "#/$defs/B", "maxLength": 3}, "", "beside '$ref' would narrow it"),
        ({"$ref": "#/$defs/B", "type": "string"}, "", "beside '$ref' would narrow it"),
        ({"type": "object", "properties": {"a": True}, "additionalProperties": STRING}, "", "beside typed free ones"),
        ({"type": "object", "required": ["a"], "additionalProperties": STRING}, "/required", "required keys of a map"),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, "/required", "forbids it"),
        ({"type": ["object", "null"], "properties": {}}, "", "needs a definition of its own"),
        ({"type": ["object", "null"], "additionalProperties": False}, "", "needs a definition of its own"),
        ({"type": "object", "enum": [{}]}, "/enum", "can't be a literal"),
        ({"x-lenient": True, "type": "string"}, "/x-lenient", "takes any JSON"),
        ({"x-open": True, "enum": ["a"]}, "", "an open enum reads"),
        ({"x-open": True, "type": "string", "enum": ["a", 1]}, "", "an open enum reads"),
        ({"x-open": True, "type": "string", "enum": ["a"], "maxLength": 3}, "", "an open enum reads"),
        ({"x-open": True, "type": "string", "minLength": 2, "enum": ["abc", "a"]}, "/enum", "shorter than 'minLength'"),
        ({"type": "string", "x-known": ["a"], "pattern": "a"}, "", "an open enum reads"),
        ({"x-known": ["a"]}, "", "an open enum reads"),
        ({"type": "string", "x-known": "abc"}, "/x-known", "is not of type 'array'"),
        ({"type": "string", "x-known": []}, "/x-known", "non-empty|too short"),
        ({"x-lenient": "yes"}, "/x-lenient", "is not of type 'boolean'"),
        ({"anyOf": [STRING, {"type": "null"}], "x-by-member": ["a"]}, "/x-by-member", "is not of type 'object'"),
        ({"anyOf": [STRING, {"type": "null"}], "x-by-member": {"a": 1}}, "/x-by-member/a", "is not of type 'string'"),
        ({"x-tag": 1}, "/x-tag", "is not of type 'string'"),
        ({"$id": "x.json"}, "/$id", "nested '$id'"),
        (obj(a={"$id": "y.json", **STRING}), "/properties/a/$id", "nested '$id'"),
        ({"type": "string", "default": None}, "/default", "the default is not valid"),
        ({"enum": ["x"], "default": "z"}, "/default", "the default is not valid"),
        (obj(c={"$ref": "#/$defs/B", "default": 5}), "/properties/c/default", "the default is not valid"),
    ],
)
def test_refused(schema: Any, where: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError) as refusal:
        read_defs(tmp_path, {"A": schema, "B": STRING})
    assert refusal.value.where == f"all.schema.json#/$defs/A{where}"
    assert any(part in refusal.value.reason for part in reason.split("|")), refusal.value.reason


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"], "default": None},
        {"$ref": "#/$defs/B", "default": "x"},
        obj(a={"$ref": "#/$defs/C", "default": {"inner": {"x": 1}}}),
        {"x-lenient": True, "default": [1]},
        {"default": {}},
    ],
)
def test_valid_default(schema: Any, tmp_path: Path) -> None:
    read_defs(tmp_path, {"A": schema, "B": STRING, "C": obj(inner=obj(x={"type": "integer"}))})


def test_default_whose_schema_spans_files(tmp_path: Path) -> None:
    inner = {
        "$defs": {"X": {"type": "array", "items": {"$ref": "a b#.json#/$defs/Y"}}},
        "$id": "https://other.test/deep/x.json",
    }
    outer = {
        "$defs": {"A": obj(x={"$ref": "c.json#/$defs/X", "default": ["y"]}), "Y": STRING},
        "$id": "https://other.test/y.json",
    }
    with pytest.raises(SchemaError, match=r"names no file|can't be checked"):
        read(tmp_path, {"c.json": inner, "a b#.json": outer})
    inner["$defs"]["X"]["items"]["$ref"] = "a%20b%23.json#/$defs/Y"  # type: ignore[index]
    read(tmp_path, {"c.json": inner, "a b#.json": outer})
    outer["$defs"]["A"]["properties"]["x"]["default"] = [1]  # type: ignore[index]
    with pytest.raises(SchemaError, match="default is not valid") as refusal:
        read(tmp_path, {"c.json": inner, "a b#.json": outer})
    assert refusal.value.where == "a b#.json#/$defs/A/properties/x/default"


def test_default_that_cannot_be_checked(tmp_path: Path) -> None:
    for schema in (
        {"$ref": "#/$defs/Gone", "default": 1},
        {"$ref": "http://[", "default": 1},
        {"$ref": "#/$defs/A", "default": 1},
    ):
        with pytest.raises(SchemaError) as refusal:
            read_defs(tmp_path, {"A": schema})
        assert refusal.value.where.startswith("all.schema.json#/$defs/A")


# Names for what has none


def test_inline_objects_are_named_after_their_parent(tmp_path: Path) -> None:
    options = [obj(s=STRING), obj(i={"type": "integer"})]
    protocol = read_defs(
        tmp_path,
        {
            "Msg": obj(
                p=obj(options=options[0]),
                q=obj(options=options[1]),
                l={"type": "array", "items": obj()},
                m={"type": "object", "additionalProperties": obj()},
            )
        },
    )
    assert [definition.name for definition in protocol.definitions] == [
        "Msg",
        "MsgP",
        "MsgPOptions",
        "MsgQ",
        "MsgQOptions",
        "MsgLItem",
        "MsgMValue",
    ]
    assert protocol.by_name["MsgPOptions"].pointer == "all.schema.json#/$defs/Msg/properties/p/properties/options"


def test_inline_arms_are_named_after_title_or_tag(tmp_path: Path) -> None:
    arms = [{"title": "Text Block", **obj("t", t={"const": "text"})}, obj("t", t={"const": "big-image"})]
    protocol = read_defs(tmp_path, {"U": {"oneOf": arms}, "M": obj(u={"anyOf": [arms[1], obj("t", t={"const": "b"})]})})
    assert sorted(protocol.by_name) == ["M", "MU", "MUB", "MUBigImage", "TextBlock", "U", "UBigImage"]
    grown = read_defs(tmp_path, {"U": {"oneOf": [obj("t", t={"const": "new"}), *arms]}})
    assert sorted(grown.by_name) == ["TextBlock", "U", "UBigImage", "UNew"]


def test_a_single_inline_object_needs_no_label(tmp_path: Path) -> None:
    protocol = read_defs(
        tmp_path,
        {"M": obj(o={"anyOf": [obj(x=STRING), {"type": "null"}]}, l={"type": "array", "items": {"anyOf": [STRING, obj()]}})},
    )
    assert [definition.name for definition in protocol.definitions] == ["M", "MO", "MLItem"]


@pytest.mark.parametrize(
    ("definitions", "where", "reason"),
    [
        ({"U": {"oneOf": [obj("t", t={"enum": ["a", "b"]}), obj("t", t={"const": "c"})]}}, "U/oneOf/0", "needs a name"),
        ({"U": {"oneOf": [obj(), STRING]}}, "U/oneOf/0", "needs a name"),
        ({"Msg": obj(p=obj()), "MsgP": STRING}, "Msg/properties/p", "would be named 'MsgP', which is taken"),
        ({"Msg": obj(**{"p-q": obj(), "pQ": obj()})}, "Msg/properties/pQ", "would be named 'MsgPQ'"),
        ({"foo-bar": STRING, "fooBar": STRING}, "fooBar", "both become the type FooBar"),
        ({"Any": STRING, "Any_": STRING}, "Any_", "both become the type Any_"),
    ],
)
def test_names_that_meet(definitions: dict[str, Any], where: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError) as refusal:
        read_defs(tmp_path, definitions)
    assert refusal.value.where == f"all.schema.json#/$defs/{where}"
    assert reason in refusal.value.reason


def test_same_name_in_two_files(tmp_path: Path) -> None:
    files = {
        "root.json": {"title": "Root", **obj(p={"$ref": "p.json#/$defs/Options"}, q={"$ref": "q-two.json#/$defs/Options"})},
        "p.json": {"$defs": {"Options": obj(s=STRING), "Other": STRING}},
        "q-two.json": {"$defs": {"Options": obj(i={"type": "integer"})}},
    }
    protocol = read(tmp_path, files)
    assert [definition.name for definition in protocol.definitions] == ["POptions", "Other", "QTwoOptions", "Root"]
    with pytest.raises(SchemaError, match="'POptions' is already taken"):
        read(tmp_path, {**files, "z.json": {"$defs": {"POptions": STRING}}})


def test_root_schemas(tmp_path: Path) -> None:
    protocol = read(
        tmp_path,
        {
            "a-b.schema.json": {"title": "Msg", **STRING},
            "c.d.json": {"const": 1},
            "e.json": {"$ref": "a-b.schema.json"},
            "f.json": {"title": "Only words"},
        },
    )
    assert [(d.name, d.pointer, d.module) for d in protocol.definitions] == [
        ("Msg", "a-b.schema.json#", "a_b"),
        ("CD", "c.d.json#", "c_d"),
        ("E", "e.json#", "e"),
    ]
    assert protocol.by_name["E"].type == Ref("Msg")


@pytest.mark.parametrize("keyword", ["not", "patternProperties", "if"])
def test_a_root_that_says_only_what_is_refused(keyword: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError) as caught:
        read(tmp_path, {"thing.schema.json": {keyword: {}}})
    assert caught.value.where == f"thing.schema.json#/{keyword}"


def test_a_whole_number_may_be_spelled_as_a_fraction(tmp_path: Path) -> None:
    assert lower(tmp_path, {"enum": [1.0, 1, -2.0]}) == Literals((1, -2))
    assert lower(tmp_path, {"const": 3.0, "type": "integer"}) == Literals((3,))


def test_modules(tmp_path: Path) -> None:
    protocol = read(
        tmp_path,
        {"bundle.json": {"x-revision": "9", "anyOf": [True], "$defs": {"A": {"x-module": "Über-Mod", **STRING}, "B": STRING}}},
    )
    assert [(d.name, d.module) for d in protocol.definitions] == [("A", "uber_mod"), ("B", "bundle")]
    authored = read_defs(tmp_path, {"A": {"x-module": "elsewhere", **STRING}})
    assert authored.definitions[0].module == "all"


def test_deep_inheritance_is_read_or_refused_with_a_place(tmp_path: Path) -> None:
    chain = {f"A{number}": {"allOf": [{"$ref": f"#/$defs/A{number + 1}"}], "type": "object"} for number in range(1000)}
    with pytest.raises(SchemaError, match="too deeply") as refusal:
        read_defs(tmp_path, {**chain, "A1000": obj(a=STRING)})
    assert refusal.value.where == "all.schema.json#/$defs/A0"
