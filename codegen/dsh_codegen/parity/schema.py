"""A bundle (one JSON Schema document a revision) -> the model of parity, read straight from the JSON.

Nothing here knows how the generator reads a schema: a mistake of the one is not a mistake of the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast
from urllib.parse import unquote

from ..errors import ConfigError
from .model import (
    ANY,
    BOOLEAN,
    INTEGER,
    NOTHING,
    NULL,
    NUMBER,
    STRING,
    Definition,
    Member,
    Method,
    Object,
    Place,
    Shape,
    Side,
    json_text,
    kind,
    literal,
    ref,
    union,
)

Schema: TypeAlias = Mapping[str, Any]
Lines: TypeAlias = Mapping[str, int]

_NO_LINES: Final[Lines] = MappingProxyType({})
_OPENING: Final = re.compile(r'  ("(?:[^"\\]|\\.)*"): \{')  # of a definition, in the one layout that bundles have
_ROW: Final = re.compile(r'   "name": ("(?:[^"\\]|\\.)*"),?$')  # of a method, likewise
_SCALARS: Final = (STRING, NUMBER, INTEGER, BOOLEAN)


def read_bundle(path: Path) -> Side:
    """The side of a bundle on disk, with the lines of its definitions and methods. Raises `ConfigError` where it isn't one."""
    bundle = load_bundle(path)
    lines: dict[str, int] = {}
    rows: dict[str, int] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if (match := _OPENING.match(line)) is not None:
            lines[json.loads(match[1])] = number
        elif (match := _ROW.match(line)) is not None:
            rows[json.loads(match[1])] = number
    return read_schema(bundle, str(path), lines, rows)


def read_schema(bundle: Schema, file: str = "", lines: Lines = _NO_LINES, rows: Lines = _NO_LINES) -> Side:
    """The side of a bundle; `file` is where it was read from, `lines` where its definitions begin, `rows` its methods."""
    definitions = {name: read_definition(name, schema, _place(file, name, lines)) for name, schema in bundle["$defs"].items()}
    listed = bundle.get("x-methods")
    methods = listed if listed is None else {row["name"]: read_method(row, _place(file, row["name"], rows)) for row in listed}
    return Side("schema", definitions, methods)


def _place(file: str, name: str, lines: Lines) -> Place | None:
    return Place(file, lines.get(name, 1)) if file else None


def load_bundle(path: Path) -> Schema:
    """The JSON of a bundle. Raises `ConfigError` where it isn't one."""
    try:
        bundle = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}; run: dsh-codegen generate") from None
    except (ValueError, RecursionError):
        bundle = None
    if not isinstance(bundle, dict) or not isinstance(cast("dict[str, Any]", bundle).get("$defs"), dict):
        raise ConfigError(f"{path}: it is no schema bundle; run: dsh-codegen generate")
    return cast("dict[str, Any]", bundle)


def read_definition(name: str, schema: Schema, place: Place | None = None) -> Definition:
    """One entry of `$defs`."""
    tag = schema.get("x-tag")
    by_member = schema.get("x-by-member", {})
    return Definition(
        name,
        shape_of(schema),
        tag=tag,
        open=tag is not None and bool(schema.get("x-open")),
        by_member=frozenset(by_member.items()),
        place=place,
    )


def read_method(row: Schema, place: Place | None = None) -> Method:
    """One row of `x-methods`."""
    params, result = row["params"], row.get("result")
    return Method(
        row["name"],
        row["sender"],
        None if params is None else ref(params),
        None if result is None else ref(result),
        place,
    )


def shape_of(schema: Schema | bool) -> Shape:
    """What a schema accepts, constraints on scalars and on the number of items left out."""
    if isinstance(schema, bool):
        return ANY if schema else NOTHING
    if "$ref" in schema:
        return ref(_name(schema["$ref"]))
    if "const" in schema:
        return literal(schema["const"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return union(NOTHING, *(shape_of(arm) for arm in schema[key]))
    if "allOf" in schema:
        # the only conjunctions of a bundle: a reference, less what other arms own
        return next((shape_of(part) for part in schema["allOf"] if part.keys() != {"not"}), ANY)
    known = [literal(value) for value in (*schema.get("enum", ()), *schema.get("x-known", ()))]
    if known and not schema.get("x-open"):
        return union(NOTHING, *known)
    types = schema.get("type")
    if types is None:
        return ANY
    return union(NOTHING, *known, *(_typed(name, schema) for name in ([types] if isinstance(types, str) else types)))


def _typed(name: str, schema: Schema) -> Shape:
    if name == "null":
        return NULL
    if name in _SCALARS:
        return kind(name)
    if name == "array":
        parts = [shape_of(part) for part in schema.get("prefixItems", ())]
        return Shape(items=union(*parts, shape_of(schema.get("items", True))))
    rest = schema.get("additionalProperties", True)
    if "properties" not in schema and rest is not False:
        return Shape(values=shape_of(rest))
    required = schema.get("required", ())
    members = tuple(
        Member(wire, wire in required, wire in required, shape_of(member), excluded=_excluded(member))
        for wire, member in schema.get("properties", {}).items()
    )
    values = None if isinstance(rest, bool) else shape_of(rest)
    return Shape(objects=(Object(members, rest is not False, values),))


def _excluded(schema: Schema | bool) -> frozenset[str]:
    refused: Schema = {} if isinstance(schema, bool) else schema.get("not", {})
    return frozenset(json_text(value) for value in refused.get("enum", ()))


def _name(reference: str) -> str:
    return unquote(reference.removeprefix("#/$defs/")).replace("~1", "/").replace("~0", "~")
