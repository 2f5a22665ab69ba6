"""What each place of a bundle takes: its schema by JSON type, as far as msgspec can say it.

A `Shape` never takes what the schema refuses, nor anything undeclared: members that no definition declares, tags that only an
open arm takes. What can't be said so strictly is left out: a JSON type, an arm of a union, an optional member. Where that
leaves nothing there is no shape. `members` is the walk that finds nothing in any value that a shape takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from .references import endless, recursive
from .struct_parts import ANYTHING, Array, JsonType, Map, Part, Record, Scalar, Shape
from .struct_scalars import KEYWORDS, constants, is_text, lengths, number, string
from .struct_unions import union
from .tags import PREFIX, Definitions, Schema

MOST_ENTRIES: Final = 8
"""How often a value may go through recursive definitions: each time has types of its own, so there is no endless one."""

# What says nothing about a value, or nothing that is not said elsewhere as well.
_ANNOTATIONS: Final = frozenset(
    "title description $comment default examples deprecated readOnly writeOnly format contentEncoding contentMediaType "
    "x-module x-known x-open x-abstract x-lenient".split()
)
_TYPES: Final = frozenset(KEYWORDS)
_NESTED: Final = frozenset({"properties", "items", "additionalProperties"})


class Shapes:
    """The shapes of one bundle, each made once and on demand."""

    def __init__(self, bundle: Schema) -> None:
        self.definitions: Final = Definitions(bundle)
        self._recursive: Final = recursive(bundle["$defs"])
        self._endless: Final = endless(bundle["$defs"])
        self._found: dict[tuple[str, int], Shape | None] = {}
        self._flat: dict[str, Shape | None] = {}

    def definition(self, name: str, entries: int = 0) -> Shape | None:
        """What `#/$defs/<name>` takes, at a place to which `entries` recursive definitions lead."""
        entries = entries + 1 if name in self._recursive else 0
        schema = self.definitions.by_ref.get(PREFIX + name)
        if schema is None or entries > MOST_ENTRIES or name in self._endless:
            return None
        key = name, entries
        if key not in self._found:
            self._found[key] = self.shape(schema, entries)
        return self._found[key]

    def shape(self, schema: Any, entries: int) -> Shape | None:
        """What `schema` takes."""
        if not isinstance(schema, dict):
            return ANYTHING if schema is True else None
        schema = cast("Schema", schema)
        keywords = schema.keys() - _ANNOTATIONS
        if not keywords:
            return ANYTHING
        if keywords == {"$ref"} and isinstance(schema["$ref"], str):
            return self.definition(schema["$ref"].removeprefix(PREFIX), entries)
        if "x-lenient" in schema:
            return None
        if "anyOf" in keywords:
            return _shape(union(self, schema, entries)) if keywords <= {"anyOf", "x-tag", "x-by-member"} else None
        if not keywords.isdisjoint(_NESTED):
            return _shape(dict(self._plain(schema, keywords, entries)))
        key = repr(sorted((keyword, schema[keyword]) for keyword in keywords))  # a string, a count: most are alike
        if key not in self._flat:
            self._flat[key] = _shape(dict(self._plain(schema, keywords, entries)))
        return self._flat[key]

    def parts(self, schema: Any, entries: int) -> Iterable[tuple[JsonType, Part]]:
        """What `schema` takes, by JSON type; nothing if it takes any JSON."""
        shape = self.shape(schema, entries)
        return () if shape is None else shape.parts.items()

    def _plain(self, schema: Schema, keywords: set[str], entries: int) -> Iterator[tuple[JsonType, Part]]:
        named: Any = schema.get("type", ())
        types: frozenset[str] = frozenset([named] if isinstance(named, str) else named)
        if not types <= _TYPES:
            return
        if keywords - {"type"} in ({"const"}, {"enum"}):
            values: Any = [schema["const"]] if "const" in schema else schema["enum"]
            yield from constants(values, types or _TYPES).items()
            return
        if not keywords <= {"type"}.union(*(KEYWORDS[each] for each in types)):
            return
        for name in sorted(types - {"integer"} if "number" in types else types):
            part = self._part(name, schema, entries)
            if part is not None:
                yield cast("JsonType", "number" if name == "integer" else name), part

    def _part(self, name: str, schema: Schema, entries: int) -> Part | None:
        match name:
            case "null":
                return Scalar(None)
            case "boolean":
                return Scalar(bool)
            case "integer" | "number":
                return number(schema, integer=name == "integer")
            case "string":
                return string(schema)
            case "array":
                limits = lengths(schema, "minItems", "maxItems")
                items = self.shape(schema.get("items", True), entries)
                unique: Any = schema.get("uniqueItems", False)
                return None if limits is None or items is None or type(unique) is not bool else Array(items, limits, unique)
            case _:
                return self._object(schema, entries)

    def _object(self, schema: Schema, entries: int) -> Part | None:
        properties: Any = schema.get("properties")
        rest: Any = schema.get("additionalProperties", True)
        required: Any = schema.get("required", [])
        if properties is not None or rest is False:
            members: Schema = properties or {}
            understood = all(member in members for member in required) and all(map(is_text, members))
            return Record(schema, entries) if understood else None
        values = self.shape(rest, entries)
        return None if values is None or required else Map(values)


def _shape(parts: Mapping[JsonType, Part]) -> Shape | None:
    return Shape(parts) if parts else None
