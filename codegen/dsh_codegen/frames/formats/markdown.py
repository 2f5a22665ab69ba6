"""A report as Markdown, for the summary of a GitHub workflow or an issue: a row a group, with its first finding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TextIO

from ...markup.markdown import code, plain, table
from .json_object import counts
from .observation import numbers, tables
from .telling import position, severities

if TYPE_CHECKING:
    from ..report import Report

_COLUMNS: Final = ("severity", "count", "finding", "first")
_NUMBERS: Final = frozenset({_COLUMNS.index("count")})


def write(report: Report, stream: TextIO) -> None:
    """A heading, the numbers, the groups, and what was observed."""
    found = severities(report.summary)
    stream.write(f"## Frame logs: {found or 'nothing found'}\n\nJudged by revision {plain(report.revision)}.\n\n")
    if report.partial is not None:
        stream.write(f"> **Partial:** {code(report.partial)}\n\n")
    if report.ambiguous:
        stream.write(f"These frames fit the revisions {plain(' and '.join(report.candidates))} equally well.\n\n")
    totals = counts(report)
    stream.writelines(table(tuple(totals), [[f"{count:,}" for count in totals.values()]], frozenset(range(len(totals)))))
    if len(report.groups):
        stream.write("\n### Findings\n\n")
        stream.writelines(table(_COLUMNS, _rows(report), _NUMBERS))
    for each in tables(report):
        stream.write(f"\n### {plain(each.title)}\n\n")
        right = numbers(each)
        rows = [[cell if index in right else code(cell) for index, cell in enumerate(row)] for row in each.rows]
        stream.writelines(table([plain(column) for column in each.columns], rows, right))


def _rows(report: Report) -> Iterator[list[str]]:
    for group in report.groups:
        message, first = "", ""
        if group.findings:
            message, first = f"{code(group.findings[0].message)}<br>", code(position(group.findings[0]))
        where = " ".join(code(part) for part in (group.rule, group.method, group.path) if part)
        yield [group.severity, f"{group.count:,}", f"{message}{where}", first]
