"""What one row of a log amounts to: its method, its direction, and everything that is wrong with it.

A response is judged by the method of the request it answers, so a verdict needs the requests that wait: `pending`. Where it is
not known what waits, because the log was cut before this line, a response that finds no request has no verdict yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from .findings import Direction, Problem, too_deep
from .frame import Frame, IdKey, classify, envelope_problems, undeclared_in_envelope
from .members import undeclared
from .pending import OPPOSITE, Asked, Pending
from .protocol import Method, Protocol
from .rows import Row
from .wording import Json, Path, did_you_mean, json_type, listing, name, place, show

_WRITERS = {"c2s": "the client", "s2c": "the server"}


@dataclass(slots=True)
class Verdict:
    """What a row amounts to. `method` of a response is that of its request, which is `asked`.

    `values` are the params or the result with the definition that they are held to. `undeclared`: something in the frame is
    not declared; `elsewhere`: it calls a method of another revision. `orphan`: no request waited for this response.
    """

    frame: Frame
    direction: Direction | None
    method: str | None = None
    problems: list[Problem] = field(default_factory=list[Problem])
    values: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    asked: Asked | None = None
    undeclared: bool = False
    elsewhere: bool = False
    orphan: bool = False

    def sent_rightly(self, protocol: Protocol) -> bool:
        """Whether the frame is of a method of the protocol and comes from the side that sends such frames."""
        method = protocol.methods.get(self.method or "")
        if method is None:
            return False
        return self.direction == (OPPOSITE[method.direction] if self.frame.kind == "response" else method.direction)


class Judgement:
    """Gives verdicts on the rows of one stream, in order.

    `strict` makes problems of undeclared members and of methods that only other revisions have; `count_undeclared` looks for
    them without that. `explain` False: one problem without a sentence stands for all that the schema refuses in a frame.
    """

    def __init__(self, protocol: Protocol, *, strict: bool, count_undeclared: bool = False, explain: bool = True) -> None:
        self.protocol = protocol
        self.pending = Pending()
        self.alike = False  # whether a request is known to wait, somewhere else, whose id differs in its JSON type only
        self._strict = strict
        self._walk = strict or count_undeclared
        self._explain = explain

    def of(self, row: Row, time: int | None = None) -> Verdict:
        """The verdict on a row; `time` is that of the row, in nanoseconds."""
        if row.state != "frame":
            return Verdict(Frame(None), row.direction, problems=list(row.problems))
        frame = classify(row.value)
        verdict = Verdict(frame, row.direction)
        verdict.problems += row.problems
        if self._strict and not row.terminated:
            message = "no line feed ends the last line; on the wire it would be discarded"
            verdict.problems.append(Problem("strict/unterminated", message))
        verdict.problems += envelope_problems(frame, self.protocol.codes)
        if self._walk:
            verdict.problems += self._undeclared_in_envelope(verdict)
        if frame.kind == "response" and frame.id is not None and "method" not in frame.members:
            self._response(verdict, frame.id)
        elif frame.method is not None:
            self._call(verdict, frame.method, Asked(verdict.direction, frame.method, row.line, "", time))
        return verdict

    def _response(self, verdict: Verdict, key: IdKey) -> None:
        frame = verdict.frame
        asked = self.pending.answer(verdict.direction, key, lambda method: self._misfit(method, frame))
        if asked is None:
            verdict.orphan = True
            if not self.pending.forgotten:  # else its request may be among those
                verdict.problems.append(self._orphan(frame, key, verdict.direction))
            return
        if verdict.direction is None and asked.direction is not None:
            verdict.direction = OPPOSITE[asked.direction]
        verdict.asked = asked
        verdict.method = asked.method
        method = self.protocol.methods.get(asked.method)
        if method is not None and method.result is not None and "result" in frame.members and "error" not in frame.members:
            verdict.problems += self._judge(verdict, "result/schema", method.result, frame.members["result"], ("result",))

    def _call(self, verdict: Verdict, name_: str, asked: Asked) -> None:
        frame = verdict.frame
        method = self.protocol.methods.get(name_)
        if verdict.direction is None and method is not None:
            verdict.direction = method.direction
        verdict.method = name_
        verdict.problems += self._call_problems(verdict, method)
        if frame.id is not None and self.pending.ask(frame.id, asked._replace(direction=verdict.direction)):
            message = f"`id` {show(frame.members['id'])} still waits for the response to an earlier request"
            verdict.problems.append(Problem("request/duplicate-id", message, ("id",)))

    def _call_problems(self, verdict: Verdict, method: Method | None) -> Iterator[Problem]:
        frame, direction = verdict.frame, verdict.direction
        other = self.protocol.elsewhere.get(frame.method or "")
        if method is None and other is not None:
            verdict.elsewhere = True
            if self._strict:
                message = f"{name(frame.method or '')} is no method of revision {self.protocol.revision}, but of {other}"
                yield Problem("strict/other-revision", message, ("method",))
            return
        if method is None:
            yield Problem("method/unknown", partial(self._unknown_method, frame.method or "", direction), ("method",))
            return
        if direction is not None and direction != method.direction:
            message = f"{name(method.name)} is sent by {_WRITERS[method.direction]}, but {_WRITERS[direction]} sent it"
            yield Problem("method/direction", message, ("method",))
            return
        if frame.kind == "request" and method.result is None:
            yield Problem("method/kind", f"{name(method.name)} is a notification, but the frame has an `id`", ("id",))
        elif frame.kind == "notification" and method.result is not None and "id" not in frame.members:
            yield Problem("method/kind", f"{name(method.name)} is a request, but the frame has no `id`, so it gets no reply")
        if method.params is not None:
            yield from self._params_problems(verdict, method.params)

    def _unknown_method(self, wrong: str, direction: Direction | None) -> str:
        methods = self.protocol.methods.values()
        known = [each.name for each in methods if each.direction == direction or direction is None]
        hint = did_you_mean(wrong, known) or did_you_mean(wrong, self.protocol.methods)
        return f"{name(wrong)} is no method of revision {self.protocol.revision}{hint}"

    def _params_problems(self, verdict: Verdict, definition: str) -> Iterator[Problem]:
        members = verdict.frame.members
        params: Json = members.get("params")
        if isinstance(params, dict):
            yield from self._judge(verdict, "params/schema", definition, params, ("params",))
        elif "params" in members:
            found = "null" if params is None else f"{show(params)} ({json_type(params)})"
            yield Problem("params/shape", f"`params` is {found}, expected an object; it is read as an empty one", ("params",))
        else:
            missing = self.protocol.judge.problems("params/schema", definition, {}, ("params",))
            if missing:
                required = self.protocol.definitions.required(definition)
                needs = f" with {listing([name(each) for each in required])}" if required else ""
                yield Problem("params/schema", f"`params` is missing, expected an object{needs}", (), missing[0].schema)

    def _misfit(self, method_name: str, frame: Frame) -> float:
        """How badly a response answers a request of that method: undeclared members, or infinitely if it is invalid."""
        method = self.protocol.methods.get(method_name)
        if "result" not in frame.members:
            return 0
        if method is None or method.result is None:
            return math.inf
        try:
            if not self.protocol.is_valid(method.result, frame.members["result"]):
                return math.inf
            return sum(1 for _ in undeclared(self.protocol.definitions, method.result, frame.members["result"], ()))
        except RecursionError:
            return math.inf

    def _judge(self, verdict: Verdict, rule: str, definition: str, value: Json, at: Path) -> Iterator[Problem]:
        verdict.values.append((definition, value))
        problems = self.protocol.problems(rule, definition, value, at, explain=self._explain)
        yield from problems
        if not self._walk or any(problem.rule == "json/nesting" for problem in problems):
            return
        try:
            for each in undeclared(self.protocol.definitions, definition, value, at):
                verdict.undeclared = True
                if not self._strict:
                    return
                if not each.tag:
                    message = partial(_unknown_member, each.path, each.declared)
                    yield Problem("strict/unknown-member", message, each.path, each.schema)
        except RecursionError:
            yield too_deep(at)

    def _undeclared_in_envelope(self, verdict: Verdict) -> Iterator[Problem]:
        for path in undeclared_in_envelope(verdict.frame):
            verdict.undeclared = True
            if self._strict:
                yield Problem("strict/unknown-member", partial(_unknown_member, path, ()), path)

    def _orphan(self, frame: Frame, key: IdKey, direction: Direction | None) -> Problem:
        message = f"no request with `id` {show(frame.members['id'])} waits for a response"
        if self.alike or self.pending.same_text(direction, key):
            message += "; one whose `id` is of the other JSON type does"
        return Problem("response/orphan", message, ("id",))


def _unknown_member(path: Path, declared: tuple[str, ...]) -> str:
    member = str(path[-1])
    whose = f"of {place(path[:-1])}" if len(path) > 1 else "of a frame"
    return f"{name(member)} is no declared member {whose}{did_you_mean(member, declared)}"
