"""Every case on every flavour; and every transport rule of PROTOCOL.md has a case."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.cases import CASES, Case
from tests.runtime.rig import Rig

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _no_preemption() -> Iterator[None]:
    """Who is told to go on does so before whoever told it: what is asked is the order, not the scheduler's luck."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_behaviour(rig: Rig, case: Case) -> None:
    case.run(rig)


def test_every_transport_rule_has_a_case() -> None:
    text = (ROOT / "schema" / "PROTOCOL.md").read_text(encoding="utf-8")
    rules = set(re.findall(r"^- \*\*(T\d+)\*\*", text, re.MULTILINE))
    assert rules == {rule for case in CASES for rule in case.rules}
