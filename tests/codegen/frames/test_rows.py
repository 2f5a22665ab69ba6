from __future__ import annotations

import json

import pytest

from dsh_codegen.frames.rows import InputError, Row, read_rows
from tests.codegen.frames.toy import log, row, source


def read(data: bytes, max_line: int = 1 << 20) -> list[Row]:
    return list(read_rows(source(data), max_line=max_line))


def problems(data: bytes, max_line: int = 1 << 20) -> list[tuple[int, str, str]]:
    return [(each.line, problem.rule, problem.message) for each in read(data, max_line) for problem in each.problems]


def test_bare_frames_and_capture_rows_carry_the_same_value() -> None:
    bare, wrapped = read(log({"id": 1}, row("s2c", {"id": 1})))
    assert (bare.value, bare.direction) == ({"id": 1}, None)
    assert (wrapped.value, wrapped.direction) == ({"id": 1}, "s2c")


def test_markers_and_blank_lines_are_no_frames_but_null_is_one() -> None:
    data = log(
        {"ts": 1, "dir": "c2s", "frame": None, "eof": True},
        {"ts": 1, "dir": "s2c", "frame": None, "exit": 0},
        {"ts": 1, "dir": "c2s", "frame": None, "raw": " \r"},
        "",
        "   ",
        "\ufeff",
        {"ts": 1, "dir": "c2s", "frame": None},
        "null",
    )
    assert [(each.line, each.state, each.value) for each in read(data)] == [(7, "frame", None), (8, "frame", None)]


def test_a_frame_may_have_members_of_a_row() -> None:
    frame = {"jsonrpc": "2.0", "id": 1, "result": 1, "dir": "c2s", "frame": 1}
    assert read(log(frame))[0].value == frame


@pytest.mark.parametrize("blank", ["\ufeff", "\xa0", "\r", "\t \v\f", "\u2028", "\u3000"])
def test_blanks_around_a_frame_do_no_harm(blank: str) -> None:
    text = f'{blank}{{"id":1}}{blank}'
    bare, raw = read(log(text, {"dir": "c2s", "frame": None, "raw": text}))
    assert bare.value == raw.value == {"id": 1}
    assert not bare.problems + raw.problems


def test_only_line_feeds_end_lines() -> None:
    data = b'{"s":"a\xe2\x80\xa8b"}\r\n{"s":"a\xc2\x85b"}\r\n{bad}\r\n'
    assert [(each.line, each.state) for each in read(data)] == [(1, "frame"), (2, "frame"), (3, "unreadable")]
    assert f"(byte {data.index(b'bad')} of the file)" in problems(data)[0][2]


@pytest.mark.parametrize(
    ("text", "rule", "says"),
    [
        ("INFO started", "json/noise", '"INFO started"'),
        ('INFO {"jsonrpc":"2.0"}', "json/noise", "a frame begins at column 6"),
        ('{"a":1', "json/syntax", "the line ends"),
        ("{'a':1}", "json/syntax", "column 2"),
        ('{"a":1} trailing', "json/syntax", "followed by other text at column 9"),
        ('{"a":1}{"b":2}', "json/several-values", "column 8"),
        ('{"a":1} 5', "json/several-values", "column 9"),
        ('{"jsonrpc":"2.0","result":{"a":"x{"jsonrpc":"2.0","id":2}', "json/glued", "begins at column 34"),
        ('{"a":NaN}', "json/syntax", "NaN"),
        ('{"a":-Infinity}', "json/syntax", "-Infinity"),
        ('{"a":"tab\there"}', "json/syntax", "control character"),
        ("[" * 100_000, "json/nesting", "deeply"),
        (f'{{"id":{"9" * 5000}}}', "json/number", "digits"),
    ],
)
def test_what_is_no_json_is_one_finding_that_says_why(text: str, rule: str, says: str) -> None:
    data = log(text, {"id": 1})
    assert [(line, found) for line, found, _ in problems(data)] == [(1, rule)]
    assert says in problems(data)[0][2]
    assert [each.state for each in read(data)] == ["unreadable", "frame"]


def test_a_torn_last_line_is_told_from_a_whole_one_without_a_line_feed() -> None:
    assert [(line, rule) for line, rule, _ in problems(b'{"id":1}\n{"id":2,"resu')] == [(2, "json/torn")]
    whole = read(b'{"id":1}\n{"id":2}')
    assert [(each.problems, each.terminated) for each in whole] == [((), True), ((), False)]
    assert [rule for _, rule, _ in problems(b'{"id":1}\nTraceback')] == ["json/noise"]


def test_a_row_knows_that_its_line_was_torn() -> None:
    data = log(
        {"dir": "c2s", "frame": None, "raw": '{"id":', "partial": True}, {"dir": "c2s", "frame": {"id": 1}, "partial": True}
    )
    assert [(line, rule) for line, rule, _ in problems(data)] == [(1, "json/torn"), (2, "json/torn")]
    assert {each.state for each in read(data)} == {"unreadable"}


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    data = b'{"a":"\xff"}\n'
    (only,) = read(data)
    assert (only.value, only.state) == ({"a": "\ufffd"}, "frame")
    assert problems(data) == [(1, "line/utf-8", "the bytes at byte 6 of the file are not UTF-8 and are read as U+FFFD")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_encoding_is_named_once(encoding: str) -> None:
    data = ('{"jsonrpc":"2.0"}\n' * 50).encode(encoding)
    ((line, rule, message),) = problems(data)
    assert (line, rule, encoding[:6].upper() in message) == (1, "file/encoding", True)
    assert [each.state for each in read(data)] == ["skipped"]


def test_the_utf16_of_a_single_braces_pair() -> None:
    assert [rule for _, rule, _ in problems(bytes.fromhex("fffe7b007d000a00"))] == ["file/encoding"]


def test_a_line_beyond_the_limit_is_skipped_and_the_next_one_read() -> None:
    long = json.dumps({"a": "x" * 200_000})
    data = log({"id": 1}, long, {"id": 2}, "x" * 90) + b"y" * 101
    found = read(data, max_line=100)
    assert [(each.line, each.state, each.size) for each in found] == [
        (1, "frame", 9),
        (2, "skipped", len(long)),
        (3, "frame", 9),
        (4, "unreadable", 90),
        (5, "skipped", 101),
    ]
    assert problems(data, 100)[0][2] == f"the line has {len(long):,} bytes, more than the 100 that are read"
    assert "(byte" not in problems(data, 100)[1][2]


def test_the_limit_counts_bytes_without_the_line_feed() -> None:
    assert [each.state for each in read(log("1" * 100, "1" * 101), max_line=100)] == ["frame", "skipped"]


def test_offsets_go_on_after_a_skipped_line() -> None:
    data = log("x" * 500, "{bad}")
    assert f"(byte {data.index(b'bad')} of the file)" in problems(data, 100)[1][2]


def test_an_unknown_direction_is_reported_and_the_frame_still_read() -> None:
    (only,) = read(log(row("in", {"id": 1})))
    assert (only.direction, only.value, only.problems[0].rule) == (None, {"id": 1}, "row/shape")


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "binary"),
        (b"\x7fELF\x00\xff", "binary"),
    ],
)
def test_what_is_no_log_is_refused(head: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(head)


def test_a_block_of_zero_bytes_is_a_bad_line_not_a_binary_file() -> None:
    assert [each.state for each in read(b'{"id":1}\n' + b"\x00" * 64 + b'\n{"id":2}\n')] == ["frame", "unreadable", "frame"]


def test_an_empty_file_has_no_rows() -> None:
    assert read(b"") == []
