"""What the mutation test shares: a site, and text with a piece replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from dsh_codegen.parity.model import Side

Place: TypeAlias = tuple[str, str, str]
"""Definition (or method), path, class of difference: what `parity` must name."""

OTHER: Final = "Mutant"
"""A name that no definition has."""


@dataclass(frozen=True, slots=True)
class Site:
    """One change of one text. `mutate` reads the changed text; `expected` are the only places that may be reported."""

    side: str
    category: str
    what: str
    expected: frozenset[Place]
    mutate: Callable[[], Side]


def one(definition: str, path: str, category: str) -> frozenset[Place]:
    """The only place."""
    return frozenset({(definition, path, category)})


def spliced(text: bytes, *edits: tuple[int, int, str]) -> str:
    """`text` with the bytes from start to end replaced; edits do not overlap."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new.encode() + text[end:]
    return text.decode()


def kinds(sites: Iterable[Site]) -> dict[str, dict[str, int]]:
    """How many sites there are, by class and side."""
    counted: dict[str, dict[str, int]] = {}
    for site in sites:
        row = counted.setdefault(site.category, {"schema": 0, "python": 0, "typescript": 0})
        row[site.side] += 1
    return counted
