"""`HarnessClient` against a peer that the test plays itself: what goes over the wire, and who gets what."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dsh_protocol
from dsh_protocol import METHODS, SessionPromptParams, TextBlock
from dsh_runtime import (
    JsonRpcResponseError,
    LocalProtocolError,
    RemoteProtocolError,
)
from dsh_runtime.activity import PromptReceipt
from dsh_runtime.launch import ClosingTimes
from tests.runtime.client.flavours import Flavour
from tests.runtime.client.peer import Peer, call

IDENTITY = {"serverInfo": {"name": "deepseek-harness-sdk-runtime", "version": "0.0.1"}}
QUICK = ClosingTimes(shutdown=0.01)


# what goes over the wire


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, {"cwd": str(Path.cwd()), "provider": "deepseek-official", "model": "deepseek-v4-flash"}),  # rule C28
        ({"cwd": "sub/.."}, {"cwd": str(Path.cwd()), "provider": "deepseek-official", "model": "deepseek-v4-flash"}),
        (
            {"cwd": "/w", "provider": "p", "model": "m", "reasoning_effort": "max", "max_tokens": 8},
            {"cwd": "/w", "provider": "p", "model": "m", "reasoningEffort": "max", "maxTokens": 8},
        ),
    ],
)
def test_initialize_sends_an_absolute_directory_and_no_null(
    flavour: Flavour, client: Any, peer: Peer, options: dict[str, Any], sent: dict[str, Any]
) -> None:
    # rule C25
    request, result = call(flavour, client, peer, "initialize", result=IDENTITY, **options)
    assert request["params"] == sent
    assert result.server_info.name == "deepseek-harness-sdk-runtime"
    assert result.server_info.version == "0.0.1"


def test_the_bytes_of_a_short_conversation(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rules T39, T40, C21; a change here is one that the peer can see
    def line() -> str:
        text = peer.receive_line().decode()
        peer.send({"id": json.loads(text)["id"], "result": {**IDENTITY, "messageId": "m"}})
        return re.sub("req_[0-9a-f]{32}", "ID", text)

    future = flavour.background(client.initialize, cwd="/w")
    assert line() == (
        '{"jsonrpc":"2.0","id":"ID","method":"initialize",'
        '"params":{"cwd":"/w","provider":"deepseek-official","model":"deepseek-v4-flash"}}'
    )
    future.result()
    future = flavour.background(client.prompt, "s", "h\u00e9")
    assert line() == (
        '{"jsonrpc":"2.0","id":"ID","method":"session/prompt",'
        '"params":{"sessionId":"s","contentBlocks":[{"type":"text","text":"h\u00e9"}]}}'
    )
    future.result()
    future = flavour.background(client.close)
    assert line() == '{"jsonrpc":"2.0","id":"ID","method":"shutdown"}'
    future.result()
    assert peer.silent()


def test_a_prompt_is_sent_as_given_and_answered_by_its_receipt(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rule C27
    blocks = [TextBlock(text="a"), {"type": "image", "attachment": {"id": "x"}, "odd": 1}]
    request, receipt = call(flavour, client, peer, "prompt", "s", blocks, result={"messageId": "m-1"})
    assert request["params"]["contentBlocks"] == [{"type": "text", "text": "a"}, blocks[1]]
    assert receipt == PromptReceipt("s", "m-1")


def test_requests_are_typed_by_descriptor_and_untyped_by_name(flavour: Flavour, client: Any, peer: Peer) -> None:
    params = SessionPromptParams(session_id="s", content_blocks=[])
    row = METHODS["session/prompt"]
    request, result = call(flavour, client, peer, "request", row, params, result={"messageId": "m", "more": 1})
    assert request["params"] == {"sessionId": "s", "contentBlocks": []}
    assert (result.message_id, result.extra) == ("m", {"more": 1})
    request, result = call(flavour, client, peer, "request", "of/the/future", {"x": 1}, result=[1])
    assert (request["method"], request["params"], result) == ("of/the/future", {"x": 1}, [1])
    request, _ = call(flavour, client, peer, "request", METHODS["shutdown"], result={})
    assert "params" not in request


def test_a_revision_has_its_own_methods(flavour: Flavour, peer: Peer) -> None:
    client = peer.connect(flavour, revision="0.2.1", times=QUICK)
    module = dsh_protocol.revision("0.2.1")
    params = module.SessionWaitParams(session_id="s")
    request, result = call(flavour, client, peer, "request", module.METHODS["session/wait"], params, result={})
    assert (request["method"], type(result)) == ("session/wait", module.SessionWaitResult)
    client.close()


# answers that are none


def test_a_refusal_says_code_message_and_nothing_else_happens(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rule C55
    future = flavour.background(client.initialize, model="none")
    peer.refuse(-32603, "adapter returned invalid exact model metadata")
    with pytest.raises(JsonRpcResponseError, match="invalid exact model") as caught:
        future.result()
    assert caught.value.code == -32603
    assert call(flavour, client, peer, "initialize", result=IDENTITY)[1] is not None


@pytest.mark.parametrize(
    ("name", "args", "result", "text"),
    [
        ("initialize", (), None, "initialize response must be a JSON object"),  # rule C29
        ("initialize", (), [1], "initialize response must be a JSON object"),
        ("prompt", ("s", "x"), "m-1", "session/prompt response must be a JSON object"),
        ("initialize", (), {}, "initialize returned no server identity: {}"),  # rule C30
        ("initialize", (), {"serverInfo": {"name": "x"}}, "initialize returned no server identity: "),
        ("initialize", (), {"serverInfo": {"name": "x", "version": 1}}, "initialize returned no server identity: "),
        ("prompt", ("s", "x"), {}, "session/prompt returned no message id: {}"),
        ("prompt", ("s", "x"), {"messageId": None}, 'session/prompt returned no message id: {"messageId": null}'),
        (
            "request",
            (METHODS["session/prompt"], SessionPromptParams(session_id="s", content_blocks=[])),
            {},
            "session/prompt res",
        ),
    ],
)
def test_a_result_outside_the_protocol_is_an_error(
    flavour: Flavour, client: Any, peer: Peer, name: str, args: tuple[Any, ...], result: Any, text: str
) -> None:
    # rules C29, C30, C54, C57
    future = flavour.background(getattr(client, name), *args)
    peer.answer(result)
    with pytest.raises(RemoteProtocolError, match=f"^{re.escape(text)}"):
        future.result()


def test_no_version_is_checked(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rule C31
    identity = {"serverInfo": {"name": "deepseek-harness-sdk-runtime", "version": "99"}}
    assert call(flavour, client, peer, "initialize", result=identity)[1].server_info.version == "99"


def test_what_the_revision_does_not_have_is_refused_here(client: Any, peer: Peer) -> None:
    with pytest.raises(LocalProtocolError, match="content blocks"):
        client.prompt("s", {"type": "text"})
    assert peer.silent()


def test_an_option_that_the_revision_does_not_have_is_refused_here(flavour: Flavour, peer: Peer) -> None:
    client = peer.connect(flavour, revision="2026-07-29", times=QUICK)
    with pytest.raises(LocalProtocolError, match=r"2026-07-29.*reasoning_effort"):
        client.initialize(reasoning_effort="max")
    assert peer.silent()
    client.close()


def test_a_time_limit_ends_the_wait_only(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rules C33, C56
    for name, args in (("initialize", ()), ("prompt", ("s", "x")), ("request", ("any",))):
        with pytest.raises(TimeoutError, match=r"no response within 0\.01 s"):
            getattr(client, name)(*args, timeout=0.01)
        request = peer.receive()
        peer.send({"id": request["id"], "result": "too late"})
    assert call(flavour, client, peer, "request", "any", result=1)[1] == 1
    assert peer.silent()  # rule T47: nothing told the peer


def test_what_is_no_frame_is_skipped(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rule C23
    future = flavour.background(client.request, "any")
    request = peer.receive()
    peer.send_bytes(b'\n \r\nDebugger listening\n[]\n"x"\n{}\n\xff\xfe\n')
    peer.send({"id": "stray", "result": 1}, {"id": request["id"], "result": 2})
    assert future.result() == 2
