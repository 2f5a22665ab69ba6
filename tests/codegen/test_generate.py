from __future__ import annotations

import hashlib
import json
import re
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_codegen.config import load_config
from dsh_codegen.generate import generator_digest, render
from dsh_codegen.manifest import digest, read_manifest
from tests.codegen.projects import (
    FROZEN,
    PYTHON,
    SCHEMA,
    SHAPES,
    TYPESCRIPT,
    Project,
    command,
    environment,
    new_project,
    snapshot,
)

HEAD = PYTHON / "v1_0"

# settings above the project and in the temporary directory that would spoil the layout, were they read
HOSTILE: Final = {
    "pyproject.toml": "[tool.ruff]\nline-length = 40\n[tool.black]\nline-length = 40\n[tool.isort]\nforce_single_line = true\n"
    "[tool.datamodel-codegen]\nuse-annotated = true\nclass-name = 'Wrong'\n",
    "ruff.toml": "line-length = 40\nforce-exclude = true\nexclude = ['*']\n[format]\nquote-style = 'single'\n",
    ".gitignore": "*\n",
    ".ignore": "*\n",
    ".editorconfig": "root = true\n[*]\nend_of_line = crlf\nindent_style = tab\n",
    "ruff.py": "raise SystemExit('this is not the formatter')\n",
}


def outputs(project: Project) -> dict[str, Any]:
    return snapshot(project.root / "generated")


def stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    """What changes when a file is written: its inode and the time of its last change."""
    return {path: (path.lstat().st_ino, path.lstat().st_mtime_ns) for path in folder.rglob("*")}


def files(folder: Path) -> set[str]:
    return {path for path, content in snapshot(folder).items() if content is not None}


def test_everything_is_written(project: Project) -> None:
    said = project.generate()
    python, typescript = files(project.root / PYTHON), files(project.root / TYPESCRIPT)
    assert said.splitlines() == [
        f"{PYTHON}: {len(python)} of {len(python)} files changed",
        f"{TYPESCRIPT}: {len(typescript)} of {len(typescript)} files changed",
    ]
    assert {"__init__.py", "py.typed", "manifest.json", "v1_0/shapes.py", "v1_0/lines.py", "v0_9/schema.json"} <= python
    assert typescript == {"index.d.ts", "v1_0.d.ts", "v0_9.d.ts", "package.json", "manifest.json"}


def test_the_second_run_writes_nothing(generated: Project) -> None:
    before = stamps(generated.root / "generated")
    assert generated.generate().splitlines() == [f"{PYTHON}: up to date", f"{TYPESCRIPT}: up to date"]
    assert stamps(generated.root / "generated") == before


def test_only_files_that_differ_are_written(generated: Project) -> None:
    edited = generated.edit(HEAD / "shapes.py", "label", "lable")
    before = stamps(generated.root / HEAD)
    assert f"{PYTHON}: 1 of " in generated.generate()
    assert "lable" not in edited.read_text(encoding="utf-8")
    assert {path for path, stamp in stamps(generated.root / HEAD).items() if stamp != before[path]} == {edited}


def test_line_ends_come_back(generated: Project) -> None:
    before = outputs(generated)
    for file in (generated.root / "generated").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    generated.generate()
    assert outputs(generated) == before


def test_the_bytes_depend_on_schema_and_settings_only(tmp_path: Path) -> None:
    """Two runs in processes that share nothing but the schema and the machine."""
    one = new_project(tmp_path / "one")
    plain = command("generate", cwd=one.root, env=environment(PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C.UTF-8"), umask=0o022)
    assert (plain.returncode, plain.stderr) == (0, "")

    above = tmp_path / "hostile ünd far" / "a"
    two = new_project(above / "two", {})
    for name, content in reversed(SCHEMA.items()):  # created in another order, checked out with CRLF
        file = two.write(Path("schema", name), content)
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    for name, content in HOSTILE.items():
        for folder in (above.parent, two.root / "temporary", two.root / "somewhere"):
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
    two.write("somewhere/pyproject.toml", "this is not TOML")
    variables = environment(
        PYTHONHASHSEED="4242",
        TZ="Asia/Kathmandu",
        LC_ALL="POSIX",
        LANG="tr_TR.ISO-8859-9",
        PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0",
        HOME=str(two.root / "nowhere"),
        XDG_CONFIG_HOME=str(above.parent),
        TMPDIR=str(two.root / "temporary"),
        RUFF_OUTPUT_FORMAT="json",
        RUFF_NO_CACHE="false",
        RUFF_CACHE_DIR=str(two.root / "cache"),
        SOURCE_DATE_EPOCH="1",
        NO_COLOR="",
        FORCE_COLOR="1",
        COLUMNS="20",
    )
    options: list[str | Path] = [
        "--config",
        two.root / "pyproject.toml",
        "--python-out",
        "../py",
        "--typescript-out",
        "../deep/er/ts",
    ]
    odd = command("generate", *options, cwd=two.root / "somewhere", env=variables, umask=0o077)
    assert (odd.returncode, odd.stderr) == (0, "")

    assert snapshot(one.root / PYTHON) == snapshot(two.root / "py" / "dsh_protocol")
    assert snapshot(one.root / TYPESCRIPT) == snapshot(two.root / "deep" / "er" / "ts")
    assert not (two.root / "cache").exists()
    assert files(two.root / "temporary") == set(HOSTILE), "nothing is left behind"


def test_nothing_of_the_machine_is_in_the_output(generated: Project) -> None:
    libraries = {name: metadata.version(name) for name in ("datamodel-code-generator", "ruff", "jinja2", "jsonschema", "click")}
    for path, content in outputs(generated).items():
        if not isinstance(content, bytes):
            continue
        text = content.decode()
        assert str(generated.root) not in text, path
        assert not re.search(r"/(tmp|home|root|usr|work)/", text), path
        assert not re.search(r"\b20\d\d-\d\d-\d\d(?!/schema)|\d\d:\d\d:\d\d", text.replace("draft/2020-12/schema", "")), path
        for name, version in libraries.items():
            assert version not in text, f"{path} has the version of {name}"


def test_text_files_end_with_one_newline_and_have_no_carriage_returns(generated: Project) -> None:
    for path, content in outputs(generated).items():
        if isinstance(content, bytes) and content:
            assert content.endswith(b"\n"), path
            assert not content.endswith(b"\n\n"), path
            assert b"\r" not in content, path


def test_strays_are_left_alone_and_named(generated: Project) -> None:
    strays = [PYTHON / "notes.md", HEAD / "mine.py", TYPESCRIPT / "extra" / "mine.ts"]
    for path in strays:
        generated.write(path, "mine\n")
    result = generated.run("generate")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [f"{PYTHON}: up to date", f"{TYPESCRIPT}: up to date"]
    cause = "it was not generated; only generated files belong here"
    assert sorted(result.stderr.splitlines()) == sorted(f"left alone: {path}: {cause}" for path in strays)
    assert all((generated.root / path).read_text(encoding="utf-8") == "mine\n" for path in strays)


def test_files_of_ours_that_are_no_longer_asked_for_are_removed(generated: Project) -> None:
    shutil.rmtree(generated.root / "schema" / "revisions")
    generated.edit("pyproject.toml", '"0.9", ', "")
    generated.write(PYTHON / "v0_9" / "__pycache__" / "shapes.cpython-311.pyc", "")
    generated.generate()
    assert not (generated.root / PYTHON / "v0_9").exists()
    assert not (generated.root / TYPESCRIPT / "v0_9.d.ts").exists()
    fresh = new_project(generated.root / "fresh", {name: text for name, text in SCHEMA.items() if "0.9" not in name}, "")
    fresh.write("pyproject.toml", (generated.root / "pyproject.toml").read_text(encoding="utf-8"))
    fresh.generate()
    assert outputs(fresh) == outputs(generated), "history leaves no trace"


def test_a_stray_keeps_its_directory(generated: Project) -> None:
    shutil.rmtree(generated.root / "schema" / "revisions")
    generated.edit("pyproject.toml", '"0.9", ', "")
    mine = generated.write(PYTHON / "v0_9" / "mine.py", "mine\n")
    assert "left alone" in generated.generate()
    assert files(mine.parent) == {"mine.py"}


def test_one_revision_touches_only_itself_and_shared_files(generated: Project) -> None:
    generated.edit("schema/revisions/0.9.json", "Where something is.", "Where it is.")
    generated.edit("schema/shapes.schema.json", "Where it was put.", "Where it went.")
    before = outputs(generated)
    generated.generate("--revision", "1.0")
    after = outputs(generated)
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert changed == {
        "python/dsh_protocol/manifest.json",
        "python/dsh_protocol/v1_0/schema.json",
        "python/dsh_protocol/v1_0/shapes.py",
        "typescript/manifest.json",
        "typescript/v1_0.d.ts",
    }
    assert generated.is_clean("--revision", "1.0")
    # what was left out is still told apart rightly
    said = generated.check()
    assert f"{PYTHON}/v0_9/shapes.py: the schema of 0.9 changed\n" in said
    assert "edited by hand" not in said
    generated.generate("--revision", "0.9")
    assert generated.is_clean()


def test_one_revision_after_the_generator_changed(generated: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from dsh_codegen import generate as module

    monkeypatch.setattr(module, "_LINE_LENGTH", 40)
    monkeypatch.setattr(module, "PINNED", {})
    generated.generate("--revision", "1.0")
    assert generated.is_clean("--revision", "1.0")
    said = generated.check()
    assert f"{PYTHON}/v0_9/shapes.py: the generator or a template changed\n" in said
    assert "v1_0" not in said


def test_one_revision_leaves_another_that_is_gone(generated: Project) -> None:
    shutil.rmtree(generated.root / "schema" / "revisions")
    generated.edit("pyproject.toml", '"0.9", ', "")
    generated.generate("--revision", "1.0")
    assert (generated.root / PYTHON / "v0_9" / "shapes.py").exists()
    assert generated.is_clean("--revision", "1.0")
    assert "v0_9/shapes.py: it is no longer asked for: revision 0.9 was removed\n" in generated.check()
    generated.generate()
    assert not (generated.root / PYTHON / "v0_9").exists()


def test_one_revision_into_nothing(project: Project) -> None:
    project.generate("--revision", "1.0")
    assert (project.root / HEAD / "shapes.py").exists()
    assert not (project.root / PYTHON / "v0_9").exists()
    manifest = read_manifest(project.root / PYTHON)
    assert manifest is not None
    assert list(manifest.revisions) == ["1.0"]
    assert project.is_clean("--revision", "1.0")
    project.generate()
    assert project.is_clean()


def test_a_directory_that_was_never_ours_is_not_overwritten(project: Project) -> None:
    project.write("src/package.json", '{"name": "mine"}')
    project.write("src/manifest.json", '{"name": "My Extension", "manifest_version": 3}')
    before = snapshot(project.root)
    place = project.root / "src" / "package.json"
    said = project.refusal("generate", "--typescript-out", "src")
    assert said == f"{place}: it was not generated and would be overwritten; choose another output directory"
    assert snapshot(project.root) == before, "the other directory is not written either"


def test_a_directory_with_other_files_can_become_ours(project: Project) -> None:
    project.write(TYPESCRIPT / ".npmignore", "")
    project.write(TYPESCRIPT / "package.json", "")
    assert "would be overwritten" in project.refusal("generate")
    (project.root / TYPESCRIPT / "package.json").unlink()
    assert f"left alone: {TYPESCRIPT}/.npmignore" in project.generate()


def test_all_directories_or_none(project: Project) -> None:
    project.write("blocked", "a file")
    before = snapshot(project.root)
    said = project.refusal("generate", "--typescript-out", "blocked/ts")
    assert said.startswith(f"{project.root / 'blocked/ts'}/")
    assert said.endswith("; no file was changed")
    assert snapshot(project.root) == before


def test_a_schema_that_can_not_be_used_changes_nothing(generated: Project) -> None:
    generated.write("schema/lines.schema.json", '{"$defs": {"Line": {"type": "strange"}}}')
    before = snapshot(generated.root)
    assert generated.refusal("generate").startswith("lines.schema.json#/$defs/Line/type: ")
    assert snapshot(generated.root) == before


def test_one_schema_file(project: Project) -> None:
    project.generate("--schema", "schema/revisions/0.9.json", "--python-out", "py", "--typescript-out", "ts")
    assert "v0_9/shapes.py" in files(project.root / "py" / "dsh_protocol")
    assert project.is_clean("--schema", "schema/revisions/0.9.json", "--python-out", "py", "--typescript-out", "ts")


def test_the_generated_package_works(generated: Project) -> None:
    import subprocess
    import sys

    code = (
        "from dsh_protocol import decode_params, encode; from dsh_protocol.v0_9 import Point as Old;"
        "value = {'x': 1, 'y': 2, 'new': [None]}; assert encode(decode_params('move', value)) == value; Old(x=1)"
    )
    argv = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(generated.root / PYTHON.parent)!r}); {code}"]
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_frozen_bundle_is_a_fixed_point(generated: Project) -> None:
    text = (generated.root / HEAD / "schema.json").read_text(encoding="utf-8")
    again = new_project(generated.root / "again", {"1.0.json": text}, "[tool.dsh-codegen]\nschema = 'schema/1.0.json'\n")
    again.generate()
    assert (again.root / HEAD / "schema.json").read_text(encoding="utf-8") == text


def test_trees_list_what_they_hold(project: Project) -> None:
    config = load_config(project.root / "pyproject.toml")
    for tree in render(config):
        assert list(tree.files)[-1] == "manifest.json", "it vouches for the files before it"
        assert tree.manifest.files == {path: digest(text) for path, text in tree.files.items() if path != "manifest.json"}
        assert {origin.generator for origin in tree.manifest.revisions.values()} == {generator_digest()}
        assert json.loads(tree.files["manifest.json"])["head"] == "1.0"


def test_the_digest_of_the_generator_ignores_what_can_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dsh_codegen import generate as module

    package = tmp_path / "dsh_codegen"
    shutil.copytree(Path(module.__file__).parent, package)
    monkeypatch.setattr(module, "__file__", str(package / "generate.py"))
    before = generator_digest()
    for path in ("cli.py", "check.py", "frames/wording.py", "write.py"):
        (package / path).write_text("# another\n", encoding="utf-8")
    (package / "emit" / ".#codecs.py").symlink_to("somebody@somewhere.1234")
    (package / "emit" / "codecs.py~").write_text("", encoding="utf-8")
    for file in package.rglob("*.jinja"):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert generator_digest() == before
    for path in ("emit/codecs.py", "load/lower.py", "ir.py", "naming.py", "emit/templates/module.py.jinja"):
        (package / path).write_text("# another\n", encoding="utf-8")
        assert generator_digest() != before, path
        before = generator_digest()


def test_a_digest_is_of_the_text() -> None:
    assert digest("a\r\nb\n") == digest("a\nb\n") == hashlib.sha256(b"a\nb\n").hexdigest()


def test_the_order_of_definitions_is_the_order_in_the_schema(tmp_path: Path) -> None:
    schema = {
        "b.schema.json": SHAPES,
        "a.schema.json": {"$defs": {"Z": FROZEN["$defs"]["Point"], "A": SHAPES["$defs"]["Point"]}},
    }
    project = new_project(tmp_path, schema, "[tool.dsh-codegen]\n")
    project.generate()
    bundle = json.loads((project.root / PYTHON / "vschema" / "schema.json").read_text(encoding="utf-8"))
    assert list(bundle["$defs"]) == ["Z", "A", "Point", "Moved"]
