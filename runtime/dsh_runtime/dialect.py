"""What differs between revisions for a client, in one table, and the calls whose results have texts of their own.

Nothing on the wire tells the revision (rule S1): whoever makes a client names it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Final, Protocol, TypeVar

import dsh_protocol
from dsh_protocol import DecodeError, Request

from .activity import Interval, PromptReceipt, ReceiptToIdle, UntilFinished
from .errors import LocalProtocolError, RemoteProtocolError
from .unchecked import member, members

R = TypeVar("R")

PROVIDER: Final = "deepseek-official"
MODEL: Final = "deepseek-v4-flash"
"""What is used without other instructions (rule C28)."""


class ServerInfo(Protocol):
    """Who answered: the same in all revisions, whatever the runtime speaks."""

    name: str
    version: str


class Initialized(Protocol):
    """The result of `initialize` as the revision's own dataclass; this much is common to all."""

    server_info: ServerInfo


@dataclass(frozen=True)
class Dialect:
    """One revision, as a client needs it. `initialize_timeout` is in seconds, None for no bound (rules C35, C36, C37)."""

    revision: str
    initialize_timeout: float | None
    interval: type[Interval]

    @cached_property
    def module(self) -> ModuleType:
        """The generated package of the revision. Raises `LookupError` where there is none."""
        return dsh_protocol.revision(self.revision)

    @cached_property
    def _received(self) -> dict[str, Any]:
        rows = self.module.METHODS.items()
        return {name: row.decode_params for name, row in rows if row.sender == "server" and not isinstance(row, Request)}

    def decode(self, method: str, params: dict[str, Any]) -> Any:
        """The dataclass of a notification. Raises `DecodeError`, and `LookupError` for one that the revision does not have."""
        decode = self._received.get(method)
        if decode is None:
            raise LookupError(f"{method!r} is not a notification of revision {self.revision}")
        return decode(params)

    def initialize_params(self, cwd: str | os.PathLike[str] | None, provider: str, model: str, **optional: Any) -> Any:
        """The params of `initialize`: an absolute directory, and no member that was not given (rule C25).

        Raises `LocalProtocolError` for a member that the revision does not have.
        """
        given = {name: value for name, value in optional.items() if value is not None}
        where: str = os.path.abspath("." if cwd is None else os.fspath(cwd))  # noqa: PTH100 - no symbolic link is followed
        try:
            return self.module.InitializeParams(cwd=where, provider=provider, model=model, **given)
        except TypeError as error:
            raise LocalProtocolError(f"initialize of revision {self.revision}: {error}") from None

    def initialized(self, result: Any) -> Initialized:
        """The result of `initialize`. Raises `RemoteProtocolError` (rule C30)."""
        names = [member(result, "serverInfo", name) for name in ("name", "version")]
        if isinstance(result, dict) and not all(isinstance(name, str) for name in names):
            raise RemoteProtocolError(f"initialize returned no server identity: {_shown(result)}")
        return decode_result(self.module.METHODS["initialize"], result)  # type: ignore[no-any-return]

    def receipt(self, session_id: str, result: Any) -> PromptReceipt:
        """The result of `session/prompt`. Raises `RemoteProtocolError` (rule C30)."""
        if isinstance(result, dict) and self.interval.by_message and not isinstance(member(result, "messageId"), str):
            raise RemoteProtocolError(f"session/prompt returned no message id: {_shown(result)}")
        decoded = decode_result(self.module.METHODS["session/prompt"], result)
        return PromptReceipt(session_id, getattr(decoded, "message_id", None))


DIALECTS: Final = {
    row.revision: row
    for row in (
        Dialect("2026-07-29", None, UntilFinished),
        Dialect("0.1.1", None, ReceiptToIdle),
        Dialect("0.1.5", 10.0, ReceiptToIdle),
        Dialect("0.2.1", 30.0, ReceiptToIdle),
    )
}


def dialect(revision: str) -> Dialect:
    """The row of a revision. Raises `LookupError` for one that there is no generated package for."""
    dsh_protocol.revision(revision)
    return DIALECTS[revision]


def decode_result(method: Request[Any, R], result: Any) -> R:
    """The typed result of a request. Raises `RemoteProtocolError` for one that is not as the schema says (rules C29, C54)."""
    if not isinstance(result, dict):
        raise RemoteProtocolError(f"{method.method} response must be a JSON object")
    try:
        return method.decode_result(members(result))
    except DecodeError as error:
        raise RemoteProtocolError(f"{method.method} response: {error}") from error


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}..."
