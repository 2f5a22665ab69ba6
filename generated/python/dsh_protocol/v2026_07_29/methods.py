"""The method map of revision 2026-07-29."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, cast, overload

from .._methods import Notification, Request, TypeRef, is_request

if TYPE_CHECKING:
    from .session import (
        InitializeParams,
        InitializeResult,
        SessionEventNotification,
        SessionFinishedNotification,
        SessionPromptParams,
        SessionPromptResult,
        ShutdownResult,
        SubagentFinishedNotification,
        SubagentStartedNotification,
    )

REVISION: Final = "2026-07-29"
_PACKAGE: Final = __package__ or ""

Methods = TypedDict(
    "Methods",
    {
        "initialize": "Request[InitializeParams, InitializeResult]",
        "session/prompt": "Request[SessionPromptParams, SessionPromptResult]",
        "shutdown": "Request[None, ShutdownResult]",
        "session.event": "Notification[SessionEventNotification]",
        "session.finished": "Notification[SessionFinishedNotification]",
        "subagent.started": "Notification[SubagentStartedNotification]",
        "subagent.finished": "Notification[SubagentFinishedNotification]",
    },
)

METHODS: Final[Methods] = {
    "initialize": Request(
        "initialize",
        "client",
        TypeRef(_PACKAGE, "session", "InitializeParams", "InitializeParams"),
        TypeRef(_PACKAGE, "session", "InitializeResult", "InitializeResult"),
    ),
    "session/prompt": Request(
        "session/prompt",
        "client",
        TypeRef(_PACKAGE, "session", "SessionPromptParams", "SessionPromptParams"),
        TypeRef(_PACKAGE, "session", "SessionPromptResult", "SessionPromptResult"),
    ),
    "shutdown": Request("shutdown", "client", None, TypeRef(_PACKAGE, "session", "ShutdownResult", "ShutdownResult")),
    "session.event": Notification(
        "session.event", "server", TypeRef(_PACKAGE, "session", "SessionEventNotification", "SessionEventNotification")
    ),
    "session.finished": Notification(
        "session.finished", "server", TypeRef(_PACKAGE, "session", "SessionFinishedNotification", "SessionFinishedNotification")
    ),
    "subagent.started": Notification(
        "subagent.started", "server", TypeRef(_PACKAGE, "session", "SubagentStartedNotification", "SubagentStartedNotification")
    ),
    "subagent.finished": Notification(
        "subagent.finished",
        "server",
        TypeRef(_PACKAGE, "session", "SubagentFinishedNotification", "SubagentFinishedNotification"),
    ),
}
"""Every method of the protocol by name: `METHODS["..."].params` and `.result` are the classes of its payloads."""

ERROR_CODES: Final[dict[int, str]] = {
    -32601: "The peer has no request handler installed.",
    -32603: "The request failed, unknown methods and invalid params included; the message says why.",
}
"""The error codes that responses carry, with their meaning."""


def find_method(name: str) -> Notification[Any] | Request[Any, Any] | None:
    """The descriptor of a method whose name is known only at run time, or None."""
    table = cast("dict[str, Notification[Any] | Request[Any, Any]]", METHODS)
    return table.get(name)


@overload
def decode_params(method: Literal["initialize"], value: object) -> InitializeParams: ...


@overload
def decode_params(method: Literal["session/prompt"], value: object) -> SessionPromptParams: ...


@overload
def decode_params(method: Literal["shutdown"], value: object) -> None: ...


@overload
def decode_params(method: Literal["session.event"], value: object) -> SessionEventNotification: ...


@overload
def decode_params(method: Literal["session.finished"], value: object) -> SessionFinishedNotification: ...


@overload
def decode_params(method: Literal["subagent.started"], value: object) -> SubagentStartedNotification: ...


@overload
def decode_params(method: Literal["subagent.finished"], value: object) -> SubagentFinishedNotification: ...


@overload
def decode_params(method: str, value: object) -> Any: ...


def decode_params(method: str, value: object) -> Any:
    """The params of `method` from parsed JSON. Raises `DecodeError`, and `LookupError` for a method the protocol doesn't have."""
    descriptor = find_method(method)
    if descriptor is None:
        raise LookupError(f"{method!r} is not a method of revision {REVISION}")
    return descriptor.decode_params(value)


@overload
def decode_result(method: Literal["initialize"], value: object) -> InitializeResult: ...


@overload
def decode_result(method: Literal["session/prompt"], value: object) -> SessionPromptResult: ...


@overload
def decode_result(method: Literal["shutdown"], value: object) -> ShutdownResult: ...


@overload
def decode_result(method: str, value: object) -> Any: ...


def decode_result(method: str, value: object) -> Any:
    """The result of `method` from parsed JSON. Raises `DecodeError`, and `LookupError` for what is not a request of the protocol."""
    descriptor = find_method(method)
    if not is_request(descriptor):
        raise LookupError(f"{method!r} is not a request of revision {REVISION}")
    return descriptor.decode_result(value)
