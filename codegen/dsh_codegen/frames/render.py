"""Reports as text for people and as JSON for programs. Each format is one function of a report and a stream.

Both are deterministic, and both are harmless: whatever a log contains, no control character of it is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from types import MappingProxyType
from typing import Final, TextIO, TypeAlias

from .findings import Finding
from .report import Report
from .wording import escape, listing

Line: TypeAlias = list[tuple[str, str]]
"""A line of text in pieces, each with its style."""

AMBIGUOUS: Final = "ambiguous"
"""The revision in a JSON report if the log fits several."""


def write_json(report: Report, stream: TextIO) -> None:
    """One JSON object, with one finding a line; ASCII only."""
    summary = report.summary
    counts = {"files": summary.files, "frames": summary.frames, "valid": summary.valid, "invalid": summary.invalid}
    stream.write(f'{{"summary": {json.dumps({**counts, "skipped": summary.skipped})},\n')
    stream.write(f' "revision": {json.dumps(AMBIGUOUS if report.ambiguous else report.revision)},\n')
    if report.ambiguous:
        stream.write(f' "candidates": {json.dumps(report.candidates)},\n')
    stream.write(' "findings": [')
    separator = "\n  "
    for finding in report.findings:
        stream.write(separator + json.dumps(asdict(finding)))
        separator = ",\n  "
    methods = {name: asdict(counted) for name, counted in sorted(summary.methods.items())}
    stream.write(f'],\n "methods": {json.dumps(methods)}}}\n')


def write_text(report: Report, stream: TextIO) -> None:
    """Findings by file, then one line that sums up. With colours on a terminal, unless `NO_COLOR` is set."""
    if not stream.isatty():
        stream.writelines("".join(text for text, _ in line) + "\n" for line in text_lines(report))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    for line in text_lines(report):
        console.print(Text.assemble(*line), soft_wrap=True)


def text_lines(report: Report) -> Iterator[Line]:
    """The text report, line by line."""
    for file, findings in groupby(report.findings, key=lambda finding: finding.file):
        yield [(escape(file), "bold")]
        for finding in findings:
            yield from _finding_lines(finding)
        yield []
    if report.ambiguous:
        revisions = listing([f"{each}" for each in report.candidates])
        yield [("ambiguous revision", "yellow"), (f": these frames fit {revisions} equally well", "")]
    yield [(summary_line(report), "red" if report.summary.findings else "green")]


def _finding_lines(finding: Finding) -> Iterator[Line]:
    call = " ".join(part for part in (finding.kind or "", escape(finding.method or "")) if part)
    yield [
        (f"{finding.line:>7}", "cyan"),
        (f"  {finding.direction or '---'}  ", "dim"),
        (f"{call or 'line':<28}", ""),
        (f"  {finding.path}", "magenta"),
    ]
    yield [(f"              {finding.message}", ""), (f"  [{finding.rule}]", "dim")]


def summary_line(report: Report) -> str:
    """`3 files, 1,204 frames: 1,199 valid, 5 invalid, 0 skipped (revision 0.2.1)`."""
    summary = report.summary
    files = f"{summary.files:,} {'file' if summary.files == 1 else 'files'}"
    frames = f"{summary.frames:,} {'frame' if summary.frames == 1 else 'frames'}"
    counts = f"{summary.valid:,} valid, {summary.invalid:,} invalid, {summary.skipped:,} skipped"
    revision = f"{AMBIGUOUS}, judged by {report.revision}" if report.ambiguous else report.revision
    return f"{files}, {frames}: {counts} (revision {revision})"


RENDERERS: Final[Mapping[str, Callable[[Report, TextIO], None]]] = MappingProxyType({"text": write_text, "json": write_json})
"""Every format by its name."""
