"""What a JSON value is as a frame: its kind, its id, its method, and what is wrong with its envelope.

The kind is what a reader takes a value for, by `id` and `method` alone; the protocol's readers are generous, so most of what
is wrong with an envelope changes nothing for the peer. It is reported all the same: a frame should be what its writer meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from msgspec import Struct

from .findings import Kind, Problem
from .wording import Json, did_you_mean, json_type, listing, name, show

MEMBERS: Final[dict[Kind, frozenset[str]]] = {
    "request": frozenset({"jsonrpc", "id", "method", "params"}),
    "response": frozenset({"jsonrpc", "id", "result", "error"}),
    "notification": frozenset({"jsonrpc", "method", "params"}),
}
"""The members of each kind of frame."""
ERROR_MEMBERS: Final = frozenset({"code", "message"})
"""The members of an error; its `data` is never sent."""

IdKey = tuple[str, str | float]
"""An id as its readers compare it: with its JSON type, numbers as IEEE doubles."""


class Frame(Struct, frozen=True):
    """A JSON value, taken for a frame. `kind` None: nobody acts on it. `id` and `method` are None where they don't count."""

    value: Json
    kind: Kind | None = None
    id: IdKey | None = None
    method: str | None = None

    @property
    def members(self) -> dict[str, Any]:
        """The frame's members; of a value that is no object there are none."""
        return self.value if isinstance(self.value, dict) else {}


def classify(value: Json) -> Frame:
    """The frame that a reader sees."""
    if not isinstance(value, dict):
        return Frame(value)
    key = id_key(value.get("id"))
    method = value.get("method")
    if isinstance(method, str):
        return Frame(value, "notification" if key is None else "request", key, method)
    return Frame(value, None if key is None else "response", key)


def id_key(value: Json) -> IdKey | None:
    """An id as its readers compare it; None if it is no id."""
    match value:
        case str():
            return ("string", value)
        case bool() | None:
            return None
        case int() | float():
            try:
                return ("number", float(value))
            except OverflowError:
                return ("number", float("inf") if value > 0 else float("-inf"))
        case _:
            return None


def envelope_problems(frame: Frame, codes: Collection[int]) -> Iterator[Problem]:
    """What is wrong with a frame apart from its params or result. `codes`: the declared error codes, empty if none are."""
    value = frame.value
    if isinstance(value, list):
        yield Problem("frame/batch", f"the frame is an array of {len(value)}; batches are not supported and get no reply")
        return
    if not isinstance(value, dict):
        yield Problem("frame/shape", f"the frame is {_described(value)}, expected an object")
        return
    if frame.kind is None:
        yield _no_kind(value)
        return
    if value.get("jsonrpc") != "2.0":
        if "jsonrpc" in value:
            yield Problem("frame/version", f'`jsonrpc` is {show(value["jsonrpc"])}, expected "2.0"', ("jsonrpc",))
        else:
            yield Problem("frame/version", '`jsonrpc` is missing, expected "2.0"')
    if frame.kind == "response":
        yield from _response_problems(value, codes)
        return
    if "id" in value and frame.id is None:
        message = (
            f"`id` is {show(value['id'])}, expected a string or a number; the frame counts as a notification, without a reply"
        )
        yield Problem("frame/id", message, ("id",))
    extra = [member for member in ("result", "error") if member in value]
    if extra:
        yield Problem("frame/shape", f"the frame has `method` and also {listing([name(each) for each in extra])}", (extra[0],))


def _no_kind(value: dict[str, Any]) -> Problem:
    if "id" in value and ("result" in value or "error" in value):
        return Problem("frame/id", f"`id` of a response is {show(value['id'])}, which no request can have", ("id",))
    if "method" in value:
        return Problem("frame/method", f"`method` is {show(value['method'])}, expected a string", ("method",))
    hint = next((hint for member in value if (hint := did_you_mean(member, ("method", "result", "id")))), "")
    return Problem("frame/shape", f"the frame has neither a method nor a usable id, so nobody acts on it{hint}")


def _response_problems(value: dict[str, Any], codes: Collection[int]) -> Iterator[Problem]:
    if "method" in value:
        message = f"`method` is {show(value['method'])}, expected a string; the frame counts as a response"
        yield Problem("frame/method", message, ("method",))
    elif "result" in value and "error" in value:
        yield Problem("frame/result-and-error", "the response has both `result` and `error`, expected one of them")
    elif "error" in value:
        yield from _error_problems(value["error"], codes)
    elif "result" not in value:
        hint = next((hint for member in value if (hint := did_you_mean(member, ("result", "error")))), "")
        yield Problem("frame/no-result", f"the response has neither `result` nor `error`{hint}")


def _error_problems(error: Json, codes: Collection[int]) -> Iterator[Problem]:
    rule = "frame/error-shape"
    if not isinstance(error, dict):
        yield Problem(rule, f"`error` is {_described(error)}, expected an object with `code` and `message`", ("error",))
        return
    for member, expected in (("code", "an integer"), ("message", "a string")):
        if member not in error:
            yield Problem(rule, f"`error.{member}` is missing, expected {expected}", ("error",))
    code = error.get("code", 0)
    if isinstance(code, bool) or not isinstance(code, int | float) or code != code // 1:
        yield Problem(rule, f"`error.code` is {show(code)}, expected an integer", ("error", "code"))
    elif codes and "code" in error and code not in codes:
        expected = listing([str(each) for each in sorted(codes, reverse=True)], "or")
        yield Problem("frame/error-code", f"`error.code` is {show(code)}, expected {expected}", ("error", "code"))
    message = error.get("message", "")
    if not isinstance(message, str):
        yield Problem(rule, f"`error.message` is {show(message)}, expected a string", ("error", "message"))


def _described(value: Json) -> str:
    return "null" if value is None else f"{show(value)} ({json_type(value)})"


def undeclared_in_envelope(frame: Frame) -> Iterator[tuple[str, ...]]:
    """The places of members that no envelope has, those of an error included."""
    if frame.kind is None:
        return
    known = MEMBERS[frame.kind] | {"id", "method", "result", "error"}  # these in a wrong place have rules of their own
    for member in frame.members:
        if member not in known:
            yield (member,)
    error: Json = frame.members.get("error")
    if frame.kind == "response" and isinstance(error, dict):
        for member in error:
            if member not in ERROR_MEMBERS:
                yield ("error", member)
