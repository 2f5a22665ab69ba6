"""Sizes, rates and times of answers, in whole numbers: microseconds and nanoseconds add up in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..wording import Json
from .histogram import Histogram

_MOST_SECONDS: Final = 1e11
"""Times beyond this, the year 5138, are no times."""


def microseconds(seconds: Json) -> int | None:
    """A time of a capture row; None if it is none."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not abs(seconds) < _MOST_SECONDS:
        return None
    return round(seconds * 1_000_000)


@dataclass(slots=True)
class Traffic:
    """Frames of one method and kind: the length of their lines in bytes, and how many of them have a time."""

    sizes: Histogram = field(default_factory=Histogram)
    timed: int = 0

    def add(self, size: int, *, timed: bool) -> None:
        """Count a frame."""
        self.sizes.add(size)
        self.timed += timed

    def merge(self, other: Traffic) -> None:
        """Add what was counted elsewhere."""
        self.sizes.merge(other.sizes)
        self.timed += other.timed

    def per_second(self, elapsed: int) -> float | None:
        """Frames with a time per second of `elapsed` microseconds; None without any."""
        return round(self.timed * 1_000_000 / elapsed, 3) if self.timed and elapsed else None


@dataclass(slots=True)
class Latency:
    """How long answers took, in nanoseconds. `backwards`: answers recorded before their requests, which count no further."""

    times: Histogram = field(default_factory=Histogram)
    backwards: int = 0

    def add(self, nanoseconds: int) -> None:
        """Count an answer."""
        if nanoseconds < 0:
            self.backwards += 1
        else:
            self.times.add(nanoseconds)

    def merge(self, other: Latency) -> None:
        """Add what was counted elsewhere."""
        self.times.merge(other.times)
        self.backwards += other.backwards


@dataclass(slots=True)
class Clock:
    """The time that logs span, in microseconds: `closed` that of ended logs, `first` and `last` of the present one."""

    closed: int = 0
    first: int | None = None
    last: int | None = None

    def add(self, time: int) -> None:
        """A frame was recorded at that time; times may come in any order."""
        if self.first is None or time < self.first:
            self.first = time
        if self.last is None or time > self.last:
            self.last = time

    def merge(self, other: Clock) -> None:
        """Add another part of the present log, or logs that have ended."""
        self.closed += other.closed
        for time in (other.first, other.last):
            if time is not None:
                self.add(time)

    @property
    def elapsed(self) -> int:
        """The time that all logs span, one after the other."""
        return self.closed + (self.last - self.first if self.first is not None and self.last is not None else 0)

    def end_of_log(self) -> None:
        """The next time is that of another log."""
        self.closed = self.elapsed
        self.first = self.last = None
