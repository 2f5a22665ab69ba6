"""The server's side of the protocol, for asyncio.

What is here:

    HarnessSdkServer    speaks the protocol over two streams, for a `Host`
    Host, Agent, ...    what a program implements to be served (`host`); `dsh_runtime.embedded` is one
    Adapter, ...        what talks to a model (`adapters`)
    serve_stdio         all of it over standard input and output, as a process (`process`)
"""

from __future__ import annotations

from .adapters import (
    DEEPSEEK,
    Adapter,
    Adapters,
    Finish,
    ModelError,
    ModelInfo,
    ModelRequest,
    Piece,
    Reasoning,
    Route,
    Text,
    ToolCall,
    Usage,
)
from .attachments import AttachmentStore, ImageLimits, MemoryAttachmentStore, Upload
from .host import Agent, Host, Listener, RunEnd, SessionStatus, SubagentRun
from .process import serve_stdio
from .server import REVISIONS, HarnessSdkServer
from .service import TeardownError
from .stdio import StandardStreams

__all__ = [
    "DEEPSEEK",
    "REVISIONS",
    "Adapter",
    "Adapters",
    "Agent",
    "AttachmentStore",
    "Finish",
    "HarnessSdkServer",
    "Host",
    "ImageLimits",
    "Listener",
    "MemoryAttachmentStore",
    "ModelError",
    "ModelInfo",
    "ModelRequest",
    "Piece",
    "Reasoning",
    "Route",
    "RunEnd",
    "SessionStatus",
    "StandardStreams",
    "SubagentRun",
    "TeardownError",
    "Text",
    "ToolCall",
    "Upload",
    "Usage",
    "serve_stdio",
]
