"""A report for people: findings by file and line, and last a line that sums up.

On a terminal with colours, unless `NO_COLOR` is set.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TextIO, TypeAlias

from ...markup.text import harmless
from ..wording import listing
from .observation import numbers, tables
from .telling import AMBIGUOUS, Rests, call, counted_only, summary_line, unlisted

if TYPE_CHECKING:
    from rich.console import Console

    from ..findings import Finding
    from ..groups import Group
    from ..observed import Table
    from ..report import Report

Line: TypeAlias = list[tuple[str, str]]
"""A line of text in pieces, each with its style.

What is too long for a terminal: if the first piece is blank, it is an indent, and the rest goes on below it word by word; else
the last piece stands on a line of its own, unbroken, so that it can be copied.
"""

_STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "blue"}
_INDENT: Final = " " * 9
_NARROWEST: Final = 20


def write(report: Report, stream: TextIO) -> None:
    """All of it."""
    listed = _Listing(Rests(report.groups, at=-1))
    write_lines = _writer(stream)
    write_lines(listed.lines(report.findings()))
    if listed.file is not None:
        write_lines([[]])
    _write_rest(report, stream, [group for group in report.groups if not group.findings])


def write_findings(stream: TextIO) -> Callable[[Iterable[Finding]], None]:
    """A function that writes findings, to be called at any time before the end."""
    listed, write_lines = _Listing(None), _writer(stream)
    return lambda findings: write_lines(listed.lines(findings))


def write_end(report: Report, stream: TextIO) -> None:
    """All but the findings."""
    _writer(stream)([[]] if len(report.groups) else [])
    _write_rest(report, stream, [])


class _Listing:
    """Findings below the names of their files."""

    def __init__(self, rests: Rests | None) -> None:
        self.file: str | None = None
        self._rests = rests

    def lines(self, findings: Iterable[Finding]) -> Iterator[Line]:
        for finding in findings:
            if finding.file != self.file:
                yield from [[]] if self.file is not None else []
                self.file = finding.file
                yield [(harmless(finding.file), "bold")]
            yield from _finding_lines(finding)
            group = None if self._rests is None else self._rests.of(finding)
            if group is not None:
                yield [(_INDENT, ""), (harmless(unlisted(group)), "italic")]


def _finding_lines(finding: Finding) -> Iterator[Line]:
    yield [
        (f"{finding.line or 'file':>7}  ", "cyan"),
        (f"{finding.severity:<7}  ", _STYLES[finding.severity]),
        (f"{finding.direction or '---'}  ", "dim"),
        (f"{harmless(call(finding)):<28}  ", ""),
        (harmless(finding.path), "magenta"),
    ]
    yield [(_INDENT, ""), (harmless(finding.message), ""), (f"  [{harmless(finding.rule)}]", "dim")]


def _write_rest(report: Report, stream: TextIO, groups: Sequence[Group]) -> None:
    write_lines = _writer(stream)
    for group in groups:
        told = harmless(counted_only(group))
        write_lines([[(_INDENT, ""), (f"{group.severity:<7}  ", _STYLES[group.severity]), (told, "italic")]])
    if groups:
        write_lines([[]])
    _write_tables(tables(report), stream)
    write_lines(_closing(report))


def _closing(report: Report) -> Iterator[Line]:
    if report.partial is not None:
        yield [("", ""), ("partial", "yellow"), (f": {harmless(report.partial)}", "")]
    if report.ambiguous:
        revisions = listing(report.candidates)
        yield [("", ""), (f"{AMBIGUOUS} revision", "yellow"), (f": these frames fit {revisions} equally well", "")]
    summary = report.summary
    style = "red" if summary.errors else "yellow" if summary.warnings else "green"
    yield [("", ""), (summary_line(report), style)]


def _writer(stream: TextIO) -> Callable[[Iterable[Line]], None]:
    if not stream.isatty():
        return lambda lines: stream.writelines("".join(text for text, _ in line) + "\n" for line in lines)
    from rich.text import Text

    console = _console(stream)

    def write_lines(lines: Iterable[Line]) -> None:
        for line in lines:
            if line and not line[0][0].strip():
                indent = line[0][0]
                wrapped = Text.assemble(*line[1:]).wrap(console, max(console.width - len(indent), _NARROWEST))
                console.print(*(Text.assemble(indent, part) for part in wrapped), sep="\n", soft_wrap=True)
            elif len(line) > 1 and Text.assemble(*line).cell_len > console.width:
                console.print(Text.assemble(*line[:-1]), Text.assemble(_INDENT, line[-1]), sep="\n", soft_wrap=True)
            else:
                console.print(Text.assemble(*line), soft_wrap=True)

    return write_lines


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)


def _write_tables(observed: Iterable[Table], stream: TextIO) -> None:
    for table in observed:
        right = numbers(table)
        rows = [[harmless(cell) for cell in row] for row in table.rows]
        if stream.isatty():
            _write_table(table, rows, right, stream)
            continue
        stream.write(f"{table.title}\n")
        widths = [max(map(len, column)) for column in zip(table.columns, *rows, strict=True)]
        for row in [table.columns, *rows]:
            cells = (cell.rjust(widths[at]) if at in right else cell.ljust(widths[at]) for at, cell in enumerate(row))
            stream.write(f"  {'  '.join(cells).rstrip()}\n")
        stream.write("\n")


def _write_table(of: Table, rows: Iterable[Sequence[str]], right: Container[int], stream: TextIO) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=of.title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for at, column in enumerate(of.columns):
        table.add_column(column, overflow="fold", justify="right" if at in right else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    console = _console(stream)
    console.print(table)
    console.print()
