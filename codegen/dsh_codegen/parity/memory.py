"""What need not be compared again. `compare` runs once and forgets; the mutation test compares almost the same sides often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import compress
from operator import is_not

from .difference import Direction
from .direction import Links, travel
from .found import Tags
from .model import Definition, Side
from .unions import reached_arms, tags_of


@dataclass(slots=True)
class Memory:
    """Generated sides that agreed. Comparing almost the same sides again asks only for definitions that are new objects."""

    agreed: dict[tuple[str, str], tuple[Mapping[str, Definition], Mapping[str, Definition]]] = field(
        default_factory=dict[tuple[str, str], tuple[Mapping[str, Definition], Mapping[str, Definition]]]
    )

    arms: dict[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])
    links: Links = field(default_factory=dict[int, tuple[Definition, set[str]]])

    last: tuple[Side, Tags, Mapping[str, frozenset[Direction]]] | None = None

    def tags(self, schema: Side) -> Tags:
        """The tags of the unions of the schema."""
        return self._of(schema)[0]

    def travel(self, schema: Side) -> Mapping[str, frozenset[Direction]]:
        """The ways of the definitions of the schema."""
        return self._of(schema)[1]

    def _of(self, schema: Side) -> tuple[Tags, Mapping[str, frozenset[Direction]]]:
        if self.last is None or self.last[0] is not schema:
            self.last = (schema, tags_of(schema.definitions), travel(schema, self.links))
        return self.last[1:]

    def touched(self, schema: Side, other: Side) -> list[str]:
        """The tagged unions that were not compared yet as they are, and with all their arms as they are."""
        tagged = [name for name, definition in schema.definitions.items() if definition.tag is not None]
        if (schema.name, other.name) not in self.agreed:
            return tagged
        known, theirs = self.agreed[schema.name, other.name]
        changed = _replaced(known, schema.definitions) | _replaced(theirs, other.definitions)
        return [name for name in tagged if name not in known or changed & reached_arms(name, known, self.arms)]

    def changed(self, left: Side, right: Side) -> list[str]:
        """The definitions of `left` that were not compared yet as they are."""
        mine, theirs = self.agreed.get((left.name, right.name), ({}, {}))
        changed = _replaced(mine, left.definitions) | _replaced(theirs, right.definitions)
        return [name for name in left.definitions if name in changed] if changed else []


def _replaced(before: Mapping[str, Definition], now: Mapping[str, Definition]) -> set[str]:
    """The names whose definition is another object, new and gone ones included."""
    if before is now:
        return set()
    if list(before) == list(now):
        return set(compress(now, map(is_not, before.values(), now.values())))
    return {name for name in {*before, *now} if before.get(name) is not now.get(name)}
