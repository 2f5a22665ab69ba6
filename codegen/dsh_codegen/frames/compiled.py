"""The quick judge of params and results: the definitions of a bundle, compiled by `jsonschema-rs`.

What it accepts, `jsonschema` accepts. What it refuses may still be valid, and is for the reference to judge. So a definition is
compiled only if both libraries read every keyword in it in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import jsonschema_rs

from .forks import Arms, Fork, find_fork
from .references import endless, reached, recursive
from .tags import PREFIX, Definitions, Schema
from .wording import Json

MOST_ENTRIES: Final = 32
"""How often a value may go through recursive definitions. Deeper ones are left to the reference: this library would follow a
value until the stack is used up, and the process would be gone."""

_PLAIN: Final = frozenset(
    "type enum const required minItems maxItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum".split()
)
_ANNOTATIONS: Final = frozenset(
    "title description $comment default examples deprecated readOnly writeOnly format contentEncoding contentMediaType "
    "x-tag x-by-member x-module x-known x-open x-abstract x-lenient".split()
)
_SCALARS: Final = frozenset({"null", "boolean", "integer", "number", "string"})
_NAME: Final = re.compile(r"[\w.-]+", re.ASCII)  # in a reference it stands for itself

# What Python's regular expressions and Rust's both have, with the same meaning: plain characters, a few escapes, classes of
# plain characters, quantifiers after these and after groups, alternatives, and the two ends.
_REPEATABLE: Final = r"(?:[\w:/,@=% -]|\\[.nrtfv$^*+?()\[\]{}|/\\]|\[\^?(?:(?!--)[\w+/.:=-])+\]|\))"
_QUANTIFIED: Final = _REPEATABLE + r"(?:(?:[*+?]|\{\d+(?:,\d*)?\})\??)?"
_PATTERN: Final = re.compile(rf"(?:{_QUANTIFIED}|(?:\((?:\?:)?|\||\^|\$\(\?!\\n\))(?![*+?{{]))*", re.ASCII)


class Compiled:
    """Judges values by the definitions of one bundle. What is needed of a definition is compiled when it is first asked for."""

    def __init__(self, bundle: Schema) -> None:
        self._dialect: str = bundle["$schema"]
        self._definitions: Mapping[str, Schema] = bundle["$defs"]
        self._tables: Final = Definitions(bundle)
        self._forks: dict[str, Fork | None] = {}
        self._judges: dict[tuple[str, Arms | None], Callable[[Any], bool]] = {}

    def decides(self, definition: str, value: Json) -> bool:
        """Whether a refusal of `value` is right, too, but for odd values: what it takes to judge it could be compiled."""
        return self._judge(definition, value) is not _ask

    def is_valid(self, definition: str, value: Json) -> bool:
        """Whether `value` is valid against `#/$defs/<definition>` for certain. False: ask the reference."""
        try:
            return self._judge(definition, value)(value)
        except BaseException as error:
            # lone surrogates, say; and what Rust calls a panic is no `Exception`
            if isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime":
                return False
            raise

    def _judge(self, definition: str, value: Json) -> Callable[[Any], bool]:
        if definition not in self._forks:
            self._forks[definition] = find_fork(self._tables, definition)
        fork = self._forks[definition]
        arms = None if fork is None else fork.arms(value)
        judge = self._judges.get((definition, arms))
        if judge is None:
            judge = self._judges[definition, arms] = self._compile(definition, fork, arms or ())
        return judge

    def _compile(self, definition: str, fork: Fork | None, arms: Arms) -> Callable[[Any], bool]:
        try:
            schema: Any = self._definitions.get(definition) if fork is None else fork.narrowed(arms)
            unrolled = _Unrolled(reached(schema, self._definitions)).schema(definition, schema)
            judge = jsonschema_rs.validator_for({"$schema": self._dialect, **unrolled}, validate_formats=False)
        except (_NotAlikeError, ValueError, AttributeError, TypeError):
            return _ask
        return cast("Callable[[Any], bool]", judge.is_valid)


def _ask(_value: Any) -> bool:
    return False


class _NotAlikeError(Exception):
    """Something in a schema may be read in different ways."""


class _Unrolled:
    """A definition with all that it refers to: recursive ones as often as they may be entered, and then `false`.

    Saying `false` early refuses more. That would be the other way round below `not`, where nothing recursive is let in.
    """

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions
        self._recursive = recursive(definitions)
        self._endless = endless(definitions)
        self._made: dict[str, Any] = {}

    def schema(self, name: str, schema: Any) -> dict[str, Any]:
        """A definition, or what is left of it, as a schema of its own. Raises `_NotAlikeError`."""
        return {"allOf": [self._copy(schema, 1 if name in self._recursive else 0)], "$defs": self._made}

    def _reference(self, ref: Any, entries: int) -> str:
        schema, name = self._referred(ref)
        entries = entries + 1 if name in self._recursive else 0
        copy = f"{name}:{entries}" if entries else name
        if copy not in self._made:
            self._made[copy] = False  # for now, and for good if that is deep enough
            if entries <= MOST_ENTRIES:
                self._made[copy] = self._copy(schema, entries)
        return PREFIX + copy

    def _referred(self, ref: Any) -> tuple[Schema, str]:
        name = str(ref).removeprefix(PREFIX)
        if PREFIX + name != ref or name not in self._definitions or name in self._endless or not _NAME.fullmatch(name):
            raise _NotAlikeError
        return self._definitions[name], name

    def _copy(self, schema: Any, entries: int) -> Any:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise _NotAlikeError
        copy: dict[str, Any] = {}
        for keyword, value in cast("Schema", schema).items():
            match keyword:
                case "$ref":
                    copy[keyword] = self._reference(value, entries)
                case "properties":
                    copy[keyword] = {name: self._copy(inner, entries) for name, inner in value.items()}
                case "items" | "additionalProperties":
                    copy[keyword] = self._copy(value, entries)
                case "anyOf" | "allOf":
                    copy[keyword] = [self._copy(inner, entries) for inner in value]
                case "uniqueItems" if value is False or self._is_scalar(cast("Schema", schema).get("items")):
                    copy[keyword] = value
                case "not" if _is_constant(value):
                    copy[keyword] = value
                case "pattern" if isinstance(value, str) and _PATTERN.fullmatch(value):
                    copy[keyword] = value
                case _ if keyword in _PLAIN:
                    copy[keyword] = value
                case _ if keyword not in _ANNOTATIONS:
                    raise _NotAlikeError
                case _:
                    pass
        return copy

    def _is_scalar(self, schema: Any) -> bool:
        """Whether nothing but scalars can be valid: arrays in arrays are compared as deeply as they go."""
        while isinstance(schema, dict) and "$ref" in schema:
            schema, _ = self._referred(cast("Schema", schema)["$ref"])
        return isinstance(schema, dict) and cast("Schema", schema).get("type") in _SCALARS


def _is_constant(schema: Any) -> bool:
    """Whether a schema only compares members with constants, as what stands below `not` in a bundle does."""
    if not isinstance(schema, dict):
        return False
    for keyword, value in cast("Schema", schema).items():
        if keyword == "properties":
            if not all(map(_is_constant, value.values())):
                return False
        elif keyword not in ("enum", "const", "required"):
            return False
    return True
