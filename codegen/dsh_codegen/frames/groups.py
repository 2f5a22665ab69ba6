"""Findings that are alike, counted together: a log may break one rule a million times, and the report stays short.

Alike are findings of the same rule, method, schema and path, whatever the indexes in the path. Of each group the first few
findings are kept, in the order of the input. Groups of parts of a log merge in order; memory is bounded by `MOST_GROUPS` times
the findings listed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from .findings import Finding, Severity

LISTED: Final = 20
"""The default for the findings that are listed of each group."""
MOST_GROUPS: Final = 1000
OTHER: Final = "(other)"
"""The rule of the group that counts what would have begun one group too many."""

_INDEX: Final = re.compile(r"\[\d+\]")


class Key(NamedTuple):
    """What alike findings have in common."""

    rule: str
    severity: Severity
    method: str | None
    path: str
    schema: str | None


class Group(Struct):
    """Findings alike: `count` of them, the first few listed."""

    rule: str
    severity: Severity
    method: str | None
    path: str
    schema: str | None
    count: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])

    @property
    def unlisted(self) -> int:
        """How many findings are counted, but not listed."""
        return self.count - len(self.findings)


def key_of(finding: Finding) -> Key:
    """The group that a finding belongs to."""
    return Key(finding.rule, finding.severity, finding.method, alike(finding.path), finding.schema)


def alike(path: str) -> str:
    """What a path has in common with others: any index is `[*]`."""
    return _INDEX.sub("[*]", path)


def about_order(rule: str) -> str:
    """Sorts findings of one line: those about the order of frames, of which some are found later than others, by rule at the
    end."""
    return rule if rule.startswith("sequence/") else ""


class Groups:
    """The groups of one log, or of a part of one. `listed`: how many findings of each are kept."""

    def __init__(self, listed: int = LISTED) -> None:
        self.listed: Final = listed
        self.files: dict[str, int] = {}
        """Where each file with findings stands in the input."""
        self._by_key: dict[Key, Group] = {}

    def __iter__(self) -> Iterator[Group]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)

    def add(self, finding: Finding, count: int = 1) -> None:
        """Count a finding (for `count` alike, that come later), and list it if there is room, in the order of the input."""
        group = self._group(key_of(finding))
        group.count += count
        if len(group.findings) < self.listed and group.rule != OTHER:
            group.findings.append(finding)

    def _group(self, key: Key) -> Group:
        found = self._by_key.get(key)
        if found is None and len(self._by_key) >= MOST_GROUPS:
            key = Key(OTHER, key.severity, None, "", None)
            found = self._by_key.get(key)
        if found is None:
            found = self._by_key[key] = Group(*key)
        return found

    def weave(self, late: Groups) -> None:
        """Add what was found out about the same lines only when the rest was known: each finding in its place by line."""
        for key, other in late._by_key.items():
            group = self._group(key)
            group.count += other.count
            if group.rule != OTHER:
                group.findings = sorted([*group.findings, *other.findings], key=lambda each: each.line)[: self.listed]

    def ordered(self) -> list[Group]:
        """The groups by first occurrence in the input."""
        return sorted(self._by_key.values(), key=self._first)

    def _first(self, group: Group) -> tuple[float, int, str]:
        if not group.findings:
            return (math.inf, 0, "")
        return (self.files[group.findings[0].file], group.findings[0].line, about_order(group.rule))

    def shifted(self, lines: int) -> Groups:
        """The same with line numbers that count `lines` more lines before them. Line 0 stays: it is the whole file."""
        moved = Groups(self.listed)
        moved.files = self.files
        for key, group in self._by_key.items():
            findings = [replace(each, line=each.line + lines) if each.line else each for each in group.findings]
            moved._by_key[key] = replace(group, findings=findings)
        return moved

    def merge(self, later: Groups, files_before: int = 0) -> None:
        """Add the groups of what comes later in the input; its files are numbered from `files_before`."""
        self.files.update((file, number + files_before) for file, number in later.files.items())
        for key, other in later._by_key.items():
            group = self._group(key)
            group.count += other.count
            if group.rule != OTHER:
                group.findings += other.findings[: self.listed - len(group.findings)]
