"""The bench for logs works: what it makes is right, and each contender judges it, tiny. No time is asserted."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.bench.logs import contest, meter, rounds
from tests.bench.logs.aims import AIMS
from tests.bench.logs.contest import BUNDLE, CONTENDERS, Contender, Machine
from tests.bench.logs.maker import EPOCH, LONG_LINE, Log, lengthened, logs, stream, write
from tests.bench.logs.material import Material, captures, gather
from tests.bench.logs.scripts.by_schema import judge
from tests.bench.logs.table import print_contest
from tests.bench.test_bench import PEERS

TALKS = 30


@pytest.fixture(scope="module")
def material() -> Material:
    return gather([], variants=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Log]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DSH_REFERENCE_DIR", raising=False)
        return logs(30_000, tmp_path_factory.mktemp("logs"))[0]


def frames_of(lines: list[bytes]) -> list[dict[str, Any]]:
    return [frame for line in lines if (frame := json.loads(line)["frame"]) is not None]


def invalid(lines: list[bytes]) -> list[dict[str, Any]]:
    is_valid = judge("dispatched", json.loads(BUNDLE.read_text(encoding="utf-8")))
    return [frame for frame in frames_of(lines) if not is_valid(frame)]


def test_a_log_is_one_stream_of_many_sessions(material: Material) -> None:
    lines = list(stream(material, TALKS))
    times = [json.loads(line)["ts"] for line in lines]
    assert times == sorted(times)
    assert times[0] == EPOCH / 1_000_000
    frames = frames_of(lines)
    assert [frame.get("method") for frame in (*frames[:2], *frames[-2:])] == ["initialize", None, "shutdown", None]
    asked = Counter(frame["id"] for frame in frames if "method" in frame and "id" in frame)
    answered = Counter(frame["id"] for frame in frames if "method" not in frame)
    assert asked == answered
    assert set(asked.values()) == {1}
    seqs: dict[str, list[int]] = {}
    changes, last = 0, ""
    for frame in frames:
        if frame.get("method") == "session.event":
            session = frame["params"]["sessionId"]
            seqs.setdefault(session, []).append(frame["params"]["event"]["seq"])
            changes += session != last
            last = session
    assert len(seqs) == TALKS
    assert all(seq == sorted(set(seq)) for seq in seqs.values())
    assert changes > 10 * TALKS  # they go on at the same time


def test_times_and_ids_inside_events_move_along(material: Material) -> None:
    events = [
        frame["params"]["event"] for frame in frames_of(list(stream(material, TALKS))) if "event" in frame.get("params", {})
    ]
    assert min(event["time"] for event in events) >= EPOCH // 1000
    calls = [event["data"]["callId"] for event in events if event["type"] == "tool/call"]
    results = [event["data"]["message"]["toolCallId"] for event in events if event["type"] == "tool/result"]
    assert len(set(calls)) == TALKS
    assert set(calls) == set(results)


def test_a_log_is_the_same_each_time(material: Material) -> None:
    assert list(stream(material, TALKS)) == list(stream(gather([], variants=2), TALKS))


def test_a_log_is_healthy(material: Material) -> None:
    lines = list(stream(material, TALKS))
    assert len(frames_of(lines)) > 25 * TALKS
    assert invalid(lines) == []


def test_a_log_of_real_captures_is_healthy(reference_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSH_REFERENCE_DIR", str(reference_dir))
    material = gather(captures(), variants=1)
    lines = list(stream(material, len(material.variants[0])))
    assert len(frames_of(lines)) > 1000
    assert invalid(lines) == []


def test_each_line_with_a_defect_is_invalid(material: Material, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.jsonl", material, TALKS)
    bad = write(tmp_path / "bad.jsonl", material, TALKS, 0.1)
    assert (whole.bad, bad.lines, bad.frames) == (0, whole.lines, whole.frames)
    pairs = zip(whole.path.read_bytes().split(b"\n"), bad.path.read_bytes().split(b"\n"), strict=True)
    damaged = [new for old, new in pairs if old != new]
    assert len(damaged) == bad.bad > 50
    readable = []
    for line in damaged:
        try:
            json.loads(line, parse_constant=int)  # there is no int called NaN
            readable.append(line)
        except ValueError:
            continue
    assert 0 < len(readable) < len(damaged)
    is_valid = judge("root", json.loads(BUNDLE.read_text(encoding="utf-8")))
    assert [line for line in readable if is_valid(json.loads(line)["frame"])] == []


def test_long_lines_are_long_and_healthy() -> None:
    lines = list(stream(lengthened(LONG_LINE), 1))
    sizes = sorted(map(len, lines))
    assert sizes[-1] <= LONG_LINE
    assert sizes[-3] > LONG_LINE * 0.9
    assert invalid(lines) == []


def test_logs_are_made_once(made: dict[str, Log]) -> None:
    folder = made["plain"].path.parent
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    again, _ = logs(30_000, folder)
    assert again == made
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert made["plain"].size >= 30_000
    assert made["gzip"].packed < made["plain"].size / 2 > made["zstd"].packed


def test_the_meter_sees_memory_and_time_of_all_processes(tmp_path: Path) -> None:
    child = "import sys; block = b'x' * 60_000_000; sum(range(5_000_000)); print(len(block)); sys.stderr.write('done')"
    parent = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {child!r}]) + 3)"
    found = meter.run([sys.executable, "-c", parent], 60, str(tmp_path / "output"))
    assert (found["status"], found["errors"]) == (3, "done")
    assert found["peak"] > 60_000_000
    assert found["cpu"] > 0
    assert (tmp_path / "output").read_text(encoding="utf-8") == "60000000\n"


def test_the_meter_ends_what_takes_too_long(tmp_path: Path) -> None:
    assert meter.run([sys.executable, "-c", "while True: pass"], 0.2, str(tmp_path / "output"))["status"] == -9


@pytest.mark.parametrize("contender", CONTENDERS, ids=lambda contender: contender.name)
def test_a_contender(contender: Contender, made: dict[str, Log]) -> None:
    stamp = PEERS.parents[1] / "stamp"
    machine = Machine.found(str(PEERS) if stamp.exists() else sys.executable)
    command = contender.command(machine, "")
    if isinstance(command, str):
        pytest.skip(command)
    if command[0] in (machine.peers, machine.node) and not stamp.exists():
        pytest.skip("there is nobody to compare with: run `make bench`")
    found = rounds.measure(contender, machine, made[contender.log])
    assert "wrong" not in found, found["wrong"]
    assert found["rate"] > 0


REPORTED = {"frames": 9, "valid": 8, "invalid": 1, "skipped": 0, "warnings": 0}


@pytest.mark.parametrize(
    ("summary", "frames", "bad", "status", "sentence"),
    [
        (REPORTED, 9, 1, 1, ""),
        (REPORTED, 9, 1, 0, "exit status 0 instead of 1: out of memory"),
        (REPORTED, 9, 2, 1, "9 frames, 1 bad, 0 warnings; there are 9, 2 bad"),
        (REPORTED, 8, 1, 1, "9 frames, 1 bad, 0 warnings; there are 8, 1 bad"),
        ({**REPORTED, "invalid": 0, "warnings": 2}, 9, 0, 0, "9 frames, 0 bad, 2 warnings; there are 9, 0 bad"),
    ],
)
def test_a_wrong_answer_is_told(summary: dict[str, int], frames: int, bad: int, status: int, sentence: str) -> None:
    ours = contest.ours("ours", "plain")
    log = Log(Path(), 0, 0, frames, bad)
    output = json.dumps({"summary": summary}).encode()
    assert rounds.find_wrong(ours, log, {"status": status, "errors": "careful\nout of memory\n"}, output) == sentence


def test_an_answer_that_is_no_report_is_wrong() -> None:
    result = {"status": 0, "errors": "Traceback\nOSError: no"}
    found = rounds.find_wrong(contest.ours("ours", "plain"), Log(Path(), 0, 0, 9), result, b"")
    assert found == "its output is no JSON: OSError: no"


def test_frames_that_a_script_counted_are_compared() -> None:
    script = contest.schema("root", "root")
    result: dict[str, Any] = {"status": 0, "errors": ""}
    output = json.dumps({"seconds": 1.5, "frames": 9, "invalid": 1}).encode()
    assert rounds.find_wrong(script, Log(Path(), 0, 0, 9), result, output) == "9 frames, 1 invalid; there are 9 valid ones"
    assert result["own seconds"] == 1.5


def test_the_report(made: dict[str, Log], capsys: pytest.CaptureFixture[str]) -> None:
    row = {"seconds": 0.1, "cpu": 0.1, "rate": 1e8, "peak": 50_000_000}
    found: dict[str, list[dict[str, Any]]] = {contender.name: [row] for contender in CONTENDERS}
    found["jsonschema, root"] = [{**row, "rate": 1e5}]
    found["dask"] = [{"absent": "validate has no --engine"}]
    found["gzip"] = [{**row, "wrong": "exit status 2"}]
    print_contest(made, "a conversation", [found, {**found, "zstd": found["gzip"]}])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert len([line for line in lines if line.startswith("aim: ")]) == len(AIMS)
    assert "aim: sample: one worker / jsonschema, root >= 300: 1000 [1000..1000]  met" in lines
    assert "aim: wall time: two workers / one worker >= 1.8: 1.00 [1.00..1.00]  MISSED" in lines
    assert "aim: compressed: gzip / one worker >= 0.7: not measured" in lines
    assert any(line.startswith("gzip ") and line.endswith("WRONG in 2 of 2 runs: exit status 2") for line in lines)
    assert "aim: compressed: zstd / one worker >= 0.7: 1.00 [1.00..1.00]  met" in lines
    assert "WRONG in 1 of 2 runs: exit status 2" in lines
    assert any(line.startswith("dask ") and line.endswith("absent: validate has no --engine") for line in lines)
    print_contest(made, "a conversation", [{"one worker": [row]}])
    assert "parse only" not in capsys.readouterr().out
