"""From schema text to a running codec: whatever is generated compiles, imports and judges as `jsonschema` does.

The same schemas are read back from their bundle, which must mean the same.
"""

from __future__ import annotations

import json
import os
import re
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsh_codegen.emit.bundle import bundle
from dsh_codegen.errors import CodegenError, SchemaError
from dsh_codegen.ir import Protocol
from tests.codegen.packages import Oracle, Package, build, build_defs, bundle_oracle, forget, read, read_defs

INTEGER = {"type": "integer"}
STRING = {"type": "string"}


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def obj(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def tagged(value: Any, *required: str, **properties: Any) -> dict[str, Any]:
    return obj("t", *required, t={"const": value}, **properties)


def nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = STRING
    return reduce(lambda schema, _: {"type": "array", "items": schema}, range(levels), inner)


B, C, D = tagged("b", b=INTEGER), tagged("c", "n", n=STRING), tagged("d")
REQUIRED_TAG = {"B": B, "C": C, "D": D, "U": {"anyOf": [ref("B"), ref("C")]}}

# name -> (definitions, of which the first is judged; valid instances; invalid instances)
SCHEMAS: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "alias of an alias": ({"A": ref("X"), "X": ref("Y"), "Y": STRING}, ["a"], [1]),
    "alias of a record": ({"A": ref("B"), "B": B}, [{"t": "b"}], [{"t": "c"}]),
    "recursive array": ({"A": {"type": "array", "items": ref("A")}}, [[], [[]]], [[1], 1]),
    "recursive map": ({"A": {"type": "object", "additionalProperties": ref("A")}}, [{}, {"a": {}}], [{"a": 1}, 1]),
    "recursion through two aliases": (
        {"A": {"anyOf": [STRING, ref("X")]}, "X": {"type": "array", "items": ref("A")}},
        ["a", [], ["a", ["b"]]],
        [[1], 1],
    ),
    "any JSON, spelled out": (
        {
            "A": {
                "anyOf": [
                    STRING,
                    {"type": "number"},
                    {"type": "boolean"},
                    {"type": "null"},
                    {"type": "array", "items": ref("A")},
                    {"type": "object", "additionalProperties": ref("A")},
                ]
            },
            "M": obj("v", v=ref("A")),
        },
        [{"a": [1, {"b": None}]}, True, 1.5],
        [],
    ),
    "recursive record": (
        {"A": obj("kids", kids={"type": "array", "items": ref("A")})},
        [{"kids": [{"kids": []}]}],
        [{"kids": [{}]}],
    ),
    "alias of a union": ({"A": ref("U"), **REQUIRED_TAG}, [{"t": "b"}], [{"t": "d"}, {}]),
    "union before its arms": (
        {"A": {"oneOf": [ref("B"), ref("C")]}, "B": B, "C": C},
        [{"t": "b"}, {"t": "c", "n": ""}],
        [{"t": "c"}, {"t": []}, "b"],
    ),
    "union in a union": ({"A": {"anyOf": [ref("U"), ref("D")]}, **REQUIRED_TAG}, [{"t": "b"}, {"t": "d"}], [{"t": "e"}]),
    "unions that share an arm": (
        {"A": {"anyOf": [ref("U"), ref("V")]}, **REQUIRED_TAG, "V": {"anyOf": [ref("C"), ref("D")]}},
        [{"t": "b"}, {"t": "c", "n": ""}, {"t": "d"}],
        [{"t": "c"}],
    ),
    "union, string or null": (
        {"A": {"anyOf": [ref("B"), ref("C"), STRING, {"type": "null"}]}, "B": B, "C": C},
        [{"t": "b"}, "x", None],
        [{"t": "d"}, 1],
    ),
    "array of a union or string": (
        {"A": {"type": "array", "items": {"anyOf": [ref("U"), STRING]}}, **REQUIRED_TAG},
        [[{"t": "b"}, "s"]],
        [[{"t": "e"}], [1]],
    ),
    "optional union or null": (
        {"A": obj(u={"anyOf": [ref("U"), {"type": "null"}]}), **REQUIRED_TAG},
        [{"u": {"t": "b"}}, {"u": None}, {}],
        [{"u": {"t": "e"}}, {"u": 1}],
    ),
    "tags that are not strings": (
        {"A": {"anyOf": [ref("B"), ref("C")]}, "B": tagged(1), "C": obj("t", t={"enum": [2, "c", None]})},
        [{"t": 1}, {"t": 1.0}, {"t": "c"}, {"t": None}],
        [{"t": True}, {"t": 3}, {"t": []}, {}],
    ),
    "a tag that looks like code": (
        {
            "A": {"anyOf": [ref("B"), ref("C")]},
            "B": {"type": "object", "properties": {"t = ": {"const": 1}}, "required": ["t = "]},
            "C": {"type": "object", "properties": {"t = ": {"const": 2}}, "required": ["t = "]},
        },
        [{"t = ": 1}, {"t = ": 2}],
        [{"t = ": 3}],
    ),
    "scalar union": (
        {"A": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer", "minimum": 1}, {"type": "null"}]}},
        ["a", 1, None, 2.0],
        ["", 0, True, 1.5, [], {}],
    ),
    "type list": (
        {"A": {"type": ["object", "array", "null"], "items": INTEGER, "additionalProperties": STRING}},
        [{"a": "b"}, [1, 2.0], None],
        ["a", {"a": 1}, ["a"]],
    ),
    "nested arrays of a union": (
        {"A": {"type": "array", "items": {"type": "array", "items": {"anyOf": [STRING, ref("B")]}}}, "B": B},
        [[], [["a", {"t": "b"}]]],
        [["a"], [[1]], [[{"t": "x"}]]],
    ),
    "map of records": (
        {"A": {"type": "object", "additionalProperties": ref("B")}, "B": B},
        [{}, {"a": {"t": "b", "future": 2}}],
        [{"a": {}}, []],
    ),
    "map of patterns": (
        {"A": {"type": "object", "additionalProperties": {"type": "string", "pattern": "^\\d+$"}}},
        [{"a": "12"}],
        [{"a": "x"}, {"a": 1}],
    ),
    "mixed enum": (
        {"A": obj("n", e={"enum": ["a", 1, True, None]}, n={"const": None}, m={"enum": [None]})},
        [{"n": None, "e": 1.0}, {"n": None, "e": True, "m": None}],
        [{}, {"n": 0}, {"n": None, "e": False}, {"n": None, "e": 0}],
    ),
    "constants under anyOf": (
        {"A": {"anyOf": [{"const": 1}, {"const": 1}, {"enum": [True, "x"]}]}},
        [1, True, 1.0, "x"],
        [2, False],
    ),
    "required but not declared": (
        {"A": {"type": "object", "properties": {"a": {}}, "required": ["b"]}},
        [{"b": 1}, {"b": None}],
        [{"a": 1}],
    ),
    "required and nothing else": ({"A": {"type": "object", "required": ["b"]}}, [{"b": 1}], [{"a": 1}]),
    "boolean members": ({"A": obj(a=True)}, [{"a": 1}, {}], [1]),
    "closed and empty": ({"A": {"type": "object", "additionalProperties": False}}, [{}], [{"x": 1}, []]),
    "unique items": (
        {"A": {"type": "array", "uniqueItems": True}},
        [[{"a": 1}, {"a": True}], [1, True], [[1], [True]], ["1", 1], [{}, []], [None, 0, False]],
        [[{"a": 1}, {"a": 1.0}], [1, 1.0], [{"a": [1], "b": 2}, {"b": 2, "a": [1.0]}]],
    ),
    "multiples": ({"A": {"type": "number", "multipleOf": 3}}, [0, 3, -6, 9.0], [1, 3.5]),
    "huge bounds": (
        {"A": {"type": "integer", "minimum": -(10**400), "maximum": 2**64, "multipleOf": 10**300}},
        [0, -(10**400)],
        [1, 10**300, -(10**401)],
    ),
    "exclusive bounds": ({"A": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}}, [0.25], [0, 0.5, True]),
    "sizes spelled as floats": (
        {
            "A": {
                "type": "array",
                "minItems": 1.0,
                "maxItems": 2.0,
                "items": {"type": "string", "minLength": 1.0, "maxLength": 2.0},
            }
        },
        [["ab"]],
        [[], ["", "a"], ["abc"], ["a"] * 3],
    ),
    "nullable inline object": (
        {"A": obj(o={"anyOf": [obj("x", x=INTEGER), {"type": "null"}]})},
        [{"o": None}, {"o": {"x": 1}}],
        [{"o": {}}],
    ),
    "inline union": (
        {"A": obj(o={"oneOf": [{"title": "Foo", **tagged("x")}, {"title": "Bar", **tagged("y")}]})},
        [{"o": {"t": "x"}}],
        [{"o": {"t": "z"}}, {"o": 1}],
    ),
    "inline union in an array": (
        {"A": {"type": "array", "items": {"oneOf": [tagged("x"), tagged("y")]}}},
        [[{"t": "x"}]],
        [[{"t": "z"}]],
    ),
    "inherited": (
        {
            "A": {"allOf": [ref("Base"), ref("More")], "type": "object", "properties": {"c": STRING}, "required": ["c", "x"]},
            "Base": obj("a", a=INTEGER),
            "More": {"type": "object", "properties": {"b": {"type": "null"}, "x": {}}, "x-abstract": True},
        },
        [{"a": 1, "c": "", "x": 0}, {"a": 1, "c": "", "x": 0, "b": None, "z": 1}],
        [{"a": 1, "c": ""}, {"c": "", "x": 0}, {"a": 1, "c": "", "x": 0, "b": 1}],
    ),
    "$ref beside members": (
        {"A": {"$ref": "#/$defs/Base", "properties": {"b": INTEGER}, "required": ["b"]}, "Base": obj("a", a=STRING)},
        [{"a": "", "b": 1}],
        [{"b": 1}, {"a": ""}],
    ),
    "everything is allowed": ({"A": True, "B": {}}, [1, None, {"a": []}], []),
    "deep": ({"A": nested(60)}, [[], [[[]]]], ["", [1]]),
    "definition names of all sorts": (
        {"a/b~c%": obj(x=ref("Any")), "Any": STRING, "T": obj(y=ref("a~1b~0c%25")), "名": ref("T")},
        [{"x": "s"}, {}],
        [{"x": 1}],
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("end_to_end")


def plain(protocol: Protocol) -> list[Any]:
    """What a definition says, without where it was read."""
    return [(found.name, found.module, found.type, found.doc, found.deprecated) for found in protocol.definitions]


@pytest.mark.parametrize("name", SCHEMAS)
def test_codecs_judge_as_the_schema_does(name: str, folder: Path) -> None:
    definitions, valid, invalid = SCHEMAS[name]
    first = next(iter(definitions))
    package = build_defs(folder, definitions)
    package.check_hints()
    judges: dict[str, Package | Oracle] = {
        "python": package,
        "authored": Oracle({"$defs": definitions}),
        "bundle": bundle_oracle(package.protocol),
    }
    for judge, found in judges.items():
        assert [value for value in valid if not found.accepts(first, value)] == [], judge
        assert [value for value in invalid if found.accepts(first, value)] == [], judge
    again = read(folder, {"b.json": bundle(package.protocol, "test")})
    assert plain(again) == plain(package.protocol)
    forget(package)


def test_wire_names_and_hints(folder: Path) -> None:
    package = build_defs(
        folder, {"A": obj("userID", userID=STRING, **{"class": INTEGER, "": {}, "str": {"type": "array", "items": STRING}})}
    )
    value = package.decode("A", {"userID": "u", "class": 1, "": None, "str": ["a"], "new": 2})
    assert (value.user_id, value.class_, value.empty, value.str_, value.extra) == ("u", 1, None, ["a"], {"new": 2})
    assert package.wire_names("A") == ["userID", "class", "", "str"]
    package.check_hints()


def test_absent_is_not_null(folder: Path) -> None:
    nullable = {"type": ["string", "null"]}
    package = build_defs(folder, {"A": obj("req", req=nullable, opt=STRING, both=nullable)})
    absent, null = package.decode("A", {"req": None}), package.decode("A", {"req": None, "both": None})
    assert (absent.opt, absent.both, null.both) == (None, package.module.UNSET, None)
    assert package.encode(absent) == {"req": None}
    assert package.encode(null) == {"req": None, "both": None}
    assert not package.accepts("A", {"req": "", "opt": None})


def test_defaults_are_never_put_on_the_wire(folder: Path) -> None:
    package = build_defs(folder, {"A": obj("v", v={**INTEGER, "default": 3}, w={**INTEGER, "default": 4}, c={"const": "x"})})
    assert not package.accepts("A", {"w": 1})
    value = package.decode("A", {"v": 1})
    assert package.encode(value) == {"v": 1}
    assert package.encode(package.type("A")(v=1)) == {"v": 1}


def test_open_union_and_enum(folder: Path) -> None:
    definitions = {
        "A": {"anyOf": [ref("B"), ref("C"), ref("U")], "x-open": True},
        "B": tagged("b", "x", x=INTEGER),
        "C": tagged("c"),
        "U": obj("t", t={"type": "string", "minLength": 1, "not": {"enum": ["gone"]}}),
        "E": {"type": "string", "minLength": 1, "enum": ["low", "high"], "x-open": True},
    }
    package = build_defs(folder, definitions)
    package.check_hints()
    bundled = bundle_oracle(package.protocol)
    for value, verdict in [
        ({"t": "b", "x": 1}, True),
        ({"t": "new", "y": []}, True),
        ({"t": "b"}, False),
        ({"t": ""}, False),
        ({"t": "gone"}, False),
        ({"t": 1}, False),
        ({}, False),
    ]:
        assert package.accepts("A", value) == bundled.accepts("A", value) == verdict, value
    assert type(package.decode("A", {"t": "new"})).__name__ == "U"
    for value, verdict in [("low", True), ("next", True), ("", False), (1, False)]:
        assert package.accepts("E", value) == bundled.accepts("E", value) == verdict, value
    assert plain(read(folder, {"b.json": bundle(package.protocol, "test")})) == plain(package.protocol)


def test_arm_chosen_by_member(folder: Path) -> None:
    definitions = {
        "A": {"anyOf": [ref("B"), ref("C"), ref("D")], "x-by-member": {"B": "data"}},
        "B": tagged("i", "data", data=STRING, n=INTEGER),
        "C": tagged("i", "url", url=STRING),
        "D": tagged("d"),
    }
    package = build_defs(folder, definitions)
    bundled = bundle_oracle(package.protocol)
    for value, verdict in [
        ({"t": "i", "data": ""}, True),
        ({"t": "i", "url": ""}, True),
        ({"t": "i"}, False),
        ({"t": "d", "data": 1}, True),
        ({"t": "i", "data": 1, "url": ""}, False),
        ({"t": "i", "data": "", "n": "x", "url": ""}, False),
    ]:
        assert package.accepts("A", value) == bundled.accepts("A", value) == verdict, value
    assert type(package.decode("A", {"t": "i", "url": ""})).__name__ == "C"
    assert plain(read(folder, {"b.json": bundle(package.protocol, "test")})) == plain(package.protocol)


NAMES_IN_USE = [
    *(
        "Any",
        "Final",
        "Mismatch",
        "UNSET",
        "Callable",
        "dataclass",
        "decode",
        "METHODS",
        "DecodeError",
        "encode",
        "Literal",
        "field",
    ),
    *(
        "int",
        "TypeRef",
        "Request",
        "Notification",
        "Optional",
        "Union",
        "List",
        "Model",
        "Root",
        "RootRoot",
        "T",
        "P",
        "R",
        "CODECS",
    ),
    *(
        "ERROR_CODES",
        "REVISION",
        "REVISIONS",
        "HEAD",
        "ModuleType",
        "TypeVar",
        "TypedDict",
        "LookupError",
        "AttributeError",
        "KeyError",
    ),
    *(
        "Array",
        "Record",
        "string",
        "X_",
        "Foo_Bar",
        "A__B",
        "_private",
        "__dunder__",
        "True",
        "None",
        "Über",
        "class",
        "self",
        "re",
        "run",
    ),
    *("UnsetType", "register", "Methods", "TypeAlias", "TYPE_CHECKING", "NoneType", "Exception", "ValueError", "X" * 200),
]


def test_definitions_named_like_what_generated_modules_use(folder: Path) -> None:
    records = {
        name: obj("a", a=STRING, o=ref(name), n={"type": ["string", "null"]}, e={"enum": ["x", 1]}) for name in NAMES_IN_USE
    }
    package = build_defs(folder, records)
    package.check_hints()
    for name in NAMES_IN_USE:
        assert package.accepts(name, {"a": "x", "o": {"a": "y", "n": None, "z": 1}, "e": 1}), name
        assert not package.accepts(name, {"a": "x", "o": {}}), name
    aliases = {name: {"type": ["string", "null"]} for name in NAMES_IN_USE}
    package = build_defs(
        folder,
        {
            **aliases,
            "All": {
                "type": "object",
                "properties": {f"{name} {number}": ref(name) for number, name in enumerate(NAMES_IN_USE)},
            },
        },
    )
    package.check_hints()
    assert package.accepts("All", {f"{name} {number}": "x" for number, name in enumerate(NAMES_IN_USE)})
    assert not package.accepts("All", {"Any 0": 1})


def test_files_become_modules(folder: Path) -> None:
    names = [
        "a-b.schema.json",
        "a_b.schema.json",
        "methods.schema.json",
        "_codec.schema.json",
        "decode.schema.json",
        "run.json",
        "con.json",
        "import.json",
        "2nd.json",
        "Über.json",
    ]
    files = {name: {"$defs": {f"D{number}": obj("x", x=INTEGER)}} for number, name in enumerate(names)}
    package = build(folder, read(folder, files))
    package.check_hints()
    for number in range(len(names)):
        assert package.accepts(f"D{number}", {"x": 1})
        assert not package.accepts(f"D{number}", {})
    assert callable(package.module.decode)
    assert callable(package.module.encode)


def test_files_that_refer_to_each_other_share_a_module(folder: Path) -> None:
    files = {
        "a.json": {"title": "A", **obj("b", b={"$ref": "b.json#/$defs/B"})},
        "b.json": {"$defs": {"B": obj("n", a={"$ref": "a.json"}, n=INTEGER)}},
    }
    package = build(folder, read(folder, files))
    package.check_hints()
    assert package.accepts("A", {"b": {"n": 1, "a": {"b": {"n": 2}}}})
    assert not package.accepts("A", {"b": {"n": 1, "a": {}}})


def test_root_schema(folder: Path) -> None:
    package = build(folder, read(folder, {"tree.json": obj("kids", kids={"type": "array", "items": {"$ref": "#"}})}))
    assert [definition.name for definition in package.protocol.definitions] == ["Tree"]
    assert package.accepts("Tree", {"kids": [{"kids": []}]})
    assert not package.accepts("Tree", {"kids": [{}]})


def test_long_chain_and_large_union(folder: Path) -> None:
    chain = {f"N{number}": obj(a=STRING, next=ref(f"N{number + 1}")) for number in range(120)}
    arms = {f"A{number}": tagged(f"t{number}") for number in range(100)}
    union = {"U": {"anyOf": [ref(name) for name in arms]}}
    package = build_defs(folder, {**chain, "N120": obj(a=STRING), **arms, **union})
    assert package.accepts("N0", {"next": {"next": {"a": ""}}})
    assert not package.accepts("N0", {"next": {"next": {"a": 1}}})
    assert package.accepts("U", {"t": "t77"})
    assert not package.accepts("U", {"t": "t100"})


def test_nothing_at_all(folder: Path) -> None:
    package = build(folder, read(folder, {"empty.json": {}}))
    package.check_hints()
    assert package.protocol.definitions == ()


@pytest.mark.parametrize(
    "revision", ["0.1", "---", "a b", "日本", '"', "{x}", "{__import__('os')}", "\\", "1\n2", "%", "[", "class"]
)
def test_odd_revision_names(revision: str, folder: Path) -> None:
    methods = {
        "revision": revision,
        "title": revision,
        "methods": [{"name": "m", "sender": "client", "params": "A", "result": "A", "description": revision}],
    }
    package = build(folder, read(folder, {"all.json": {"$defs": {"A": obj(a=INTEGER)}}, "methods.json": methods}))
    package.check_hints()
    assert revision == package.module.REVISION
    assert package.module.decode_params("m", {"a": 1}).a == 1
    with pytest.raises(LookupError, match=re.escape(f"'nope' is not a method of revision {revision}")):
        package.module.decode_params("nope", {})
    assert bundle_oracle(package.protocol).accepts(None, {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {}})
    forget(package)


# Any JSON document as a schema

WIRES = st.sampled_from(["t", "a", "b-c", "class"])
DEFINED = ("A", "B", "C")
SCALARS = st.sampled_from(["x", "y", "", 0, 1, 2, 1.0, 1.5, True, False, None])
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WIRES, inner, max_size=2), max_leaves=5
)
INSTANCES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WIRES, inner, max_size=4), max_leaves=8
)
SIZES = st.sampled_from([0, 1, 2, 2.0])
BOUNDS = st.sampled_from([0, 1, -1, 1.0, 0.5])
KINDS = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"])


def keyword_values(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Values of the right shape, by keyword."""
    arms = st.lists(inner, min_size=1, max_size=3)
    members = st.dictionaries(WIRES, inner, max_size=3)
    return {
        "type": KINDS | st.lists(KINDS, min_size=1, max_size=3, unique=True),
        "properties": members,
        "required": st.lists(WIRES, max_size=2, unique=True),
        "additionalProperties": st.booleans() | inner,
        "items": inner,
        "minItems": SIZES,
        "maxItems": SIZES,
        "uniqueItems": st.booleans(),
        "enum": st.lists(SCALARS, max_size=3),
        "const": SCALARS,
        "anyOf": arms,
        "oneOf": arms,
        "allOf": arms,
        "$ref": st.sampled_from([f"#/$defs/{name}" for name in DEFINED]),
        "not": inner,
        "minLength": SIZES,
        "maxLength": SIZES,
        "pattern": st.sampled_from(["^x", "y|z", "[", "\\d", "a(?=b)"]),
        "minimum": BOUNDS,
        "exclusiveMaximum": BOUNDS,
        "multipleOf": st.sampled_from([1, 2, 2.0, 0.5]),
        "if": inner,
        "then": inner,
        "prefixItems": arms,
        "contains": inner,
        "patternProperties": members,
        "minProperties": SIZES,
        "propertyNames": inner,
        "title": st.sampled_from(["A", "Title", ""]),
        "description": st.sampled_from(["", "Words."]),
        "default": SCALARS,
        "x-abstract": st.booleans(),
        "x-lenient": st.just(value=True),
        "x-module": st.sampled_from(["m", "n"]),
    }


def soup(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A schema of a few random keywords."""
    values = keyword_values(inner)
    picked = st.lists(st.sampled_from(sorted(values)), min_size=1, max_size=4, unique=True)
    return picked.flatmap(lambda keys: st.fixed_dictionaries({key: values[key] for key in keys}))


def shaped(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A schema as an author might write it."""
    values = keyword_values(inner)
    tag = st.sampled_from(["x", "y", 1]).map(lambda value: {"const": value})
    record = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": values["properties"]},
        optional={
            "required": values["required"],
            "additionalProperties": st.booleans(),
            "title": values["title"],
        },
    )
    return st.one_of(
        record,
        st.builds(
            lambda kind, other: {**other, "properties": {"t": kind, **other["properties"]}, "required": ["t"]}, tag, record
        ),
        st.fixed_dictionaries({"type": st.just("object")}, optional={"additionalProperties": inner}),
        st.fixed_dictionaries(
            {"type": st.just("array")}, optional={key: values[key] for key in ("items", "minItems", "maxItems", "uniqueItems")}
        ),
        st.fixed_dictionaries(
            {"type": st.just("string")}, optional={key: values[key] for key in ("minLength", "maxLength", "pattern")}
        ),
        st.fixed_dictionaries(
            {"type": st.sampled_from(["integer", "number"])},
            optional={key: values[key] for key in ("minimum", "exclusiveMaximum", "multipleOf")},
        ),
        st.fixed_dictionaries({"type": values["type"]}),
        st.fixed_dictionaries({"enum": values["enum"]}) | st.fixed_dictionaries({"const": SCALARS}),
        st.fixed_dictionaries({"$ref": values["$ref"]}, optional={"properties": values["properties"]}),
        st.fixed_dictionaries({"anyOf": values["anyOf"]}) | st.fixed_dictionaries({"oneOf": values["oneOf"]}),
        st.fixed_dictionaries({"allOf": values["allOf"]}, optional={"properties": values["properties"]}),
        st.booleans(),
    )


SOUPS: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | soup(st.just({"type": "string"})) | shaped(st.just({"type": "integer"})),
    lambda inner: st.one_of(shaped(inner), shaped(inner), soup(inner)),
    max_leaves=5,
)
SHAPES: st.SearchStrategy[Any] = st.recursive(shaped(st.just({"type": "integer"})), shaped, max_leaves=6)


def resolves(where: str, files: dict[str, Any]) -> bool:
    """Whether the place that a refusal names is there."""
    name, mark, pointer = where.partition("#")
    value = files[name]
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return bool(mark)


def read_or_refuse(folder: Path, files: dict[str, Any]) -> Protocol | None:
    try:
        return read(folder, files)
    except SchemaError as error:
        refusal = error
    assert resolves(refusal.where, files), str(refusal)
    return None


def judge(package: Package, oracles: list[Oracle], instances: list[Any]) -> None:
    for definition in package.protocol.definitions:
        if definition.name in DEFINED:
            for instance in instances:
                verdicts = [oracle.accepts(definition.name, instance) for oracle in oracles]
                assert package.accepts(definition.name, instance) == verdicts[0], (definition, instance)
                assert len(set(verdicts)) == 1, (definition, instance)


def examples(count: int) -> settings:
    """`count` examples; DSH_FUZZ multiplies them for a longer hunt."""
    count *= int(os.environ.get("DSH_FUZZ", "1"))
    return settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
        database=None,
    )


@examples(60)
@given(definitions=st.fixed_dictionaries(dict.fromkeys(DEFINED, SOUPS)), instances=st.lists(INSTANCES, min_size=5, max_size=12))
def test_any_schema_is_generated_right_or_refused(definitions: dict[str, Any], instances: list[Any], folder: Path) -> None:
    _check(folder, definitions, instances)


@examples(50)
@given(
    definitions=st.fixed_dictionaries(dict.fromkeys(DEFINED, SHAPES)),
    instances=st.lists(INSTANCES, min_size=5, max_size=20),
)
def test_any_likely_schema_is_generated_right_or_refused(
    definitions: dict[str, Any], instances: list[Any], folder: Path
) -> None:
    _check(folder, definitions, instances)


def _check(folder: Path, definitions: dict[str, Any], instances: list[Any]) -> None:
    document = {"$defs": definitions}
    protocol = read_or_refuse(folder, {"all.json": document})
    if protocol is None:
        return
    assert plain(read(folder, {"b.json": bundle(protocol, "test")})) == plain(protocol)
    try:
        package = build(folder, protocol)
    except CodegenError:
        return
    package.check_hints()
    if "x-lenient" not in json.dumps(document):
        judge(package, [Oracle(document), bundle_oracle(protocol)], instances)
    forget(package)


@examples(60)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                *keyword_values(JUNK),
                "$defs",
                "$id",
                "$schema",
                "x-open",
                "x-by-member",
                "x-known",
                "x-tag",
                "x-revision",
                "x-methods",
                "x-errors",
                "x-module",
                "deprecated",
            ]
        ),
        JUNK,
        max_size=4,
    )
)
def test_any_document_is_read_or_refused(folder: Path, document: dict[str, Any]) -> None:
    for files in ({"all.json": document}, {"all.json": {"$defs": {"A": document}}}):
        protocol = read_or_refuse(folder, files)
        if protocol is not None:
            bundle(protocol, "test")


def test_names_of_a_refusal_can_be_looked_up(folder: Path) -> None:
    with pytest.raises(SchemaError) as refusal:
        read_defs(folder, {"a/b~": obj(**{"x/y": {"minLength": 1}})})
    assert refusal.value.where == "all.schema.json#/$defs/a~1b~0/properties/x~1y/minLength"
