"""What tests of all parts share: reference material, and how hard hypothesis tries."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

ROOT: Final = Path(__file__).resolve().parents[1]

# The quick profile draws the same examples every time, so that a red run is red again. HYPOTHESIS_PROFILE=thorough draws
# others each time, and twenty times as many.
_SLOW_MACHINES: Final = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile("quick", max_examples=100, deadline=None, derandomize=True, suppress_health_check=_SLOW_MACHINES)
settings.register_profile("thorough", max_examples=2000, deadline=None, suppress_health_check=_SLOW_MACHINES)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# A shell starts background jobs with SIGINT ignored, and children inherit that; tests of Ctrl-C need it as a terminal has it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name binary data after its argument: parallel workers must collect equal names, and packed data holds the time."""
    return argname if isinstance(val, bytes) and not val.isascii() else None


@pytest.fixture(scope="session")
def reference_dir() -> Path:
    """Reference material that is no part of the product: real captures, in `captures/`."""
    folder = (ROOT / os.environ.get("DSH_REFERENCE_DIR", "../shared")).resolve()
    if not (folder / "captures").is_dir():
        pytest.skip(f"there are no reference captures in {folder}; DSH_REFERENCE_DIR names their folder")
    return folder
