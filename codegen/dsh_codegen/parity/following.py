"""References of a foreign side, and of the schema beside it, followed as far as they are not shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .arms import Arm
from .found import At
from .model import BOOLEAN, INTEGER, NUMBER, STRING, Definition, Shape, union

Definitions: TypeAlias = Mapping[str, Definition]


@dataclass(frozen=True, slots=True)
class Followed:
    """Two shapes less what they share. `arms` are the objects that were in them, which the shapes no longer have."""

    left: Shape
    right: Shape
    arms: tuple[list[Arm], list[Arm]]
    at: At


def unnamed(shape: Shape) -> list[Arm]:
    """The objects that a shape writes out in place."""
    return [(node, None) for node in shape.objects]


def followed(left: Shape, right: Shape, at: At, mine: Definitions, theirs: Definitions) -> Followed:
    """Both shapes less the references that they share, with all others followed."""
    arms = (unnamed(left), unnamed(right))
    tag = at.tag
    done: set[str] = set()
    while True:
        shared = left.refs & right.refs
        left, right = replace(left, refs=left.refs - shared), replace(right, refs=right.refs - shared)
        todo_left = [name for name in sorted(left.refs) if name in mine]
        todo_right = [name for name in sorted(right.refs) if name in theirs]
        # what the other side may still come to is left for it
        early_left = [name for name in todo_left if name not in _within(right.refs, theirs)]
        early_right = [name for name in todo_right if name not in _within(left.refs, mine)]
        if early_left or early_right:
            todo_left, todo_right = early_left, early_right
        if not (todo_left or todo_right) or done >= {*todo_left, *todo_right}:
            break
        done |= {*todo_left, *todo_right}
        tag = tag or next((mine[name].tag for name in todo_left if mine[name].tag), None)
        left, right = _step(left, todo_left, mine, arms[0]), _step(right, todo_right, theirs, arms[1])
    once = (list(dict.fromkeys(arms[0])), list(dict.fromkeys(arms[1])))
    return Followed(replace(left, objects=()), replace(right, objects=()), once, replace(at, tag=tag))


def _step(shape: Shape, names: Sequence[str], definitions: Definitions, arms: list[Arm]) -> Shape:
    for name in names:
        inner = definitions[name].shape
        arms += [(node, name) for node in inner.objects]
        shape = union(replace(shape, refs=shape.refs - {name}), replace(inner, objects=()))
    return shape


def everything(shape: Shape, definitions: Definitions) -> bool:
    """Whether a shape is any JSON, spelled out."""
    for name in sorted(_within(shape.refs, definitions)):
        if name in definitions:
            shape = union(shape, definitions[name].shape)
    scalars = shape.null and {STRING, BOOLEAN} <= shape.kinds and bool(shape.kinds & {NUMBER, INTEGER})
    return shape.any or (scalars and shape.items is not None and shape.values is not None)


def _within(names: frozenset[str], definitions: Definitions) -> frozenset[str]:
    """Those names and what they are unions of."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += definitions[name].shape.refs if name in definitions else ()
    return frozenset(found)
