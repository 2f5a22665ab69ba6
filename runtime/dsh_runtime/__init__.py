"""Both ends of the DeepSeek Harness SDK protocol: transports, client and server.

`dsh_runtime.aio` is for asyncio, `dsh_runtime.blocking` for threads; they have the same names. What both share is here: how a
runtime is launched, what a prompt holds, what a run gives back, and what can go wrong.
"""

from __future__ import annotations

from .activity import PromptReceipt, RunResult
from .capture import CaptureLog
from .content import image_block
from .errors import (
    HarnessError,
    JsonRpcResponseError,
    LocalProtocolError,
    ProtocolError,
    RemoteProtocolError,
    SubscriptionOverflowError,
    TransportClosedError,
)
from .launch import ClosingTimes, Launch
from .routing import HarnessNotification, UndecodedEvent

__all__ = [
    "CaptureLog",
    "ClosingTimes",
    "HarnessError",
    "HarnessNotification",
    "JsonRpcResponseError",
    "Launch",
    "LocalProtocolError",
    "PromptReceipt",
    "ProtocolError",
    "RemoteProtocolError",
    "RunResult",
    "SubscriptionOverflowError",
    "TransportClosedError",
    "UndecodedEvent",
    "image_block",
]
