"""What a log amounts to, in numbers. Summaries of parts of a log merge into the summary of the whole, in any order.

A *frame* is a line that holds, or should hold, one: every line but blank ones and the marker rows of a capture.

    valid     nothing is wrong with the frame itself
    invalid   at least one finding is about the frame itself; a line that can't be read as JSON is an invalid frame
    skipped   not looked at: a line longer than the limit, a file in another encoding (one frame, whatever is in it)
    frames    all of these: valid + invalid + skipped

A finding about the order of frames does not make one of them invalid: each is fine, they only don't belong there.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from .findings import Severity

OTHER_METHODS: Final = "(other)"
"""Stands for undeclared methods once `MOST_METHODS` names are counted: a log may hold any number of them."""
MOST_METHODS: Final = 1000


class MethodSummary(Struct):
    """The frames of one method: its requests or notifications, and the responses to it. `bytes`: the length of their lines."""

    count: int = 0
    invalid: int = 0
    bytes: int = 0

    def merge(self, other: MethodSummary) -> None:
        """Add what was counted elsewhere."""
        self.count += other.count
        self.invalid += other.invalid
        self.bytes += other.bytes


class Summary(Struct):
    """Counters of a log, or of a part of one.

    `errors`, `warnings` and `notes` count findings, of which a frame may have several; `elsewhere` counts calls of methods that
    only other revisions have, `undeclared` frames with members or tags that the schema does not know.
    """

    files: int = 0
    frames: int = 0
    valid: int = 0
    invalid: int = 0
    skipped: int = 0
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    elsewhere: int = 0
    undeclared: int = 0
    methods: dict[str, MethodSummary] = field(default_factory=dict[str, MethodSummary])

    @property
    def findings(self) -> int:
        """All findings, whatever their severity."""
        return self.errors + self.warnings + self.notes

    def tell(self, severity: Severity, count: int = 1) -> None:
        """Count findings."""
        match severity:
            case "error":
                self.errors += count
            case "warning":
                self.warnings += count
            case "note":
                self.notes += count

    def method(self, name: str) -> MethodSummary:
        """The counters of a method."""
        found = self.methods.get(name)
        if found is None:
            if len(self.methods) >= MOST_METHODS:
                name = OTHER_METHODS
            found = self.methods.setdefault(name, MethodSummary())
        return found

    def merge(self, other: Summary) -> None:
        """Add what was counted elsewhere."""
        self.files += other.files
        self.frames += other.frames
        self.valid += other.valid
        self.invalid += other.invalid
        self.skipped += other.skipped
        self.errors += other.errors
        self.warnings += other.warnings
        self.notes += other.notes
        self.elsewhere += other.elsewhere
        self.undeclared += other.undeclared
        for name, counted in other.methods.items():
            self.method(name).merge(counted)
