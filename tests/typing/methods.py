"""For type checkers: the method map is typed, and so is everything that is reached through it."""

from __future__ import annotations

from typing import Any, assert_type

import dsh_protocol
from dsh_protocol import METHODS, decode, decode_params, decode_result, v0_2_1
from dsh_protocol._methods import Notification, Request
from dsh_protocol.v0_1_5.session import (
    InitializeParams,
    InitializeResult,
    SessionEventNotification,
    SessionPromptParams,
    SessionPromptResult,
    ShutdownResult,
)
from dsh_protocol.v0_2_1.session import InitializeParams as NewInitializeParams

raw: object = {}

# What a look-up gives

assert_type(METHODS["session/prompt"], Request[SessionPromptParams, SessionPromptResult])
assert_type(METHODS["session.event"], Notification[SessionEventNotification])
assert_type(METHODS["shutdown"], Request[None, ShutdownResult])
assert_type(METHODS["session/prompt"].decode_params(raw), SessionPromptParams)
assert_type(METHODS["session/prompt"].decode_result(raw), SessionPromptResult)
assert_type(METHODS["session.event"].decode_params(raw), SessionEventNotification)
assert_type(METHODS["session/prompt"].params, type[SessionPromptParams] | None)
assert_type(METHODS["session/prompt"].result, type[SessionPromptResult])

_ = METHODS["session/prompts"]  # type: ignore[typeddict-item]  # pyright: ignore[reportGeneralTypeIssues]
METHODS["session.event"].decode_result(raw)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]

# What decoding by a literal name gives

assert_type(decode_params("initialize", raw), InitializeParams)
assert_type(decode_result("initialize", raw), InitializeResult)
assert_type(decode_params("shutdown", raw), None)
assert_type(decode_result("shutdown", raw), ShutdownResult)
assert_type(v0_2_1.decode_params("initialize", raw), NewInitializeParams)


def by_name(method: str) -> None:
    """Names that are known at run time only."""
    assert_type(decode_params(method, raw), Any)
    assert_type(decode_result(method, raw), Any)
    assert_type(dsh_protocol.find_method(method), Notification[Any] | Request[Any, Any] | None)


# What decoding by class gives

assert_type(decode(SessionPromptParams, raw), SessionPromptParams)
assert_type(decode("ContentBlock", raw), Any)

# What encoding takes

params = InitializeParams(cwd="/", provider="p", model="m")
result = SessionPromptResult(message_id="m")
assert_type(METHODS["initialize"].encode_params(params), dict[str, Any])
assert_type(METHODS["session/prompt"].encode_result(result), dict[str, Any])
assert_type(METHODS["shutdown"].encode_params(None), dict[str, Any])
METHODS["session/prompt"].encode_params(params)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
METHODS["initialize"].encode_result(result)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
METHODS["shutdown"].encode_params({})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
v0_2_1.METHODS["initialize"].encode_params(params)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
