"""A model server for tests: answers the Messages API by scripts, so that a real runtime can work offline.

A prompt names its script: `mock:tool Make a file.` plays `tool`; one that names none gets `hello`. Each script is a function of
the step, which counts the answers given since that prompt. Start one as a context manager; `url` is its address.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

_DIRECTIVE: Final = re.compile(r"mock:(\w+)")


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool that the model asks for."""

    id: str
    name: str
    input: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `waits_for` names what has to happen before it ends: `gate` or `meeting` of the server."""

    text: str = ""
    reasoning: str = ""
    tools: tuple[ToolUse, ...] = ()
    stop_reason: str = ""
    status: int = 200
    waits_for: str = ""


def _hello(_: int) -> Reply:
    return Reply("Hello, this is the mock model.")


def _reason(_: int) -> Reply:
    return Reply("17 x 23 = 391.", reasoning="17 times 20 is 340, 17 times 3 is 51; the sum is 391.")


def _tool(step: int) -> Reply:
    command = {"command": "printf 'alpha\\nbeta\\n' > notes.txt && cat notes.txt", "description": "Make a file"}
    return (
        Reply("I run a command.", tools=(ToolUse("call_tool", "bash", command),)) if step == 0 else Reply("The file is there.")
    )


def _length(_: int) -> Reply:
    return Reply("This answer is cut off because", stop_reason="max_tokens")


def _unauthorized(_: int) -> Reply:
    return Reply(status=401)


def _subagent(step: int) -> Reply:
    task = {"prompt": "mock:child Count the files.", "description": "Count files"}
    return Reply("I delegate.", tools=(ToolUse("call_sub", "subagent", task),)) if step == 0 else Reply("The child was sent.")


def _child(_: int) -> Reply:
    return Reply("There is one file.")


def _wait(_: int) -> Reply:
    return Reply("At last.", waits_for="gate")


def _meet(_: int) -> Reply:
    return Reply("We met.", waits_for="meeting")


SCRIPTS: Final[dict[str, Callable[[int], Reply]]] = {
    "hello": _hello,
    "reason": _reason,
    "tool": _tool,
    "length": _length,
    "unauthorized": _unauthorized,
    "subagent": _subagent,
    "child": _child,
    "wait": _wait,
    "meet": _meet,
}


class MockModel:
    """The server. `gate` holds the script `wait` until it is set; `meet` ends when two of its answers are under way.

    `requests` are the bodies of all requests for an answer; `asked` is set when a `wait` or `meet` begins.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.asked = threading.Event()
        self.gate = threading.Event()
        self.meeting = threading.Barrier(2, timeout=30)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.model = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.gate.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, request: dict[str, Any]) -> Reply:
        """What the script says now."""
        self.requests.append(request)
        name, step = _script(request["messages"])
        return SCRIPTS[name](step)

    def hold(self, reply: Reply) -> None:
        """Wait for what the reply waits for."""
        if reply.waits_for:
            self.asked.set()
        if reply.waits_for == "gate":
            self.gate.wait(30)
        elif reply.waits_for == "meeting":
            self.meeting.wait()


def _script(messages: list[dict[str, Any]]) -> tuple[str, int]:
    """The script that the newest prompt names, and how many answers it got so far."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index]["role"] == "user":
            for text in _texts(messages[index]):
                found = _DIRECTIVE.search(text)
                if found:
                    return found[1], sum(message["role"] == "assistant" for message in messages[index:])
    return "hello", 0


def _texts(message: dict[str, Any]) -> Iterator[str]:
    content = message["content"]
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if block["type"] == "text":
            yield block["text"]


def _events(reply: Reply, model: str, thinking: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """The server-sent events of an answer, but for the last two."""
    usage = {"input_tokens": 100, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {"id": "msg_mock", "type": "message", "role": "assistant", "content": [], "model": model, "usage": usage}
    yield "message_start", {"message": {**message, "stop_reason": None, "stop_sequence": None}}
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.reasoning and thinking:
        deltas = [{"type": "thinking_delta", "thinking": word} for word in re.findall(r"\S+\s*", reply.reasoning)]
        signature = {"type": "signature_delta", "signature": "c2lnbmF0dXJl"}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]))
    if reply.text:
        deltas = [{"type": "text_delta", "text": word} for word in re.findall(r"\S+\s*", reply.text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for tool in reply.tools:
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(tool.input)}]
        blocks.append(({"type": "tool_use", "id": tool.id, "name": tool.name, "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        yield "content_block_start", {"index": index, "content_block": block}
        for delta in deltas:
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
        """Keep quiet."""

    def do_POST(self) -> None:
        body = self._body()
        if not self.path.endswith("/messages"):
            self._send_json(404, {"type": "error", "error": {"type": "not_found_error", "message": "no such thing here"}})
            return
        model: MockModel = self.server.model  # type: ignore[attr-defined]
        request = json.loads(body)
        reply = model.reply(request)
        if reply.status != 200:
            self._send_json(reply.status, {"type": "error", "error": {"type": "authentication_error", "message": "bad key"}})
            return
        self.close_connection = True
        try:
            self._stream(request, reply, model)
        except OSError:
            return  # the runtime went away

    def _stream(self, request: dict[str, Any], reply: Reply, model: MockModel) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        thinking = (request.get("thinking") or {}).get("type") == "enabled"
        for kind, data in _events(reply, request["model"], thinking):
            self._send_event(kind, data)
        model.hold(reply)
        stop = reply.stop_reason or ("tool_use" if reply.tools else "end_turn")
        delta = {"stop_reason": stop, "stop_sequence": None}
        self._send_event("message_delta", {"delta": delta, "usage": {"output_tokens": 10}})
        self._send_event("message_stop", {})

    def _send_event(self, kind: str, data: dict[str, Any]) -> None:
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())
        self.wfile.flush()

    def _send_json(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> bytes:
        length = self.headers.get("content-length")
        if length is not None:
            return self.rfile.read(int(length))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body
