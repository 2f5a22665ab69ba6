"""Small, fixed changes to a schema: what vectors must notice. Every site is listed, none is sampled.

    drop               a keyword, a declared member, an arm
    down, up           a bound or count by one
    forget, add        a value of a closed set, known or retired; a required member
    swap               a JSON type by another
    loose ends         the anchor at an end of a pattern
    open, close        to members, values or tags that are not named
    null on, null off

Annotations are no sites, `x-` keywords among them: they change no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ..load.files import pointer
from .row import FUTURE, UNLISTED, Path

Schema: TypeAlias = Any
"""An object or a boolean."""

_BOUNDS: Final = frozenset(
    "minLength maxLength minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)
_KEYWORDS: Final = _BOUNDS | frozenset(
    "type const enum pattern not $ref allOf anyOf items uniqueItems properties required additionalProperties".split()
)
_SWAPS: Final = {
    "string": ("integer",),
    "integer": ("string", "number"),
    "number": ("string", "integer"),
    "boolean": ("string",),
    "null": ("string",),
    "object": ("array",),
    "array": ("object",),
}
_END: Final = r"$(?!\n)"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A definition's schema after `operator` was applied at `path` in it."""

    path: Path
    operator: str
    schema: Schema

    @property
    def pointer(self) -> str:
        """The JSON Pointer of the site, from the definition."""
        return pointer(self.path)


def mutants(schema: Schema, takes_null: Callable[[Schema], bool], below: str = "") -> Iterator[Mutant]:
    """Every mutant of a definition, or of a bundle's root. `takes_null` is the verdict on null of a part of it.

    `below` is `allOf` or `not` for what stands below one: there null is neither let in nor kept out by one part alone.
    """
    if isinstance(schema, bool):
        yield Mutant((), "drop", True)
        return
    for keyword in (keyword for keyword in schema if keyword in _KEYWORDS):
        yield Mutant((keyword,), "drop", _without(schema, keyword))
        for operator, changed in _changes(schema, keyword, FUTURE if below == "not" else UNLISTED):
            yield Mutant((keyword,), operator, changed)
    for operator, changed in _openings(schema):
        yield Mutant((), operator, changed)
    if not below and _says_something(schema) and not takes_null(schema):
        yield Mutant((), "null on", {"anyOf": [schema, {"type": "null"}]})
    yield from _inside(schema, takes_null, below)


def _changes(schema: dict[str, Any], keyword: str, unlisted: str) -> Iterator[tuple[str, Schema]]:
    value = schema[keyword]
    match keyword:
        case "type":
            kinds: list[str] = [value] if isinstance(value, str) else value
            for kind in kinds:
                rest = [other for other in kinds if other != kind]
                for other in _SWAPS[kind]:
                    yield f"swap {kind} for {other}", {**schema, "type": [other, *rest] if rest else other}
                if rest:
                    yield "null off" if kind == "null" else f"forget {kind}", {**schema, "type": rest}
        case "const":
            other = _beside([value], unlisted)
            yield f"add {other!r}", {**_without(schema, keyword), "enum": [value, other]}
        case "enum":
            for one in value if len(value) > 1 else ():
                yield f"forget {one!r}", {**schema, "enum": [other for other in value if other is not one]}
            other = _beside(value, unlisted)
            yield f"add {other!r}", {**schema, "enum": [*value, other]}
        case "required":
            for wire in value:
                yield f"forget {wire!r}", {**schema, "required": [other for other in value if other != wire]}
            for wire in schema.get("properties", {}):
                if wire not in value and schema["properties"][wire] is not False:
                    yield f"add {wire!r}", {**schema, "required": [*value, wire]}
        case "pattern":
            for name, loose in (("start", value.removeprefix("^")), ("end", value.removesuffix(_END))):
                if loose != value:
                    yield f"loose {name}", {**schema, "pattern": loose}
        case _ if keyword in _BOUNDS:
            if value > 0 or keyword in {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}:
                yield "down", {**schema, keyword: value - 1}
            yield "up", {**schema, keyword: value + 1}
        case _:
            pass


def _openings(schema: dict[str, Any]) -> Iterator[tuple[str, Schema]]:
    """Open what is closed, close what is open."""
    if schema.get("type") == "object" and "additionalProperties" not in schema:
        yield "close", {**schema, "additionalProperties": False}
    if "x-known" in schema:
        yield "close", {"enum": schema["x-known"]}
    values = [schema["const"]] if "const" in schema else schema.get("enum", [])
    if values and all(isinstance(value, str) for value in values):
        yield "open", {"type": "string"}
    if "x-tag" in schema and not schema.get("x-open"):
        tag = schema["x-tag"]
        stranger = {"type": "object", "properties": {tag: {"const": UNLISTED}}, "required": [tag]}
        yield "open", {**schema, "anyOf": [*schema["anyOf"], stranger]}


def _inside(schema: dict[str, Any], takes_null: Callable[[Schema], bool], below: str) -> Iterator[Mutant]:
    """Mutants of the parts, and the loss of each part that stands beside others."""
    members: dict[str, Schema] = schema.get("properties", {})
    for wire, part in members.items():
        rest = {other: kept for other, kept in members.items() if other != wire}
        yield Mutant(("properties", wire), "drop", {**schema, "properties": rest})
        for mutant in mutants(part, takes_null, below):
            changed = {**members, wire: mutant.schema}
            yield Mutant(("properties", wire, *mutant.path), mutant.operator, {**schema, "properties": changed})
    for keyword in ("anyOf", "allOf"):
        parts: list[Schema] = schema.get(keyword, [])
        for index, part in enumerate(parts):
            before, after = parts[:index], parts[index + 1 :]
            if len(parts) > 1:
                yield Mutant((keyword, index), "drop", {**schema, keyword: [*before, *after]})
            for mutant in mutants(part, takes_null, below or ("allOf" if keyword == "allOf" else "")):
                changed_parts = [*before, mutant.schema, *after]
                yield Mutant((keyword, index, *mutant.path), mutant.operator, {**schema, keyword: changed_parts})
    for keyword in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(keyword), dict):
            for mutant in mutants(schema[keyword], takes_null, "not" if keyword == "not" else below):
                yield Mutant((keyword, *mutant.path), mutant.operator, {**schema, keyword: mutant.schema})


def _without(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != keyword}


def _says_something(schema: dict[str, Any]) -> bool:
    return not _KEYWORDS.isdisjoint(schema)


def _beside(values: list[Any], unlisted: str) -> Any:
    """A value that a closed set does not have, of the JSON type of its first."""
    first = values[0]
    if isinstance(first, bool):
        return not first if not any(value is (not first) for value in values) else unlisted
    return max(value for value in values if type(value) is int) + 1 if isinstance(first, int) else unlisted
