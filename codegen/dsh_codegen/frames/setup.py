"""How logs are to be judged: the one value that every worker needs, wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from .arguments import Opener, is_url
from .groups import LISTED
from .protocol import Protocol
from .rows import MAX_LINE
from .sequencing import EMPTY, Sequencing
from .source import open_local

if TYPE_CHECKING:
    from .envelope import Envelope
    from .observed import Observer


@dataclass(frozen=True, slots=True)
class Setup:
    """How logs are to be judged. It can be pickled.

    `strict` makes errors of warnings and findings of undeclared members; `count_undeclared` counts frames that have any without
    that. `explain` False: only counts are wanted. `observe` looks for what the schema does not say. `quick` False: every
    line takes the long way, with the same outcome. `max_line` is in bytes; `listed` findings are kept of each group. `opener`
    reads files of other machines. `envelope` says where frames stand in lines that are neither bare frames nor capture rows;
    such lines take the long way.
    """

    protocol: Protocol
    sequencing: Sequencing = EMPTY
    strict: bool = False
    count_undeclared: bool = False
    explain: bool = True
    observe: bool = False
    quick: bool = True
    max_line: int = MAX_LINE
    listed: int = LISTED
    opener: Opener | None = None
    envelope: Envelope | None = None

    def open(self, url: str, stop: int | None = None) -> BinaryIO:
        """Opens a file, wherever it is. `stop`: hardly more than the bytes before it are read."""
        return open_local(url) if self.opener is None or not is_url(url) else self.opener.open(url, stop)

    def observer(self) -> Observer | None:
        """What looks at the frames of one piece for `--report`."""
        if not self.observe:
            return None
        from .observed import Observer

        return Observer(self.protocol, self.sequencing)
