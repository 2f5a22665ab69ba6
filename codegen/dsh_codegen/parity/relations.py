"""How two shapes stand to each other as sets of values: which of them takes more."""

from __future__ import annotations

from .difference import Relation
from .model import INTEGER, NUMBER, Shape, kind_of


def widened(shape: Shape, *, integers: bool) -> frozenset[str]:
    """The kinds of a shape with those of its literals; without `integers` they are numbers."""
    kinds = shape.kinds | {kind_of(literal) for literal in shape.literals}
    if not integers and INTEGER in kinds:
        kinds |= {NUMBER}
    return kinds - {INTEGER} if NUMBER in kinds else kinds


def lopsided(left: Shape, right: Shape) -> Relation:
    """How shapes relate of which only one has an array, or a map."""
    if right.items is None and right.values is None:
        return "narrower" if right.alternatives == 0 else "other"
    return "wider" if left.alternatives == 0 else "other"


def covering(left: Shape, right: Shape) -> Relation:
    """How the scalars and references of one shape stand to the other's."""
    wider, narrower = _covers(right, left), _covers(left, right)
    if wider and narrower:
        return "unseen"  # the same values: one of them only lists fewer that it knows
    return "wider" if wider else "narrower" if narrower else "other"


def _covers(outer: Shape, inner: Shape) -> bool:
    kinds = {*outer.kinds, *([INTEGER] if NUMBER in outer.kinds else [])}
    literals = all(literal in outer.literals or kind_of(literal) in kinds for literal in inner.literals)
    return literals and inner.kinds <= kinds and inner.refs <= outer.refs and len(inner.objects) <= len(outer.objects)
