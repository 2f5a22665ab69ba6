"""What is measured, by whom, and what is aimed at. Data only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from .contender import BATCH, Scenario
from .worker import CONTENDERS

MB: Final = 1_000_000
LARGE: Final = (16 * MB, 64 * MB)
SECONDS: Final = 3
"""How long the slow handler is watched."""

OURS: Final = ("dsh aio", "dsh blocking")
EVERYBODY: Final = tuple(CONTENDERS)
RARE: Final = {("mcp", "line 64 MB")}
"""What takes so long that one round has to do."""


@dataclass(frozen=True, slots=True)
class Section:
    """One table: `units` is how many of its `unit` the scenario has."""

    name: str
    title: str
    scenario: Scenario
    unit: str
    units: int
    contenders: tuple[str, ...] = EVERYBODY
    pinned: bool = False
    shares: tuple[tuple[str, int], ...] = ()
    """Contenders that get the count divided by a number, because they are slow; what is compared is the rate."""

    def counts(self, contender: str) -> tuple[Scenario, int]:
        """The scenario for a contender, and its units."""
        divisor = dict(self.shares).get(contender, 1)
        return replace(self.scenario, count=self.scenario.count // divisor), self.units // divisor


SECTIONS: Final = (
    Section(
        "seq", "round trips, one after the other, everything on one core", Scenario("seq", 3000), "requests", 3000, pinned=True
    ),
    Section("pipe", f"{BATCH:,} requests under way at the same time", Scenario("pipe", 10), "requests", 10 * BATCH),
    Section(
        "flood",
        "a flood of notifications as short as runtimes send them; ours decoded into dataclasses, theirs as they give them",
        Scenario("flood", 200_000),
        "notifications",
        200_000,
        shares=(("acp", 4), ("acp typed", 4), ("mcp", 20), ("pygls", 20)),
    ),
    Section(
        "flood 490 B",
        "the same with longer pieces of text, CJK and emoji among them",
        Scenario("flood", 200_000, 263),
        "notifications",
        200_000,
        (*OURS, "real SDK", "acp typed", "raw pipe"),
        shares=(("acp typed", 4),),
    ),
    Section(
        "slow",
        f"the same flood with a handler that takes 1 ms, {SECONDS} s of it: the growth of memory counts",
        Scenario("slow", SECONDS),
        "seconds",
        SECONDS,
        (*OURS, "real SDK", "acp typed"),
    ),
    *(
        Section(
            f"line {size // MB} MB",
            f"one notification of {size // MB} MB",
            Scenario("flood", 1, size),
            "MB",
            size // MB,
            tuple(name for name in EVERYBODY if not name.endswith("client")),
        )
        for size in LARGE
    ),
)


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure that is hoped for. `value` computes it for one round from that round's figures."""

    section: str
    text: str
    bound: float
    direction: Literal[">=", "<="]
    value: Callable[[Round], float]

    def met(self, value: float) -> bool:
        """Whether the value is on the right side of the bound."""
        return value >= self.bound if self.direction == ">=" else value <= self.bound


@dataclass(frozen=True, slots=True)
class Round:
    """The figures of one round: of each section and contender, seconds per unit and bytes of memory; others by name."""

    seconds: dict[tuple[str, str], float]
    memory: dict[tuple[str, str], int]
    others: dict[str, float]


def faster(section: str, ours: str, theirs: str, bound: float) -> Aim:
    """An aim: this many times as fast as somebody."""
    text = f"{ours} / {theirs}"
    return Aim(section, text, bound, ">=", lambda r: r.seconds[section, theirs] / r.seconds[section, ours])


def linear(ours: str) -> tuple[Aim, Aim]:
    """The aims for long lines."""
    small, large = (f"line {size // MB} MB" for size in LARGE)
    return (
        Aim(large, f"{ours}, time for 64 MB / 16 MB", 5, "<=", lambda r: 4 * r.seconds[large, ours] / r.seconds[small, ours]),
        Aim(large, f"{ours}, memory / 64 MB", 5, "<=", lambda r: r.memory[large, ours] / LARGE[1]),
    )


def other(section: str, name: str, text: str, bound: float, direction: Literal[">=", "<="]) -> Aim:
    """An aim for a figure of `codecs` or `imports`."""
    return Aim(section, text, bound, direction, lambda r: r.others[name])


FLOODS: Final = ("flood", "flood 490 B")
AIMS: Final = (
    *(faster("seq", ours, "real SDK", 1.5) for ours in OURS),
    faster("pipe", "dsh aio", "real SDK", 10),
    faster("pipe", "dsh blocking", "real SDK", 20),
    *(
        faster(flood, ours, theirs, bound)
        for flood in FLOODS
        for theirs, bound in (("real SDK", 3.5), ("acp typed", 6))
        for ours in OURS
    ),
    *(Aim("slow", f"{ours}, growth in MB", 10, "<=", lambda r, ours=ours: r.memory["slow", ours] / MB) for ours in OURS),  # type: ignore[misc]
    *(aim for ours in OURS for aim in linear(ours)),
    other("decode", "typed/orjson", "parse and typed decode / orjson.loads alone", 0.40, ">="),
    other("imports", "import ms", "import dsh_runtime.aio over import asyncio, ms", 60, "<="),
    other("imports", "first decode ms", "first decode of an event in a fresh process, ms", 120, "<="),
    other("imports", "schema libraries", "schema libraries imported by these", 0, "<="),
)
