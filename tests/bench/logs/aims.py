"""What is aimed at when logs are judged. Data only; a figure is computed for each round from that round's results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, Final, Literal

MB: Final = 1_000_000
OURS: Final = "one worker"

Round = dict[str, list[dict[str, Any]]]
"""Results of one round by the name of the contender."""


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure that is hoped for. `value` raises KeyError for a round that lacks what it needs."""

    text: str
    names: tuple[str, ...]
    """The contenders that it is about."""
    bound: float
    direction: Literal[">=", "<=", "<"]
    value: Callable[[Round], float]
    digits: int = 2
    best: bool = False
    """Whether the best round counts, not the median."""

    def figure(self, values: list[float]) -> float:
        """What is compared with the bound."""
        return min(values) if self.best else median(values)

    def met(self, values: list[float]) -> bool:
        """Whether the figure is on the right side of the bound."""
        figure = self.figure(values)
        match self.direction:
            case ">=":
                return figure >= self.bound
            case "<=":
                return figure <= self.bound
            case _:
                return figure < self.bound


def right(found: Round, name: str) -> list[dict[str, Any]]:
    """The runs of a contender; KeyError if it did not run, or a run had a wrong result."""
    runs = found[name]
    if any("absent" in run or "wrong" in run for run in runs):
        raise KeyError(name)
    return runs


def rate(found: Round, name: str) -> float:
    """Bytes of log per second of wall time."""
    return float(right(found, name)[0]["rate"])


def peak(found: Round, name: str) -> float:
    """Megabytes of the largest process."""
    return float(right(found, name)[0]["peak"]) / MB


def faster(ours: str, theirs: str, bound: float, text: str, digits: int = 2) -> Aim:
    """An aim: this many times the rate of another."""
    figure = f"{text}: {ours} / {theirs}"
    return Aim(figure, (ours, theirs), bound, ">=", lambda each: rate(each, ours) / rate(each, theirs), digits)


def small(name: str, bound: int = 80) -> Aim:
    """An aim: no process of a run has more memory."""
    return Aim(f"MB of the largest process: {name}", (name,), bound, "<", lambda each: peak(each, name), 0)


def flat(short: str, long: str) -> Aim:
    """An aim: a file of ten times the length takes no more memory."""
    text = f"memory does not grow with the file: {long} / {short}"
    return Aim(text, (long, short), 1.15, "<=", lambda each: peak(each, long) / peak(each, short))


def quick(name: str, how: str, pick: Callable[[list[float]], float], *, best: bool = False) -> Aim:
    """An aim: the answer comes soon."""
    text = f"seconds for a file of one line, {how}: {name}"
    return Aim(text, (name,), 0.2, "<", lambda each: pick([run["seconds"] for run in right(each, name)]), 3, best)


AIMS: Final = (
    faster(OURS, "parse only", 0.65, "with the same parser"),
    faster(OURS, "jsonschema, root", 300, "sample", 0),
    faster(OURS, "jsonschema, dispatched", 50, "sample", 0),
    faster("two workers", OURS, 1.8, "wall time"),
    faster("gzip", OURS, 0.7, "compressed"),
    faster("zstd", OURS, 0.7, "compressed"),
    faster("1 % bad", OURS, 0.7, "1 % of lines have defects"),
    *(small(name) for name in (OURS, "two workers", "long lines", "long lines, two workers", "gzip", "zstd", "1 % bad")),
    flat("a tenth", OURS),
    flat("a tenth, two workers", "two workers"),
    *(quick(name, "best", min, best=True) for name in ("one line", "one line, auto")),
    *(quick(name, "median", median) for name in ("one line", "one line, auto")),
)
