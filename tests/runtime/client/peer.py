"""The other end of a client's streams, played by the test itself, frame by frame."""

from __future__ import annotations

import json
import os
import select
from typing import Any

from tests.runtime.client.flavours import PATIENCE, Flavour


class Peer:
    """Two pipes: `connect` makes the client at one end; the test reads and writes the other."""

    def __init__(self) -> None:
        self._read, self._client_writes = os.pipe()
        self._client_reads, self._write = os.pipe()
        self._buffer = b""
        self._open = {self._read, self._write}
        self._undo: Any = None

    def connect(self, flavour: Flavour, **options: Any) -> Any:
        """A started client that talks to this peer."""
        streams, self._undo = flavour.streams(self._client_reads, self._client_writes)
        client = flavour.client(streams=streams, **options)
        client.start()
        return client

    def lend(self) -> tuple[int, int]:
        """The client's ends, to read from and to write to, for a test that closes them itself."""
        self._undo = lambda: None
        return self._client_reads, self._client_writes

    def receive(self) -> dict[str, Any]:
        """The next frame that the client wrote."""
        return json.loads(self.receive_line())  # type: ignore[no-any-return]

    def receive_line(self) -> bytes:
        """The next line that the client wrote, as it is."""
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], PATIENCE)
            assert ready, "the client wrote nothing"
            data = os.read(self._read, 65536)
            assert data, "the client closed its output"
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def silent(self) -> bool:
        """Whether nothing is there to receive."""
        return not self._buffer and not select.select([self._read], [], [], 0)[0]

    def send(self, *frames: dict[str, Any]) -> None:
        """Write these frames at once."""
        self.send_bytes("".join(json.dumps({"jsonrpc": "2.0", **frame}) + "\n" for frame in frames).encode())

    def send_bytes(self, data: bytes) -> None:
        """Write these bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._write, view) :]

    def answer(self, result: Any, *before: dict[str, Any]) -> dict[str, Any]:
        """Receive a request, send the frames in `before`, then its result. Returns the request."""
        request = self.receive()
        self.send(*before, {"id": request["id"], "result": result})
        return request

    def refuse(self, code: int, message: str) -> None:
        """Receive a request and answer it with an error."""
        self.send({"id": self.receive()["id"], "error": {"code": code, "message": message}})

    def hang_up(self) -> None:
        """End the client's input."""
        os.close(self._write)
        self._open.discard(self._write)

    def close(self) -> None:
        """Close everything."""
        for descriptor in self._open:
            os.close(descriptor)
        if self._undo is None:
            os.close(self._client_reads)
            os.close(self._client_writes)
        else:
            self._undo()


def event(session: str, kind: str, data: Any = None, *, seq: int = 1) -> dict[str, Any]:
    """A `session.event` frame."""
    body = {"type": kind, "seq": seq, "time": 1, "data": {} if data is None else data}
    return {"method": "session.event", "params": {"sessionId": session, "event": body}}


def spliced(session: str, message_id: str, *, seq: int = 1) -> dict[str, Any]:
    """The receipt of a prompt."""
    message = {"id": message_id, "role": "user", "content": [{"type": "text", "text": "hi"}], "source": {"kind": "user"}}
    return event(session, "agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": [message]}, seq=seq)


def status(session: str, value: str) -> dict[str, Any]:
    """A `session.status` frame."""
    return {"method": "session.status", "params": {"sessionId": session, "status": value}}


def started(parent: Any, child: Any) -> dict[str, Any]:
    """A `subagent.started` frame."""
    return {"method": "subagent.started", "params": {"parentSessionId": parent, "childSessionId": child}}


def answered(session: str, *texts: str, seq: int = 1) -> dict[str, Any]:
    """An `assistant/message` event with these text blocks. Only what a client looks at: it does not decode."""
    content = [{"type": "text", "text": text} for text in texts]
    return event(session, "assistant/message", {"turn": 1, "step": 1, "message": {"content": content}}, seq=seq)


def turn_end(session: str, kind: str = "completed", *, seq: int = 1) -> dict[str, Any]:
    """A `turn/end` event."""
    return event(session, "turn/end", {"turn": 1, "reason": {"kind": kind}}, seq=seq)


def call(flavour: Flavour, client: Any, peer: Peer, name: str, *args: Any, result: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The request that a call writes, and what it returns for this result."""
    future = flavour.background(getattr(client, name), *args, **kwargs)
    return peer.answer(result), future.result()
