"""The real npm client drives `dsh-runtime`, on Node. DSH_PEERS_NPM names the folder with its `node_modules`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import tsc
from tests.interop.driven import Driver
from tests.interop.scenarios import SCENARIOS, methods_of_0_2_1

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def command() -> tuple[str, ...]:
    folder = os.environ.get("DSH_PEERS_NPM")
    if not folder:
        pytest.skip("there is no real npm client: run `make interop`")
    node = tsc.node()
    assert node is not None
    return node, str(Path(folder).absolute() / "drive.mjs")


@pytest.mark.parametrize("revision", ["0.1.5", "0.2.1"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_it_drives_our_runtime(
    scenario: Callable[[Driver, Path], None], revision: str, command: tuple[str, ...], tmp_path: Path
) -> None:
    scenario(Driver(command, revision), tmp_path)


def test_methods_that_it_has_no_name_for(command: tuple[str, ...], tmp_path: Path) -> None:
    methods_of_0_2_1(Driver(command, "0.2.1"), tmp_path)
