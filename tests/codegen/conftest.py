"""What the tests of the generator share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import tsc as compiler
from tests.codegen.projects import Project, copy, new_project
from tests.tsc import Tsc

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def tsc() -> Tsc:
    reason = compiler.missing()
    if reason is not None:
        pytest.skip(reason)
    return Tsc(str(compiler.node()))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A small project, nothing generated yet."""
    return new_project(tmp_path / "project")


@pytest.fixture(scope="session")
def _generated(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = new_project(tmp_path_factory.mktemp("generated") / "project")
    project.generate()
    return project


@pytest.fixture
def generated(_generated: Project, tmp_path: Path) -> Project:
    """A small project with its generated files up to date."""
    return copy(_generated, tmp_path / "project")
