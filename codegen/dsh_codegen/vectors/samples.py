"""A least and a fuller valid value of every type. Recursive types end: the least value is the one that needs fewest levels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final, assert_never

from ..errors import CodegenError
from ..ir import (
    Array,
    Boolean,
    Definition,
    Json,
    Literals,
    Map,
    Null,
    Number,
    OpenEnum,
    Protocol,
    Record,
    Ref,
    String,
    Type,
    Union,
)
from .row import Value, canonical
from .scalars import number_values, string_values

_DEPTH: Final = 2
"""How many references deep a full value is full; below, it is least."""


class Samples:
    """Values of one protocol's types. Raises `CodegenError` for definitions that no finite value fits."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol: Final = protocol
        self._least: Final[dict[str, Value]] = {}
        waiting = list(protocol.definitions)
        while waiting:
            known = len(self._least)
            left: list[Definition] = []
            for definition in waiting:
                try:
                    found = self.minimal(definition.type)
                except _NotYetError:
                    left.append(definition)
                else:
                    self._least[definition.name] = found
            if len(self._least) == known:
                raise CodegenError(f"{left[0].pointer}: no value fits it, because it always contains itself")
            waiting = left

    def minimal(self, node: Type) -> Value:
        """The least value: nothing optional, the shortest and smallest there is."""
        match node:
            case Json() | Null():
                return None
            case Boolean():
                return False
            case String():
                return string_values(node)[0]
            case Number():
                return number_values(node)[0]
            case Literals(values):
                return values[0]
            case OpenEnum(known):
                return known[0]
            case Array():
                return self.items(node, node.min_items)
            case Map():
                return {}
            case Ref(name):
                if name not in self._least:
                    raise _NotYetError
                return self._least[name]
            case Union():
                return self._first(node)
            case Record(members):
                return {member.wire: self.minimal(member.type) for member in members if member.required}
            case _:
                assert_never(node)

    def full(self, node: Type, depth: int = _DEPTH) -> Value:
        """A value with every member that is declared, and something in every array and map."""
        match node:
            case Json():
                return {"any": [None, True, 1.5, "text"]}
            case Boolean():
                return True
            case String():
                values = string_values(node)
                return "text" if "text" in values else values[-1]
            case Array():
                return [] if node.max_items == 0 else self.items(node, max(1, node.min_items), self.full(node.items, depth))
            case Map(values):
                return {"key": self.full(values, depth)}
            case Ref(name) if depth:
                return self.full(self.protocol.by_name[name].type, depth - 1)
            case Union():
                arm = next(arm for arm in node.arms if arm.type != Null())
                return self.full(arm.type, depth)
            case Record():
                return {member.wire: self.full(member.type, depth) for member in node.members}
            case _:
                return self.minimal(node)

    def items(self, node: Array, count: int, *first: Value) -> list[Value]:
        """`count` items, `first` first; all different where they must be. Raises `CodegenError` if there are not so many."""
        if not node.unique:
            return [*first, *(self.minimal(node.items) for _ in range(count - len(first)))]
        if count - len(first) <= 0:
            return list(first)
        found: dict[str, Value] = {canonical(value): value for value in first}
        for value in self._different(node.items):
            if len(found) >= count:
                break
            found.setdefault(canonical(value), value)
        if len(found) < count:
            raise CodegenError(f"no {count} different items are known of {node}")
        return list(found.values())

    def _different(self, node: Type) -> Iterator[Value]:
        """Values of `node`, no two equal."""
        target = self.protocol.resolve(node)
        yield self.minimal(node)
        match target:
            case Literals(values):
                yield from values
            case OpenEnum(known):
                yield from known
            case String(pattern=None):
                yield from (f"{self.minimal(node)}{'x' * more}" for more in range(1, 64))
            case Number():
                yield from number_values(target)
            case Json():
                yield from itertools.count()
            case Record():
                if not target.closed:
                    yield from ({**self.minimal(node), "x-item": number} for number in range(64))
            case _:
                yield self.full(node)

    def _first(self, node: Union) -> Value:
        """The least value of the first arm, in declared order, that has one so far."""
        for arm in node.arms:
            try:
                return self.minimal(arm.type)
            except _NotYetError:
                continue
        raise _NotYetError


class _NotYetError(Exception):
    """The least value needs that of a definition which is not known so far."""
