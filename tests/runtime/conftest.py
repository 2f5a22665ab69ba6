"""A rig per test, for every flavour, that leaves nothing behind."""

from __future__ import annotations

import faulthandler
import gc
from collections.abc import Iterator

import pytest

from tests.runtime.rig import FLAVOURS, PATIENCE, Rig, make_rig


@pytest.fixture(scope="session")
def _young() -> None:
    """What is there before the first test is not looked at again when its garbage is collected."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=FLAVOURS)
def rig(_young: None, request: pytest.FixtureRequest) -> Iterator[Rig]:
    faulthandler.dump_traceback_later(2 * PATIENCE, exit=True)
    rig = make_rig(request.param)
    try:
        yield rig
        rig.close()
    finally:
        faulthandler.cancel_dump_traceback_later()
    gc.collect()  # so that a warning about something left open belongs to this test
