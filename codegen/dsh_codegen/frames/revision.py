"""Which revision a log is of: the one that fits the beginning of the input best.

Nothing in a frame tells its revision, so the frames decide: fewest that don't fit (they are invalid, call methods of other
revisions only, or have undeclared members or tags), then fewest that are worse than undeclared, then newest. If all these are
equal, the log fits several revisions and the report says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from .engine import Joiner, Task, Work
from .sequencing import EMPTY
from .setup import Setup
from .source import Piece
from .summary import Summary

SAMPLE: Final = 4 * 1024 * 1024
"""Bytes of the input that are looked at; all of it, if it is not longer."""


def sampled(todo: Iterator[Work], size: int = SAMPLE) -> tuple[list[Task], list[Task]]:
    """Takes the tasks that cover the first `size` bytes; and the same tasks, the last one cut short if that can be done."""
    taken: list[Task] = []
    sample: list[Task] = []
    while size > 0 and isinstance(task := next(todo, None), Task):
        taken.append(task)
        piece = task.piece
        if isinstance(piece, Piece) and piece.data is None and task.size > size:
            sample.append(replace(task, piece=replace(piece, end=piece.start + size)))
        else:
            sample.append(task)
        size -= task.size
    return taken, sample


def choose(setups: Sequence[Setup], sample: Iterable[Task]) -> tuple[int, list[int]]:
    """The revision that fits the sample, and all that fit as well as it does, as indexes of `setups` (oldest first).

    The setups are those for judging; the sample is only counted.
    """
    counting = [
        replace(each, sequencing=EMPTY, count_undeclared=True, explain=False, strict=False, observe=False) for each in setups
    ]
    joiners = [Joiner(setup) for setup in counting]
    for task in sample:
        for joiner in joiners:
            joiner.join(task, None)
    misfits = [_misfits(joiner.finish(ended=False).summary) for joiner in joiners]
    least = min(misfits)
    candidates = [index for index, misfit in enumerate(misfits) if misfit == least]
    return candidates[-1], candidates


def _misfits(summary: Summary) -> tuple[int, int]:
    """How badly frames fit: what does not fit in any way, and what is wrong or belongs to another revision."""
    wrong = summary.invalid + summary.elsewhere
    return wrong + summary.undeclared, wrong
