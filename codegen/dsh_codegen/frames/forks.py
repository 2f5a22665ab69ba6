"""What matters of a definition for one value: where a tag tells the arm of a union, the other arms are known to refuse it.

The events of a session are one definition with dozens of arms. A log has few of them, and one line has one, so most of the arms
need never be compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from msgspec import Struct

from .tags import PREFIX, Definitions, Schema, TagTable
from .wording import Json

Arms: TypeAlias = tuple[int, ...]
"""Some arms of a union: indexes into its `anyOf`."""


class Fork(Struct, frozen=True):
    """A definition that is a tagged union, or an object with one in `member`."""

    schema: Schema
    member: str | None
    union: Schema
    table: TagTable

    def arms(self, value: Json) -> Arms:
        """The arms that may accept a value, or what it has in the member; all others refuse that."""
        if self.member is not None:
            value = value.get(self.member) if isinstance(value, dict) else None
        return tuple(self.table.candidates(value))

    def narrowed(self, arms: Arms) -> Schema:
        """The definition with these arms alone. It accepts nothing that the whole one refuses."""
        union = {**self.union, "anyOf": [self.union["anyOf"][index] for index in arms] or [False]}
        if self.member is None:
            return union
        return {**self.schema, "properties": {**self.schema["properties"], self.member: union}}


def find_fork(definitions: Definitions, definition: str) -> Fork | None:
    """Where a tag divides `#/$defs/<definition>`: at the largest union that is told by one, if there is any."""
    schema = _bare(definitions, {"$ref": PREFIX + definition})
    if _is_tagged(schema):
        return Fork(schema, None, schema, definitions.table(schema))
    unions = {name: _bare(definitions, inner) for name, inner in _properties(schema).items()}
    tagged = [name for name, union in unions.items() if _is_tagged(union)]
    if not tagged:
        return None
    member = max(tagged, key=lambda name: len(unions[name]["anyOf"]))
    return Fork(schema, member, unions[member], definitions.table(unions[member]))


def _is_tagged(schema: Schema) -> bool:
    return "x-tag" in schema and "anyOf" in schema


def _bare(definitions: Definitions, schema: Any) -> Schema:
    """What a schema refers to, if it does nothing else; `{}` for what is no object."""
    seen: set[str] = set()
    while isinstance(schema, dict):
        found = cast("Schema", schema)
        ref = found.get("$ref")
        if len(found) > 1 or ref not in definitions.by_ref or ref in seen:
            return found
        seen.add(ref)
        schema = definitions.by_ref[ref]
    return {}


def _properties(schema: Schema) -> Mapping[str, Any]:
    found = schema.get("properties")
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}
