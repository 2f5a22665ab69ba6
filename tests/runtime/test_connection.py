"""`Connection`: the same events however the bytes are cut, linear work, bounded memory, and exactly these bytes out."""

from __future__ import annotations

import io
import json
import logging
import re
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_protocol import METHODS, UNSET
from dsh_runtime import JsonRpcResponseError, connection
from dsh_runtime.connection import (
    Connection,
    Event,
    LineDropped,
    NotificationReceived,
    RequestReceived,
    ResponseReceived,
    failure_text,
    read_leniently,
)

FEED = b"".join(
    [
        b'{"id":1,"method":"echo","params":{"s":"\xe6\xbc\xa2\xf0\x9f\x99\x82"}}\r\n',
        b'\xef\xbb\xbf{"method":"n"}\n',
        b"\n \t\r\n",
        b"garbage\n[1]\nnull\n",
        b'{"id":"mine","result":[1,2]}\n{"id":"mine","result":3}\n',
        b'{"id":"other","error":{"code":7,"message":"m","data":null}}\n',
        b'{"method":"x","params":{"s":"a\xffb\\ud800"}}\n',
        b'{"method":"' + b"y" * 300 + b'"}\n',
        b'{"id":2,"method":"last"}\n{"id":3,"method":"unfinished"}',
    ]
)


def events_of(chunks: list[bytes], max_line: int = 250) -> list[Event[str]]:
    reader: Connection[str] = Connection(max_line=max_line)
    reader.pending.update({"mine": "call", "other": "other call"})
    events = [event for chunk in chunks for event in reader.receive(chunk)]
    return [_comparable(event) for event in events + reader.receive_eof()]


def _comparable(event: Event[str]) -> Event[str]:
    match event:
        case LineDropped():  # how much of a line was there when it became too long depends on the chunks
            return replace(event, reason=re.sub(r"\d+ bytes so far", "N bytes so far", event.reason))
        case ResponseReceived(call, result, error):
            return ResponseReceived(call, (result, None if error is None else error.args), None)
        case _:
            return event


EVENTS = events_of([FEED])


def test_events() -> None:
    kinds = [type(event) for event in EVENTS]
    assert kinds == [
        RequestReceived,
        NotificationReceived,
        *[LineDropped] * 3,
        ResponseReceived,
        LineDropped,
        ResponseReceived,
        NotificationReceived,
        LineDropped,
        RequestReceived,
        LineDropped,
    ]
    assert EVENTS[8] == NotificationReceived("x", {"s": "a\ufffdb\ud800"})
    reasons = [event.reason for event in EVENTS if isinstance(event, LineDropped)]
    assert reasons == [
        "the line is not JSON: Expecting value at column 1",
        "the line is no JSON object",
        "the line is no JSON object",
        "nobody waits for a response with this id",
        "the line is too long: N bytes so far, max_line allows 250",
        "the input ended inside this line",
    ]


def test_one_byte_at_a_time() -> None:
    assert events_of([FEED[at : at + 1] for at in range(len(FEED))]) == EVENTS


@given(st.lists(st.integers(0, len(FEED)), max_size=12))
def test_any_chunks(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(FEED)]
    assert events_of([FEED[start:end] for start, end in pairwise(edges)]) == EVENTS


@given(
    st.lists(st.binary(max_size=20) | st.sampled_from([b"\n", b"{}", b'{"id":1,"method":"m"}\n', b"\xef\xbb\xbf"]), max_size=20)
)
def test_any_bytes_in_any_chunks(chunks: list[bytes]) -> None:
    assert events_of(chunks, 30) == events_of([b"".join(chunks)], 30)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), st.lists
    )
)
def test_any_params_arrive(value: Any) -> None:
    line = Connection[str]().notification("m", {"value": value})
    assert line.count(b"\n") == 1
    (event,) = Connection[str]().receive(line)
    assert event == NotificationReceived("m", {"value": value})
    assert json.loads(line) == {"jsonrpc": "2.0", "method": "m", "params": {"value": value}}


class _Counting(io.BytesIO):
    copied = 0

    def write(self, data: Any) -> int:
        type(self).copied += len(data)
        return super().write(data)

    def getvalue(self) -> bytes:
        type(self).copied += self.tell()
        return super().getvalue()


@pytest.mark.parametrize("size", [1, 100, 65536])
def test_every_byte_of_a_long_line_is_copied_twice(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(connection, "BytesIO", _Counting)
    _Counting.copied = 0
    line = b'{"method":"m","params":{"s":"' + b"x" * (1 << 18) + b'"}}\n'
    reader: Connection[str] = Connection()
    events = [event for at in range(0, len(line), size) for event in reader.receive(line[at : at + size])]
    assert len(events) == 1
    assert len(line) * 2 - 2 * size <= _Counting.copied <= len(line) * 2


@pytest.mark.parametrize("size", [1, 1000, 65536])
def test_a_line_without_end_takes_no_memory(size: int) -> None:
    reader: Connection[str] = Connection(max_line=10_000)
    chunk = b"x" * size
    tracemalloc.start()
    events = [event for _ in range(2_000_000 // max(size, 10)) for event in reader.receive(chunk)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * (10_000 + size)
    (event,) = events
    assert isinstance(event, LineDropped)
    assert "max_line allows 10000" in event.reason
    assert len(event.line) <= 400
    assert reader.receive(b'the rest of it\n{"method":"m"}\n') == [NotificationReceived("m", {})]
    assert reader.receive_eof() == []
    assert reader.dropped == 1


def test_the_limit_is_for_the_line() -> None:
    line = b'{"method":"m"}'
    assert Connection[str](max_line=len(line)).receive(line + b"\n") == [NotificationReceived("m", {})]
    (event,) = Connection[str](max_line=len(line) - 1).receive(line + b"\n")
    assert isinstance(event, LineDropped)
    assert event.reason == "the line is too long: 14 bytes so far, max_line allows 13"


def test_bytes_on_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference here is a change that every peer sees."""
    monkeypatch.setattr(connection, "make_id", lambda _: "req_0")
    peer: Connection[str] = Connection()
    initialize = METHODS["initialize"]
    params: Any = initialize.decode_params({"cwd": "/é", "provider": "p", "model": "m"})
    event = METHODS["session.status"]
    assert [
        peer.request("m", None, "call")[1],
        peer.request("m", {}, "call")[1],
        peer.request("m", {"b": [1, 1.0, True, None, 'é\u2028"\\\n\x7f'], "a": {}}, "call")[1],
        peer.request(initialize, params, "call")[1],
        peer.request(METHODS["shutdown"], None, "call")[1],
        peer.notification("n"),
        peer.notification("n", {"big": 2**70, "half": "\ud83d"}),
        peer.notification(event, event.decode_params({"sessionId": "s", "status": "idle"})),
        peer.answer(1, None),
        peer.answer("", UNSET),
        peer.answer(1.5, {"x": [1]}),
        peer.answer(-1, float("inf")),
        peer.fail(2, ValueError("why")),
        peer.fail(2, KeyError()),
        peer.refuse_method(3, "m\n"),
    ] == [
        b'{"jsonrpc":"2.0","id":"req_0","method":"m"}\n',
        b'{"jsonrpc":"2.0","id":"req_0","method":"m","params":{}}\n',
        '{"jsonrpc":"2.0","id":"req_0","method":"m","params":{"b":[1,1.0,true,null,"é\u2028\\"\\\\\\n\x7f"],"a":{}}}\n'.encode(),
        '{"jsonrpc":"2.0","id":"req_0","method":"initialize","params":{"cwd":"/é","provider":"p","model":"m"}}\n'.encode(),
        b'{"jsonrpc":"2.0","id":"req_0","method":"shutdown"}\n',
        b'{"jsonrpc":"2.0","method":"n"}\n',
        b'{"jsonrpc":"2.0","method":"n","params":{"big":1180591620717411303424,"half":"\\ud83d"}}\n',
        b'{"jsonrpc":"2.0","method":"session.status","params":{"sessionId":"s","status":"idle"}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":null}\n',
        b'{"jsonrpc":"2.0","id":""}\n',
        b'{"jsonrpc":"2.0","id":1.5,"result":{"x":[1]}}\n',
        b'{"jsonrpc":"2.0","id":-1,"error":{"code":-32603,"message":"not JSON: inf is no JSON value"}}\n',
        b'{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"why"}}\n',
        b'{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"KeyError"}}\n',
        b'{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"method not found: m\\n"}}\n',
    ]


def test_ids_are_random_uuids_of_version_4() -> None:
    peer: Connection[str] = Connection()
    ids = {str(peer.request("m", None, "call")[0]) for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"req_[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}", ident) for ident in ids)


def test_the_observer_sees_every_line() -> None:
    rows: list[Any] = []
    peer: Connection[str] = Connection(max_line=100, observer=lambda *row: rows.append(row))
    ident, line = peer.request("m", {"a": 1}, "call")
    response = json.dumps({"id": ident, "result": 1}).encode()
    peer.receive(response + b"\n\n" + response + b"\n\xff\n" + b"y" * 500)
    assert rows == [
        ("out", line[:-1], {"jsonrpc": "2.0", "id": ident, "method": "m", "params": {"a": 1}}, None),
        ("in", response, {"id": ident, "result": 1}, None),
        ("in", response, {"id": ident, "result": 1}, "nobody waits for a response with this id"),
        ("in", b"\xff", None, "the line is not JSON: Expecting value at column 1"),
        ("in", b"y" * 100, None, "the line is too long: 500 bytes so far, max_line allows 100"),
    ]


def test_an_observer_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no luck")

    peer: Connection[str] = Connection(observer=fail)
    assert peer.receive(b'{"method":"m"}\n') == [NotificationReceived("m", {})]
    assert peer.notification("m") == b'{"jsonrpc":"2.0","method":"m"}\n'
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2


class _Speechless(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise ValueError("what?")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("why"), "why"),
        (ValueError(), "ValueError"),
        (SystemExit("bye"), "bye"),
        (_Speechless(), "_Speechless"),
        (JsonRpcResponseError(7, "refused", [1]), "refused"),
        (JsonRpcResponseError(7, ""), "JsonRpcResponseError"),
    ],
)
def test_text_of_a_failure(error: BaseException, text: str) -> None:
    assert failure_text(error) == text


def test_deep_nesting_is_refused_both_ways() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    peer: Connection[str] = Connection()
    answer = json.loads(peer.answer(1, deep))
    assert answer["error"]["code"] == -32603
    (event,) = peer.receive(b'{"method":"m","params":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}\n")
    assert isinstance(event, LineDropped)
    assert event.reason == "the line is nested too deeply to be read"
    while deep:  # one level at a time: the interpreter would take them all at once
        deep = deep.pop()


def test_huge_integers() -> None:
    peer: Connection[str] = Connection()
    digits = b"1" * 5000
    assert peer.receive(b'{"id":1,"method":"m","params":{"x":' + digits + b"}}\n") == [
        RequestReceived(1, "m", {"x": float("inf")})
    ]
    assert peer.receive(b'{"id":3,"method":"m","params":{"x":18446744073709551616}}\n') == [
        RequestReceived(3, "m", {"x": 2**64})
    ]


def test_an_error_without_an_id() -> None:
    peer: Connection[str] = Connection()
    peer.request("m", None, "call")
    (event,) = peer.receive(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n')
    assert isinstance(event, LineDropped)
    assert len(peer.pending) == 1


@pytest.mark.parametrize("text", ["NaN", "-Infinity", '{"x":NaN}', "", "{} {}", '{"a":1,}', "'a'"])
def test_what_is_no_json(text: str) -> None:
    if text:
        with pytest.raises(ValueError, match="the line is not JSON: "):
            read_leniently(text.encode())
    else:
        assert Connection[str]().receive(b"\n") == []
