"""Reports in every format: each is one module with one function, of a report and a stream.

All are deterministic, and all are harmless: whatever a log contains, or is called, no control character of it is written and
nothing of it is taken for markup. This module imports none of them, so that the command line can name them at no cost.

    text         for people, with colours on a terminal
    json_object  one JSON object
    json_lines   JSON objects, one a line
    junit        JUnit XML, for the test tab of a build
    sarif        SARIF 2.1.0, for code scanning
    github       annotations of a GitHub workflow
    markdown     for the summary of a GitHub workflow, or an issue
    telling      sentences and numbers that several of them tell
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias

if TYPE_CHECKING:
    from ..findings import Finding
    from ..report import Report

Renderer: TypeAlias = "Callable[[Report, TextIO], None]"
"""Writes a whole report."""
Listing: TypeAlias = "Callable[[TextIO], Callable[[Iterable[Finding]], None]]"
"""Makes a function that writes findings as soon as there are some."""

FORMATS: Final = ("text", "json", "jsonl", "junit", "sarif", "github", "markdown", "md")
"""The names of all formats; `md` is short for `markdown`."""
LIVE: Final = ("text", "jsonl")
"""Those that can tell findings before the end of the input."""

_MODULES: Final = {"json": "json_object", "jsonl": "json_lines", "md": "markdown"}


def _function(format_: str, name: str) -> Any:
    return getattr(import_module(f"{__name__}.{_MODULES.get(format_, format_)}"), name)


def renderer(format_: str) -> Renderer:
    """What writes a whole report in that format."""
    write: Renderer = _function(format_, "write")
    return write


def live(format_: str) -> tuple[Listing, Renderer]:
    """For a log that is still being written: what lists findings as they come, and then writes all else a report says.

    `format_` is one of `LIVE`.
    """
    return _function(format_, "write_findings"), _function(format_, "write_end")
