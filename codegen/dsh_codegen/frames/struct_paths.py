"""Dotted paths into decoded structs, with the names that members have on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, cast

from msgspec import UNSET, Raw, Struct

from .depth import at_any_depth
from .paths import EACH, steps
from .struct_scalars import takes_only
from .struct_types import ANY, Members, Typed, attribute


def getter(members: Mapping[type, Members], start: type, path: str) -> Callable[[Any], Any] | None:
    """A function that finds what stands at `path` in an instance of `start`; None if nothing can stand there.

    It gives `UNSET` where nothing does. With `[*]` in the path it gives the list of what there is.
    """
    ahead = steps(path)
    places, something = _places(members, start, ahead)
    if not places:
        return None
    if something and not any(place.free for place in places):
        return attrgetter(".".join(map(attribute, ahead)))
    return _every(ahead) if EACH in ahead else _only(ahead)


def always(members: Mapping[type, Members], start: type, path: str, classes: Collection[type]) -> bool:
    """Whether a scalar of one of `classes` stands at `path` in every instance of `start`."""
    places, something = _places(members, start, steps(path))
    return something and all(takes_only(place.type, classes) for place in places)


def _places(members: Mapping[type, Members], start: type, ahead: Sequence[str]) -> tuple[list[Typed], bool]:
    """What may stand at the end of a path, and whether something always does."""
    places: list[Typed] = [Typed(start, structs=(start,), others=False)]
    something = EACH not in ahead
    for step in ahead:
        found: list[Typed] = []
        for place in places:
            nexts = list(_next(members, place, step))
            something = something and not place.others and all(required for _, required in nexts)
            something = something and len(nexts) == len(place.structs)
            found += (typed for typed, _ in nexts)
        places = found
    return places, something


def _next(members: Mapping[type, Members], place: Typed, step: str) -> Iterator[tuple[Typed, bool]]:
    """What may stand one step further on, and whether it always does."""
    if place.free:
        yield ANY, False
    elif step == EACH:
        if place.items is not None:
            yield place.items, False
    else:
        if place.values is not None:
            yield place.values, False
        for struct in place.structs:
            if step in members[struct]:
                member = members[struct][step]
                yield member.typed, member.required


def _only(ahead: Sequence[str]) -> Callable[[Any], Any]:
    plan = [(step, attribute(step)) for step in ahead]

    def find(value: Any) -> Any:
        for name, attribute_ in plan:
            value = inner(value, name, attribute_)
        return read(value)

    return find


def _every(ahead: Sequence[str]) -> Callable[[Any], list[Any]]:
    plan = [(step, attribute(step)) for step in ahead]

    def find(value: Any) -> list[Any]:
        found: list[Any] = [value]
        for name, attribute_ in plan:
            if name == EACH:
                arrays: list[Any] = [each for each in map(read, found) if isinstance(each, list)]
                found = [item for each in arrays for item in each]
            else:
                found = [inner(each, name, attribute_) for each in found]
        return [read(each) for each in found if each is not UNSET]

    return find


def inner(value: Any, name: str, attribute_: str) -> Any:
    """The member of a value; `UNSET` if it has none, or is no object. In a struct it is that attribute."""
    value = read(value)
    if isinstance(value, Struct):
        return getattr(value, attribute_, UNSET)
    return cast("dict[str, Any]", value).get(name, UNSET) if isinstance(value, dict) else UNSET


def read(value: Any) -> Any:
    """The value that is left as it stands in the line; any other as it is."""
    return at_any_depth(json.loads, bytes(value)) if value.__class__ is Raw else value
