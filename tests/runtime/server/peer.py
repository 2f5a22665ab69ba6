"""A server and a client of it in one event loop, over pipes in memory, and everything that went over them."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Final, ParamSpec

import pytest

import dsh_protocol
from dsh_codegen.frames.examine import examine
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.sequencing import load_sequencing
from dsh_codegen.frames.setup import Setup
from dsh_codegen.frames.source import Piece as LogPiece
from dsh_codegen.frames.stream import Stream
from dsh_runtime import JsonRpcResponseError
from dsh_runtime.aio import JsonRpcLineTransport
from dsh_runtime.embedded import EchoAdapter, EmbeddedHost
from dsh_runtime.server import Adapters, HarnessSdkServer, Host, ModelRequest, Piece

P = ParamSpec("P")
Frame = dict[str, Any]

SEQUENCING: Final = Path(__file__).parents[3] / "schema" / "sequencing.json"
PATIENCE: Final = 20.0
ROUTE: Final[Frame] = {"cwd": "/tmp", "provider": "echo", "model": "m"}


def asynchronous(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that runs in an event loop of its own, and leaves no task behind."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(PATIENCE):
                await test(*args, **kwargs)
            for _ in range(3):  # what was cancelled gets its turn
                await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(bounded())

    return run


class Pipe:
    """The writing end of a pipe in memory. A full one keeps its writer waiting until `free` is set."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()
        self.free = asyncio.Event()
        self.free.set()
        self.drained: Callable[[], Awaitable[None]] | None = None

    def write(self, data: bytes, /) -> None:
        self.reader.feed_data(data)

    async def drain(self) -> None:
        await self.free.wait()
        if self.drained is not None:
            await self.drained()


class Peer:
    """Both ends. `told` are the frames of the server in the order of the wire; `rows` those of both sides, as a capture."""

    def __init__(self, host: Host | None = None, revision: str = "0.1.5", **options: Any) -> None:
        self.host: Any = EmbeddedHost(revision) if host is None else host
        self.exits: list[int] = []
        self.told: list[Frame] = []
        self.rows: list[Frame] = []
        self.to_server, self.to_client = Pipe(), Pipe()
        self._news = asyncio.Event()
        self.server = HarnessSdkServer(
            self.host,
            self.to_server.reader,
            self.to_client,
            exit=self._exited,
            revision=revision,
            observer=self._observe,
            **options,
        )
        self.client = JsonRpcLineTransport(self.to_client.reader, self.to_server)

    async def __aenter__(self) -> Peer:
        await self.server.start()
        await self.client.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            async with asyncio.timeout(PATIENCE / 4):  # a test that failed may have left something waiting
                await self.server.close()
        finally:
            await self.host.dispose()
            await self.client.close()

    async def request(self, method: str, params: Any = None) -> Any:
        return await self.client.request(method, params)

    async def refusal(self, method: str, params: Any = None) -> str:
        """The text of the error that a request gets (rule S10)."""
        with pytest.raises(JsonRpcResponseError) as caught:
            await self.client.request(method, params)
        assert (caught.value.code, caught.value.data) == (-32603, None)
        return caught.value.message

    async def initialize(self, **changes: Any) -> Any:
        return await self.request("initialize", {**ROUTE, **changes})

    async def prompt(self, *texts: str, session: str = "s") -> Any:
        blocks = [{"type": "text", "text": text} for text in texts]
        return await self.request("session/prompt", {"sessionId": session, "contentBlocks": blocks})

    async def run(self, text: str, session: str = "s") -> Any:
        """Prompt, and wait for the agent to be idle again. Returns the answer to the prompt."""
        idle = self.count("idle", session)
        result = await self.prompt(text, session=session)
        await self.until(lambda: self.count("idle", session) > idle)
        return result

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for something that frames of the server bring about."""
        while not condition():
            self._news.clear()
            await self._news.wait()

    def count(self, status: str, session: str) -> int:
        return sum(frame["params"] == {"sessionId": session, "status": status} for frame in self.notified("session.status"))

    def notified(self, method: str) -> list[Frame]:
        return [frame for frame in self.told if frame.get("method") == method]

    def events(self, session: str = "s", kind: str | None = None) -> list[Frame]:
        told = [frame["params"]["event"] for frame in self.notified("session.event") if frame["params"]["sessionId"] == session]
        return [event for event in told if kind in (None, event["type"])]

    def notifications(self) -> list[Frame]:
        """The rows of a capture that are notifications of the server."""
        return [row for row in self.rows if row["dir"] == "s2c" and "method" in row["frame"]]

    def story(self) -> list[str]:
        """What the server told, in short: event types, statuses, methods, and `response`."""
        return [_short(frame) for frame in self.told]

    def _observe(self, direction: str, line: bytes, frame: Any, reason: str | None) -> None:
        value = json.loads(line)
        self.rows.append({"ts": 0.0, "dir": "s2c" if direction == "out" else "c2s", "frame": value})
        if direction == "out":
            self.told.append(value)
            self._news.set()

    def _exited(self, code: int) -> None:
        self.exits.append(code)
        self._news.set()


def _short(frame: Frame) -> str:
    match frame:
        case {"method": "session.event", "params": {"event": {"type": kind, "data": {"removedCount": _}}}}:
            return f"{kind} -"
        case {"method": "session.event", "params": {"event": {"type": str(kind)}}}:
            return kind
        case {"method": "session.status", "params": {"status": str(status)}}:
            return status
        case {"method": str(method)}:
            return method
        case _:
            return "error" if "error" in frame else "response"


def findings(rows: list[Frame], revision: str) -> list[str]:
    """What `dsh-codegen validate --strict` says about a capture."""
    package = dsh_protocol.revision(revision)
    assert package.__file__
    bundle = json.loads((Path(package.__file__).parent / "schema.json").read_text(encoding="utf-8"))
    text = b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    table = json.loads(SEQUENCING.read_text(encoding="utf-8"))
    setup = Setup(Protocol(revision, bundle), load_sequencing(table, revision), strict=True, listed=1000)
    stream = Stream(setup, examine)
    stream.open("capture")
    piece = LogPiece("capture", "capture", 0, None, text)
    return [str(finding) for finding in stream.add(piece, examine(setup, piece, stream.pending()))]


class GatedAdapter(EchoAdapter):
    """A model that answers when it is let: `asked` counts requests, `gate` lets them through."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.asked = asyncio.Semaphore(0)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        self.asked.release()
        await self.gate.wait()
        async for piece in super().stream(request):
            yield piece


def gated(revision: str = "0.1.5", **options: Any) -> tuple[Peer, GatedAdapter]:
    adapter = GatedAdapter()
    return Peer(EmbeddedHost(revision, adapters=Adapters(adapter)), revision, **options), adapter
