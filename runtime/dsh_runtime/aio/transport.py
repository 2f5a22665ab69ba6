"""`JsonRpcLineTransport` for asyncio: a `Connection` between two streams.

Order. Notifications are handled one at a time in wire order. A response is delivered after the notifications before it were
handled and before the next one is: the task that awaits `request` runs in between. So after `await request(...)` everything the
peer sent earlier has been seen. A request made inside a notification handler would wait for itself that way, so its response is
delivered as soon as it is read. The peer's requests are handled as they come, side by side.

Memory. While a notification handler works, what comes behind it waits in a queue; when that holds `queue_limit` items, reading
pauses and the peer's pipe fills, unless a handler waits for a response. Reading also pauses when `queue_limit` requests of the
peer are unanswered, or answers pile up unread, unless a call of this side waits for its response: two sides that flood each
other with requests would otherwise both stop reading. Who sends has to wait while too much is unwritten.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from inspect import isawaitable
from typing import Any, Final, TypeAlias, TypeVar, overload

from dsh_protocol import Notification, Request

from ..connection import (
    MAX_LINE,
    QUEUE_LIMIT,
    Connection,
    Event,
    JsonRpcId,
    NotificationReceived,
    Observer,
    Params,
    RequestReceived,
    ResponseReceived,
)
from ..errors import TransportClosedError
from .output import LineWriter
from .streams import READ_SIZE, PipeReader, Reader, Writer

P = TypeVar("P")
R = TypeVar("R")

RequestHandler: TypeAlias = Callable[[str, Params], Any | Awaitable[Any]]
NotificationHandler: TypeAlias = Callable[[str, Params], Awaitable[None] | None]

CLOSE_GRACE: Final = 1.0
"""Seconds that `close` waits for handlers that ignore their cancellation."""

_log: Final = logging.getLogger("dsh_runtime")


class _Mark:
    """Says of a context that it belongs to a handler: how many such handlers work now, and whether they hold up the queue."""

    __slots__ = ("active", "urgent")

    def __init__(self, *, urgent: bool) -> None:
        self.active = 0
        self.urgent = urgent


_mark: Final[ContextVar[_Mark | None]] = ContextVar("dsh_runtime_handler", default=None)


class _Call:
    """A request of ours that waits for its response."""

    __slots__ = ("decode", "future", "nested", "urgent", "woken")

    def __init__(self, future: asyncio.Future[Any], decode: Callable[[object], Any] | None) -> None:
        mark = _mark.get()
        self.future = future
        self.decode = decode
        self.woken = False  # it has its response
        self.nested = mark is not None and mark.active > 0  # made inside a handler
        self.urgent = mark is not None and mark.active > 0 and mark.urgent  # ... which holds up the queue

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)

    def settle(self, response: ResponseReceived[_Call]) -> bool:
        """Whether somebody gets this response."""
        if self.future.done():
            return False
        if response.error is not None:
            self.future.set_exception(response.error)
        elif self.decode is None:
            self.future.set_result(response.result)
        else:
            try:
                self.future.set_result(self.decode(response.result))
            except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets it
                self.future.set_exception(error)
        return True


class JsonRpcLineTransport:
    """One end of a conversation over two streams. The streams belong to the caller: closing the transport leaves them open.

    `input` is an `asyncio.StreamReader` or anything with its `read`; a `PipeReader` is faster. `output` is an
    `asyncio.StreamWriter` or anything with its `write` and `drain`. Install handlers, then `start`.
    """

    def __init__(
        self,
        input: Reader | PipeReader,  # noqa: A002 - the counterpart of output
        output: Writer,
        *,
        max_line: int = MAX_LINE,
        observer: Observer | None = None,
        queue_limit: int = QUEUE_LIMIT,
    ) -> None:
        self._input = input
        self._output = LineWriter(output, self._stop, self._adjust_reading)
        self._queue_limit = queue_limit
        self._connection: Connection[_Call] = Connection(max_line=max_line, observer=observer)
        self._on_request: RequestHandler | None = None
        self._on_notification: NotificationHandler | None = None
        self._on_close: list[Callable[[Exception], None]] = []
        self._started = False
        self._error: Exception | None = None  # why no call can be made any more
        self._closing = False
        self._pull: asyncio.Task[None] | None = None
        self._paused = False
        self._go_on = asyncio.Event()
        self._nested = 0  # calls from inside handlers that wait
        self._queue: deque[NotificationReceived | ResponseReceived[_Call]] = deque()
        self._dispatcher: asyncio.Task[None] | None = None  # works while a handler does or the queue waits for its turn
        self._woken = 0  # callers that got their response and have not run yet
        self._notification_mark = _Mark(urgent=True)
        self._request_mark = _Mark(urgent=False)
        self._handling: set[asyncio.Task[None]] = set()

    # set-up

    def on_request(self, handler: RequestHandler) -> None:
        """Answer the peer's requests: `handler(method, params)` returns a JSON value or a generated dataclass, or awaits one.

        What it raises becomes an error response with the text of the exception (rule T33). Replaces the handler before.
        """
        self._on_request = handler

    def on_notification(self, handler: NotificationHandler) -> None:
        """Take the peer's notifications one at a time, in order. What it raises is logged. Replaces the handler before."""
        self._on_notification = handler

    def on_close(self, callback: Callable[[Exception], None]) -> None:
        """Call back once, with the error that pending requests get, when nothing more will be handled."""
        self._on_close.append(callback)

    async def start(self) -> None:
        """Begin to read. Once started, or closed, this does nothing (rules T50, T51)."""
        if self._started or self._error is not None:
            return
        self._started = True
        if isinstance(self._input, PipeReader):
            self._input.attach(self._receive, self._input_ended)
        else:
            self._pull = asyncio.create_task(self._pull_input(self._input))

    async def close(self) -> None:
        """Stop reading and fail what is pending with `JSON-RPC transport closed` (rule T52). The streams stay open.

        Handlers that work are cancelled.
        """
        self._output.write_out()
        self._closing = True
        error = TransportClosedError("JSON-RPC transport closed")
        self._stop(error)
        for item in self._queue:
            if isinstance(item, ResponseReceived):
                item.call.fail(self._closed_error())
        self._queue.clear()
        own = asyncio.current_task()
        tasks = {task for task in (self._pull, self._dispatcher, *self._handling) if task is not None and task is not own}
        for task in tasks:
            task.cancel()
        if (draining := self._output.stop()) is not None:
            tasks.add(draining)
        if tasks:
            _, stuck = await asyncio.wait(tasks, timeout=CLOSE_GRACE)
            if stuck:
                _log.warning("%d handlers did not end when they were cancelled", len(stuck))

    @property
    def closed(self) -> bool:
        """Whether no call can be made any more: after `close`, the end of the input, or a failure of either stream."""
        return self._error is not None

    @property
    def dropped(self) -> int:
        """How many lines were ignored because they were no frame for this side."""
        return self._connection.dropped

    # calls

    @overload
    async def request(self, method: Request[P, R], params: P, *, timeout: float | None = None) -> R: ...

    @overload
    async def request(self, method: Request[None, R], params: None = None, *, timeout: float | None = None) -> R: ...

    @overload
    async def request(self, method: str, params: Params | None = None, *, timeout: float | None = None) -> Any: ...

    async def request(self, method: Request[Any, Any] | str, params: Any = None, *, timeout: float | None = None) -> Any:
        """Ask the peer and wait for its answer: typed through a descriptor of the method map, untyped by a method's name.

        `timeout` is in seconds. Raises `JsonRpcResponseError` if the peer refuses, `TransportClosedError` if it is gone,
        `TimeoutError` when the time is up, `LocalProtocolError` for params that are no JSON object, `dsh_protocol.DecodeError`
        for a result that is not as the descriptor says, and what a stream raised. Cancelling the call, like a time-out, tells
        the peer nothing (rule T47).
        """
        if timeout is not None:
            return await self._request_in_time(method, params, timeout)
        if self._output.full:
            self._check_open()
            await self._output.room()
        ident, call = self._begin(method, params)
        try:
            return await call.future
        finally:
            self._end(ident, call)

    @overload
    def submit(self, method: Request[P, R], params: P) -> asyncio.Future[R]: ...

    @overload
    def submit(self, method: Request[None, R], params: None = None) -> asyncio.Future[R]: ...

    @overload
    def submit(self, method: str, params: Params | None = None) -> asyncio.Future[Any]: ...

    def submit(self, method: Request[Any, Any] | str, params: Any = None) -> asyncio.Future[Any]:
        """Ask the peer and go on: the future gets what `request` returns or raises. Cancelling it abandons the request.

        The cheapest way to have many requests under way. It does not wait for room in the output stream.
        """
        ident, call = self._begin(method, params)
        call.future.add_done_callback(lambda _: self._end(ident, call))
        return call.future

    @overload
    async def notify(self, method: Notification[P], params: P) -> None: ...

    @overload
    async def notify(self, method: str, params: Params | None = None) -> None: ...

    async def notify(self, method: Notification[Any] | str, params: Any = None) -> None:
        """Tell the peer. Waits while too much is unwritten.

        Raises `TransportClosedError`, and `LocalProtocolError` for params that are no JSON object.
        """
        self._check_open()
        if self._output.full:
            await self._output.room()
            self._check_open()
        self._output.send(self._connection.notification(method, params), _log_failed_write)

    async def flush(self) -> None:
        """Wait until every frame sent so far was handed over (rule T54). Raises the error of the output stream."""
        await self._output.flush()

    async def _request_in_time(self, method: Request[Any, Any] | str, params: Any, timeout: float) -> Any:
        limit = asyncio.timeout(timeout)
        try:
            async with limit:
                return await self.request(method, params)
        except TimeoutError:
            if not limit.expired():
                raise
            name = method if isinstance(method, str) else method.method
            raise TimeoutError(f"{name}: no response within {timeout} s") from None

    def _begin(self, method: Request[Any, Any] | str, params: Any) -> tuple[JsonRpcId, _Call]:
        self._check_open()
        decode = None if isinstance(method, str) else method.decode_result
        call = _Call(asyncio.get_running_loop().create_future(), decode)
        ident, line = self._connection.request(method, params, call)
        self._nested += call.nested
        if self._paused:
            self._adjust_reading()
        if len(self._connection.pending) == 1:  # nobody else asks, so there is nothing to write it together with
            self._output.put(line, call.fail)
            self._output.write_out()
        else:
            self._output.send(line, call.fail)
        return ident, call

    def _end(self, ident: JsonRpcId, call: _Call) -> None:
        self._connection.abandon(ident)
        self._nested -= call.nested
        self._woken -= call.woken

    def _check_open(self) -> None:
        if self._error is not None:
            raise self._closed_error()

    def _closed_error(self) -> Exception:
        """A fresh exception for each caller, so that none of them collects the traceback of another."""
        error = self._error
        if isinstance(error, TransportClosedError):
            return TransportClosedError(error.message, exit_code=error.exit_code, stderr_tail=error.stderr_tail)
        closed = TransportClosedError(f"JSON-RPC transport failed: {error}")
        closed.__cause__ = error
        return closed

    # input

    async def _pull_input(self, reader: Reader) -> None:
        error: Exception | None = None
        try:
            while self._error is None and (data := await reader.read(READ_SIZE)):
                self._receive(data)
                while self._paused and self._error is None:
                    self._go_on.clear()
                    await self._go_on.wait()
        except Exception as failure:  # noqa: BLE001 - a stream of the caller's may raise anything
            error = failure
        self._input_ended(error)

    def _receive(self, data: bytes) -> None:
        for event in self._connection.receive(data):
            self._take(event)
        self._output.write_out()
        if self._queue or self._handling or self._paused or self._output.full:
            self._adjust_reading()

    def _input_ended(self, error: Exception | None) -> None:
        self._connection.receive_eof()
        self._stop(error or TransportClosedError("JSON-RPC input closed"))

    def _take(self, event: Event[_Call]) -> None:
        match event:
            case NotificationReceived():
                if self._dispatcher is not None or self._woken:
                    self._queue.append(event)
                    self._dispatch_later()
                elif (work := self._notify_handler(event)) is not None:
                    self._dispatch_later(work)
            case ResponseReceived(call):
                if self._dispatcher is not None and not call.urgent:
                    self._queue.append(event)
                else:
                    self._deliver(event)
            case RequestReceived():
                self._answer(event)
            case _:
                pass

    def _adjust_reading(self) -> None:
        queue_full = len(self._queue) >= self._queue_limit and not self._nested
        backlog = len(self._handling) >= self._queue_limit or self._output.full
        pause = queue_full or (backlog and not self._connection.pending)
        if pause is self._paused or self._error is not None:
            return
        self._paused = pause
        if isinstance(self._input, PipeReader):
            self._input.pause() if pause else self._input.resume()
        elif not pause:
            self._go_on.set()

    # notifications and responses, in order

    def _notify_handler(self, event: NotificationReceived) -> Awaitable[None] | None:
        """Call the handler; what it returns has to be awaited if it is awaitable."""
        if self._on_notification is None:
            return None
        self._notification_mark.active += 1
        token = _mark.set(self._notification_mark)
        try:
            work = self._on_notification(event.method, event.params)
        except (Exception, asyncio.CancelledError):  # noqa: BLE001 - so may a handler
            _log.exception("the notification handler failed on %s", event.method)
            return None
        finally:
            _mark.reset(token)
            self._notification_mark.active -= 1
        return work if work is not None and isawaitable(work) else None

    def _dispatch_later(self, work: Awaitable[None] | None = None) -> None:
        if self._dispatcher is None:
            self._notification_mark.active += 1
            self._dispatcher = asyncio.create_task(self._dispatch(work))

    async def _dispatch(self, work: Awaitable[None] | None) -> None:
        """Work off the queue, in a task of its own whose context says so."""
        _mark.set(self._notification_mark)
        try:
            if work is not None:
                await self._finish(work)
            while self._queue:
                item = self._queue.popleft()
                if self._paused:
                    self._adjust_reading()
                if isinstance(item, ResponseReceived):
                    self._deliver(item)
                    await asyncio.sleep(0)  # its caller runs before the next notification is handled
                elif (work := self._notify_handler(item)) is not None:
                    await self._finish(work)
        finally:
            self._notification_mark.active -= 1
            self._dispatcher = None
            self._announce_end()

    async def _finish(self, work: Awaitable[None]) -> None:
        try:
            await work
        except asyncio.CancelledError:
            if self._closing:
                raise
            _log.exception("the notification handler was cancelled")
        except Exception:  # noqa: BLE001 - a handler may raise anything
            _log.exception("the notification handler failed")

    def _deliver(self, response: ResponseReceived[_Call]) -> None:
        if response.call.settle(response):
            response.call.woken = True
            self._woken += 1

    # the peer's requests

    def _answer(self, event: RequestReceived) -> None:
        """Answer, or begin to. What is answered at once is written when the bytes that were read are worked off."""
        handler = self._on_request
        if handler is None:
            self._output.put(self._connection.refuse_method(event.id, event.method))
            return
        self._request_mark.active += 1
        token = _mark.set(self._request_mark)
        try:
            result = handler(event.method, event.params)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - a handler may raise anything
            self._output.put(self._connection.fail(event.id, error))
            return
        except BaseException as error:  # one that wants to exit: the peer still gets an answer
            self._output.put(self._connection.fail(event.id, error))
            self._output.write_out()
            raise
        finally:
            _mark.reset(token)
            self._request_mark.active -= 1
        if isawaitable(result):
            self._request_mark.active += 1
            task = asyncio.create_task(self._answer_later(event, result))
            self._handling.add(task)
            task.add_done_callback(self._answered)
        else:
            self._output.put(self._connection.answer(event.id, result))

    async def _answer_later(self, event: RequestReceived, work: Awaitable[Any]) -> None:
        _mark.set(self._request_mark)
        try:
            line = self._connection.answer(event.id, await work)
        except Exception as error:  # noqa: BLE001 - a handler may raise anything
            line = self._connection.fail(event.id, error)
        except BaseException as error:
            if not self._closing:  # then it is `close` that cancels
                self._output.send(self._connection.fail(event.id, error))
                self._output.write_out()
            raise
        if not self._closing:
            self._output.send(line)
            await self._output.room()

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._request_mark.active -= 1
        self._handling.discard(task)
        if self._paused:
            self._adjust_reading()

    # the end

    def _stop(self, error: Exception) -> None:
        """No call can be made any more. Pending ones fail, but for those whose response waits in the queue."""
        if self._error is not None:
            return
        if isinstance(error, ConnectionError):
            self._error = error
            error = self._closed_error()
        self._error = error
        if isinstance(self._input, PipeReader):
            self._input.detach()
        elif self._pull is not None and self._pull is not asyncio.current_task():
            self._pull.cancel()
        pending = list(self._connection.pending.values())
        self._connection.pending.clear()
        for call in pending:
            call.fail(self._closed_error() if isinstance(error, TransportClosedError) else error)
        self._go_on.set()
        self._announce_end()

    def _announce_end(self) -> None:
        if self._error is None or self._dispatcher is not None:
            return
        callbacks, self._on_close = self._on_close, []
        for callback in callbacks:
            try:
                callback(self._error)
            except Exception:  # noqa: BLE001 - it is not this transport's failure
                _log.exception("a callback for the end failed")


def _log_failed_write(error: Exception) -> None:
    _log.error("a notification could not be written: %s", error)
