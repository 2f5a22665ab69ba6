from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsh_codegen import generate as generate_module
from dsh_codegen.manifest import parse_manifest, read_manifest
from tests.codegen.projects import FROZEN, PYTHON, SHAPES, TYPESCRIPT, Project, snapshot

HEAD = PYTHON / "v1_0"
MANUAL = "An orphan that was not generated has to be moved or deleted by hand.\n"
COMMAND = "To make the files follow the schema, run: "


def causes_of(said: str) -> list[str]:
    """The lines before the diffs."""
    return said.split("\n\n")[0].splitlines()


def drift(project: Project, *args: str | Path) -> dict[str, str]:
    """Kind and cause by path."""
    found = {}
    for line in causes_of(project.check(*args)):
        kind, _, rest = line.partition(":")
        path, _, cause = rest.strip().partition(": ")
        found[path] = f"{kind}: {cause}"
    return found


def follow_the_advice(project: Project, *args: str | Path) -> None:
    """Run the command that `check` just printed; after that the check is clean."""
    line = next(line for line in project.said.splitlines() if line.startswith(COMMAND))
    words = shlex.split(line.removeprefix(COMMAND))
    assert words[:2] == ["dsh-codegen", "generate"]
    project.generate(*words[2:])
    assert project.is_clean(*args)


def edit_json(file: Path, change: Callable[[Any], object]) -> None:
    value = json.loads(file.read_text(encoding="utf-8"))
    change(value)
    file.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def test_clean(generated: Project) -> None:
    result = generated.run("check")
    count = sum(isinstance(content, bytes) for content in snapshot(generated.root / "generated").values())
    assert (result.exit_code, result.output) == (0, f"clean: {count} generated files are up to date\n")


def test_checking_changes_nothing(generated: Project) -> None:
    generated.edit(HEAD / "shapes.py", "label", "lable")
    before = snapshot(generated.root)
    generated.check()
    assert snapshot(generated.root) == before


def test_nothing_was_generated_yet(project: Project) -> None:
    assert set(drift(project).values()) == {"missing: nothing was generated here yet"}
    follow_the_advice(project)


def test_a_deleted_file(generated: Project) -> None:
    (generated.root / HEAD / "shapes.py").unlink()
    assert drift(generated) == {f"{HEAD}/shapes.py": "missing: it was generated, but someone deleted it"}
    follow_the_advice(generated)


def test_a_deleted_directory(generated: Project) -> None:
    shutil.rmtree(generated.root / TYPESCRIPT)
    assert set(drift(generated).values()) == {"missing: nothing was generated here yet"}
    follow_the_advice(generated)


def test_a_file_that_the_schema_asks_for_now(generated: Project) -> None:
    generated.write("schema/extra.schema.json", {"$defs": {"Extra": SHAPES["$defs"]["Point"]}})
    found = drift(generated)
    assert found[f"{HEAD}/extra.py"] == "missing: it is new: the schema of 1.0 changed"
    assert found[f"{TYPESCRIPT}/v1_0.d.ts"] == "changed: the schema of 1.0 changed"
    assert found[f"{PYTHON}/manifest.json"] == "changed: it lists other files than are generated now"
    assert not any("v0_9" in path for path in found)
    follow_the_advice(generated)


def test_a_file_that_the_schema_no_longer_asks_for(generated: Project) -> None:
    generated.edit("schema/methods.json", '"params": "Line"', '"params": "Point"')
    (generated.root / "schema" / "lines.schema.json").unlink()
    found = drift(generated)
    assert found[f"{HEAD}/lines.py"] == "orphan: it is no longer asked for: the schema of 1.0 changed"
    assert MANUAL not in generated.said
    follow_the_advice(generated)
    assert not (generated.root / HEAD / "lines.py").exists()


@pytest.mark.parametrize(
    ("path", "content"),
    [(PYTHON / "stray.py", ""), (HEAD / "deep" / "er" / "stray.txt", "x"), (TYPESCRIPT / ".hidden", "")],
)
def test_a_stray_file_is_red_and_left_to_its_owner(generated: Project, path: Path, content: str) -> None:
    file = generated.write(path, content)
    assert drift(generated) == {str(path): "orphan: it was not generated; only generated files belong here"}
    said = generated.said
    assert said.endswith(f"\n\n{MANUAL}")
    assert COMMAND not in said, "generating would not help"
    assert f"left alone: {path}: it was not generated" in generated.generate()
    assert file.read_text(encoding="utf-8") == content
    file.unlink()
    if path.parent.name == "er":
        file.parent.rmdir()
        file.parent.parent.rmdir()
    assert generated.is_clean()


def test_a_link_to_a_directory_is_a_stray_and_not_entered(generated: Project, tmp_path: Path) -> None:
    (generated.root / PYTHON / "away").symlink_to(tmp_path)
    assert drift(generated) == {f"{PYTHON}/away": "orphan: it was not generated; only generated files belong here"}


@pytest.mark.parametrize(
    "name",
    [
        ".shapes.py.swp",
        "shapes.py~",
        ".#shapes.py",
        "#shapes.py#",
        ".DS_Store",
        "__pycache__/shapes.pyc",
        "node_modules/x/y.js",
    ],
)
def test_what_tools_drop_anywhere_is_no_drift(generated: Project, name: str) -> None:
    generated.write(HEAD / name, "x")
    assert generated.is_clean()


def test_the_leftover_of_a_killed_run_is_one_orphan_and_goes(generated: Project) -> None:
    for name in ("new/a.py", "old/a.py"):
        generated.write(PYTHON / ".dsh-codegen-x1" / name, "x")
    assert drift(generated) == {f"{PYTHON}/.dsh-codegen-x1": "orphan: a run that was killed left it behind"}
    follow_the_advice(generated)


@pytest.mark.parametrize("path", ["_codec.py", "py.typed", "v1_0/schema.json", "v0_9/shapes.py", "__init__.py"])
def test_a_one_byte_edit(generated: Project, path: str) -> None:
    file = generated.root / PYTHON / path
    file.write_bytes(file.read_bytes() + b"\n")
    assert drift(generated) == {f"{PYTHON}/{path}": "changed: it was edited by hand"}
    follow_the_advice(generated)


def test_a_one_byte_edit_of_typescript(generated: Project) -> None:
    generated.edit(TYPESCRIPT / "v1_0.d.ts", "label?", "lable?")
    said = generated.check()
    assert causes_of(said) == [f"changed: {TYPESCRIPT}/v1_0.d.ts: it was edited by hand"]
    assert f"--- {generated.root / TYPESCRIPT}/v1_0.d.ts (on disk)\n+++ " in said
    assert "\n-  lable?: string;\n+  label?: string;\n" in said


def test_the_schema_changed(generated: Project) -> None:
    generated.edit("schema/shapes.schema.json", "Where it was put.", "Where it went.")
    found = drift(generated)
    assert set(found) == {f"{HEAD}/shapes.py", f"{HEAD}/schema.json", f"{TYPESCRIPT}/v1_0.d.ts"}
    assert set(found.values()) == {"changed: the schema of 1.0 changed"}
    follow_the_advice(generated)


def test_the_schema_of_a_frozen_revision_changed(generated: Project) -> None:
    generated.edit("schema/revisions/0.9.json", "Where something is.", "Where it is.")
    assert set(drift(generated).values()) == {"changed: the schema of 0.9 changed"}
    follow_the_advice(generated)


def test_a_schema_edit_without_effect_is_no_drift(generated: Project) -> None:
    generated.edit("schema/shapes.schema.json", '"$defs"', '"$comment": "Reviewed.", "$defs"')
    assert generated.is_clean()


def test_a_revision_was_added(generated: Project) -> None:
    generated.write("schema/revisions/0.8.json", {**FROZEN, "x-revision": "0.8"})
    generated.edit("pyproject.toml", '"0.9"', '"0.8", "0.9"')
    found = drift(generated)
    assert found[f"{PYTHON}/v0_8/shapes.py"] == "missing: it is new: revision 0.8 was added"
    assert found[f"{PYTHON}/__init__.py"] == "changed: revision 0.8 was added"
    assert found[f"{PYTHON}/manifest.json"] == "changed: the revisions changed: they are 0.8, 0.9, 1.0 now, the head is 1.0"
    follow_the_advice(generated)


def test_a_revision_was_removed(generated: Project) -> None:
    shutil.rmtree(generated.root / "schema" / "revisions")
    generated.edit("pyproject.toml", '"0.9", ', "")
    found = drift(generated)
    assert found[f"{PYTHON}/v0_9/shapes.py"] == "orphan: it is no longer asked for: revision 0.9 was removed"
    follow_the_advice(generated)
    assert not (generated.root / PYTHON / "v0_9").exists()


def test_the_generator_changed(generated: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate_module, "_LINE_LENGTH", 60)
    monkeypatch.setattr(generate_module, "PINNED", {})  # part of the generator's digest
    found = drift(generated)
    assert set(found.values()) == {"changed: the generator or a template changed"}
    assert f"{PYTHON}/_codec.py" in found
    follow_the_advice(generated)


def test_a_generator_change_without_effect_is_no_drift(generated: Project) -> None:
    for root in (PYTHON, TYPESCRIPT):
        edit_json(generated.root / root / "manifest.json", lambda value: value.update(generator="0" * 64))
    assert generated.is_clean()


def test_the_settings_changed(generated: Project) -> None:
    generated.edit("pyproject.toml", '"Requests"', '"Calls"')
    assert drift(generated) == {
        f"{TYPESCRIPT}/v1_0.d.ts": "changed: the settings changed",
        f"{TYPESCRIPT}/v0_9.d.ts": "changed: the settings changed",
    }
    follow_the_advice(generated)


def test_several_causes_at_once(generated: Project) -> None:
    generated.edit("schema/shapes.schema.json", "Where it was put.", "Where it went.")
    generated.edit(HEAD / "shapes.py", "label", "lable")
    generated.edit(PYTHON / "v0_9" / "shapes.py", "Point", "Pount")
    for root in (PYTHON, TYPESCRIPT):
        edit_json(generated.root / root / "manifest.json", lambda value: value["revisions"]["1.0"].update(generator="0" * 64))
    (generated.root / TYPESCRIPT / "index.d.ts").unlink()
    generated.write(PYTHON / "stray.py", "")
    both = "the schema of 1.0 changed; the generator or a template changed"
    assert list(drift(generated).items()) == [
        (f"{PYTHON}/stray.py", "orphan: it was not generated; only generated files belong here"),
        (f"{TYPESCRIPT}/index.d.ts", "missing: it was generated, but someone deleted it"),
        (f"{PYTHON}/v0_9/shapes.py", "changed: it was edited by hand"),
        (f"{HEAD}/schema.json", f"changed: {both}"),
        (f"{HEAD}/shapes.py", f"changed: it was edited by hand; {both}"),
        (f"{TYPESCRIPT}/v1_0.d.ts", f"changed: {both}"),
    ]
    assert COMMAND in generated.said
    assert generated.said.endswith(MANUAL)


def test_crlf_files_are_clean(generated: Project) -> None:
    for file in (generated.root / "generated").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert generated.is_clean()
    generated.edit(HEAD / "shapes.py", "label", "lable")
    assert drift(generated) == {f"{HEAD}/shapes.py": "changed: it was edited by hand"}


def test_a_deleted_manifest(generated: Project) -> None:
    (generated.root / PYTHON / "manifest.json").unlink()
    assert drift(generated) == {f"{PYTHON}/manifest.json": "missing: it was generated, but someone deleted it"}
    generated.edit(HEAD / "shapes.py", "label", "lable")
    (generated.root / HEAD / "lines.py").unlink()
    found = drift(generated)
    assert found[f"{HEAD}/shapes.py"] == "changed: there is no manifest, so whether it was edited by hand is unknown"
    assert found[f"{HEAD}/lines.py"] == "missing: without a manifest nothing says whether it ever was there"
    follow_the_advice(generated)


@pytest.mark.parametrize(
    "text",
    ["", '{"head": "1.0"', '{"head": 1, "revisions": [], "files": []}', "<<<<<<< ours\n{}\n", "[" * 100_000],
    ids=["empty", "half", "types", "conflict", "deep"],
)
def test_a_manifest_that_is_none(generated: Project, text: str) -> None:
    generated.write(PYTHON / "manifest.json", text)
    said = "changed: it was edited by hand or is half-written: it is no manifest"
    assert drift(generated) == {f"{PYTHON}/manifest.json": said}
    follow_the_advice(generated)


def test_a_manifest_that_is_not_text(generated: Project) -> None:
    (generated.root / PYTHON / "manifest.json").write_bytes(b"\xff\xfe")
    assert drift(generated) == {f"{PYTHON}/manifest.json": "changed: it was edited by hand: it is not UTF-8 text"}
    follow_the_advice(generated)


def test_an_edited_digest(generated: Project) -> None:
    edit_json(generated.root / PYTHON / "manifest.json", lambda value: value["files"].update({"_codec.py": "0" * 64}))
    said = "changed: it was edited by hand, or a run was cut short: its entry for _codec.py does not fit that file"
    assert drift(generated) == {f"{PYTHON}/manifest.json": said}
    follow_the_advice(generated)


def test_an_entry_taken_out(generated: Project) -> None:
    edit_json(generated.root / PYTHON / "manifest.json", lambda value: value["files"].pop("_codec.py"))
    assert drift(generated) == {f"{PYTHON}/manifest.json": "changed: it lists other files than are generated now"}
    follow_the_advice(generated)


def test_a_manifest_can_not_make_us_remove_what_is_elsewhere(generated: Project) -> None:
    outside = generated.write("outside.txt", "mine")
    edit_json(
        generated.root / PYTHON / "manifest.json", lambda value: value["files"].update({"../../../outside.txt": "0" * 64})
    )
    generated.generate()
    assert outside.read_text(encoding="utf-8") == "mine"
    assert generated.is_clean()


def test_a_file_that_is_not_text(generated: Project) -> None:
    (generated.root / HEAD / "shapes.py").write_bytes(b"\x7fELF\xff\0")
    said = generated.check()
    assert causes_of(said) == [f"changed: {HEAD}/shapes.py: it was edited by hand: it is not UTF-8 text"]
    assert "---" not in said
    follow_the_advice(generated)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_can_not_be_read(generated: Project) -> None:
    (generated.root / HEAD / "shapes.py").chmod(0)
    assert drift(generated) == {f"{HEAD}/shapes.py": "changed: it can't be read: Permission denied"}
    follow_the_advice(generated)


def test_an_empty_directory_in_place_of_a_file(generated: Project) -> None:
    file = generated.root / HEAD / "shapes.py"
    file.unlink()
    file.mkdir()
    assert drift(generated) == {f"{HEAD}/shapes.py": "missing: a directory is in its place; move it away"}
    follow_the_advice(generated)


def test_a_full_directory_in_place_of_a_file(generated: Project) -> None:
    file = generated.root / HEAD / "shapes.py"
    file.unlink()
    generated.write(HEAD / "shapes.py" / "mine.txt", "mine")
    assert drift(generated) == {
        f"{HEAD}/shapes.py": "missing: a directory is in its place; move it away",
        f"{HEAD}/shapes.py/mine.txt": "orphan: it was not generated; only generated files belong here",
    }
    before = snapshot(generated.root)
    assert generated.refusal("generate") == f"{file}: a directory is in the place of a generated file; move it away"
    assert snapshot(generated.root) == before


def test_a_file_in_place_of_the_output_directory(project: Project) -> None:
    project.write(TYPESCRIPT, "mine")
    assert "missing: nothing was generated here yet" in drift(project).values()
    before = snapshot(project.root)
    place = project.root / TYPESCRIPT
    assert project.refusal("generate") == f"{place}: a file is in the place of a generated directory; move it away"
    assert snapshot(project.root) == before


@pytest.mark.parametrize("target", ["../../../../copy.py", "nowhere.py", "shapes.py"])
def test_a_link_in_place_of_a_file(generated: Project, target: str) -> None:
    file = generated.root / HEAD / "shapes.py"
    file.rename(generated.root / "copy.py")
    file.symlink_to(target)
    assert drift(generated) == {f"{HEAD}/shapes.py": "changed: a link is in its place"}
    text = (generated.root / "copy.py").read_text(encoding="utf-8")
    follow_the_advice(generated)
    assert not file.is_symlink()
    assert (generated.root / "copy.py").read_text(encoding="utf-8") == text


def test_a_pipe_in_place_of_a_file(generated: Project) -> None:
    file = generated.root / HEAD / "shapes.py"
    file.unlink()
    os.mkfifo(file)
    assert drift(generated) == {f"{HEAD}/shapes.py": "changed: something that is no regular file is in its place"}
    follow_the_advice(generated)


def test_a_file_of_ours_that_the_manifest_does_not_know(generated: Project) -> None:
    generated.write("schema/extra.schema.json", {"$defs": {"Extra": SHAPES["$defs"]["Point"]}})
    generated.write(HEAD / "extra.py", "mine = 1\n")
    said = "changed: a file that was not generated is in the place of a generated one"
    assert drift(generated)[f"{HEAD}/extra.py"] == said


def test_long_diffs_are_cut(generated: Project) -> None:
    file = generated.root / HEAD / "shapes.py"
    file.write_text("".join(f"line {number}\n" for number in range(500)), encoding="utf-8")
    said = generated.check()
    lines = said.splitlines()
    assert len(lines) == 1 + 1 + 60 + 1 + 2
    assert any(line.startswith("... and ") and line.endswith(" more lines") for line in lines)


def test_many_diffs_are_cut(generated: Project) -> None:
    for file in (generated.root / PYTHON).rglob("*.py"):
        file.write_text("\n", encoding="utf-8")
    said = generated.check()
    count = sum(line.startswith("changed:") for line in said.splitlines())
    assert said.count("\n--- ") == 10
    assert f"\n... and the diffs of {count - 10} more files\n" in said


def test_a_diff_shows_a_lost_final_newline(generated: Project) -> None:
    file = generated.root / TYPESCRIPT / "index.d.ts"
    file.write_bytes(file.read_bytes().removesuffix(b"\n"))
    assert '\n-export * from "./v1_0.js";\n\\ No newline at end of file\n+export * from "./v1_0.js";\n' in generated.check()


def test_the_advice_repeats_the_options(generated: Project) -> None:
    generated.edit("schema/shapes.schema.json", "Where it was put.", "Where it went.")
    out = generated.root / "some dir" / "it's"
    args = ["--revision", "1.0", "--config", "pyproject.toml", "--python-out", str(out)]
    assert f"generate --revision 1.0 --config pyproject.toml --python-out {shlex.quote(str(out))}\n" in generated.check(*args)
    follow_the_advice(generated, *args)
    assert (out / "dsh_protocol" / "v1_0" / "shapes.py").is_file()


def test_a_check_of_one_revision_says_nothing_of_the_others(generated: Project) -> None:
    generated.edit(HEAD / "shapes.py", "label", "lable")
    assert generated.is_clean("--revision", "0.9")
    assert drift(generated, "--revision", "1.0") == {f"{HEAD}/shapes.py": "changed: it was edited by hand"}
    follow_the_advice(generated, "--revision", "1.0")


def test_the_manifest_reads_back(generated: Project) -> None:
    manifest = read_manifest(generated.root / PYTHON)
    assert manifest is not None
    assert parse_manifest(manifest.text()) == manifest
    assert list(manifest.revisions) == ["0.9", "1.0"]
    assert [manifest.owner(path) for path in ("v0_9/shapes.py", "v1_0.d.ts", "_codec.py")] == ["0.9", "1.0", None]
