"""The wheel, as a user gets it: installed into a clean environment and used from another directory."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import dsh_codegen
from tests.packaging.sandbox import LOGS, ROOT, Sandbox

pytestmark = pytest.mark.xdist_group("wheel")  # one worker, so that the wheel is built once

SLOW_LIBRARIES = {"datamodel_code_generator", "jinja2", "jsonschema", "pydantic", "referencing", "rich"}

DECODE = """
import importlib, json, pkgutil, sys
import dsh_protocol
from dsh_protocol import METHODS, decode_params, encode
from dsh_protocol import v0_2_1

for module in pkgutil.walk_packages(dsh_protocol.__path__, "dsh_protocol."):
    importlib.import_module(module.name)

frame = {"sessionId": "s1", "contentBlocks": [{"type": "text", "text": "hello"}], "future": [1]}
assert encode(decode_params("session/prompt", frame)) == frame
assert "session/prompt" in METHODS

seen = 0
for line in open(sys.argv[1], encoding="utf-8"):
    frame = json.loads(line)["frame"]
    if frame and "method" in frame and "params" in frame:
        assert encode(v0_2_1.decode_params(frame["method"], frame["params"])) == frame["params"]
        seen += 1
print(dsh_protocol.__file__)
print(seen)
"""

HELP = """
import sys
from dsh_codegen.__main__ import main

sys.argv = ["dsh-codegen", "--help"]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
print("imported:", *sorted(sys.modules))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    argv = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    built = subprocess.run(argv, capture_output=True, encoding="utf-8", check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    sandbox = Sandbox(tmp_path_factory.mktemp("plain"), borrow=False)
    sandbox.install(wheel)
    return sandbox


@pytest.fixture(scope="module")
def with_extra(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    sandbox = Sandbox(tmp_path_factory.mktemp("extra"), borrow=True)
    sandbox.install(wheel)
    return sandbox


def test_holds_types_marker_and_schemas_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {"dsh_protocol/py.typed", "dsh_protocol/v0_1_5/schema.json", "dsh_protocol/v0_2_1/schema.json"} <= names
    assert "dsh_runtime/py.typed" in names
    roots = {name.partition("/")[0] for name in names}
    assert roots == {"dsh_codegen", "dsh_protocol", "dsh_runtime", f"dsh_protocol-{dsh_codegen.__version__}.dist-info"}


def test_decodes_frames_from_another_directory_without_extras(plain: Sandbox, tmp_path: Path) -> None:
    done = plain.run(plain.python, "-W", "error", "-c", DECODE, LOGS / "healthy.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    location, seen = done.stdout.split("\n")[:2]
    assert Path(location).is_relative_to(plain.home)
    assert int(seen) > 25


@pytest.mark.parametrize("argv", [["dsh-codegen", "--help"], ["python", "-m", "dsh_codegen", "check"]], ids=" ".join)
def test_command_without_the_extra_names_it(plain: Sandbox, tmp_path: Path, argv: list[str]) -> None:
    done = plain.run(*argv, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(r"[^\n]*pip install 'dsh-protocol\[codegen\]'\n", done.stderr)


def test_help_with_the_extra_imports_nothing_slow(with_extra: Sandbox, tmp_path: Path) -> None:
    done = with_extra.run(with_extra.python, "-W", "error", "-c", HELP, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    help_text, imported = done.stdout.split("imported:")
    assert re.search(r"^Usage: dsh-codegen ", help_text)
    assert not SLOW_LIBRARIES & set(imported.split())


def test_client_and_server_of_the_wheel_talk(with_extra: Sandbox, tmp_path: Path) -> None:
    example = ROOT / "tests" / "examples" / "ask.py"
    done = with_extra.run(with_extra.python, "-W", "error", example, "echo:tool Hello.", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["  (it calls echo)", "'The tool gave: Hello.' (completed, 17 events)"]


def test_version(with_extra: Sandbox, tmp_path: Path) -> None:
    done = with_extra.run("dsh-codegen", "--version", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert dsh_codegen.__version__ in done.stdout.split()[-1]


@pytest.mark.parametrize(("log", "status"), [("healthy.jsonl", 0), ("broken.jsonl", 1)])
def test_validates_a_log_where_there_is_no_configuration(with_extra: Sandbox, tmp_path: Path, log: str, status: int) -> None:
    done = with_extra.run("dsh-codegen", "validate", "--revision", "0.2.1", LOGS / log, cwd=tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
