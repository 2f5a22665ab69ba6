"""Text that is harmless wherever it goes, and numbers with their noun."""

from __future__ import annotations

import json
import re
from typing import Any, Final

_ESCAPES: Final = re.compile(
    r"""\\\\                                              # a backslash: what follows it is text
    | \\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}  # a pair: one character
    | (?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})""",
    re.VERBOSE,
)

# What servers that run builds obey in the output of a command: "::error::" at the start of a line, blanks aside (GitHub), and
# "##[error]", "##vso[task.complete]" or "##teamcity[...]" anywhere in it (GitHub, Azure, TeamCity). The character to escape.
_COMMAND: Final = re.compile(r"^(?P<blanks> *):(?=:)|#(?=#\w*\[)", re.MULTILINE)


def harmless(text: str, keep: str = "") -> str:
    r"""`text` with everything as `\u` escapes that a terminal might obey or hide (controls, bidi marks, lone surrogates), or a
    server that runs builds take for a command (`::error::`, `##[error]`).

    What is left is also what XML 1.0 can hold. `keep` are characters that stay, such as line feeds.
    """
    if "::" in text or "##" in text:
        text = _COMMAND.sub(_defused, text)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _escaped(char) for char in text)


def _defused(command: re.Match[str]) -> str:
    blanks = command["blanks"]
    return _escaped("#") if blanks is None else f"{blanks}{_escaped(':')}"


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def ascii_json(value: Any, indent: int | None = None) -> str:
    r"""A value as JSON in ASCII, which holds no raw control character, no command to a build, and needs no encoding.

    Half of a surrogate pair is no text, and many readers refuse the whole document for it: it becomes the six characters that
    would stand for it, `\ud800`.
    """
    text = json.dumps(value, indent=indent)
    if "##" in text:
        text = _COMMAND.sub(_defused, text)
    return _ESCAPES.sub(_written_out, text) if "\\ud" in text else text


def _written_out(escape: re.Match[str]) -> str:
    return f"\\{escape[0]}" if escape["lone"] else escape[0]


def counted(number: int, noun: str) -> str:
    """`1,204 frames`, `1 frame`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
