"""Arms of a union that a foreign side may write in its own way: which member tells them apart, and which correspond."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from .model import Member, Object, Shape, text, union

Arm: TypeAlias = "tuple[Object, str | None]"
"""An object, and the name of its definition if it has one."""


def tag_of(nodes: Sequence[Object]) -> str | None:
    """The member that tells objects apart: all have it, it is a literal in all but one, and not always the same."""
    if len(nodes) < 2:
        return None
    for member in nodes[0].members:
        found = [node.member(member.wire) for node in nodes]
        sets = [values_of(node, member.wire) for node in nodes]
        if all(each is not None for each in found) and sum(map(bool, sets)) >= len(nodes) - 1 and len(set(sets)) > 1:
            return member.wire
    return None


def values_of(node: Object, tag: str) -> frozenset[str]:
    """The values of an object's tag; none if it takes any other value too."""
    member = node.member(tag)
    return frozenset() if member is None or member.shape.kinds else member.shape.literals


def matched(tag: str, left: Sequence[Arm], right: Sequence[Arm]) -> Iterator[tuple[frozenset[str], list[Arm], list[Arm]]]:
    """Arms of both sides in groups that share values of the tag; no value at all: the arms for the future."""
    groups: list[tuple[set[str], list[Arm], list[Arm]]] = []
    for mine, arms in ((True, left), (False, right)):
        for arm in arms:
            values = values_of(arm[0], tag)
            hits = [group for group in groups if (group[0] & values) or (not group[0] and not values)]
            merged: tuple[set[str], list[Arm], list[Arm]] = (set(values), [], [])
            for group in hits:
                merged[0].update(group[0])
                merged[1].extend(group[1])
                merged[2].extend(group[2])
                groups.remove(group)
            (merged[1] if mine else merged[2]).append(arm)
            groups.append(merged)
    for found, ours, theirs in groups:
        yield frozenset(found), ours, theirs


def partners(tag: str, left: Sequence[Arm], right: Sequence[Arm]) -> Iterator[tuple[list[Arm], list[Arm]]]:
    """Arms to compare with each other: those with the very same values together, an arm with more values with each of them."""
    if len(left) == 1:
        yield from (([*left], group) for group in _alike(tag, right))
    elif len(right) == 1:
        yield from ((group, [*right]) for group in _alike(tag, left))
    else:
        yield [*left], [*right]


def _alike(tag: str, arms: Sequence[Arm]) -> list[list[Arm]]:
    groups: dict[frozenset[str], list[Arm]] = {}
    for arm in arms:
        groups.setdefault(values_of(arm[0], tag), []).append(arm)
    return list(groups.values())


def either(arms: Sequence[Arm]) -> Object:
    """One object that may look like any of the arms."""
    nodes = [node for node, _ in arms]
    if len(nodes) == 1:
        return nodes[0]
    members: dict[str, list[Member]] = {}
    for node in nodes:
        for member in node.members:
            members.setdefault(member.wire, []).append(member)
    merged = [
        replace(
            same[0],
            shape=union(*(member.shape for member in same)),
            required=len(same) == len(nodes) and all(member.required for member in same),
            sent=len(same) == len(nodes) and all(member.sent for member in same),
        )
        for same in members.values()
    ]
    return Object(tuple(merged), nodes[0].open)


def names_of(arms: Sequence[Arm]) -> str:
    """Arms for people: their names, or what is in them."""
    return ", ".join(name or text(Shape(objects=(node,))) for node, name in arms)
