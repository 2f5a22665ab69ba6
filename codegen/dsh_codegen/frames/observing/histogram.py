"""Distributions in bounded memory: how long lines are, how long answers take.

A `Histogram` counts whole numbers in buckets that grow with the number, so percentiles are estimates; all else is exact. Only
integers are added up, so histograms of parts merge into that of the whole, in any order and bit for bit.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

ERROR: Final = 1 / 128
"""How far a percentile may be off, relative to the true one: 0.8 %. Numbers below 128 are exact."""

_BITS: Final = 6
"""A bucket holds the numbers that agree in their first 1 + `_BITS` binary digits."""
_LARGEST: Final = 2**63 - 1


@dataclass(slots=True)
class Histogram:
    """Counted numbers: how many, their sum, the smallest, the largest (both None if there are none), and the buckets.

    At most 3,712 buckets, however many numbers.
    """

    count: int = 0
    total: int = 0
    least: int | None = None
    most: int | None = None
    buckets: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, value: int) -> None:
        """Count a number from 0 on. Those of 2^63 and more count as the largest below."""
        if value > _LARGEST:
            value = _LARGEST
        self.count += 1
        self.total += value
        if self.least is None or value < self.least:
            self.least = value
        if self.most is None or value > self.most:
            self.most = value
        drop = value.bit_length() - _BITS - 1
        bucket = value if drop <= 0 else (drop << _BITS) + (value >> drop)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + 1

    def merge(self, other: Histogram) -> None:
        """Add what was counted elsewhere."""
        if other.least is None or other.most is None:
            return
        self.count += other.count
        self.total += other.total
        self.least = other.least if self.least is None else min(self.least, other.least)
        self.most = other.most if self.most is None else max(self.most, other.most)
        for bucket, count in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count

    def percentile(self, percent: int) -> int | None:
        """The least number that `percent` (1 to 100) percent of all do not exceed, within `ERROR`; None if there are none."""
        if self.least is None or self.most is None:
            return None
        wanted = -(-self.count * percent // 100)
        ordered = sorted(self.buckets)
        reached = list(accumulate(self.buckets[bucket] for bucket in ordered))
        value = _middle(ordered[bisect_left(reached, wanted)])
        return min(max(value, self.least), self.most)


def _middle(bucket: int) -> int:
    drop = max(0, (bucket >> _BITS) - 1)
    return ((bucket - (drop << _BITS)) << drop) + (1 << drop >> 1)
