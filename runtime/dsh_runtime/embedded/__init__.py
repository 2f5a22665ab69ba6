"""A small host in memory, with a model that echoes: what `dsh-runtime` serves, and what tests and demonstrations talk to.

host      `EmbeddedHost`: the sessions and their agents
agent     an inbox, turns one after the other, children
turn      steps: a model request each, and tools
echo      `EchoAdapter`: the model; its directives make everything happen that a protocol test wants to see
answer    what a model says, piece by piece
journal   the log of a session
scribe    how a revision writes events; `scribe_2026_07_29` for that one
"""

from __future__ import annotations

from .echo import EchoAdapter
from .host import EmbeddedHost

__all__ = ["EchoAdapter", "EmbeddedHost"]
