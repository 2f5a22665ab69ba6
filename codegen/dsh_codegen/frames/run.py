"""From logs to a report, with whoever is there to do the work."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from msgspec.structs import replace

from .engine import Joiner, Submit, Task, Todo, Work, one_by_one, reading, side_by_side
from .findings import Finding
from .groups import Group, alike
from .plan import Log
from .report import Report
from .revision import choose, sampled
from .setup import Setup
from .words import rules

if TYPE_CHECKING:
    from .envelope import Envelope


class Workers(Protocol):
    """Whoever is to do the work."""

    @property
    def ships(self) -> bool:
        """Whether the contents of files may be sent to them; else they read files by themselves."""
        ...

    def __call__(self, setup: Setup) -> AbstractContextManager[tuple[Submit, int]]:
        """Starts them, and says how many things they do at a time."""
        ...


Told: TypeAlias = "Callable[[Work, Iterable[Finding]], None]"
"""Is told of all work that is done, and what was found by it."""


class Run:
    """One inspection of logs. `setups` are the same but for the revision, oldest first, at least one.

    The report does not depend on who does the work: `workers`, or without them this process alone.
    """

    def __init__(self, setups: Sequence[Setup], workers: Workers | None, told: Told) -> None:
        self._setups = setups
        self._workers = workers
        self._told = told

    def over(self, logs: Sequence[Log]) -> Report:
        """The report on all `logs`. Ctrl-C ends the work, and the report covers what was done. Raises `InputError`."""
        todo = Todo(logs, self._setups[0])
        best, candidates = 0, [0]
        taken: Sequence[Task] = ()
        if len(self._setups) > 1:
            taken, sample = sampled(todo)
            best, candidates = choose(self._setups, sample)
            if all(task.file.kind != "stream" for task in taken):  # it can be read again, by whoever is to
                taken, todo = (), Todo(logs, self._setups[0])
        if self._workers is not None:
            todo.together, todo.ships = True, self._workers.ships
        return self._report(best, candidates, chain(taken, todo), endless=False)

    def following(self, logs: Sequence[Log], more: Iterator[Task]) -> Report:
        """The report on `logs` that grow: `more` tells what comes of them until somebody, with Ctrl-C, has enough."""
        best, candidates = 0, [0]
        if len(self._setups) > 1:  # by what is there already: one does not want to wait for more
            best, candidates = choose(self._setups, sampled(Todo(logs, self._setups[0]))[1])
        return self._report(best, candidates, more, endless=True)

    def _report(self, best: int, candidates: Sequence[int], todo: Iterator[Work], *, endless: bool) -> Report:
        setup = self._setups[best]
        envelope = setup.envelope
        joiner = Joiner(setup, one_log_at_a_time=not endless)
        interrupted = False
        try:
            with closing(self._examined(setup, todo)) as examined:
                for work, result in examined:
                    with reading(work):
                        found = joiner.join(work, result)
                    self._told(work, found if envelope is None else map(envelope.placed, found))
        except KeyboardInterrupt:
            interrupted = True
        outcome = joiner.finish(ended=not interrupted)
        groups = outcome.groups.ordered()
        return Report(
            revision=setup.protocol.revision,
            summary=outcome.summary,
            groups=groups if envelope is None else [_placed(group, envelope) for group in groups],
            files=outcome.groups.files,
            candidates=tuple(self._setups[index].protocol.revision for index in candidates),
            partial=f"interrupted after {outcome.summary.frames:,} frames" if interrupted and not endless else None,
            observed=outcome.observed,
            sequencing=rules(setup.sequencing),
            strict=setup.strict,
        )

    def _examined(self, setup: Setup, todo: Iterable[Work]) -> Generator[tuple[Work, Any]]:
        if self._workers is None:
            yield from one_by_one(todo)
            return
        with self._workers(setup) as (submit, count):
            yield from side_by_side(todo, submit, count)


def _placed(group: Group, envelope: Envelope) -> Group:
    """A group with paths that are counted from the line."""
    if not group.path:  # it is of further kinds
        return group
    path = alike(envelope.path(group.rule, group.path))
    return replace(group, path=path, findings=list(map(envelope.placed, group.findings)))
