from __future__ import annotations

import pytest

from dsh_codegen.frames.rows import Row, overlong, read_line
from tests.codegen.frames.toy import log, row


def read(data: bytes) -> list[Row]:
    """The rows of a file."""
    rows: list[Row] = []
    offset = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        terminated = offset + len(line) < len(data)
        found = read_line(line, number, offset, terminated=terminated) if line or terminated else None
        rows += [] if found is None else [found]
        offset += len(line) + 1
    return rows


def problems(data: bytes) -> list[tuple[int, str, str]]:
    return [(each.line, problem.rule, problem.message) for each in read(data) for problem in each.problems]


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


def test_a_line_beyond_the_limit_is_a_skipped_row() -> None:
    row_ = overlong(3, 200_000, 100)
    assert (row_.line, row_.size, row_.state) == (3, 200_000, "skipped")
    assert [each.message for each in row_.problems] == ["the line has 200,000 bytes, more than the 100 that are read"]


def test_an_unknown_direction_is_reported_and_the_frame_still_read() -> None:
    (only,) = read(log(row("in", {"id": 1})))
    assert (only.direction, only.value, only.problems[0].rule) == (None, {"id": 1}, "row/shape")


def test_a_block_of_zero_bytes_is_a_bad_line_not_a_binary_file() -> None:
    assert [each.state for each in read(b'{"id":1}\n' + b"\x00" * 64 + b'\n{"id":2}\n')] == ["frame", "unreadable", "frame"]
