"""The runtime for asyncio. `dsh_runtime.blocking` has the same names for threads: the import path chooses."""

from __future__ import annotations

from ..connection import Observer
from .client import HarnessClient
from .harness import DeepSeekHarness, Session
from .streams import PipeReader, PipeWriter, open_reader, open_writer
from .subscription import Subscription
from .transport import JsonRpcLineTransport

__all__ = [
    "DeepSeekHarness",
    "HarnessClient",
    "JsonRpcLineTransport",
    "Observer",
    "PipeReader",
    "PipeWriter",
    "Session",
    "Subscription",
    "open_reader",
    "open_writer",
]
