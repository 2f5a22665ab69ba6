"""What a crash leaves in a log is named as that."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from dsh_codegen.frames.findings import Problem
from dsh_codegen.frames.reading import Text

T = TypeVar("T")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\0" * 4096, "4,096 NUL bytes stand at column 1 (byte 7 of the file), as a crash leaves them"),
        ("\0", "1 NUL byte stands at column 1 (byte 7 of the file), as a crash leaves them"),
        ("\ufeff \0\0\r", "2 NUL bytes stand at column 3 (byte 11 of the file), as a crash leaves them"),
        ("\0\0noise", "2 NUL bytes stand at column 1 (byte 7 of the file), as a crash leaves them"),
    ],
)
def test_nul_bytes_at_the_beginning_of_a_line_are_counted(text: str, says: str) -> None:
    assert Text(text, 7).parse() == Problem("json/nul", says)


@pytest.mark.parametrize("text", ['{"a":"\0"}', '{"a":1}\0', "noise\0"])
def test_nul_bytes_elsewhere_are_what_they_were(text: str) -> None:
    parsed = Text(text).parse()
    assert isinstance(parsed, Problem)
    assert parsed.rule in ("json/syntax", "json/noise")


def test_a_frame_behind_nul_bytes_is_pointed_out() -> None:
    says = "2 NUL bytes stand at column 1, as a crash leaves them; a frame begins at column 3"
    assert Text('\0\0{"jsonrpc":"2.0"}').parse() == Problem("json/nul", says)


def on_a_stack(used: int, function: Callable[[], T]) -> T:
    """What a function returns that is called by `used` others."""
    return function() if used == 0 else on_a_stack(used - 1, function)


@pytest.mark.parametrize("kind", [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("inside", ["1", "NaN", "9" * 5000, "?"])
def test_how_deep_a_text_may_be_does_not_depend_on_the_stack(kind: tuple[str, str], inside: str) -> None:
    texts = [Text(kind[0] * depth + inside + kind[1] * depth) for depth in (*range(950, 1010), 200_000)]
    parsed = [[on_a_stack(used, text.parse) for text in texts] for used in (0, 30, 200, 500)]
    found = [[each.rule if isinstance(each, Problem) else "" for each in several] for several in parsed]
    assert found[1:] == found[:-1]
    deep = [rule == "json/nesting" for rule in found[0]]
    assert deep == sorted(deep)
    assert set(deep) == {False, True}


@pytest.mark.parametrize("depth", [400, 900])
def test_a_second_value_on_a_line_is_looked_at_on_any_stack(depth: int) -> None:
    text = Text("{} " + "[" * depth + "]" * depth)
    parsed = [on_a_stack(used, text.parse) for used in (0, 300)]
    assert parsed[0] == parsed[1]
    assert isinstance(parsed[0], Problem)
    assert parsed[0].rule == "json/several-values"
