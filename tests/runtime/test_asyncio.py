"""What only the asyncio flavour has: plain and asynchronous handlers, cancellation, its pipes."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, BinaryIO

import pytest

from dsh_protocol import METHODS
from dsh_runtime import TransportClosedError
from dsh_runtime.aio import JsonRpcLineTransport, PipeReader, PipeWriter, open_reader, open_writer
from dsh_runtime.aio import output as aio_output
from dsh_runtime.aio import transport as aio_transport
from tests.runtime.rig import PATIENCE, Wire


class Line:
    """The peer's end of a conversation, awaited."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    async def read(self) -> Any:
        readable = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(self.wire.input, readable.set)
        try:
            if self.wire.quiet():
                await readable.wait()
        finally:
            loop.remove_reader(self.wire.input)
        return self.wire.read()

    def send(self, *frames: object) -> None:
        self.wire.send(*frames)


@asynccontextmanager
async def wired(**options: Any) -> AsyncIterator[tuple[JsonRpcLineTransport, Line, PipeReader, PipeWriter]]:
    (read_a, write_a), (read_b, write_b) = os.pipe(), os.pipe()
    files: list[BinaryIO] = [os.fdopen(fd, "rb", buffering=0) for fd in (read_a, read_b)]
    files += [os.fdopen(fd, "wb", buffering=0) for fd in (write_a, write_b)]
    reader, writer = await open_reader(files[0]), await open_writer(files[3])
    transport = JsonRpcLineTransport(reader, writer, **options)
    try:
        yield transport, Line(Wire(files[2], files[1])), reader, writer
    finally:
        await transport.close()
        reader.close()
        if not writer.transport.is_closing():
            writer.transport.abort()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for file in files:
            file.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(PATIENCE):
            await work()

    asyncio.run(limited(), debug=False)


@pytest.mark.parametrize("error", [asyncio.CancelledError("called off"), ValueError("no luck"), SystemExit("bye")])
@pytest.mark.parametrize("plain", [True, False])
def test_a_handler_that_ends_in_any_way_is_answered(error: BaseException, plain: bool) -> None:
    answered: list[Any] = []

    async def conversation() -> None:
        async with wired() as (transport, line, _, _):

            def fail(*_: Any) -> None:
                raise error

            async def fail_later(*_: Any) -> None:
                raise error

            transport.on_request(fail if plain else fail_later)
            await transport.start()
            line.send({"id": 1, "method": "m"})
            try:
                answered.append(await line.read())
            finally:
                if not answered:
                    answered.append(line.wire.read())

    if isinstance(error, SystemExit):
        with pytest.raises(SystemExit):  # it does not vanish
            run(conversation)
    else:
        run(conversation)
    assert answered == [{"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": str(error)}}]


@pytest.mark.parametrize("plain", [True, False])
def test_a_notification_handler_that_is_cancelled_ends_nothing(plain: bool) -> None:
    async def conversation() -> None:
        async with wired() as (transport, line, _, _):
            seen: list[str] = []
            done = asyncio.Event()

            def note(method: str) -> None:
                seen.append(method)
                if method == "last":
                    done.set()
                raise asyncio.CancelledError

            async def note_later(method: str, _: Any) -> None:
                await asyncio.sleep(0)
                note(method)

            transport.on_notification((lambda method, _: note(method)) if plain else note_later)
            await transport.start()
            line.send({"method": "first"}, {"method": "second"}, {"method": "last"})
            await done.wait()
            assert seen == ["first", "second", "last"]

    run(conversation)


def test_plain_handlers_keep_the_order_too() -> None:
    async def conversation() -> None:
        async with wired() as (transport, line, _, _):
            log: list[Any] = []
            done = asyncio.Event()

            def take(_: str, params: Any) -> None:
                log.append(params["n"])
                if params["n"] == 3:
                    done.set()

            transport.on_notification(take)
            await transport.start()

            async def call() -> None:
                await transport.request("m")
                log.append("returned")

            calling = asyncio.create_task(call())
            ident = (await line.read())["id"]
            line.send(
                {"method": "n", "params": {"n": 1}}, {"id": ident}, *({"method": "n", "params": {"n": n}} for n in (2, 3))
            )
            await done.wait()
            await calling
            assert log == [1, "returned", 2, 3]

    run(conversation)


def test_a_task_made_by_a_plain_handler_counts_as_the_handler() -> None:
    """Its call is answered though the queue waits for it."""

    async def conversation() -> None:
        async with wired() as (transport, line, _, _):
            done = asyncio.Event()

            async def call() -> None:
                await transport.request("ask")
                done.set()

            transport.on_notification(lambda *_: asyncio.ensure_future(call()))
            await transport.start()
            line.send({"method": "n"})
            ident = (await line.read())["id"]
            line.send({"method": "n"}, {"id": ident})
            await done.wait()
            await line.read()

    run(conversation)


def test_a_task_that_outlives_its_handler_keeps_the_order() -> None:
    async def conversation() -> None:
        async with wired() as (transport, line, _, _):
            log: list[str] = []
            tasks: list[asyncio.Task[None]] = []
            later = asyncio.Event()

            async def call() -> None:
                await later.wait()
                await transport.request("ask")
                log.append("returned")

            async def take(method: str, _: Any) -> None:
                if method == "spawn":
                    tasks.append(asyncio.create_task(call()))
                await asyncio.sleep(0)
                log.append(method)

            transport.on_notification(take)
            await transport.start()
            line.send({"method": "spawn"})
            while not log:
                await asyncio.sleep(0.001)
            later.set()
            ident = (await line.read())["id"]
            line.send({"method": "before"}, {"id": ident}, {"method": "after"})
            await tasks[0]
            assert log == ["spawn", "before", "returned"]

    run(conversation)


def test_cancelling_a_call() -> None:
    async def conversation() -> None:
        async with wired() as (transport, line, _, _):
            await transport.start()
            calls = [asyncio.create_task(transport.request("m")), transport.submit("m")]
            frames = [await line.read(), await line.read()]
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            assert not transport._connection.pending
            line.send(*({"id": frame["id"]} for frame in frames))
            last = transport.submit("m")
            line.send({"id": (await line.read())["id"], "result": 3})
            assert await last == 3
            assert transport.dropped == 2

    run(conversation)


def test_a_time_out_of_the_input_is_no_time_out_of_the_call() -> None:
    class Input:
        async def read(self, _: int) -> bytes:
            await asked.wait()
            raise TimeoutError("the network is slow")

    asked = asyncio.Event()

    async def conversation() -> None:
        async with wired() as (_, line, _, writer):
            transport = JsonRpcLineTransport(Input(), writer)
            await transport.start()
            call = asyncio.create_task(transport.request("m", timeout=PATIENCE))
            await line.read()
            asked.set()
            with pytest.raises(TimeoutError, match="the network is slow"):
                await call
            await transport.close()

    run(conversation)


def test_frames_of_one_turn_leave_in_one_write() -> None:
    class Output:
        def __init__(self) -> None:
            self.writes: list[bytes] = []

        def write(self, data: bytes) -> None:
            self.writes.append(data)

        async def drain(self) -> None:
            pass

    async def conversation() -> None:
        output = Output()
        transport = JsonRpcLineTransport(asyncio.StreamReader(), output)
        for n in range(100):
            await transport.notify("m", {"n": n})
        assert output.writes == []
        await transport.flush()
        assert [data.count(b"\n") for data in output.writes] == [100]
        big = {"fill": "x" * (aio_output.OUTPUT_LIMIT + 1)}
        await transport.notify("m", big)
        assert len(output.writes) == 2  # not kept for the next turn
        await transport.close()

    run(conversation)


def test_flush_leaves_the_limits_of_the_stream_alone() -> None:
    async def conversation() -> None:
        read, write = os.pipe()
        with os.fdopen(read, "rb", buffering=0) as file, os.fdopen(write, "wb", buffering=0) as out:
            pipe, protocol = await asyncio.get_running_loop().connect_write_pipe(
                lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), out
            )
            writer = asyncio.StreamWriter(pipe, protocol, None, asyncio.get_running_loop())
            limits = pipe.get_write_buffer_limits()
            transport = JsonRpcLineTransport(asyncio.StreamReader(), writer)
            await transport.notify("m", {"fill": "x" * 1_000_000})
            flushes = [asyncio.create_task(transport.flush()) for _ in range(3)]
            line = await asyncio.to_thread(Wire(out, file).read_line)
            await asyncio.gather(*flushes)
            assert len(line) > 1_000_000
            assert pipe.get_write_buffer_limits() == limits
            await transport.close()
            writer.close()
            await asyncio.sleep(0)

    run(conversation)


def test_typed_notifications() -> None:
    async def conversation() -> None:
        async with wired() as (transport, line, _, _):
            status = METHODS["session.status"]
            await transport.notify(status, status.decode_params({"sessionId": "s", "status": "idle"}))
            assert (await line.read())["params"] == {"sessionId": "s", "status": "idle"}

    run(conversation)


def test_a_reader_goes_on_with_another_transport() -> None:
    """The streams are the caller's: what the first transport did not read is there for the second."""

    async def conversation() -> None:
        async with wired() as (first, line, reader, writer):
            await first.start()
            await first.close()
            line.send({"id": 1, "method": "m"})
            second = JsonRpcLineTransport(reader, writer)
            await second.start()
            assert (await line.read())["error"]["code"] == -32601
            await second.close()
            line.wire.end()
            third = JsonRpcLineTransport(reader, writer)
            ended = asyncio.Event()
            third.on_close(lambda _: ended.set())
            await third.start()
            await ended.wait()

    run(conversation)


def test_a_reader_keeps_what_comes_before_there_is_a_sink() -> None:
    async def conversation() -> None:
        reader = PipeReader()
        got: list[Any] = []
        reader.data_received(b"a")
        reader.data_received(b"b")
        reader.eof_received()
        reader.connection_lost(None)
        reader.attach(got.append, got.append)
        assert got == [b"a", b"b", None]
        PipeReader().close()

    run(conversation)


def test_a_writer_says_why_it_lost_the_pipe() -> None:
    async def conversation() -> None:
        async with wired() as (_, line, _, writer):
            line.wire.stop_reading()
            writer.write(b"x\n")
            with pytest.raises(ConnectionError):
                await writer.drain()
            with pytest.raises(ConnectionError):
                writer.write(b"x\n")
            with pytest.raises(ConnectionError):
                await writer.drain()

    run(conversation)


def test_close_while_a_sender_waits_for_room() -> None:
    async def conversation() -> None:
        async with wired() as (transport, _, _, _):
            big = {"fill": "x" * 2_000_000}
            await transport.notify("m", big)
            waiting = [asyncio.create_task(transport.notify("m", big)), asyncio.create_task(transport.request("m", big))]
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await transport.close()
            results = await asyncio.gather(*waiting, return_exceptions=True)
            assert [type(result) for result in results] == [TransportClosedError] * 2

    run(conversation)


def test_close_does_not_wait_for_a_handler_that_ignores_its_cancellation(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(aio_transport, "CLOSE_GRACE", 0.01)

    async def conversation() -> None:
        async with wired() as (transport, line, _, _):
            began, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

            async def stubborn(*_: Any) -> None:
                began.set()
                while not go_on.is_set():
                    with suppress(asyncio.CancelledError):
                        await go_on.wait()
                ended.set()

            transport.on_request(stubborn)
            await transport.start()
            line.send({"id": 1, "method": "m"})
            await began.wait()
            await transport.close()
            assert "1 handlers did not end" in caplog.text
            go_on.set()
            await ended.wait()
            await asyncio.sleep(0)
            assert line.wire.quiet()

    run(conversation)


def test_a_notification_that_a_stream_refuses_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Output:
        def write(self, _: bytes) -> None:
            raise RuntimeError("boom")

        async def drain(self) -> None:
            pass

    async def conversation() -> None:
        transport = JsonRpcLineTransport(asyncio.StreamReader(), Output())
        await transport.notify("m")
        await asyncio.sleep(0)
        assert "boom" in caplog.text
        assert not transport.closed
        await transport.close()

    run(conversation)


def test_an_event_loop_blocked_by_nobody() -> None:
    """Reading from a stream in pull mode pauses while the queue is full, and goes on after."""

    async def conversation() -> None:
        stream = asyncio.StreamReader()
        lines = [json.dumps({"method": "n", "params": {"n": n, "fill": "x" * 60_000}}).encode() + b"\n" for n in range(20)]
        stream.feed_data(b"".join(lines))
        async with wired() as (_, _, _, writer):
            transport = JsonRpcLineTransport(stream, writer, queue_limit=2)
            go_on = asyncio.Event()
            seen: list[int] = []
            ended = threading.Event()

            async def take(_: str, params: Any) -> None:
                await go_on.wait()
                seen.append(params["n"])
                if len(seen) == 20:
                    ended.set()

            transport.on_notification(take)
            await transport.start()
            for _ in range(20):
                await asyncio.sleep(0)
            assert len(transport._queue) <= 4
            assert transport._paused
            go_on.set()
            while not ended.is_set():
                await asyncio.sleep(0)
            assert seen == list(range(20))
            await transport.close()

    run(conversation)
