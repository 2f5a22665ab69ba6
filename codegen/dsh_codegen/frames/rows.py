"""A line of a log -> a row, if it holds, or should hold, a frame.

A line is a bare frame or a row of a capture, `{"ts": …, "dir": "c2s"|"s2c", "frame": …}`. Rows with `"frame": null` are
markers: `eof` and `exit` carry no frame; `raw` is the text of a line that its recorder could not read, and is read again here;
`partial` says that no line feed ended the line. Without any of these null is what was on the wire. With an `Envelope` each line
is a row of another form, in which the same may stand beside the frame.

Nothing that a line holds makes this raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET

from .findings import Direction, Problem
from .reading import Text
from .wording import Json, show

if TYPE_CHECKING:
    from .envelope import Envelope

MAX_LINE: Final = 32 * 1024 * 1024
"""The default for the longest line that is read, in bytes without its line feed."""

State: TypeAlias = Literal["frame", "unreadable", "skipped"]
"""frame: `value` is what was on the wire. unreadable: that was no JSON value. skipped: it was not looked at."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `size` is its length in bytes; `direction` is None for a bare frame; `problems` were found while reading it.

    `time` is the `ts` of a capture row, in seconds since 1970 by convention; None without one.
    """

    line: int
    size: int
    state: State
    direction: Direction | None = None
    value: Json = None
    problems: tuple[Problem, ...] = ()
    terminated: bool = True
    time: Json = None


def overlong(line: int, size: int, max_line: int) -> Row:
    """The row of a line that was not read because of its length."""
    message = f"the line has {size:,} bytes, more than the {max_line:,} that are read"
    return Row(line, size, "skipped", problems=(Problem("line/too-long", message),))


def read_line(line: bytes, number: int, offset: int, *, terminated: bool, envelope: Envelope | None = None) -> Row | None:
    """The row of line `number`, which begins at byte `offset` of its file; None for a blank line and a marker row.

    `envelope` None: it is a bare frame or a row of a capture.
    """
    problems: tuple[Problem, ...] = ()
    value: Json
    try:
        value = _DECODE(line)
    except _UNREAD:
        problems, text = _text(line, offset)
        if text.blank:
            return None
        parsed = text.parse()
        if isinstance(parsed, Problem):
            if not terminated and parsed.rule in ("json/syntax", "json/glued"):
                parsed = text.torn()
            return Row(number, len(line), "unreadable", problems=(*problems, parsed), terminated=terminated)
        value = parsed
    row = Row(number, len(line), "frame", value=value, problems=problems, terminated=terminated)
    if envelope is not None:
        return _enveloped(value, envelope, row)
    return _capture_row(value, row) if _is_capture_row(value) else row


_DECODE: Final = msgspec.json.Decoder().decode
_UNREAD: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What the quick reader raises. It refuses more than the standard library does, and never less; where both read a line, they
read the same."""


def _text(line: bytes, offset: int) -> tuple[tuple[Problem, ...], Text]:
    try:
        return (), Text(line.decode("utf-8"), offset)
    except UnicodeDecodeError as error:
        place = f"at byte {offset + error.start} of the file"
        problem = Problem("line/utf-8", f"the bytes {place} are not UTF-8 and are read as U+FFFD")
        return (problem,), Text(line.decode("utf-8", "replace"))


_MARKERS: Final = ("raw", "partial", "eof", "exit")


def _is_capture_row(value: Json) -> bool:
    if not isinstance(value, dict) or "dir" not in value or "jsonrpc" in value or "method" in value:
        return False
    return "frame" in value or any(marker in value for marker in _MARKERS)


def _capture_row(row: Any, line: Row) -> Row | None:
    """The frame that a capture row tells of."""
    direction: Direction | None = row["dir"] if row["dir"] in ("c2s", "s2c") else None
    problems = line.problems
    if direction is None:
        problems += (Problem("row/shape", f'the row has "dir": {show(row["dir"])}, expected "c2s" or "s2c"'),)
    return _carried(row.get("frame"), row, line, direction, problems, row.get("ts"))


def _enveloped(value: Json, envelope: Envelope, line: Row) -> Row | None:
    """The frame that a line with an envelope tells of."""
    row, frame = envelope.opened(value)
    if frame is UNSET:
        if not any(marker in row for marker in _MARKERS):
            return replace(line, state="unreadable", value=None, problems=(*line.problems, envelope.no_frame()))
        frame = None
    sent = envelope.sent(value)
    time = value.get("ts") if isinstance(value, dict) else None
    if isinstance(sent, Problem):
        return _carried(frame, row, line, None, (*line.problems, sent), time)
    return _carried(frame, row, line, sent, line.problems, time)


def _carried(
    value: Json, row: Mapping[str, Json], line: Row, direction: Direction | None, problems: tuple[Problem, ...], time: Json
) -> Row | None:
    """The row of a frame, or if `value` is null, of what `row`, in which that stands, says of it."""
    state: State = "frame"
    raw = row.get("raw")
    if value is None and isinstance(raw, str):
        text = Text(raw)
        if text.blank:
            return None
        parsed = text.parse()
        if isinstance(parsed, Problem):
            problems += (text.torn() if row.get("partial") else parsed,)
            state = "unreadable"
        else:
            value = parsed
    elif value is None and ("eof" in row or "exit" in row):
        return None
    if state == "frame" and row.get("partial"):
        problems += (Problem("json/torn", "the frame was not ended by a line feed, so its reader discards it"),)
        state = "unreadable"
    return Row(line.line, line.size, state, direction, value, problems, line.terminated, time)
