"""Rows in, findings out: one log judged by one revision.

An `Examiner` reads the rows of a file in order. It remembers which requests wait for a response and nothing else, so it can be
cut at any line: `pending` is the state, `summary` the result, and summaries merge.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from .findings import Direction, Finding, Problem
from .frame import Frame, classify, envelope_problems, undeclared_in_envelope
from .members import undeclared
from .pending import OPPOSITE, Pending
from .protocol import Method, Protocol
from .rows import Row
from .summary import Summary
from .wording import Json, Path, did_you_mean, json_path, json_type, listing, name, place, show

_WRITERS = {"c2s": "the client", "s2c": "the server"}


class Examiner:
    """Judges the frames of one log, file after file, by one revision.

    `strict` makes findings of undeclared members and of methods that only other revisions have; `count_undeclared` counts
    undeclared members (and tags) without that.
    """

    def __init__(self, protocol: Protocol, *, strict: bool = False, count_undeclared: bool = False) -> None:
        self.protocol = protocol
        self.summary = Summary()
        self.pending = Pending()
        self._file = ""
        self._strict = strict
        self._walk = strict or count_undeclared

    def open(self, file: str) -> None:
        """Begin with another file: a log of its own, in which no request waits yet."""
        self._file = file
        self.pending = Pending()
        self.summary.files += 1

    def examine(self, row: Row) -> list[Finding]:
        """The findings of the next row."""
        summary = self.summary
        summary.frames += 1
        problems = list(row.problems)
        if self._strict and not row.terminated and row.state == "frame":
            problems.append(
                Problem("strict/unterminated", "no line feed ends the last line; on the wire it would be discarded")
            )
        frame, direction, method = Frame(None), row.direction, None
        if row.state == "frame":
            frame = classify(row.value)
            problems += envelope_problems(frame, self.protocol.codes)
            direction, method, more = self._examine_frame(frame, direction)
            problems += more
        if row.state == "skipped":
            summary.skipped += 1
        elif problems:
            summary.invalid += 1
        else:
            summary.valid += 1
        summary.findings += len(problems)
        if method is not None:
            counted = summary.method(method)
            counted.count += 1
            counted.bytes += row.size
            counted.invalid += bool(problems)
        return [
            Finding(
                self._file, row.line, direction, frame.kind, method, each.rule, json_path(each.path), each.schema, each.message
            )
            for each in problems
        ]

    def _examine_frame(self, frame: Frame, direction: Direction | None) -> tuple[Direction | None, str | None, list[Problem]]:
        """Direction and method of a frame as far as they can be told, and what is wrong apart from its envelope."""
        problems: list[Problem] = []
        if self._walk:
            problems += self._undeclared_in_envelope(frame)
        if frame.kind == "response" and frame.id is not None and "method" not in frame.members:
            asked = self.pending.answer(direction, frame.id, lambda method: self._misfit(method, frame))
            if asked is None:
                return direction, None, [*problems, self._orphan(frame, direction)]
            if direction is None and asked.direction is not None:
                direction = OPPOSITE[asked.direction]
            problems += self._result_problems(self.protocol.methods.get(asked.method), frame)
            return direction, asked.method, problems
        if frame.method is None:
            return direction, None, problems
        method = self.protocol.methods.get(frame.method)
        if direction is None and method is not None:
            direction = method.direction
        problems += self._call_problems(method, frame, direction)
        if frame.id is not None and self.pending.ask(direction, frame.id, frame.method):
            message = f"`id` {show(frame.members['id'])} still waits for the response to an earlier request"
            problems.append(Problem("request/duplicate-id", message, ("id",)))
        return direction, frame.method, problems

    def _call_problems(self, method: Method | None, frame: Frame, direction: Direction | None) -> Iterator[Problem]:
        other = self.protocol.elsewhere.get(frame.method or "")
        if method is None and other is not None:
            self.summary.elsewhere += 1
            if self._strict:
                message = f"{name(frame.method or '')} is no method of revision {self.protocol.revision}, but of {other}"
                yield Problem("strict/other-revision", message, ("method",))
            return
        if method is None:
            methods = self.protocol.methods.values()
            known = [each.name for each in methods if each.direction == direction or direction is None]
            hint = did_you_mean(frame.method, known) or did_you_mean(frame.method, self.protocol.methods)
            message = f"{name(frame.method or '')} is no method of revision {self.protocol.revision}{hint}"
            yield Problem("method/unknown", message, ("method",))
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
            yield from self._params_problems(method.params, frame)

    def _params_problems(self, definition: str, frame: Frame) -> Iterator[Problem]:
        params: Json = frame.members.get("params")
        if isinstance(params, dict):
            yield from self._judge("params/schema", definition, params, ("params",))
        elif "params" in frame.members:
            found = "null" if params is None else f"{show(params)} ({json_type(params)})"
            yield Problem("params/shape", f"`params` is {found}, expected an object; it is read as an empty one", ("params",))
        else:
            missing = self.protocol.judge.problems("params/schema", definition, {}, ("params",))
            if missing:
                required = self.protocol.judge.required(definition)
                needs = f" with {listing([name(each) for each in required])}" if required else ""
                yield Problem("params/schema", f"`params` is missing, expected an object{needs}", (), missing[0].schema)

    def _result_problems(self, method: Method | None, frame: Frame) -> Iterator[Problem]:
        if method is not None and method.result is not None and "result" in frame.members and "error" not in frame.members:
            yield from self._judge("result/schema", method.result, frame.members["result"], ("result",))

    def _misfit(self, method_name: str, frame: Frame) -> float:
        """How badly a response answers a request of that method: undeclared members, or infinitely if it is invalid."""
        method = self.protocol.methods.get(method_name)
        if "result" not in frame.members:
            return 0
        if method is None or method.result is None:
            return math.inf
        try:
            if not self.protocol.judge.is_valid(method.result, frame.members["result"]):
                return math.inf
            return sum(1 for _ in undeclared(self.protocol.judge, method.result, frame.members["result"], ()))
        except RecursionError:
            return math.inf

    def _judge(self, rule: str, definition: str, value: Json, at: Path) -> Iterator[Problem]:
        problems = self.protocol.judge.problems(rule, definition, value, at)
        yield from problems
        if not self._walk or any(problem.rule == "json/nesting" for problem in problems):
            return
        found = list(undeclared(self.protocol.judge, definition, value, at))  # no deeper than the judge went
        self.summary.undeclared += len(found)
        if self._strict:
            yield from (_unknown_member(each.path, each.schema, each.declared) for each in found if not each.tag)

    def _undeclared_in_envelope(self, frame: Frame) -> Iterator[Problem]:
        for path in undeclared_in_envelope(frame):
            self.summary.undeclared += 1
            if self._strict:
                yield _unknown_member(path, None, ())

    def _orphan(self, frame: Frame, direction: Direction | None) -> Problem:
        message = f"no request with `id` {show(frame.members['id'])} waits for a response"
        if frame.id is not None and self.pending.same_text(direction, frame.id):
            message += "; one whose `id` is of the other JSON type does"
        return Problem("response/orphan", message, ("id",))


def _unknown_member(path: Path, schema: str | None, declared: tuple[str, ...]) -> Problem:
    member = str(path[-1])
    whose = f"of {place(path[:-1])}" if len(path) > 1 else "of a frame"
    message = f"{name(member)} is no declared member {whose}{did_you_mean(member, declared)}"
    return Problem("strict/unknown-member", message, path, schema)
