"""What the command line names -> the files that are meant: files, pipes, directories, patterns, URLs."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from msgspec import Struct

from ..markup.text import harmless
from .heads import InputError

STDIN: Final = "-"
SUFFIXES: Final = (".jsonl", ".ndjson", ".log", ".json")
PACKED: Final = ("", ".gz", ".zst", ".zstd")
_ENDINGS: Final = tuple(suffix + packed for suffix in SUFFIXES for packed in PACKED)
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_NUMBER: Final = re.compile("([0-9]+)")
_MAGIC: Final = re.compile(r"[*?\[]")
_DEVICES: Final = ("/dev/", "/proc/")  # what a name there means is another thing in another process


class Opener(Protocol):
    """How files are reached that are not on this machine."""

    def expand(self, pattern: str) -> list[str]:
        """The URLs of the files that a URL means: of a file, of a folder, or a pattern. Empty: there is none."""
        ...

    def size(self, url: str) -> int | None:
        """Bytes of a file; None if that can't be told, so that it is read from beginning to end."""
        ...

    def open(self, url: str, stop: int | None = None) -> BinaryIO:
        """Opens a file for reading; it can seek if its size is known. `stop`: hardly more than the bytes before it are read."""
        ...


class Found(Struct, frozen=True):
    """A file that is meant. `key` is the same for two names of one file.

    `regular`: it can be read from any place, and again. `size` is in bytes, None if unknown. `named`: on the command line,
    not found in a directory or by a pattern.
    """

    name: str
    url: str
    key: object
    regular: bool
    size: int | None
    named: bool


def is_url(text: str) -> bool:
    """Whether it is a URL, not a path."""
    return _URL.match(text) is not None


def natural(path: str) -> tuple[list[list[str | int]], str]:
    """Sorts by path with numbers by their value: part-2 before part-10, then the rest of its folder."""
    return [[int(part) if odd % 2 else part for odd, part in enumerate(_NUMBER.split(name))] for name in path.split("/")], path


def found(argument: str, opener: Opener | None) -> Iterator[Found]:
    """The files that one argument means, in natural order. Raises `InputError` if there is none."""
    if argument == STDIN:
        yield Found("<stdin>", STDIN, STDIN, regular=False, size=None, named=True)
        return
    if is_url(argument):
        yield from _remote(argument, opener)
        return
    try:
        mode = Path(argument).stat().st_mode
    except (OSError, ValueError) as error:
        if _MAGIC.search(argument) and isinstance(error, OSError):
            yield from _globbed(argument)
            return
        raise _unusable(argument, error) from error
    if stat.S_ISDIR(mode):
        yield from _directory(argument)
    else:
        yield _local(argument, named=True)


def _unusable(name: str, error: Exception) -> InputError:
    reason = error.strerror if isinstance(error, OSError) else None
    return InputError(f"{harmless(name)}: {reason or error}")


def _local(path: str, *, named: bool) -> Found:
    """A file of this machine; one that is named must be readable."""
    try:
        status = Path(path).stat()
        url = os.path.abspath(path)  # noqa: PTH100 - `resolve` would follow links, and a log may be a link to today's file
        regular = stat.S_ISREG(status.st_mode) and not url.startswith(_DEVICES)
        if named and regular:
            Path(path).open("rb").close()
    except OSError as error:
        raise _unusable(path, error) from error
    key = (status.st_dev, status.st_ino)
    return Found(path, url, key, regular, status.st_size if regular else None, named)


def _directory(top: str) -> Iterator[Found]:
    """The logs in a directory and below. Links to directories are not followed, so there are no loops."""

    def refuse(error: OSError) -> None:
        raise _unusable(str(error.filename), error) from error

    paths: list[str] = []
    for folder, folders, files in os.walk(top, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        names = (name for name in files if not name.startswith(".") and name.lower().endswith(_ENDINGS))
        paths += (path for path in (os.path.join(folder, name) for name in names) if os.path.isfile(path))  # noqa: PTH113, PTH118
    if not paths:
        packed = " or ".join(PACKED[1:])
        wanted = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, perhaps followed by {packed}"
        raise InputError(f"{harmless(top)}: there is no log in this directory; looked for files whose names end in {wanted}")
    for path in sorted(paths, key=natural):
        yield _local(path, named=False)


def _globbed(pattern: str) -> Iterator[Found]:
    """The files that a pattern matches which no shell has expanded."""
    parts = [part if part == "**" else re.sub(r"\*+", "*", part) for part in pattern.split("/")]
    fixed = next(index for index, part in enumerate(parts) if _MAGIC.search(part))
    top = "/".join([*parts[:fixed], ""]) or "."
    wanted = parts[fixed:]
    if wanted[-1] == "**":
        wanted.append("*")
    hidden = any(part.startswith(".") for part in wanted)
    matches = {
        str(path)
        for path in Path(top).glob("/".join(wanted))
        if path.is_file() and (hidden or not any(part.startswith(".") for part in path.relative_to(top).parts))
    }
    if not matches:
        raise InputError(f"{harmless(pattern)}: no file matches this pattern")
    for path in sorted(matches, key=natural):
        yield _local(path, named=False)


def _remote(url: str, opener: Opener | None) -> Iterator[Found]:
    if opener is None:
        raise InputError(f"{harmless(url)}: reading from a URL needs the extra: pip install 'dsh-protocol[dask]'")
    urls = opener.expand(url)
    if not urls:
        raise InputError(f"{harmless(url)}: there is no such file")
    for each in urls:
        size = opener.size(each)
        yield Found(each, each, each, size is not None, size, named=urls == [url])
