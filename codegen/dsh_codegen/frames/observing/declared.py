"""Definitions compiled into walks, and what their counters stand for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from ..tags import PREFIX, Definitions, Schema
from .arms import arm_name, tagged, types_of, untagged
from .walks import Constant, Member, Walk, constant, constants_of, counting, in_turn, items, members, one_of, recursive, text_of

Numbers: TypeAlias = tuple[tuple[str, int], ...]
"""Names, each with the number of its counter."""


@dataclass(frozen=True, slots=True)
class Place:
    """A definition, or a schema inside it, and the counters of what it declares.

    `label` is `""` for the definition itself, else the members that lead to the schema: `choices[].delta`. `number` counts the
    values that stood there.
    """

    label: str
    number: int
    members: Numbers
    tags: Numbers
    values: Numbers


@dataclass(slots=True)
class _Place:
    """A place while it is compiled; `pointer` leads to it."""

    ref: str
    pointer: str
    label: str
    number: int
    members: dict[str, int] = field(default_factory=dict[str, int])
    tags: dict[str, int] = field(default_factory=dict[str, int])
    values: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def worth_telling(self) -> bool:
        """Whether it is a definition, or declares names of its own."""
        return self.pointer == self.ref or bool(self.members or self.tags or self.values)


_COUNTED: Final = frozenset({"properties", "additionalProperties", "items", "anyOf", "allOf", "enum", "x-known"})
"""Keywords of schemas that declare names, or lead to some."""


class Declared:
    """Compiles definitions on demand. `quiet` ones tell of nothing undeclared; they use the same counters."""

    def __init__(self, definitions: Definitions) -> None:
        self.size = 0
        self._definitions: Final = definitions
        self._places: dict[str, _Place] = {}
        self._done: dict[tuple[str, bool], Walk | None] = {}

    def places(self) -> Iterator[tuple[str, tuple[Place, ...]]]:
        """What was reached, by definition."""
        for ref in self._definitions.by_ref:
            found = [each for each in self._places.values() if each.ref == ref and each.worth_telling]
            if found:
                yield (
                    ref.removeprefix(PREFIX),
                    tuple(
                        Place(
                            each.label,
                            each.number,
                            tuple(each.members.items()),
                            tuple(each.tags.items()),
                            tuple(each.values.items()),
                        )
                        for each in sorted(found, key=lambda each: each.label != "")
                    ),
                )

    def reference(self, ref: str, *, quiet: bool) -> Walk:
        """The walk of a definition."""
        key = (ref, quiet)
        if key not in self._done:
            self._done[key] = None
            place = self._place(ref, ref, "")
            self._done[key] = self._schema(self._definitions.by_ref[ref], place, quiet=quiet) or counting(place.number)
        found = self._done[key]
        return found if found is not None else recursive(lambda: cast("Walk", self._done[key]))

    def _number(self, known: dict[str, int], name: str) -> int:
        if name not in known:
            known[name] = self.size
            self.size += 1
        return known[name]

    def _place(self, ref: str, pointer: str, label: str) -> _Place:
        found = self._places.get(pointer)
        if found is None:
            found = self._places[pointer] = _Place(ref, pointer, label, self.size)
            self.size += 1
        return found

    def _inner(self, schema: Any, of: _Place, step: str, label: str, *, quiet: bool) -> Walk | None:
        """The walk of a schema inside another one; None if there is nothing to count in it."""
        if not isinstance(schema, dict):
            return None
        inner = cast("Schema", schema)
        if inner.get("$ref") in self._definitions.by_ref:
            return self.reference(inner["$ref"], quiet=quiet)
        if not any(
            word in inner for word in ("properties", "additionalProperties", "items", "anyOf", "allOf", "enum", "x-known")
        ):
            return None
        return self._schema(inner, self._place(of.ref, f"{of.pointer}/{step}", label), quiet=quiet)

    def _schema(self, schema: Schema, place: _Place, *, quiet: bool) -> Walk | None:
        if schema.get("$ref") in self._definitions.by_ref:  # a definition that is another one
            return in_turn([counting(place.number), self.reference(schema["$ref"], quiet=quiet)])
        if "x-lenient" in schema:
            return None
        if "anyOf" in schema:
            return self._union(schema, place, quiet=quiet)
        walks: list[Walk] = []
        if "allOf" in schema:  # an arm that gives way to another
            walks.append(counting(place.number))
            for index, part in enumerate(schema["allOf"]):
                inner = self._inner(part, place, f"allOf/{index}", place.label, quiet=quiet)
                walks += [] if inner is None else [inner]
            return in_turn(walks)
        if "enum" in schema or "x-known" in schema:
            known = {constant(value): self._number(place.values, text_of(value)) for value in constants_of(schema)}
            walks.append(one_of(place.number, known, None if quiet else place.pointer))
        if "properties" in schema or isinstance(schema.get("additionalProperties"), dict):
            walks.append(self._object(schema, place, quiet=quiet))
        if "items" in schema:
            item = self._inner(schema["items"], place, "items", f"{place.label}[]", quiet=quiet)
            walks.append(items(place.number, item))
        return in_turn(walks)

    def _object(self, schema: Schema, place: _Place, *, quiet: bool) -> Walk:
        known: dict[str, Member] = {}
        for name, inner in schema.get("properties", {}).items():
            step = f"properties/{name.replace('~', '~0').replace('/', '~1')}"
            label = f"{place.label}.{name}" if place.label else name
            known[name] = (self._number(place.members, name), self._inner(inner, place, step, label, quiet=quiet))
        rest: Any = schema.get("additionalProperties", False)
        others = self._inner(rest, place, "additionalProperties", f"{place.label}.*", quiet=quiet)
        closed = "properties" in schema and rest is False and not quiet
        return members(place.number, known, others, place.pointer if closed else None)

    def _union(self, union: Schema, place: _Place, *, quiet: bool) -> Walk:
        pointer = None if quiet else place.pointer
        arms = union["anyOf"]

        def arm(index: int, *, quiet: bool) -> Walk | None:
            return self._inner(arms[index], place, f"anyOf/{index}", place.label, quiet=quiet)

        if "x-tag" in union:
            table = self._definitions.table(union)
            tags = {constant(value): self._number(place.tags, text_of(value)) for value in table.known}
            opened = {index: arm(index, quiet=True) for index in table.unlisted}
            walks = [arm(index, quiet=quiet) for index in range(len(arms))]
            return tagged(place.number, table, tags, walks, opened, pointer)
        constants: dict[Constant, Member] = {}
        by_type: dict[type, Member] = {}
        for index, each in enumerate(arms):
            types = types_of(each, self._definitions)
            if types == (type(None),):
                continue
            found = (self._number(place.tags, arm_name(each)), arm(index, quiet=quiet))
            if "const" in self._definitions.resolve(each):
                constants.setdefault(constant(self._definitions.resolve(each)["const"]), found)
            else:
                by_type = {**dict.fromkeys(types, found), **by_type}
        return untagged(place.number, by_type, constants, pointer)
