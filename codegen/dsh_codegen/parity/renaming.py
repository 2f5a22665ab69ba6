"""A side of others under the names of the schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .model import Definition, Object, Shape, Side


def renamed(side: Side, names: Mapping[str, str | None]) -> Side:
    """A side with its definitions called as in the schema; those mapped to None match nothing by their names."""
    if not names:
        return side
    known = {name: f"{name} (theirs)" if new is None else new for name, new in names.items()}
    definitions: dict[str, Definition] = {}
    for name, definition in side.definitions.items():
        new = known.get(name, name)
        definitions[new] = replace(definition, name=new, shape=_renamed(definition.shape, known))
    methods = side.methods and {
        name: replace(
            method,
            params=method.params and _renamed(method.params, known),
            result=method.result and _renamed(method.result, known),
        )
        for name, method in side.methods.items()
    }
    return replace(side, definitions=definitions, methods=methods)


def _renamed(shape: Shape, names: Mapping[str, str]) -> Shape:
    return replace(
        shape,
        refs=frozenset(names.get(name, name) for name in shape.refs),
        items=shape.items and _renamed(shape.items, names),
        values=shape.values and _renamed(shape.values, names),
        objects=tuple(
            Object(
                tuple(replace(member, shape=_renamed(member.shape, names)) for member in node.members),
                node.open,
                node.values and _renamed(node.values, names),
            )
            for node in shape.objects
        ),
    )
