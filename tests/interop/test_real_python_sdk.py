"""The real Python SDK drives `dsh-runtime`. The SDK lives in an environment of its own, whose Python DSH_PEERS_PYTHON names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.interop.driven import Driver
from tests.interop.scenarios import SCENARIOS, methods_of_0_2_1

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("drive_sdk.py")


@pytest.fixture(scope="module")
def driver() -> Driver:
    python = os.environ.get("DSH_PEERS_PYTHON")
    if not python:
        pytest.skip("there is no real Python SDK: run `make interop`")
    return Driver((str(Path(python).absolute()), str(SCRIPT)), "0.2.1")


@pytest.mark.parametrize("scenario", [*SCENARIOS, methods_of_0_2_1])
def test_it_drives_our_runtime(scenario: Callable[[Driver, Path], None], driver: Driver, tmp_path: Path) -> None:
    scenario(driver, tmp_path)
