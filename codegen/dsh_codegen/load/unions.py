"""Unions, once every definition is known: flatten them, prove that their arms exclude each other, and find out by what.

Arms must differ in JSON type; object arms must own disjoint values of one required tag. Only then can a codec choose without
trial, and only then does `anyOf` mean what `oneOf` means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import SchemaError
from ..ir import (
    Arm,
    Array,
    Definition,
    Literals,
    Map,
    Member,
    Record,
    Ref,
    Scalar,
    String,
    Type,
    Union,
    kinds,
)
from .files import Place


@dataclass(frozen=True, slots=True)
class DraftUnion(Union):
    """A union as the schema wrote it, before its arms could be looked up: `arms` and `tag` are still empty."""

    place: Place = field(default_factory=lambda: Place("", (), None))


def draft_union(place: Place, declared: tuple[Type, ...]) -> DraftUnion:
    """The union at `place`, to be decided by `finish_unions`."""
    return DraftUnion(declared, (), None, place)


def gives_way(arm: Place) -> bool:
    """Whether an arm is written as bundles write one that gives way (x-by-member); `_check_giving_way` reads the rest."""
    if set(arm.schema) != {"allOf"}:
        return False
    first, *rest = (set(arm.child("allOf", index).schema) for index in range(len(arm.schema["allOf"])))
    return bool(rest) and first == {"$ref"} and all(keywords == {"not"} for keywords in rest)


def finish_unions(definitions: Mapping[str, Definition]) -> tuple[Definition, ...]:
    """The definitions with every union decided. Raises `SchemaError` for arms that can't be told apart."""
    finisher = _Finisher(definitions)
    finished = [replace(definition, type=finisher.finish(definition.type)) for definition in definitions.values()]
    return tuple(finisher.close_open_arm(definition) for definition in finished)


class _Finisher:
    def __init__(self, definitions: Mapping[str, Definition]) -> None:
        self.definitions = definitions
        # open arm -> its tag member and the tags that other arms of its unions own
        self.left_to_others: dict[str, tuple[str, tuple[str, ...], Place]] = {}

    def finish(self, node: Type) -> Type:
        """`node` with every draft in it decided."""
        match node:
            case DraftUnion():
                return self._decide(node)
            case Array():
                return replace(node, items=self.finish(node.items))
            case Map():
                return Map(self.finish(node.values))
            case Record():
                members = tuple(replace(member, type=self.finish(member.type)) for member in node.members)
                return replace(node, members=members)
            case _:
                return node

    def close_open_arm(self, definition: Definition) -> Definition:
        """An open arm refuses the tags that other arms own."""
        if definition.name not in self.left_to_others or not isinstance(definition.type, Record):
            return definition
        tag, others, _ = self.left_to_others[definition.name]
        members = tuple(_exclude(member, others) if member.wire == tag else member for member in definition.type.members)
        return replace(definition, type=replace(definition.type, members=members))

    def _decide(self, draft: DraftUnion) -> Union:
        place = draft.place
        leaves = list(self._leaves(draft, ()))
        objects = [leaf for leaf in leaves if isinstance(self._resolve(leaf), (Record, Map))]
        others = [leaf for leaf in leaves if leaf not in objects]
        self._check_kinds(others, place, {"object"} if objects else set())
        self._check_once(draft)
        declared = tuple(self.finish(arm) for arm in draft.declared)
        if len(objects) < 2:
            _check_giving_way(None, (), place)
            arms = tuple(Arm(self.finish(leaf)) for leaf in leaves)
            return Union(declared, arms)
        tag, arms = self._tagged(objects, draft)
        return Union(declared, (*arms, *(Arm(self.finish(leaf)) for leaf in others)), tag)

    def _leaves(self, node: Type, path: tuple[str, ...]) -> Iterator[Type]:
        """The arms of a union with the unions among them taken apart; each leaf once."""
        match node:
            case DraftUnion():
                seen: list[Type] = []
                for arm in node.declared:
                    for leaf in self._leaves(arm, path):
                        if leaf not in seen:
                            seen.append(leaf)
                            yield leaf
            case Ref(name):
                if name in path:
                    raise SchemaError(self.definitions[path[0]].pointer, f"the union {path[0]!r} contains itself")
                target = self.definitions[name].type
                if isinstance(target, (DraftUnion, Ref)):
                    yield from self._leaves(target, (*path, name))
                else:
                    yield node
            case _:
                yield node

    def _is_open(self, node: Type) -> bool:
        target = self._resolve(node)
        if not isinstance(target, DraftUnion):
            return False
        return target.place.value.get("x-open") is True or any(self._is_open(arm) for arm in target.declared)

    def _resolve(self, node: Type) -> Type:
        while isinstance(node, Ref):
            node = self.definitions[node.name].type
        return node

    def _check_kinds(self, leaves: list[Type], place: Place, seen: set[str]) -> None:
        for leaf in leaves:
            for kind in kinds(self._resolve(leaf)):
                if kind in seen:
                    raise place.refuse(f"two arms take a JSON {kind}, and nothing tells them apart; merge them")
                seen.add(kind)

    def _check_once(self, draft: DraftUnion) -> None:
        """An arm that `oneOf` reaches twice never matches exactly once."""
        if "oneOf" not in draft.place.value:
            return
        seen: list[Type] = []
        for arm in draft.declared:
            leaves = list(self._leaves(arm, ()))
            if any(leaf in seen for leaf in leaves):
                raise draft.place.child("oneOf").refuse(
                    "two arms admit the same values, so 'oneOf' would refuse these; use 'anyOf'"
                )
            seen += leaves

    def _tagged(self, leaves: list[Type], draft: DraftUnion) -> tuple[str, tuple[Arm, ...]]:
        place = draft.place
        refs = [leaf for leaf in leaves if isinstance(leaf, Ref)]
        records = {ref.name: record for ref in refs if isinstance(record := self._resolve(ref), Record)}
        if len(records) != len(leaves):
            raise place.refuse("two arms take a JSON object, and one of them is a map; nothing tells them apart")
        options: dict[str, Any] = place.value
        tag = self._tag(records, draft)
        by_member: dict[str, str] = options.get("x-by-member", {})
        for name in by_member.keys() - records.keys():
            raise place.child("x-by-member").refuse(f"{name!r} is no arm of this union")
        arms: list[Arm] = []
        for name, record in records.items():
            member = record.member(tag)
            tags = _tags(member)
            if member is None or tags is None:  # _tag saw to it that this is the open arm
                arms.append(Arm(Ref(name), open=True))
            else:
                arms.append(Arm(Ref(name), tags, by_member.get(name)))
        self._check_disjoint(arms, records, place)
        _check_giving_way(tag, tuple(arms), place)
        self._note_open(arms, tag, place)
        return tag, tuple(arms)

    def _tag(self, records: Mapping[str, Record], draft: DraftUnion) -> str:
        """The required member whose values tell the arms apart; at most one arm may take any string, if the union is open."""
        place = draft.place
        options: dict[str, Any] = place.value
        is_open = self._is_open(draft)
        named = options.get("x-tag")
        first = next(iter(records.values()))
        wires = [named] if named else [member.wire for member in first.members]
        shared = options.get("x-by-member", {})
        found: list[str] = []
        for wire in wires:
            owned = [_tags(record.member(wire)) for record in records.values()]
            without = [name for name, tags in zip(records, owned, strict=True) if tags is None]
            exact = [tags for name, tags in zip(records, owned, strict=True) if tags is not None and name not in shared]
            flat = [tag for tags in exact for tag in tags]
            untagged_ok = not without or (is_open and len(without) == 1 and _is_string(records[without[0]].member(wire)))
            if flat and untagged_ok and len(set(flat)) == len(flat):
                found.append(wire)
        if not found:
            names = ", ".join(records)
            what = f"the member {named!r}" if named else "no required member"
            raise place.refuse(
                f"{what} has values that tell the arms {names} apart; give each its own 'const' of one required member"
            )
        if len(found) > 1:
            raise place.refuse(f"the arms differ in several members ({', '.join(found)}); name the tag with 'x-tag'")
        return found[0]

    def _check_disjoint(self, arms: list[Arm], records: Mapping[str, Record], place: Place) -> None:
        for arm in arms:
            if arm.member is None:
                continue
            name = arm.type.name if isinstance(arm.type, Ref) else ""
            chosen_by = records[name].member(arm.member)
            if chosen_by is None or not chosen_by.required:
                raise place.child("x-by-member").refuse(f"{arm.member!r} is not a required member of {name!r}")
            rivals = [other for other in arms if other is not arm and other.member and set(other.tags) & set(arm.tags)]
            if rivals:
                raise place.child("x-by-member").refuse(
                    "more than two arms share a tag value; only one of two can be chosen by member"
                )

    def _note_open(self, arms: list[Arm], tag: str, place: Place) -> None:
        for arm in arms:
            if arm.open and isinstance(arm.type, Ref):
                tags = [value for other in arms for value in other.tags]
                if not all(isinstance(value, str) for value in tags):
                    raise place.refuse(f"the tags of an open union are strings, as the open arm's own {tag!r} is")
                known = tuple(dict.fromkeys(str(value) for value in tags))
                before = self.left_to_others.get(arm.type.name)
                if before is not None and (before[0], set(before[1])) != (tag, set(known)):
                    raise place.refuse(
                        f"its open arm {arm.type.name!r} also serves {before[2]}, which knows other tags; give each its own"
                    )
                self.left_to_others[arm.type.name] = before or (tag, known, place)


def _check_giving_way(tag: str | None, arms: tuple[Arm, ...], place: Place) -> None:
    """An arm that gives way must exclude exactly what the arms chosen by a member take."""
    shared = [arm for arm in arms if arm.member is not None]
    rules = [{"not": {"properties": {tag: {"enum": list(arm.tags)}}, "required": [tag, arm.member]}} for arm in shared]
    for arm in (place.child("anyOf", index) for index in range(len(place.schema.get("anyOf", ())))):
        if gives_way(arm) and arm.schema["allOf"][1:] != rules:
            raise arm.child("allOf").refuse("'not' is read here only as a bundle writes it beside 'x-by-member'")


def _tags(member: Member | None) -> tuple[Scalar, ...] | None:
    """The values of a tag, or None where the member is no tag."""
    if member is None or not member.required or not isinstance(member.type, Literals):
        return None
    return member.type.values


def _is_string(member: Member | None) -> bool:
    return member is not None and member.required and isinstance(member.type, String)


def _exclude(member: Member, others: tuple[str, ...]) -> Member:
    if not isinstance(member.type, String):
        return member
    retired = [value for value in member.type.excluded if value not in others]
    return replace(member, type=replace(member.type, excluded=(*others, *retired)))
