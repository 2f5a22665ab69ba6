"""Names with a count and the place where each was seen first."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(slots=True)
class Seen:
    """How often, and where first. `file` None: a line of the piece that is being examined."""

    count: int
    line: int
    file: str | None = None

    def merge(self, other: Seen, /) -> None:
        """Add what was seen later in the input, or in other lines of the same file."""
        self.count += other.count
        if other.file == self.file and other.line < self.line:
            self.line = other.line

    def moved(self, file: str | None, lines: int, /) -> Seen:
        """A copy with its place in `file`, `lines` further down, unless its file is known already."""
        return replace(self) if self.file is not None else Seen(self.count, self.line + lines, file)
