"""Where a type stands and what the names in it lead to. Who finds declarations, in one file or across many, is a `Names`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tree_sitter import Node

from .model import Definition, Shape
from .ts_nodes import parameters
from .ts_syntax import SourceFile


class Names(Protocol):
    """What the evaluation asks about names of a file."""

    def declared(self, file: SourceFile, name: str) -> Declared | None:
        """The declaration that a name leads to, in whichever file; None if it can't be found."""
        ...

    def missing(self, file: SourceFile, name: str) -> Shape:
        """The shape of a name without a declaration."""
        ...

    def definition(self, declared: Declared) -> Definition:
        """The definition of a declaration without type parameters."""
        ...

    def expand(self, name: str) -> Shape | None:
        """The shape behind a reference."""
        ...


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration in its file. `name` is what references to it are called.

    `added` are declarations of the same interface in other files, which may add members to it.
    """

    name: str
    nodes: tuple[Node, ...]
    file: SourceFile
    added: tuple[tuple[Node, SourceFile], ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a type stands: its file, and what its type parameters are bound to."""

    file: SourceFile
    bound: Mapping[str, Shape] = field(default_factory=dict[str, Shape])
    depth: int = 0

    def deeper(self, bound: Mapping[str, Shape]) -> Scope:
        """The same place with more names bound."""
        return Scope(self.file, {**self.bound, **bound}, self.depth + 1)


def is_definition(declared: Declared) -> bool:
    """Whether a declaration means something on its own: without type parameters, or with a default for each."""
    return all(parameter.child_by_field_name("value") is not None for parameter in parameters(declared.nodes[0]))
