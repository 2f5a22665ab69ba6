"""mypy and pyright understand the generated package: both must agree with every line of the modules in this folder.

Errors that must be there are marked on their line, for each checker in its own words; a mark without its error is an error too.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
MODULES: Final = sorted(path for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_"))


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Status and output of each checker; they run side by side."""
    home = tmp_path_factory.mktemp("pyright")
    sources = [str(ROOT / folder) for folder in ("codegen", "generated/python")]
    for module in MODULES:  # pyright includes nothing from outside its project
        shutil.copy(module, home)
    config = {
        "extraPaths": sources,
        "pythonVersion": "3.11",
        "typeCheckingMode": "standard",
        "reportUnnecessaryComparison": "error",
        "enableTypeIgnoreComments": False,  # those are for mypy
        "reportUnnecessaryTypeIgnoreComment": "error",
    }
    (home / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    python = [sys.executable, "-m"]
    commands = {
        "mypy": [*python, "mypy", "--strict", "--warn-unused-ignores", *map(str, MODULES)],
        "pyright": [*python, "pyright", "--project", str(home), "--pythonpath", sys.executable, "--outputjson"],
    }
    running = {
        name: subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        for name, command in commands.items()
    }
    return {name: (process.returncode, output) for name, process in running.items() for output in [process.communicate()[0]]}


def test_mypy_agrees_with_every_line(reports: dict[str, tuple[int, str]]) -> None:
    status, output = reports["mypy"]
    assert status == 0, output
    assert f"no issues found in {len(MODULES)} source files" in output


def test_pyright_agrees_with_every_line(reports: dict[str, tuple[int, str]]) -> None:
    status, output = reports["pyright"]
    report = json.loads(output)
    assert report["generalDiagnostics"] == []
    assert status == 0
    assert report["summary"]["filesAnalyzed"] == len(MODULES)


def test_there_is_something_to_check() -> None:
    marks = [line for path in MODULES for line in path.read_text(encoding="utf-8").splitlines() if "type: ignore[" in line]
    assert len(MODULES) >= 3
    assert len(marks) > 15
