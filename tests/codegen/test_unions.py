"""Unions: flat arms, each told apart by JSON type or by one tag, or a refusal that says why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsh_codegen.errors import SchemaError
from dsh_codegen.ir import Arm, Json, Literals, Null, Record, Ref, String, Union
from tests.codegen.packages import read_defs

STRING = {"type": "string"}
NULL = {"type": "null"}
OPEN_TAG = {"type": "string", "minLength": 1}


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def any_of(*names: str, **options: Any) -> dict[str, Any]:
    return {"anyOf": [ref(name) for name in names], **options}


def tagged(tag: str = "t", *required: str, value: Any = None, **members: Any) -> dict[str, Any]:
    kind = value if isinstance(value, dict) else {"enum": value} if isinstance(value, list) else {"const": value}
    return {"type": "object", "properties": {tag: kind, **members}, "required": [tag, *required]}


def union(folder: Path, schema: Any, **definitions: Any) -> Union:
    found = read_defs(folder, {"U": schema, **definitions}).by_name["U"].type
    assert isinstance(found, Union)
    return found


def refused(folder: Path, schema: Any, **definitions: Any) -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        read_defs(folder, {"U": schema, **definitions})
    return caught.value


A, B, C = tagged(value="a"), tagged(value="b"), tagged(value=["c", "d"])


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_tagged_by_the_only_shared_constant(keyword: str, tmp_path: Path) -> None:
    found = union(tmp_path, {keyword: [ref("A"), ref("C")]}, A=A, C=C)
    assert found == Union((Ref("A"), Ref("C")), (Arm(Ref("A"), ("a",)), Arm(Ref("C"), ("c", "d"))), "t")


def test_nested_unions_become_flat(tmp_path: Path) -> None:
    found = union(tmp_path, any_of("V", "A"), V=any_of("W", "B"), W=ref("X"), X=any_of("B", "C"), A=A, B=B, C=C)
    assert found.declared == (Ref("V"), Ref("A"))
    assert [(arm.type, arm.tags) for arm in found.arms] == [(Ref("B"), ("b",)), (Ref("C"), ("c", "d")), (Ref("A"), ("a",))]


def test_other_json_types_beside_tagged_arms(tmp_path: Path) -> None:
    found = union(tmp_path, {"anyOf": [STRING, ref("A"), ref("N"), ref("B")]}, A=A, B=B, N=NULL)
    assert found.tag == "t"
    assert found.arms == (Arm(Ref("A"), ("a",)), Arm(Ref("B"), ("b",)), Arm(String()), Arm(Ref("N")))


def test_one_object_needs_no_tag(tmp_path: Path) -> None:
    found = union(tmp_path, {"anyOf": [ref("A"), NULL, STRING]}, A=A)
    assert (found.tag, found.arms) == (None, (Arm(Ref("A")), Arm(Null()), Arm(String())))


def test_the_tag_may_be_named(tmp_path: Path) -> None:
    arms = {"P": tagged("t", "k", value="a", k={"const": 1}), "Q": tagged("t", "k", value="b", k={"const": 2})}
    found = refused(tmp_path, any_of("P", "Q"), **arms)
    assert (found.where, "differ in several members (t, k)" in found.reason) == ("all.schema.json#/$defs/U", True)
    assert union(tmp_path, any_of("P", "Q", **{"x-tag": "k"}), **arms).tag == "k"
    for tag in ("nope", ""):
        assert (
            "has values that tell the arms P, Q apart"
            in refused(tmp_path, any_of("P", "Q", **{"x-tag": tag or "other"}), **arms).reason
        )


def test_open_union(tmp_path: Path) -> None:
    unknown = tagged(value={**OPEN_TAG, "not": {"enum": ["gone", "a"]}})
    protocol = read_defs(tmp_path, {"U": any_of("A", "C", "X", **{"x-open": True}), "A": A, "C": C, "X": unknown})
    found = protocol.by_name["U"].type
    assert isinstance(found, Union)
    assert found.open_arm == Arm(Ref("X"), open=True)
    arm = protocol.by_name["X"].type
    assert isinstance(arm, Record)
    assert arm.members[0].type == String(1, excluded=("a", "c", "d", "gone"))


def test_open_arm_in_a_nested_union(tmp_path: Path) -> None:
    inner = any_of("A", "X", **{"x-open": True})
    found = refused(tmp_path, any_of("V", "B"), V=inner, A=A, B=B, X=tagged(value=OPEN_TAG))
    assert "also serves" in found.reason
    protocol = read_defs(tmp_path, {"U": any_of("V"), "V": inner, "A": A, "X": tagged(value=OPEN_TAG)})
    assert protocol.by_name["U"].type == Ref("V")


def test_arms_chosen_by_member(tmp_path: Path) -> None:
    data = tagged("t", "data", value="a", data=STRING)
    found = union(tmp_path, any_of("A", "D", "B", **{"x-by-member": {"D": "data"}}), A=A, B=B, D=data)
    assert found.arms == (Arm(Ref("A"), ("a",)), Arm(Ref("D"), ("a",), "data"), Arm(Ref("B"), ("b",)))


MANY: dict[str, Any] = {
    "A": A,
    "B": B,
    "C": C,
    "X": tagged(value=OPEN_TAG),
    "Y": tagged(value=OPEN_TAG),
    "N": tagged(value=1),
    "T": tagged(value=True),
    "D": tagged("t", "data", value="a", data=STRING),
    "E": tagged("t", "e", value="a", e=STRING),
    "M": {"type": "object", "additionalProperties": STRING},
    "Loose": {"type": "object", "properties": {"t": {"const": "z"}}},
    "Word": STRING,
    "Json": True,
    "Other": tagged("k", value="a"),
}


@pytest.mark.parametrize(
    ("schema", "where", "reason"),
    [
        ({"anyOf": [STRING, ref("Word")]}, "", "two arms take a JSON string"),
        ({"anyOf": [STRING, {"const": "a"}]}, "", "two arms take a JSON string"),
        ({"anyOf": [{"type": "integer"}, {"type": "number", "minimum": 3}]}, "", "two arms take a JSON number"),
        ({"anyOf": [NULL, {"enum": [1, None]}]}, "", "two arms take a JSON null"),
        ({"anyOf": [{"type": "array"}, {"type": "array", "items": STRING}]}, "", "two arms take a JSON array"),
        (
            {"anyOf": [{"type": ["string", "null"]}, {"type": ["null", "integer"]}, {"type": "number", "minimum": 1}]},
            "",
            "two arms take a JSON number",
        ),
        ({"anyOf": [True, STRING]}, "", "two arms take a JSON string"),
        ({"anyOf": [ref("A"), ref("Json")]}, "", "two arms take a JSON object"),
        ({"oneOf": [STRING, STRING]}, "/oneOf", "two arms admit the same values"),
        ({"oneOf": [ref("A"), ref("A")]}, "/oneOf", "two arms admit the same values"),
        (any_of("A", "D"), "", "no required member has values"),
        (any_of("A", "Loose"), "", "no required member has values"),
        (any_of("A", "Other"), "", "no required member has values"),
        (any_of("A", "X"), "", "no required member has values"),
        (any_of("A", "X", "Y", **{"x-open": True}), "", "no required member has values"),
        (any_of("X", "Y", **{"x-open": True}), "", "no required member has values"),
        (any_of("N", "T"), "", "no required member has values"),
        (any_of("N", "B", "X", **{"x-open": True}), "", "the tags of an open union are strings"),
        (any_of("A", "M"), "", "one of them is a map"),
        (
            {"anyOf": [{"type": "object", "additionalProperties": STRING}, {"type": "object", "additionalProperties": NULL}]},
            "",
            "one of them is a map",
        ),
        (any_of("A", "B", **{"x-by-member": {"Z": "z"}}), "/x-by-member", "'Z' is no arm"),
        (any_of("A", "D", **{"x-by-member": {"D": "nope"}}), "/x-by-member", "'nope' is not a required member of 'D'"),
        (any_of("A", "D", "E", **{"x-by-member": {"D": "data", "E": "e"}}), "/x-by-member", "more than two arms"),
        (any_of("U", "A"), "", "contains itself"),
        ({"anyOf": [{"anyOf": [ref("U"), NULL]}, STRING]}, "", "contains itself"),
        (
            {"anyOf": [{"allOf": [ref("A"), {"not": {"required": ["x"]}}]}, ref("B")]},
            "/anyOf/0/allOf",
            "'not' is read here only",
        ),
        ({"anyOf": [{"allOf": [ref("A"), {"not": {}}]}, NULL]}, "/anyOf/0/allOf", "'not' is read here only"),
    ],
)
def test_arms_that_nothing_tells_apart(schema: Any, where: str, reason: str, tmp_path: Path) -> None:
    found = refused(tmp_path, schema, **MANY)
    assert found.where == f"all.schema.json#/$defs/U{where}"
    assert reason in found.reason


def test_constants_are_a_set_and_not_a_union(tmp_path: Path) -> None:
    assert read_defs(tmp_path, {"U": {"anyOf": [{"const": "a"}, {"enum": ["b", "a"]}]}}).definitions[0].type == Literals(
        ("a", "b")
    )


def test_an_arm_listed_twice_under_any_of_is_one(tmp_path: Path) -> None:
    found = union(tmp_path, any_of("A", "B", "A"), A=A, B=B)
    assert [arm.type for arm in found.arms] == [Ref("A"), Ref("B")]


def test_unions_inside_arrays_maps_and_members_are_decided(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": ["string", "null"]}},
            "m": {"type": "object", "additionalProperties": any_of("A", "B")},
            "j": True,
        },
    }
    protocol = read_defs(tmp_path, {"R": schema, "A": A, "B": B})
    assert protocol.by_name["RMValue"].type == Union((Ref("A"), Ref("B")), (Arm(Ref("A"), ("a",)), Arm(Ref("B"), ("b",))), "t")
    record = protocol.by_name["R"].type
    assert isinstance(record, Record)
    assert "DraftUnion" not in repr(protocol)
    assert [member.type for member in record.members][-1] == Json()
