"""Which definitions refer to which, and which of them come back to themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .tags import PREFIX, Schema

_ELSEWHERE: Final = frozenset({"properties", "items", "additionalProperties"})


def references(schema: Any, *, here: bool = False) -> Iterator[str]:
    """The names of the definitions to which `schema` refers, some of them several times.

    With `here` only references for the same value count, and not those for its members and items.
    """
    node: Any = schema
    if isinstance(schema, dict):
        for keyword, inner in node.items():
            if keyword == "$ref" and isinstance(inner, str):
                yield inner.removeprefix(PREFIX)
            elif isinstance(inner, dict | list) and not (here and keyword in _ELSEWHERE):
                yield from references(inner, here=here)
    elif isinstance(schema, list):
        for inner in node:
            yield from references(inner, here=here)


def reached(schema: Any, definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """The definitions to which `schema` leads, by way of others, too."""
    found: dict[str, Schema] = {}
    ahead = list(references(schema))
    while ahead:
        name = ahead.pop()
        if name in definitions and name not in found:
            found[name] = definitions[name]
            ahead += references(definitions[name])
    return found


def recursive(definitions: Mapping[str, Schema]) -> frozenset[str]:
    """The definitions that contain themselves, and those that lie between two of these."""
    return _circles(definitions, here=False)


def endless(definitions: Mapping[str, Schema]) -> frozenset[str]:
    """The definitions that a validator may never get through: those that are their own alternative, and all with one inside."""
    found = set(_circles(definitions, here=True))
    ahead = {name: set(references(schema)) for name, schema in definitions.items()} if found else {}
    while more := {name for name, targets in ahead.items() if name not in found and not targets.isdisjoint(found)}:
        found |= more
    return frozenset(found)


def _circles(definitions: Mapping[str, Schema], *, here: bool) -> frozenset[str]:
    ahead = {
        name: {each for each in references(schema, here=here) if each in definitions} for name, schema in definitions.items()
    }
    behind: dict[str, set[str]] = {name: set() for name in definitions}
    for name, targets in ahead.items():
        for target in targets:
            behind[target].add(name)
    _trim(ahead, behind)
    _trim(behind, ahead)
    return frozenset(ahead)


def _trim(ahead: dict[str, set[str]], behind: dict[str, set[str]]) -> None:
    """Take away, again and again, what leads nowhere. Both maps have the same names."""
    ends = [name for name, targets in ahead.items() if not targets]
    while ends:
        name = ends.pop()
        del ahead[name]
        for source in behind.pop(name):
            ahead[source].discard(name)
            if not ahead[source]:
                ends.append(source)
