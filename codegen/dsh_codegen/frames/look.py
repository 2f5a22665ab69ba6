"""How keys and values are found in a frame, however it was decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, Final, Protocol, cast

from . import paths as parsed
from .paths import EACH, SCALARS, Key
from .track import KeyOrPart


class Look(Protocol):
    """Finds values in frames of one sort. Paths are those of `paths`."""

    def one(self, path: str) -> Callable[[Any], Any]:
        """What finds the value at a path without `[*]`, whatever it is."""
        ...

    def values(self, path: str) -> Callable[[Any], Sequence[Any]]:
        """What finds the scalars at a path."""
        ...


class Parsed:
    """Finds values in parsed JSON."""

    one = staticmethod(parsed.one)
    values = staticmethod(parsed.values)


def each_key(paths: tuple[str, ...], look: Look) -> Callable[[Any], Iterable[KeyOrPart]]:
    """What finds the keys in a frame: mostly one."""
    if not paths:
        return _the_only_key
    if any(EACH in path for path in paths):
        finders = [look.values(path) for path in paths]
        if len(finders) == 1:
            return finders[0]
        return lambda frame: product(*(finder(frame) for finder in finders))
    ones = [look.one(path) for path in paths]
    if len(ones) == 1:
        (only,) = ones

        def find_one(frame: Any) -> Iterable[KeyOrPart]:
            found = only(frame)
            return cast("Iterable[KeyOrPart]", (found,)) if found.__class__ in SCALARS else ()

        return find_one

    def find(frame: Any) -> Iterable[KeyOrPart]:
        found = tuple([one(frame) for one in ones])
        return (found,) if all(part.__class__ in SCALARS for part in found) else ()

    return find


def _the_only_key(_frame: Any) -> Sequence[Key]:
    return _NO_PARTS


_NO_PARTS: Final[Sequence[Key]] = ((),)
