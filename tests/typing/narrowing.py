"""For type checkers: unions narrow by class and by tag, and absence is told from null."""

from __future__ import annotations

from typing import Any, assert_type

from dsh_protocol import METHODS, UNSET, CompactionStartData, UnsetType
from dsh_protocol.v0_1_5.content import ContentBlock, ImageBlock, TextBlock, UnknownContentBlock
from dsh_protocol.v0_1_5.event import SessionEvent, UnknownSessionEvent
from dsh_protocol.v0_1_5.event_turn import (
    AbortedTurnEndReason,
    ErrorTurnEndReason,
    PlainTurnEndReason,
    TurnEndEvent,
    UnknownTurnEndReason,
    UserMessageEvent,
)
from dsh_protocol.v0_1_5.message import UserMessage

event = METHODS["session.event"].decode_params({}).event
assert_type(event, SessionEvent)


def by_class(event: SessionEvent) -> str:
    """`match` on the class takes an event apart."""
    match event:
        case UserMessageEvent(data=message):
            assert_type(message, UserMessage)
            return message.id
        case TurnEndEvent(data=end):
            match end.reason:
                case PlainTurnEndReason() | AbortedTurnEndReason() | ErrorTurnEndReason():
                    return end.reason.kind
                case UnknownTurnEndReason(kind=kind):
                    assert_type(kind, str)
                    return kind
        case UnknownSessionEvent(type=name, extra=extra):
            assert_type(name, str)
            assert_type(extra, dict[str, Any])
            return name
        case _:
            assert_type(event.seq, int)
            return event.type


def by_isinstance(block: ContentBlock) -> str:
    """So does `isinstance`."""
    if isinstance(block, TextBlock):
        assert_type(block, TextBlock)
        return block.text
    if isinstance(block, ImageBlock):
        return block.attachment.media_type
    if isinstance(block, UnknownContentBlock):
        return block.type
    return block.text  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue]


def by_tag(event: SessionEvent) -> str:
    """Tags narrow once the arm for tags of the future, whose tag may be any string, is out of the way."""
    if isinstance(event, UnknownSessionEvent):
        return event.type
    if event.type == "turn/end":
        assert_type(event, TurnEndEvent)
        return event.data.reason.kind
    if event.type == "user/mesage":  # type: ignore[comparison-overlap]  # pyright: ignore[reportUnnecessaryComparison]
        return ""  # type: ignore[unreachable]
    return event.type


def unset(event: UnknownSessionEvent, image: ImageBlock, compaction: CompactionStartData) -> None:
    """`UNSET` where null is a value, None elsewhere."""
    assert_type(event.surface_op, Any | UnsetType)
    if image.attachment.name is not None:
        assert_type(image.attachment.name, str)
    if event.surface_op is UNSET:
        event.surface_op = None
    assert_type(compaction.turn, int | None)
    if compaction.turn is not None:
        assert_type(compaction.turn, int)
