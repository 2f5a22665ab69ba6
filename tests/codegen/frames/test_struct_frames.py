"""The quickest lane on frames and rows: what it takes, what it leaves to others, and what it tells of what it took."""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from msgspec import UNSET

from dsh_codegen.frames.structs import MISSES, MOST_DIGITS, Structs, careful, plain
from tests.codegen.frames.lanes import Reference, bundle, bundle_of
from tests.codegen.frames.toy import BUNDLE, COUNT, DEFINITIONS, TEXT, ref

TOY: Final = Structs(BUNDLE)
ASK: Final = {"sessionId": "s", "blocks": [{"type": "text", "text": "t"}]}


def refused(decode: Callable[[bytes], Any], line: Any) -> bool:
    try:
        decode(line if isinstance(line, bytes) else json.dumps(line).encode())
    except MISSES:
        return True
    return False


def change(**more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "change", "params": {"change": {"kind": "started", "at": 1}}, **more}


def ask(**more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "ask/question", "params": ASK, **more}


def with_id(id_: Any) -> dict[str, Any]:
    return ask(id=id_)


def row(frame: Any, direction: Any = "s2c", **more: Any) -> dict[str, Any]:
    return {"ts": 1.5, "dir": direction, "frame": frame, **more}


# --- frames


@pytest.mark.parametrize("frame", [change(), ask(), ask(id="x"), ask(id=1.5), ask(id=2**70)])
@pytest.mark.parametrize("tail", [b"", b"\r", b" \t"])
def test_calls(frame: dict[str, Any], tail: bytes) -> None:
    direction = "c2s" if "id" in frame else "s2c"
    decoded = TOY.rows(json.dumps(row(frame, direction)).encode() + tail)
    call = TOY.calls[type(decoded.frame)]
    assert (decoded.dir, decoded.ts) == (direction, 1.5)
    assert (call.method, call.direction, call.request) == (frame["method"], direction, "id" in frame)
    bare = TOY.frames(json.dumps(frame).encode() + tail)
    assert TOY.calls[type(bare)] == call
    assert bare.method == frame["method"]
    assert getattr(bare, "id", None) == frame.get("id")


@pytest.mark.parametrize(
    "frame",
    [
        change(id=1),
        change(id=None),
        change(jsonrpc="2"),
        change(jsonrpc=2.0),
        change(extra=1),
        change(result=1),
        change(error=None),
        change(method="chang"),
        change(method=1),
        change(params=None),
        change(params=[]),
        change(params={}),
        change(params={"change": {"kind": "started", "at": 0}}),
        change(params={"change": {"kind": "future"}}),
        change(params={"change": {"kind": "started", "at": 1, "more": 1}}),
        {"jsonrpc": "2.0", "method": "change"},
        {"method": "change", "params": {"change": {"kind": "started", "at": 1}}},
        {key: value for key, value in ask().items() if key != "id"},
        *map(with_id, [None, True, [], {}]),
        None,
        [],
        [change()],
        "x",
        {},
    ],
)
def test_what_is_no_proper_call(frame: Any) -> None:
    assert refused(TOY.frames, frame)
    assert refused(TOY.rows, row(frame, "c2s"))
    assert refused(TOY.rows, row(frame, "s2c"))


def test_rows() -> None:
    rows = [
        row(change()),
        {"dir": "s2c", "frame": change()},
        row(change(), ts=0),
        row(change(), ts=-(2**70)),
        row(ask(), "c2s"),
    ]
    assert [refused(TOY.rows, each) for each in rows] == [False] * len(rows)
    others = [
        *(row(change(), direction) for direction in ("c2s", "S2C", None, 1, ["s2c"])),
        row(ask(), "s2c"),
        *(row(change(), ts=time) for time in (None, "1", True)),
        *(row(change(), **{marker: True}) for marker in ("raw", "partial", "eof", "exit", "x", "")),
        {"frame": change()},
        {"dir": "s2c"},
        change(),
    ]
    assert [refused(TOY.rows, each) for each in others] == [True] * len(others)
    good, bad, other = json.dumps(change()), json.dumps(change(extra=1)), json.dumps(ask())
    again = good.replace('"method"', '"method":1,"method"')
    twice = [
        f'{{"dir":"s2c","frame":{bad},"frame":{good}}}',
        f'{{"dir":"s2c","frame":{good},"frame":{bad}}}',
        f'{{"dir":"c2s","frame":{good},"dir":"s2c"}}',
        f'{{"dir":"s2c","frame":{good},"dir":"c2s"}}',
        f'{{"dir":"c2s","frame":{other},"dir":"s2c"}}',
        f'{{"ts":"x","dir":"s2c","frame":{good},"ts":1}}',
        f'{{"dir":"s2c","frame":{again}}}',
        f"\ufeff{good}",
        f"\u00a0{good}",
        f"{good}x",
        f"{good}{good}",
    ]
    assert [refused(TOY.rows, each.encode()) for each in twice] == [True] * len(twice)
    assert [refused(TOY.frames, each.encode()) for each in twice] == [True] * len(twice)


def test_methods_whose_params_do_not_matter() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    mores: list[dict[str, Any]] = [{}, {"params": None}, {"params": [1]}, {"params": {"any": {"thing": []}}}]
    for more in mores:
        assert not refused(TOY.frames, {**ping, **more})
        assert not refused(TOY.rows, row({**ping, **more}, "c2s"))
    assert refused(TOY.frames, b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1,]}')


def test_params_that_may_be_missing() -> None:
    methods = [
        {"name": "empty", "sender": "client", "params": "Empty"},
        {"name": "map", "sender": "client", "params": "Map"},
        {"name": "any", "sender": "client", "params": "Any"},
        {"name": "both", "sender": "client", "params": "Both"},
        {"name": "text", "sender": "client", "params": "Text"},
        {"name": "odd", "sender": "client", "params": "Odd"},
        {"name": "\ud800", "sender": "client", "params": "Empty"},
    ]
    definitions = {
        "Empty": {"type": "object", "properties": {"a": TEXT}},
        "Map": {"type": "object", "additionalProperties": COUNT},
        "Any": {},
        "Both": {"anyOf": [ref("Map"), {"type": "null"}]},
        "Text": TEXT,
        "Odd": {"type": "object", "minProperties": 0},
    }
    structs = Structs(bundle_of(definitions, *methods))
    for name in ("empty", "map", "any", "both"):
        assert not refused(structs.frames, {"jsonrpc": "2.0", "method": name})
        assert not refused(structs.frames, {"jsonrpc": "2.0", "method": name, "params": {}})
        assert refused(structs.frames, {"jsonrpc": "2.0", "method": name, "params": None})
    for name in ("text", "odd", "\ud800"):
        assert refused(structs.frames, {"jsonrpc": "2.0", "method": name, "params": {}})
        assert refused(structs.frames, {"jsonrpc": "2.0", "method": name})
    assert refused(structs.rows, row({"jsonrpc": "2.0", "method": "map"}, "s2c"))
    assert not refused(structs.rows, row({"jsonrpc": "2.0", "method": "map"}, "c2s"))


def test_bundles_with_one_method_or_none() -> None:
    none = Structs(bundle_of({}))
    for frame in (change(), {}, None):
        assert refused(none.frames, frame)
        assert refused(none.rows, row(frame))
    assert not none.calls
    one = Structs(bundle_of(DEFINITIONS, BUNDLE["x-methods"][2]))
    assert not refused(one.frames, change())
    assert not refused(one.rows, row(change()))
    assert refused(one.frames, {key: value for key, value in change().items() if key != "method"})
    assert refused(one.rows, {"frame": change()})


def test_responses() -> None:
    good: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "result": {"id": "x"}},
        {"jsonrpc": "2.0", "id": "1", "result": None},
        {"jsonrpc": "2.0", "id": 1.5, "error": {"code": -32601, "message": ""}},
    ]
    for frame in good:
        decoded = TOY.responses(json.dumps(frame).encode())
        assert decoded.id == frame["id"]
        assert (decoded.result is UNSET, decoded.error is UNSET) == ("result" not in frame, "error" not in frame)
        for direction in ("c2s", "s2c"):
            both = TOY.response_rows(json.dumps(row(frame, direction)).encode())
            assert (both.dir, both.frame.id) == (direction, frame["id"])
        assert refused(TOY.rows, row(frame))
        assert refused(TOY.frames, frame)
    error = {"code": -32601, "message": ""}
    bad: list[Any] = [
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "result": 1, "error": error},
        {"jsonrpc": "2.0", "result": 1},
        {"id": 1, "result": 1},
        {"jsonrpc": "2.0", "id": 1, "result": 1, "method": 1},
        {"jsonrpc": "2.0", "id": 1, "result": 1, "extra": 1},
        *({"jsonrpc": "2.0", "id": each, "result": 1} for each in (None, True)),
        *(
            {"jsonrpc": "2.0", "id": 1, "error": each}
            for each in (None, {}, {"code": -32601}, {"message": ""}, {**error, "data": 1})
        ),
        *({"jsonrpc": "2.0", "id": 1, "error": {**error, "code": each}} for each in (-1, -32601.0, "-32601", None)),
        {"jsonrpc": "2.0", "id": 1, "error": {**error, "message": None}},
    ]
    for frame in bad:
        assert refused(TOY.responses, frame), frame
        assert refused(TOY.response_rows, row(frame)), frame
    unread = b'{"jsonrpc":"2.0","id":1,"result":"\xff","result":{}}'
    assert refused(TOY.responses, unread)
    assert refused(TOY.response_rows, b'{"dir":"s2c","frame":' + unread + b"}")
    assert not refused(TOY.responses, unread.replace(b"\xff", "é".encode()))
    any_code = Structs(bundle_of({}))
    assert not refused(any_code.responses, {"jsonrpc": "2.0", "id": 1, "error": {"code": 7, "message": ""}})


def test_results() -> None:
    response = TOY.responses(b'{"jsonrpc":"2.0","id":1,"result":{"id":"x"}}')
    assert TOY.accepts("AskResult", response.result)
    assert TOY.result("AskResult", response.result).id == "x"
    assert bytes(TOY.result(None, response.result)) == b'{"id":"x"}'
    for bad in (b"{}", b'{"id":""}', b'{"id":"x","more":1}', b'{"id":"x"}}', b"nul", b"[" * 100_000):
        assert not TOY.accepts("AskResult", bad)
    assert not TOY.accepts(None, b"[1,]")
    assert not TOY.accepts(None, b"[" * 100_000)
    assert not TOY.accepts("NoDefinition", b"{}")


# --- JSON


@pytest.fixture(scope="module")
def suite(reference_dir: Path) -> dict[str, bytes]:
    folder = reference_dir / "suites" / "jsontestsuite" / "test_parsing"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}


@pytest.mark.parametrize(
    "around",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":%s}',
        b'{"jsonrpc":"2.0","params":%s,"id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":%s,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":%s}',
        b'{"jsonrpc":%s,"id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","method":"change","params":{"change":{"kind":"stopped","echo":[{"a":%s}]}}}',
        b'{"jsonrpc":"2.0","method":"change","params":{"change":{"kind":"stopped","why":%s}}}',
        b'{"jsonrpc":"2.0","method":"change","params":{"change":{"at":%s,"kind":"started"}}}',
        b'{"jsonrpc":"2.0","method":"change","params":%s}',
        b'{"jsonrpc":"2.0","id":1,"result":%s}',
        b'{"jsonrpc":"2.0","id":1,"result":%s,"result":1}',
        b"%s",
    ],
)
def test_what_is_no_json_is_refused_wherever_it_stands(suite: dict[str, bytes], around: bytes) -> None:
    decoders = (careful(TOY.frames), TOY.responses, careful(TOY.rows), TOY.response_rows)
    reference = Reference(BUNDLE)
    taken = 0
    for data in suite.values():
        frame = around.replace(b"%s", data)
        for line in (frame, b'{"ts":1,"dir":"c2s","frame":' + frame + b"}", b'{"frame":' + frame + b',"dir":"s2c"}'):
            for decode in decoders:
                if not refused(decode, line):
                    reference.read(line)
                    taken += 1
    if b'"params":%s,"id"' in around or b"echo" in around or b"result" in around:
        assert taken > 100


@pytest.mark.parametrize(
    ("free", "fine"),
    [
        (b'"\xe6\x97\xa5"', True),
        (b'"\xe6\x97"', False),
        (b"1e999", True),  # Python reads it as infinity, and free JSON may be that
        (b"[" + b"1" * (MOST_DIGITS // 2 - 1) + b"]", True),
        (b"[-" + b"1" * (MOST_DIGITS + 1) + b"]", False),
        (b'{"a":' + b"9" * 3 * MOST_DIGITS + b"}", False),
        (b'["' + b"ab12" * 3 * MOST_DIGITS + b'",3]', True),
    ],
)
@pytest.mark.parametrize("before", [0, 1, 1_000, 4_000])
def test_free_json_that_msgspec_does_not_read_is_looked_at(free: bytes, fine: bool, before: int) -> None:
    """Wherever it lies in the line: long integers are looked for in steps."""
    line = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":["' + b"x" * before + b'",%s]}\n' % free
    assert not refused(TOY.frames, line), "msgspec would take it"
    assert plain([b"{}\n", line]) is fine
    assert refused(careful(TOY.frames), line) is not fine
    if fine:
        Reference(BUNDLE).read(line)
    else:
        with pytest.raises(ValueError, match=r"decode|limit"):
            Reference(BUNDLE).read(line)


@pytest.mark.parametrize("depth", [100, 500, 100_000, 1_000_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_deep_nesting_ends_in_one_of_the_errors(depth: int, opening: bytes, closing: bytes) -> None:
    value = opening * depth + b"1" + closing * depth
    lines = [
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + value + b"}",
        b'{"jsonrpc":"2.0","params":' + value + b',"id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","method":"change","params":{"change":{"kind":"stopped","echo":' + value + b"}}}",
    ]
    for line in lines:
        assert refused(TOY.frames, line) is (depth > 500)
        assert refused(TOY.rows, line)
        assert refused(TOY.responses, line)
    assert refused(TOY.responses, b'{"jsonrpc":"2.0","id":1,"result":' + value + b"}") is (depth > 500)
    assert TOY.accepts(None, value) is (depth <= 500)
    assert not TOY.accepts("AskResult", value)


# --- what is told of a frame


def test_getters() -> None:
    line = json.dumps(change()).encode()
    frame = TOY.frames(line)

    def get(path: str) -> Any:
        found = TOY.getter(type(frame), path)
        return None if found is None else found(frame)

    assert get("method") == "change"
    assert get("jsonrpc") == "2.0"
    assert get("params.change.kind") == "started"
    assert get("params.change.at") == 1
    assert get("params.change.why") is UNSET  # of another arm
    assert get("params.change.echo.any.thing") is UNSET
    for path in ("id", "params.nothing", "params.change.at.more", "params[*]", "params.change[*].kind"):
        assert TOY.getter(type(frame), path) is None, path
    assert isinstance(TOY.getter(type(frame), "params.change.kind"), attrgetter)
    assert not isinstance(TOY.getter(type(frame), "params.change.at"), attrgetter)
    stopped = TOY.frames(json.dumps(change(params={"change": {"kind": "stopped", "echo": {"a": [{"b": 1}, 2]}}})).encode())
    for path, value in {
        "params.change.at": UNSET,
        "params.change.why": UNSET,
        "params.change.echo.a": [{"b": 1}, 2],
        "params.change.echo.a.b": UNSET,
        "params.change.echo.a[*].b": [1],
        "params.change.echo[*]": [],
    }.items():
        found = TOY.getter(type(stopped), path)
        assert found is not None
        assert found(stopped) == value, path


def test_getters_of_arrays_and_maps() -> None:
    labels = {"x": {"kind": "started", "at": 3}}
    frame = TOY.frames(json.dumps(ask(params={**ASK, "labels": labels})).encode())
    for path, value in {
        "params.blocks[*].text": ["t"],
        "params.blocks[*].type": ["text"],
        "params.blocks[*].data": [],
        "params.labels.x.at": 3,
        "params.labels.y.at": UNSET,
        "params.labels.x.kind": "started",
        "id": 1,
    }.items():
        found = TOY.getter(type(frame), path)
        assert found is not None
        assert found(frame) == value, path
    row_ = TOY.rows(json.dumps(row(frame=ask(), direction="c2s")).encode())
    of_row = TOY.getter(type(row_), "frame.params.sessionId")
    assert of_row is not None
    assert (of_row(row_), row_.dir) == ("s", "c2s")


def test_tags_tell_the_arms() -> None:
    frame = TOY.frames(json.dumps(change()).encode())
    assert TOY.tags[type(frame)] == ("method", "change")
    assert TOY.tags[type(frame.params.change)] == ("kind", "started")
    assert type(frame.params) not in TOY.tags
    made = bundle("0.2.1")
    events = {value for tag, value in Structs(made).tags.values() if tag == "type"}
    assert {"turn/start", "assistant/message"} <= events
    assert len(events) > 60


def test_what_it_raises_is_named() -> None:
    assert issubclass(msgspec.ValidationError, MISSES)
    for line in (b"", b"{", b"\xff", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"\\ud800"}', b"[" * 100_000):
        assert refused(TOY.frames, line)
        assert refused(TOY.rows, line)
