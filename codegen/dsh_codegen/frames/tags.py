"""Which arm of a tagged union an object belongs to, decided by the value of its tag.

A table is read off the bundle once per union. It says which arms *can* hold an object with a given tag; every other arm is
known to refuse it, because it demands another constant there. So judging the candidates alone gives the verdict of judging all
arms, and the errors of the one that was meant. An arm that can't be shown to refuse anything is a candidate always.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from msgspec import Struct, field

from .wording import Json

Schema: TypeAlias = Mapping[str, Any]
"""A JSON Schema object of a bundle."""

TagKey: TypeAlias = tuple[type, Any]
"""A tag value, as JSON compares it."""

PREFIX: Final = "#/$defs/"


class Definitions:
    """The `$defs` of a bundle, by reference."""

    def __init__(self, bundle: Schema) -> None:
        self.by_ref: dict[str, Schema] = {PREFIX + name: schema for name, schema in bundle["$defs"].items()}
        self._tables: dict[int, TagTable] = {}

    def resolve(self, schema: Any) -> Schema:
        """Follow bare references to a schema that is none. What says nothing about a value (true, a cycle) is `{}`."""
        seen: set[Any] = set()
        while isinstance(schema, dict):
            found = cast("Schema", schema)
            ref = found.get("$ref")
            if ref not in self.by_ref:
                return found
            if ref in seen:
                break
            seen.add(ref)
            schema = self.by_ref[ref]
        return {}

    def table(self, union: Schema) -> TagTable:
        """The tag table of a union of this bundle that has `x-tag`; built once."""
        found = self._tables.get(id(union))
        if found is None:
            found = self._tables[id(union)] = tag_table(union, self)
        return found

    def required(self, definition: str) -> list[str]:
        """The members that an object of `#/$defs/<definition>` must have, as far as that is said in one place."""
        return list(self.resolve({"$ref": PREFIX + definition}).get("required", ()))


class _Owned(Struct, frozen=True):
    """The tags that an arm may have: `values`, and with `others` every string but `excluded`."""

    values: tuple[Any, ...] = ()
    others: bool = False
    excluded: tuple[Any, ...] = ()


class TagTable(Struct):
    """A union's arms by the value of `tag`. Arms are indexes into its `anyOf`.

    `known` lists the tag values that some arm owns, `retired` those that not even the open arm takes, `unlisted` the candidates
    for any other tag: the `open` arms and those that are candidates `always`.
    """

    tag: str
    known: list[Any] = field(default_factory=list[Any])
    retired: list[Any] = field(default_factory=list[Any])
    by_value: dict[TagKey, list[int]] = field(default_factory=dict[TagKey, list[int]])
    always: list[int] = field(default_factory=list[int])
    open: list[int] = field(default_factory=list[int])
    unlisted: list[int] = field(default_factory=list[int])
    members: dict[int, str] = field(default_factory=dict[int, str])

    def candidates(self, instance: Json) -> Sequence[int]:
        """The arms that may accept `instance`, in order."""
        if not isinstance(instance, dict) or self.tag not in instance:
            return self.always
        value = instance[self.tag]
        if isinstance(value, dict | list):
            return self.always
        found = self.by_value.get(_key(value))
        if found is not None:
            return found
        return self.unlisted if isinstance(value, str) else self.always

    def has_tag(self, instance: Json) -> bool:
        """Whether `instance` is an object that has the tag."""
        return isinstance(instance, dict) and self.tag in instance

    def is_open(self, instance: Json) -> bool:
        """Whether the object's tag is one that only an open arm takes."""
        if not self.open or not isinstance(instance, dict):
            return False
        value = instance.get(self.tag)
        return isinstance(value, str) and _key(value) not in self.by_value

    def choose(self, instance: Json, candidates: Sequence[int]) -> int:
        """Of several candidates the one that was meant: the arm told by a member that is there, else the first without one."""
        present = instance if isinstance(instance, dict) else {}
        for index in candidates:
            if index in self.members and self.members[index] in present:
                return index
        return next((index for index in candidates if index not in self.members), candidates[0])


def tag_table(union: Schema, definitions: Definitions) -> TagTable:
    """The table of a union that has `x-tag`."""
    table = TagTable(union["x-tag"])
    owned = [_owned(arm, table.tag, definitions, ()) for arm in union["anyOf"]]
    by_member: Mapping[str, str] = union.get("x-by-member", {})
    for index, (arm, tags) in enumerate(zip(union["anyOf"], owned, strict=True)):
        if arm.get("$ref", "").removeprefix(PREFIX) in by_member:
            table.members[index] = by_member[arm["$ref"].removeprefix(PREFIX)]
        if tags is None:
            table.always.append(index)
        elif tags.others:
            table.open.append(index)
    values = [value for tags in owned if tags is not None for value in tags.values]
    excluded = [value for tags in owned if tags is not None for value in tags.excluded]
    table.by_value = {_key(value): [] for value in (*values, *excluded)}
    for index, tags in enumerate(owned):
        for key in _keys(tags, table.by_value):
            table.by_value[key].append(index)
    table.known = list(dict.fromkeys(values))
    table.retired = [value for value in dict.fromkeys(excluded) if value not in table.known]
    table.unlisted = sorted({*table.open, *table.always})
    return table


def _key(value: Any) -> TagKey:
    """JSON equality as a key: 1 equals 1.0, but not true."""
    return (bool if isinstance(value, bool) else str if isinstance(value, str) else float, value)


def _keys(tags: _Owned | None, every: Iterable[TagKey]) -> Iterable[TagKey]:
    """Those of `every` key that an arm may have, each once."""
    if tags is None:
        return every
    own = dict.fromkeys(map(_key, tags.values))
    if not tags.others:
        return own
    return [key for key in every if key in own or (key[0] is str and key[1] not in tags.excluded)]


def _owned(schema: Any, tag: str, definitions: Definitions, path: tuple[int, ...]) -> _Owned | None:
    """The tags that objects of `schema` may have; None if that can't be told or it accepts anything but objects."""
    schema = definitions.resolve(schema)
    if id(schema) in path:
        return None
    path = (*path, id(schema))
    if "anyOf" in schema:
        return _owned_by_all([_owned(arm, tag, definitions, path) for arm in schema["anyOf"]])
    if "allOf" in schema:  # an arm that gives way: what it owns is what its narrowest part owns
        parts = (_owned(part, tag, definitions, path) for part in schema["allOf"])
        return next((part for part in parts if part is not None), None)
    if schema.get("type") != "object" or tag not in schema.get("required", ()):
        return None
    value = definitions.resolve(schema.get("properties", {}).get(tag))
    values: Sequence[Any] | None = [value["const"]] if "const" in value else value.get("enum")
    if values is not None:
        return _Owned(tuple(values)) if all(isinstance(each, str | int | float) for each in values) else None
    if value.get("type") == "string":
        excluded: Sequence[Any] = definitions.resolve(value.get("not")).get("enum", ())
        return _Owned(others=True, excluded=tuple(each for each in excluded if isinstance(each, str)))
    return None


def _owned_by_all(arms: Sequence[_Owned | None]) -> _Owned | None:
    known = [arm for arm in arms if arm is not None]
    if len(known) < len(arms):
        return None
    open_arms = [arm for arm in known if arm.others]
    values = tuple(value for arm in known for value in arm.values)
    excluded = set(open_arms[0].excluded) if open_arms else set[Any]()
    for arm in open_arms[1:]:
        excluded &= set(arm.excluded)
    excluded -= set(values)
    return _Owned(values, bool(open_arms), tuple(sorted(excluded)))
