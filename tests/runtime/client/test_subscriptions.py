"""`HarnessClient` against a peer that the test plays itself: who gets which notification, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_runtime import (
    LocalProtocolError,
    SubscriptionOverflowError,
    TransportClosedError,
)
from dsh_runtime.launch import ClosingTimes
from dsh_runtime.routing import UndecodedEvent
from tests.runtime.client.flavours import Flavour
from tests.runtime.client.peer import Peer, call, event, spliced, started, status

QUICK = ClosingTimes(shutdown=0.01)


def test_a_subscription_gets_everything_or_what_its_filter_accepts(flavour: Flavour, client: Any, peer: Peer) -> None:
    with client.subscribe() as everything, client.subscribe(lambda item: item.raw.get("status") == "idle") as idle:
        peer.send(status("s", "running"), event("s", "turn/start", {"turn": 1}), status("s", "idle"))
        assert [everything.get().method for _ in range(3)] == ["session.status", "session.event", "session.status"]
        assert idle.get().params.status == "idle"
        with pytest.raises(TimeoutError, match=r"no notification within 0\.001 s"):
            idle.get(timeout=0.001)


def test_a_tree_is_known_before_anybody_subscribes_to_it(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rule C15
    peer.send(started("root", "child"), started("child", "grandchild"))
    call(flavour, client, peer, "request", "barrier", result=None)
    with client.subscribe_session_tree("root") as tree:
        peer.send(status("other", "idle"), status("grandchild", "running"), status("root", "idle"))
        assert [tree.get().params.session_id for _ in range(2)] == ["grandchild", "root"]


def test_when_a_call_returns_what_was_sent_before_is_there(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rule S115
    with client.subscribe_session_tree("s") as tree:
        future = flavour.background(client.prompt, "s", "x")
        peer.answer({"messageId": "m-1"}, spliced("s", "m-1"), status("s", "running"))
        future.result()
        assert [tree.get(timeout=0).method for _ in range(2)] == ["session.event", "session.status"]


def test_what_does_not_decode_arrives_and_nothing_breaks(client: Any, peer: Peer) -> None:
    with client.subscribe() as everything:
        peer.send({"method": "session.status", "params": {"sessionId": 5}}, {"method": "new"}, status("s", "idle"))
        first, second, third = (everything.get() for _ in range(3))
    assert isinstance(first.params, UndecodedEvent)
    assert isinstance(second.params, UndecodedEvent)
    assert (second.method, second.params.raw) == ("new", {})
    assert third.params.session_id == "s"


def test_nobody_waits_for_a_subscriber_that_never_reads(flavour: Flavour, client: Any, peer: Peer) -> None:
    lazy, small = client.subscribe(limit=None), client.subscribe(limit=10)
    for _ in range(20):
        peer.send(*[status("s", "idle")] * 100)
    assert call(flavour, client, peer, "request", "any", result="through")[1] == "through"
    assert sum(lazy.take() is not None for _ in range(2000)) == 2000
    assert [small.get().method for _ in range(10)] == ["session.status"] * 10
    with pytest.raises(SubscriptionOverflowError):
        small.get()
    with pytest.raises(SubscriptionOverflowError):
        list(small)


def test_a_filter_that_raises_fails_its_own_subscription_only(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rule C17
    def broken(item: Any) -> bool:
        raise ZeroDivisionError("my mistake")

    failing, sound = client.subscribe(broken), client.subscribe()
    peer.send(status("s", "idle"))
    with pytest.raises(ZeroDivisionError, match="my mistake"):
        failing.get()
    assert sound.get().params.status == "idle"


def test_notifications_that_nobody_took_are_kept_for_a_while(flavour: Flavour, peer: Peer) -> None:
    # rule C18
    client = peer.connect(flavour, unclaimed_limit=2, times=QUICK)
    with client.subscribe(lambda item: item.raw["sessionId"] == "mine"):
        peer.send(*(status(name, "idle") for name in ("a", "b", "mine", "c")))
        call(flavour, client, peer, "request", "barrier", result=None)
        common = client.notifications()
        assert [common.get().params.session_id for _ in range(2)] == ["b", "c"]
        assert common.dropped == 1
    client.close()


def test_a_closed_subscription_ends(client: Any, peer: Peer) -> None:
    subscription = client.subscribe()
    peer.send(status("s", "idle"))
    assert subscription.get() is not None
    subscription.close()
    subscription.close()
    assert list(subscription) == []
    with pytest.raises(LocalProtocolError, match="closed"):
        subscription.get()


def test_the_runtime_may_ask(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rule C32
    peer.send({"id": 1, "method": "approve", "params": {"what": "rm"}})
    assert peer.receive()["error"] == {"code": -32601, "message": "method not found: approve"}
    client.on_request(lambda method, params: {"method": method, **params})
    peer.send({"id": 2, "method": "approve", "params": {"what": "rm"}})
    assert peer.receive()["result"] == {"method": "approve", "what": "rm"}


def test_the_handler_of_requests_may_come_before_the_start(flavour: Flavour, peer: Peer) -> None:
    # rule C32
    streams, undo = flavour.streams(*peer.lend())
    client = flavour.client(streams=streams, times=QUICK)
    client.on_request(lambda method, params: "yes")
    client.start()
    peer.send({"id": 1, "method": "approve"})
    assert peer.receive()["result"] == "yes"
    client.close()
    undo()


# the end


def test_at_the_end_of_input_everybody_learns_it(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rules C19, C53
    waiting, queued = client.subscribe(), client.subscribe()
    peer.send(status("s", "idle"))
    assert waiting.get() is not None
    calls = [flavour.background(client.request, "any"), flavour.background(waiting.get)]
    peer.receive()
    peer.hang_up()
    for future in calls:
        with pytest.raises(TransportClosedError, match="JSON-RPC input closed"):
            future.result()
    assert queued.get().params.status == "idle"
    for _ in range(2):
        with pytest.raises(TransportClosedError, match="JSON-RPC input closed"):
            queued.get()
    for attempt in (lambda: client.request("any"), client.subscribe, lambda: client.prompt("s", "x")):
        with pytest.raises(TransportClosedError, match="JSON-RPC input closed"):
            attempt()


def test_closing_drops_what_is_queued_and_ends_everything(flavour: Flavour, client: Any, peer: Peer) -> None:
    # rules C19, C47, C48
    subscription = client.subscribe()
    peer.send(status("s", "idle"), status("s", "idle"))
    subscription.get()
    pending = flavour.background(client.request, "any")
    peer.receive()
    closing = flavour.background(client.close)
    assert peer.answer({})["method"] == "shutdown"
    closing.result()
    with pytest.raises(TransportClosedError, match="JSON-RPC transport closed"):
        pending.result()
    for attempt in (
        subscription.get,
        client.start,
        client.subscribe,
        client.notifications().get,
        client.initialize,
        lambda: client.request("any"),
    ):
        with pytest.raises(TransportClosedError, match="DeepSeek Harness runtime client is closed"):
            attempt()
    client.close()
    assert client.closed
    assert peer.silent()


def test_a_shutdown_that_fails_is_recorded(flavour: Flavour, peer: Peer) -> None:
    # rules C38, C46
    client = peer.connect(flavour, times=ClosingTimes(shutdown=20.0))
    future = flavour.background(client.close)
    peer.refuse(-32603, "SDK server teardown failed")
    future.result()
    assert str(client.shutdown_error) == "SDK server teardown failed (code -32603)"


def test_a_shutdown_that_is_not_answered_takes_its_time_and_no_more(client: Any, peer: Peer) -> None:
    # rules C38, C46
    client.close()
    assert isinstance(client.shutdown_error, TimeoutError)
    assert peer.receive()["method"] == "shutdown"


def test_before_start_nothing_goes(flavour: Flavour) -> None:
    client = flavour.client()
    with pytest.raises(LocalProtocolError, match="not started"):
        client.request("any")
    client.close()


def test_starting_twice_is_starting_once(flavour: Flavour, client: Any, peer: Peer) -> None:
    client.start()
    with client.subscribe() as everything:
        peer.send(status("s", "idle"), status("s", "running"))
        assert [everything.get().params.status for _ in range(2)] == ["idle", "running"]
