"""A report as annotations of a GitHub workflow.

Errors come first and of each severity one finding of every group, then a second of each, and so on: GitHub shows ten of a
severity, and ten different ones tell more than ten alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, TextIO

from ...markup.github import annotation
from ...markup.text import harmless
from .telling import call, counted_only, summary_line, unlisted

if TYPE_CHECKING:
    from ..findings import Finding
    from ..groups import Group
    from ..report import Report

_STDIN: Final = "<stdin>"


def write(report: Report, stream: TextIO) -> None:
    """The annotations, and last the line that sums up."""
    for severity in ("error", "warning", "note"):
        groups = [group for group in report.groups if group.severity == severity]
        stream.writelines(f"{line}\n" for line in _annotations(groups))
    if report.partial is not None:
        stream.write(f"{annotation('warning', 'partial', report.partial)}\n")
    stream.write(f"{harmless(summary_line(report))}\n")


def _annotations(groups: list[Group]) -> Iterator[str]:
    for number, findings in enumerate(zip_longest(*(group.findings for group in groups))):
        for group, finding in zip(groups, findings, strict=True):
            if finding is not None:
                more = f"; {unlisted(group)}" if number == 0 and group.unlisted else ""
                yield _annotation(finding, more)
    for group in groups:
        if not group.findings:
            yield annotation(group.severity, group.rule, counted_only(group))


def _annotation(finding: Finding, more: str) -> str:
    message = f"{finding.message} ({call(finding)}, {finding.path}){more}"
    file = None if finding.file == _STDIN else finding.file
    return annotation(finding.severity, finding.rule, message, file, finding.line or None)
