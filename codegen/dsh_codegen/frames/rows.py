"""Bytes of a log -> rows: one for each line that holds, or should hold, a frame.

A line is a bare frame or a row of a capture, `{"ts": …, "dir": "c2s"|"s2c", "frame": …}`. Rows with `"frame": null` are
markers: `eof` and `exit` carry no frame; `raw` is the text of a line that its recorder could not read, and is read again here;
`partial` says that no line feed ended the line. Without any of these null is what was on the wire.

Only byte 0x0A ends a line, so line numbers are those of `sed -n`. One line is in memory at a time, at most `max_line` bytes of
it. Nothing in a file makes this raise, except that a file which is no log at all (binary, compressed) is an `InputError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

from ..errors import CodegenError
from .findings import Direction, Problem
from .reading import Text
from .wording import Json, show

MAX_LINE: Final = 32 * 1024 * 1024
"""The default for the longest line that is read, in bytes without its line feed."""

State: TypeAlias = Literal["frame", "unreadable", "skipped"]
"""frame: `value` is what was on the wire. unreadable: that was no JSON value. skipped: it was not looked at."""


class InputError(CodegenError):
    """A file can't be read as a log."""


class Source(Protocol):
    """What rows are read from: a buffered binary file."""

    def peek(self, size: int, /) -> bytes:
        """Some of the bytes that come next, without taking them."""
        ...

    def readline(self, size: int, /) -> bytes:
        """At most `size` bytes, up to and with the next line feed; empty at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `size` is its length in bytes; `direction` is None for a bare frame; `problems` were found while reading it."""

    line: int
    size: int
    state: State
    direction: Direction | None = None
    value: Json = None
    problems: tuple[Problem, ...] = ()
    terminated: bool = True


def read_rows(source: Source, *, max_line: int = MAX_LINE) -> Iterator[Row]:
    """The rows of a log, in order. Blank lines and marker rows yield nothing.

    Raises `InputError` at the first line if this is no log, and `OSError` as the source does.
    """
    head = source.peek(_HEAD)[:_HEAD]
    encoding = _foreign_encoding(head)
    if encoding is not None:
        message = f"the file is {encoding}, not UTF-8, and was not read; convert it: iconv -f {encoding} -t UTF-8 FILE"
        yield Row(1, len(head), "skipped", problems=(Problem("file/encoding", message),))
        return
    offset = 0
    number = 0
    while line := source.readline(max_line + 1):
        number += 1
        size = len(line)
        terminated = line.endswith(b"\n")
        if not terminated and size > max_line:
            size += _skip_line(source)
            message = f"the line has {size:,} bytes, more than the {max_line:,} that are read"
            yield Row(number, size, "skipped", problems=(Problem("line/too-long", message),))
        else:
            row = _read_line(line[:-1] if terminated else line, number, offset, terminated=terminated)
            if row is not None:
                yield row
        offset += size + (not terminated and size > max_line)


def _skip_line(source: Source) -> int:
    """Read on to the line feed; the number of bytes before it."""
    skipped = 0
    while piece := source.readline(1 << 16):
        if piece.endswith(b"\n"):
            return skipped + len(piece) - 1
        skipped += len(piece)
    return skipped


def _read_line(line: bytes, number: int, offset: int, *, terminated: bool) -> Row | None:
    problems: tuple[Problem, ...] = ()
    try:
        text = Text(line.decode("utf-8"), offset)
    except UnicodeDecodeError as error:
        place = f"at byte {offset + error.start} of the file"
        problems = (Problem("line/utf-8", f"the bytes {place} are not UTF-8 and are read as U+FFFD"),)
        text = Text(line.decode("utf-8", "replace"))
    if text.blank:
        return None
    size = len(line)
    parsed = text.parse()
    if isinstance(parsed, Problem):
        if not terminated and parsed.rule in ("json/syntax", "json/glued"):
            parsed = text.torn()
        return Row(number, size, "unreadable", problems=(*problems, parsed), terminated=terminated)
    if _is_capture_row(parsed):
        return _capture_row(parsed, Row(number, size, "frame", problems=problems, terminated=terminated))
    return Row(number, size, "frame", value=parsed, problems=problems, terminated=terminated)


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
    value = row.get("frame")
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
    return Row(line.line, line.size, state, direction, value, problems, line.terminated)


_HEAD: Final = 4096
_PACKED: Final = {
    b"\x1f\x8b": ("gzip", "gzip -dc"),
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -dc"),
    b"\xfd7zXZ\x00": ("xz", "xz -dc"),
    b"PK\x03\x04": ("zip", "unzip -p"),
}
"""First bytes of packed files: what packed them, and what unpacks them."""


def _foreign_encoding(head: bytes) -> str | None:
    """The encoding of a file that is text, but not UTF-8, by its first bytes. Raises `InputError` if it is no text."""
    for magic, (packing, unpack) in _PACKED.items():
        if head.startswith(magic):
            raise InputError(f"it is compressed ({packing}); unpack it first: {unpack} FILE | dsh-codegen validate -")
    if head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return "UTF-32"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    if b"\x00" not in head:
        return None
    first = head[:8]
    for zeros, chars in ((first[1::2], first[0::2]), (first[0::2], first[1::2])):
        if zeros and not zeros.strip(b"\x00") and b"\x00" not in chars and chars.isascii():
            return "UTF-16"  # without a mark: every second byte of ASCII text is zero
    if not _is_utf8(head):
        raise InputError("it is a binary file, not a log of frames")
    return None


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(head) >= _HEAD and error.start > _HEAD - 4  # a character that was cut
    return True
