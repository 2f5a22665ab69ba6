"""A flavour per test, and a look in the end for what was left behind: threads, tasks, child processes, descriptors."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsh_runtime.launch import ClosingTimes
from tests.runtime.client.flavours import FLAVOURS, PATIENCE, Flavour

AMPLE = {"shutdown": 20.0, "end_of_input": 20.0, "terminate": 20.0, "kill": 20.0, "aftermath": 20.0}


def ample_but(**times: float) -> ClosingTimes:
    """Times that no machine is too slow for, but for those of the steps that are meant to run out."""
    return ClosingTimes(**{**AMPLE, **times})


def descriptors() -> set[str]:
    """The open descriptors of this process, with what they refer to."""
    found = set()
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names of links that may vanish
        try:
            found.add(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")  # noqa: PTH115
        except FileNotFoundError:
            continue
    return found


def children() -> set[str]:
    """The child processes of this process, zombies included."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


@pytest.fixture
def nothing_is_left() -> Iterator[None]:
    gc.collect()
    threads, open_before, children_before = set(threading.enumerate()), descriptors(), children()
    yield
    gc.collect()
    for thread in set(threading.enumerate()) - threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), thread
    assert children() <= children_before
    assert descriptors() <= open_before


@pytest.fixture(params=FLAVOURS)
def flavour(request: pytest.FixtureRequest, nothing_is_left: None) -> Iterator[Flavour]:
    made = FLAVOURS[request.param]()
    yield made
    made.close()
