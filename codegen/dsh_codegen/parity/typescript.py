"""TypeScript text -> the model of parity. Neither a compiler nor a type checker runs.

    export type Block = TextBlock | ImageBlock;                 a definition: the known arms
    export type BlockOrUnknown = Block | UnknownBlock;          folded into it: it is open, and this is what it adds

Generic declarations are no definitions; they count where they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ..errors import ConfigError
from .model import FUTURE, NOTHING, Definition, Method, Object, Shape, Side, ref, text, unread
from .ts_names import Declared
from .ts_syntax import SourceFile, errors, parse
from .ts_types import Types

FRAMES: Final = frozenset({"RequestFrame", "ResponseFrame", "NotificationFrame", "ErrorFrame"})
"""What a generated file declares beside the definitions and the method maps."""


class _Alone:
    """The names of one file that imports nothing: what it doesn't declare is a reference all the same."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._types = Types(self)

    def declared(self, file: SourceFile, name: str) -> Declared | None:
        nodes = file.declarations.get(name)
        return None if nodes is None else Declared(name, tuple(nodes), file)

    def missing(self, file: SourceFile, name: str) -> Shape:  # noqa: ARG002 - the file says where, which doesn't matter here
        return ref(name)

    def definition(self, declared: Declared) -> Definition:
        return self._types.declare(declared)

    def expand(self, name: str) -> Shape | None:
        found = self.declared(self._file, name)
        return None if found is None else self.definition(found).shape


class _Names(_Alone):
    """As `_Alone`, but a reference to a declaration needs no look at it: it is evaluated in its own turn."""

    def definition(self, declared: Declared) -> Definition:
        return Definition(declared.name, NOTHING)

    def expand(self, name: str) -> Shape | None:
        found = self.declared(self._file, name)
        return None if found is None else self._types.declare(found).shape


def read_generated(path: Path, maps: Sequence[str]) -> Side:
    """The side of one revision's generated `.d.ts`; `maps` are its request map and its notification map.

    Raises `ConfigError` where it can't be read.
    """
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}; run: dsh-codegen generate") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: can't be read: it is not UTF-8; run: dsh-codegen generate") from None
    if errors(source):
        raise ConfigError(f"{path}: it is no TypeScript that can be read; run: dsh-codegen generate")
    found = read_definitions(source, str(path))
    methods = read_methods([found.pop(name) for name in maps if name in found])
    return Side("typescript", {name: each for name, each in found.items() if name not in FRAMES}, methods, integers=False)


def read_definitions(source: str, path: str = "") -> dict[str, Definition]:
    """The declarations of a generated file, or of a piece of it, by name."""
    file = parse(source, path)
    types = Types(_Names(file))
    found: dict[str, Definition] = {}
    for name, nodes in file.declarations.items():
        if all(node.child_by_field_name("type_parameters") is None for node in nodes):
            found[name] = replace(
                types.declare(Declared(name, tuple(nodes), file)), open=False, by_member=None, future=frozenset()
            )
    return folded(found)


def folded(found: dict[str, Definition]) -> dict[str, Definition]:
    """`found` with every `XOrUnknown` made part of `X`."""
    result = dict(found)
    for name, wide in found.items():
        base = found.get(name.removesuffix(FUTURE))
        if base is None or base is wide:
            continue
        del result[name]
        added = wide.shape.refs - {base.name}
        future = set(added)
        rest = replace(wide.shape, refs=frozenset())
        if base.name not in wide.shape.refs:
            future.add(f"without {base.name}")
        if rest != NOTHING:
            future.add(text(rest))
        result[base.name] = replace(base, open=True, future=frozenset(future))
    return result


def read_methods(maps: Sequence[Definition]) -> dict[str, Method]:
    """The rows of method maps: `{ params; result; sender? }` for a request, the params alone for a notification."""
    found: dict[str, Method] = {}
    for each in maps:
        for member in (member for node in each.shape.objects for member in node.members):
            row = _row(member.shape)
            if row is None:
                method = Method(member.wire, None, _payload(member.shape), None, member.place)
            else:
                parts = {part.wire: part.shape for part in row.members}
                sender = next(iter(parts["sender"].literals), "").strip('"') if "sender" in parts else None
                result = parts.get("result", unread("no result"))
                method = Method(
                    member.wire,
                    sender,
                    _payload(parts.get("params", unread("no params"))),
                    result if result != NOTHING else unread("no result"),
                    member.place,
                )
            # a method in both maps agrees with nothing
            found[member.wire] = method if member.wire not in found else replace(method, params=unread("listed twice"))
    return found


def _row(shape: Shape) -> Object | None:
    """The row of a request map, if that is what a member holds."""
    if len(shape.objects) != 1 or shape.refs:
        return None
    return shape.objects[0] if {member.wire for member in shape.objects[0].members} & {"params", "result"} else None


def _payload(shape: Shape) -> Shape | None:
    """Params; nothing but undefined means that there are none."""
    return None if replace(shape, absent=False) == NOTHING else shape
