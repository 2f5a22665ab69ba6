"""A request of ours on its way: what `submit` returns, and what `request` waits for."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from ..connection import JsonRpcId, ResponseReceived
from .workers import Workers

R = TypeVar("R")

_log: Final = logging.getLogger("dsh_runtime")


@dataclass(frozen=True, slots=True)
class Role:
    """What a thread does."""

    nested: bool = False
    """It runs a handler of the transport."""
    urgent: bool = False
    """... which holds up the queue of notifications."""
    workers: Workers | None = None
    """... and belongs to these."""


class PendingCall(Generic[R]):
    """The result of a request, once it is here. It has the methods of `concurrent.futures.Future`, at a fraction of the cost.

    `result` and `exception` wait, for `timeout` seconds at most; a time-out does not abandon the request, `cancel` does.
    """

    __slots__ = (
        *("counted", "ident", "over", "role", "waits"),
        *("_abandon", "_callbacks", "_decode", "_done", "_error", "_ready", "_result"),
    )

    def __init__(
        self,
        role: Role,
        waits: bool,
        decode: Callable[[object], R] | None,
        abandon: Callable[[PendingCall[Any]], object],
    ) -> None:
        # for the transport, which guards them with its lock
        self.ident: JsonRpcId = ""
        self.role = role  # of the thread that made it
        self.waits = waits  # a caller sleeps until it is here
        self.counted = False  # delivered, and that caller has not gone on yet
        self.over = False  # that caller waits no more
        self._decode = decode
        self._abandon = abandon
        self._callbacks: deque[Callable[[PendingCall[R]], object]] | None = None
        self._done = False
        self._error: BaseException | None = None
        self._result: Any = None
        self._ready = threading.Lock()
        self._ready.acquire()

    def result(self, timeout: float | None = None) -> R:
        """What the peer answered. Raises what `JsonRpcLineTransport.request` raises, and `CancelledError` after `cancel`."""
        if not self._done and not self._wait(timeout):
            raise TimeoutError
        if self._error is not None:
            raise self._error
        if self._decode is None:
            return self._result  # type: ignore[no-any-return]
        return self._decode(self._result)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What `result` raises; None for a result. Raises `CancelledError` itself."""
        if not self._done and not self._wait(timeout):
            raise TimeoutError
        try:
            self.result()
        except CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - that is what is asked for
            return error
        return None

    def done(self) -> bool:
        """Whether `result` returns at once."""
        return self._done

    def cancel(self) -> bool:
        """Abandon the request; the peer is told nothing. False if the result is here already."""
        if self._abandon(self):
            self.fail(CancelledError())
        return self.cancelled()

    def cancelled(self) -> bool:
        """Whether the request was abandoned."""
        return isinstance(self._error, CancelledError)

    def add_done_callback(self, callback: Callable[[PendingCall[R]], object]) -> None:
        """Call back with this object once it is done, in whichever thread that happens; at once if it is."""
        if self._callbacks is None:
            self._callbacks = deque()
        self._callbacks.append(callback)
        if self._done:
            self._call_back()

    # for the transport: exactly one of these is called, once

    def settle(self, response: ResponseReceived[Any]) -> None:
        """The response is here."""
        self._result, self._error = response.result, response.error
        self._finish()

    def fail(self, error: BaseException) -> None:
        """There will be no response."""
        self._error = error
        self._finish()

    def _finish(self) -> None:
        self._done = True
        self._ready.release()
        if self._callbacks is not None:
            self._call_back()

    def _call_back(self) -> None:
        """Two threads may be here: each callback is taken by one."""
        assert self._callbacks is not None
        while self._callbacks:
            try:
                callback = self._callbacks.popleft()
            except IndexError:
                return
            try:
                callback(self)
            except Exception:  # noqa: BLE001 - it is not this transport's failure
                _log.exception("a callback of a request failed")

    def wait_until(self, deadline: float | None) -> bool:
        """Wait for the end, until the deadline, a reading of `time.monotonic`."""
        return self._wait(None if deadline is None else deadline - time.monotonic())

    def _wait(self, timeout: float | None) -> bool:
        if timeout is None:
            self._ready.acquire()
        elif not self._ready.acquire(timeout=min(max(0.0, timeout), threading.TIMEOUT_MAX)):
            return False
        self._ready.release()  # for whoever else waits
        return True
