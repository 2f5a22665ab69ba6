"""Whole frames: requests and notifications by method, responses by what they carry, and what is no frame of the protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..ir import Method, Protocol, Ref
from .row import FUTURE, UNLISTED, Case, Value
from .samples import Samples
from .scalars import wrong_types

_NO_CODE: Final = 7


class Frames:
    """Lists the frame cases of a protocol, each with the method it is about."""

    def __init__(self, samples: Samples) -> None:
        self.samples: Final = samples
        self.protocol: Final[Protocol] = samples.protocol

    def cases(self, method: Method) -> Iterator[Case]:
        """The frames of one method: its request or notification, and the answer if it has one."""
        frame = self.call(method)
        yield Case("minimal", frame)
        yield from self._changed(frame, optional={"params"} if method.params is None else set())
        yield Case("negative", {**frame, "method": UNLISTED}, ("method",), "unknown method")
        yield from (case.within("method", {**frame, "method": case.value}) for case in wrong_types({"string"}))
        if method.params is not None:
            yield Case("full", {**frame, "params": self.samples.full(Ref(method.params), 1)}, ("params",))
            yield from (case.within("params", {**frame, "params": case.value}) for case in wrong_types({"object"}))
        else:
            ignored: tuple[Value, ...] = ({}, None, [7])
            yield from (Case("boundary", {**frame, "params": value}, ("params",)) for value in ignored)
        if method.result is None:
            yield Case("negative", {**frame, "id": 1}, ("id",), "unknown member")
            return
        yield from self._ids(frame)
        answer = self._answer(method.result)
        yield Case("full", {**answer, "result": self.samples.full(Ref(method.result), 1)}, ("result",))

    def common(self) -> Iterator[Case]:
        """Frames of no method, or of an unknown one, and answers whatever they answer."""
        results = [method.result for method in self.protocol.methods if method.result is not None]
        for result in dict.fromkeys(results):
            yield Case("arm", self._answer(result), ("result",))
        if results:
            answer = self._answer(results[0])
            yield from self._changed(answer)
            yield from self._ids(answer)
            yield Case("negative", {**answer, "method": UNLISTED}, ("method",), "unknown member")
            yield from (case.within("result", {**answer, "result": case.value}) for case in wrong_types({"object"}))
        code = self.protocol.errors[0].code if self.protocol.errors else _NO_CODE
        failure: dict[str, Value] = {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "text"}}
        yield Case("arm", failure, ("error",))
        yield from self._changed(failure)
        yield from self._ids(failure)
        yield Case("negative", {**failure, "method": UNLISTED}, ("method",), "unknown member")
        if results:
            yield Case("negative", {**failure, "result": self._answer(results[0])["result"]}, ("result",), "unknown member")
        yield from (case.within("error", {**failure, "error": case.value}) for case in self._errors(failure["error"]))
        yield Case("negative", {"jsonrpc": "2.0", "method": FUTURE}, ("method",), "unknown method")
        yield Case("negative", {"jsonrpc": "2.0", "id": 1, "method": FUTURE, "params": {}}, ("method",), "unknown method")
        yield from wrong_types({"object"})
        yield Case("negative", {}, ("jsonrpc",), "missing")

    def call(self, method: Method) -> dict[str, Value]:
        """The least request or notification of a method."""
        ident = {} if method.result is None else {"id": 1}
        params = {} if method.params is None else {"params": self.samples.minimal(Ref(method.params))}
        return {"jsonrpc": "2.0", **ident, "method": method.name, **params}

    def _answer(self, result: str) -> dict[str, Value]:
        return {"jsonrpc": "2.0", "id": 1, "result": self.samples.minimal(Ref(result))}

    @staticmethod
    def _ids(frame: dict[str, Value]) -> Iterator[Case]:
        yield from (Case("boundary", {**frame, "id": ident}, ("id",)) for ident in ("1", "", 0, 1.5))
        yield from (Case("negative", {**frame, "id": ident}, ("id",), "wrong type") for ident in (True, [1]))
        yield Case("negative", {**frame, "id": None}, ("id",), "null")

    @staticmethod
    def _changed(frame: dict[str, Value], optional: set[str] | None = None) -> Iterator[Case]:
        """A frame with one of its members missing, of another version, or with a member of the future."""
        for wire in (wire for wire in frame if wire not in (optional or ())):
            yield Case("negative", {key: value for key, value in frame.items() if key != wire}, (wire,), "missing")
        for version in (UNLISTED, "1.0"):
            yield Case("negative", {**frame, "jsonrpc": version}, ("jsonrpc",), "wrong constant")
        for value in (2, None):
            yield Case("negative", {**frame, "jsonrpc": value}, ("jsonrpc",), "null" if value is None else "wrong type")
        yield Case("future", {**frame, FUTURE: {"since": [1, None]}}, (FUTURE,))

    def _errors(self, error: dict[str, Value]) -> Iterator[Case]:
        codes = [each.code for each in self.protocol.errors]
        yield from (Case("enum", {**error, "code": code}, ("code",)) for code in codes)
        if codes:
            yield Case("negative", {**error, "code": max(codes) + 1}, ("code",), "wrong constant")
        else:
            yield Case("negative", {**error, "code": 0.5}, ("code",), "fraction")
        for wire, kind in (("code", "number"), ("message", "string")):
            yield Case("negative", {key: value for key, value in error.items() if key != wire}, (wire,), "missing")
            yield from (case.within(wire, {**error, wire: case.value}) for case in wrong_types({kind}))
        yield Case("boundary", {**error, "message": ""}, ("message",))
        yield Case("future", {**error, "data": {"since": [1, None]}}, ("data",))
        yield from wrong_types({"object"})
