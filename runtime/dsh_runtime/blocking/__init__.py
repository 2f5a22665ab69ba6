"""The runtime for threads. `dsh_runtime.aio` has the same names for asyncio: the import path chooses."""

from __future__ import annotations

from ..connection import Observer
from .call import PendingCall
from .client import HarnessClient
from .harness import DeepSeekHarness, Session
from .subscription import Subscription
from .transport import JsonRpcLineTransport

__all__ = ["DeepSeekHarness", "HarnessClient", "JsonRpcLineTransport", "Observer", "PendingCall", "Session", "Subscription"]
