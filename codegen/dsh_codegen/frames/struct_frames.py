"""Frames and the rows of captures as structs: calls by their method, and responses, which don't say what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import UNSET, Raw, Struct

from .findings import Direction
from .struct_parts import ANYTHING, Map, Part, Record, Records, Shape
from .struct_scalars import is_constant, literal, one_of
from .struct_shapes import Shapes
from .struct_types import ANY, Member, Members, StructTypes, Typed
from .tags import Schema

_SENT_BY: Final[Mapping[str, Direction]] = {"client": "c2s", "server": "s2c"}
_VERSION: Final = Member("jsonrpc", Typed(literal(["2.0"])))
_ID: Final = Member("id", Typed(one_of([str, int, float])))
_TIME: Final = Member("ts", Typed(one_of([int, float])), required=False)
_DIRECTION: Final = Member("dir", Typed(literal(_SENT_BY.values())))


@dataclass(frozen=True, slots=True)
class Call:
    """What the frames of one class are: requests to call `method`, or else notifications, sent in that direction."""

    method: str
    direction: Direction
    request: bool


class StructFrames:
    """The structs of the frames of one bundle."""

    def __init__(self, bundle: Schema, shapes: Shapes, types: StructTypes) -> None:
        self.calls: Final[dict[type, Call]] = {}
        self._types = types
        self._codes = [row["code"] for row in bundle.get("x-errors", ())]
        self._known = [known for row in bundle["x-methods"] if (known := self._call(row, shapes)) is not None]

    def _call(self, row: Mapping[str, Any], shapes: Shapes) -> tuple[Call, Members] | None:
        """What the frames that call a method look like; None if no struct can look like that."""
        call = Call(row["name"], _SENT_BY[row["sender"]], row.get("result") is not None)
        members = {"jsonrpc": _VERSION}
        if call.request:
            members["id"] = _ID
        if row.get("params") is None:  # whatever comes is ignored
            members["params"] = Member("params", ANY, required=False)
        else:
            part = _objects(shapes.definition(row["params"]))
            typed = None if part is None else self._types.typed(Shape({"object": part}))
            if typed is None:
                return None
            required = isinstance(part, Records) or (isinstance(part, Record) and bool(part.required))
            members["params"] = Member("params", typed, required)
        return (call, members) if is_constant(call.method) else None

    def frames(self, *directions: Direction) -> list[type[Struct]]:
        """The structs of the calls that are sent in these directions, for one union. `calls` tells what each is."""
        sent = [(call, members) for call, members in self._known if call.direction in directions]
        structs: list[type[Struct]] = []
        for call, members in sent:
            made = self._types.struct(members, ("method", call.method), tagged=len(sent) > 1)
            self.calls[made] = call
            structs.append(made)
        return structs

    def rows(self) -> list[type[Struct]]:
        """The structs of rows with a call in the right direction."""
        sent: dict[Direction, list[type[Struct]]] = {}
        for direction in _SENT_BY.values():
            frames = self.frames(direction)
            if frames:
                sent[direction] = frames
        return [self._row(frames, direction, tagged=len(sent) > 1) for direction, frames in sent.items()]

    def _row(self, frames: Sequence[type[Struct]], direction: Direction, *, tagged: bool) -> type[Struct]:
        members = {"ts": _TIME, "frame": Member("frame", _frame(frames))}
        return self._types.struct(members, ("dir", direction), tagged=tagged)

    def response(self) -> type[Struct]:
        """The struct of responses. Their result is left as it stands in the line."""
        code = Member("code", Typed(literal(self._codes) if self._codes else int))
        error = self._types.struct({"code": code, "message": Member("message", Typed(str))})
        members = {
            "jsonrpc": _VERSION,
            "id": _ID,
            "result": Member("result", Typed(Raw), required=False),
            "error": Member("error", _frame([error]), required=False),
        }
        return self._types.struct(members, rule=_has_one)

    def response_row(self, response: type[Struct]) -> type[Struct]:
        """The struct of rows with a response."""
        return self._types.struct({"ts": _TIME, "dir": _DIRECTION, "frame": Member("frame", _frame([response]))})


def _objects(shape: Shape | None) -> Part | None:
    """What a shape takes of objects."""
    if shape is None:
        return None
    return Map(ANYTHING) if shape.free else shape.parts.get("object")


def _frame(structs: Sequence[type[Struct]]) -> Typed:
    return Typed(one_of(structs), structs=tuple(structs), others=False)


def _has_one(response: Any) -> bool:
    """Whether a response has either a result or an error."""
    return (response.result is UNSET) is not (response.error is UNSET)
