"""How much of a schema the vectors pin down: for every mutant, whether a vector's verdict changes.

A definition's mutants are judged by its own vectors alone, the root's by those of whole frames. That is what makes the score
quick, and it is the stricter measure: what only the vectors of another definition notice counts as a survivor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

from ..emit.bundle import Schema
from ..ir import Protocol
from ..load.files import pointer
from .equivalent import Equivalence, Site, equivalence
from .mutate import Mutant, mutants
from .prove import ROOT, Judge, target
from .row import Vector


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no vector notices. `equivalent` is the proof that none could, if there is one."""

    pointer: str
    operator: str
    equivalent: Equivalence | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """The result of one revision. `sites` counts all mutants, equivalent ones included."""

    revision: str
    sites: int
    survivors: tuple[Survivor, ...]

    @property
    def equivalent(self) -> tuple[Survivor, ...]:
        """Survivors with a proof."""
        return tuple(each for each in self.survivors if each.equivalent is not None)

    @property
    def unexplained(self) -> tuple[Survivor, ...]:
        """Survivors without one."""
        return tuple(each for each in self.survivors if each.equivalent is None)

    @property
    def killed(self) -> int:
        """How many mutants a vector noticed."""
        return self.sites - len(self.survivors)

    @property
    def share(self) -> float:
        """The share that was killed, 0 to 1, of the mutants that can be: equivalent ones are left out."""
        possible = self.sites - len(self.equivalent)
        return self.killed / possible if possible else 1.0


def score(protocol: Protocol, bundle: Schema, vectors: Iterable[Vector]) -> Score:
    """Judge every mutant of `bundle`, whose own verdicts `vectors` have been proven to be."""
    judge = Judge(bundle)
    values: dict[str, list[Vector]] = {}
    for vector in vectors:
        values.setdefault(target(protocol, vector), []).append(vector)
    places = [(f"/$defs{pointer((name,))}", name, schema) for name, schema in bundle["$defs"].items()]
    if "anyOf" in bundle:
        places.append(("", ROOT, {"anyOf": bundle["anyOf"]}))
    sites, survivors = 0, list[Survivor]()
    for base, name, schema in places:
        scorer = _Scorer(judge, name, schema, values.get(name, ()))
        for mutant in mutants(schema, scorer.takes_null):
            sites += 1
            if not scorer.is_killed(mutant):
                survivors.append(Survivor(base + mutant.pointer, mutant.operator, equivalence(Site(judge, schema, mutant))))
    return Score(protocol.revision, sites, tuple(survivors))


class _Scorer:
    """Judges the mutants of one definition (or `ROOT`) by its own vectors."""

    def __init__(self, judge: Judge, name: str, schema: Schema, vectors: Sequence[Vector]) -> None:
        self.judge: Final = judge
        self.name: Final = name
        self.schema: Final = schema
        self.vectors: Final = vectors
        self._by_arm: Final[dict[int, list[bool]]] = {}

    def takes_null(self, schema: Any) -> bool:
        """Whether a part of the schema takes null."""
        verdict: bool = self.judge.part(schema).is_valid(None)
        return verdict

    def is_killed(self, mutant: Mutant) -> bool:
        """Whether a vector's verdict changes."""
        match mutant.path:
            case ("anyOf", int(index), *_) if not self._is_recursive:
                return self._changes_arm(mutant, index)
            case _:
                validator = self.judge.changed(self.name, mutant.schema)
                likely = sorted(self.vectors, key=lambda each: _likeliness(each, mutant), reverse=True)
                return any(validator.is_valid(each.value) != each.valid for each in likely)

    def _changes_arm(self, mutant: Mutant, index: int) -> bool:
        """Whether one arm's own verdict on a vector changes, and no other arm makes up for it."""
        arms = mutant.schema["anyOf"]
        after = self.judge.part(arms[index] if len(arms) == len(self.schema["anyOf"]) else False)
        before = self._verdicts(index)
        places = range(len(self.vectors))
        order = sorted(places, key=lambda at: (before[at], _likeliness(self.vectors[at], mutant)), reverse=True)
        for at in order:
            if after.is_valid(self.vectors[at].value) != before[at]:
                others = (self._verdicts(other)[at] for other in range(len(self.schema["anyOf"])) if other != index)
                if not before[at] or not any(others):
                    return True
        return False

    def _verdicts(self, index: int) -> list[bool]:
        """The verdict of one arm on every vector."""
        if index not in self._by_arm:
            validator = self.judge.part(self.schema["anyOf"][index])
            self._by_arm[index] = [validator.is_valid(each.value) for each in self.vectors]
        return self._by_arm[index]

    @cached_property
    def _is_recursive(self) -> bool:
        """Whether the definition contains itself, so that its arms can't be judged apart from it."""
        seen: set[str] = set()
        waiting = list(_references(self.schema))
        while waiting:
            reference = waiting.pop()
            if reference not in seen:
                seen.add(reference)
                waiting += _references(self.judge.definition(reference))
        return any(self.judge.definition(reference) is self.schema for reference in seen)


def _references(schema: Any) -> Iterator[str]:
    """The references in a schema, at any depth."""
    if isinstance(schema, list):
        for part in cast("list[object]", schema):
            yield from _references(part)
    elif isinstance(schema, dict):
        for key, part in cast("dict[str, Any]", schema).items():
            if key == "$ref" and isinstance(part, str):
                yield part
            else:
                yield from _references(part)


def _likeliness(vector: Vector, mutant: Mutant) -> tuple[int, bool]:
    """How likely a vector notices a mutant: it is about the same members, and of the side that the change lets over."""
    site = mutant.path
    names = [key for at, key in enumerate(site) if at and site[at - 1] == "properties"]
    loosens = mutant.operator in {"drop", "open", "null on"}
    return sum(1 for name in names if f".{name}" in vector.path), vector.valid != loosens
