"""What the tests of the clients share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dsh_runtime.launch import ClosingTimes, Launch
from tests.runtime.client.fixtures import flavour, nothing_is_left
from tests.runtime.client.flavours import Flavour
from tests.runtime.client.peer import Peer

__all__ = ["flavour", "nothing_is_left"]


@pytest.fixture
def peer(flavour: Flavour) -> Iterator[Peer]:
    made = Peer()
    yield made
    made.close()


@pytest.fixture
def fake(tmp_path: Path) -> Callable[..., Launch]:
    """Makes the `Launch` of a fake runtime with these faults."""
    script = Path(__file__).with_name("fake_runtime.py")

    def launch(*faults: str) -> Launch:
        return Launch([sys.executable, "-IS", str(script), *faults], dsh_home=tmp_path)

    return launch


@pytest.fixture
def client(flavour: Flavour, peer: Peer) -> Any:
    """A client that talks to the peer and does not wait for its answer to `shutdown`."""
    made = peer.connect(flavour, times=ClosingTimes(shutdown=0.01))
    yield made
    made.close()
