"""What the figures say, as text. Ratios are formed within a round, where everybody had the same machine; the median counts."""

from __future__ import annotations

from statistics import median
from typing import Any

from .plan import AIMS, MB, OURS, Aim, Round, Section

RoundData = dict[str, Any]


def print_report(machine: str, sections: list[Section], rounds: list[RoundData], small: list[dict[str, float]]) -> None:
    """All tables."""
    print(
        f"{machine}; {len(rounds)} rounds, shuffled; medians, [min..max]. Wall time, unless it says CPU; ratios are in speed."
    )
    for section in sections:
        print(f"\n{section.name}: {section.title}")
        memory_only = section.name == "slow"
        rate = "" if memory_only else f"{section.unit + '/s':>16}{'CPU us each':>13}"
        print(f"  {'':20}{rate}{'memory':>10}" + ("" if memory_only else "".join(f"{'  ' + each + ' is':24}" for each in OURS)))
        for name in section.contenders:
            print_contender(section, name, rounds)
        print_aims(section.name, rounds, small)
    if small:
        print("\ndecode: small events, CPU us each")
        for name in sorted(small[0], key=lambda name: median(row[name] for row in small)):
            print(f"  {name:26}{spread([row[name] for row in small])}")
        print_aims("decode", rounds, small)
    if rounds and "imports" in rounds[0]:
        print("\nimports: ms over `import asyncio`, in a fresh process")
        found = {name: [each["imports"][name]["import ms"] for each in rounds] for name in rounds[0]["imports"]}
        for name in sorted(found, key=lambda name: median(found[name])):
            print(f"  {name:26}{spread(found[name], 0)}")
        print_aims("imports", rounds, small)


def print_contender(section: Section, name: str, rounds: list[RoundData]) -> None:
    """One line of a table."""
    found = [each[section.name][name] for each in rounds if name in each[section.name]]
    if not found:
        return
    memory = f"{median(each['memory'] for each in found) / MB:>7.0f} MB"
    if section.name == "slow":
        print(f"  {name:20}{memory}")
        return
    rate = median(each["units"] / each["seconds"] for each in found)
    cpu = median(each["cpu"] / each["units"] * 1e6 for each in found)
    ratios = "".join(f"  {compare(section.name, ours, name, rounds):22}" for ours in OURS)
    print(f"  {name:20}{rate:>16,.0f}{cpu:>13,.1f}{memory}{ratios}".rstrip())


def compare(section: str, ours: str, theirs: str, rounds: list[RoundData]) -> str:
    """How many times as fast as somebody one of ours is."""
    rows = [each[section] for each in rounds]
    ratios = [per_unit(row[theirs]) / per_unit(row[ours]) for row in rows if theirs in row and ours in row and ours != theirs]
    return f"{spread(ratios)}x" if ratios else ""


def print_aims(section: str, rounds: list[RoundData], small: list[dict[str, float]]) -> None:
    """The aims of one table, and whether they are met."""
    for aim in AIMS:
        if aim.section != section:
            continue
        values = values_of(aim, rounds, small)
        if values:
            verdict = "met" if aim.met(median(values)) else "MISSED"
            print(f"  aim: {aim.text} {aim.direction} {aim.bound:g}: {spread(values)}  {verdict}")


def values_of(aim: Aim, rounds: list[RoundData], small: list[dict[str, float]]) -> list[float]:
    """The value of an aim in each round that has what it needs."""
    values = []
    decodes = [{"typed/orjson": row["orjson.loads alone"] / row["parse and typed decode"]} for row in small]
    for each in [read_round(data) for data in rounds] + [Round({}, {}, others) for others in decodes]:
        try:
            values.append(aim.value(each))
        except KeyError:
            continue
    return values


def read_round(data: RoundData) -> Round:
    """A round as aims see it."""
    rows = {(section, name): row for section, found in data.items() for name, row in found.items() if section != "imports"}
    seconds = {key: per_unit(row) for key, row in rows.items()}
    memory = {key: row["memory"] for key, row in rows.items()}
    return Round(seconds, memory, data.get("imports", {}).get("dsh_runtime.aio", {}))


def per_unit(row: dict[str, Any]) -> float:
    """Seconds of wall time."""
    return float(row["seconds"] / row["units"])


def spread(values: list[float], digits: int = 2) -> str:
    """The median and the extremes."""
    return f"{median(values):.{digits}f} [{min(values):.{digits}f}..{max(values):.{digits}f}]"
