"""How keys and values are found in a frame, however it was decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, Protocol, cast

from . import paths as parsed
from .paths import EACH, SCALARS, Key
from .track import KeyOrPart


class Look(Protocol):
    """Finds values in frames of one sort. Paths are those of `paths`."""

    def one(self, path: str) -> Callable[[Any], Any]:
        """What finds the value at a path without `[*]`, whatever it is."""
        ...

    def each(self, paths: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
        """The same for several paths."""
        ...

    def key(self, paths: tuple[str, ...], /) -> Callable[[Any], KeyOrPart] | None:
        """What finds the key at paths without `[*]`, at one path its part; None if it is not certain that there is one."""
        ...

    def values(self, path: str) -> Callable[[Any], Sequence[Any]]:
        """What finds the scalars at a path."""
        ...


class Parsed:
    """Finds values in parsed JSON."""

    one = staticmethod(parsed.one)
    values = staticmethod(parsed.values)

    def each(self, paths: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
        """Like `Look.each`."""
        return several([self.one(path) for path in paths])

    def key(self, _paths: tuple[str, ...], /) -> None:
        """Like `Look.key`: parsed JSON may be anything."""


def several(finders: Sequence[Callable[[Any], Any]]) -> Callable[[Any], tuple[Any, ...]]:
    """What finds a value with each of these."""
    return lambda frame: tuple([find(frame) for find in finders])


def the_key(paths: tuple[str, ...], look: Look) -> Callable[[Any], KeyOrPart | None] | None:
    """What finds the key in a frame, and None in one that has none. None for a function: there may be several, see
    `each_key`.
    """
    if not paths:
        return _no_parts
    if any(EACH in path for path in paths):
        return None
    sure = look.key(paths)
    if sure is not None:
        return sure
    if len(paths) == 1:
        one = look.one(paths[0])

        def find_one(frame: Any) -> KeyOrPart | None:
            found = one(frame)
            return cast("KeyOrPart", found) if found.__class__ in SCALARS else None

        return find_one
    each = look.each(paths)

    def find(frame: Any) -> KeyOrPart | None:
        found = each(frame)
        return found if SCALARS.issuperset(map(type, found)) else None

    return find


def each_key(paths: tuple[str, ...], look: Look) -> Callable[[Any], Iterable[KeyOrPart]]:
    """What finds the keys in a frame."""
    only = the_key(paths, look)
    if only is not None:
        return lambda frame: () if (key := only(frame)) is None else (key,)
    finders = [look.values(path) for path in paths]
    if len(finders) == 1:
        return finders[0]
    return lambda frame: product(*(finder(frame) for finder in finders))


def _no_parts(_frame: Any) -> Key:
    return ()
