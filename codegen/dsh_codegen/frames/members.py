"""What a value carries that its definition does not declare: members, and tags that only an open arm takes.

Readers let both pass, so they break nothing; `--strict` reports the members, and the choice of a revision counts both. The
walk follows the definitions as the judge does, by tag. Places that echo what another party sent (`x-lenient`), free JSON, and
objects of unknown tags declare nothing, so nothing in them is undeclared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from msgspec import Struct

from .tags import PREFIX, Definitions, Schema
from .wording import Json, Path

_TYPES: Final[Mapping[type, frozenset[str]]] = {
    type(None): frozenset({"null"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"integer", "number"}),
    str: frozenset({"string"}),
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
}


class Undeclared(Struct, frozen=True):
    """A member, or with `tag` the value of a tag, that the schema does not know. `declared`: the members it knows there."""

    path: Path
    schema: str | None
    declared: tuple[str, ...] = ()
    tag: bool = False


def undeclared(definitions: Definitions, definition: str, value: Json, at: Path) -> Iterator[Undeclared]:
    """What `value`, at `at` in its frame, carries beyond `#/$defs/<definition>`. Raises `RecursionError` if too deep."""
    yield from _Walk(definitions).walk({"$ref": PREFIX + definition}, value, at, None)


class _Walk:
    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._by_ref = definitions.by_ref

    def walk(self, schema: Any, value: Json, path: Path, ref: str | None) -> Iterator[Undeclared]:
        """`ref` names the definition that `schema` is, None for a schema inside one."""
        while isinstance(schema, dict) and (target := cast("Schema", schema).get("$ref")) in self._by_ref:
            ref = str(target)
            schema = self._by_ref[ref]
        schema = self._definitions.resolve(schema)
        if "x-lenient" in schema:
            return
        if "anyOf" in schema:
            yield from self._union(schema, value, path, ref)
        elif "allOf" in schema:  # an arm that gives way to another: the reference is what it is
            for part in schema["allOf"]:
                yield from self.walk(part, value, path, None)
        elif isinstance(value, dict):
            yield from self._object(schema, value, path, ref)
        elif isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                yield from self.walk(schema["items"], item, (*path, index), None)

    def _union(self, union: Schema, value: Json, path: Path, ref: str | None) -> Iterator[Undeclared]:
        arms = union["anyOf"]
        if "x-tag" in union:
            table = self._definitions.table(union)
            if table.is_open(value):
                yield Undeclared((*path, table.tag), ref, tag=True)
                return
            candidates = table.candidates(value)
            if candidates:
                yield from self.walk(arms[table.choose(value, candidates)], value, path, None)
            return
        for arm in arms:
            if self._fits(arm, value):
                yield from self.walk(arm, value, path, None)
                return

    def _fits(self, schema: Any, value: Json) -> bool:
        """Whether an arm takes the JSON type of `value`."""
        schema = self._definitions.resolve(schema)
        if "x-tag" in schema:
            return isinstance(value, dict)
        types: Any = schema.get("type", ())
        return not _TYPES[type(value)].isdisjoint((types,) if isinstance(types, str) else types)

    def _object(self, schema: Schema, value: dict[str, Json], path: Path, ref: str | None) -> Iterator[Undeclared]:
        properties: Schema | None = schema.get("properties")
        rest: Any = schema.get("additionalProperties")
        for member, inner in value.items():
            if properties is not None and member in properties:
                yield from self.walk(properties[member], inner, (*path, member), None)
            elif isinstance(rest, dict):
                yield from self.walk(rest, inner, (*path, member), None)
            elif properties is not None and rest is None:
                yield Undeclared((*path, member), ref and f"{ref}/properties", tuple(properties))
