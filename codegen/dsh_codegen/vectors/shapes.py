"""Cases of every type. A case changes one place: what is around it is the least value.

References are entered only as far as scalars: what a definition admits inside is the matter of its own vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from ..errors import CodegenError
from ..ir import Array, Boolean, Json, Literals, Map, Null, Number, OpenEnum, Record, Ref, String, Type, Union
from .row import FUTURE, Case, Kind, Value
from .samples import Samples
from .scalars import LARGEST, json_type, literal_cases, number_cases, open_enum_cases, string_cases, wrong_types
from .tagged import tagged_cases


class Shapes:
    """Lists the cases of one protocol's types."""

    def __init__(self, samples: Samples) -> None:
        self.samples: Final = samples
        self.protocol: Final = samples.protocol

    def cases(self, node: Type) -> Iterator[Case]:
        """All cases of a definition of this type: least and full first, values of the wrong JSON type last."""
        yield Case("minimal", self.samples.minimal(node))
        yield Case("full", self.samples.full(node))
        yield from self._inner(node)
        yield from wrong_types(self.kinds(node))

    def kinds(self, node: Type) -> frozenset[str]:
        """The JSON types that a type admits."""
        match node:
            case Json():
                return frozenset({"null", "boolean", "number", "string", "array", "object"})
            case Null():
                return frozenset({"null"})
            case Boolean():
                return frozenset({"boolean"})
            case String() | OpenEnum():
                return frozenset({"string"})
            case Number():
                return frozenset({"number"})
            case Literals(values):
                return frozenset(map(json_type, values))
            case Array():
                return frozenset({"array"})
            case Map() | Record():
                return frozenset({"object"})
            case Ref():
                return self.kinds(self.protocol.resolve(node))
            case Union(arms=arms):
                return frozenset[str]().union(*(self.kinds(arm.type) for arm in arms))
            case _:
                assert_never(node)

    def _inner(self, node: Type) -> Iterator[Case]:
        """Cases of the right JSON type."""
        match node:
            case Json():
                anything: tuple[Value, ...] = (None, False, 0, "", [], {})
                yield from (Case("boundary", value) for value in anything)
            case Null():
                yield Case("null", None)
            case Boolean():
                yield from (Case("boundary", value) for value in (True, False))
            case String():
                yield from string_cases(node)
            case Number():
                yield from number_cases(node)
            case Literals():
                yield from literal_cases(node)
            case OpenEnum():
                yield from open_enum_cases(node)
            case Array():
                yield from self._array(node)
            case Map(values):
                yield Case("minimal", {})
                yield from (case.within("key", {"key": case.value}) for case in self._part(values))
            case Ref():
                yield from self._ref(node)
            case Union():
                yield from self._union(node)
            case Record():
                yield from self._record(node)
            case _:
                assert_never(node)

    def _part(self, node: Type) -> Iterator[Case]:
        """Cases of a type that is part of another: the least value and everything else."""
        yield Case("boundary", self.samples.minimal(node))
        yield from self._inner(node)
        yield from wrong_types(self.kinds(node))

    def _ref(self, node: Ref) -> Iterator[Case]:
        target = self.protocol.resolve(node)
        match target:
            case Record() | Union() | Array() | Map() | Json():
                if isinstance(target, Union) and "null" in self.kinds(target):
                    yield Case("null", None)
            case _:
                yield from (case for case in self._inner(target) if case.kind == "negative")

    def _array(self, node: Array) -> Iterator[Case]:
        for count in dict.fromkeys((node.min_items, node.min_items - 1, 1, node.max_items, (node.max_items or 0) + 1)):
            if count is None or not 0 <= count <= LARGEST:
                continue
            few, many = count < node.min_items, node.max_items is not None and count > node.max_items
            try:
                items = self.samples.items(node, count)
            except CodegenError:  # there are not so many different ones
                continue
            yield Case("negative" if few or many else "boundary", items, reason="out of range" if few or many else "")
        if node.max_items == 0:
            return
        least = self.samples.minimal(node.items)
        if node.max_items is None or node.max_items > 1:
            twice = [least] * max(2, node.min_items)
            yield Case("negative" if node.unique else "boundary", twice, reason="repeated item" if node.unique else "")
        for case in self._part(node.items):
            try:
                yield case.within(0, self.samples.items(node, max(1, node.min_items), case.value))
            except CodegenError:  # there are not so many different ones
                continue

    def _union(self, node: Union) -> Iterator[Case]:
        for arm in node.arms:
            if isinstance(arm.type, Ref):
                kind: Kind = "future" if arm.open else "arm"
                yield Case(kind, self.samples.minimal(arm.type))
            yield from self._inner(arm.type)
        if node.tag is not None:
            yield from tagged_cases(node, node.tag, self.samples)

    def _record(self, node: Record) -> Iterator[Case]:
        base: dict[str, Value] = self.samples.minimal(node)
        for member in node.members:
            if member.required:
                less = {wire: value for wire, value in base.items() if wire != member.wire}
                yield Case("negative", less, (member.wire,), "missing")
            for case in self._part(member.type):
                yield case.within(member.wire, {**base, member.wire: case.value})
        unknown = {**base, FUTURE: {"since": [1, None]}}
        if node.closed:
            yield Case("negative", unknown, (FUTURE,), "unknown member")
        else:
            yield Case("future", unknown, (FUTURE,))
