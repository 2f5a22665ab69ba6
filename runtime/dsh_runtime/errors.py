"""What a caller has to tell apart, one class per decision.

    HarnessError
    ├── TransportClosedError      the peer is gone: start over (says the exit status and the last of stderr, if there are any)
    ├── ProtocolError             somebody broke the protocol: report a bug
    │   ├── LocalProtocolError    ... this side, by what it asked for
    │   └── RemoteProtocolError   ... the peer, by what it sent
    ├── JsonRpcResponseError      the peer refused this request: the code and the message say why
    └── SubscriptionOverflowError a subscriber read too slowly and lost notifications

A time limit that runs out raises the builtin `TimeoutError`; only the wait ends, the peer goes on (rule C33).
"""

from __future__ import annotations

from typing import Any, Final

METHOD_NOT_FOUND: Final = -32601
"""No handler answers requests here (rule T32)."""

INTERNAL_ERROR: Final = -32603
"""The handler failed; the message says why (rules T33, T34)."""


class HarnessError(Exception):
    """Everything that this package raises on purpose, but for `TimeoutError`."""


class TransportClosedError(HarnessError):
    """Nothing more can be sent or will arrive. `exit_code` and `stderr_tail` are known when a process was at the other end."""

    def __init__(self, message: str, *, exit_code: int | None = None, stderr_tail: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail

    def __str__(self) -> str:
        code = "" if self.exit_code is None else f" (exit code: {self.exit_code})"
        tail = "".join(f"\n  {line}" for line in self.stderr_tail)
        return f"{self.message}{code}{tail and f'; the last of its stderr:{tail}'}"


class ProtocolError(HarnessError):
    """A frame or a call that the protocol does not allow."""


class LocalProtocolError(ProtocolError):
    """This side asked for something the protocol does not allow; nothing was sent."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something the protocol does not allow."""


class JsonRpcResponseError(HarnessError):
    """An error response. `code` is None if it was no number; `data` is what the peer sent along, None if nothing (rule T49)."""

    def __init__(self, code: int | float | None, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return self.message if self.code is None else f"{self.message} (code {self.code})"


class SubscriptionOverflowError(HarnessError):
    """A subscription's queue was full: it ended, and the notifications from there on were not kept."""
