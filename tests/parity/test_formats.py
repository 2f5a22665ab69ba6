"""The formats of `parity` that others have a schema for, on types that agree and on types that don't."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from dsh_codegen.cli import main
from dsh_codegen.parity.difference import CATEGORIES
from tests import public_schemas

ROOT: Final = Path(__file__).parents[2]
SAMPLES: Final = Path(__file__).parent / "samples"


@pytest.fixture(params=[False, True], ids=["agreeing", "differing"])
def arguments(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    if not request.param:
        return []
    target = tmp_path / "models.py"
    shutil.copy(SAMPLES / "models.py.sample", target)
    return ["--python", str(target)]


def parity(arguments: list[str], format_: str) -> str:
    command = ["parity", "--config", str(ROOT / "pyproject.toml"), "--revision", "0.2.1", "--format", format_, *arguments]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == bool(arguments), result.output
    return result.output


def test_sarif(arguments: list[str]) -> None:
    assert bool(public_schemas.sarif(parity(arguments, "sarif"))["results"]) is bool(arguments)


def test_junit(arguments: list[str]) -> None:
    root = public_schemas.junit(parity(arguments, "junit"))
    assert root.get("tests") == str(len(CATEGORIES))
    assert (root.get("failures") != "0") is bool(arguments)


def test_github(arguments: list[str]) -> None:
    assert bool(list(public_schemas.github(parity(arguments, "github")))) is bool(arguments)
