"""A report as SARIF 2.1.0: every rule with its citations, and a result for each finding that is listed.

What a group counts beyond the listed is in the `occurrenceCount` of its first result, so that the results add up. Groups that
list nothing have no place in a file; they are notifications of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TextIO

from ... import __version__
from ...markup import sarif
from ...markup.files import uri
from ...markup.text import ascii_json, harmless
from .json_object import counts, which
from .telling import Rests, counted_only, unlisted

if TYPE_CHECKING:
    from ..findings import Finding, Rule
    from ..report import Report

_FINGERPRINT: Final = "frame/v1"


def write(report: Report, stream: TextIO) -> None:
    """One run, a result a line."""
    rests = Rests(report.groups, at=0)
    rules = [_rule(name, rule) for name, rule in report.rules.items()]
    run = sarif.run({"name": "dsh-codegen validate", "version": __version__, "rules": rules})
    run["invocations"] = [{"executionSuccessful": report.partial is None, **_notifications(report, rests)}]
    run["properties"] = {**which(report), "summary": counts(report)}
    sarif.write(stream, run, _results(report, rests))


def _rule(name: str, rule: Rule) -> dict[str, Any]:
    cited = f" It rests on the rules {', '.join(rule.protocol)} of PROTOCOL.md." if rule.protocol else ""
    return {
        "id": name,
        "shortDescription": {"text": rule.sentence},
        "fullDescription": {"text": rule.sentence},
        "help": {"text": f"{rule.sentence}{cited}"},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [name.partition("/")[0]], "protocol": list(rule.protocol)},
    }


def _results(report: Report, rests: Rests) -> Iterator[dict[str, Any]]:
    order = {name: index for index, name in enumerate(report.rules)}
    seen = Counter[str]()
    for finding in report.findings():
        group = rests.of(finding)
        more = "" if group is None else f" ({unlisted(group)})"
        print_ = _fingerprint(finding)
        seen[print_] += 1
        yield {
            "ruleId": finding.rule,
            "ruleIndex": order.get(finding.rule, -1),
            "level": finding.severity,
            "message": {"text": harmless(f"{finding.message}{more}")},
            "locations": [sarif.location(finding.file, finding.line or None, harmless(finding.path))],
            "partialFingerprints": {_FINGERPRINT: f"{print_}:{seen[print_]}"},
            **({} if group is None else {"occurrenceCount": group.unlisted + 1}),
            "properties": _properties(finding),
        }


def _properties(finding: Finding) -> Mapping[str, Any]:
    told = {name: getattr(finding, name) for name in ("direction", "kind", "method", "path", "schema")}
    return {name: harmless(value) for name, value in told.items() if value is not None}


def _fingerprint(finding: Finding) -> str:
    """What stays when lines before it come or go. Equal ones of a file are numbered."""
    said = (uri(finding.file), finding.rule, finding.method, finding.path, finding.schema, finding.message)
    return sha256(ascii_json(said).encode("ascii")).hexdigest()[:32]


def _notifications(report: Report, rests: Rests) -> dict[str, Any]:
    told: list[dict[str, Any]] = []
    if report.partial is not None:
        told.append({"level": "warning", "message": {"text": harmless(report.partial)}})
    for group in rests.without:
        rule = {"associatedRule": {"id": group.rule}} if group.rule in report.rules else {}
        told.append({"level": group.severity, "message": {"text": harmless(counted_only(group))}, **rule})
    return {"toolExecutionNotifications": told} if told else {}
