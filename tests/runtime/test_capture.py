"""Captures: rows that `dsh-codegen validate` reads, whatever the conversation was."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from dsh_runtime.capture import CaptureLog
from dsh_runtime.connection import Connection
from tests.runtime.cases import echoing, survives
from tests.runtime.rig import Rig


def rows(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize(("side", "outgoing", "incoming"), [("client", "c2s", "s2c"), ("server", "s2c", "c2s")])
def test_rows(side: Any, outgoing: str, incoming: str) -> None:
    file = io.BytesIO()
    peer: Connection[str] = Connection(observer=CaptureLog(file, side), max_line=100)
    line = peer.notification("m", {"s": "é\ud800"})
    peer.receive(b'{"id":"?","result":1}\nSegmentation \xff fault\n{"method":"m","params":{"x":1e999}}\n' + b"y" * 200)
    found = rows(file.getvalue())
    assert [list(row) for row in found[:3]] == [["ts", "dir", "frame"], ["ts", "dir", "frame"], ["ts", "dir", "frame", "raw"]]
    assert all(row["ts"] > 1.7e9 and row["ts"] == round(row["ts"], 6) for row in found)
    assert [(row["dir"], row["frame"], row.get("raw")) for row in found] == [
        (outgoing, json.loads(line), None),
        (incoming, {"id": "?", "result": 1}, None),
        (incoming, None, "Segmentation \ufffd fault"),
        (incoming, None, '{"method":"m","params":{"x":1e999}}'),
        (incoming, None, "y" * 100),
    ]


def test_appends_to_a_path_at_once(tmp_path: Path) -> None:
    path = tmp_path / "capture.jsonl"
    path.write_bytes(b"{}\n")
    with CaptureLog(path, "client") as log:
        log("out", b"{}", {"method": "m"}, None)
        assert len(rows(path.read_bytes())) == 2
        log("in", b"[]", None, "why")
    assert len(rows(path.read_bytes())) == 3
    log.close()


def test_a_file_stays_open(tmp_path: Path) -> None:
    with (tmp_path / "capture.jsonl").open("wb") as file:
        CaptureLog(file, "client").close()
        assert not file.closed


def test_a_file_that_fails_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = CaptureLog(tmp_path / "capture.jsonl", "client")
    log.close()
    for _ in range(3):
        log("out", b"{}", {"method": "m"}, None)
    assert [record.getMessage() for record in caplog.records] == ["the capture can't be written"]


def test_rows_of_many_threads(tmp_path: Path) -> None:
    path = tmp_path / "capture.jsonl"
    with CaptureLog(path, "client") as log:
        frame = {"method": "m", "params": {"fill": "x" * 5000}}

        def write() -> None:
            for _ in range(50):
                log("out", b"", frame, None)

        threads = [threading.Thread(target=write) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [row["frame"] for row in rows(path.read_bytes())] == [frame] * 400


def test_a_conversation(rig: Rig, tmp_path: Path) -> None:
    with CaptureLog(tmp_path / "capture.jsonl", "server") as log:
        _, wire = echoing(rig, observer=log)
        wire.feed(b"\n")
        survives(wire)
        found = rows((tmp_path / "capture.jsonl").read_bytes())
    assert [(row["dir"], "method" in row["frame"]) for row in found] == [("c2s", True), ("s2c", False)]
