"""Functions that walk a value as the arm of a union that is meant; see `walks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..tags import PREFIX, Definitions, Schema, TagTable
from ..wording import Json
from .walks import Constant, Member, Tally, Walk, constant, text_of

_ANY: Final = (type(None), bool, int, float, str, list, dict)
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int, float),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
}


def types_of(schema: Any, definitions: Definitions) -> tuple[type, ...]:
    """The types of the values that a schema may take."""
    found = definitions.resolve(schema)
    if "x-tag" in found:
        return (dict,)
    if "const" in found or "enum" in found:
        return tuple({type(value): None for value in found.get("enum", [found.get("const")])})
    types: Any = found.get("type")
    if types is None:
        return _ANY
    return tuple(kind for name in ([types] if isinstance(types, str) else types) for kind in _TYPES[name])


def arm_name(arm: Schema) -> str:
    """What an arm without a tag is called: its definition, its constant or its type."""
    if "$ref" in arm:
        return str(arm["$ref"]).removeprefix(PREFIX)
    return text_of(arm["const"]) if "const" in arm else str(arm.get("type", "anything"))


def tagged(
    counter: int,
    table: TagTable,
    known: Mapping[Constant, int],
    arms: Sequence[Walk | None],
    opened: Mapping[int, Walk | None],
    pointer: str | None,
) -> Walk:
    """Walks an object as the arm that its tag tells.

    `known` numbers the tags. A tag that no arm owns is undeclared at `pointer` unless None; what an open arm takes is walked by
    what `opened` has for that arm.
    """
    direct: dict[str, tuple[int, Walk]] = {}
    for (_, value), number in known.items():
        candidates = table.candidates({table.tag: value})
        only = arms[candidates[0]] if len(candidates) == 1 else None
        if only is not None and isinstance(value, str):
            direct[value] = (number, only)
    tag = table.tag

    def walk(value: Json, tally: Tally) -> None:
        if not isinstance(value, dict):
            if table.always:
                choose(value, tally)
            return
        name = value.get(tag)
        found = direct.get(name) if isinstance(name, str) else None
        if found is None:
            choose(value, tally)
            return
        counts = tally.counts
        counts[counter] += 1
        counts[found[0]] += 1
        found[1](value, tally)

    def choose(value: Json, tally: Tally) -> None:
        """The general case: no tag, an unknown one, or one that several arms own."""
        name = value.get(tag) if isinstance(value, dict) else None
        scalar = isinstance(name, str | int | float)
        number = known.get(constant(name)) if scalar else None
        candidates = table.candidates(value)
        tally.counts[counter] += 1
        if number is not None:
            tally.counts[number] += 1
        elif scalar and (table.is_open(value) or not candidates) and pointer is not None:
            tally.tell("tag", pointer, tag, text_of(name))
        if candidates:
            chosen = table.choose(value, candidates)
            inner = opened[chosen] if table.is_open(value) else arms[chosen]
            if inner is not None:
                inner(value, tally)

    return walk


def untagged(counter: int, by_type: Mapping[type, Member], constants: Mapping[Constant, Member], pointer: str | None) -> Walk:
    """Walks a value as the arm that is this constant, or else the first arm of its type. Other constants are undeclared."""
    kinds: set[type] = {type(value) for _, value in constants}

    def walk(value: Json, tally: Tally) -> None:
        kind = type(value)
        found = constants.get(constant(value)) if kind in kinds else None
        if found is None:
            found = by_type.get(kind)
        if found is None:
            if kind in kinds and pointer is not None:
                tally.tell("value", pointer, "", text_of(value))
            return
        tally.counts[counter] += 1
        tally.counts[found[0]] += 1
        if found[1] is not None:
            found[1](value, tally)

    return walk
