"""What goes wrong between two processes: nothing hangs, every caller gets an answer or a typed error, nothing is left."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from dsh_runtime import JsonRpcResponseError, TransportClosedError
from dsh_runtime.aio import transport as aio_transport
from dsh_runtime.blocking import transport as blocking_transport
from tests.runtime.cases import SENTINEL_ANSWER, answer, echoing, eventually, survives
from tests.runtime.rig import PATIENCE, Rig, Side, Submission, Wire


@pytest.fixture
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (aio_transport, blocking_transport):
        monkeypatch.setattr(module, "CLOSE_GRACE", 0.05)


def outcomes(calls: Sequence[Submission]) -> dict[str, int]:
    """How the calls ended, by the text of what they got."""
    counts: dict[str, int] = {}
    for call in calls:
        error = call.exception(PATIENCE)
        text = str(call.result()) if error is None else f"{type(error).__name__}: {error}"
        counts[text] = counts.get(text, 0) + 1
    return counts


def serve(wire: Wire, answers: int, *, last: bytes = b"") -> None:
    """A peer that answers so many requests and then is gone, in the middle of a line."""
    for _ in range(answers):
        wire.send({"id": wire.read()["id"], "result": "yes"})
    if answers:
        wire.feed(last)
    wire.end()
    wire.stop_reading()


@pytest.mark.parametrize("answers", [0, 1, 500, 999])
def test_the_peer_dies_during_a_thousand_requests(rig: Rig, answers: int) -> None:
    side, wire = rig.wired()
    peer = side.spawn(lambda: serve(wire, answers, last=b'{"id":"req_'))
    calls: list[Submission] = []
    refused = 0
    for _ in range(1000):
        try:
            calls.append(side.submit("m", {"x": "y" * 100}))
        except TransportClosedError:
            refused += 1
    peer.result(PATIENCE)
    counts = outcomes(calls)
    assert counts.pop("yes", 0) <= answers  # a failing write ends the conversation, read or not
    assert sum(counts.values()) + refused >= 1000 - answers
    ends = ("TransportClosedError: JSON-RPC input closed", "TransportClosedError: JSON-RPC transport failed")
    assert all(text.startswith(ends) for text in counts)
    with pytest.raises(TransportClosedError):
        side.request("m")
    assert side.pending == 0


def test_a_peer_that_stops_reading_and_goes_on_writing(rig: Rig) -> None:
    side, wire = rig.wired()
    earlier = side.submit("m")
    wire.read()
    wire.stop_reading()
    with pytest.raises(TransportClosedError, match="JSON-RPC transport failed"):
        side.request("m", timeout=PATIENCE)
    with pytest.raises(TransportClosedError, match="JSON-RPC transport failed"):
        earlier.result(PATIENCE)
    with pytest.raises(TransportClosedError, match="JSON-RPC transport failed"):
        side.notify("m")
    with pytest.raises(ConnectionError):
        side.flush()


def test_a_peer_that_stops_reading_is_noticed_by_a_notification(rig: Rig) -> None:
    side, wire = rig.wired()
    wire.stop_reading()
    if rig.flavour != "blocking":  # asyncio writes it a turn later
        side.notify("m")
        eventually(lambda: side.closed)
    with pytest.raises(TransportClosedError, match="JSON-RPC transport failed"):
        side.notify("m")
    assert side.closed


def test_ten_thousand_requests_at_once(rig: Rig) -> None:
    side, wire = rig.wired()

    def serve() -> None:
        frames = [wire.read() for _ in range(10_000)]
        wire.send(*({"id": frame["id"], "result": frame["params"]["n"]} for frame in reversed(frames)))

    peer = side.spawn(serve)
    calls = side.submit_all("m", [{"n": n} for n in range(10_000)])
    assert [call.result(PATIENCE) for call in calls] == list(range(10_000))
    peer.result(PATIENCE)
    assert side.pending == 0


def test_two_sides_flood_each_other_with_requests(rig: Rig) -> None:
    a, b = rig.pair(queue_limit=8)
    for side in (a, b):
        side.on_request(answer)
        side.start()
    text = "x" * 2000

    def flood(side: Side) -> int:
        calls = side.submit_all("echo", [{"s": text}] * 1000)
        return sum(call.result(PATIENCE) == {"s": text} for call in calls)

    floods = [a.spawn(partial(flood, side)) for side in (a, b)]
    assert [future.result(PATIENCE) for future in floods] == [1000, 1000]


def test_no_pending_entry_is_left(rig: Rig) -> None:
    side, wire = rig.wired()
    calls = [side.submit("m", {"n": n}) for n in range(1000)]
    timed = [side.ask("m", {"n": 3}, timeout=0.05) for _ in range(10)]
    for frame in [wire.read() for _ in range(1010)]:
        match frame["params"]["n"] % 4:
            case 0:
                wire.send({"id": frame["id"], "result": 1})
            case 1:
                wire.send({"id": frame["id"], "error": {"code": 1, "message": "m"}})
            case _:
                pass
    eventually(lambda: sum(call.done() for call in calls) == 500)
    assert outcomes(timed) == {"TimeoutError: m: no response within 0.05 s": 10}
    for call in calls:
        call.cancel()
    eventually(lambda: side.pending == 0)


# floods, both ways


def fill(wire: Wire, data: bytes) -> int:
    """Feed until the pipe is full and nobody empties it. How many times the data went in."""
    os.set_blocking(wire.output.fileno(), False)
    count = refusals = 0
    waiting = threading.Event()
    while refusals < 20:
        try:
            assert os.write(wire.output.fileno(), data) == len(data)
        except BlockingIOError:
            refusals += 1
            waiting.wait(0.005)
        else:
            count += 1
            refusals = 0
    os.set_blocking(wire.output.fileno(), True)
    return count


def test_a_flood_waits_in_the_pipe_while_a_handler_is_slow(rig: Rig) -> None:
    side, wire = rig.wired(start=False, queue_limit=10)
    go_on = threading.Event()
    seen: list[int] = []

    def take(_: str, params: Any) -> None:
        go_on.wait(PATIENCE)
        seen.append(params["n"])

    side.on_notification(take)
    side.start()
    line = json.dumps({"method": "n", "params": {"n": 1, "fill": "x" * 940}}).encode()
    line = line + b" " * (1023 - len(line)) + b"\n"
    count = fill(wire, line)
    assert 10 <= side.queued <= 10 + 65536 // 1024  # a read more than the limit, at most
    assert count <= 10 + 6 * 65536 // 1024  # what is in the pipe, in a stream's buffer, in the queue, in the handler
    with pytest.raises(TimeoutError):  # the answer is behind the flood
        side.request("m", timeout=0.01)
    go_on.set()
    wire.feed(line)
    eventually(lambda: len(seen) == count + 1)


def test_a_call_from_a_handler_is_answered_behind_a_flood(rig: Rig) -> None:
    side, wire = rig.wired(start=False, queue_limit=2)
    done = threading.Event()
    seen: list[Any] = []

    def take(method: str, _: Any) -> None:
        seen.append(side.request("ask") if method == "first" else method)
        if len(seen) == 5001:
            done.set()

    side.on_notification(take)
    side.start()
    wire.send({"method": "first"})
    ident = wire.read()["id"]
    wire.send(*({"method": "n", "params": {"fill": "x" * 100}} for _ in range(5000)))
    wire.send({"id": ident, "result": "yes"})
    assert done.wait(PATIENCE)
    assert seen == ["yes"] + ["n"] * 5000


def test_a_call_from_a_request_handler_is_answered_at_the_limit(rig: Rig) -> None:
    side, wire = rig.wired(start=False, queue_limit=1)
    side.on_request(lambda *_: side.request("ask"))
    side.start()
    for ident in range(3):
        wire.send({"id": ident, "method": "m"})
    asked = [wire.read() for _ in range(3)]
    wire.send(*({"id": frame["id"], "result": "yes"} for frame in asked))
    assert sorted(wire.read()["id"] for _ in range(3)) == [0, 1, 2]


def test_more_handlers_than_threads_wait_for_each_other(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Handlers that wait for a response do not use up the threads for other handlers."""
    a, b = rig.pair()
    for side in (a, b):
        if rig.flavour == "blocking":
            monkeypatch.setattr(side.transport._workers, "_limit", 2)

    def relay(side: Side) -> Any:
        return lambda _, params: params["n"] and side.request("m", {"n": params["n"] - 1})

    a.on_request(relay(a))
    b.on_request(relay(b))
    a.start()
    b.start()
    assert outcomes([a.ask("m", {"n": 6}) for _ in range(5)]) == {"0": 5}


def test_a_flood_of_requests_waits_in_the_pipe(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    side, wire = rig.wired(start=False, queue_limit=10)
    if rig.flavour == "blocking":
        monkeypatch.setattr(side.transport._workers, "_limit", 3)
    go_on = threading.Event()
    side.on_request(lambda *_: go_on.wait(PATIENCE))
    side.start()
    line = json.dumps({"id": 1, "method": "m", "params": {"fill": "x" * 950}}).encode()
    line = line + b" " * (1023 - len(line)) + b"\n"
    count = fill(wire, line)
    assert count <= 13 + 6 * 65536 // 1024
    reading = side.spawn(lambda: [wire.read() for _ in range(count)])
    go_on.set()
    assert all(frame["result"] is True for frame in reading.result(PATIENCE))


def test_answers_nobody_reads(rig: Rig) -> None:
    """A peer that only ever asks is not read any more once its answers pile up."""
    side, wire = echoing(rig, queue_limit=10)
    line = json.dumps({"id": 1, "method": "echo", "params": {"fill": "x" * 945}}).encode()
    line = line + b" " * (1023 - len(line)) + b"\n"
    count = fill(wire, line)
    assert count < 2000
    reading = side.spawn(lambda: [wire.read() for _ in range(count)])
    assert len(reading.result(PATIENCE)) == count
    survives(wire)


def test_senders_wait_for_a_peer_that_does_not_read(rig: Rig) -> None:
    side, wire = rig.wired()
    sent = []

    def flood() -> None:
        for n in range(1000):
            side.notify("m", {"n": n, "fill": "x" * 65536})
            sent.append(n)

    flooding = side.spawn(flood)
    before = -1
    waiting = threading.Event()
    while len(sent) != before:
        before = len(sent)
        waiting.wait(0.05)
    assert len(sent) < 12  # what the pipe and the limit of unwritten bytes hold
    call = side.ask("m", timeout=0.05)
    with pytest.raises(TimeoutError):
        call.result(PATIENCE)
    wire.send({"method": "still", "params": {}}, {"id": 1, "method": "read"})
    side.close()
    with pytest.raises(TransportClosedError, match="JSON-RPC transport closed"):
        flooding.result(PATIENCE)


def test_a_line_cut_by_a_time_out_is_finished_later(rig: Rig) -> None:
    side, wire = rig.wired()
    big = {"fill": "x" * 300_000}
    with pytest.raises(TimeoutError):
        side.request("big", big, timeout=0.05)
    call = side.ask("small")
    lines = {"big": wire.read(), "small": wire.read()}
    assert {name: frame["method"] for name, frame in lines.items()} == {"big": "big", "small": "small"}
    wire.send(*({"id": frame["id"], "result": frame["method"]} for frame in lines.values()))
    assert call.result(PATIENCE) == "small"


# handlers, observers, callbacks


@pytest.mark.usefixtures("_short_grace")
def test_close_does_not_wait_for_a_handler_that_never_returns(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    side, wire = rig.wired(start=False)
    go_on = threading.Event()
    began = threading.Semaphore(0)

    def stuck(*_: Any) -> None:
        began.release()
        go_on.wait(PATIENCE)

    side.on_request(stuck)
    side.on_notification(stuck)
    side.start()
    call = side.ask("m")
    wire.read()
    wire.send({"id": 1, "method": "m"}, {"method": "m"})
    assert began.acquire(timeout=PATIENCE)
    assert began.acquire(timeout=PATIENCE)
    side.close()
    with pytest.raises(TransportClosedError):
        call.result(PATIENCE)
    go_on.set()
    eventually(lambda: not any(thread.name.startswith("dsh-") for thread in threading.enumerate()))
    assert wire.quiet()


def test_close_from_inside_a_handler(rig: Rig) -> None:
    for kind in ("request", "notification"):
        side, wire = rig.wired(start=False)
        done = threading.Event()

        def end(*_: Any, side: Side = side, done: threading.Event = done) -> None:
            try:
                side.close()
            finally:
                done.set()

        side.on_request(end)
        side.on_notification(end)
        side.start()
        wire.send({"id": 1, "method": "m"} if kind == "request" else {"method": "m"})
        assert done.wait(PATIENCE)
        assert side.closed


def test_close_while_handlers_wait_for_responses(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    errors: list[BaseException] = []
    ended = threading.Semaphore(0)

    def call_back(*_: Any) -> None:
        try:
            side.request("ask")
        except BaseException as error:  # noqa: BLE001 - whichever it is, is what the test asks
            errors.append(error)
        ended.release()

    side.on_request(call_back)
    side.on_notification(call_back)
    side.start()
    wire.send({"id": 1, "method": "m"}, {"method": "m"})
    wire.read()
    wire.read()
    side.close()
    assert ended.acquire(timeout=PATIENCE)
    assert ended.acquire(timeout=PATIENCE)
    assert len(errors) == 2


def test_an_observer_that_fails(rig: Rig) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no luck")

    side, wire = echoing(rig, observer=fail)
    wire.feed(b"garbage\n")
    survives(wire)
    call = side.submit("m")
    wire.send({"id": wire.read()["id"], "result": 1})
    assert call.result(PATIENCE) == 1


def test_what_an_observer_sees(rig: Rig) -> None:
    rows: list[Any] = []
    side, wire = echoing(rig, observer=lambda *row: rows.append(row))
    wire.feed(b"garbage\n")
    survives(wire)
    call = side.submit("m", {"x": 1})
    frame = wire.read()
    wire.send({"id": frame["id"], "result": 1})
    assert call.result(PATIENCE) == 1
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("in", None, "the line is not JSON: Expecting value at column 1"),
        ("in", {**SENTINEL_ANSWER, **rows[1][2]} if "method" not in rows[1][2] else rows[1][2], None),
        ("out", SENTINEL_ANSWER, None),
        ("out", frame, None),
        ("in", {"id": frame["id"], "result": 1}, None),
    ]
    assert json.loads(rows[3][1]) == frame


def test_a_callback_for_the_end_that_fails(rig: Rig) -> None:
    side, wire = rig.wired()
    ended = threading.Event()

    def fail(_: Exception) -> None:
        raise RuntimeError("no luck")

    side.on_close(fail)
    side.on_close(lambda _: ended.set())
    wire.end()
    assert ended.wait(PATIENCE)


def test_notifications_before_the_end_are_handled_before_it_is_announced(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    log: list[Any] = []
    ended = threading.Event()
    go_on = threading.Event()

    def take(_: str, params: Any) -> None:
        go_on.wait(PATIENCE)
        log.append(params["n"])

    side.on_notification(take)
    side.on_close(lambda _: log.append("end"))
    side.on_close(lambda _: ended.set())
    side.start()
    call = side.submit("m")
    ident = wire.read()["id"]
    wire.send(*({"method": "n", "params": {"n": n}} for n in range(3)))
    wire.send({"id": ident, "result": "last words"})
    wire.end()
    eventually(lambda: side.closed)
    go_on.set()
    assert call.result(PATIENCE) == "last words"
    assert ended.wait(PATIENCE)
    assert log == [0, 1, 2, "end"]


def test_a_line_over_the_limit(rig: Rig) -> None:
    side, wire = echoing(rig, max_line=1000)
    feeding = side.spawn(lambda: wire.feed(b"x" * 1_000_000 + b"\n"))
    feeding.result(PATIENCE)
    survives(wire)
    assert side.dropped == 1


def test_a_failed_call_raises_its_own_error(rig: Rig) -> None:
    """Two callers never get the same exception object, which would collect both their tracebacks."""
    side, wire = rig.wired()
    calls = [side.submit("m") for _ in range(2)]
    wire.end()
    errors = [call.exception(PATIENCE) for call in calls]
    assert all(isinstance(error, TransportClosedError) for error in errors)
    assert errors[0] is not errors[1]


def test_refused(rig: Rig) -> None:
    side, wire = rig.wired()
    call = side.ask("m")
    wire.send({"id": wire.read()["id"], "error": {"code": -32603, "message": "no luck"}})
    with pytest.raises(JsonRpcResponseError, match=r"^no luck \(code -32603\)$"):
        call.result(PATIENCE)
