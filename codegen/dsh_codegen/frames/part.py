"""What examining one piece of a log gives: everything the rest of the log needs to know of it, and nothing that it has to
re-read.

Lines are counted from 1 in each part.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from .frame import IdKey
from .groups import Groups
from .paths import Scalar
from .pending import Pending
from .summary import Summary
from .track import Breach, Track

if TYPE_CHECKING:
    from .observed import Observed


class Late(Struct, frozen=True):
    """A response whose request lies before this part: judged when the parts are put together.

    `data` is its line, which begins at byte `offset` of the file. `alike`: a request waits in this part whose id differs only
    in its JSON type. `conversation`: how many have begun in the part before it.
    """

    line: int
    offset: int
    data: bytes
    terminated: bool
    alike: bool
    conversation: int


class Breaches:
    """Neighbours in a part that a rule does not allow, counted by rule and event; of each the first `listed`, one at least.

    They become findings when the parts are joined: only then it is known in which lines they are.
    """

    def __init__(self, listed: int) -> None:
        self._most = max(listed, 1)
        self._found: dict[tuple[int, Scalar, bool], tuple[list[Breach], list[int]]] = {}

    def add(self, breach: Breach, *, rising: bool) -> None:
        """Add one. Of a rule on `rising` values all are alike, whatever the value."""
        kind = (breach.rule, "" if rising else breach.event, breach.headless)
        first, count = self._found.setdefault(kind, ([], [0]))
        count[0] += 1
        if len(first) < self._most:
            first.append(breach)

    def __iter__(self) -> Iterator[tuple[Breach, int]]:
        """Those that are listed, each with how many it stands for."""
        for first, (count,) in self._found.values():
            yield from ((breach, 1) for breach in first[:-1])
            yield first[-1], count - len(first) + 1


class Part(Struct):
    """The outcome of one piece.

    `pending` are the requests that wait at its end, `asked` the ids of all its requests, `late` its responses without a
    request. With `whole` the piece was examined knowing what waits before it: then `pending` is all that waits, and nothing is
    late.
    """

    file: str
    groups: Groups
    track: Track
    breaches: Breaches
    summary: Summary = field(default_factory=Summary)
    lines: int = 0
    pending: Pending = field(default_factory=Pending)
    asked: set[IdKey] = field(default_factory=set[IdKey])
    late: list[Late] = field(default_factory=list[Late])
    whole: bool = False
    observed: Observed | None = None
