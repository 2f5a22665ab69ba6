"""What the tests with real peers share: the marker, both flavours of the client, and the look for what they leave."""

from __future__ import annotations

import pytest

from tests.runtime.client.fixtures import flavour, nothing_is_left

pytest.register_assert_rewrite("tests.interop.scenarios", "tests.interop.driven")

__all__ = ["flavour", "nothing_is_left"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "interop: needs a real peer; skipped where there is none")
