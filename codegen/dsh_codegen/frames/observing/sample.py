"""Tables of names that a log may have any number of, in bounded memory.

What is kept must not depend on how the input was cut. "The first thousand names" would: a later piece of the input doesn't know
which names came first, and can't keep all of its own. So names are chosen by a hash of themselves: a name that is chosen in the
whole is chosen in each part that has it, its count is never lost, and parts merge exactly. Up to the limit all are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, Protocol, Self, TypeVar

from ..wording import LONGEST_VALUE

Key = tuple[str, ...]
"""What an entry is known by. All but the last part name its group."""


class Entry(Protocol):
    """What is known of a name."""

    @property
    def count(self) -> int:
        """How often it was seen."""
        ...

    def merge(self, other: Self, /) -> None:
        """Add what was seen elsewhere, later in the input."""
        ...

    def moved(self, file: str | None, lines: int, /) -> Self:
        """A copy with its place in `file`, `lines` further down, unless its file is known already."""
        ...


V = TypeVar("V", bound=Entry)


def shortened(text: str, *, unique: bool = False) -> str:
    """`text`, or its beginning if it is long; with `unique` followed by a hash, so that two texts don't become one."""
    if len(text) <= LONGEST_VALUE:
        return text
    if unique:
        return f"{text[: LONGEST_VALUE - 18]}…{hash64(text):016x}"
    return f"{text[: LONGEST_VALUE - 1]}…"


def hash64(text: str) -> int:
    """64 bits that stand for a text, on every machine the same."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


@dataclass(slots=True)
class Sample(Generic[V]):
    """Entries by key, `limit` of them at the most once it is `cut`. `left_out`: how often the others were seen.

    Each group gets its fair share: of two groups with more names than there is room for, half of the room.
    """

    limit: int
    entries: dict[Key, V] = field(default_factory=dict[Key, V])
    left_out: int = 0

    def get(self, key: Key) -> V | None:
        """The entry of a name, if there is one."""
        return self.entries.get(key)

    def put(self, key: Key, entry: V) -> None:
        """A name that has no entry. Twice `limit` entries may be there in between."""
        if len(self.entries) >= 2 * self.limit:
            self.cut()
        self.entries[key] = entry

    def merge(self, other: Sample[V], file: str | None, lines: int) -> None:
        """Add what comes later in the input: in `file`, with `lines` lines before it, where that isn't known already."""
        for key, entry in other.entries.items():
            there = self.entries.get(key)
            moved = entry.moved(file, lines)
            if there is None:
                self.entries[key] = moved
            else:
                there.merge(moved)
        self.left_out += other.left_out
        self.cut()

    def cut(self) -> None:
        """Drop what is over the limit."""
        if len(self.entries) <= self.limit:
            return
        kept = set(self._chosen())
        for key in [key for key in self.entries if key not in kept]:
            self.left_out += self.entries.pop(key).count

    def _chosen(self) -> Iterator[Key]:
        groups: dict[Key, list[tuple[int, Key]]] = {}
        for key in self.entries:
            groups.setdefault(key[:-1], []).append((hash64("\n".join(key)), key))
        ranked: list[tuple[int, int, Key]] = []
        for members in groups.values():
            members.sort()
            ranked += [(rank, number, key) for rank, (number, key) in enumerate(members)]
        ranked.sort()
        return (key for _, _, key in ranked[: self.limit])


@dataclass(slots=True)
class Distinct:
    """How many different texts there are: exactly up to `limit`, an estimate beyond.

    It keeps the `limit` smallest hashes. With 65,536 of them the estimate is off by 0.4 % (one standard deviation).
    """

    limit: int = 1 << 16
    hashes: set[int] = field(default_factory=set[int])

    def add(self, text: str) -> None:
        """Count a text, once."""
        self.hashes.add(hash64(text))
        if len(self.hashes) >= 2 * self.limit:
            self.cut()

    def merge(self, other: Distinct) -> None:
        """Add what was counted elsewhere."""
        self.hashes |= other.hashes
        self.cut()

    def cut(self) -> None:
        """Drop what is over the limit."""
        if len(self.hashes) > self.limit:
            self.hashes = set(sorted(self.hashes)[: self.limit])

    @property
    def exact(self) -> bool:
        """Whether `count` is no estimate."""
        return len(self.hashes) < self.limit

    @property
    def count(self) -> int:
        """How many there are."""
        if self.exact:
            return len(self.hashes)
        return (self.limit - 1) * 2**64 // max(self.hashes)
