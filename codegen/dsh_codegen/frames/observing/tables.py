"""What was observed as short tables, for whatever prints tables. Long lists are cut here; the JSON report has them in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...markup.text import harmless
from ..wording import listing
from .told import as_json

if TYPE_CHECKING:
    from ..observed import Observed

Row: TypeAlias = tuple[str, ...]

MOST_ROWS: Final = 30
"""Rows of a table, before one that says how many more there are."""


@dataclass(frozen=True, slots=True)
class Table:
    """A title, the names of the columns, and rows of as many cells. Cells are short text without control characters."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def tables(observed: Observed) -> list[Table]:
    """The tables that have rows: what is undeclared, what was never seen, traffic, latency, spans, sessions."""
    found = as_json(observed)
    made = (
        Table("Undeclared", ("kind", "name", "schema", "count", "first seen"), _some(_undeclared(found["undeclared"]))),
        Table("Schema coverage", ("what", "declared", "seen", "never seen"), tuple(_coverage(found["coverage"]))),
        Table("Never seen in what was seen", ("definition", "seen", "never seen"), _some(_details(found["coverage"]))),
        Table("Traffic", _TRAFFIC, _some(_traffic(found))),
        Table("Latency", ("method", "answers", "min", "p50", "p99", "max"), _some(_latency(found))),
        Table("Sessions and spans", ("what", "started", "ended", "open", "outcomes"), tuple(_spans(found["sessions"]))),
        Table("Sessions", ("session", "frames", "spans", "first seen"), _some(_sessions(found["sessions"]))),
    )
    return [table for table in made if table.rows]


def _some(rows: Iterable[Row]) -> tuple[Row, ...]:
    every = list(rows)
    if len(every) <= MOST_ROWS:
        return tuple(every)
    more = f"… {len(every) - MOST_ROWS:,} more"
    return (*every[:MOST_ROWS], (more, *("" for _ in every[0][1:])))


def _undeclared(found: dict[str, Any]) -> Iterator[Row]:
    for each in sorted(found["names"], key=lambda each: -each["count"]):
        name = each["member"] if each["value"] is None else each["value"]
        yield each["kind"], harmless(name), harmless(each["schema"] or "(frame)"), f"{each['count']:,}", _place(each)
    if found["left_out"]:
        yield "others", "", "", f"{found['left_out']:,}", ""


def _place(found: dict[str, Any]) -> str:
    return f"{harmless(found['file'] or '')}:{found['line']}"


def _coverage(found: dict[str, Any]) -> Iterator[Row]:
    for name, what in (("methods", "methods"), ("errors", "error codes"), ("definitions", "definitions")):
        part = found.get(name)
        if part is not None and part["declared"]:
            yield what, str(part["declared"]), str(part["seen"]), _names(part["never"])
    if found.get("unanswered"):
        yield "never answered", "", "", _names(found["unanswered"])


def _names(names: list[str]) -> str:
    return harmless(listing(names))


def _details(found: dict[str, Any]) -> Iterator[Row]:
    gaps = [(sum(map(_count, each["never"].values())), each) for each in found.get("details", ())]
    for count, each in sorted(gaps, key=lambda gap: -gap[0]):
        if count:
            never = each["never"]
            told = [*never["members"]]
            for place, names in (*never["tags"].items(), *never["values"].items()):
                told += [f"{place}: {name}" if place else name for name in names]
            yield harmless(each["definition"].rpartition("/")[2]), f"{each['seen']:,}", _names(told)


def _count(never: list[str] | dict[str, list[str]]) -> int:
    return len(never) if isinstance(never, list) else sum(map(len, never.values()))


_TRAFFIC: Final = ("method", "kind", "frames", "bytes", "min", "p50", "p99", "max", "per second")


def _traffic(found: dict[str, Any]) -> Iterator[Row]:
    for each in found["traffic"]:
        numbers = (f"{each[name]:,}" for name in ("frames", "bytes", "min", "p50", "p99", "max"))
        rate = "" if each["per_second"] is None else f"{each['per_second']:,}"
        yield harmless(each["method"] or "(none)"), each["kind"] or "(none)", *numbers, rate


def _latency(found: dict[str, Any]) -> Iterator[Row]:
    for each in found["latency"]:
        times = ("" if each[name] is None else _seconds(each[name]) for name in ("min", "p50", "p99", "max"))
        yield harmless(each["method"]), f"{each['answers']:,}", *times


def _seconds(seconds: float) -> str:
    return f"{seconds:,.3f} s" if seconds >= 1 else f"{seconds * 1000:.3f} ms"


def _spans(found: dict[str, Any]) -> Iterator[Row]:
    if found["count"]:
        yield "sessions", f"{'' if found['exact'] else 'about '}{found['count']:,}", "", "", ""
    for name, each in found["spans"].items():
        numbers = (f"{each[what]:,}" for what in ("started", "ended", "open"))
        yield harmless(name), *numbers, _outcomes(each)


def _outcomes(ends: dict[str, Any]) -> str:
    told = sorted(ends["outcomes"].items(), key=lambda item: (-item[1], item[0]))
    others = ends["ended"] - sum(count for _, count in told)
    return harmless(
        ", ".join([f"{name or '(none)'} {count:,}" for name, count in told] + ([f"others {others:,}"] if others else []))
    )


def _sessions(found: dict[str, Any]) -> Iterator[Row]:
    for each in found["listed"]:
        spans = "; ".join(
            f"{name} {ends['started']:,}" + (f" ({told})" if (told := _outcomes(ends)) else "")
            for name, ends in each["spans"].items()
        )
        yield harmless(each["session"]), f"{each['frames']:,}", harmless(spans), _place(each)
