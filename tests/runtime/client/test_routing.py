from __future__ import annotations

from typing import Any

import pytest

from dsh_protocol import SessionStatusNotification
from dsh_runtime import SubscriptionOverflowError, TransportClosedError
from dsh_runtime.dialect import dialect
from dsh_runtime.routing import HarnessNotification, Mailbox, Router, SessionTree, UndecodedEvent
from tests.runtime.client.peer import event, started, status


def notification(frame: dict[str, Any]) -> HarnessNotification:
    return HarnessNotification(frame["method"], None, frame["params"])


def finished(parent: Any, child: Any) -> dict[str, Any]:
    return {"method": "subagent.finished", "params": {"parentSessionId": parent, "childSessionId": child}}


TREE = (started("root", "child"), started("child", "grandchild"), started("other", "stranger"))


@pytest.mark.parametrize(
    ("frame", "inside"),
    [
        (event("root", "turn/start"), True),
        (status("child", "idle"), True),
        (event("grandchild", "turn/start"), True),
        (event("other", "turn/start"), False),
        (event("stranger", "turn/start"), False),
        (event("unheard-of", "turn/start"), False),
        (started("root", "new"), True),
        (started("grandchild", "new"), True),
        (started("other", "new"), False),
        (started("outside", "root"), True),  # the child is the root itself
        (started("outside", "child"), False),
        (finished("root", "child"), True),
        (finished("other", "root"), True),
        (finished("other", "child"), False),
        ({"method": "session.event", "params": {}}, False),
        ({"method": "session.event", "params": {"sessionId": 5}}, False),
        ({"method": "subagent.finished", "params": {"childSessionId": "root"}}, True),
        ({"method": "of.the.future", "params": {"sessionId": "grandchild"}}, True),
    ],
)
def test_what_belongs_to_a_tree(frame: dict[str, Any], inside: bool) -> None:
    # rule C16
    tree = SessionTree()
    for row in TREE:
        tree.learn(notification(row))
    assert tree.holds("root", notification(frame)) is inside


@pytest.mark.parametrize(
    "frame",
    [
        started("root", "root"),
        started("", "x"),
        started("root", ""),
        started("root", 5),
        started(None, "x"),
        finished("root", "x"),
    ],
)
def test_the_tree_is_learned_from_two_different_ids_only(frame: dict[str, Any]) -> None:
    # rule C15
    tree = SessionTree()
    tree.learn(notification(frame))
    assert not tree.holds("root", notification(event("x", "turn/start")))


def test_a_tree_that_bites_its_tail_is_no_endless_one() -> None:
    tree = SessionTree()
    tree.learn(notification(started("a", "b")))
    tree.learn(notification(started("b", "a")))
    assert tree.holds("a", notification(status("b", "idle")))
    assert not tree.holds("root", notification(status("b", "idle")))


def router(unclaimed: Mailbox | None = None) -> Router:
    return Router(dialect("0.1.5").decode, unclaimed or Mailbox(lossy=True))


def route(target: Router, *frames: dict[str, Any]) -> None:
    for frame in frames:
        target.route(frame["method"], frame["params"])


def test_a_full_subscription_ends_alone_and_keeps_what_it_has() -> None:
    target, small, large = router(), Mailbox(limit=2), Mailbox(limit=None)
    target.add(small)
    target.add(large)
    route(target, *[status("s", "idle")] * 5)
    assert [small.take() is not None for _ in range(2)] == [True, True]
    with pytest.raises(SubscriptionOverflowError, match="2 notifications waited"):
        small.take()
    assert sum(large.take() is not None for _ in range(5)) == 5


def test_a_filter_that_fails_ends_its_own_subscription_only() -> None:
    # rule C17
    def picky(item: HarnessNotification) -> bool:
        if item.raw["status"] == "running":
            raise LookupError("no such thing")
        return True

    target, failing, sound = router(), Mailbox(picky), Mailbox()
    target.add(failing)
    target.add(sound)
    route(target, status("s", "idle"), status("s", "running"), status("s", "idle"))
    assert failing.take() is not None
    with pytest.raises(LookupError, match="no such thing"):
        failing.take()
    assert sum(sound.take() is not None for _ in range(3)) == 3


def test_what_nobody_took_waits_in_the_common_queue_which_loses_its_oldest() -> None:
    # rule C18
    unclaimed = Mailbox(limit=2, lossy=True)
    target, choosy = router(unclaimed), Mailbox(lambda item: item.raw["sessionId"] == "mine")
    target.add(choosy)
    route(target, *(status(name, "idle") for name in ("a", "mine", "b", "c")))
    kept = [unclaimed.take(), unclaimed.take(), unclaimed.take()]
    assert [item and item.raw["sessionId"] for item in kept] == ["b", "c", None]
    assert unclaimed.dropped == 1
    target.remove(choosy)
    route(target, status("mine", "idle"))
    assert unclaimed.take() is not None


def test_after_the_end_the_queue_can_be_read_and_then_comes_the_error() -> None:
    # rule C19
    target, early = router(), Mailbox()
    target.add(early)
    route(target, status("s", "idle"))
    target.end(TransportClosedError("gone"))
    route(target, status("s", "idle"))
    assert early.take() is not None
    for _ in range(2):
        with pytest.raises(TransportClosedError, match="gone"):
            early.take()
    with pytest.raises(TransportClosedError, match="gone"):
        target.add(Mailbox())


def test_closing_drops_the_queue() -> None:
    # rule C19
    target, queue = router(), Mailbox()
    target.add(queue)
    route(target, status("s", "idle"))
    target.end(TransportClosedError("closed"), drop=True)
    with pytest.raises(TransportClosedError, match="closed"):
        queue.take()


def test_notifications_arrive_decoded() -> None:
    target, queue = router(), Mailbox()
    target.add(queue)
    route(target, status("s", "idle"))
    item = queue.take()
    assert item is not None
    assert item == HarnessNotification("session.status", SessionStatusNotification(session_id="s", status="idle"), {})
    assert item.raw == {"sessionId": "s", "status": "idle"}


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (status("s", "asleep"), r"\$\.status"),
        (event("s", "turn/end", {"turn": "one"}), r"\$\.event"),
        ({"method": "session.event", "params": {}}, r"\$"),
        ({"method": "session.finished", "params": {"sessionId": "s", "status": "ok"}}, "not a notification of revision 0.1.5"),
        ({"method": "initialize", "params": {}}, "not a notification"),
    ],
)
def test_what_does_not_decode_arrives_raw_with_the_reason(frame: dict[str, Any], reason: str) -> None:
    target, queue = router(), Mailbox()
    target.add(queue)
    route(target, frame, status("s", "idle"))
    item = queue.take()
    assert item is not None
    assert isinstance(item.params, UndecodedEvent)
    assert item.params.raw == frame["params"]
    with pytest.raises((ValueError, LookupError), match=reason):
        raise item.params.error
    assert queue.take() is not None
