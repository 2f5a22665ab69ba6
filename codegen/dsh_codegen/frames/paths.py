"""Dotted paths into frames: `params.event.data.inserted[*].id`. A `[*]` stands for each item of an array.

A path leads to scalars; what is missing, or of another type on the way, is nowhere, and that is no error: whoever asks looks
at frames of any shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Final, TypeAlias

from .wording import Json

Scalar: TypeAlias = "str | int | float | bool"
SCALARS: Final = frozenset({str, int, float, bool})
"""The classes of scalars."""
Key: TypeAlias = tuple[Scalar, ...]
"""The values of several paths, taken together."""

EACH: Final = "[*]"


@cache
def steps(path: str) -> tuple[str, ...]:
    """A path in steps; `[*]` is one of its own."""
    return tuple(step for part in path.split(".") for step in _split(part))


def _split(part: str) -> Iterator[str]:
    name = part.removesuffix(EACH)
    yield name
    if name != part:
        yield EACH


def values(path: str) -> Callable[[Json], list[Scalar]]:
    """A function that finds the scalars at a path in a frame."""
    ahead = steps(path)

    def find(frame: Json) -> list[Scalar]:
        found: list[Json] = [frame]
        for step in ahead:
            if step == EACH:
                found = [item for each in found if isinstance(each, list) for item in each]
            else:
                found = [each[step] for each in found if isinstance(each, dict) and step in each]
        return [each for each in found if isinstance(each, str | int | float)]

    return find


def one(path: str) -> Callable[[Json], Json]:
    """A function that finds the value at a path without `[*]`, whatever it is; None where there is none."""
    ahead = steps(path)

    def find(frame: Json) -> Json:
        for step in ahead:
            if not isinstance(frame, dict):
                return None
            frame = frame.get(step)
        return frame

    return find


_ONE: Final[list[Key]] = [()]


def everything(_frame: object) -> list[Key]:
    """The one key of what has no path."""
    return _ONE


def keys(paths: Sequence[str]) -> Callable[[Json], list[Key]]:
    """A function that finds the compound keys at several paths in a frame: one, if no path has `[*]`."""
    if not paths:
        return everything
    finders = [values(path) for path in paths]

    def find(frame: Json) -> list[Key]:
        return list(product(*(finder(frame) for finder in finders)))

    return find
