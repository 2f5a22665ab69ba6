"""What the quick lane does with the frames of each class, found out with the first one of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final, TypeAlias

import msgspec

from .findings import Direction
from .follower import Follower, Move
from .operations import NUMBERS, Operation
from .paths import EACH
from .protocol import Protocol
from .sequencing import Event
from .struct_look import Condition, StructLook, attributes, guarded

Moves: TypeAlias = "tuple[list[Move], Sequence[Move]]"
"""Moves that look at the frame, and some for `Follower.repeat`."""


@dataclass(slots=True)
class Plan:
    """What to do with the frames of one class, or with the responses to one method that have a result, or have none.

    Of responses `result` decodes the result, and moves take that instead of a frame.

    `arm` finds the value that tells the moves, if one does: by its class, if it is a tagged object, else by itself, if it is
    one of the `values` that events ask for.
    """

    request: bool
    method: str
    direction: Direction
    events: Sequence[Event] = ()
    arm_path: str = ""
    arm: Callable[[Any], Any] | None = None
    values: frozenset[Any] = frozenset()
    moves: dict[Any, Moves] = field(default_factory=dict[Any, "Moves"])
    result: Callable[[msgspec.Raw], Any] | None = None
    count: int = 0
    bytes: int = 0


Arm: TypeAlias = "tuple[dict[int, int], int, Operation, Sequence[Move], list[Move]]"
"""What to do with frames of the crowd whose arm is of one class: the table and the number of an operation, the operation, moves
for `Follower.repeat`, and other moves."""


@dataclass(slots=True)
class Crowd:
    """The class of most frames. `look` finds the arm, the key of a record, and the value that has to rise by `rule`."""

    frame: type | None = None
    look: Callable[[Any], tuple[Any, Any, Any]] = lambda _: ((), (), ())
    key_path: str = ""
    rule: int = 0
    arms: dict[type, Arm] = field(default_factory=dict[type, Arm])


class Plans:
    """The plans of one part. `crowd` is the class of frames that has a way of its own, once there is one."""

    def __init__(self, protocol: Protocol, follower: Follower) -> None:
        self._protocol = protocol
        self._structs = protocol.structs
        self._follower = follower
        self.calls: Final[dict[type, Plan]] = {}
        self.answers: Final[dict[tuple[str, bool], Plan]] = {}
        self.crowd = Crowd()

    def of(self, frame: Any) -> Plan:
        """The plan for the class of a frame, made with the first one."""
        cls = frame.__class__
        call = self._structs.calls[cls]
        events = self._follower.events("request" if call.request else "notification", call.method)
        plan = self.calls[cls] = Plan(call.request, call.method, call.direction, events)
        for path in dict.fromkeys(path for event in plan.events for path, _ in event.where):
            parent = path.rpartition(".")[0]
            arm = self._structs.getter(cls, parent)
            if arm is not None and arm(frame).__class__ in self._structs.tags:
                plan.arm_path, plan.arm, plan.values = parent, arm, frozenset()
                break
            values = frozenset(value for event in plan.events for at, value in event.where if at == path)
            if EACH not in path and plan.arm is None and all(isinstance(value, str) for value in values):
                plan.arm_path, plan.arm, plan.values = path, self._structs.getter(cls, path), values
        if self.crowd.frame is None and plan.arm is not None and not call.request:
            self.crowd = self._gathered(cls, plan) or self.crowd
        return plan

    def _gathered(self, frame: type, plan: Plan) -> Crowd | None:
        """The frames of a class as the crowd: each has an arm, one key, and one value that has to rise."""
        for event in plan.events:
            for rule, paths in self._follower.rising(event):
                wanted = (plan.arm_path, *paths)
                found = [self._structs.getter(frame, path) for path in wanted]
                sure = self._structs.always(frame, paths[0]) and self._structs.always(frame, paths[1], NUMBERS)
                if sure and not event.where and event.has is None and all(isinstance(each, attrgetter) for each in found):
                    return Crowd(frame, attributes(wanted), paths[0], rule)
        return None

    def _look(self, plan: Plan, frame: Any, arm: Any) -> StructLook:
        return StructLook(self._structs, frame.__class__, plan.arm_path, arm.__class__, "" if plan.result is None else "result")

    def _certain(self, plan: Plan, frame: Any, arm: Any) -> tuple[list[Event], list[Move]]:
        """Which events frames are whose arm is of that class; and moves for those that they may be."""
        look = self._look(plan, frame, arm)
        tag = self._structs.tags.get(arm.__class__)
        certain: list[Event] = []
        moves: list[Move] = []
        for event in plan.events:
            conditions: list[Condition] = [] if event.has is None or plan.result is not None else [look.has(event.has)]
            for path, value in event.where:
                parent, _, member = path.rpartition(".")
                if plan.values and path == plan.arm_path:
                    if arm.__class__ is not str or arm != value:
                        break
                elif tag is None or parent != plan.arm_path:
                    conditions.append((look.values(path), value))
                elif tag != (member, value):
                    break
            else:
                if conditions:
                    moves.append(guarded(self._follower.moves([event], look), conditions))
                else:
                    certain.append(event)
        return certain, moves

    def of_answer(self, name: str, *, failed: bool) -> Plan | None:
        """The plan for the responses to requests of a method, of those with a result or of those with an error."""
        method = self._protocol.methods.get(name)
        if method is None or method.result is None:
            return None
        member = "error" if failed else "result"
        events = [event for event in self._follower.events("response", name) if event.has in (None, member)]
        decode = self._structs.results(method.result)
        plan = self.answers[name, failed] = Plan(False, name, method.direction, events, result=decode)
        return plan

    def moves(self, plan: Plan, kind: Any, frame: Any, arm: Any) -> Moves:
        """What to do with frames of one class and one kind of arm; it is kept in the plan."""
        events, moves = self._certain(plan, frame, arm)
        _, repeating, more = self._follower.parted(events, "", self._look(plan, frame, arm))
        plan.moves[kind] = moves + more, repeating
        return plan.moves[kind]

    def arm(self, frame: Any, arm: Any) -> Arm:
        """The same for frames of the crowd."""
        plan = self.calls[frame.__class__]
        events, moves = self._certain(plan, frame, arm)
        mine, repeating, more = self._follower.parted(events, self.crowd.key_path, self._look(plan, frame, arm))
        assert mine is not None, "the crowd has a record for each of its frames"
        return mine.after, mine.number, mine, repeating, moves + more
