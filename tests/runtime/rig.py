"""Both flavours of the transport behind one blocking interface, so that a case is written once.

`Side` is a transport, `Wire` the peer's end of its two pipes, as bytes. The asyncio flavour runs its event loop in a thread of
its own; handlers are plain functions there too, run in threads, which carry the context of the handler along.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from dsh_runtime import aio, blocking
from dsh_runtime.aio import PipeReader, PipeWriter
from dsh_runtime.blocking import PendingCall

T = TypeVar("T")
Handler = Callable[[str, dict[str, Any]], Any]

Submission = Future[Any] | PendingCall[Any]
"""What `submit` returns; the methods have the same names in every flavour."""

PATIENCE: Final = 20.0
"""Seconds after which a test that waits gives up."""

FLAVOURS: Final = ("blocking", "aio", "aio-streams")


class Wire:
    """The peer's end: what it feeds is read by the transport, what the transport writes is read here."""

    def __init__(self, output: BinaryIO, input: BinaryIO) -> None:  # noqa: A002 - the counterpart of output
        self.output = output
        self.input = input
        self._held = b""

    def feed(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self.output.fileno(), view) :]

    def send(self, *frames: object) -> None:
        self.feed(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))

    def read_line(self) -> bytes:
        """The next line; nothing at the end."""
        while b"\n" not in self._held:
            ready, _, _ = select.select([self.input], [], [], PATIENCE)
            assert ready, "the transport wrote nothing"
            data = os.read(self.input.fileno(), 65536)
            if not data:
                return b""
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        return line

    def read(self) -> Any:
        """The next frame."""
        return json.loads(self.read_line())

    def quiet(self) -> bool:
        """Whether nothing is there to be read."""
        return not self._held and not select.select([self.input], [], [], 0)[0]

    def end(self) -> None:
        """Nothing more comes from the peer."""
        self.output.close()

    def stop_reading(self) -> None:
        """Nobody reads what the transport writes."""
        self.input.close()


class Side:
    """One transport. `request` waits, `submit` doesn't."""

    def __init__(self, transport: blocking.JsonRpcLineTransport, rig: Rig) -> None:
        self.transport: Any = transport
        self.rig = rig

    def on_request(self, handler: Handler) -> None:
        self.transport.on_request(handler)

    def on_notification(self, handler: Handler) -> None:
        self.transport.on_notification(handler)

    def on_close(self, callback: Callable[[Exception], None]) -> None:
        self.transport.on_close(callback)

    def start(self) -> None:
        self.transport.start()

    def close(self) -> None:
        self.transport.close()

    def flush(self) -> None:
        self.transport.flush()

    def notify(self, method: Any, params: Any = None) -> None:
        self.transport.notify(method, params)

    def request(
        self, method: Any, params: Any = None, *, timeout: float | None = None, then: Callable[[], None] | None = None
    ) -> Any:
        """`then` is called the moment the call returns, by the caller."""
        result = self.transport.request(method, params, timeout=timeout)
        if then is not None:
            then()
        return result

    def spawn(self, call: Callable[[], T]) -> Future[T]:
        """The call, made by somebody else."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to whoever asks the future
                future.set_exception(error)

        thread = threading.Thread(target=run)
        thread.start()
        self.rig.threads.append(thread)
        return future

    def ask(self, method: Any, params: Any = None, *, timeout: float | None = None) -> Future[Any]:
        """A `request` that somebody else waits for."""
        return self.spawn(lambda: self.request(method, params, timeout=timeout))

    def submit(self, method: Any, params: Any = None) -> Submission:
        call: Submission = self.transport.submit(method, params)
        return call

    def submit_all(self, method: str, params: list[Any]) -> list[Submission]:
        return [self.submit(method, one) for one in params]

    @property
    def pending(self) -> int:
        """How many requests wait for a response."""
        return len(self.transport._connection.pending)

    @property
    def queued(self) -> int:
        """How many notifications and responses wait for the notification handler."""
        return len(self.transport._queue)

    @property
    def closed(self) -> bool:
        return bool(self.transport.closed)

    @property
    def dropped(self) -> int:
        return int(self.transport.dropped)


class AioSide(Side):
    """The same over the asyncio flavour."""

    def __init__(self, transport: aio.JsonRpcLineTransport, rig: AioRig) -> None:
        self.transport = transport
        self.rig: AioRig = rig

    def on_request(self, handler: Handler) -> None:
        async def answer(method: str, params: dict[str, Any]) -> Any:
            return await asyncio.to_thread(handler, method, params)

        self.transport.on_request(answer)

    def on_notification(self, handler: Handler) -> None:
        async def take(method: str, params: dict[str, Any]) -> None:
            await asyncio.to_thread(handler, method, params)

        self.transport.on_notification(take)

    def start(self) -> None:
        self.rig.run(self.transport.start())

    def close(self) -> None:
        self.rig.run(self.transport.close())

    def flush(self) -> None:
        self.rig.run(self.transport.flush())

    def notify(self, method: Any, params: Any = None) -> None:
        self.rig.run(self.transport.notify(method, params))

    def request(
        self, method: Any, params: Any = None, *, timeout: float | None = None, then: Callable[[], None] | None = None
    ) -> Any:
        return self.rig.run(self._request(method, params, timeout, then))

    async def _request(self, method: Any, params: Any, timeout: float | None, then: Callable[[], None] | None) -> Any:
        result = await self.transport.request(method, params, timeout=timeout)
        if then is not None:
            then()
        return result

    def submit(self, method: Any, params: Any = None) -> Submission:
        async def submit() -> asyncio.Future[Any]:
            future: asyncio.Future[Any] = self.transport.submit(method, params)
            return future

        inner = self.rig.run(submit())

        async def wait() -> Any:
            return await inner

        return asyncio.run_coroutine_threadsafe(wait(), self.rig.loop)

    def submit_all(self, method: str, params: list[Any]) -> list[Submission]:
        """At once, in one turn of the event loop."""
        outer: list[Future[Any]] = [Future() for _ in params]

        async def submit() -> None:
            for one, future in zip(params, outer, strict=True):
                self.transport.submit(method, one).add_done_callback(lambda done, future=future: _pass_on(done, future))

        self.rig.run(submit())
        return list[Submission](outer)


def _pass_on(done: asyncio.Future[Any], future: Future[Any]) -> None:
    error = done.exception()
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(done.result())


class Rig:
    """Makes transports, and sees to it that nothing is left of them."""

    def __init__(self, flavour: str) -> None:
        self.flavour = flavour
        self.files: list[BinaryIO] = []
        self.sides: list[Side] = []
        self.threads: list[threading.Thread] = []
        self.before = (threading.active_count(), _open_files())

    def pipe(self) -> tuple[BinaryIO, BinaryIO]:
        reader, writer = os.pipe()
        files = (os.fdopen(reader, "rb", buffering=0), os.fdopen(writer, "wb", buffering=0))
        self.files += files
        return files

    def wired(self, *, start: bool = True, **options: Any) -> tuple[Side, Wire]:
        """A transport, and its peer as bytes."""
        to_us, from_peer = self.pipe()
        to_peer, from_us = self.pipe()
        side = self.over(to_us, from_us, **options)
        if start:
            side.start()
        return side, Wire(from_peer, to_peer)

    def pair(self, **options: Any) -> tuple[Side, Side]:
        """Two transports that are each other's peer, not started yet."""
        reader_a, writer_b = self.pipe()
        reader_b, writer_a = self.pipe()
        return self.over(reader_a, writer_a, **options), self.over(reader_b, writer_b, **options)

    def over(self, input: BinaryIO, output: BinaryIO, **options: Any) -> Side:  # noqa: A002 - the counterpart of output
        side = Side(blocking.JsonRpcLineTransport(input, output, **options), self)
        self.sides.append(side)
        return side

    def with_output(self, write: Callable[[bytes], None], **options: Any) -> tuple[Side, Wire]:
        """A transport over a pipe for its input, and over this function for its output."""
        reader, writer = self.pipe()
        side = Side(blocking.JsonRpcLineTransport(reader, _Output(write), **options), self)
        self.sides.append(side)
        return side, Wire(writer, reader)

    def with_input(self, read: Callable[[], bytes], **options: Any) -> tuple[Side, Wire]:
        """A transport over this function for its input, and over a pipe for its output."""
        reader, writer = self.pipe()
        side = Side(blocking.JsonRpcLineTransport(_Input(read), writer, **options), self)
        self.sides.append(side)
        return side, Wire(writer, reader)

    def close(self) -> None:
        for side in self.sides:
            side.close()
        for thread in self.threads:
            thread.join(PATIENCE)
        self.end()
        for file in self.files:
            file.close()
        assert (threading.active_count(), _open_files()) == self.before, threading.enumerate()

    def end(self) -> None:
        pass


class AioRig(Rig):
    def __init__(self, flavour: str) -> None:
        super().__init__(flavour)
        self.problems: list[str] = []
        self.ends: list[PipeReader | asyncio.WriteTransport | asyncio.ReadTransport] = []
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(ThreadPoolExecutor(100))  # handlers that call back hold a thread each
        self.loop.set_exception_handler(lambda _, context: self.problems.append(str(context)))
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def over(self, input: BinaryIO, output: BinaryIO, **options: Any) -> Side:  # noqa: A002 - the counterpart of output
        async def make() -> aio.JsonRpcLineTransport:
            return aio.JsonRpcLineTransport(await self._reader(input), await self._writer(output), **options)

        return self._keep(make())

    def with_output(self, write: Callable[[bytes], None], **options: Any) -> tuple[Side, Wire]:
        reader, writer = self.pipe()

        async def make() -> aio.JsonRpcLineTransport:
            return aio.JsonRpcLineTransport(await self._reader(reader), _AioOutput(write), **options)

        return self._keep(make()), Wire(writer, reader)

    def with_input(self, read: Callable[[], bytes], **options: Any) -> tuple[Side, Wire]:
        reader, writer = self.pipe()

        async def make() -> aio.JsonRpcLineTransport:
            return aio.JsonRpcLineTransport(_AioInput(read), await self._writer(writer), **options)

        return self._keep(make()), Wire(writer, reader)

    def end(self) -> None:
        try:
            self.run(self._end())
            self.run(self.loop.shutdown_default_executor())
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(PATIENCE)
            self.loop.close()
        assert not self.problems

    async def _end(self) -> None:
        for end in self.ends:
            if isinstance(end, asyncio.WriteTransport) and not end.is_closing():
                end.abort()  # what nobody read is not waited for
            else:
                end.close()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left

    def _keep(self, work: Coroutine[Any, Any, aio.JsonRpcLineTransport]) -> AioSide:
        side = AioSide(self.run(work), self)
        self.sides.append(side)
        return side

    async def _reader(self, file: BinaryIO) -> PipeReader | asyncio.StreamReader:
        if self.flavour == "aio":
            reader = await aio.open_reader(file)
            self.ends.append(reader)
            return reader
        stream = asyncio.StreamReader()
        copy = os.fdopen(os.dup(file.fileno()), "rb", buffering=0)
        transport, _ = await self.loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), copy)
        self.ends.append(transport)
        return stream

    async def _writer(self, file: BinaryIO) -> PipeWriter | asyncio.StreamWriter:
        if self.flavour == "aio":
            writer = await aio.open_writer(file)
            self.ends.append(writer.transport)
            return writer
        copy = os.fdopen(os.dup(file.fileno()), "wb", buffering=0)
        stream = asyncio.StreamReader()
        transport, protocol = await self.loop.connect_write_pipe(lambda: asyncio.StreamReaderProtocol(stream), copy)
        self.ends.append(transport)
        return asyncio.StreamWriter(transport, protocol, None, self.loop)


def make_rig(flavour: str) -> Rig:
    return Rig(flavour) if flavour == "blocking" else AioRig(flavour)


class _Output:
    """A stream that writes by calling this function."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write

    def write(self, data: bytes) -> int:
        self._write(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass


class _AioOutput:
    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write

    def write(self, data: bytes) -> None:
        self._write(data)

    async def drain(self) -> None:
        pass


class _Input:
    """A stream that reads by calling this function, which may wait."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read

    def read(self, _: int) -> bytes:
        return self._read()


class _AioInput:
    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read

    async def read(self, _: int) -> bytes:
        return await asyncio.to_thread(self._read)


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
