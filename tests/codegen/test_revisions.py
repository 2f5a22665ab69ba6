from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsh_codegen.config import load_config
from dsh_codegen.errors import CodegenError
from dsh_codegen.revisions import Revisions, read_revisions
from tests.codegen.projects import FROZEN, METHODS, SCHEMA, SHAPES, Project, new_project


def read(project: Project) -> Revisions:
    return read_revisions(load_config(project.root / "pyproject.toml"))


def refusal(project: Project) -> str:
    with pytest.raises(CodegenError) as caught:
        read(project)
    return str(caught.value)


def frozen(revision: str) -> dict[str, Any]:
    return {**FROZEN, "x-revision": revision}


def unordered(tmp_path: Path, **more: Any) -> Project:
    return new_project(tmp_path / "project", {**SCHEMA, **more}, "[tool.dsh-codegen]\n")


def test_the_head_is_the_directory_and_the_others_are_frozen(project: Project) -> None:
    revisions = read(project)
    assert revisions.head == "1.0"
    assert [(each.name, each.module) for each in revisions.all] == [("0.9", "v0_9"), ("1.0", "v1_0")]


def test_the_settings_say_which_is_older(tmp_path: Path) -> None:
    settings = "[tool.dsh-codegen]\nrevisions = ['1.0', '0.9']\n"
    revisions = read(new_project(tmp_path, settings=settings))
    assert ([each.name for each in revisions.all], revisions.head) == (["1.0", "0.9"], "1.0")


def test_without_an_order_the_frozen_ones_come_by_name_and_the_head_last(tmp_path: Path) -> None:
    project = unordered(tmp_path)
    for name in ("2.0", "0.5"):
        project.write(f"schema/revisions/{name}.json", frozen(name))
    assert [each.name for each in read(project).all] == ["0.5", "0.9", "2.0", "1.0"]


def test_a_schema_without_a_method_table_is_named_after_its_directory(tmp_path: Path) -> None:
    project = new_project(tmp_path, {"shapes.schema.json": SHAPES}, "[tool.dsh-codegen]\n")
    revisions = read(project)
    assert ([each.name for each in revisions.all], revisions.head) == (["schema"], "schema")


def test_one_file_can_be_the_schema(project: Project) -> None:
    config = load_config(project.root / "pyproject.toml", schema=project.root / "schema/revisions/0.9.json")
    revisions = read_revisions(config)
    assert ([each.name for each in revisions.all], revisions.head) == (["0.9"], "0.9")


def test_what_editors_and_file_browsers_leave_behind_is_no_revision(project: Project) -> None:
    folder = project.root / "schema" / "revisions"
    (folder / ".#0.9.json").symlink_to("somebody@somewhere.1234")
    (folder / "._0.9.json").write_bytes(b"\0\5\26\7")
    (folder / "0.9.json~").write_text("{", encoding="utf-8")
    (folder / "README.md").write_text("Frozen.", encoding="utf-8")
    assert [each.name for each in read(project).all] == ["0.9", "1.0"]


def test_the_digest_depends_on_content_only(project: Project, tmp_path: Path) -> None:
    before = {each.name: each.digest for each in read(project).all}
    for file in (project.root / "schema").rglob("*.json"):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert {each.name: each.digest for each in read(project).all} == before
    project.edit("schema/shapes.schema.json", "Where it was put.", "Where it was put!")
    after = {each.name: each.digest for each in read(project).all}
    assert (after["0.9"] == before["0.9"], after["1.0"] == before["1.0"]) == (True, False)


def test_a_frozen_file_is_named_after_its_revision(project: Project) -> None:
    folder = project.root / "schema" / "revisions"
    (folder / "0.9.json").rename(folder / "0.8.json")
    assert refusal(project) == "revisions/0.8.json: the bundle is of revision '0.9'; name the file after it"


def test_a_broken_frozen_file_is_named_with_its_folder(project: Project) -> None:
    project.write("schema/revisions/0.9.json", "{")
    assert refusal(project).startswith("revisions/0.9.json: not JSON: ")


def test_the_head_must_not_be_called_as_a_frozen_revision(tmp_path: Path) -> None:
    project = unordered(tmp_path)
    project.write("schema/methods.json", {**METHODS, "revision": "0.9"})
    assert refusal(project) == f"{project.root / 'schema'}: the head is called '0.9', as a frozen revision already is"


def test_two_revisions_must_not_share_a_package(tmp_path: Path) -> None:
    project = unordered(tmp_path)
    project.write("schema/revisions/1-0.json", frozen("1-0"))
    assert refusal(project) == "two of the revisions 0.9, 1-0, 1.0 would be the same Python package; rename one"


@pytest.mark.parametrize(
    ("listed", "problem"),
    [
        ("['1.0']", "'0.9' is not listed"),
        ("['0.8', '0.9', '1.0']", "'0.8' is not there"),
        ("['0.8', '1.0']", "'0.8' is not there, '0.9' is not listed"),
        ("['0.9', '1.0', '1.0']", "one is listed twice"),
    ],
)
def test_the_listed_revisions_must_be_those_that_are_there(tmp_path: Path, listed: str, problem: str) -> None:
    project = new_project(tmp_path, settings=f"[tool.dsh-codegen]\nrevisions = {listed}\n")
    there = f"what {tmp_path / 'schema'} has (0.9, 1.0)"
    assert refusal(project) == f"'revisions' must list {there}, oldest first, but {problem}"
