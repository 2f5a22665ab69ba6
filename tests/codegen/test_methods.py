"""The method table: what it takes, and where it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsh_codegen.errors import SchemaError
from dsh_codegen.ir import ErrorCode, Method
from tests.codegen.packages import build, read

SCHEMA = {
    "$defs": {
        "P": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "R": {"type": "object", "properties": {}},
        "S": {"type": "string"},
    }
}
ROW = {"name": "m", "sender": "client", "params": "P", "result": "R", "description": "Does."}


def table(**changes: Any) -> dict[str, Any]:
    return {"revision": "1.0", "title": "Test", "methods": [ROW], **changes}


def test_rows(tmp_path: Path) -> None:
    rows = [ROW, {"name": "n", "sender": "server", "params": None, "description": ""}, {"name": "o", "sender": "client"}]
    protocol = read(
        tmp_path,
        {"all.json": SCHEMA, "methods.json": table(methods=rows, errors=[{"code": -32601, "description": "No."}, {"code": 1}])},
    )
    assert (protocol.revision, protocol.title) == ("1.0", "Test")
    assert protocol.methods == (
        Method("m", "client", "P", "R", "Does."),
        Method("n", "server", None, None),
        Method("o", "client", None, None),
    )
    assert protocol.errors == (ErrorCode(-32601, "No."), ErrorCode(1, ""))


def test_no_table(tmp_path: Path) -> None:
    protocol = read(tmp_path, {"all.json": SCHEMA})
    assert (protocol.methods, protocol.errors) == ((), ())
    assert protocol.revision
    assert protocol.title


def test_bundle(tmp_path: Path) -> None:
    protocol = read(
        tmp_path, {"b.json": {**SCHEMA, "title": "T", "x-revision": "9", "x-methods": [ROW], "x-errors": [{"code": 3}]}}
    )
    assert (protocol.revision, protocol.title, protocol.methods[0].name, protocol.errors) == (
        "9",
        "T",
        "m",
        (ErrorCode(3, ""),),
    )


@pytest.mark.parametrize(
    ("changes", "where", "reason"),
    [
        ({"methods": [ROW, {**ROW, "result": "P"}]}, "/methods/1", "the method 'm' stands twice"),
        ({"methods": [{**ROW, "params": "Nope"}]}, "/methods/0/params", "no definition 'Nope'"),
        ({"methods": [{**ROW, "result": "S"}]}, "/methods/0/result", "not an object with named members"),
        ({"methods": [{**ROW, "sender": "nobody"}]}, "/methods/0/sender", "is not one of"),
        ({"methods": [{"sender": "client"}]}, "/methods/0", "'name' is a required property"),
        ({"methods": [{"name": "m"}]}, "/methods/0", "'sender' is a required property"),
        ({"methods": [{**ROW, "name": 1}]}, "/methods/0/name", "is not of type 'string'"),
        ({"methods": [{**ROW, "params": ["P"]}]}, "/methods/0/params", "is not of type"),
        ({"methods": [{**ROW, "description": None}]}, "/methods/0/description", "is not of type 'string'"),
        ({"methods": ["m"]}, "/methods/0", "is not of type 'object'"),
        ({"methods": {"m": ROW}}, "/methods", "is not of type 'array'"),
        ({"errors": [{"description": "x"}]}, "/errors/0", "'code' is a required property"),
        ({"errors": [{"code": "1"}]}, "/errors/0/code", "is not of type 'integer'"),
        ({"revision": 1.0}, "/revision", "is not of type 'string'"),
        ({"title": ["x"]}, "/title", "is not of type 'string'"),
    ],
)
def test_refused(changes: dict[str, Any], where: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError) as refusal:
        read(tmp_path, {"all.json": SCHEMA, "methods.json": table(**changes)})
    assert refusal.value.where == f"methods.json#{where}"
    assert reason in refusal.value.reason
    if where != "/title":  # checked by the meta-schema there
        with pytest.raises(SchemaError) as refusal:
            read(tmp_path, {"b.json": {**SCHEMA, "x-revision": "9", **{f"x-{key}": value for key, value in changes.items()}}})
        assert refusal.value.where == f"b.json#/x-{where[1:]}"


@pytest.mark.parametrize("text", ["[]", "null", '"x"', "1"])
def test_table_that_is_no_object(text: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"^methods\.json#: .* is not of type 'object'"):
        read(tmp_path, {"all.json": SCHEMA, "methods.json": text})


def test_meta_schema_beside_it_is_checked_too(tmp_path: Path) -> None:
    files = {"all.json": SCHEMA, "methods.json": table(), "methods.meta.json": {"properties": {"title": {"maxLength": 2}}}}
    with pytest.raises(SchemaError, match=r"methods\.json#/title"):
        read(tmp_path, files)


NAMES = [
    "a/b'+x+'",
    "__class__",
    "a\nb",
    "",
    "a/b",
    "a_b",
    '"""',
    "{x}",
    "\\",
    "\u2028",
    "*/",
    "class",
    "keys",
    "get",
    "é",
    "\x00",
]


def test_method_names_of_any_kind(tmp_path: Path) -> None:
    rows = [{**ROW, "name": name, "description": name} for name in NAMES]
    package = build(tmp_path, read(tmp_path, {"all.json": SCHEMA, "methods.json": table(methods=rows)}))
    assert list(package.module.METHODS) == NAMES
    for name in NAMES:
        assert package.module.METHODS[name].method == name
        assert package.module.decode_params(name, {"a": 1}).a == 1
        assert package.module.find_method(name) is package.module.METHODS[name]
        assert package.module.METHODS[name].params is package.type("P")
        assert package.module.METHODS[name].result is package.type("R")


def test_notification_without_params(tmp_path: Path) -> None:
    package = build(
        tmp_path,
        read(
            tmp_path, {"all.json": SCHEMA, "methods.json": table(methods=[{"name": "bye", "sender": "server", "params": None}])}
        ),
    )
    assert package.module.decode_params("bye", {"anything": 1}) is None
    with pytest.raises(LookupError, match="is not a request"):
        package.module.decode_result("bye", {})
