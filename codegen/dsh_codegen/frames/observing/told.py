"""What was observed as JSON: the `observed` of a report.

    undeclared  `names`: each with `kind` (member, tag, value, method, code), the `schema` that declares no such thing (a
                pointer; null: a frame's envelope), `member` (of a tag the one that is the tag; `error.…`: of the envelope's
                error), `value`, `count`, `file` and `line` (where it was seen first). `left_out`: how often others were seen
    coverage    `methods`, `errors` and `definitions`: how many are `declared`, how many of them `seen`, and which `never`;
                definitions are those to which methods lead; `counts` is by error code. `unanswered`: methods that were called
                and never answered. `details`: how often each definition was seen, and what of it was `never` seen: `members`,
                and `tags` and `values` by the member that has them (`""`: the definition itself)
    seconds     the time that logs span, one after the other, as far as their rows have times
    traffic     by method and kind of frame: `frames`, `bytes` and the length of lines; `per_second` of `seconds`
    latency     by method: `answers` and how long they took, in seconds; `backwards`: answers recorded before their requests
    sessions    `count` (an estimate, unless `exact`), `spans` by name, `listed` sessions; `left_out`: frames of the others

Percentiles are within 0.8 % of the true ones. Long names are shortened; otherwise they are as the log has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..tags import PREFIX
from .histogram import Histogram
from .sample import Sample

if TYPE_CHECKING:
    from ..observed import Observed
    from .coverage import Layout
    from .declared import Numbers, Place
    from .seen import Seen
    from .sessions import Ends, Session

_NANOSECONDS = 1_000_000_000
_T = TypeVar("_T", "Seen", "Session")


def as_json(observed: Observed) -> dict[str, Any]:
    """What was observed, as JSON values, in a fixed order."""
    layout = observed.layout
    return {
        "undeclared": {
            "names": [_undeclared(key, seen) for key, seen in by_place(observed.undeclared)],
            "left_out": observed.undeclared.left_out,
        },
        "coverage": {} if layout is None else _coverage(layout, observed),
        "seconds": round(observed.clock.elapsed / 1_000_000, 6),
        "traffic": [_traffic(observed, *row) for row in rows(observed)],
        "latency": [_latency(observed, method) for method in sorted(observed.latencies)],
        "sessions": _sessions(observed),
    }


def by_place(sample: Sample[_T]) -> list[tuple[tuple[str, ...], _T]]:
    """The entries in the order of the input: by file, then by line."""
    files: dict[str | None, int] = {}
    for entry in sample.entries.values():
        files.setdefault(entry.file, len(files))
    return sorted(sample.entries.items(), key=lambda item: (files[item[1].file], item[1].line))


def rows(observed: Observed) -> list[tuple[str, str]]:
    """The rows of the traffic: declared methods in their order, then others, then what has no method."""
    calls = () if observed.layout is None else observed.layout.calls
    order = {method: index for index, method in enumerate(calls)}
    return sorted(observed.traffic, key=lambda row: (not row[0], order.get(row[0], len(order)), row))


def _undeclared(key: tuple[str, ...], seen: Seen) -> dict[str, Any]:
    kind, schema, owner, name = key
    member = {"member": f"{owner}.{name}" if owner else name, "tag": owner}.get(kind)
    value = None if kind == "member" else name
    place = {"count": seen.count, "file": seen.file, "line": seen.line}
    return {"kind": kind, "schema": schema or None, "member": member, "value": value, **place}


def _coverage(layout: Layout, observed: Observed) -> dict[str, Any]:
    called = {method for method, kind in observed.traffic if kind in ("request", "notification")}
    answered = {method for method, kind in observed.traffic if kind == "response"}
    codes = {str(code): count for code, count in sorted(observed.codes.items(), reverse=True)}
    seen = [name for name, places in layout.definitions if observed.counts[places[0].number]]
    return {
        "methods": share(layout.calls, called),
        "unanswered": [method for method in layout.answers if method in called and method not in answered],
        "errors": {**share([str(code) for code in layout.codes], set(codes)), "counts": codes},
        "definitions": share([name for name, _ in layout.definitions], set(seen)),
        "details": [
            _definition(name, places, observed.counts)
            for name, places in layout.definitions
            if observed.counts[places[0].number]
        ],
    }


def share(declared: Sequence[str], seen: set[str]) -> dict[str, Any]:
    """How many of what is declared were seen, and which were not."""
    never = [name for name in declared if name not in seen]
    return {"declared": len(declared), "seen": len(declared) - len(never), "never": never}


def _definition(name: str, places: Iterable[Place], counts: Sequence[int]) -> dict[str, Any]:
    reached = [place for place in places if counts[place.number]]  # what is in a member that never came goes without saying
    return {
        "definition": PREFIX + name,
        "seen": counts[reached[0].number],
        "never": {
            "members": [f"{place.label}.{member}".lstrip(".") for place in reached for member in never(place.members, counts)],
            "tags": {place.label: unseen for place in reached if (unseen := never(place.tags, counts))},
            "values": {place.label: unseen for place in reached if (unseen := never(place.values, counts))},
        },
    }


def never(names: Numbers, counts: Sequence[int]) -> list[str]:
    """Those that were not counted."""
    return [name for name, number in names if not counts[number]]


def _traffic(observed: Observed, method: str, kind: str) -> dict[str, Any]:
    traffic = observed.traffic[method, kind]
    sizes = traffic.sizes
    size = dict(zip(("min", "p50", "p99", "max"), spread(sizes), strict=True))
    rate = traffic.per_second(observed.clock.elapsed)
    of = {"method": method or None, "kind": kind or None}
    return {**of, "frames": sizes.count, "bytes": sizes.total, **size, "per_second": rate}


def spread(histogram: Histogram) -> tuple[int | None, ...]:
    """Smallest, p50, p99 and largest."""
    return histogram.least, histogram.percentile(50), histogram.percentile(99), histogram.most


def _latency(observed: Observed, method: str) -> dict[str, Any]:
    latency = observed.latencies[method]
    seconds = (None if each is None else each / _NANOSECONDS for each in spread(latency.times))
    times = dict(zip(("min", "p50", "p99", "max"), seconds, strict=True))
    return {"method": method, "answers": latency.times.count, **times, "backwards": latency.backwards}


def _sessions(observed: Observed) -> dict[str, Any]:
    sessions = observed.sessions
    still_open = sessions.left_open()
    return {
        "count": sessions.distinct.count,
        "exact": sessions.distinct.exact,
        "spans": {name: {**_ends(ends), "open": still_open.get(name, 0)} for name, ends in sorted(sessions.spans.items())},
        "listed": [dict(_session(key[0], session)) for key, session in by_place(sessions.table)],
        "left_out": sessions.table.left_out,
    }


def _ends(ends: Ends) -> dict[str, Any]:
    outcomes = {key[0]: seen.count for key, seen in sorted(ends.outcomes.entries.items())}
    return {"started": ends.started, "ended": ends.ended, "outcomes": outcomes}


def _session(name: str, session: Session) -> Iterator[tuple[str, Any]]:
    yield from {"session": name, "frames": session.count, "file": session.file, "line": session.line}.items()
    yield "spans", {span: _ends(ends) for span, ends in sorted(session.spans.items())}
