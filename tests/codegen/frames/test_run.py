"""Who does the work does not matter, and nothing is lost with a worker."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_codegen.frames import engine, plan
from dsh_codegen.frames import workers as local
from dsh_codegen.frames.engine import Submit, Todo, Whole, Work, done
from dsh_codegen.frames.formats import renderer
from dsh_codegen.frames.heads import InputError
from dsh_codegen.frames.report import Report
from dsh_codegen.frames.run import Run, Workers
from dsh_codegen.frames.setup import Setup
from dsh_codegen.frames.stream import Outcome
from dsh_codegen.frames.workers import Processes, processes
from tests.codegen.frames.test_stream import LOG, LOGS, ROOT, SETUP
from tests.codegen.frames.toy import log, request, row

COMMAND: Final = [sys.executable, "-m", "dsh_codegen", "validate", "--revision", "0.2.1"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Logs of several pieces, small ones, an empty one, one in another encoding, a packed one."""
    for module in (plan, engine):
        monkeypatch.setattr(module, "PIECE", 30_000)
    healthy = (LOGS / "healthy.jsonl").read_bytes()
    contents = {"a-large": LOG, "b-small": healthy, "c-empty": b"", "d-odd": "{}\n".encode("utf-16"), "e-small": LOG[:9000]}
    for name, data in contents.items():
        (tmp_path / f"{name}.jsonl").write_bytes(data)
    return [str(path) for path in sorted(tmp_path.iterdir())]


def text(report: Report) -> str:
    stream = io.StringIO()
    renderer("json")(report, stream)
    return stream.getvalue()


def nothing(_work: Work, _findings: Any) -> None:
    pass


def run(files: list[str], workers: Workers | None, setup: Setup = SETUP, **options: Any) -> str:
    return text(Run([setup], workers, nothing).over(plan.plan(files, **options)))


@pytest.fixture(params=["fork", "spawn"])
def method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How processes start, whatever threads the tests have."""
    monkeypatch.setattr(local, "can_fork", lambda: request.param == "fork")


STARTS: Final = pytest.mark.usefixtures("method")
FORKS: Final = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # from Python 3.12 on


@FORKS
@STARTS
@pytest.mark.parametrize("observe", [False, True])
@pytest.mark.parametrize("join", ["file", "directory", "all"])
def test_several_processes_give_the_report_of_one(files: list[str], join: plan.Join, observe: bool) -> None:
    setup = replace(SETUP, observe=observe)
    alone = run(files, None, setup, join=join)
    assert run(files, Processes(2, pytest.fail), setup, join=join) == alone
    assert json.loads(alone)["summary"]["files"] == 5


@FORKS
@STARTS
def test_a_process_that_is_killed_loses_nothing(files: list[str]) -> None:
    lost: list[str] = []

    class Deadly(Processes):
        """All processes are killed as soon as they are there."""

        @contextmanager
        def __call__(self, setup: Setup) -> Iterator[tuple[Submit, int]]:
            with processes(setup, self.count, self.lost) as (submit, count):

                def submit_and_kill(work: Work) -> Any:
                    ticket = submit(work)
                    children = multiprocessing.active_children()
                    for child in children if len(children) == self.count else ():  # a pool may trip over one that is starting
                        child.kill()
                    return ticket

                yield submit_and_kill, count

    assert run(files, Deadly(2, lambda: lost.append("told"))) == run(files, None)
    assert lost == ["told"]


def test_a_process_that_can_not_be_started_loses_nothing(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[str] = []

    def submit(*_arguments: Any) -> Any:
        raise OSError("handle is closed")  # what a pool says that breaks meanwhile

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor.submit", submit)
    assert run(files, Processes(2, lambda: lost.append("told"))) == run(files, None)
    assert lost == ["told"]


def test_a_process_is_forked_only_if_it_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = [sys.executable, "-c", "from dsh_codegen.frames.workers import can_fork; print(can_fork())"]
    told = subprocess.run(alone, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert told.strip() == str(local.THREADS.exists())
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)
    other.start()
    assert not local.can_fork()
    ended.set()
    other.join()
    monkeypatch.setattr(local, "THREADS", ROOT / "nowhere")  # as on macOS
    assert not local.can_fork()


def test_small_logs_go_to_a_worker_together_and_large_ones_in_pieces(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PIECE", 20_000)
    todo = Todo(plan.plan(files), SETUP)
    todo.together = True
    work = list(todo)
    wholes = [[log.name.rpartition("/")[2] for log in each.logs] for each in work if isinstance(each, Whole)]
    assert wholes == [["b-small.jsonl", "c-empty.jsonl", "d-odd.jsonl"], ["e-small.jsonl"]]
    assert sum(each.size for each in work) == sum(Path(file).stat().st_size for file in files)


def test_whole_logs_are_done_like_any_other(files: list[str]) -> None:
    logs = tuple(plan.plan(files))
    outcome = done(SETUP, Whole(logs))
    assert isinstance(outcome, Outcome)
    assert json.loads(run(files, None))["summary"]["frames"] == outcome.summary.frames


def test_ctrl_c_gives_the_report_so_far(files: list[str]) -> None:
    seen: list[Work] = []

    def stop(work: Work, _findings: Any) -> None:
        seen.append(work)
        if len(seen) == 3:
            raise KeyboardInterrupt

    report = Run([SETUP], None, stop).over(plan.plan(files))
    assert report.partial == f"interrupted after {report.summary.frames:,} frames"
    assert 0 < report.summary.frames < json.loads(run(files, None))["summary"]["frames"]
    assert not [each for each in report.findings() if each.severity == "note"]  # the log has not ended


def test_several_revisions_and_what_is_read_only_once(tmp_path: Path) -> None:
    """What was looked at to find the revision is judged, too, though it can't be read again."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([*COMMAND[:4], "--format", "json", fifo], cwd=ROOT, stdout=subprocess.PIPE) as process:
        fifo.write_bytes(LOG)
        assert process.stdout is not None
        found = json.loads(process.stdout.read())
    assert (found["revision"], found["summary"]["frames"]) == ("0.2.1", json.loads(text_of(LOG, tmp_path))["summary"]["frames"])


def text_of(data: bytes, folder: Path) -> str:
    path = folder / "log.jsonl"
    path.write_bytes(data)
    return run([str(path)], None)


def test_findings_come_as_the_log_grows(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes((LOGS / "healthy.jsonl").read_bytes() + b"{bad}\n")
    arguments = [*COMMAND, "--follow", "--format", "jsonl", str(path)]
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())["finding"]
        with path.open("ab") as more:
            more.write(log(row("c2s", request(1, "nope"))))
        second = json.loads(process.stdout.readline())["finding"]
        process.send_signal(signal.SIGINT)
        rest = [json.loads(line) for line in process.stdout]
        assert process.wait(timeout=60) == 1
    assert [(each["line"], each["rule"]) for each in (first, second)] == [
        (first["line"], "json/syntax"),
        (first["line"] + 1, "method/unknown"),
    ]
    assert rest[-1]["summary"]["errors"] == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--scheduler", "tcp://x:1"], "--scheduler goes with --engine dask"),
        (["--follow", "--format", "sarif"], "--format text or jsonl"),
        (["--follow", "--engine", "dask"], "local engine"),
        (["--join", "none"], "none"),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_options_that_do_not_go_together_are_2(options: list[str], says: str) -> None:
    found = subprocess.run([*COMMAND, *options, str(LOGS)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert says in found.stderr


def test_every_format_is_written_by_the_command(tmp_path: Path) -> None:
    for format_ in ("text", "json", "jsonl", "junit", "sarif", "github", "markdown"):
        arguments = [*COMMAND, "--report", "--format", format_, str(LOGS / "broken.jsonl")]
        found = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (found.returncode, found.stderr) == (1, ""), format_
        assert "params/schema" in found.stdout


def test_a_large_log_is_shared_by_processes_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    line = (LOGS / "healthy.jsonl").read_bytes().splitlines(keepends=True)[6]
    path.write_bytes(line * (33 * 1024 * 1024 // len(line)))
    reports = {
        subprocess.run([*COMMAND, "--format", "json", "--jobs", jobs, path], cwd=ROOT, capture_output=True, check=False).stdout
        for jobs in ("1", "2")
    }
    assert len(reports) == 1
    assert json.loads(reports.pop())["groups"][0]["rule"] == "sequence/seq"


@pytest.mark.parametrize("workers", [None, Processes(2, pytest.fail)])
def test_a_file_that_goes_away_is_named(files: list[str], workers: Workers | None) -> None:
    def remove(_work: Work, _findings: Any) -> None:
        Path(files[0]).unlink(missing_ok=True)

    with pytest.raises(InputError, match=r"a-large\.jsonl: it can't be read any more: No such file"):
        Run([SETUP], workers, remove).over(plan.plan(files[:1]))
