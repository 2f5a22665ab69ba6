"""Why a value was refused: walks the schema bundle beside the value, down to the first member that does not fit.

Only failing decodes come here, so this is written for the message and not for speed. It reads exactly the schema forms that bundles
use; unions are entered by their tag, so that the path ends at the leaf.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, Final

from ._codec import DecodeError, Mismatch, unique

Schema = dict[str, Any]

_CLASSES: Final = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_BOUNDS: Final = {
    "minimum": ">=",
    "maximum": "<=",
    "exclusiveMinimum": ">",
    "exclusiveMaximum": "<",
    "multipleOf": "that is a multiple of",
}
_LONGEST: Final = 60


@cache
def load_bundle(package: str) -> Schema:
    """The schema bundle of a revision's package, as parsed JSON."""
    bundle: Schema = json.loads((files(package) / "schema.json").read_text(encoding="utf-8"))
    return bundle


def explain(package: str, definition: str, value: object) -> DecodeError | None:
    """What is wrong with `value` as `definition`, or None if nothing is."""
    defs: dict[str, Schema] = load_bundle(package)["$defs"]
    return _Walk(defs).visit(defs[definition], value, "$")


class _Walk:
    def __init__(self, defs: dict[str, Schema]) -> None:
        self.defs = defs

    def resolve(self, schema: Schema) -> Schema:
        while "$ref" in schema or "allOf" in schema:
            ref = schema["$ref"] if "$ref" in schema else schema["allOf"][0]["$ref"]
            schema = self.defs[_unescape(ref.rpartition("/")[2])]
        return schema

    def visit(self, schema: Schema, value: Any, path: str) -> DecodeError | None:
        schema = self.resolve(schema)
        if "anyOf" in schema:
            return self._union(schema, value, path)
        for keyword in ("const", "enum"):
            if keyword in schema:
                admitted = [schema["const"]] if keyword == "const" else schema["enum"]
                if any(_same(value, one) for one in admitted):
                    return None
                return DecodeError(path, " or ".join(_show(one) for one in admitted), _show(value))
        kinds = schema.get("type", list(_CLASSES))
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if not any(_is(kind, value) for kind in kinds):
            return DecodeError(path, " or ".join(_CLASSES[kind] for kind in kinds), _show(value))
        if _is("object", value):
            return self._object(schema, value, path)
        if _is("array", value):
            return self._array(schema, value, path)
        if _is("string", value):
            return _string(schema, value, path)
        return _number(schema, value, path) if _is("number", value) else None

    def _object(self, schema: Schema, value: dict[str, Any], path: str) -> DecodeError | None:
        properties: dict[str, Schema] = schema.get("properties", {})
        for wire in schema.get("required", ()):
            if wire not in value:
                return DecodeError(path, f"a member {_show(wire)}", f"an object without it (it has {_names(value)})")
        rest = schema.get("additionalProperties", True)
        for wire, item in value.items():
            inner: Any = properties.get(wire, rest)
            if inner is False:
                return DecodeError(path, f"no member {_show(wire)}", "an object that has it")
            if inner is not True:
                found = self.visit(inner, item, path + _step(wire))
                if found is not None:
                    return found
        return None

    def _array(self, schema: Schema, value: list[Any], path: str) -> DecodeError | None:
        low, high = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        if not low <= len(value) <= high:
            return DecodeError(path, _range(low, high, "item"), f"{len(value)}")
        if schema.get("uniqueItems"):
            try:
                unique(value)
            except Mismatch:
                return DecodeError(path, "items that all differ", "an array that repeats one")
        for index, item in enumerate(value if "items" in schema else ()):
            found = self.visit(schema["items"], item, f"{path}[{index}]")
            if found is not None:
                return found
        return None

    def _union(self, schema: Schema, value: Any, path: str) -> DecodeError | None:
        arms = [self.resolve(arm) for arm in schema["anyOf"]]
        tag = schema.get("x-tag")
        if tag is not None and _is("object", value):
            return self._tagged(schema, tag, value, path)
        wanted: list[str] = []
        for arm in arms:
            found = self.visit(arm, value, path)
            if found is None or found.path != path:
                return found
            wanted.append(found.expected)
        return DecodeError(path, " or ".join(dict.fromkeys(wanted)), _show(value))

    def _tagged(self, schema: Schema, tag: str, value: dict[str, Any], path: str) -> DecodeError | None:
        if tag not in value:
            return DecodeError(path, f"a member {_show(tag)}", f"an object without it (it has {_names(value)})")
        known: list[Any] = []
        opened: list[Schema] = []
        for name, arm in self._arms(schema):
            rule = arm["properties"][tag]
            tags = [rule["const"]] if "const" in rule else rule.get("enum")
            if tags is None:
                opened.append(arm)
                continue
            known += tags
            chosen_by = schema.get("x-by-member", {}).get(name)
            if any(_same(value[tag], one) for one in tags) and (chosen_by is None or chosen_by in value):
                return self.visit(arm, value, path)
        for arm in opened:
            return self.visit(arm, value, path)
        return DecodeError(
            path + _step(tag), f"one of the known values {', '.join(_show(one) for one in known)}", _show(value[tag])
        )

    def _arms(self, schema: Schema) -> list[tuple[str, Schema]]:
        """The object arms of a union by definition name, nested unions taken apart; those chosen by a member come first."""
        found: list[tuple[str, Schema]] = []
        for arm in schema["anyOf"]:
            ref = arm.get("$ref") or arm.get("allOf", [{}])[0].get("$ref")
            target = self.resolve(arm)
            if "anyOf" in target:
                found += self._arms(target)
            elif ref is not None and "properties" in target:
                found.append((_unescape(ref.rpartition("/")[2]), target))
        return sorted(found, key=lambda item: item[0] not in schema.get("x-by-member", {}))


def _string(schema: Schema, value: str, path: str) -> DecodeError | None:
    low, high = schema.get("minLength", 0), schema.get("maxLength", math.inf)
    if not low <= len(value) <= high:
        expected = "a non-empty string" if (low, high) == (1, math.inf) else f"a string of {_range(low, high, 'character')}"
        return DecodeError(path, expected, _show(value))
    if "pattern" in schema and re.search(schema["pattern"], value) is None:
        return DecodeError(path, f"a string that matches {schema['pattern']}", _show(value))
    if value in schema.get("not", {}).get("enum", ()):
        return DecodeError(path, "a value that is not retired or known to another type", _show(value))
    return None


def _number(schema: Schema, value: float, path: str) -> DecodeError | None:
    fails: dict[str, Callable[[Any], bool]] = {
        "minimum": lambda bound: value < bound,
        "maximum": lambda bound: value > bound,
        "exclusiveMinimum": lambda bound: value <= bound,
        "exclusiveMaximum": lambda bound: value >= bound,
        "multipleOf": lambda bound: bool(value % bound),
    }
    for keyword, words in _BOUNDS.items():
        if keyword in schema and fails[keyword](schema[keyword]):
            return DecodeError(path, f"a number {words} {schema[keyword]}", _show(value))
    return None


def _is(kind: str, value: Any) -> bool:
    match kind:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "integer":
            return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
        case _:
            return not isinstance(value, bool) and isinstance(value, int | float)


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _step(wire: str) -> str:
    return f".{wire}" if re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", wire) else f"[{json.dumps(wire)}]"


def _show(value: Any) -> str:
    if _is("object", value):
        return f"an object with {_names(value)}"
    if _is("array", value):
        return f"an array of {len(value)}"
    text = json.dumps(value) if not isinstance(value, str) else json.dumps(value[: _LONGEST + 1])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _names(value: dict[str, Any]) -> str:
    names = ", ".join(json.dumps(name) for name in list(value)[:8])
    return "no members" if not value else names if len(value) <= 8 else f"{names}, ..."


def _range(low: float, high: float, unit: str) -> str:
    if high == math.inf:
        return f"{low} {unit}s or more"
    return f"{low} {unit}{'' if low == 1 else 's'}" if low == high else f"{low} to {high} {unit}s"


def _unescape(name: str) -> str:
    from urllib.parse import unquote

    return unquote(name).replace("~1", "/").replace("~0", "~")
