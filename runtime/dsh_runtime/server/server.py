"""`HarnessSdkServer`: one client, one connection, one host.

The life of a server:

    start      read and answer until the client asks for `shutdown` or the input ends
    shutdown   (by the client) end the forwarding, dispose of the agents, answer, flush, dispose of the host, `exit(0)`
    close      (by the owner) the same without an answer and without an exit: the host lives on

The end of the input and signals are the business of the program around it: see `process`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from dsh_protocol import ShutdownResult

from ..aio import JsonRpcLineTransport, Observer, PipeReader
from ..aio.streams import Reader, Writer
from .adapters import Adapter
from .host import Host
from .revision_0_1_5 import Revision
from .revision_0_2_1 import Revision021
from .revision_2026_07_29 import Revision20260729
from .service import Service

REVISIONS: Final[dict[str, type[Revision]]] = {each.name: each for each in (Revision20260729, Revision, Revision021)}
"""What the server can speak, oldest first."""

_log: Final = logging.getLogger("dsh_runtime")


class HarnessSdkServer:
    """Serves the SDK protocol over two streams, which stay the caller's own.

    `exit` is called with 0, once, after the answer to a successful `shutdown` was flushed; without it nothing happens then.
    `mount` makes the adapter for the provider `deepseek-official` if the host has none (rule S22). `max_tokens_as_success` is
    the option of rule S153. Raises `LookupError` for a revision that it can't speak.
    """

    def __init__(
        self,
        host: Host,
        input: Reader | PipeReader,  # noqa: A002 - the names of the protocol's seams
        output: Writer,
        *,
        exit: Callable[[int], object] | None = None,  # noqa: A002
        revision: str = Revision.name,
        max_tokens_as_success: bool = False,
        mount: Callable[[], Adapter] | None = None,
        observer: Observer | None = None,
    ) -> None:
        if revision not in REVISIONS:
            raise LookupError(f"no revision {revision!r}; there are {', '.join(REVISIONS)}")
        self.transport = JsonRpcLineTransport(input, output, observer=observer)
        self._exit = exit
        self._service = Service(host, mount)
        self._revision = REVISIONS[revision](self._service, self.transport.notify, max_tokens_as_success=max_tokens_as_success)
        self._requests = {**self._revision.requests(), "shutdown": self._shutdown}
        self._unsubscribe: Callable[[], None] | None = None
        self._teardown: asyncio.Future[None] | None = None
        self._leaving: asyncio.Task[None] | None = None

    @property
    def revision(self) -> str:
        """The revision that it speaks."""
        return self._revision.name

    async def start(self) -> None:
        """Begin to serve. Once started, this does nothing."""
        if self._unsubscribe is None:
            self._unsubscribe = self._service.host.subscribe(self._revision.forwarder)
            self.transport.on_request(self._answer)
            await self.transport.start()

    async def close(self) -> None:
        """Stop serving: end what the server made and close its transport. Streams and host stay, and nothing exits (rule S168).

        Raises what went wrong with the agents, after everything else is done.
        """
        try:
            await self._tear_down_once()
        finally:
            await self.transport.close()

    async def _answer(self, method: str, params: dict[str, Any]) -> Any:
        """One request. What it raises becomes the error response; there is no other code than -32603 (rule S10)."""
        handler = self._requests.get(method)
        if handler is None:
            raise LookupError(f"unknown DeepSeek Harness SDK runtime method: {method}")
        return await handler(params)

    async def _shutdown(self, _params: dict[str, Any]) -> ShutdownResult:
        """Rules S155-S164. A second one shares the teardown of the first, and its result."""
        await self._tear_down_once()
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._leave())
        return ShutdownResult()

    async def _tear_down_once(self) -> None:
        self._service.sessions.stopping = True  # now: what comes in the same write is refused already
        if self._teardown is None:
            self._teardown = asyncio.ensure_future(self._tear_down())
        await asyncio.shield(self._teardown)

    async def _tear_down(self) -> None:
        """In the order of rule S156."""
        service = self._service
        await service.sessions.settle()
        self._revision.forwarder.end()
        if self._unsubscribe is not None:
            self._unsubscribe()
        await service.dispose(drain=self._revision.drains_descendants)

    async def _leave(self) -> None:
        """After the answer to `shutdown`: flush, dispose, exit (rules S161-S163). No failure keeps it from exiting."""
        await asyncio.sleep(0)  # the answers are written in this turn of the event loop
        try:
            await self.transport.flush()
        except Exception:  # noqa: BLE001
            _log.debug("the output could not be flushed", exc_info=True)
        try:
            await self._revision.leave(self.close)
        except Exception:  # noqa: BLE001
            _log.exception("the end of the host failed")
        if self._exit is not None:
            self._exit(0)
