"""One pass over a log under several revisions at once, and which of them it is.

Nothing in a frame tells its revision, so the log decides: fewest findings and calls of methods that only other revisions have,
then fewest undeclared members and tags, then newest. If all these are equal, the log fits several revisions and the report says
so.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from .examine import Examiner
from .protocol import Protocol
from .report import Report, Spool
from .rows import MAX_LINE, InputError, Row, Source, read_rows
from .summary import Summary


@dataclass(frozen=True, slots=True)
class Log:
    """A file of frames. `open` opens it for reading, in a context that closes it."""

    name: str
    open: Callable[[], AbstractContextManager[Source]]


@contextmanager
def inspected(
    logs: Iterable[Log], protocols: Sequence[Protocol], *, strict: bool = False, max_line: int = MAX_LINE
) -> Generator[Report]:
    """The report on all `logs` together, under the one of `protocols` (oldest first, at least one) that fits them best.

    Its findings can be read while the context is open. Raises `InputError` if a file can't be read as a log.
    """
    several = len(protocols) > 1
    examiners = [Examiner(protocol, strict=strict, count_undeclared=several) for protocol in protocols]
    with ExitStack() as stack:
        spools = [stack.enter_context(Spool()) for _ in examiners]
        for log in logs:
            for examiner in examiners:
                examiner.open(log.name)
            for row in _rows(log, max_line):
                for examiner, spool in zip(examiners, spools, strict=True):
                    findings = examiner.examine(row)
                    if findings:
                        spool.extend(findings)
        best, candidates = choose([_misfits(each.summary) for each in examiners])
        yield Report(
            examiners[best].protocol.revision,
            examiners[best].summary,
            spools[best],
            tuple(examiners[index].protocol.revision for index in candidates),
        )


def _misfits(summary: Summary) -> tuple[int, int]:
    """How badly a log fits: what is wrong or belongs to another revision, then what is merely undeclared."""
    return summary.findings + summary.elsewhere, summary.undeclared


def choose(misfits: Sequence[tuple[int, int]]) -> tuple[int, list[int]]:
    """The revision that fits, and all that fit as well as it does, as indexes.

    `misfits` are those of each revision, oldest first.
    """
    least = min(misfits)
    candidates = [index for index, misfit in enumerate(misfits) if misfit == least]
    return candidates[-1], candidates


def _rows(log: Log, max_line: int) -> Iterator[Row]:
    try:
        with log.open() as source:
            yield from read_rows(source, max_line=max_line)
    except InputError as error:
        raise InputError(f"{log.name}: {error}") from error
    except OSError as error:
        raise InputError(f"{log.name}: {error.strerror or error}") from error
