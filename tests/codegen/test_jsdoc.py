"""Comments and literals of TypeScript: constraints in words, and text that can't do harm."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen.emit.jsdoc import comment_lines, constraints, literal
from dsh_codegen.ir import Arm, Array, Boolean, Json, Literals, Map, Null, Number, OpenEnum, Ref, String, Type, Union

PRECISION = "May exceed 2^53-1: beyond that a JavaScript number is not exact."


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (Boolean(), ""),
        (Json(), ""),
        (Ref("T"), ""),
        (Json(lenient=True), "Any JSON: an echo of what another party sent."),
        (String(), ""),
        (String(min_length=1), "Non-empty."),
        (String(min_length=2), "At least 2 characters."),
        (String(max_length=1), "At most 1 character."),
        (String(min_length=1, max_length=8), "1 to 8 characters."),
        (String(min_length=4, max_length=4), "Exactly 4 characters."),
        (String(min_length=1, pattern="^[a-z]+$"), "Non-empty. Pattern: ^[a-z]+$"),
        (String(excluded=("a", 'b"')), r'Not "a" or "b\"".'),
        (String(excluded=tuple("abcdefgh")), "None of 8 values that the schema lists."),
        (Number(integer=True), "Integer."),
        (Number(integer=False), ""),
        (Number(integer=True, minimum=1, maximum=2**53 - 1), "Integer, 1 to 9007199254740991."),
        (Number(integer=True, maximum=2**63 - 1), f"Integer, at most 9223372036854775807. {PRECISION}"),
        (Number(integer=True, minimum=-(2**53)), f"Integer, at least -9007199254740992. {PRECISION}"),
        (Number(integer=False, exclusive_minimum=0, maximum=0.5), "Number, more than 0, at most 0.5."),
        (Number(integer=False, minimum=0, exclusive_maximum=1e3), "Number, at least 0, less than 1000."),
        (Number(integer=True, minimum=0, maximum=10, multiple_of=5), "Integer, at least 0, at most 10, a multiple of 5."),
        (Literals((1, "a")), ""),
        (Literals((2**60,)), PRECISION),
        (OpenEnum(("a",)), "Open set: expect other strings too."),
        (OpenEnum(("a",), min_length=1), "Open set: expect other strings too. Non-empty."),
        (Array(String()), ""),
        (Array(String(), min_items=1), "At least 1 item."),
        (Array(Boolean(), max_items=3, unique=True), "At most 3 items. Items are unique."),
        (Array(Number(integer=True, minimum=0)), "Each item: integer, at least 0."),
        (Map(String(min_length=1)), "Each value: non-empty."),
        (Union((String(min_length=1), Null()), (Arm(String(min_length=1)), Arm(Null()))), "Non-empty."),
    ],
)
def test_constraints_in_words(node: Type, words: str) -> None:
    assert constraints(node) == words


def test_comment_keeps_paragraphs_and_wraps_lines() -> None:
    text = "One two three.\r\n\n  - four five six\n\nseven"
    assert comment_lines(text, "", "eight", width=12) == (
        *("One two", "three.", "", "  - four", "  five six", "", "seven", "eight"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a */ b", "a *\\/ b"),
        ("**/", "**\\/"),
        ("@ts-expect-error", "\\@ts-expect-error"),
        ("  @deprecated", "  \\@deprecated"),
        ("mail me@home", "mail me@home"),
        ("a\x00b\x1b\x7f", "a\\u0000b\\u001b\\u007f"),
        ("left\u202eright\ufeff", "left\\u202eright\\ufeff"),
        ("half \ud83d pair", "half \\ud83d pair"),
        ("whole 😀 é 中", "whole 😀 é 中"),
        ("tab\there", "tab    here"),
    ],
)
def test_comment_shows_odd_text(text: str, line: str) -> None:
    assert comment_lines(text, width=80) == (line,)


@given(st.text(), st.integers(min_value=1, max_value=60))
def test_comment_is_always_safe(text: str, width: int) -> None:
    lines = comment_lines(text, width=width)
    for line in lines:
        assert "*/" not in line
        assert re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", line) is None
        assert not line.lstrip(" ").startswith("@")
        assert line == line.rstrip(" ")


@given(st.text() | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False, allow_infinity=False))
def test_literal_is_the_same_json(value: str | float | bool | None) -> None:
    text = literal(value)
    assert json.loads(text) == value
    assert re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", text) is None
