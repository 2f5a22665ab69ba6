"""The table of behaviours: each case is written once, says which rules of PROTOCOL.md it shows, and runs on every flavour."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pytest

from dsh_protocol import METHODS, UNSET, DecodeError, v0_2_1
from dsh_runtime import JsonRpcResponseError, LocalProtocolError, TransportClosedError
from tests.runtime.rig import PATIENCE, Rig, Side, Submission, Wire

SENTINEL: Final = {"jsonrpc": "2.0", "id": "sentinel", "method": "echo", "params": {"still": "here"}}
SENTINEL_ANSWER: Final = {"jsonrpc": "2.0", "id": "sentinel", "result": {"still": "here"}}
SERVER: Final = {"name": "deepseek-harness-sdk-runtime", "version": "0.0.1"}


@dataclass(frozen=True)
class Case:
    rules: tuple[str, ...]
    run: Callable[[Rig], None]

    def __str__(self) -> str:
        return self.run.__name__


CASES: Final[list[Case]] = []


def case(*rules: str) -> Callable[[Callable[[Rig], None]], Callable[[Rig], None]]:
    def register(run: Callable[[Rig], None]) -> Callable[[Rig], None]:
        CASES.append(Case(rules, run))
        return run

    return register


def answer(method: str, params: dict[str, Any]) -> Any:
    """A request handler with the methods that the cases ask for."""
    match method:
        case "fail":
            raise ValueError("no luck")
        case "none":
            return None
        case "absent":
            return UNSET
        case "unencodable":
            return {"x": object()}
        case "echo":
            return params
        case _:
            return {"method": method, "params": params}


def echoing(rig: Rig, **options: Any) -> tuple[Side, Wire]:
    side, wire = rig.wired(start=False, **options)
    side.on_request(answer)
    side.start()
    return side, wire


def survives(wire: Wire) -> None:
    """The sentinel is answered, and nothing before it was."""
    wire.send(SENTINEL)
    assert wire.read() == SENTINEL_ANSWER


def eventually(condition: Callable[[], bool]) -> None:
    """For what happens in another thread, soon, without a signal to wait for."""
    waiting = threading.Event()
    for _ in range(2000):
        if condition():
            return
        waiting.wait(0.005)
    raise AssertionError("it did not happen")


def ask(side: Side, wire: Wire, method: Any = "ask", params: Any = None) -> tuple[Submission, Any]:
    """A request under way: what its caller gets, and its frame."""
    future = side.submit(method, params)
    return future, wire.read()


# reading


@case("T1", "T2", "T30", "T40", "T41", "T39", "T27")
def two_transports(rig: Rig) -> None:
    a, b = rig.pair()
    seen: list[Any] = []
    told = threading.Event()
    b.on_request(lambda method, params: {"method": method, "params": params})

    def take(method: str, params: Any) -> None:
        seen.append((method, params))
        if len(seen) == 2:
            told.set()

    a.on_notification(take)
    a.start()
    b.start()
    assert a.request("sum", {"of": [1, 2]}) == {"method": "sum", "params": {"of": [1, 2]}}
    b.notify("news", {"n": 1})
    b.notify("bare")
    assert told.wait(PATIENCE)
    assert seen == [("news", {"n": 1}), ("bare", {})]


@case("T3", "T4", "T8", "T9", "T10", "T11", "T20", "T50")
def garbage_is_skipped(rig: Rig) -> None:
    side, wire = echoing(rig)
    side.start()
    wire.feed(b'garbage\n\n  \n\r\n\t\nnull\n1\n"x"\ntrue\n[1]\n{}\n{"id":true}\n{} {}\n')
    wire.feed(json.dumps([SENTINEL]).encode() + b"\n")
    wire.feed(json.dumps(SENTINEL).encode() * 2 + b"\n")
    survives(wire)
    assert side.dropped == 11


@case("T3")
def odd_blanks_around_a_frame(rig: Rig) -> None:
    side, wire = echoing(rig)
    line = json.dumps(SENTINEL)
    for before, after in (("", "\r"), ("\ufeff", ""), (" \t\v\f", "\u00a0"), ("\u2028\u3000", "\u2029\r")):
        wire.feed(f"{before}{line}{after}\n".encode())
        assert wire.read() == SENTINEL_ANSWER
    assert side.dropped == 0


@case("T3", "T1")
def only_line_feeds_end_lines(rig: Rig) -> None:
    _, wire = echoing(rig)
    text = "a\u2028b\u2029c\u0085d"
    wire.feed(json.dumps({"id": 1, "method": "echo", "params": {"s": text}}, ensure_ascii=False).encode() + b"\n")
    assert wire.read()["result"] == {"s": text}


@case("T5")
def a_character_split_over_chunks(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    seen: list[Any] = []
    both = threading.Semaphore(0)

    def take(_: str, params: Any) -> None:
        seen.append(params)
        both.release()

    side.on_notification(take)
    side.start()
    line = json.dumps({"method": "n", "params": {"s": "漢🙂"}}, ensure_ascii=False).encode() + b"\n"
    for cut in range(1, len(line)):
        wire.feed(line[:cut])
        wire.feed(line[cut:])
        assert both.acquire(timeout=PATIENCE)
    assert seen == [{"s": "漢🙂"}] * (len(line) - 1)


@case("T6")
def bytes_that_are_no_utf8(rig: Rig) -> None:
    side, wire = echoing(rig)
    wire.feed(b'{"id":1,"method":"echo","params":{"s":"a\xffb"}}\n')
    assert wire.read()["result"] == {"s": "a\ufffdb"}
    wire.feed(b'\xff{"id":1,"method":"echo"}\n')
    survives(wire)
    assert side.dropped == 1


@case("T7")
def chunks_of_text(rig: Rig) -> None:
    chunks = iter(['{"id":1,"method":"ec', 'ho","params":{"s":"漢"}}\n'])
    go_on = threading.Event()

    def read() -> Any:
        text = next(chunks, None)
        if text is None:
            go_on.wait(PATIENCE)
            return b""
        return text

    side, wire = rig.with_input(read)
    side.on_request(answer)
    side.start()
    assert wire.read()["result"] == {"s": "漢"}
    go_on.set()


@case("T12", "T15", "T16")
def frames_are_read_generously(rig: Rig) -> None:
    side, wire = echoing(rig)
    wire.feed(b'{"id":1,"method":"echo","method":"echo","params":{"a":1},"params":{"b":2}}\n')
    assert wire.read() == {"jsonrpc": "2.0", "id": 1, "result": {"b": 2}}
    wire.feed(b'{"jsonrpc":"1.0","id":2,"method":"echo","trace":"t"}\n{"jsonrpc":2,"id":3,"method":"echo","result":1}\n')
    assert {wire.read()["id"], wire.read()["id"]} == {2, 3}
    assert side.dropped == 0


@case("T13", "T56")
def an_unfinished_line_at_the_end_is_no_frame(rig: Rig) -> None:
    side, wire = echoing(rig)
    ended = threading.Event()
    side.on_close(lambda _: ended.set())
    wire.feed(b'{"id":1,"method":"echo"}\n{"id":2,"method":"echo"}')
    wire.end()
    assert wire.read()["id"] == 1
    assert ended.wait(PATIENCE)
    assert wire.quiet()
    assert side.dropped == 1


@case("T14")
def long_lines(rig: Rig) -> None:
    side, wire = echoing(rig)
    for size in (65535, 65536, 65537, 131072, 5 * 1024 * 1024):
        text = "a" * size
        future = side.spawn(partial(wire.send, {"id": size, "method": "echo", "params": {"s": text}}))
        assert wire.read() == {"jsonrpc": "2.0", "id": size, "result": {"s": text}}
        future.result(PATIENCE)


# classification


@case("T17", "T18", "T19", "T21", "T22")
def ids_and_methods(rig: Rig) -> None:
    _, wire = echoing(rig)
    for ident in (0, "", "007", "1", -5, 1.5, 9223372036854775808, 2**70, "req_1"):
        wire.send({"id": ident, "method": "echo"})
        got = wire.read()
        assert got == {"jsonrpc": "2.0", "id": ident, "result": {}}
        assert type(got["id"]) is type(ident)
    others: tuple[Any, ...] = (None, True, {}, [1])
    for no_id in others:
        wire.send({"id": no_id, "method": "echo"})
    wire.send({"id": 1}, {"id": 1, "method": 3}, {"method": "echo"})
    survives(wire)
    wire.send({"id": 1, "method": ""})
    assert wire.read()["result"]["method"] == ""


@case("T24")
def numbers_that_no_double_holds(rig: Rig) -> None:
    side, wire = echoing(rig)
    wire.feed(b'{"id":9007199254740993,"method":"echo"}\n')
    assert wire.read_line() == b'{"jsonrpc":"2.0","id":9007199254740993,"result":{}}'
    wire.feed(b'{"id":1e999,"method":"echo"}\n')
    survives(wire)
    assert side.dropped == 1


@case("T23", "T26")
def responses_nobody_waits_for(rig: Rig) -> None:
    side, wire = rig.wired()
    future, frame = ask(side, wire)
    wire.send({"id": 1, "result": 0}, {"id": frame["id"].encode().hex(), "result": 0}, {"id": [frame["id"]], "result": 0})
    wire.send({"id": frame["id"], "result": 1}, {"id": frame["id"], "result": 2})
    assert future.result(PATIENCE) == 1
    future, frame = ask(side, wire)
    wire.send({"id": frame["id"], "result": 3})
    assert future.result(PATIENCE) == 3
    assert side.dropped == 4
    assert side.pending == 0


@case("T25")
def an_id_used_twice(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    both = threading.Barrier(2)

    def slow(_: str, params: Any) -> Any:
        both.wait(PATIENCE)
        return params

    side.on_request(slow)
    side.start()
    wire.send({"id": 1, "method": "slow", "params": {"n": 1}}, {"id": 1, "method": "slow", "params": {"n": 2}})
    got = [wire.read(), wire.read()]
    assert [frame["id"] for frame in got] == [1, 1]
    assert sorted(frame["result"]["n"] for frame in got) == [1, 2]


@case("T27")
def params_that_are_no_object(rig: Rig) -> None:
    _, wire = echoing(rig)
    for params in ([1], "s", 3, True, None):
        wire.send({"id": 1, "method": "echo", "params": params})
        assert wire.read()["result"] == {}
    wire.send({"id": 1, "method": "echo"})
    assert wire.read()["result"] == {}


# answering


@case("T28", "T29")
def a_slow_handler_delays_no_other(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    go_on = threading.Event()

    def handle(method: str, _: Any) -> str:
        if method == "slow":
            go_on.wait(PATIENCE)
        return method

    side.on_request(handle)
    side.start()
    wire.send({"id": 1, "method": "slow"}, {"id": 2, "method": "fast"})
    assert wire.read()["id"] == 2
    go_on.set()
    assert wire.read()["id"] == 1


@case("T30", "T31", "T35")
def results(rig: Rig) -> None:
    _, wire = echoing(rig)
    for method, line in (
        ("none", b'{"jsonrpc":"2.0","id":1,"result":null}'),
        ("absent", b'{"jsonrpc":"2.0","id":1}'),
        ("echo", b'{"jsonrpc":"2.0","id":1,"result":{}}'),
    ):
        wire.send({"id": 1, "method": method})
        assert wire.read_line() == line
    wire.send({"id": 1, "method": "unencodable"})
    error = wire.read()["error"]
    assert error["code"] == -32603
    assert "object" in error["message"]
    wire.feed(b'{"id":1,"method":"echo","params":{"x":1e999}}\n')
    assert wire.read()["error"] == {"code": -32603, "message": "not JSON: inf is no JSON value"}
    survives(wire)


@case("T30")
def generated_results(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    info = v0_2_1.decode_result("initialize", {"serverInfo": SERVER, "more": 1})
    side.on_request(lambda *_: info)
    side.start()
    wire.send({"id": 1, "method": "initialize"})
    assert wire.read()["result"] == {"serverInfo": SERVER, "more": 1}


@case("T32", "T37", "T38")
def nobody_to_handle_it(rig: Rig) -> None:
    _, wire = rig.wired()
    wire.send({"method": "n"}, {"id": 1, "method": "nope"})
    assert wire.read_line() == b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found: nope"}}'


@case("T33", "T34", "T36", "T37")
def failing_handlers(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    failures: dict[str, BaseException] = {
        "no luck": ValueError("no luck"),
        "KeyError": KeyError(),
        "refused": JsonRpcResponseError(7, "refused", {"secret": 1}),
        "\ud800": ValueError("\ud800"),
    }

    def fail(method: str, _: Any) -> None:
        raise failures[method]

    side.on_request(fail)
    side.start()
    for text in failures:
        wire.send({"id": 1, "method": text})
        expected = json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": text}}, separators=(",", ":"))
        assert wire.read_line() == expected.encode()


@case("T33", "T48", "T49")
def a_refused_call(rig: Rig) -> None:
    a, b = rig.pair()
    b.on_request(answer)
    a.start()
    b.start()
    with pytest.raises(JsonRpcResponseError) as caught:
        a.request("fail")
    assert (caught.value.code, caught.value.message, caught.value.data) == (-32603, "no luck", None)


@case("T38")
def failing_notification_handlers(rig: Rig) -> None:
    side, wire = rig.wired(start=False)

    def fail(_: str, __: Any) -> None:
        raise RuntimeError("no luck")

    side.on_notification(fail)
    side.on_request(answer)
    side.start()
    wire.send({"method": "n"}, {"method": "n"})
    survives(wire)


@case("T57")
def the_last_handler_counts(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    side.on_request(lambda *_: 1)
    side.on_request(lambda *_: 2)
    side.start()
    wire.send({"id": 1, "method": "m"})
    assert wire.read()["result"] == 2
    side.on_request(lambda *_: 3)
    wire.send({"id": 1, "method": "m"})
    assert wire.read()["result"] == 3


# sending


@case("T2", "T39", "T40", "T41")
def what_we_write(rig: Rig) -> None:
    side, wire = rig.wired()
    for params, text in ((None, ""), ({}, ',"params":{}'), ({"s": "é\u2028\n"}, ',"params":{"s":"é\u2028\\n"}')):
        future = side.submit("m", params)
        line = wire.read_line().decode()
        ident = json.loads(line)["id"]
        assert line == f'{{"jsonrpc":"2.0","id":"{ident}","method":"m"{text}}}'
        assert re.fullmatch(r"req_[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}", ident)
        side.notify("m", params)
        assert wire.read_line().decode() == f'{{"jsonrpc":"2.0","method":"m"{text}}}'
        wire.send({"id": ident, "result": None})
        assert future.result(PATIENCE) is None


@case("T40", "T43")
def params_that_are_not_json(rig: Rig) -> None:
    side, wire = rig.wired()
    circle: dict[str, Any] = {}
    circle["again"] = circle
    for params in ({"x": object()}, {"x": float("nan")}, {"x": {1}}, {"x": b"b"}, [1], "s", {"x": 10**5000}, circle):
        with pytest.raises(LocalProtocolError):
            side.request("m", params)
        with pytest.raises(LocalProtocolError):
            side.notify("m", params)
    assert side.pending == 0
    assert wire.quiet()
    side.notify("m", {"s": "\ud83d"})
    assert wire.read_line() == b'{"jsonrpc":"2.0","method":"m","params":{"s":"\\ud83d"}}'


@case("T42", "T23")
def answers_out_of_order(rig: Rig) -> None:
    side, wire = rig.wired()
    futures = [side.submit("m", {"n": n}) for n in range(3)]
    frames = [wire.read() for _ in futures]
    wire.send(*({"id": frame["id"], "result": frame["params"]["n"]} for frame in reversed(frames)))
    assert [future.result(PATIENCE) for future in futures] == [0, 1, 2]


@case("T43")
def a_write_that_fails(rig: Rig) -> None:
    outcomes: list[Exception | None] = [RuntimeError("boom"), None]
    lines: list[bytes] = []

    def write(data: bytes) -> None:
        outcome = outcomes.pop(0) if outcomes else None
        if outcome is not None:
            raise outcome
        lines.append(data)

    side, wire = rig.with_output(write)
    side.start()
    with pytest.raises(RuntimeError, match="boom"):
        side.request("m")
    assert side.pending == 0
    assert not side.closed
    future = side.submit("m")  # this one works
    eventually(lambda: bool(lines))
    wire.send({"id": json.loads(lines[0])["id"], "result": 5})
    assert future.result(PATIENCE) == 5


@case("T43", "T54")
def an_output_that_is_lost(rig: Rig) -> None:
    def write(_: bytes) -> None:
        raise OSError("disk full")

    side, _ = rig.with_output(write)
    side.start()
    with pytest.raises(OSError, match="disk full"):
        side.request("m")
    with pytest.raises(TransportClosedError, match="disk full"):
        side.request("m")
    with pytest.raises(TransportClosedError):
        side.notify("m")
    with pytest.raises(OSError, match="disk full"):
        side.flush()


@case("T44", "T45", "T46", "T47", "T26")
def an_abandoned_call(rig: Rig) -> None:
    side, wire = rig.wired()
    with pytest.raises(TimeoutError, match=r"m: no response within 0\.01 s"):
        side.request("m", timeout=0.01)
    assert side.pending == 0
    frame = wire.read()
    future, other = ask(side, wire)
    wire.send({"id": frame["id"], "result": 1}, {"id": other["id"], "result": 2})
    assert future.result(PATIENCE) == 2
    assert side.dropped == 1
    assert wire.quiet()


@case("T45", "T47")
def a_cancelled_submission(rig: Rig) -> None:
    side, wire = rig.wired()
    future, frame = ask(side, wire)
    assert future.cancel()
    eventually(lambda: side.pending == 0)
    wire.send({"id": frame["id"], "result": 1})
    future, frame = ask(side, wire)
    wire.send({"id": frame["id"], "result": 2})
    assert future.result(PATIENCE) == 2
    assert side.dropped == 1
    assert wire.quiet()


@case("T48", "T49")
def error_responses(rig: Rig) -> None:
    side, wire = rig.wired()
    data = {"why": [1, None]}
    for error, code, message, extra in (
        ({"code": 7, "message": "seven", "data": data}, 7, "seven", data),
        ({"code": 1.5, "message": "m"}, 1.5, "m", None),
        ({"code": "E1", "message": "m"}, None, "m", None),
        ({"code": True, "message": 1, "data": None}, None, "JSON-RPC error", None),
        ({}, None, "JSON-RPC error", None),
    ):
        future, frame = ask(side, wire)
        wire.send({"id": frame["id"], "result": 1, "error": error})
        with pytest.raises(JsonRpcResponseError) as caught:
            future.result(PATIENCE)
        assert (caught.value.code, caught.value.message, caught.value.data) == (code, message, extra)
    for scalar in (None, "boom", 0, [1], False):
        future, frame = ask(side, wire)
        wire.send({"id": frame["id"], "result": 5, "error": scalar})
        assert future.result(PATIENCE) == 5
    future, frame = ask(side, wire)
    wire.send({"id": frame["id"]})
    assert future.result(PATIENCE) is None


@case("T40", "T30")
def typed_calls(rig: Rig) -> None:
    side, wire = rig.wired()
    initialize = METHODS["initialize"]
    params = initialize.decode_params({"cwd": "/", "provider": "p", "model": "m", "later": True})
    future, frame = ask(side, wire, initialize, params)
    assert frame["params"] == {"cwd": "/", "provider": "p", "model": "m", "later": True}
    wire.send({"id": frame["id"], "result": {"serverInfo": SERVER}})
    assert future.result(PATIENCE).server_info.version == "0.0.1"
    call = side.ask(initialize, params)
    wire.send({"id": wire.read()["id"], "result": {"serverInfo": 5}})
    with pytest.raises(DecodeError):
        call.result(PATIENCE)
    future, frame = ask(side, wire, initialize, params)
    wire.send({"id": frame["id"], "result": {"serverInfo": 5}})
    with pytest.raises(DecodeError):
        future.result(PATIENCE)
    future, frame = ask(side, wire, METHODS["shutdown"])
    assert "params" not in frame
    wire.send({"id": frame["id"], "result": {}})
    future.result(PATIENCE)


# life cycle


@case("T50", "T51", "T52", "T53")
def life_of_a_transport(rig: Rig) -> None:
    side, wire = echoing(rig)
    errors: list[Exception] = []
    side.on_close(errors.append)
    side.start()
    survives(wire)  # once, though started twice
    future, _ = ask(side, wire)
    assert not side.closed
    side.close()
    with pytest.raises(TransportClosedError, match=r"^JSON-RPC transport closed$"):
        future.result(PATIENCE)
    eventually(lambda: side.closed)
    assert [str(error) for error in errors] == ["JSON-RPC transport closed"]
    side.close()
    side.start()
    for call in (side.request, side.submit, side.notify):
        with pytest.raises(TransportClosedError, match=r"^JSON-RPC transport closed$"):
            call("m")
    wire.send(SENTINEL)  # both pipes are open, and nobody reads
    assert wire.quiet()
    assert len(errors) == 1


@case("T51", "T52")
def closed_before_it_started(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    errors: list[Exception] = []
    side.on_close(errors.append)
    future, _ = ask(side, wire)
    side.close()
    with pytest.raises(TransportClosedError, match=r"^JSON-RPC transport closed$"):
        future.result(PATIENCE)
    side.start()
    assert len(errors) == 1


@case("T54")
def flush_is_a_barrier(rig: Rig) -> None:
    side, wire = rig.wired()
    size = 1024 * 1024
    telling = side.spawn(lambda: side.notify("big", {"s": "x" * size}))
    flushing = side.spawn(side.flush)
    line = wire.read_line()
    assert len(line) > size
    telling.result(PATIENCE)
    flushing.result(PATIENCE)
    side.flush()
    assert wire.quiet()  # no byte of its own


@case("T55")
def an_input_that_fails(rig: Rig) -> None:
    go_on = threading.Event()
    error = OSError("line noise")

    def read() -> bytes:
        go_on.wait(PATIENCE)
        raise error

    side, wire = rig.with_input(read)
    errors: list[Exception] = []
    side.on_close(errors.append)
    side.start()
    future, _ = ask(side, wire)
    go_on.set()
    with pytest.raises(OSError, match="line noise") as caught:
        future.result(PATIENCE)
    assert caught.value is error
    with pytest.raises(TransportClosedError, match="line noise") as closed:
        side.request("m")
    assert closed.value.__cause__ is error
    eventually(lambda: errors == [error])


@case("T56")
def the_end_of_the_input(rig: Rig) -> None:
    side, wire = rig.wired()
    errors: list[Exception] = []
    side.on_close(errors.append)
    calls = [side.submit("m"), side.ask("m"), side.ask("m", timeout=PATIENCE)]
    for _ in calls:
        wire.read()
    wire.end()
    for call in calls:
        with pytest.raises(TransportClosedError, match=r"^JSON-RPC input closed$"):
            call.result(PATIENCE)
    for again in (side.request, side.submit, side.notify):
        with pytest.raises(TransportClosedError, match=r"^JSON-RPC input closed$"):
            again("m")
    eventually(lambda: len(errors) == 1)
    side.close()
    assert [str(error) for error in errors] == ["JSON-RPC input closed"]


@case("T56", "T28")
def requests_are_answered_after_the_end_of_the_input(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    go_on = threading.Event()

    def slow(_: str, params: Any) -> Any:
        go_on.wait(PATIENCE)
        return params

    side.on_request(slow)
    side.start()
    wire.send(*({"id": n, "method": "m"} for n in range(5)))
    wire.end()
    eventually(lambda: side.closed)
    go_on.set()
    assert sorted(wire.read()["id"] for _ in range(5)) == [0, 1, 2, 3, 4]


# order


@case("T28")
def notifications_and_responses_keep_their_order(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    log: list[Any] = []
    done = threading.Event()

    def take(method: str, params: Any) -> None:
        log.append(params["n"])
        if params["n"] == 3:
            done.set()

    side.on_notification(take)
    side.start()
    call = side.spawn(lambda: side.request("m", then=lambda: log.append("returned")))
    frame = wire.read()

    def update(n: int) -> bytes:
        return json.dumps({"method": "update", "params": {"n": n}}).encode() + b"\n"

    response = json.dumps({"id": frame["id"], "result": "done"}).encode() + b"\n"
    wire.feed(update(1) + response + update(2) + update(3))
    assert call.result(PATIENCE) == "done"
    assert done.wait(PATIENCE)
    assert log == [1, "returned", 2, 3]
    log.clear()
    done.clear()
    call = side.spawn(lambda: side.request("m", then=lambda: log.append("returned")))
    response = json.dumps({"id": wire.read()["id"], "result": "done"}).encode() + b"\n"
    wire.feed(response + update(3))
    assert done.wait(PATIENCE)
    assert call.result(PATIENCE) == "done"
    assert log == ["returned", 3]


@case("T26", "T45")
def a_response_behind_a_slow_handler_comes_too_late(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    go_on = threading.Event()
    seen: list[str] = []

    def take(method: str, _: Any) -> None:
        go_on.wait(PATIENCE)
        seen.append(method)

    side.on_notification(take)
    side.start()
    late, cancelled = side.ask("m", timeout=0.05), side.submit("m")
    idents = [wire.read()["id"], wire.read()["id"]]
    wire.send({"method": "slow"}, *({"id": ident, "result": 1} for ident in idents), {"method": "next"})
    eventually(lambda: side.queued == 3)
    with pytest.raises(TimeoutError):
        late.result(PATIENCE)
    cancelled.cancel()
    go_on.set()
    future, frame = ask(side, wire)
    wire.send({"id": frame["id"], "result": 2})
    assert future.result(PATIENCE) == 2
    assert seen == ["slow", "next"]


@case("T38")
def notifications_keep_their_order(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    seen: list[int] = []
    done = threading.Event()

    def take(_: str, params: Any) -> None:
        seen.append(params["n"])
        if len(seen) == 500:
            done.set()

    side.on_notification(take)
    side.start()
    wire.send(*({"method": "n", "params": {"n": n}} for n in range(500)))
    assert done.wait(PATIENCE)
    assert seen == list(range(500))


@case("T28")
def a_notification_handler_that_calls_back(rig: Rig) -> None:
    side, wire = rig.wired(start=False)
    got: list[Any] = []
    done = threading.Event()

    def take(method: str, _: Any) -> None:
        got.append((method, side.request("ask") if method == "first" else None))
        if method == "last":
            done.set()

    side.on_notification(take)
    side.start()
    wire.send({"method": "first"}, {"method": "last"})
    wire.send({"id": wire.read()["id"], "result": "yes"})
    assert done.wait(PATIENCE)
    assert got == [("first", "yes"), ("last", None)]


@case("T28")
def handlers_that_call_back_three_deep(rig: Rig) -> None:
    a, b = rig.pair()

    def back(side: Side) -> Callable[[str, dict[str, Any]], Any]:
        return lambda _, params: (
            params if params["n"] == 0 else side.request("down", {"n": params["n"] - 1, "seen": [params["n"]]})
        )

    a.on_request(back(a))
    b.on_request(back(b))
    a.start()
    b.start()
    calls = [a.ask("down", {"n": 6}) for _ in range(4)] + [b.ask("down", {"n": 5}) for _ in range(4)]
    assert {json.dumps(call.result(PATIENCE)) for call in calls} == {'{"n": 0, "seen": [1]}'}


@case("T28")
def both_sides_use_the_same_id(rig: Rig) -> None:
    side, wire = echoing(rig)
    future, frame = ask(side, wire)
    wire.send({"id": frame["id"], "method": "echo", "params": {"who": "peer"}})
    assert wire.read() == {"jsonrpc": "2.0", "id": frame["id"], "result": {"who": "peer"}}
    wire.send({"id": frame["id"], "result": {"who": "us"}})
    assert future.result(PATIENCE) == {"who": "us"}
