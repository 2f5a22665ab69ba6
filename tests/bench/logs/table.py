"""What the contest says, as text: rates side by side, and what was aimed at beside what came out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from statistics import median
from typing import Any

from ..table import spread
from .aims import AIMS, MB, OURS, Round, rate
from .contest import CONTENDERS, Contender
from .maker import Log


def print_contest(logs: dict[str, Log], origin: str, rounds: Sequence[Round]) -> None:
    """All tables. Aims are shown for those that ran."""
    print(f"\nlogs: made of {origin}; whole processes, starting up included, wall time; {len(rounds)} rounds")
    for name, log in logs.items():
        share = f", {log.bad:,} with a defect" if log.bad else ""
        packed = f", packed {log.size / log.packed:.1f}:1" if log.packed < log.size else ""
        print(f"  {name:12}{log.size / MB:>9,.1f} MB, {log.lines:,} lines{share}{packed}")
    print(f"\n  {'':24}{'MB/s':>26}{'CPU s per GB':>14}{'largest process':>17}   {OURS} is")
    for contender in CONTENDERS:
        print_contender(contender, logs[contender.log], rounds)
    print("\n  * judges the sample alone, each conversation once; its seconds are those of judging, without starting up.")
    print_aims(rounds)


def print_contender(contender: Contender, log: Log, rounds: Sequence[Round]) -> None:
    """One line of the table."""
    runs = [run for each in rounds for run in each.get(contender.name, ())]
    if not runs:
        return
    name = contender.name + (" *" if contender.log == "sample" else "")
    if "absent" in runs[0]:
        print(f"  {name:24}absent: {runs[0]['absent']}")
        return
    right = [run for run in runs if "wrong" not in run]
    wrong = [run["wrong"] for run in runs if "wrong" in run]
    complaint = f"WRONG in {len(wrong)} of {len(runs)} runs: {wrong[0]}" if wrong else ""
    if not right:
        print(f"  {name:24}{complaint}")
        return
    if contender.log == "one line":
        print(f"  {name:24}{spread([run['seconds'] * 1000 for run in right], 0) + ' ms':>26}{'':14}{memory(right)}")
    else:
        values = [run["rate"] / MB for run in right]
        rates = spread(values, 2 if median(values) < 10 else 0)
        cpu = median(run["cpu"] for run in right) / log.size * 1e9
        processor = "" if contender.log == "sample" else f"{cpu:.1f}"
        print(f"  {name:24}{rates:>26}{processor:>14}{memory(right)}   {compare(contender, rounds)}".rstrip())
    if complaint:
        print(f"  {'':24}{complaint}")


def memory(runs: Sequence[dict[str, Any]]) -> str:
    """The largest process of the runs in the middle."""
    return f"{median(run['peak'] for run in runs) / MB:>14.0f} MB"


def compare(contender: Contender, rounds: Sequence[Round]) -> str:
    """How many times as fast ours is."""
    ratios = []
    for each in rounds:
        with suppress(KeyError):
            ratios.append(rate(each, OURS) / rate(each, contender.name))
    return f"{spread(ratios)}x" if ratios and contender.name != OURS else ""


def print_aims(rounds: Sequence[Round]) -> None:
    """The aims, and whether they are met. Those for whoever was not to run are left out."""
    print()
    for aim in AIMS:
        if not all(name in each for name in aim.names for each in rounds):
            continue
        values = []
        for each in rounds:
            with suppress(KeyError):
                values.append(aim.value(each))
        verdict = "not measured" if not values else f"{spread(values, aim.digits)}  {'met' if aim.met(values) else 'MISSED'}"
        print(f"  aim: {aim.text} {aim.direction} {aim.bound:g}: {verdict}")
