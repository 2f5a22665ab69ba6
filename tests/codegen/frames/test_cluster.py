"""A real cluster on this machine says what this machine alone says, whatever happens to its workers."""

from __future__ import annotations

import contextlib
import gzip
import importlib
import itertools
import json
import os
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from dsh_codegen.cli import main
from dsh_codegen.frames import command, engine, plan
from dsh_codegen.frames.engine import Joiner, Task, Whole
from dsh_codegen.frames.heads import InputError
from dsh_codegen.frames.plan import InputFile, Log
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.setup import Setup
from dsh_codegen.frames.source import Piece
from tests.codegen.frames.store import store
from tests.codegen.frames.toy import BUNDLE, log, request, row

distributed: Any = pytest.importorskip("distributed", reason="distributed is not installed")
cluster: Any = importlib.import_module("dsh_codegen.frames.cluster")
client_: Any = importlib.import_module("dsh_codegen.frames.cluster_client")
worker: Any = importlib.import_module("dsh_codegen.frames.cluster_worker")

pytestmark = pytest.mark.xdist_group("cluster")

ROOT: Final = Path(__file__).parents[3]
LOGS: Final = ROOT / "tests" / "fixtures" / "logs"
REVISION: Final = "0.2.1"
BUCKET: Final = "fleet-logs"
PIECE: Final = 1 << 19


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs are cut, and small ones put together, by the process that plans."""
    monkeypatch.setattr(plan, "PIECE", PIECE)
    monkeypatch.setattr(engine, "PIECE", PIECE)


@pytest.fixture(scope="session")
def s3() -> Iterator[Any]:
    """A store, or None where there can't be one. Workers must be started later than it."""
    with contextlib.ExitStack() as stack:
        try:
            files = stack.enter_context(store(BUCKET))
        except pytest.skip.Exception:
            files = None
        yield files


@pytest.fixture(scope="session")
def here(s3: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of three processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DASK_TEMPORARY_DIRECTORY", str(tmp_path_factory.mktemp("dask")))
        importlib.import_module("dask.config").refresh()
        with distributed.LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=None,
            silence_logs=60,
        ) as started:
            yield started


def run(*arguments: Any) -> Result:
    config = ("--config", ROOT / "pyproject.toml", "--format", "json")
    return CliRunner().invoke(main, ["validate", *map(str, (*config, *arguments))])


def remotely(here: Any, *arguments: Any) -> Result:
    return run("--engine", "dask", "--scheduler", here.scheduler_address, *arguments)


def same_everywhere(here: Any, *arguments: Any) -> str:
    """The report, which must not depend on who makes it."""
    alone = run("--jobs", 1, *arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "WORTH_IT", 0)
        two = run("--jobs", 2, *arguments)
    many = remotely(here, *arguments)
    for found in (alone, two, many):
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
    assert two.stdout_bytes == alone.stdout_bytes
    assert many.stdout_bytes == alone.stdout_bytes
    assert (two.exit_code, many.exit_code) == (alone.exit_code, alone.exit_code)
    return alone.stdout


def told(report: str) -> dict[str, int]:
    """How often each rule was broken."""
    rules: dict[str, int] = {}
    for group in json.loads(report)["groups"]:
        rules[group["rule"]] = rules.get(group["rule"], 0) + group["count"]
    return rules


def sessions(number: int, *, dirty: bool = False) -> Iterator[bytes]:
    """Rows of as many conversations, each with ids of its own."""
    healthy, broken = ((LOGS / name).read_bytes() for name in ("healthy.jsonl", "broken.jsonl"))
    ids = re.compile(rb"(?<=session-)(?=[a-z]\d)|(?<=\")(?=[0-9a-f]{8}-[0-9a-f]{4}-)")
    for each in range(number):
        source = broken if dirty and each % 7 == 3 else healthy
        yield from ids.sub(b"%d-" % each, source).splitlines(keepends=True)


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One log of several pieces, clean but for a few lines, with what is open across every cut."""
    path = tmp_path_factory.mktemp("large") / "log.jsonl"
    repeats = 8 * PIECE // (LOGS / "healthy.jsonl").stat().st_size
    with path.open("wb") as file:
        file.write(log(row("c2s", request("early", "initialize", {}))))
        for number, line in enumerate(sessions(repeats)):
            file.write(line)
            if number % 997 == 0:
                file.write(b"torn {\n")
        file.write(log(row("s2c", {"jsonrpc": "2.0", "id": "early", "result": {}})))
    assert path.stat().st_size > 7 * PIECE
    return path


# The same report


def test_the_fixture_is_what_it_seems(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(sessions(3)))
    assert run("--revision", REVISION, path).exit_code == 0


def test_one_log_in_several_pieces(here: Any, large: Path) -> None:
    rules = told(same_everywhere(here, "--revision", REVISION, large))
    assert rules["json/noise"] > 5
    assert rules["params/schema"] >= 1  # the first request
    assert rules["result/schema"] >= 1  # and the last response, which is known by it


def test_frames_at_another_place(here: Any, large: Path) -> None:
    report = same_everywhere(here, "--revision", REVISION, "--frame-path", "/frame", "--dir-path", "/dir", large)
    assert told(report) == told(run("--revision", REVISION, large).stdout)
    assert {each["path"].split(".")[1] for each in json.loads(report)["findings"] if each["path"] != "$"} == {"frame"}


def test_many_small_logs(here: Any, tmp_path: Path) -> None:
    lines = list(sessions(30, dirty=True))
    for host in range(40):
        folder = tmp_path / f"host-{host}"
        folder.mkdir()
        (folder / "log.jsonl").write_bytes(b"".join(lines[host * 11 : host * 11 + 400]))
    report = same_everywhere(here, "--revision", "auto", tmp_path)
    assert json.loads(report)["summary"]["files"] == 40
    assert len(told(report)) > 5


def test_packed_and_dirty_logs(here: Any, tmp_path: Path) -> None:
    lines = list(sessions(60, dirty=True))
    whole = b"".join(lines)
    (tmp_path / "a.jsonl").write_bytes(whole[:-40])
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(whole, 1))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(whole, 1)[:-99])
    zstd = pytest.importorskip("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd")
    (tmp_path / "d.jsonl.zst").write_bytes(b"".join(zstd.compress(line) for line in lines[:50]))
    (tmp_path / "e.jsonl").write_bytes("\n".join(map(bytes.decode, lines[:9])).encode("utf-16"))
    (tmp_path / "f.jsonl").write_bytes(b"\0" * 5000 + whole.replace(b"\n", b"\r\n"))
    (tmp_path / "g.jsonl").write_bytes(b"")
    (tmp_path / "h.jsonl").write_bytes(b"\x7fELF\0\xff" + b"\0" * 100)
    found = same_everywhere(here, "--revision", REVISION, "--report", "--max-line", 3000, tmp_path)
    assert {"file/encoding", "file/unreadable", "json/torn"} <= told(found).keys()


@pytest.mark.parametrize("join", ["all", "directory"])
def test_files_that_continue_each_other(here: Any, tmp_path: Path, join: str) -> None:
    lines = list(sessions(120, dirty=True))
    cuts = sorted({0, 1, len(lines), *range(2, len(lines), 97)})
    for part, (start, end) in enumerate(itertools.pairwise(cuts)):
        data = b"".join(lines[start:end])
        packed = part % 5 == 2
        (tmp_path / f"part-{part}.jsonl{'.gz' if packed else ''}").write_bytes(gzip.compress(data) if packed else data)
    (tmp_path / "whole").write_bytes(b"".join(lines))
    in_parts = told(same_everywhere(here, "--revision", REVISION, "--join", join, tmp_path))
    assert in_parts == told(run("--revision", REVISION, tmp_path / "whole").stdout)
    alone = told(run("--revision", REVISION, "--join", "file", tmp_path).stdout)
    assert alone.get("response/orphan", 0) > in_parts.get("response/orphan", 0)  # the cuts do separate something


def test_the_standard_input(here: Any) -> None:
    data = b"".join(sessions(9, dirty=True))
    address = here.scheduler_address
    for revision in ("auto", REVISION):
        arguments = ["validate", "--config", str(ROOT / "pyproject.toml"), "--format", "json", "--revision", revision]
        alone = CliRunner().invoke(main, [*arguments, "-"], input=data)
        many = CliRunner().invoke(main, [*arguments, "--engine", "dask", "--scheduler", address, "-"], input=data)
        assert many.stdout_bytes == alone.stdout_bytes
        assert told(many.stdout)


def test_a_worker_is_killed(here: Any, large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with distributed.Client(here, set_as_default=False) as client:
        processes_before = client.run(os.getpid)
    join = Joiner.join
    killed: list[int] = []

    def kill_first(self: Joiner, work: Any, result: Any) -> Any:
        if result is not None and not killed:
            busy = [state.address for state in here.scheduler.workers.values() if state.processing or state.has_what]
            killed.append(processes_before[busy[0]])
            os.kill(killed[0], signal.SIGKILL)
        return join(self, work, result)

    undisturbed = run("--revision", REVISION, "--jobs", 1, large, LOGS)
    monkeypatch.setattr(Joiner, "join", kill_first)
    disturbed = remotely(here, "--revision", REVISION, large, LOGS)
    assert disturbed.stdout_bytes == undisturbed.stdout_bytes
    assert (disturbed.exit_code, disturbed.stderr) == (1, "")
    assert len(killed) == 1
    with distributed.Client(here, set_as_default=False) as client:
        client.wait_for_workers(3, timeout=60)
        assert killed[0] not in client.run(os.getpid).values()


def test_a_store(here: Any, s3: Any, tmp_path: Path) -> None:
    if s3 is None:
        pytest.skip("there is no store: moto or s3fs is not installed")
    lines = list(sessions(100, dirty=True))
    parts = {
        "day-2/a.jsonl": b"".join(lines),
        "day-10/a.jsonl.gz": gzip.compress(b"".join(lines[:999])),
        "day-10/b.jsonl": b"x",
    }
    assert len(parts["day-2/a.jsonl"]) > PIECE
    for name, data in parts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
        s3.pipe(f"{BUCKET}/{name}", data)
    arguments = ("--revision", REVISION, "--join", "directory")
    local = run(*arguments, tmp_path).stdout.replace(f"{tmp_path}/", f"s3://{BUCKET}/")
    assert told(local)
    assert remotely(here, *arguments, f"s3://{BUCKET}/day-*/*").stdout == local
    assert remotely(here, *arguments, f"s3://{BUCKET}").stdout == local


# Interrupted, lost


INTERRUPTED: Final = """
import os, signal, sys
from dsh_codegen.cli import main
from dsh_codegen.frames import engine, plan
from dsh_codegen.frames.engine import Joiner
engine.PIECE = plan.PIECE = 1 << 19
join = Joiner.join
def interrupt(self, work, result):
    findings = join(self, work, result)
    if result is not None:
        os.killpg(0, signal.SIGINT)
    return findings
Joiner.join = interrupt
main(sys.argv[1:])
"""


def test_ctrl_c_gives_the_report_so_far(large: Path, tmp_path: Path) -> None:
    arguments = ["--config", str(ROOT / "pyproject.toml"), "--format", "json", "--revision", REVISION]
    started = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, "validate", *arguments, "--engine", "dask", "--jobs", "2", str(large)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        start_new_session=True,  # the signal reaches the workers as well, as it does on a terminal
        check=False,
    )
    assert (started.returncode, started.stderr) == (130, b"interrupted\n")
    report = json.loads(started.stdout)
    assert report["partial"].startswith("interrupted after ")
    assert 0 < report["summary"]["frames"] < large.read_bytes().count(b"\n") // 2
    assert list(tmp_path.iterdir()) == []


def test_the_scheduler_is_lost(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_, "REACH", 1)
    join = Joiner.join
    with distributed.LocalCluster(
        n_workers=1, processes=False, dashboard_address="127.0.0.1:0", protocol="tcp://", host="127.0.0.1", silence_logs=60
    ) as other:

        def lose(self: Joiner, work: Any, result: Any) -> Any:
            if result is not None:
                other.close()
            return join(self, work, result)

        monkeypatch.setattr(Joiner, "join", lose)
        found = remotely(other, "--revision", REVISION, large)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "the connection to the cluster was lost" in found.stderr


# A cluster of one's own


def test_a_cluster_is_started_where_there_is_none_and_leaves_nothing(tmp_path: Path, large: Path) -> None:
    arguments = ["--config", str(ROOT / "pyproject.toml"), "--format", "json", "--revision", REVISION]
    started = subprocess.run(
        [sys.executable, "-m", "dsh_codegen", "validate", *arguments, "--engine", "dask", "--jobs", "2", str(large)],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert (started.returncode, started.stderr) == (1, b"")
    assert started.stdout == run("--revision", REVISION, large).stdout_bytes
    assert list(tmp_path.iterdir()) == []


# What can be in the way


def says(found: Result) -> str:
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.count("\n") == 1
    return found.stderr


def test_the_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'dsh-protocol[dask]'" in says(run("--engine", "dask", LOGS))


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_, "REACH", 1)
    told = says(run("--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", LOGS))
    assert told.startswith("error: no scheduler of a Dask cluster answers at tcp://127.0.0.1:1: ")


@pytest.mark.parametrize("address", ["nonsense", "http://host:1", "tcp://host", "host:port", ""])
def test_no_address(address: str) -> None:
    told = says(run("--engine", "dask", "--scheduler", address, LOGS))
    assert told == f"error: {address} is no address of a scheduler; expected tcp://HOST:PORT\n"


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_, "REACH", 1)
    with distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", host="127.0.0.1", silence_logs=60) as empty:
        assert "has no workers; start some" in says(remotely(empty, LOGS))


def test_another_version_of_the_code_on_a_worker(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "the code of dsh-protocol"
    monkeypatch.setattr(worker, "installed", lambda: {"Python": "3.11", code: "0123456789abcdef"})
    told = says(remotely(here, LOGS))
    assert f"worker {next(iter(here.scheduler.workers))[:10]}" in told
    assert f"has {code} " in told
    assert "not 0123456789ab as here" in told
    monkeypatch.undo()
    assert remotely(here, LOGS / "healthy.jsonl").exit_code == 0


@pytest.mark.parametrize(("where", "who"), [("scheduler", "the scheduler"), ("workers", "worker tcp://127.0.0.1:")])
def test_a_machine_without_us(here: Any, monkeypatch: pytest.MonkeyPatch, where: str, who: str) -> None:
    usual = distributed.Client.get_versions

    def without(self: Any, **how: Any) -> Any:
        versions = usual(self, **how)
        workers = versions["workers"]
        for machine in (versions["client"], versions["scheduler"], *workers.values()):
            machine["packages"]["dsh-protocol"] = "1.0"
        lacking = versions["scheduler"] if where == "scheduler" else next(iter(workers.values()))
        lacking["packages"]["dsh-protocol"] = None
        return versions

    monkeypatch.setattr(distributed.Client, "get_versions", without)
    told = says(remotely(here, LOGS))
    assert told.startswith(f"error: {who}")
    assert "does not have dsh-protocol" in told


def test_a_file_that_only_this_machine_has(here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(sessions(2)))
    submit = cluster._Desk.submit

    def hide(self: Any, work: Any) -> Any:
        path.unlink()
        return submit(self, work)

    monkeypatch.setattr(cluster._Desk, "submit", hide)
    told = says(remotely(here, "--revision", REVISION, path))
    assert told.startswith(f"error: {path}: worker tcp://127.0.0.1:")
    assert "can't read it: No such file or directory; name files by a URL" in told


def test_a_file_that_is_gone_later(here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(sessions(2)))
    monkeypatch.setattr(cluster._Desk, "_look", lambda *_: path.unlink())
    told = says(remotely(here, "--revision", REVISION, path))
    assert told.startswith(f"error: {path}: worker tcp://127.0.0.1:")
    assert "can't read it: No such file or directory" in told


# The parts, where no cluster is needed


SETUP: Final = Setup(Protocol("1", BUNDLE))
PING: Final = log(row("c2s", request(1, "ping")))


def test_work_that_kills_every_worker_is_done_here(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(PING)
    sentences: list[str] = []

    def killed() -> Any:
        raise distributed.KilledWorker("task", "worker", 3)

    client: Any = SimpleNamespace(submit=lambda *_, **__: SimpleNamespace(result=killed))
    desk = cluster._Desk(cluster.Cluster(None, 1, sentences.append), SETUP, client, "run")
    task = Task(0, InputFile("log", str(path), "plain", len(PING)), Piece("log", str(path), 0, None), first=True)
    assert desk.submit(task).result().summary.frames == 1
    assert len(sentences) == 1
    assert "is there enough memory?" in sentences[0]


def test_a_worker_knows_runs_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    path.write_bytes(PING)
    monkeypatch.setattr(worker, "get_worker", lambda: SimpleNamespace(address="tcp://there"))
    file = InputFile("log", str(path), "plain", len(PING))
    task = Task(0, file, Piece("log", str(path), 0, None), first=True)
    begin = worker.Begin("a", pickle.dumps(SETUP), worker.installed(), deaf=True)
    with _signals():
        begin.setup(SimpleNamespace(address="tcp://there"))
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert worker.work_on("a", task).summary.frames == 1
    assert worker.work_on("a", Whole((Log("log", (file,)),))).summary.frames == 1
    path.unlink()
    with pytest.raises(InputError, match=f"{path}: worker tcp://there can't read it: No such file"):
        worker.work_on("a", task)
    begin.teardown(None)
    assert "a" not in worker._runs


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_worker_that_joins_later_must_have_the_same_versions(tmp_path: Path) -> None:
    begin = worker.Begin("b", pickle.dumps(SETUP), {**worker.installed(), "msgspec": "0.1"}, deaf=False)
    with pytest.raises(worker.ClusterError, match=r"worker tcp://late has msgspec .*, not 0\.1 as here"):
        begin.setup(SimpleNamespace(address="tcp://late"))
    with pytest.raises(worker.ClusterError, match="worker tcp://late has msgspec"):
        worker.work_on("b", Whole(()))
    begin.teardown(None)


def test_differences_are_told() -> None:
    assert worker.difference("w", {"a": "1", "b": None}, {"a": "1", "b": None, "c": "3"}) is None
    assert worker.difference("w", {"a": "1"}, {}).startswith("w does not have a; ")
    assert worker.difference("w", {"a": None}, {"a": "2"}).startswith("w has a 2, not none as here; ")
    assert worker._version("no-such-distribution") is None


def test_what_a_worker_does_not_see(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert worker.missing(str(path), 0) == "No such file or directory"
    path.write_bytes(b"1234")
    assert worker.missing(str(path), 4) is None
    assert worker.missing(str(path), 5) == "there it has only 4 bytes, here 5"
