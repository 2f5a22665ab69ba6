"""Small projects with a schema of their own, and the command line run in them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner, Result

ROOT: Final = Path(__file__).parents[2]

PYTHON: Final = Path("generated/python/dsh_protocol")
TYPESCRIPT: Final = Path("generated/typescript")

SETTINGS: Final = """\
[tool.dsh-codegen]
revisions = ["0.9", "1.0"]
request-map = "Requests"
"""

SHAPES: Final[dict[str, Any]] = {
    "$defs": {
        "Point": {
            "description": "Where something is — “here”.",
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}, "label": {"type": "string"}},
            "required": ["x", "y"],
        },
        "Moved": {
            "description": "Where it was put.",
            "type": "object",
            "properties": {"to": {"$ref": "#/$defs/Point"}},
            "required": ["to"],
        },
    }
}
LINES: Final[dict[str, Any]] = {
    "$defs": {
        "Line": {
            "description": "From one point to another.",
            "type": "object",
            "properties": {"ends": {"type": "array", "items": {"$ref": "shapes.schema.json#/$defs/Point"}}},
            "required": ["ends"],
        }
    }
}
METHODS: Final[dict[str, Any]] = {
    "revision": "1.0",
    "title": "Shapes",
    "methods": [
        {"name": "move", "sender": "client", "params": "Point", "result": "Moved", "description": "Move it."},
        {"name": "drawn", "sender": "server", "params": "Line", "description": "A line was drawn."},
    ],
}
FROZEN: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Shapes",
    "x-revision": "0.9",
    "x-methods": [{"name": "move", "sender": "client", "params": "Point", "result": "Point", "description": "Move it."}],
    "$defs": {
        "Point": {
            "description": "Where something is.",
            "x-module": "shapes",
            "type": "object",
            "properties": {"x": {"type": "integer"}},
            "required": ["x"],
        }
    },
}
SCHEMA: Final[dict[str, Any]] = {
    "shapes.schema.json": SHAPES,
    "lines.schema.json": LINES,
    "methods.json": METHODS,
    "revisions/0.9.json": FROZEN,
}


@dataclass
class Project:
    """A directory with settings and a schema. `said` is what the last check said that found drift."""

    root: Path
    said: str = ""

    def run(self, *args: str | Path, cwd: Path | None = None) -> Result:
        """Run `dsh-codegen` in this process. An exception that is not meant for the user fails the test."""
        from dsh_codegen.cli import main

        with chdir(cwd or self.root):
            return CliRunner(catch_exceptions=False).invoke(main, [str(arg) for arg in args], prog_name="dsh-codegen")

    def generate(self, *args: str | Path) -> str:
        """Generate, successfully; what was said."""
        result = self.run("generate", *args)
        assert result.exit_code == 0, result.output
        return result.output

    def check(self, *args: str | Path) -> str:
        """What a check that finds drift says."""
        result = self.run("check", *args)
        assert result.exit_code == 1, result.output
        assert not result.stderr
        self.said = result.stdout
        return result.stdout

    def is_clean(self, *args: str | Path) -> bool:
        return self.run("check", *args).exit_code == 0

    def refusal(self, *args: str | Path) -> str:
        """The one sentence of a command that can't be carried out."""
        result = self.run(*args)
        assert result.exit_code == 2, result.output
        assert not result.stdout
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr.removeprefix("error: ").removesuffix("\n")

    def write(self, path: str | Path, content: object) -> Path:
        """Write a file: text as it is, anything else as JSON."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8", newline="\n")
        return file

    def edit(self, path: str | Path, old: str, new: str) -> Path:
        """Replace a text that stands in a file once or more."""
        file = self.root / path
        text = file.read_bytes().decode()
        assert old in text
        file.write_bytes(text.replace(old, new, 1).encode())
        return file


def new_project(root: Path, schema: Mapping[str, Any] = SCHEMA, settings: str = SETTINGS) -> Project:
    project = Project(root)
    project.write("pyproject.toml", settings)
    for name, content in schema.items():
        project.write(Path("schema", name), content)
    return project


def copy(project: Project, root: Path) -> Project:
    shutil.copytree(project.root, root, symlinks=True)
    return Project(root)


def snapshot(root: Path) -> dict[str, bytes | str | None]:
    """Everything below a directory: bytes of files, targets of links, None for folders."""
    found: dict[str, bytes | str | None] = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_bytes()
        else:
            found[name] = None
    return found


def environment(**changes: str) -> dict[str, str]:
    """The variables of a process that finds the generator and the libraries it needs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COLUMNS"))}
    return {**kept, "PYTHONPATH": str(ROOT / "codegen"), **changes}


def command(*args: str | Path, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `dsh-codegen` in a process of its own."""
    options.setdefault("env", environment())
    argv = [sys.executable, "-P", "-m", "dsh_codegen", *args]
    return subprocess.run(argv, cwd=cwd, capture_output=True, encoding="utf-8", errors="replace", check=False, **options)
