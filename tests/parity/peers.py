"""Where the published packages of others are, if they are on this machine.

`DSH_PEER_DIR` names a folder with `node_modules` and a Python environment in it; otherwise the project's own are looked at.
"""

from __future__ import annotations

import os
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PROTOCOL: Final = Path("node_modules/@deepseek-ai/dsh-sdk-protocol")
MODELS: Final = "deepseek_harness"


def folders() -> list[Path]:
    """Where to look, first things first."""
    given = os.environ.get("DSH_PEER_DIR")
    return [*([(ROOT / given).resolve()] if given else []), ROOT, ROOT / "tests" / "typescript"]


def typescript_peer() -> Path:
    """The npm package of the protocol types, or the test is skipped."""
    for folder in folders():
        if (folder / PROTOCOL / "package.json").is_file():
            return folder / PROTOCOL
    pytest.skip("@deepseek-ai/dsh-sdk-protocol is not installed; DSH_PEER_DIR names a folder with node_modules that has it")


def python_peer() -> Path:
    """The package of the Python SDK, or the test is skipped."""
    for folder in folders()[:1] if os.environ.get("DSH_PEER_DIR") else []:
        for found in sorted(folder.glob(f"*/lib/python3.*/site-packages/{MODELS}")):
            return found
    spec = PathFinder.find_spec(MODELS)
    if spec is not None and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    pytest.skip("deepseek-harness-sdk is not installed; DSH_PEER_DIR names a folder with an environment that has it")
