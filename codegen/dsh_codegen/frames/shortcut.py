"""The quick lane: ordinary lines decoded, judged, counted and followed in one go.

It accepts a line only if nothing at all is to be said about it, and leaves every other one to the long way. What it does with a
line that it accepts is what the long way would do, only with what the decoder has found out already: the class of a decoded
frame names its method, so all that depends on the method is looked up once and kept in a `Plan`.

Nearly all lines of a log may be of one method, and then what is done for each of them is what the whole log costs. So the first
method of which that can be said (a `Crowd`) has a way of its own through the loop, without a single call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import msgspec

from .findings import Direction
from .follower import Follower
from .frame import id_key
from .part import Part
from .pending import Asked, Pending
from .plans import Moves, Plan, Plans
from .protocol import Protocol
from .source import Batch
from .structs import MISSES, Decode, careful, plain
from .summary import Summary

Taken: TypeAlias = tuple[Plan, Any, Moves]
"""What to do with a frame or the result of a response, of which nothing is to be said: its plan, the value, and its moves."""


class Shortcut:
    """Judges the lines of one part as far as they are ordinary."""

    def __init__(self, protocol: Protocol, pending: Pending, follower: Follower, part: Part) -> None:
        self._structs = protocol.structs
        self._pending = pending
        self._follower = follower
        self._part = part
        self._plans = Plans(protocol, follower)
        self._captured: bool | None = None  # whether frames stand in capture rows; not known before the first one

    def judge(self, batch: Batch, first: int) -> Iterator[int]:
        """Judge the lines that follow line `first`. Yields the indexes of those for the long way, each before going on."""
        captured = self._captured
        if captured is None:
            captured = self._captured = self._recognised(batch.lines)
        if captured is None:
            yield from range(len(batch.lines))
            return
        structs = self._structs
        decode = structs.rows if captured else structs.frames
        decode_response = structs.response_rows if captured else structs.responses
        if not plain(batch.lines):
            decode, decode_response = careful(decode), careful(decode_response)
        crowd = self._plans.crowd
        of_the_crowd, look, arms = crowd.frame, crowd.look, crowd.arms
        follower = self._follower
        records = follower.operations.records
        lines = batch.lines if batch.terminated else batch.lines[:-1]
        rest_lines = rest_bytes = 0
        for number, line in enumerate(lines, first + 1):
            try:
                frame = decode(line)
            except MISSES:
                taken = self._answer(decode_response, line)
            else:
                if captured:
                    frame = frame.frame
                if frame.__class__ is of_the_crowd:
                    arm, key, value = look(frame)
                    try:
                        record = records[key]
                        after, operation, _, keyless, others = arms[arm.__class__]
                        following = after[record.state]
                    except KeyError:
                        self._join_crowd(frame, arm, key, value, number)
                        continue
                    top = record.top
                    if not value > top.last:
                        self._join_crowd(frame, arm, key, value, number)
                        continue
                    record.state = following
                    record.lines[operation] = number
                    top.last = value
                    top.line = number
                    if follower.repeating is keyless:
                        follower.repeated_at = number
                    else:
                        follower.repeat(keyless, number)
                    for move in others:
                        move(frame, number)
                    frame = arm = None  # the memory is used again at once, while it is in the cache
                    continue
                taken = self._call(frame, number)
            rest_lines += 1
            rest_bytes += len(line)
            if taken is None:
                yield number - first - 1
                continue
            plan, value, (others, keyless) = taken
            plan.count += 1
            plan.bytes += len(line) - 1
            for move in others:
                move(value, number)
            if follower.repeating is keyless:
                follower.repeated_at = number
            else:
                follower.repeat(keyless, number)
            if of_the_crowd is None and self._plans.crowd.frame is not None:
                crowd = self._plans.crowd
                of_the_crowd, look, arms = crowd.frame, crowd.look, crowd.arms
        if of_the_crowd is not None:
            plan = self._plans.calls[of_the_crowd]
            plan.count += len(lines) - rest_lines
            size = batch.size if batch.terminated else batch.size - len(batch.lines[-1])
            plan.bytes += size - rest_bytes - (len(lines) - rest_lines)  # without line feeds
        if not batch.terminated:
            yield len(batch.lines) - 1

    def count(self, summary: Summary) -> None:
        """Add the lines that were accepted."""
        for plan in (*self._plans.calls.values(), *self._plans.answers.values()):
            summary.frames += plan.count
            summary.valid += plan.count
            if plan.count:
                counted = summary.method(plan.method)
                counted.count += plan.count
                counted.bytes += plan.bytes

    def _recognised(self, lines: Iterable[bytes]) -> bool | None:
        """Whether frames stand in capture rows: the first line that is accepted in either way decides. None: none is."""
        for line in lines:
            for captured, decode in ((True, self._structs.rows), (False, self._structs.frames)):
                try:
                    decode(line)
                except MISSES:
                    continue
                return captured
        return None

    def _call(self, frame: Any, line: int) -> Taken | None:
        """What to do with a call that is not of the crowd; None if there is something to be said about it."""
        plan = self._plans.calls.get(frame.__class__) or self._plans.of(frame)
        if plan.request and not self._ask(plan, frame, line):
            return None
        arm = None if plan.arm is None else plan.arm(frame)
        kind = arm if arm.__class__ is str and arm in plan.values else arm.__class__
        return plan, frame, plan.moves.get(kind) or self._plans.moves(plan, kind, frame, arm)

    def _join_crowd(self, frame: Any, arm: Any, key: Any, value: Any, line: int) -> None:
        """Take a frame of the crowd of which something is new: its arm, its key, or what that was last."""
        crowd, follower = self._plans.crowd, self._follower
        known = crowd.arms.get(arm.__class__)
        if known is None:
            known = crowd.arms[arm.__class__] = self._plans.arm(frame, arm)
        _, _, operation, keyless, others = known
        operations = follower.operations
        record = operations.record(key)
        record.top = operations.rise(record, key, crowd.rule, value, line)
        operations.advance(record, key, operation, line)
        follower.repeat(keyless, line)
        for move in others:
            move(frame, line)

    def _ask(self, plan: Plan, frame: Any, line: int) -> bool:
        """A request begins to wait; False if its id waits already, which there is something to be said about."""
        key = id_key(frame.id)
        if key is None or not self._pending.ask_alone(key, Asked(plan.direction, plan.method, line)):
            return False
        self._part.asked.add(key)
        return True

    def _answer(self, decode: Decode, line: bytes) -> Taken | None:
        """What to do with a response to the only request with its id; None if there is something to be said about the line."""
        direction: Direction | None = None
        try:
            frame = decode(line)
        except MISSES:
            return None
        if self._captured:
            frame, direction = frame.frame, frame.dir
        key = id_key(frame.id)
        asked = None if key is None else self._pending.only(direction, key)
        if key is None or asked is None or asked.direction is None:
            return None
        failed = frame.result is msgspec.UNSET
        plans = self._plans
        plan = plans.answers.get((asked.method, failed)) or plans.of_answer(asked.method, failed=failed)
        if plan is None or plan.result is None or asked.direction != plan.direction:
            return None
        result: Any = None
        if not failed:
            try:
                result = plan.result(frame.result)
            except MISSES:
                return None
            if plan.events and not isinstance(result, msgspec.Struct):
                return None  # no look finds anything in it
        self._pending.answered(key, asked)
        kind = result.__class__
        return plan, result, plan.moves.get(kind) or self._plans.moves(plan, kind, result, None)
