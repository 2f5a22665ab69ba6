"""The protocol's transport rules without any I/O: bytes in -> events out, calls in -> bytes out.

What it knows, by PROTOCOL.md rule:

    reading       lines end at LF only, are trimmed and decoded leniently (T1-T6); what is no JSON object is dropped (T8-T11),
                  and so is text after the last LF (T13); drops are silent towards the peer and an event for the owner
    classifying   by `id` and `method` alone (T15-T22); params that are no object become {} (T27)
    answering     codes -32601 and -32603, never `data` (T30-T37); here, and nowhere else, exceptions become error frames
    calling       fresh ids, an entry before the bytes (T39-T42); responses are matched with their JSON type (T23), strays
                  dropped (T26); an error is an object under `error` (T48, T49)

It holds no lock, thread, queue or clock. One thread may feed it bytes while another makes calls and answers.

Time is linear in the input, however it is cut; memory is the unfinished line, at most `max_line` bytes (rule T14 sets no limit:
this one guards against a peer that never ends a line).
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

import msgspec

from dsh_protocol import UNSET, Notification, Request, encode

from .errors import INTERNAL_ERROR, METHOD_NOT_FOUND, JsonRpcResponseError, LocalProtocolError

JsonRpcId: TypeAlias = str | int | float
Params: TypeAlias = dict[str, Any]
C = TypeVar("C")

Observer: TypeAlias = Callable[[Literal["in", "out"], bytes, Any, str | None], None]
"""Sees every line: its direction from this side, the line without its LF, the parsed frame or None, why it was dropped or None.

Incoming lines in the order of the wire, outgoing ones in the order in which they are written. What it raises is logged.
"""

MAX_LINE: Final = 512 * 1024 * 1024
"""Bytes of an unfinished line before it is given up. 200 MiB of images, the most a prompt may carry, are 267 MiB of base64."""

QUEUE_LIMIT: Final = 1024
"""Notifications that may wait for their handler, and requests that may wait for theirs, before reading pauses."""

SHOWN: Final = 400
"""Bytes of a dropped line that are kept for a log."""

_log: Final = logging.getLogger("dsh_runtime")


# Not frozen: that would make their construction, one per frame, three times as slow.


@dataclass(slots=True)
class RequestReceived:
    """The peer asks; answer with `answer`, `refuse_method` or `fail` and this id."""

    id: JsonRpcId
    method: str
    params: Params


@dataclass(slots=True)
class NotificationReceived:
    """The peer tells; there is no answer."""

    method: str
    params: Params


@dataclass(slots=True)
class ResponseReceived(Generic[C]):
    """The response to the request that `call` stands for: a result (None where there is none), or the error to raise."""

    call: C
    result: Any
    error: JsonRpcResponseError | None


@dataclass(slots=True)
class LineDropped:
    """A line that the protocol ignores. `line` is what was read, cut to a length fit for a log."""

    reason: str
    line: bytes


Event: TypeAlias = RequestReceived | NotificationReceived | ResponseReceived[C] | LineDropped


class Connection(Generic[C]):
    """One end of one conversation. `C` is what stands for a request of ours until its response is here.

    `dropped` counts the lines that were ignored (blank ones are no lines); `pending` has the calls without a response, by id.
    """

    def __init__(self, *, max_line: int = MAX_LINE, observer: Observer | None = None) -> None:
        self.dropped = 0
        self.pending: dict[JsonRpcId, C] = {}
        self._max_line = max_line
        self._observer = observer
        self._random = ""  # digits for ids
        self._unfinished = BytesIO()
        self._held = 0  # bytes in _unfinished
        self._skipping = False  # inside a line that was given up

    # bytes in

    def receive(self, data: bytes | str) -> list[Event[C]]:
        """The events in the next bytes of the input, or in text (rule T7)."""
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogatepass")
        *lines, rest = data.split(b"\n")
        events: list[Event[C]] = []
        if lines:
            if self._skipping:
                self._skipping = False
                del lines[0]
            elif self._held:
                self._unfinished.write(lines[0])
                lines[0] = self._unfinished.getvalue()
                self._let_go()
            for line in lines:
                event = self._read(line)
                if event is not None:
                    events.append(event)
        if rest and not self._skipping:
            self._held += self._unfinished.write(rest)
            if self._held > self._max_line:
                self._skipping = True
                events.append(self._too_long(self._unfinished.getvalue(), self._held))
                self._let_go()
        return events

    def receive_eof(self) -> list[Event[C]]:
        """The input has ended: what is left of it is no frame (rule T13)."""
        line = self._unfinished.getvalue()
        self._let_go()
        return [self._drop("the input ended inside this line", line, None)] if line.strip() else []

    def _let_go(self) -> None:
        self._unfinished = BytesIO()
        self._held = 0

    def _read(self, line: bytes) -> Event[C] | None:
        if len(line) > self._max_line:
            return self._too_long(line, len(line))
        try:
            frame = _DECODE(line)
        except (ValueError, RecursionError):
            try:
                frame = read_leniently(line)
            except ValueError as error:
                return self._drop(str(error), line, None)
            if frame is _BLANK:
                return None
        if frame.__class__ is not dict:
            return self._drop("the line is no JSON object", line, None)
        event = self._classify(frame)
        if isinstance(event, str):
            return self._drop(event, line, frame)
        if self._observer is not None:
            self._observe("in", line, frame, None)
        return event

    def _classify(self, frame: dict[str, Any]) -> RequestReceived | NotificationReceived | ResponseReceived[C] | str:
        """What this frame is, or why it is dropped."""
        method: Any = frame.get("method")
        ident: Any = frame.get("id")
        kind = ident.__class__
        has_id = kind is str or kind is int or kind is float
        if kind is float and not isfinite(ident):
            return "the id is a number that could not be sent back"
        if method.__class__ is str:
            params: Any = frame.get("params")
            if params.__class__ is not dict:
                params = {}
            return RequestReceived(ident, method, params) if has_id else NotificationReceived(method, params)
        if not has_id:
            return "the frame has neither a method nor an id"
        call = self.pending.pop(ident, None)
        if call is None:
            return "nobody waits for a response with this id"
        error: Any = frame.get("error")
        if error.__class__ is dict:
            return ResponseReceived(call, None, response_error(error))
        return ResponseReceived(call, frame.get("result"), None)

    def _too_long(self, line: bytes, size: int) -> LineDropped:
        start = line[: min(SHOWN, self._max_line)]
        return self._drop(f"the line is too long: {size} bytes so far, max_line allows {self._max_line}", start, None)

    def _drop(self, reason: str, line: bytes, frame: Any) -> LineDropped:
        self.dropped += 1
        if self._observer is not None:
            self._observe("in", line, frame, reason)
        return LineDropped(reason, line[:SHOWN])

    # calls in

    def request(self, method: str | Request[Any, Any], params: Any, call: C) -> tuple[JsonRpcId, bytes]:
        """A request's fresh id and its line. The response arrives as `ResponseReceived` unless `abandon` comes first.

        Raises `LocalProtocolError` for params that are no JSON object.
        """
        if not self._random:
            self._random = os.urandom(64 * 16).hex()  # in one system call for 64 ids
        ident = make_id(self._random[:32])
        self._random = self._random[32:]
        frame = {"jsonrpc": "2.0", "id": ident, "method": method if isinstance(method, str) else method.method}
        line = self._write(frame, method, params)
        self.pending[ident] = call
        return ident, line

    def abandon(self, ident: JsonRpcId) -> None:
        """Nobody waits for this response any more (rule T45); should it come, it is a stray one."""
        self.pending.pop(ident, None)

    def notification(self, method: str | Notification[Any], params: Any = None) -> bytes:
        """A notification's line. Raises `LocalProtocolError` for params that are no JSON object."""
        return self._write({"jsonrpc": "2.0", "method": method if isinstance(method, str) else method.method}, method, params)

    def answer(self, ident: JsonRpcId, result: Any) -> bytes:
        """The response with a result: JSON, a generated dataclass, or `UNSET` for none (rule T31).

        An error response where the result is not JSON (rule T35).
        """
        frame: dict[str, Any] = {"jsonrpc": "2.0", "id": ident}
        try:
            if result is not UNSET:
                frame["result"] = encode(result)
            line = write_line(frame)
        except (LocalProtocolError, TypeError, RecursionError) as error:
            return self.fail(ident, error)
        return self._sent(line, frame)

    def fail(self, ident: JsonRpcId, error: BaseException) -> bytes:
        """The error response for a handler that ended with this exception (rules T33, T34)."""
        return self._refuse(ident, INTERNAL_ERROR, failure_text(error))

    def refuse_method(self, ident: JsonRpcId, method: str) -> bytes:
        """The error response of a side that has no request handler (rule T32)."""
        return self._refuse(ident, METHOD_NOT_FOUND, f"method not found: {method}")

    def _refuse(self, ident: JsonRpcId, code: int, message: str) -> bytes:
        frame = {"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": message}}
        return self._sent(write_line(frame), frame)

    def _write(self, frame: dict[str, Any], method: str | Notification[Any], params: Any) -> bytes:
        try:
            if not isinstance(method, str):
                if method.params is not None:
                    frame["params"] = method.encode_params(params)
            elif params.__class__ is dict and _SCALARS.issuperset(map(type, params.values())):
                frame["params"] = params
            elif params is not None:
                frame["params"] = encode(params)
        except (TypeError, RecursionError) as error:
            raise LocalProtocolError(f"not JSON: {error}") from None
        if not isinstance(frame.get("params", {}), dict):
            raise LocalProtocolError(f"params have to be a JSON object, not {type(params).__name__}")
        return self._sent(write_line(frame), frame)

    def _sent(self, line: bytes, frame: Any) -> bytes:
        if self._observer is not None:
            self._observe("out", line[:-1], frame, None)
        return line

    def _observe(self, direction: Literal["in", "out"], line: bytes, frame: Any, reason: str | None) -> None:
        assert self._observer is not None
        try:
            self._observer(direction, line, frame, reason)
        except Exception:  # noqa: BLE001 - it is not this connection's failure
            _log.exception("the observer failed")


def make_id(digits: str) -> str:
    """`req_` and a UUID of version 4 without its dashes, of these 32 random digits (rule T39)."""
    return f"req_{digits[:12]}4{digits[13:16]}{_VARIANTS[digits[16]]}{digits[17:]}"


def read_leniently(line: bytes) -> Any:
    """A line that the fast reader refuses, read as the rules say: odd blanks, broken UTF-8, lone surrogates and numbers beyond
    any range (which become infinite, as in JavaScript) are no obstacle.

    `_BLANK` for a line of nothing. Raises `ValueError` with the reason why it is not JSON.
    """
    text = line.decode("utf-8", "replace").strip(_TRIMMED)
    if not text:
        return _BLANK
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_int=_read_integer)
    except json.JSONDecodeError as error:
        raise ValueError(f"the line is not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise ValueError("the line is nested too deeply to be read") from None


def write_line(frame: dict[str, Any]) -> bytes:
    """One frame as compact JSON in UTF-8, with its line feed. Raises `LocalProtocolError` for what is not JSON."""
    try:
        try:
            line = _ENCODE_LINES((frame,))
            if b"null" in line:  # what the encoder makes of NaN and the infinities
                _refuse_infinite(frame)
        except UnicodeEncodeError:  # half of a surrogate pair: JSON can say it, as an escape
            line = json.dumps(frame, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise LocalProtocolError(f"not JSON: {error}") from None
    return line


def response_error(error: dict[str, Any]) -> JsonRpcResponseError:
    """The exception for the `error` member of a response (rule T49)."""
    code = error.get("code")
    message = error.get("message")
    return JsonRpcResponseError(
        code if code.__class__ in (int, float) else None,
        message if isinstance(message, str) else "JSON-RPC error",
        error.get("data"),
    )


def failure_text(error: BaseException) -> str:
    """The text of an exception as the peer gets to see it: that of its class if it has none of its own."""
    try:
        text = error.message if isinstance(error, JsonRpcResponseError) else str(error)
    except Exception:  # noqa: BLE001 - whoever wrote that `__str__`, the peer gets an answer
        text = ""
    return text or type(error).__name__


def _refuse_constant(name: str) -> None:
    raise ValueError(f"the line is not JSON: {name} is no JSON value")


def _read_integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # more digits than the interpreter converts
        return float(digits)


def _refuse_infinite(value: Any) -> None:
    kind = value.__class__
    if kind is dict:
        for item in value.values():
            _refuse_infinite(item)
    elif kind is list or kind is tuple:
        for item in value:
            _refuse_infinite(item)
    elif kind is float and not isfinite(value):
        raise ValueError(f"{value} is no JSON value")


_DECODE: Final = msgspec.json.Decoder().decode
_ENCODE_LINES: Final = msgspec.json.Encoder().encode_lines
_BLANK: Final = object()
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_VARIANTS: Final = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))
_TRIMMED: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
