"""What the sequencing table means, told as slowly and plainly as possible: the reference for whatever follows order quickly.

One dictionary holds the last event of each key of each rule. Frames are taken one by one; a response is what its request was,
found by its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from dsh_codegen.frames.sequencing import NOTHING, Event, SequenceRule, Sequencing, fill


class Told(NamedTuple):
    """A finding or a note: at which line, of which rule, about which key, and the message, None if the table has none."""

    line: int
    rule: str
    key: tuple[Any, ...]
    message: str | None


class Frame(NamedTuple):
    """A frame as rules see it. `method` of a response is that of its request."""

    line: int
    kind: str
    method: str
    value: dict[str, Any]


class _Last(NamedTuple):
    event: Any
    line: int
    conversation: int


def read(rows: Iterable[Any], senders: Mapping[str, str]) -> Iterator[Frame]:
    """The frames of a log. `rows`: its parsed lines, rows of a capture or bare frames; `senders`: who sends each method."""
    asked: dict[tuple[str | None, str, Any], list[str]] = {}
    for line, row in enumerate(rows, 1):
        is_row = isinstance(row, dict) and "dir" in row
        frame = row.get("frame") if is_row else row
        if not isinstance(frame, dict):
            continue
        id_, method = frame.get("id"), frame.get("method")
        has_id = isinstance(id_, str | int | float) and not isinstance(id_, bool)
        kind_of_id = "string" if isinstance(id_, str) else "number"
        if isinstance(method, str):
            sender = row["dir"] if is_row else senders.get(method)
            if has_id:
                asked.setdefault((sender, kind_of_id, id_), []).append(method)
            if senders.get(method) == sender is not None:
                yield Frame(line, "request" if has_id else "notification", method, frame)
        elif has_id and "method" not in frame:
            senders_asked = [{"c2s": "s2c", "s2c": "c2s"}[row["dir"]]] if is_row else ["c2s", "s2c", None]
            waiting = [asked[key] for sender in senders_asked if asked.get(key := (sender, kind_of_id, id_))]
            if waiting:
                yield Frame(line, "response", waiting[0].pop(0), frame)


def values(value: Any, path: str) -> list[Any]:
    """The scalars at a dotted path; `[*]` is each item of an array."""
    found = [value]
    for step in path.replace("[*]", ".[*]").split("."):
        if step == "[*]":
            found = [item for each in found if isinstance(each, list) for item in each]
        else:
            found = [each[step] for each in found if isinstance(each, dict) and step in each]
    return [each for each in found if isinstance(each, str | int | float)]


def is_event(event: Event, frame: Frame) -> bool:
    return (
        frame.kind == event.kind
        and frame.method in event.methods
        and (event.has is None or event.has in frame.value)
        and all(wanted in values(frame.value, path) for path, wanted in event.where)
    )


def judge(frames: Iterable[Frame], table: Sequencing) -> tuple[list[Told], list[Told]]:
    """The breaches in a log, and the notes on how it ends."""
    state: dict[str, dict[tuple[Any, ...], _Last]] = {rule.id: {} for rule in table.rules}
    found: list[Told] = []
    seen: set[str] = set()
    conversation = 0
    for frame in frames:
        names = [name for name, event in table.events.items() if is_event(event, frame)]
        if table.begins in names:
            conversation += 1
            seen = set()
        seen.update(names)
        for rule in table.rules:
            for name in names:
                if name in rule.events:
                    found += _follow(rule, name, frame, state[rule.id], conversation)
    return found, list(_ends(table.rules, state, seen, conversation))


def _follow(
    rule: SequenceRule, name: str, frame: Frame, state: dict[tuple[Any, ...], _Last], conversation: int
) -> Iterator[Told]:
    here = 0 if rule.whole else conversation
    for key in product(*(values(frame.value, path) for path in rule.events[name])):
        last = state.get(key)
        if rule.rising is not None:
            for value in values(frame.value, rule.rising):
                if type(value) not in (int, float):
                    continue
                last = state.get(key)
                if last is not None and last.conversation == here and falls(last.event, value):
                    yield Told(frame.line, rule.id, key, None)
                state[key] = _Last(value, frame.line, here)
            continue
        if last is None:
            wrong = NOTHING not in rule.after[name] and (rule.whole or conversation > 0)
        else:  # what an earlier conversation has left open may go on in this one
            wrong = last.conversation == here and last.event not in rule.after[name]
        if wrong:
            yield Told(frame.line, rule.id, key, _message(rule, name, last, key))
        if name in rule.closing:
            state.pop(key, None)
        else:
            state[key] = _Last(name, frame.line, here)


def falls(before: Any, after: Any) -> bool:
    """Whether a number is not greater than the one before; what is no number is the schema's business."""
    return isinstance(before, int | float) and isinstance(after, int | float) and not after > before


def _message(rule: SequenceRule, name: str, last: _Last | None, key: tuple[Any, ...]) -> str | None:
    if name not in rule.says:
        return None
    previous, line = (NOTHING, 0) if last is None else (last.event, last.line)
    return fill(rule.says[name], name, previous, line, map(str, key))


def _ends(
    rules: Sequence[SequenceRule], state: Mapping[str, Mapping[tuple[Any, ...], _Last]], seen: set[str], conversation: int
) -> Iterator[Told]:
    for rule in rules:
        for key, last in state[rule.id].items():
            recent = rule.whole or last.conversation == conversation
            for end in rule.ends.get(last.event, ()):
                if end.seen is None or (end.seen in seen and recent):
                    yield Told(last.line, rule.id, key, fill(end.says, last.event, "", last.line, map(str, key)))
                    break
