from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import chdir
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from dsh_codegen import __version__
from dsh_codegen import cli as cli_module
from tests.codegen.projects import (
    METHODS,
    PYTHON,
    ROOT,
    TYPESCRIPT,
    Project,
    command,
    environment,
    new_project,
    snapshot,
)

FRAME: Final = '{"jsonrpc": "2.0", "id": 1, "method": "move", "params": {"x": 1, "y": 2}}\n'
ANSWER: Final = '{"jsonrpc": "2.0", "id": 1, "result": {"to": {"x": 1, "y": 2}}}\n'

# runs the command line after a replacement of something, as if the machine had done it
DRIVER: Final = """
import os, signal, sys
{patch}
from dsh_codegen.__main__ import main
sys.argv[0] = "dsh-codegen"
main()
"""


def driven(patch: str, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", DRIVER.format(patch=patch), *args]
    return subprocess.run(argv, cwd=cwd, env=environment(), capture_output=True, encoding="utf-8", check=False)


def test_help(project: Project) -> None:
    result = project.run("--help")
    assert result.exit_code == 0
    assert result.stdout == project.run("-h").stdout
    assert result.stdout == (
        "Usage: dsh-codegen [OPTIONS] COMMAND [ARGS]...\n\n"
        "  Types, codecs and checks for a JSON-RPC protocol, from its JSON Schema.\n\n"
        "  Exit codes: 0 clean, 1 findings or drift, 2 unusable input or usage.\n\n"
        "Options:\n"
        "  --version   Show the version and exit.\n"
        "  -h, --help  Show this message and exit.\n\n"
        "Commands:\n"
        "  check     Compare the generated files with the schema.\n"
        "  generate  Write the generated files: all or none.\n"
        "  parity    Prove that schema, Python and TypeScript agree.\n"
        "  validate  Judge logs of frames by the protocol.\n"
        "  vectors   Make instances that every codec must judge alike.\n"
    )


@pytest.mark.parametrize("verb", ["generate", "check"])
def test_help_of_a_verb(project: Project, verb: str) -> None:
    text = project.run(verb, "--help").stdout
    assert text.startswith(f"Usage: dsh-codegen {verb} [OPTIONS]\n\n")
    for option in ("--schema DIR|FILE", "--python-out DIR", "--typescript-out DIR", "--config FILE", "--revision NAME"):
        assert f"  {option} " in text
    assert max(map(len, text.splitlines())) <= 110


def test_version(project: Project) -> None:
    assert project.run("--version").stdout == f"dsh-codegen, version {__version__}\n"


@pytest.mark.parametrize("args", [["generat"], ["check", "--shema", "x"], ["generate", "stray"], ["generate", "--schema"]])
def test_wrong_usage(project: Project, args: list[str]) -> None:
    result = project.run(*args)
    assert result.exit_code == 2
    assert not result.stdout
    assert "Error: " in result.stderr
    assert "Traceback" not in result.stderr


def test_the_help_loads_no_library_but_click() -> None:
    heavy = ("jsonschema", "jinja2", "datamodel_code_generator", "rich", "referencing", "ruff", "dsh_protocol", "pydantic")
    code = (
        "import sys\nfrom dsh_codegen.__main__ import main\nsys.argv = ['dsh-codegen', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print(sorted(set(sys.modules) & set({heavy})))"
    )
    run = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_from_below_the_project(generated: Project) -> None:
    result = generated.run("check", cwd=generated.root / "schema" / "revisions")
    assert (result.exit_code, result.stderr) == (0, "")


def test_from_above_the_project(generated: Project) -> None:
    above = generated.root.parent
    assert generated.run("check", "--config", "project/pyproject.toml", cwd=above).exit_code == 0
    generated.edit(PYTHON / "_codec.py", "UNSET", "UNSEEN")
    said = generated.run("check", "--config", "project/pyproject.toml", cwd=above).stdout
    assert said.startswith(f"changed: project/{PYTHON}/_codec.py: it was edited by hand\n")
    remedy = next(line for line in said.splitlines() if "run: " in line).partition("run: ")[2]
    assert generated.run(*shlex.split(remedy)[1:], cwd=above).exit_code == 0
    assert generated.run("check", "--config", "project/pyproject.toml", cwd=above).exit_code == 0


# ---- what the user can act on


def test_in_the_wrong_folder(project: Project, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for verb in ("generate", "check"):
        result = project.run(verb, cwd=empty)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            f"error: {empty}: no pyproject.toml here or above has [tool.dsh-codegen], and there is no directory 'schema'; "
            "go to your project, or use --config or --schema\n"
        )


def test_no_schema(project: Project) -> None:
    said = project.refusal("generate", "--schema", "shcema")
    assert said.startswith(f"{project.root / 'shcema'}: ")
    assert "--schema" in said


def test_a_schema_that_is_not_json(project: Project) -> None:
    project.write("schema/lines.schema.json", "{\n  oops\n}")
    assert project.refusal("generate").startswith("lines.schema.json: not JSON: ")
    assert "(line 2, column 3)" in project.refusal("check")


def test_a_method_that_names_nothing(project: Project) -> None:
    methods = [{**METHODS["methods"][0], "params": "Pint"}]
    project.write("schema/methods.json", {**METHODS, "methods": methods})
    assert project.refusal("check") == "methods.json#/methods/0/params: there is no definition 'Pint'"


def test_a_setting_that_is_misspelt(project: Project) -> None:
    project.edit("pyproject.toml", "request-map", "requests-map")
    said = project.refusal("generate")
    assert said.startswith(f"{project.root / 'pyproject.toml'}: [tool.dsh-codegen] has no setting 'requests-map'; there are ")
    assert said.endswith(": did you mean 'request-map'?")


@pytest.mark.parametrize("verb", ["generate", "check"])
def test_an_unknown_revision(project: Project, verb: str) -> None:
    said = project.refusal(verb, "--revision", "1.O")
    assert said == "there is no revision '1.O'; there are 0.9, 1.0: did you mean '1.0'?"
    assert project.refusal(verb, "--revision", "") == "there is no revision ''; there are 0.9, 1.0"


def test_a_library_of_another_version(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "0.1.0" if name == "ruff" else real(name))
    said = project.refusal("generate")
    assert said.startswith("ruff 0.1.0 is installed, but generated files need ")
    assert "; run: pip install 'ruff==" in said


def test_a_library_that_is_not_there(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    assert project.refusal("check").startswith("datamodel-code-generator is not installed; run: pip install 'datamodel-")


@pytest.mark.parametrize(
    "args",
    [
        ["--typescript-out", "schema"],
        ["--typescript-out", "schema/out"],
        ["--typescript-out", "."],
        ["--python-out", "schema"],
        ["--typescript-out", str(PYTHON)],
        ["--typescript-out", str(PYTHON / "ts")],
        ["--typescript-out", "link"],
    ],
)
def test_an_output_directory_that_overlaps(project: Project, args: list[str]) -> None:
    (project.root / "link").symlink_to("schema")
    before = snapshot(project.root)
    said = project.refusal("generate", *args)
    assert "is to hold generated files only, but " in said
    assert said.endswith("overlaps it; choose another output directory")
    assert snapshot(project.root) == before


def test_an_output_that_can_not_be_written(project: Project) -> None:
    project.write("file", "mine")
    before = snapshot(project.root)
    said = project.refusal("generate", "--python-out", "file")
    assert said.startswith(f"{project.root}/file/dsh_protocol/")
    assert snapshot(project.root) == before


def test_a_full_disk(generated: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    generated.edit("schema/shapes.schema.json", "Where it was put.", "Where it went.")
    before = snapshot(generated.root)
    place = generated.root / TYPESCRIPT / "v1_0.d.ts"
    real = os.replace

    def replace(source: Any, target: Any) -> None:
        if target == place and "/new/" in str(source):
            raise OSError(28, "No space left on device")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        said = generated.refusal("generate")
    assert said == f"{place}: can't be written: No space left on device; no file was changed"
    assert snapshot(generated.root) == before


def test_no_room_for_temporary_files(generated: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_text(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", write_text)
    said = generated.refusal("check")
    assert said.endswith(": the temporary directory can't be used: No space left on device; set TMPDIR")


def test_hostile_text_in_a_sentence_stays_text(project: Project) -> None:
    said = project.refusal("generate", "--revision", "\x1b[31mred\nline")
    assert "\x1b" not in said
    assert "\n" not in said


@pytest.mark.parametrize("name", ["::error::x", "##[error]x"])
def test_the_name_of_a_directory_commands_no_build(project: Project, name: str) -> None:
    said = project.generate("--python-out", name)
    said += project.run("check", "--python-out", name, "--typescript-out", "other").stdout
    said += project.run("vectors", "--out", name).stdout
    assert not re.search(r"^::|##\w*\[", said, re.MULTILINE)


# ---- signals and pipes


def test_ctrl_c_while_files_are_replaced(generated: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    generated.edit("schema/shapes.schema.json", "Where it was put.", "Where it went.")
    before = snapshot(generated.root)
    real = os.replace

    def replace(source: Any, target: Any) -> None:
        real(source, target)
        os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        result = generated.run("generate")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")
    assert snapshot(generated.root) == before


@pytest.mark.parametrize("verb", ["generate", "check"])
def test_ctrl_c_while_the_schema_is_read(generated: Project, verb: str) -> None:
    before = snapshot(generated.root)
    patch = "import dsh_codegen.load as load\nload.load = lambda _: os.kill(os.getpid(), signal.SIGINT)"
    run = driven(patch, verb, cwd=generated.root)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "interrupted\n")
    assert snapshot(generated.root) == before


def test_ctrl_c_while_the_command_line_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys, os, signal\nclass Finder:\n    def find_spec(self, name, *_):\n"
        "        if name == 'click': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\nfrom dsh_codegen.__main__ import main\nmain()"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, b"", b"")


@pytest.mark.parametrize(("verb", "status"), [("generate", 0), ("check", 1)])
def test_a_reader_that_went_away(generated: Project, verb: str, status: int) -> None:
    generated.edit(PYTHON / "_codec.py", "UNSET", "UNSEEN")
    read, write = os.pipe()
    os.close(read)
    argv = [sys.executable, "-m", "dsh_codegen", verb]
    run = subprocess.run(argv, cwd=generated.root, env=environment(), stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (run.returncode, run.stderr) == (status, b"")
    assert generated.is_clean() == (verb == "generate"), "the work is done before anything is said"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_that_can_not_be_said(generated: Project) -> None:
    argv = [sys.executable, "-m", "dsh_codegen", "check"]
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(argv, cwd=generated.root, env=environment(), stdout=full, stderr=subprocess.PIPE, check=False)
    assert (run.returncode, run.stderr) == (2, b"error: standard output can't be written: No space left on device\n")


def test_a_terminal_that_knows_ascii_only(generated: Project) -> None:
    generated.edit(PYTHON / "v1_0" / "shapes.py", "“here”", "“there”")
    with chdir(generated.root):
        result = CliRunner(charset="ascii", catch_exceptions=False).invoke(cli_module.main, ["check"])
    assert result.exit_code == 1
    assert "\\u201cthere\\u201d" in result.stdout


# ---- validate finds its schemas


def log(folder: Path, *lines: str) -> Path:
    file = folder / "log.jsonl"
    file.write_text("".join(lines), encoding="utf-8")
    return file


def test_validate_in_a_project_uses_the_generated_schemas(generated: Project) -> None:
    file = log(generated.root, FRAME, ANSWER)
    result = generated.run("validate", "--revision", "1.0", file)
    assert (result.exit_code, result.stderr) == (0, "")
    log(generated.root, FRAME.replace('"y": 2', '"z": 2'))
    assert generated.run("validate", "--revision", "1.0", file, cwd=generated.root / "schema").exit_code == 1


def test_validate_before_anything_was_generated(project: Project) -> None:
    file = log(project.root, FRAME)
    package = project.root / PYTHON
    assert project.refusal("validate", file) == f"there is no generated package in {package}; run: dsh-codegen generate"
    said = project.refusal("validate", "--config", "pyproject.toml", file)
    assert said.endswith("; run: dsh-codegen generate --config pyproject.toml")


@pytest.mark.parametrize("text", [None, "", "{", "[]", "{}", '{"$defs": 1}'])
def test_validate_with_a_damaged_package(generated: Project, text: str | None) -> None:
    bundle = generated.root / PYTHON / "v0_9" / "schema.json"
    bundle.unlink() if text is None else bundle.write_text(text, encoding="utf-8")
    said = generated.refusal("validate", log(generated.root, FRAME))
    cause = "can't be read: No such file or directory" if text is None else "it is no schema bundle any more"
    assert said == f"{bundle}: {cause}; run: dsh-codegen generate"


def test_validate_outside_any_project_uses_the_installed_package(generated: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    log(outside, FRAME, ANSWER)
    paths = os.pathsep.join([str(ROOT / "codegen"), str(generated.root / PYTHON.parent)])
    run = command("validate", "--format", "json", "log.jsonl", cwd=outside, env=environment(PYTHONPATH=paths))
    assert (run.returncode, run.stderr) == (0, "")
    report: dict[str, Any] = json.loads(run.stdout)
    assert report["summary"]["frames"] == 2


def test_validate_outside_any_project_without_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dsh_codegen import bundles

    monkeypatch.setattr(bundles, "find_spec", lambda _: None)
    said = Project(tmp_path).refusal("validate", log(tmp_path, FRAME))
    assert said == "no schema to judge by: name a pyproject.toml with --config, or install dsh_protocol"


def test_every_verb_is_listed() -> None:
    assert set(cli_module.main.commands) >= {"generate", "check", "validate"}


def test_a_project_of_another_name(tmp_path: Path) -> None:
    project = new_project(tmp_path / "it's ours", settings="[tool.dsh-codegen]\npython-package = 'our_types'\n")
    project.generate()
    assert (project.root / "generated/python/our_types/v1_0/shapes.py").is_file()
    assert project.is_clean()
