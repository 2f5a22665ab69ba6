"""The method table: `methods.json` of a schema directory, or `x-methods` of a bundle -> IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..ir import Definition, ErrorCode, Method, Record
from .files import Place, Source, check

_NAME: Final[dict[str, Any]] = {"type": "string"}
_ROWS: Final[dict[str, Any]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": _NAME,
            "sender": {"enum": ["client", "server"]},
            "params": {"type": ["string", "null"]},
            "result": _NAME,
            "description": _NAME,
        },
        "required": ["name", "sender"],
    },
}
_CODES: Final[dict[str, Any]] = {
    "type": "array",
    "items": {"type": "object", "properties": {"code": {"type": "integer"}, "description": _NAME}, "required": ["code"]},
}


@dataclass(frozen=True, slots=True)
class MethodTable:
    """What a protocol says beside its types. All empty when the source has no table."""

    revision: str = ""
    title: str = ""
    methods: tuple[Method, ...] = ()
    errors: tuple[ErrorCode, ...] = ()


def read_methods(source: Source, definitions: Mapping[str, Definition]) -> MethodTable:
    """The table of `source`. Raises `SchemaError` for a row that names no record or stands twice."""
    if source.methods is not None:
        table = source.methods
        check(table.value, {"type": "object"}, table)
        keys = ("revision", "title", "methods", "errors")
    else:
        bundles = [root for root in source.roots() if "x-revision" in root.value]
        if not bundles:
            return MethodTable()
        table = bundles[0]
        keys = ("x-revision", "title", "x-methods", "x-errors")
    for key, shape in zip(keys, (_NAME, _NAME, _ROWS, _CODES), strict=True):
        if key in table.value:
            check(table.value[key], shape, table.child(key))
    revision, title, methods, errors = (table.value.get(key) for key in keys)
    rows = [table.child(keys[2], index) for index in range(len(methods or ()))]
    seen: set[str] = set()
    found: list[Method] = []
    for row in rows:
        if row.value["name"] in seen:
            raise row.refuse(f"the method {row.value['name']!r} stands twice")
        seen.add(row.value["name"])
        found.append(_method(row, definitions))
    codes = tuple(ErrorCode(code["code"], code.get("description", "")) for code in errors or ())
    return MethodTable(revision or "", title or "", tuple(found), codes)


def _method(row: Place, definitions: Mapping[str, Definition]) -> Method:
    value: dict[str, Any] = row.value
    for key in ("params", "result"):
        name = value.get(key)
        if name is None:
            continue
        if name not in definitions:
            raise row.child(key).refuse(f"there is no definition {name!r}")
        if not isinstance(definitions[name].type, Record):
            raise row.child(key).refuse(f"{name!r} is not an object with named members, as params and results are")
    return Method(value["name"], value["sender"], value.get("params"), value.get("result"), value.get("description", ""))
