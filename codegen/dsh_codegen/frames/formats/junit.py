"""A report as JUnit XML: a case a rule, whether it was broken or not; the suites are the families of rules.

A build keeps the history of each case, so the cases are the same every time: those that are new since the last run are rules
broken since then. A case a file would come and go with the logs, and for a million of them no build has a table; nor does a
report count the findings of a file. So the files stand in the text of a case, each finding with its line.

Errors fail a case. Warnings and notes do not, as they do not fail the command either: they are the output of a case that
passes. If only a part of the input was read, the case that says so could not be decided: that is an `error`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, TextIO

from ...markup.junit import Case, Suite, Verdict
from ...markup.junit import write as write_suites
from .json_object import counts
from .telling import call, position, summary_line, unlisted

if TYPE_CHECKING:
    from ..groups import Group
    from ..report import Report

_NAME: Final = "validate"


def write(report: Report, stream: TextIO) -> None:
    """The suite of the input, then one of each family of rules."""
    rules = {rule: checked.sentence for rule, checked in report.rules.items()}
    groups: dict[str, list[Group]] = {}
    for group in report.groups:
        groups.setdefault(group.rule, []).append(group)
    families: dict[str, list[Case]] = {}
    for rule in [*rules, *(name for name in groups if name not in rules)]:
        family = rule.partition("/")[0]
        found = groups.get(rule, [])
        failed = any(group.severity == "error" for group in found)
        asked = rules.get(rule, "Findings of further kinds are only counted.")
        case = Case(f"{_NAME}.{family}", rule, "failure" if failed else "passed", asked, list(_lines(found)))
        families.setdefault(family, []).append(case)
    write_suites(stream, _NAME, [_input(report), *(Suite(family, cases) for family, cases in families.items())])


def _input(report: Report) -> Suite:
    verdict: Verdict = "passed" if report.partial is None else "error"
    whole = Case(f"{_NAME}.input", "input/whole", verdict, report.partial or "", [summary_line(report)])
    properties = {"revision": report.revision, **{name: str(count) for name, count in counts(report).items()}}
    return Suite("input", [whole], properties)


def _lines(groups: Iterable[Group]) -> Iterator[str]:
    for group in groups:
        for finding in group.findings:
            where = f"{position(finding)}: {finding.severity}: {call(finding)}: {finding.path}"
            yield f"{where}: {finding.message}"
        if group.unlisted:
            yield unlisted(group)
