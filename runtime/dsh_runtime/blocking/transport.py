"""`JsonRpcLineTransport` for threads: a `Connection` between two streams.

One thread reads. One handles notifications, so that a slow handler never keeps the reader from reading. The peer's requests are
handled by a pool of threads. Frames are written by the thread that sends them. All threads are daemons.

Order. Notifications are handled one at a time in wire order. A response is delivered after the notifications before it were
handled, and the next one waits until `request` is about to return. So after `request(...)` everything the peer sent earlier has
been seen. A request made inside a notification handler would wait for itself that way, so its response is delivered as soon as
it is read. The peer's requests are handled as they come, side by side.

Memory. While a notification handler works, what comes behind it waits in a queue; when that holds `queue_limit` items, reading
pauses and the peer's pipe fills, unless a handler waits for a response. Reading also pauses when `queue_limit` requests of the
peer wait for a thread, unless a call of this side waits for its response: two sides that flood each other with requests would
otherwise both stop reading. Who sends has to wait while the peer does not read.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar, overload

from dsh_protocol import Notification, Request

from ..connection import (
    MAX_LINE,
    QUEUE_LIMIT,
    Connection,
    NotificationReceived,
    Observer,
    Params,
    RequestReceived,
    ResponseReceived,
)
from ..errors import TransportClosedError
from .call import PendingCall, Role
from .output import LineWriter
from .streams import Input, Interrupted, Interruption, Output, Sink, Source
from .workers import Workers

P = TypeVar("P")
R = TypeVar("R")

RequestHandler: TypeAlias = Callable[[str, Params], Any]
NotificationHandler: TypeAlias = Callable[[str, Params], None]

CLOSE_GRACE: Final = 1.0
"""Seconds that `close` waits for handlers at work."""

_log: Final = logging.getLogger("dsh_runtime")


class _Here(threading.local):
    """This thread."""

    role = Role()


_here: Final = _Here()


_Response: TypeAlias = ResponseReceived[PendingCall[Any]]


class JsonRpcLineTransport:
    """One end of a conversation over two streams. The streams belong to the caller: closing the transport leaves them open.

    `input` is a binary file or anything with its `read`, `output` one or anything with its `write` and `flush`; both may be
    sockets. What belongs to the operating system can be interrupted by `close`; nothing may be left in a buffer of such a file.
    Install handlers, then `start`.
    """

    def __init__(
        self,
        input: Input,  # noqa: A002 - the counterpart of output
        output: Output,
        *,
        max_line: int = MAX_LINE,
        observer: Observer | None = None,
        queue_limit: int = QUEUE_LIMIT,
    ) -> None:
        self._interruption = Interruption()
        self._input = Source(input, self._interruption)
        self._output: LineWriter[PendingCall[Any] | list[Exception] | None]
        self._output = LineWriter(Sink(output, self._interruption), self._line_failed, self._stop)
        self._queue_limit = queue_limit
        self._connection: Connection[PendingCall[Any]] = Connection(max_line=max_line, observer=observer)
        self._on_request: RequestHandler | None = None
        self._on_notification: NotificationHandler | None = None
        self._on_close: list[Callable[[Exception], None]] = []
        self._workers = Workers(self._backlog_shrank)
        self._worker_role = Role(nested=True, workers=self._workers)
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()  # guards what follows
        self._state = threading.Condition(self._lock)
        self._started = False
        self._error: Exception | None = None  # why no call can be made any more
        self._closing = False
        self._reader_waits = False
        self._nested = 0  # calls from inside handlers that wait
        self._queue: deque[NotificationReceived | _Response] = deque()
        self._dispatcher_waits = False
        self._busy = False  # a notification handler works, or a queued response is being delivered
        self._woken = 0  # calls that got their response and have not gone on yet

    # set-up

    def on_request(self, handler: RequestHandler) -> None:
        """Answer the peer's requests: `handler(method, params)` returns a JSON value or a generated dataclass.

        What it raises becomes an error response with the text of the exception (rule T33). Replaces the handler before.
        """
        self._on_request = handler

    def on_notification(self, handler: NotificationHandler) -> None:
        """Take the peer's notifications one at a time, in order. What it raises is logged. Replaces the handler before."""
        self._on_notification = handler

    def on_close(self, callback: Callable[[Exception], None]) -> None:
        """Call back once, with the error that pending requests get, when nothing more will be handled."""
        self._on_close.append(callback)

    def start(self) -> None:
        """Begin to read. Once started, or closed, this does nothing (rules T50, T51)."""
        with self._lock:
            if self._started or self._error is not None:
                return
            self._started = True
            for target, name in ((self._read_input, "dsh-reader"), (self._dispatch, "dsh-notifications")):
                self._threads.append(threading.Thread(target=target, name=name, daemon=True))
            for thread in self._threads:
                thread.start()

    def close(self) -> None:
        """Stop reading and fail what is pending with `JSON-RPC transport closed` (rule T52). The streams stay open.

        Waits a moment for handlers that work, and leaves them to themselves then.
        """
        self._output.write_out(time.monotonic())
        with self._lock:
            self._closing = True
            orphans = [item.call for item in self._queue if isinstance(item, ResponseReceived)]
            self._queue.clear()
        error = TransportClosedError("JSON-RPC transport closed")
        writer = self._output.stop(error)
        self._stop(error)
        for call in orphans:
            call.fail(self._closed_error())
        deadline = time.monotonic() + CLOSE_GRACE
        for thread in {*self._threads, *self._workers.cancel(), writer} - {None, threading.current_thread()}:
            assert thread is not None
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                _log.warning("a thread did not end: %s", thread.name)
        self._interruption.close()
        self._announce_end()

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
    def request(self, method: Request[P, R], params: P, *, timeout: float | None = None) -> R: ...

    @overload
    def request(self, method: Request[None, R], params: None = None, *, timeout: float | None = None) -> R: ...

    @overload
    def request(self, method: str, params: Params | None = None, *, timeout: float | None = None) -> Any: ...

    def request(self, method: Request[Any, Any] | str, params: Any = None, *, timeout: float | None = None) -> Any:
        """Ask the peer and wait for its answer: typed through a descriptor of the method map, untyped by a method's name.

        `timeout` is in seconds. Raises `JsonRpcResponseError` if the peer refuses, `TransportClosedError` if it is gone,
        `TimeoutError` when the time is up, `LocalProtocolError` for params that are no JSON object, `dsh_protocol.DecodeError`
        for a result that is not as the descriptor says, and what a stream raised. A time-out tells the peer nothing (rule T47).
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        call = self._begin(method, params, waits=True)
        workers = call.role.workers
        if workers is not None:
            workers.waiting(1)
        written = False
        try:
            written = self._output.write_out(deadline)
            if not call.wait_until(deadline):
                name = method if isinstance(method, str) else method.method
                raise TimeoutError(f"{name}: no response within {timeout} s")
        finally:
            if workers is not None:
                workers.waiting(-1)
            self._end(call)
            if not written:
                self._output.later()
        return call.result()

    @overload
    def submit(self, method: Request[P, R], params: P) -> PendingCall[R]: ...

    @overload
    def submit(self, method: Request[None, R], params: None = None) -> PendingCall[R]: ...

    @overload
    def submit(self, method: str, params: Params | None = None) -> PendingCall[Any]: ...

    def submit(self, method: Request[Any, Any] | str, params: Any = None) -> PendingCall[Any]:
        """Ask the peer and go on: `result()` returns or raises what `request` does, `cancel()` abandons the request.

        The cheapest way to have many requests under way. It waits while too much is unwritten.
        """
        call = self._begin(method, params, waits=False)
        self._output.later()
        return call

    @overload
    def notify(self, method: Notification[P], params: P) -> None: ...

    @overload
    def notify(self, method: str, params: Params | None = None) -> None: ...

    def notify(self, method: Notification[Any] | str, params: Any = None) -> None:
        """Tell the peer. Waits until the frame is written.

        Raises `TransportClosedError`, what the stream raised, and `LocalProtocolError` for params that are no JSON object.
        """
        problems: list[Exception] = []
        with self._lock:
            self._check_open()
            self._output.put(self._connection.notification(method, params), problems)
        self._output.write_out()
        if problems:
            self._check_open()
            raise problems[0]

    def flush(self) -> None:
        """Wait until every frame sent so far was handed over (rule T54). Raises the error of the output stream."""
        self._output.flush()

    def _begin(self, method: Request[Any, Any] | str, params: Any, *, waits: bool) -> PendingCall[Any]:
        decode = None if isinstance(method, str) else method.decode_result
        call: PendingCall[Any] = PendingCall(_here.role, waits, decode, self._claim)
        with self._lock:
            self._check_open()
            call.ident, line = self._connection.request(method, params, call)
            self._output.put(line, call)
            self._nested += call.role.nested
            if self._reader_waits:
                self._state.notify_all()
        return call

    def _end(self, call: PendingCall[Any]) -> None:
        """The caller goes on."""
        with self._lock:
            call.over = True
            if call.counted:
                self._passed_on(1)
            else:
                self._drop_pending(call)

    def _claim(self, call: PendingCall[Any]) -> bool:
        """Whether this call still waited for its response; it does no longer."""
        with self._lock:
            return self._drop_pending(call)

    def _drop_pending(self, call: PendingCall[Any]) -> bool:
        if self._connection.pending.pop(call.ident, None) is None:
            return False
        self._nested -= call.role.nested
        return True

    def _line_failed(self, stands_for: PendingCall[Any] | list[Exception] | None, error: Exception) -> None:
        if isinstance(stands_for, list):
            stands_for.append(error)
        elif stands_for is not None and self._claim(stands_for):
            stands_for.fail(error)

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

    def _read_input(self) -> None:
        error: Exception | None = None
        try:
            while self._error is None and (data := self._input.read()):
                self._receive(data)
                self._wait_for_room()
        except Interrupted:
            return
        except Exception as failure:  # noqa: BLE001 - a stream of the caller's may raise anything
            error = failure
        self._connection.receive_eof()
        self._stop(error or TransportClosedError("JSON-RPC input closed"))

    def _receive(self, data: bytes) -> None:
        events = self._connection.receive(data)
        requests: list[RequestReceived] = []
        responses: list[_Response] = []
        with self._lock:
            if self._closing:
                return
            queue = self._queue
            for event in events:
                if isinstance(event, NotificationReceived):
                    if self._on_notification is not None:
                        queue.append(event)
                elif isinstance(event, ResponseReceived):
                    self._nested -= event.call.role.nested
                    if (queue or self._busy) and not event.call.role.urgent:
                        queue.append(event)
                    elif self._hand_out(event):
                        responses.append(event)
                elif isinstance(event, RequestReceived):
                    requests.append(event)
            if queue and self._dispatcher_waits:
                self._state.notify_all()
        self._deliver(responses)
        for request in requests:
            self._answer(request)

    def _wait_for_room(self) -> None:
        if not self._crowded():
            return
        with self._lock:
            self._reader_waits = True
            while self._error is None and self._crowded():
                self._state.wait()
            self._reader_waits = False

    def _crowded(self) -> bool:
        if len(self._queue) >= self._queue_limit and not self._nested:
            return True
        return self._workers.backlog >= self._queue_limit and not self._connection.pending

    def _backlog_shrank(self) -> None:
        if self._reader_waits:
            with self._lock:
                self._state.notify_all()

    # notifications and responses, in order

    def _dispatch(self) -> None:
        _here.role = Role(nested=True, urgent=True)
        while (item := self._next()) is not None:
            if isinstance(item, ResponseReceived):
                self._deliver([item])
            elif self._on_notification is not None:
                try:
                    self._on_notification(item.method, item.params)
                except BaseException:  # noqa: BLE001 - a handler may raise anything; in this thread there is nothing to exit
                    _log.exception("the notification handler failed on %s", item.method)
        self._announce_end()

    def _next(self) -> NotificationReceived | _Response | None:
        with self._lock:
            self._busy = False
            while True:
                if self._queue and not (self._woken and isinstance(self._queue[0], NotificationReceived)):
                    item = self._queue.popleft()
                    if self._reader_waits:
                        self._state.notify_all()
                    if isinstance(item, NotificationReceived) or self._hand_out(item):
                        self._busy = True
                        return item
                elif self._error is not None and not self._queue:
                    return None
                else:
                    self._dispatcher_waits = True
                    self._state.wait()
                    self._dispatcher_waits = False

    def _hand_out(self, response: _Response) -> bool:
        """Count this response as under way to its caller, if there still is one."""
        call = response.call
        if call.over:
            return False
        if not call.role.urgent:
            self._woken += 1
            call.counted = True
        return True

    def _deliver(self, responses: list[_Response]) -> None:
        passed_on = 0
        for response in responses:
            response.call.settle(response)
            passed_on += response.call.counted and not response.call.waits
        if passed_on:
            with self._lock:
                self._passed_on(passed_on)

    def _passed_on(self, count: int) -> None:
        self._woken -= count
        if self._woken == 0 and self._queue and self._dispatcher_waits:
            self._state.notify_all()

    # the peer's requests

    def _answer(self, event: RequestReceived) -> None:
        if self._on_request is None:
            with self._lock:
                self._output.put(self._connection.refuse_method(event.id, event.method), None)
            self._output.later()
        else:
            self._workers.submit(lambda: self._handle(event))

    def _handle(self, event: RequestReceived) -> None:
        assert self._on_request is not None
        _here.role = self._worker_role
        result: Any = None
        failure: BaseException | None = None
        try:
            result = self._on_request(event.method, event.params)
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything, and the peer gets an answer
            failure = error
        with self._lock:
            if self._closing:
                return
            connection = self._connection
            line = connection.answer(event.id, result) if failure is None else connection.fail(event.id, failure)
            self._output.put(line, None)
        self._output.write_out()

    # the end

    def _stop(self, error: Exception) -> None:
        """No call can be made any more. Pending ones fail, but for those whose response waits in the queue."""
        with self._lock:
            if self._error is None:
                self._error = error
                if isinstance(error, ConnectionError):
                    self._error = error = self._closed_error()
            pending = list(self._connection.pending.values())
            self._connection.pending.clear()
            self._nested = 0
            self._state.notify_all()
        for call in pending:
            call.fail(self._closed_error() if isinstance(error, TransportClosedError) else error)
        self._workers.end()
        if self._closing or self._output.failure is not None:
            self._interruption.set()
        if not self._threads:
            self._announce_end()

    def _announce_end(self) -> None:
        with self._lock:
            error, callbacks, self._on_close = self._error, self._on_close, []
        assert error is not None
        for callback in callbacks:
            try:
                callback(error)
            except Exception:  # noqa: BLE001 - it is not this transport's failure
                _log.exception("a callback for the end failed")
