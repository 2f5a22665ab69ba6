"""The command itself: options, exit statuses, and what happens at its edges."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dsh_codegen import bundles
from dsh_codegen.cli import main
from tests.codegen.frames.toy import BUNDLE, log, request, row

ROOT = Path(__file__).parents[3]
HEALTHY = ROOT / "tests" / "fixtures" / "logs" / "healthy.jsonl"
BROKEN = ROOT / "tests" / "fixtures" / "logs" / "broken.jsonl"
COMMAND = [sys.executable, "-m", "dsh_codegen", "validate"]

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(bundles, "load_bundles", lambda _: [("0.9", BUNDLE), ("1", BUNDLE)])
    monkeypatch.setattr(bundles, "load_sequencing_table", lambda _: None)
    return lambda *arguments, **options: CliRunner().invoke(main, ["validate", *map(str, arguments)], **options)


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    path = tmp_path / "clean.jsonl"
    path.write_bytes(log(row("c2s", request(1, "ping"))))
    return path


def test_clean_is_0_findings_are_1(run: Run, clean: Path, tmp_path: Path) -> None:
    assert run("--revision", "1", clean).exit_code == 0
    bad = tmp_path / "bad"
    bad.write_bytes(log("{bad}"))
    assert run(clean, bad).exit_code == 1


def test_warnings_are_0_unless_strict(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(log("INFO started"))
    assert (run(path).exit_code, run("--strict", path).exit_code) == (0, 1)


def test_standard_input_is_a_file_too(run: Run) -> None:
    found = run("--format", "json", "-", input=log("{bad}"))
    assert found.exit_code == 1
    assert json.loads(found.stdout)["findings"][0]["file"] == "<stdin>"


def test_strict_and_max_line_are_passed_on(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(log(row("c2s", {**request(1, "ping"), "odd": 1})))
    assert run(path).exit_code == 0
    assert "strict/unknown-member" in run("--strict", path).stdout
    assert "1 skipped" in run("--max-line", 20, path).stdout


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing", "missing: No such file"),
        ("empty", "no log in this directory"),
        ("\0", "null"),
        ("packed.xz", "xz -dc"),
        ("binary", "binary"),
    ],
)
def test_unusable_input_is_2_and_says_why(run: Run, clean: Path, tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "packed.xz").write_bytes(b"\xfd7zXZ\x00")
    (tmp_path / "binary").write_bytes(b"\x7fELF\x00\xfe")
    found = run(clean, f"{tmp_path}/{name}")
    assert (found.exit_code, found.stdout) == (2, "")
    assert says in found.stderr


def test_an_unknown_revision_lists_the_known_ones(run: Run, clean: Path) -> None:
    found = run("--revision", "0.99", clean)
    assert found.exit_code == 2
    assert 'there is no revision "0.99"; there are 0.9 and 1, and auto; did you mean "0.9"?' in found.stderr


@pytest.mark.parametrize("arguments", [[], ["--format", "xml", "x"], ["--max-line", "0", "x"], ["--nonsense"]])
def test_wrong_usage_is_2(run: Run, arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_an_interrupt_is_130_without_a_traceback(run: Run, clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(bundles, "load_bundles", interrupted)
    found = run(clean)
    assert (found.exit_code, found.stderr) == (130, "interrupted\n")


def test_ctrl_c_while_it_waits_for_input() -> None:
    with subprocess.Popen(
        [*COMMAND, "-"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        _fill(process.stdin.fileno())  # once it reads, it is past its start
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b"interrupted\n"


def _fill(pipe: int) -> None:
    """Write more than a pipe holds, so that the last byte goes in only once the reader reads."""
    data = memoryview(log(row("c2s", request("a", "shutdown"))) * 2000)
    while data:
        data = data[os.write(pipe, data) :]


def test_a_closed_pipe_ends_quietly_with_the_verdict() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as stdout:
        found = subprocess.run([*COMMAND, BROKEN], cwd=ROOT, stdout=stdout, stderr=subprocess.PIPE, check=False)
    assert (found.returncode, found.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device that is always full")
def test_a_full_disk_is_2() -> None:
    with Path("/dev/full").open("wb") as stdout:
        found = subprocess.run([*COMMAND, HEALTHY], cwd=ROOT, stdout=stdout, stderr=subprocess.PIPE, check=False)
    assert (found.returncode, found.stderr) == (2, b"error: the report can't be written: No space left on device\n")


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([*COMMAND, fifo], cwd=ROOT, stdout=subprocess.PIPE) as process:
        fifo.write_bytes(HEALTHY.read_bytes())
        assert process.stdout is not None
        assert process.stdout.read().endswith(b"0 invalid, 0 skipped (revision 0.2.1)\n")


def test_a_narrow_encoding_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(log({"jsonrpc": "2.0", "method": "会话"}))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    found = subprocess.run([*COMMAND, path], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert (found.returncode, found.stderr) == (1, b"")
    assert b"\\u4f1a\\u8bdd" in found.stdout


@pytest.mark.parametrize("name", ["::error::x", "a ##[error]x", "##vso[task.complete]"])
def test_the_name_of_a_log_commands_no_build(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(log("{bad}"))
    for format_ in ("text", "junit", "markdown", "json"):
        assert not re.search(r"^::|##\w*\[", run("--format", format_, name).stdout, re.MULTILINE)


def test_a_terminal_gets_a_progress_bar_and_a_pipe_does_not() -> None:
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    with os.fdopen(slave, "wb") as stderr:
        found = subprocess.run(
            [*COMMAND, HEALTHY], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=stderr, check=False
        )
    shown = os.read(master, 1 << 16)
    os.close(master)
    assert found.returncode == 0
    assert b"validate" in shown
    assert b"\x1b" not in found.stdout
    assert subprocess.run([*COMMAND, HEALTHY], cwd=ROOT, capture_output=True, check=True).stderr == b""


def test_its_help_needs_no_heavy_library() -> None:
    script = (
        "import sys; from dsh_codegen.frames import command; print({'jsonschema', 'referencing', 'rich'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True)
    assert found.stdout == b"set()\n"


def test_a_small_healthy_log_needs_no_heavy_library_either() -> None:
    heavy = {
        *("jsonschema", "referencing", "rich", "hashlib", "asyncio", "concurrent", "multiprocessing", "xml", "distributed"),
        *("dsh_codegen.frames.judge", "dsh_codegen.frames.structs", "dsh_codegen.generate"),
    }
    report = f"print(sorted(set(sys.modules) & {heavy}), file=sys.stderr)"
    script = f"import sys\nfrom dsh_codegen.cli import main\ntry: main()\nfinally: {report}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}  # which imports much
    command = [sys.executable, "-c", script, "validate", str(HEALTHY)]
    found = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    assert found.stderr == b"[]\n"


def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    def peak(lines: int) -> int:
        path = tmp_path / str(lines)
        with path.open("wb") as file:
            for _ in range(lines // 1000):
                file.write(log(*["{bad " + "x" * 200] * 1000))
        script = (
            "import resource, sys\nfrom dsh_codegen.cli import main\n"
            "try: main()\nfinally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
        )
        arguments = [sys.executable, "-c", script, "validate", "--revision", "0.2.1", str(path)]
        return int(subprocess.run(arguments, cwd=ROOT, capture_output=True, check=False).stderr)

    assert peak(60_000) < peak(2000) + 4 * 1024  # KiB; the log is 12 MiB, its findings more


def test_it_does_not_import_what_it_judges_by() -> None:
    report = "print('dsh_protocol' in sys.modules, file=sys.stderr)"
    script = f"import sys\nfrom dsh_codegen.cli import main\ntry: main()\nfinally: {report}"
    found = subprocess.run([sys.executable, "-c", script, "validate", HEALTHY], cwd=ROOT, capture_output=True, check=False)
    assert found.stderr == b"False\n"
