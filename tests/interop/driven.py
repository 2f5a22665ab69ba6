"""Runs a driver of a real client against `dsh-runtime`, with `tee.py` in between, and judges what went over the wire."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
TEE: Final = Path(__file__).with_name("tee.py")
LIMIT: Final = 120.0
"""Seconds for a run. None takes that long unless something is wrong."""

ERROR: Final = -32603


@dataclass(frozen=True, slots=True)
class Driver:
    """The command line of a driver in front of its arguments, and the revision that its client speaks."""

    command: tuple[str, ...]
    revision: str

    def drive(self, scenario: str, folder: Path, *, invalid: tuple[str, ...] = ()) -> Any:
        """Run a scenario; gives what the driver printed. The runtime has to exit with 0, and every frame has to be valid.

        `invalid` are the methods of the requests that the client should not have sent, or not at that time.
        """
        wire, hook = folder / "wire.jsonl", folder / "hook.jsonl"
        runtime = executable(folder / "runtime", wire, self.revision)
        (folder / "work").mkdir()
        env = {**os.environ, "DSH_HOME": str(folder / "home"), "DSH_CAPTURE": str(hook), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [*self.command, str(runtime), scenario]
        run = subprocess.run(
            command, cwd=folder / "work", env=env, capture_output=True, encoding="utf-8", check=False, timeout=LIMIT
        )
        assert run.returncode == 0, run.stdout + run.stderr
        rows = read_rows(wire)
        assert rows[-1].get("exit") == 0
        for direction in ("c2s", "s2c"):
            assert frames(rows, direction) == frames(read_rows(hook), direction)
        assert findings(wire, self.revision) == [("c2s", "request", method) for method in invalid]
        return json.loads(run.stdout)


def executable(path: Path, capture: Path, revision: str) -> Path:
    """Write a program that is `dsh-runtime` of a revision, as clients start it, with everything written down."""
    command = [sys.executable, str(TEE), str(capture), sys.executable, "-m", "dsh_runtime", "--revision", revision]
    path.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8", newline="\n")
    path.chmod(0o755)
    return path


def findings(capture: Path, revision: str) -> list[tuple[str, str, str]]:
    """What `dsh-codegen validate` says is wrong with the frames or their order: direction, kind and method."""
    command = [sys.executable, "-m", "dsh_codegen", "validate", "--revision", revision, "--format", "json", str(capture)]
    verdict = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert verdict.returncode in (0, 1), verdict.stderr
    found = json.loads(verdict.stdout)["findings"]
    return [(each["direction"], each["kind"], each["method"]) for each in found if each["severity"] != "note"]


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def frames(rows: list[dict[str, Any]], direction: str) -> list[Any]:
    """The frames of one direction; all lines have to be frames."""
    assert not [row for row in rows if "raw" in row]
    return [row["frame"] for row in rows if row["dir"] == direction and row["frame"] is not None]
