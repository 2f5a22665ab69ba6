"""Run the contest: rounds in which everybody judges once, in shuffled order, each in a process of its own."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any, Final

from .contest import CONTENDERS, ROOT, Contender, Machine
from .maker import Log

METER: Final = Path(__file__).with_name("meter.py")
LIMIT: Final = 1800
"""Seconds that one command may take."""

Result = dict[str, Any]
"""What the meter tells, and `rate` in bytes of the unpacked log per second; or why it is `absent`, or what is `wrong`."""


def run_round(
    machine: Machine, logs: dict[str, Log], rounds: int, only: Sequence[str] | None = None
) -> dict[str, list[Result]]:
    """Everybody once, or as often as it takes to have enough runs in all rounds; results by name."""
    jobs = [each for each in CONTENDERS if only is None or each.name in only for _ in range(ceil(each.times / rounds))]
    found: dict[str, list[Result]] = {}
    for contender in random.sample(jobs, len(jobs)):
        found.setdefault(contender.name, []).append(measure(contender, machine, logs[contender.log]))
    return found


def measure(contender: Contender, machine: Machine, log: Log) -> Result:
    """One run of one contender."""
    command = contender.command(machine, str(log.path))
    if isinstance(command, str):
        return {"absent": command}
    with tempfile.NamedTemporaryFile() as output:
        meter = [sys.executable, "-I", "-S", str(METER), str(LIMIT), output.name, *command]
        done = subprocess.run(meter, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        result: Result = json.loads(done.stdout)
        wrong = find_wrong(contender, log, result, Path(output.name).read_bytes())
    if contender.check == "frames" and not wrong:
        result |= {"seconds": result["own seconds"]}
    return {**result, "rate": log.size / result["seconds"], **({"wrong": wrong} if wrong else {})}


def find_wrong(contender: Contender, log: Log, result: Result, output: bytes) -> str:
    """What is wrong with a run, or an empty text. A fast answer counts only if it is the right one."""
    expected = 1 if log.bad else 0
    last = (result["errors"].strip().splitlines() or [""])[-1]
    if result["status"] != expected:
        return f"exit status {result['status']} instead of {expected}: {last}"
    if contender.check == "none":
        return ""
    try:
        told = json.loads(output)
    except ValueError:
        return f"its output is no JSON: {last}"
    if contender.check == "frames":
        result["own seconds"] = told["seconds"]
        right = (told["frames"], told["invalid"]) == (log.frames, 0)
        return "" if right else f"{told['frames']} frames, {told['invalid']} invalid; there are {log.frames} valid ones"
    summary = told["summary"]
    counts = summary["frames"], summary["invalid"] + summary["skipped"], 0 if log.bad else summary["warnings"]
    if counts == (log.frames, log.bad, 0):
        return ""
    return "{} frames, {} bad, {} warnings; there are {}, {} bad".format(*counts, log.frames, log.bad)
