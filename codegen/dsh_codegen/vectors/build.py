"""A protocol -> its vectors, in the order of the schema. The same protocol gives the same vectors, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..errors import CodegenError
from ..ir import Protocol, Ref
from .frames import Frames
from .row import Case, Vector, canonical, vector
from .samples import Samples
from .shapes import Shapes

if TYPE_CHECKING:
    from .row import Side


def build(protocol: Protocol) -> tuple[Vector, ...]:
    """The vectors of every definition, then of every method and of whole frames; none of them judged yet.

    Raises `CodegenError` for a type whose values can't be found, and for one that is both valid and not.
    """
    samples = Samples(protocol)
    shapes, frames = Shapes(samples), Frames(samples)
    found: list[Vector] = []
    for definition in protocol.definitions:
        found += _distinct(shapes.cases(definition.type), definition=definition.name)
    for method in protocol.methods:
        sides: tuple[tuple[Side, str | None], ...] = (("params", method.params), ("result", method.result))
        for side, name in sides:
            if name is not None:
                found += _distinct(shapes.cases(protocol.resolve(Ref(name))), method=method.name, side=side)
        found += _distinct(frames.cases(method), method=method.name, side="frame")
    if protocol.methods:
        found += _distinct(frames.common(), method="*", side="frame")
    seen: set[str] = set()
    for each in found:
        if each.id in seen:
            raise CodegenError(f"two vectors are called {each.id!r}; please report this")
        seen.add(each.id)
    return tuple(found)


def _distinct(cases: Iterable[Case], *, definition: str = "", method: str = "", side: Side = "") -> Iterator[Vector]:
    """The vectors of one target. A value comes once; where it makes two cases, the first has it."""
    seen: dict[str, Case] = {}
    taken: set[str] = set()
    for case in cases:
        before = seen.setdefault(canonical(case.value), case)
        if before is not case:
            if bool(before.reason) != bool(case.reason):
                raise CodegenError(f"{definition or method}: {case.value!r} is made valid and invalid; please report this")
            continue
        made = vector(case, definition=definition, method=method, side=side)
        # two cases may change the same place and look the same there
        number = 1
        ident = made.id
        while made.id in taken:
            number += 1
            made = _renamed(made, f"{ident}#{number}")
        taken.add(made.id)
        yield made


def _renamed(made: Vector, ident: str) -> Vector:
    from dataclasses import replace

    return replace(made, id=ident)
