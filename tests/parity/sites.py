"""What the mutation test shares: a site, the sites that every text has, and text with a piece replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from dsh_codegen.parity.found import Tags
from dsh_codegen.parity.model import Definition, Method, Side

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


class Sites:
    """Makes the sites of one side. `skipped` are definitions to leave out; changed text is read when a site is tried."""

    def __init__(self, side: Side, tags: Tags, skipped: Set[str]) -> None:
        self.side = side
        self.skipped = skipped
        self._tags = tags

    def definition(self, name: str) -> Iterator[Site]:
        """Another name for a definition, and the side without it."""
        others = {each: definition for each, definition in self.side.definitions.items() if each != name}
        renamed = replace(self.side, definitions={**others, OTHER: self.side.definitions[name]})
        removed = replace(self.side, definitions=others)
        both = one(name, "", "definition") | one(OTHER, "", "definition")
        yield Site(self.side.name, "definition", f"rename {name}", both, lambda: renamed)
        yield Site(self.side.name, "definition", f"remove {name}", one(name, "", "definition"), lambda: removed)

    def inside(self, category: str, what: str, name: str, path: str, read: Callable[[], Mapping[str, Definition]]) -> Site:
        """A change inside a definition; `read` reads it, changed. What changes a tag counts as `discriminator`."""

        def mutate() -> Side:
            return replace(self.side, definitions={**self.side.definitions, **read()})

        if category in ("type", "literals", "open") and (name, path[1:]) in self._tags:
            category = "discriminator"
        return Site(self.side.name, category, f"{name}{path}: {what}", one(name, path, category), mutate)

    def method(self, category: str, what: str, name: str, read: Callable[[], Mapping[str, Method] | None]) -> Site:
        """A change of the method map; `read` reads all of it, changed."""

        def mutate() -> Side:
            return replace(self.side, methods=read())

        return Site(self.side.name, category, f"{what} {name}", one(name, "", category), mutate)


def also_named(site: Site, *, path: str = "") -> Site:
    """A site that renames something: where it has the other name is named too, in the definition if there is a `path`."""
    ((definition, _, category),) = site.expected
    return replace(site, expected=site.expected | one(definition if path else OTHER, path, category))


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
