"""What several formats tell in the same words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ...markup.text import counted
from ..groups import OTHER

if TYPE_CHECKING:
    from ..findings import Finding
    from ..groups import Group
    from ..report import Report
    from ..summary import Summary

AMBIGUOUS: Final = "ambiguous"
"""The revision if the logs fit several."""


def summary_line(report: Report) -> str:
    """`3 files, 1,204 frames: 1,199 valid, 5 invalid, 0 skipped; 2 errors, 1 warning (revision 0.2.1)`."""
    summary = report.summary
    counts = f"{summary.valid:,} valid, {summary.invalid:,} invalid, {summary.skipped:,} skipped"
    found = severities(summary)
    revision = f"{AMBIGUOUS}, judged by {report.revision}" if report.ambiguous else report.revision
    frames = f"{counted(summary.files, 'file')}, {counted(summary.frames, 'frame')}"
    return f"{frames}: {counts}{f'; {found}' if found else ''} (revision {revision})"


def severities(summary: Summary) -> str:
    """`2 errors, 1 warning, 4 notes`: those that there are."""
    found = {"error": summary.errors, "warning": summary.warnings, "note": summary.notes}
    return ", ".join(counted(count, severity) for severity, count in found.items() if count)


def call(finding: Finding) -> str:
    """`request session/prompt`, or `line` for what is no frame."""
    return " ".join(part for part in (finding.kind, finding.method) if part) or "line"


def position(finding: Finding) -> str:
    """`log.jsonl:7`, or `log.jsonl` for the file as a whole."""
    return f"{finding.file}:{finding.line}" if finding.line else finding.file


def unlisted(group: Group) -> str:
    """`and 1,234,567 more like this (params/schema, $.params.cwd)`: of a group that lists fewer findings than it counts."""
    return f"and {group.unlisted:,} more {_alike(group)}"


def counted_only(group: Group) -> str:
    """`1,234,567 like this (params/schema, $.params.cwd), none listed`: of a group that lists no finding."""
    return f"{group.count:,} {_alike(group)}, none listed"


def _alike(group: Group) -> str:
    return f"of further kinds ({group.severity})" if group.rule == OTHER else f"like this ({group.rule}, {group.path})"


class Rests:
    """The groups that count more than they list, each to be told once: at its first or its last finding, or at none."""

    def __init__(self, groups: Iterable[Group], at: int) -> None:
        """`at`: 0 for the first finding of a group, -1 for its last."""
        more = [group for group in groups if group.unlisted]
        self._at = {group.findings[at]: group for group in more if group.findings}
        self.without: Final = [group for group in more if not group.findings]
        """Groups that list no finding at all."""

    def of(self, finding: Finding) -> Group | None:
        """The group that is to be told with this finding."""
        return self._at.pop(finding, None)
