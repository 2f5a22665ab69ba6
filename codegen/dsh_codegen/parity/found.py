"""What comparing two sides yields: a place, a class of difference, what either side says. Whom it harms is not known yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from .difference import Relation
from .model import Place

MISSING: Final = "missing"


@dataclass(frozen=True, slots=True)
class At:
    """A place in a definition; `tag` is the member that tells the arms of the union there apart, if it is one."""

    definition: str
    path: str = ""
    tag: str | None = None

    def __truediv__(self, step: str) -> At:
        return At(self.definition, self.path + step)


@dataclass(frozen=True, slots=True)
class Found:
    """One difference between a left and a right side; `relation` is how the right one stands to the left one."""

    at: At
    category: str
    relation: Relation
    left: str
    right: str
    places: tuple[Place | None, Place | None] = (None, None)


Tags: TypeAlias = frozenset[tuple[str, str]]
"""Definition and member of every tag."""


def placed(found: Found, places: tuple[Place | None, Place | None]) -> Found:
    """With the places of what is around it, where it has none of its own."""
    return replace(found, places=(found.places[0] or places[0], found.places[1] or places[1]))
