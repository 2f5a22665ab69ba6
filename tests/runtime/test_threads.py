"""What only the blocking flavour has: kinds of streams, threads, interruptions."""

from __future__ import annotations

import io
import json
import os
import select
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any, BinaryIO, cast

import pytest

from dsh_runtime import JsonRpcResponseError, TransportClosedError
from dsh_runtime.blocking import JsonRpcLineTransport
from dsh_runtime.blocking import workers as workers_module
from dsh_runtime.blocking.output import LineWriter
from dsh_runtime.blocking.streams import Interrupted, Interruption, Sink, Source
from dsh_runtime.blocking.workers import Workers
from tests.runtime.cases import answer, eventually, survives
from tests.runtime.rig import PATIENCE, Rig, Wire


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig("blocking")
    yield rig
    rig.close()


@pytest.fixture
def interruption() -> Iterator[Interruption]:
    interruption = Interruption()
    yield interruption
    interruption.close()


# streams


def test_buffered_files_are_used_by_their_descriptor(rig: Rig) -> None:
    (read_a, write_a), (read_b, write_b) = os.pipe(), os.pipe()
    files = [os.fdopen(read_a, "rb"), os.fdopen(write_a, "wb", 0), os.fdopen(read_b, "rb", 0), os.fdopen(write_b, "wb")]
    rig.files += cast("list[BinaryIO]", files)
    side = rig.over(cast("BinaryIO", files[0]), cast("BinaryIO", files[3]))
    side.on_request(answer)
    side.start()
    survives(Wire(cast("BinaryIO", files[1]), cast("BinaryIO", files[2])))


def test_sockets() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        transport = JsonRpcLineTransport(ours, ours)
        transport.on_request(answer)
        transport.start()
        theirs.sendall(b'{"id":1,"method":"echo","params":{"x":1}}\n')
        assert theirs.recv(1000) == b'{"jsonrpc":"2.0","id":1,"result":{"x":1}}\n'
        transport.close()
        theirs.sendall(b"still open")
        assert ours.recv(100) == b"still open"


def test_files_in_memory() -> None:
    output = io.BytesIO()
    lines = b"".join(json.dumps({"id": n, "method": "echo"}).encode() + b"\n" for n in range(100))
    transport = JsonRpcLineTransport(io.BytesIO(lines), output)
    transport.on_request(answer)
    ended = threading.Event()
    transport.on_close(lambda _: ended.set())
    transport.start()
    assert ended.wait(PATIENCE)
    eventually(lambda: output.getvalue().count(b"\n") == 100)
    transport.close()
    assert sorted(json.loads(line)["id"] for line in output.getvalue().splitlines()) == list(range(100))


def test_descriptors_that_do_not_block(rig: Rig) -> None:
    """Somebody who shares the descriptors, asyncio say, may have made them so."""
    side, wire = rig.wired(start=False)
    side.on_request(answer)
    for file in rig.files:
        os.set_blocking(file.fileno(), False)
    side.start()
    survives(wire)


def test_a_sink_without_room(rig: Rig, interruption: Interruption) -> None:
    _, writer = rig.pipe()
    sink = Sink(writer, interruption)
    data = memoryview(b"x" * 1_000_000)
    while written := sink.write(data, time.monotonic()):
        assert written <= select.PIPE_BUF
    waiting = threading.Thread(target=interruption.set)
    waiting.start()
    with pytest.raises(Interrupted):
        sink.write(data, None)
    waiting.join()


def test_a_source_that_is_interrupted(rig: Rig, interruption: Interruption) -> None:
    reader, writer = rig.pipe()
    source = Source(reader, interruption)
    writer.write(b"x")
    assert source.read() == b"x"
    interruption.set()
    with pytest.raises(Interrupted):
        source.read()


def test_a_closed_file_is_an_error_not_a_wrong_descriptor(rig: Rig, interruption: Interruption) -> None:
    reader, writer = rig.pipe()
    source, sink = Source(reader, interruption), Sink(writer, interruption)
    reader.close()
    writer.close()
    with pytest.raises(ValueError, match="closed file"):
        source.read()
    with pytest.raises(ValueError, match="closed file"):
        sink.write(memoryview(b"x"), None)


def test_a_raw_stream_that_writes_a_part() -> None:
    class Raw(io.RawIOBase):
        def __init__(self) -> None:
            self.data = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.data += bytes(data[:7])
            return len(data[:7])

    raw = Raw()
    transport = JsonRpcLineTransport(io.BytesIO(), cast("Any", raw))
    transport.notify("m", {"x": "y" * 100})
    transport.flush()
    transport.close()
    assert json.loads(raw.data)["params"] == {"x": "y" * 100}


def test_a_write_that_is_interrupted_by_the_user(rig: Rig) -> None:
    """How much of the line went out is not known: nothing more is written."""
    failures = [KeyboardInterrupt()]

    def write(_: bytes) -> None:
        raise failures.pop()

    side, _ = rig.with_output(write)
    side.start()
    with pytest.raises(KeyboardInterrupt):
        side.request("m")
    with pytest.raises(TransportClosedError, match="KeyboardInterrupt during a write"):
        side.request("m")
    assert side.pending == 0


def test_a_future_may_call_back_when_the_output_is_lost(rig: Rig) -> None:
    def write(_: bytes) -> None:
        go_on.wait(PATIENCE)
        raise OSError("disk full")

    go_on = threading.Event()
    side, _ = rig.with_output(write)
    side.start()
    errors: list[Exception] = []
    done = threading.Event()

    def call_back(_: Any) -> None:
        for call in (side.flush, lambda: side.request("m"), side.close):
            try:
                call()
            except Exception as error:  # noqa: BLE001 - whichever it is, is what the test asks
                errors.append(error)
        done.set()

    side.submit("m").add_done_callback(call_back)
    go_on.set()
    assert done.wait(PATIENCE)
    assert [str(error) for error in errors] == ["disk full", "JSON-RPC transport failed: disk full"]


def test_an_answer_that_calls_back(rig: Rig) -> None:
    """The callbacks of a submitted request run while nothing is locked."""
    side, wire = rig.wired()
    results: list[Any] = []
    done = threading.Event()

    def call_back(_: Any) -> None:
        results.append(side.submit("again"))
        done.set()

    first = side.submit("m")
    first.add_done_callback(call_back)
    wire.send({"id": wire.read()["id"], "result": 1})
    assert done.wait(PATIENCE)
    wire.send({"id": wire.read()["id"], "result": 2})
    assert results[0].result(PATIENCE) == 2


def test_a_cancelled_future_is_done_for_everybody(rig: Rig) -> None:
    side, wire = rig.wired()
    call = side.submit("m")
    frame = wire.read()
    told: list[Any] = []
    call.add_done_callback(told.append)
    assert not call.done()
    with pytest.raises(TimeoutError):
        call.result(0.001)
    with pytest.raises(TimeoutError):
        call.exception(0.001)
    assert call.cancel()
    assert call.cancel()
    assert call.cancelled()
    assert call.done()
    assert told == [call]
    for wait in (call.result, call.exception):
        with pytest.raises(CancelledError):
            wait()
    answered = side.submit("m")
    wire.send({"id": frame["id"]}, {"id": wire.read()["id"], "result": 1})
    assert answered.result(PATIENCE) == answered.result() == 1
    assert answered.exception() is None
    assert not answered.cancel()


def test_callbacks_of_a_submission(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Any) -> None:
        raise RuntimeError("no luck")

    side, wire = rig.wired()
    call = side.submit("m")
    told: list[Any] = []
    done = threading.Event()
    for callback in (fail, told.append, lambda _: done.set()):
        call.add_done_callback(callback)
    wire.send({"id": wire.read()["id"], "error": {"code": 1, "message": "m"}})
    assert done.wait(PATIENCE)
    call.add_done_callback(told.append)  # at once
    assert told == [call, call]
    assert isinstance(call.exception(), JsonRpcResponseError)
    assert [record.getMessage() for record in caplog.records] == ["a callback of a request failed"]


def test_many_wait_for_one_submission(rig: Rig) -> None:
    side, wire = rig.wired()
    call = side.submit("m")
    waiting = [side.spawn(lambda: call.result(PATIENCE)) for _ in range(10)]
    wire.send({"id": wire.read()["id"], "result": 7})
    assert [future.result(PATIENCE) for future in waiting] == [7] * 10


@pytest.mark.parametrize("error", [SystemExit("bye"), GeneratorExit("bye"), ValueError("bye")])
def test_a_handler_that_ends_in_any_way_is_answered(rig: Rig, error: BaseException) -> None:
    side, wire = rig.wired(start=False)

    def fail(method: str, params: Any) -> Any:
        if method == "fail":
            raise error
        return answer(method, params)

    side.on_request(fail)
    side.on_notification(fail)
    side.start()
    wire.send({"method": "fail"}, {"id": 1, "method": "fail"})
    assert wire.read() == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "bye"}}
    survives(wire)
    call = side.ask("m")
    wire.send({"method": "fail"}, {"id": wire.read()["id"], "result": 1})
    assert call.result(PATIENCE) == 1


def test_lines_of_several_threads_leave_together() -> None:
    class Slow:
        def __init__(self) -> None:
            self.writes: list[bytes] = []

        def write(self, data: Any) -> None:
            self.writes.append(bytes(data))
            began.set()
            go_on.wait(PATIENCE)

        def flush(self) -> None:
            pass

    began, go_on = threading.Event(), threading.Event()
    output = Slow()
    transport = JsonRpcLineTransport(io.BytesIO(), cast("Any", output))
    threads = [threading.Thread(target=transport.notify, args=("m", {"n": n})) for n in range(10)]
    threads[0].start()
    assert began.wait(PATIENCE)
    for thread in threads[1:]:
        thread.start()
    eventually(lambda: len(transport._output._lines) == 9)
    go_on.set()
    for thread in threads:
        thread.join()
    transport.close()
    assert [data.count(b"\n") for data in output.writes] == [1, 9]


def test_submitted_lines_leave_together(rig: Rig) -> None:
    side, wire = rig.wired()
    calls = [side.submit("m", {"n": n}) for n in range(1000)]
    frames = [wire.read() for _ in calls]
    assert [frame["params"]["n"] for frame in frames] == list(range(1000))
    side.close()
    assert all(isinstance(call.exception(PATIENCE), TransportClosedError) for call in calls)


def test_a_writer_that_was_stopped_fails_its_lines(interruption: Interruption) -> None:
    failed: list[Any] = []
    writer: LineWriter[str] = LineWriter(Sink(io.BytesIO(), interruption), lambda *what: failed.append(what), failed.append)
    error = TransportClosedError("over")
    assert writer.stop(error) is None
    writer.put(b"x\n", "line")
    assert writer.write_out()
    assert failed == [("line", error)]
    with pytest.raises(TransportClosedError):
        writer.flush()


# workers


def test_workers_grow_to_the_limit_and_go_when_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "_IDLE_SECONDS", 0.01)
    begun: list[int] = []
    workers = Workers(lambda: begun.append(1), limit=3)
    at_work, go_on = threading.Semaphore(0), threading.Event()

    def job() -> None:
        at_work.release()
        go_on.wait(PATIENCE)

    for _ in range(5):
        workers.submit(job)
    for _ in range(3):
        assert at_work.acquire(timeout=PATIENCE)
    assert workers.backlog == 2
    assert len(begun) == 3
    workers.waiting(1)  # one of the three waits for another job
    assert at_work.acquire(timeout=PATIENCE)
    workers.waiting(-1)
    go_on.set()
    assert at_work.acquire(timeout=PATIENCE)
    eventually(lambda: not workers._threads)
    workers.submit(job)
    assert at_work.acquire(timeout=PATIENCE)
    for thread in workers.cancel():
        thread.join(PATIENCE)


def test_workers_begin_all_that_was_submitted_at_once() -> None:
    """A thread that was woken but has not begun is not counted on twice."""
    workers = Workers(lambda: None, limit=10)
    first = threading.Event()
    workers.submit(first.set)
    assert first.wait(PATIENCE)
    eventually(lambda: workers._idle == 1)
    together = threading.Barrier(4)

    def meet() -> None:
        together.wait(PATIENCE)

    for _ in range(3):
        workers.submit(meet)
    together.wait(PATIENCE)
    for thread in workers.cancel():
        thread.join(PATIENCE)


def test_threads_end_with_the_input(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    side.on_request(answer)
    side.start()
    survives(wire)
    wire.end()
    eventually(lambda: not any(thread.name.startswith("dsh-") for thread in threading.enumerate()))
