"""`python -m tests.bench`: all measurements, in shuffled rounds, and what they say."""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from . import codecs, imports
from .contender import Measured, Scenario
from .logs.contest import CONTENDERS as JUDGES
from .logs.contest import Machine
from .logs.maker import logs as make_logs
from .logs.rounds import run_round as run_contest
from .logs.table import print_contest
from .plan import MB, RARE, SECTIONS, Section
from .table import print_report
from .worker import CONTENDERS

ROOT = Path(__file__).parents[2]
LIMIT = 300
"""Seconds that one measurement may take."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__, allow_abbrev=False)
    parser.add_argument("parts", metavar="PART", nargs="*", help="runtime, logs; without a PART all of them")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; each measures everything once (5)")
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="these contenders alone, as they are named in the table"
    )
    parser.add_argument(
        "--section", metavar="NAME", action="append", help=f"of the runtime alone, of {', '.join(s.name for s in SECTIONS)}"
    )
    parser.add_argument("--size", type=float, default=1000, metavar="MB", help="how long the log is that is judged (1000)")
    parser.add_argument("--json", action="store_true", help="print all figures of all rounds as JSON instead of the tables")
    options = parser.parse_args()
    names = [*CONTENDERS, *(each.name for each in JUDGES)]
    for given, known in (
        (options.parts, PARTS),
        (options.only or [], names),
        (options.section or [], [s.name for s in SECTIONS]),
    ):
        for name in given:
            if name not in known:
                parser.error(f"there is no {name!r}; there are {', '.join(map(repr, known))}")
    parts = options.parts or (["runtime"] if options.section else PARTS)
    figures: dict[str, Any] = {"machine": describe_machine()}
    for part in PARTS:
        if part in parts:
            figures |= PARTS[part](options)
    if options.json:
        json.dump(figures, sys.stdout)
        print()
    return 0


def bench_runtime(options: argparse.Namespace) -> dict[str, Any]:
    """Transports, clients and decoders: prints the tables, and gives the figures."""
    sections = [section for section in SECTIONS if section.name in (options.section or [s.name for s in SECTIONS])]
    rounds = []
    for number in range(options.rounds):
        print(f"runtime: round {number + 1} of {options.rounds}", file=sys.stderr)
        rounds.append(run_round(number, sections, options.only))
    small = [] if options.section or options.only else codecs.measure()
    if not options.json:
        print_report(describe_machine(), sections, rounds, small)
    return {"rounds": rounds, "decode": small}


def bench_logs(options: argparse.Namespace) -> dict[str, Any]:
    """Logs: prints the tables, and gives the figures."""
    machine = Machine.found()
    print(f"logs: making {options.size:g} MB and what belongs to it, unless it is there", file=sys.stderr)
    logs, origin = make_logs(int(options.size * MB))
    rounds = []
    for number in range(options.rounds):
        print(f"logs: round {number + 1} of {options.rounds}", file=sys.stderr)
        rounds.append(run_contest(machine, logs, options.rounds, options.only))
    if not options.json:
        print(f"\n{describe_machine()}")
        print_contest(logs, origin, rounds)
    return {"logs": {"origin": origin, "rounds": rounds}}


PARTS: Final[dict[str, Callable[[argparse.Namespace], dict[str, Any]]]] = {"runtime": bench_runtime, "logs": bench_logs}


def run_round(number: int, sections: list[Section], only: list[str] | None) -> dict[str, Any]:
    """Everything once, in an order of its own."""
    jobs = [
        (section, name)
        for section in sections
        for name in section.contenders
        if (only is None or name in only) and (number == 0 or (name, section.name) not in RARE)
    ]
    found: dict[str, Any] = {section.name: {} for section in sections}
    for section, name in random.sample(jobs, len(jobs)):
        scenario, units = section.counts(name)
        cpus = sorted(os.sched_getaffinity(0))
        measured = measure(name, scenario, cpus[number % len(cpus)] if section.pinned else None)
        found[section.name][name] = {**asdict(measured), "units": units}
    if only is None and len(sections) == len(SECTIONS):
        found["imports"] = {name: imports.measure(name) for name in random.sample(list(imports.MODULES), len(imports.MODULES))}
    return found


def measure(name: str, scenario: Scenario, cpu: int | None = None) -> Measured:
    """One measurement, in a process of its own."""
    pin = () if cpu is None else (str(cpu),)
    command = [
        sys.executable,
        "-m",
        f"{__package__}.worker",
        name,
        scenario.kind,
        str(scenario.count),
        str(scenario.size),
        *pin,
    ]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, timeout=LIMIT, check=True)
    return Measured(**json.loads(done.stdout))


def describe_machine() -> str:
    """What it was measured on."""
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    cpus = len(os.sched_getaffinity(0))
    return f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}, {cpus} CPUs, load {load}"


if __name__ == "__main__":
    sys.exit(main())
