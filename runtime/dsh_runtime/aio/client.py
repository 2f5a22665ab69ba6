"""`HarnessClient` for asyncio: one runtime, at the level of the protocol. `harness.py` has the comfortable part."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, Self, TypeVar, overload

from dsh_protocol import HEAD, Request

from ..activity import PromptReceipt
from ..connection import MAX_LINE, Observer
from ..content import Prompt, content_blocks
from ..dialect import MODEL, PROVIDER, Initialized, decode_result, dialect
from ..errors import HarnessError, LocalProtocolError, TransportClosedError
from ..launch import ClosingTimes, Launch
from ..routing import SUBSCRIPTION_LIMIT, UNCLAIMED_LIMIT, Filter, Router
from .process import RuntimeProcess
from .streams import PipeReader, PipeWriter, Reader, Writer
from .subscription import Subscription
from .transport import JsonRpcLineTransport

P = TypeVar("P")
R = TypeVar("R")


class HarnessClient:
    """One conversation with one runtime: `start`, `initialize`, then `prompt` and subscriptions, `close` in the end.

    It launches the process that `launch` describes; `streams` makes it use a connection that the caller has and keeps, instead.
    `revision` says which revision the runtime speaks, since the wire does not (rule S1). `times` are the steps of closing.
    `unclaimed_limit` bounds what may wait in `notifications()`. `observer` and `max_line` are the transport's.
    It can't be started again after `close`: make another one.
    """

    def __init__(
        self,
        launch: Launch | None = None,
        *,
        streams: tuple[Reader | PipeReader, Writer] | None = None,
        revision: str = HEAD,
        times: ClosingTimes | None = None,
        unclaimed_limit: int = UNCLAIMED_LIMIT,
        observer: Observer | None = None,
        max_line: int = MAX_LINE,
    ) -> None:
        self.dialect = dialect(revision)
        self.shutdown_error: Exception | None = None
        """Why the `shutdown` exchange of closing failed, if it did (rule C46)."""
        self._launch = launch or Launch()
        self._streams = streams
        self._times = times or ClosingTimes()
        self._observer = observer
        self._max_line = max_line
        self._unclaimed = Subscription(limit=unclaimed_limit, lossy=True, explain=self._obituary)
        self._router = Router(self.dialect.decode, self._unclaimed)
        self._handler: Callable[[str, dict[str, Any]], Any | Awaitable[Any]] | None = None
        self._process: RuntimeProcess | None = None
        self._transport: JsonRpcLineTransport | None = None
        self._closing = False
        self._turn = asyncio.Lock()  # of those that start or close

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Launch the runtime and begin to read; once started this does nothing.

        Raises `TransportClosedError` if the command can't be run, `FileNotFoundError` if there is none, `ValueError` without a
        DSH_HOME. A runtime that dies at once is noticed by the first request.
        """
        async with self._turn:
            self._check_not_closed()
            if self._transport is not None:
                return
            reader, writer = self._streams or await self._start_process()
            transport = JsonRpcLineTransport(reader, writer, max_line=self._max_line, observer=self._observer)
            transport.on_notification(self._router.route)
            transport.on_close(self._lost)
            if self._handler is not None:
                transport.on_request(self._handler)
            self._transport = transport
            await transport.start()

    async def initialize(
        self,
        *,
        cwd: str | os.PathLike[str] | None = None,
        provider: str = PROVIDER,
        model: str = MODEL,
        reasoning_effort: str | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Initialized:
        """Make the runtime ready for prompts; returns the revision's `InitializeResult`.

        `cwd` is where sessions work, by default here; it is sent as an absolute path. `timeout` is in seconds; by default it is
        that of the revision (rules C35, C36, C37). Raises what `request` raises, and `LocalProtocolError` for an option that
        the revision does not have. The runtime stays up whatever happens: close, or try again.
        """
        row = self.dialect.module.METHODS["initialize"]
        options = {"reasoning_effort": reasoning_effort, "max_tokens": max_tokens}
        params = row.encode_params(self.dialect.initialize_params(cwd, provider, model, **options))
        limit = self.dialect.initialize_timeout if timeout is None else timeout
        return self.dialect.initialized(await self.request(row.method, params, timeout=limit))

    async def prompt(self, session_id: str, prompt: Prompt, *, timeout: float | None = None) -> PromptReceipt:
        """Queue a message for a session, which is created if it is new (rules S40, S47).

        A text becomes one text block; blocks are dataclasses or JSON objects, and sent as they are (rule C27). The answer comes
        by notifications: subscribe first. In revision 2026-07-29 this returns when the work is done. Raises as `request` does.
        """
        params = {"sessionId": session_id, "contentBlocks": content_blocks(prompt)}
        return self.dialect.receipt(session_id, await self.request("session/prompt", params, timeout=timeout))

    @overload
    async def request(self, method: Request[P, R], params: P, *, timeout: float | None = None) -> R: ...

    @overload
    async def request(self, method: Request[None, R], params: None = None, *, timeout: float | None = None) -> R: ...

    @overload
    async def request(self, method: str, params: dict[str, Any] | None = None, *, timeout: float | None = None) -> Any: ...

    async def request(self, method: Request[Any, Any] | str, params: Any = None, *, timeout: float | None = None) -> Any:
        """Any request: typed through a descriptor of the revision's `METHODS`, untyped by name.

        `timeout` is in seconds, by default there is no bound (rule C34); only the wait ends then (rule C33). Raises
        `JsonRpcResponseError` if the runtime refuses, `RemoteProtocolError` if its answer is not as the schema says,
        `TransportClosedError` if it is gone, with its exit status and the last of its stderr, and `TimeoutError`.
        """
        if isinstance(method, str):
            return await self._call(method, params, timeout)
        encoded = None if method.params is None else method.encode_params(params)
        return decode_result(method, await self._call(method.method, encoded, timeout))

    def on_request(self, handler: Callable[[str, dict[str, Any]], Any | Awaitable[Any]]) -> None:
        """Answer requests of the runtime, as `JsonRpcLineTransport.on_request`. No runtime sends any so far (rule C32)."""
        self._handler = handler
        if self._transport is not None:
            self._transport.on_request(handler)

    def subscribe(self, accepts: Filter | None = None, *, limit: int | None = SUBSCRIPTION_LIMIT) -> Subscription:
        """Listen from now on: to everything, or to what the filter accepts. `limit` None does not bound the queue.

        Raises `TransportClosedError` if the runtime is gone (rule C19).
        """
        subscription = Subscription(accepts, limit=limit, on_close=self._router.remove, explain=self._obituary)
        try:
            self._router.add(subscription)
        except TransportClosedError as error:
            raise self._gone(error) from None
        return subscription

    def subscribe_session_tree(self, root: str, *, limit: int | None = SUBSCRIPTION_LIMIT) -> Subscription:
        """Listen to a session and all its descendants, those included that are still to come (rules C15, C16)."""
        return self.subscribe(lambda notification: self._router.tree.holds(root, notification), limit=limit)

    def notifications(self) -> Subscription:
        """The common queue of what no subscription took (rule C18). A full one drops its oldest, and `dropped` counts them."""
        return self._unclaimed

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closing

    @property
    def exit_code(self) -> int | None:
        """The exit status of the process; None while it runs, or if there is none."""
        return None if self._process is None else self._process.exit_code

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines that the process wrote to stderr."""
        return () if self._process is None else self._process.stderr_tail()

    async def close(self) -> None:
        """End the runtime, step by step as `times` says (rule C44), and reap it. Closing twice is closing once (rule C47).

        What subscriptions still hold is dropped. Raises `TimeoutError` only if the process outlives SIGKILL (rule C45). When
        it is cancelled, the steps that are left are taken without waiting for `shutdown`; a second time, SIGKILL is next.
        """
        async with self._turn:
            if self._closing:
                return
            self._closing = True
            try:
                await self._end()
            finally:
                self._router.end(_closed(), drop=True)

    async def _start_process(self) -> tuple[PipeReader, PipeWriter]:
        self._process = await RuntimeProcess.start(self._launch, self._times)
        return self._process.stdout, self._process.stdin

    async def _end(self) -> None:
        answered = False
        try:
            answered = await self._shut_down()
        finally:
            try:
                if self._transport is not None:
                    await self._transport.close()
            finally:
                if self._process is not None:
                    await self._process.stop(answered=answered)

    async def _shut_down(self) -> bool:
        """The `shutdown` exchange. Whether it was answered."""
        if self._transport is None or self._transport.closed:
            return False
        try:
            await self._transport.request("shutdown", timeout=self._times.shutdown)
        except (HarnessError, OSError) as error:  # a TimeoutError is an OSError
            self.shutdown_error = error
            return False
        return True

    async def _call(self, method: str, params: dict[str, Any] | None, timeout: float | None) -> Any:
        self._check_not_closed()
        if self._transport is None:
            raise LocalProtocolError("the client was not started")
        try:
            return await self._transport.request(method, params, timeout=timeout)
        except TimeoutError:
            raise
        except (TransportClosedError, OSError) as error:
            raise await self._obituary(error) from error

    async def _obituary(self, error: Exception) -> Exception:
        """What to raise for an error that ended the conversation: with the exit status, which may need a moment."""
        if self._process is not None and not self._closing:
            await self._process.last_words()
        return self._gone(error)

    def _gone(self, error: Exception) -> Exception:
        if self._process is not None and not self._closing:
            return self._process.gone(error)
        return error if isinstance(error, TransportClosedError) else TransportClosedError(f"JSON-RPC transport failed: {error}")

    def _lost(self, error: Exception) -> None:
        """The transport has ended."""
        if not self._closing:
            self._router.end(error if isinstance(error, TransportClosedError) else self._gone(error))

    def _check_not_closed(self) -> None:
        if self._closing:
            raise _closed()


def _closed() -> TransportClosedError:
    return TransportClosedError("DeepSeek Harness runtime client is closed")
