"""The result of judging a log: a value, whatever it is rendered to.

Findings may be many: a `Spool` keeps them in a temporary file once they are more than a megabyte, and reads them back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Final

from .findings import Finding
from .summary import Summary

_IN_MEMORY: Final = 1 << 20


class Spool:
    """Findings in order, in constant memory. Closing it drops them."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY, mode="w+", encoding="ascii", newline="\n")  # noqa: SIM115

    def extend(self, findings: Iterable[Finding]) -> None:
        """Add findings at the end."""
        for finding in findings:
            self._file.write(json.dumps(astuple(finding)) + "\n")

    def __iter__(self) -> Iterator[Finding]:
        self._file.seek(0)
        for line in self._file:
            yield Finding(*json.loads(line))

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()


@dataclass(frozen=True, slots=True)
class Report:
    """What a log amounts to under `revision`.

    `candidates` are the revisions that fit the log best, oldest first. More than one: the log does not tell which it is, and
    `revision` is the newest of them.
    """

    revision: str
    summary: Summary
    findings: Iterable[Finding]
    candidates: tuple[str, ...] = ()

    @property
    def ambiguous(self) -> bool:
        """Whether the log fits several revisions equally well."""
        return len(self.candidates) > 1
