from __future__ import annotations

from typing import Any

import pytest

from dsh_runtime import RemoteProtocolError
from dsh_runtime.activity import Interval, PromptReceipt, ReceiptToIdle, UntilFinished
from dsh_runtime.dialect import DIALECTS, dialect
from dsh_runtime.routing import Mailbox, Router, UndecodedEvent
from tests.runtime.client.peer import answered, event, spliced, started, status, turn_end

ROOT = "root"


def fed(interval: Interval, *frames: dict[str, Any], revision: str = "0.1.5") -> Interval:
    queue = Mailbox()
    router = Router(dialect(revision).decode, Mailbox())
    router.add(queue)
    for frame in frames:
        router.route(frame["method"], frame["params"])
    while not interval.done and (item := queue.take()) is not None:
        interval.take(item)
    return interval


def receipt_to_idle(*frames: dict[str, Any]) -> Interval:
    return fed(ReceiptToIdle(PromptReceipt(ROOT, "m-2")), *frames)


def methods(interval: Interval) -> list[str]:
    return [item.raw.get("status") or item.raw["event"]["type"] for item in interval.result().notifications]


def test_the_interval_goes_from_the_receipt_to_the_next_idle_of_the_root() -> None:
    # rules C2, C3, C5
    interval = receipt_to_idle(
        event(ROOT, "turn/start", {"turn": 1}),
        status(ROOT, "idle"),  # of earlier work
        spliced(ROOT, "m-1"),  # somebody else's message
        spliced("child", "m-2"),  # not in this session
        spliced(ROOT, "m-2"),
        status(ROOT, "running"),
        status("child", "idle"),
        turn_end(ROOT),
        status(ROOT, "idle"),
        status("child", "idle"),
    )
    assert interval.done
    assert methods(interval) == ["agent/inbox/spliced", "running", "idle", "turn/end", "idle"]


def test_the_interval_is_not_over_before_its_end() -> None:
    # rule C3
    assert not receipt_to_idle(spliced(ROOT, "m-2"), status("child", "idle"), status(ROOT, "running")).done
    assert not receipt_to_idle(status(ROOT, "idle")).done


def test_another_prompts_turn_may_be_part_of_it() -> None:
    # rule C4
    interval = receipt_to_idle(
        spliced(ROOT, "m-2"), turn_end(ROOT), spliced(ROOT, "m-3"), turn_end(ROOT, "max-tokens"), status(ROOT, "idle")
    )
    assert methods(interval) == ["agent/inbox/spliced", "turn/end", "agent/inbox/spliced", "turn/end", "idle"]
    assert interval.result().finish_reason == "max-tokens"


def test_events_are_the_roots_and_notifications_the_trees() -> None:
    # rule C7
    result = receipt_to_idle(
        spliced(ROOT, "m-2"), started(ROOT, "child"), turn_end("child"), turn_end(ROOT), status(ROOT, "idle")
    ).result()
    assert [item.type for item in result.events] == ["agent/inbox/spliced", "turn/end"]
    assert len(result.notifications) == 5
    assert result.session_id == ROOT
    assert result.status is None


def test_the_final_text_is_that_of_the_last_answer_of_the_root() -> None:
    # rule C8
    result = receipt_to_idle(
        spliced(ROOT, "m-2"),
        answered(ROOT, "first"),
        answered(ROOT, "a", "", "b\n"),
        answered("child", "c"),
        status(ROOT, "idle"),
    ).result()
    assert result.final_response == "ab\n"


def test_without_an_answer_or_a_turn_there_is_no_text_and_no_reason() -> None:
    # rules C8, C9
    result = receipt_to_idle(spliced(ROOT, "m-2"), turn_end("child"), status(ROOT, "idle")).result()
    assert (result.final_response, result.finish_reason) == ("", None)


def test_other_blocks_are_no_text() -> None:
    content = [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "yes"}, {"type": "tool-call"}]
    last = event(ROOT, "assistant/message", {"message": {"content": content}})
    assert receipt_to_idle(spliced(ROOT, "m-2"), last, status(ROOT, "idle")).result().final_response == "yes"


@pytest.mark.parametrize("data", [None, {}, {"reason": None}, {"reason": {}}, {"reason": {"kind": 5}}, {"reason": "completed"}])
def test_a_turn_that_ends_for_no_reason_is_a_protocol_error(data: Any) -> None:
    # rule C9
    interval = receipt_to_idle(spliced(ROOT, "m-2"), event(ROOT, "turn/end", data), status(ROOT, "idle"))
    with pytest.raises(RemoteProtocolError, match=r"^turn/end event requires a string data\.reason\.kind$"):
        interval.result()


@pytest.mark.parametrize("content", [None, "text", {}, ["text"], [{"text": "no type"}], [{"type": 5}]])
def test_an_answer_that_cant_be_read_is_a_protocol_error(content: Any) -> None:
    # rule C13
    last = event(ROOT, "assistant/message", {"message": {"content": content}})
    with pytest.raises(RemoteProtocolError, match="assistant/message event requires"):
        receipt_to_idle(spliced(ROOT, "m-2"), last, status(ROOT, "idle")).result()


def test_events_that_do_not_decode_are_part_of_the_result() -> None:
    result = receipt_to_idle(spliced(ROOT, "m-2"), event(ROOT, "turn/start", {"turn": "one"}), status(ROOT, "idle")).result()
    assert isinstance(result.events[1], UndecodedEvent)
    assert result.events[1].raw["event"]["type"] == "turn/start"


@pytest.mark.parametrize("inserted", [None, "text", [None], [{"id": "m-2", "content": 5}]])
def test_the_receipt_is_recognised_even_if_the_event_does_not_decode(inserted: Any) -> None:
    odd = event(ROOT, "agent/inbox/spliced", {"inserted": inserted})
    assert receipt_to_idle(odd, status(ROOT, "idle")).done is (isinstance(inserted, list) and inserted[0] is not None)


def old_finished(session: str, **members: Any) -> dict[str, Any]:
    return {"method": "session.finished", "params": {"sessionId": session, **members}}


def test_in_the_oldest_revision_session_finished_ends_it_and_tells_the_outcome() -> None:
    # rules C6, C10
    interval = fed(
        UntilFinished(PromptReceipt(ROOT, None)),
        answered(ROOT, "hello"),
        turn_end(ROOT, "error"),
        old_finished("child", status="error"),
        old_finished(ROOT, status="ok", reason={"kind": "completed"}),
        turn_end(ROOT),
    )
    result = interval.result()
    assert interval.done
    assert len(result.notifications) == 4
    assert (result.final_response, result.finish_reason, result.status) == ("hello", "completed", "ok")


def test_in_the_oldest_revision_there_may_be_no_reason() -> None:
    # rule S179
    result = fed(UntilFinished(PromptReceipt(ROOT, None)), old_finished(ROOT, status="error")).result()
    assert (result.finish_reason, result.status) == (None, "error")
    with pytest.raises(RemoteProtocolError, match="string status"):
        fed(UntilFinished(PromptReceipt(ROOT, None)), old_finished(ROOT)).result()


def test_each_revision_has_its_bound_for_initialize() -> None:
    # rules C35, C36, C37
    assert {name: row.initialize_timeout for name, row in DIALECTS.items()} == {
        "2026-07-29": None,
        "0.1.1": None,
        "0.1.5": 10.0,
        "0.2.1": 30.0,
    }


def test_an_unknown_revision_is_refused() -> None:
    with pytest.raises(LookupError, match="no revision '7'"):
        dialect("7")
