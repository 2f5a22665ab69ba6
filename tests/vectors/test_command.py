"""`dsh-codegen vectors`: what it writes, compares and says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.codegen.projects import Project, new_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


def test_it_counts(project: Project) -> None:
    result = project.run("vectors")
    assert result.exit_code == 0
    assert [line.split(": ")[0] for line in result.stdout.splitlines()] == ["0.9", "1.0"]
    assert not (project.root / "out").exists()


def test_files_are_written_and_compared(project: Project) -> None:
    result = project.run("vectors", "--out", "out")
    assert result.exit_code == 0
    assert result.stdout.endswith("out: 3 of 3 files changed\n")
    rows = [json.loads(line) for line in (project.root / "out" / "1.0.jsonl").read_text(encoding="utf-8").splitlines()]
    said = json.loads((project.root / "out" / "summary.json").read_text(encoding="utf-8"))
    assert list(said) == ["0.9", "1.0"]
    assert said["1.0"]["vectors"] == len(rows) == len({row["id"] for row in rows})
    assert said["1.0"]["valid"] == sum(row["valid"] for row in rows)
    assert {row.get("side") for row in rows} == {None, "params", "result", "frame"}
    assert project.run("vectors", "--out", "out").stdout.endswith("out: up to date\n")
    assert project.run("vectors", "--out", "out", "--check").exit_code == 0


def test_one_revision(project: Project) -> None:
    project.run("vectors", "--out", "out")
    summary = (project.root / "out" / "summary.json").read_bytes()
    (project.root / "out" / "0.9.jsonl").unlink()
    result = project.run("vectors", "--out", "out", "--revision", "1.0")
    assert result.stdout.endswith("out: up to date\n")
    assert (project.root / "out" / "summary.json").read_bytes() == summary
    assert project.run("vectors", "--out", "out", "--check").exit_code == 0  # a file that is not there is not compared
    assert "no revision '1.1'" in project.refusal("vectors", "--revision", "1.1")


def test_a_changed_schema_is_noticed(project: Project) -> None:
    project.run("vectors", "--out", "out")
    project.edit("schema/lines.schema.json", '"required"', '"x-note": [], "required"')
    assert project.run("vectors", "--out", "out", "--check").exit_code == 0
    project.edit("schema/lines.schema.json", '"type": "array"', '"minItems": 2, "type": "array"')
    result = project.run("vectors", "--out", "out", "--check")
    assert result.exit_code == 1
    assert "summary.json: '1.0' differs" in result.stdout
    assert "1.0.jsonl: differs" in result.stdout
    assert "dsh-codegen vectors --out out" in result.stdout
    assert "'0.9'" not in result.stdout


def test_the_score(project: Project) -> None:
    result = project.run("vectors", "--score")
    assert result.exit_code == 0, result.output
    assert "1.0: " in result.stdout
    assert "0 missed: 100.00%" in result.stdout


def test_what_is_missed_is_named(project: Project) -> None:
    schema = project.root / "schema" / "shapes.schema.json"
    large = json.loads(schema.read_text(encoding="utf-8"))
    large["$defs"]["Point"]["properties"]["label"]["maxLength"] = 10**6  # too long to be tried
    project.write("schema/shapes.schema.json", large)
    result = project.run("vectors", "--score", "--revision", "1.0")
    assert result.exit_code == 1
    assert "  missed: /$defs/Point/properties/label/maxLength: up\n" in result.stdout


def test_usage(project: Project) -> None:
    assert project.refusal("vectors", "--check") == "--check compares a directory; name it with --out"
    project.write("out/summary.json", "[]")
    assert "it is no summary" in project.refusal("vectors", "--out", "out")
    project.write("out/summary.json", "{")
    assert "can't be read" in project.refusal("vectors", "--out", "out")


def test_the_settings_can_be_named(project: Project, tmp_path: Path) -> None:
    assert project.run("vectors", "--config", project.root / "pyproject.toml", cwd=tmp_path).exit_code == 0
