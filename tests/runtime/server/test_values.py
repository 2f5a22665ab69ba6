"""String forms of values, as they stand in error texts."""

from __future__ import annotations

import pytest

from dsh_runtime.server.values import ABSENT, member, received, text_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ABSENT, "undefined"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ("x", "x"),
        (5, "5"),
        (5.0, "5"),
        (1.5, "1.5"),
        ([1, None, [2, "a"]], "1,,2,a"),
        ({"a": 1}, "[object Object]"),
    ],
)
def test_text_of(value: object, text: str) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ABSENT, "undefined"),
        (None, "null"),
        (True, "type boolean (true)"),
        (7, "type number (7)"),
        ("x", 'type string ("x")'),
        ([], "an instance of Array"),
        ({}, "an instance of Object"),
    ],
)
def test_received(value: object, text: str) -> None:
    assert received(value) == text


def test_absent_is_not_null() -> None:
    assert member({"a": None}, "a") is None
    assert member({"a": None}, "b") is ABSENT
