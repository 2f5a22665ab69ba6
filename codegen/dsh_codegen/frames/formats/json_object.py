"""A report as one JSON object, in ASCII: a finding and a group a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from msgspec.structs import asdict

from ...markup.text import ascii_json
from .observation import as_json
from .telling import AMBIGUOUS

if TYPE_CHECKING:
    from ..groups import Group
    from ..report import Report


def write(report: Report, stream: TextIO) -> None:
    """`candidates` are there if the revision is ambiguous, `observed` if it was asked for."""
    stream.write(f'{{"summary": {ascii_json(counts(report))}')
    stream.writelines(f',\n "{key}": {ascii_json(value)}' for key, value in which(report).items())
    _write_list(stream, "findings", map(asdict, report.findings()))
    _write_list(stream, "groups", map(group_fields, report.groups))
    stream.write(f',\n "methods": {ascii_json(methods(report))}')
    if report.observed is not None:
        stream.write(f',\n "observed": {ascii_json(as_json(report.observed))}')
    stream.write("}\n")


def _write_list(stream: TextIO, key: str, values: Iterable[Mapping[str, Any]]) -> None:
    stream.write(f',\n "{key}": [')
    separator = "\n  "
    for value in values:
        stream.write(separator + ascii_json(value))
        separator = ",\n  "
    stream.write("]")


def counts(report: Report) -> dict[str, int]:
    """The counters of the summary."""
    names = ("files", "frames", "valid", "invalid", "skipped", "errors", "warnings", "notes")
    return {name: getattr(report.summary, name) for name in names}


def which(report: Report) -> dict[str, Any]:
    """What was judged by which revision, and whether that was all."""
    if report.ambiguous:
        return {"revision": AMBIGUOUS, "candidates": list(report.candidates), "partial": report.partial}
    return {"revision": report.revision, "partial": report.partial}


def group_fields(group: Group) -> dict[str, Any]:
    """A group; its findings are elsewhere in the report, `listed` of them."""
    names = ("rule", "severity", "method", "path", "schema", "count")
    return {**{name: getattr(group, name) for name in names}, "listed": len(group.findings)}


def methods(report: Report) -> dict[str, Any]:
    """The counters of each method, by name."""
    return {name: asdict(counted) for name, counted in sorted(report.summary.methods.items())}
