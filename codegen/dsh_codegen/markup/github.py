"""Workflow commands of GitHub Actions, which appear as annotations beside the lines of a change.

Of each level GitHub shows the first ten of a step, so what matters most has to come first.
"""

from __future__ import annotations

from typing import Final, Literal

from .files import relative
from .text import harmless

_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}
_IN_MESSAGE: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def annotation(
    severity: Literal["error", "warning", "note"], title: str, message: str, file: str | None = None, line: int | None = None
) -> str:
    """One command, without its line feed. `line` None: the whole file."""
    properties = {"title": title}
    if file is not None:
        properties = {"file": relative(file), **({} if line is None else {"line": str(line)}), **properties}
    listed = ",".join(f"{key}={harmless(value.translate(_IN_PROPERTY))}" for key, value in properties.items())
    return f"::{_COMMANDS[severity]} {listed}::{harmless(message.translate(_IN_MESSAGE))}"
