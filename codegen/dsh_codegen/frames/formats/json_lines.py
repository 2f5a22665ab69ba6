"""A report as JSON objects, one a line, in ASCII: to be filtered line by line, and to be read while it is being written.

Each line is an object with one member that says what it is: `finding`s in the order of the input, then `group`s, then once
`methods`, `observed` if it was asked for, and last `summary`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TextIO

from msgspec.structs import asdict

from ...markup.text import ascii_json
from .json_object import counts, group_fields, methods, which
from .observation import as_json

if TYPE_CHECKING:
    from ..findings import Finding
    from ..report import Report


def write(report: Report, stream: TextIO) -> None:
    """All of it."""
    write_findings(stream)(report.findings())
    write_end(report, stream)


def write_findings(stream: TextIO) -> Callable[[Iterable[Finding]], None]:
    """A function that writes findings, to be called at any time before the end."""

    def write_more(findings: Iterable[Finding]) -> None:
        for finding in findings:
            _write(stream, "finding", asdict(finding))

    return write_more


def write_end(report: Report, stream: TextIO) -> None:
    """All but the findings."""
    for group in report.groups:
        _write(stream, "group", group_fields(group))
    _write(stream, "methods", methods(report))
    if report.observed is not None:
        _write(stream, "observed", as_json(report.observed))
    _write(stream, "summary", {**counts(report), **which(report)})


def _write(stream: TextIO, kind: str, value: Any) -> None:
    stream.write(f"{ascii_json({kind: value})}\n")
