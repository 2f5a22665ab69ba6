"""What a crash leaves in a log is named as that."""

from __future__ import annotations

import pytest

from dsh_codegen.frames.findings import Problem
from dsh_codegen.frames.reading import Text


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
