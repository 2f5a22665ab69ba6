"""`python -m tests.bench`: all measurements, in shuffled rounds, and what they say."""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import codecs, imports
from .contender import Measured, Scenario
from .plan import RARE, SECTIONS, Section
from .table import print_report

ROOT = Path(__file__).parents[2]
LIMIT = 300
"""Seconds that one measurement may take."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5, help="rounds; each measures everything once (5)")
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="these contenders alone, as they are named in the table"
    )
    parser.add_argument("--section", metavar="NAME", action="append", help=f"of {', '.join(s.name for s in SECTIONS)}")
    parser.add_argument("--json", action="store_true", help="print all figures of all rounds as JSON instead of the tables")
    options = parser.parse_args()
    sections = [section for section in SECTIONS if section.name in (options.section or [s.name for s in SECTIONS])]
    rounds = []
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        rounds.append(run_round(number, sections, options.only))
    small = [] if options.section or options.only else codecs.measure()
    machine = describe_machine()
    if options.json:
        json.dump({"machine": machine, "rounds": rounds, "decode": small}, sys.stdout)
        print()
    else:
        print_report(machine, sections, rounds, small)
    return 0


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
