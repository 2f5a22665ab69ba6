"""From what pairs of sides yield to differences: merged over the pairs, with the harm that they do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from .difference import Difference, Direction, Relation, Role, Severity
from .direction import broken, opposite, sent_by
from .found import Found
from .model import Method, Place, Side
from .pointer import pointer_to

OF_METHODS: Final = frozenset({"method", "sender", "params", "result"})
"""The classes of difference that the method map has; all others are of definitions."""


def judged(
    revision: str,
    key: tuple[str, str, str],
    founds: Sequence[tuple[str, str, Found]],
    sides: Sequence[Side],
    ways: Mapping[str, frozenset[Direction]],
    role: Role,
    *,
    generated: bool,
) -> Difference:
    """One difference out of all that was `found` under a key: definition, path and class.

    `ways` are those that definitions travel; `generated` means that all sides come from the generator, which errs either way.
    """
    definition, path, category = key
    said: dict[str, str] = {}
    places: dict[str, Place] = {}
    for left, right, found in founds:
        for side, shown, place in ((left, found.left, found.places[0]), (right, found.right, found.places[1])):
            said.setdefault(side, shown)
            if place is not None:
                places.setdefault(side, place)
    relation = founds[0][2].relation if generated else _together(found.relation for _, _, found in founds)
    methods = sides[0].methods or {}
    method = category in OF_METHODS or definition in methods
    travels: Iterable[Direction] = _of_method(methods.get(definition), path, category) if method else ways.get(definition, ())
    breaks = broken(relation, travels, role)
    return Difference(
        revision,
        category,
        definition,
        path,
        tuple((side.name, said.get(side.name)) for side in sides),
        tuple(dict.fromkeys((left, right) for left, right, _ in founds)),
        relation,
        breaks,
        _severity(relation, breaks, bool(travels), category, generated=generated),
        pointer_to(sides[0], definition, path, method=method),
        tuple((side.name, places[side.name]) for side in sides if side.name in places),
    )


def _together(relations: Iterable[Relation]) -> Relation:
    """One relation for a difference that was found more than once, in several arms."""
    found: set[Relation] = {relation for relation in relations if relation != "unseen"}
    if len(found) > 1:
        return "other"
    return found.pop() if found else "unseen"


def _severity(relation: Relation, breaks: Sequence[Direction], travels: bool, category: str, *, generated: bool) -> Severity:
    if breaks or generated:
        return "error"
    return "warning" if relation == "unseen" or not travels or category == "unread" else "note"


def _of_method(method: Method | None, path: str, category: str) -> tuple[Direction, ...]:
    if method is None:
        return ()
    way = sent_by(method.sender)
    if category == "sender":
        return tuple({way, opposite(way)})
    return (opposite(way),) if category == "result" or path.startswith(".result") else (way,)
