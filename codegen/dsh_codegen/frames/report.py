"""The result of judging logs: a value, whatever it is rendered to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from .findings import RULES, Finding, Rule
from .groups import Group, about_order
from .summary import Summary

if TYPE_CHECKING:
    from .observed import Observed

_STRICT: Final = "strict/"


class Report(Struct, frozen=True):
    """What logs amount to under `revision`.

    `groups` are the findings, those alike together, in the order of their first occurrence; `files` says where in the input
    each file with findings stands. `candidates` are the revisions
    that fit the logs best, oldest first; more than one: the logs do not tell which it is, and `revision` is the newest of them.
    `partial` says, in a sentence, why only a part of the input is covered. `sequencing` are the rules on the order of frames
    that hold for the revision, by id. `strict`: what goes beyond the protocol was looked for, too.
    """

    revision: str
    summary: Summary
    groups: Sequence[Group]
    files: Mapping[str, int]
    candidates: tuple[str, ...] = ()
    partial: str | None = None
    observed: Observed | None = None
    sequencing: Mapping[str, Rule] = field(default_factory=dict[str, Rule])
    strict: bool = False

    @property
    def ambiguous(self) -> bool:
        """Whether the logs fit several revisions equally well."""
        return len(self.candidates) > 1

    @property
    def rules(self) -> Mapping[str, Rule]:
        """Every rule that was checked, by its id."""
        always = {name: rule for name, rule in RULES.items() if self.strict or not name.startswith(_STRICT)}
        return {**always, **self.sequencing}

    def findings(self) -> Iterator[Finding]:
        """The findings that are listed, in the order of the input: by file, then by line; what is about its place comes
        last."""
        listed = (finding for group in self.groups for finding in group.findings)
        yield from sorted(listed, key=lambda finding: (self.files[finding.file], finding.line, about_order(finding.rule)))
