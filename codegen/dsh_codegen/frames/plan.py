"""From the command's arguments to logs, and from a file to pieces.

The plan does not depend on the number of workers, so neither does what comes of it. A plain file is cut into ranges of the size
it has when it is planned: of what is appended later, only the rest of its last line is read. What can't be read from any place
comes with its data.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain, pairwise
from typing import Any, BinaryIO, Final, Literal, TypeAlias

from msgspec import Struct

from ..markup.text import harmless
from .arguments import STDIN, Found, Opener, found, is_url, natural
from .findings import Problem
from .flow import Cutter, cut, reads
from .heads import HEAD, BrokenError, InputError, Packing, packing, refuse_foreign
from .packed import codec, unpacked
from .source import Piece, open_local

PIECE: Final = 32 * 1024 * 1024
"""Bytes of a piece of a plain file."""

AT_A_TIME: Final = 32
"""Files of other machines that are looked into at a time."""

Join: TypeAlias = Literal["file", "directory", "all"]
"""Which files make up one log: each file is one; those of a directory, in natural order of their names; all, as given."""

Kind: TypeAlias = Literal["plain", "gzip", "zstd", "stream"]
"""stream: a pipe, say. It is read once from beginning to end, and what is in it shows then."""

_ENOUGH: Final = 16  # bytes that tell what is in a stream
_EXACT: Final = 1 << 8  # bytes of a read where the end of what can be unpacked is looked for


class InputFile(Struct, frozen=True):
    """A file to be read. `url` opens it; `size` is in bytes on the disk, None if unknown. `problem`: why it is not read."""

    name: str
    url: str
    kind: Kind
    size: int | None
    problem: Problem | None = None


class Log(Struct, frozen=True):
    """Files that continue each other, in order."""

    name: str
    files: tuple[InputFile, ...]


def plan(arguments: Iterable[str], join: Join = "file", opener: Opener | None = None) -> list[Log]:
    """The logs that the arguments mean: files, `-` (the standard input), directories, patterns, URLs.

    A file that is reached several ways is read once, at its first place. Raises `InputError` for a named file that can't be
    read, and where there is no file; a file that was found in a directory or by a pattern has a problem instead.
    """
    files: dict[object, Found] = {}
    for argument in arguments:
        for each in found(argument, opener):
            files.setdefault(each.key, each)
    return _joined(_all_looked_into(list(files.values()), opener), join)


def _all_looked_into(files: Sequence[Found], opener: Opener | None) -> list[InputFile]:
    """What the files are. Those of other machines are looked into side by side: each takes a while, and there may be many."""
    if not any(is_url(file.url) for file in files):
        return [_looked_into(file, opener) for file in files]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(pool.map(partial(_looked_into, opener=opener), files))


def pieces(file: InputFile, max_line: int, opener: Opener | None = None, *, finer: bool = False) -> Iterator[Piece | Problem]:
    """A file in pieces, in order. The last one says so, and may be empty. `finer`: of several the last ones are smaller.

    A file that is not read, or not to its end, ends with a problem. Raises `InputError` if a package is missing.
    """
    if file.problem is not None:
        yield file.problem
    elif file.kind == "plain" and file.size is not None:
        for start, end in pairwise(_cuts(file.size, finer=finer and file.size > PIECE)):
            yield Piece(file.name, file.url, start, end, last=end == file.size)
    else:
        try:
            with _opened(file.url, opener, file.size) as source:
                yield from cut(_text(source), Cutter(file.name, file.url, max_line))
        except InputError as error:
            raise InputError(f"{harmless(file.name)}: {error}") from error
        except OSError as error:
            yield Problem("file/unreadable", f"the file can't be opened: {error.strerror or error}")


def _cuts(size: int, *, finer: bool) -> Iterator[int]:
    """Where a file begins, is cut, and ends. `finer`: near the end a piece is a quarter of what is left, or of a whole one."""
    at = 0
    yield at
    while True:
        step = min(PIECE, max((size - at) // 4, PIECE // 4)) if finer else PIECE
        at = min(at + step, size)
        yield at
        if at == size:
            return


def _looked_into(file: Found, opener: Opener | None) -> InputFile:
    """What a file is, by its first bytes."""
    kind: Kind = "plain" if file.regular else "stream"
    problem: Problem | None = None
    try:
        if file.regular:
            with _opened(file.url, opener, min(HEAD, file.size or 0)) as source:
                head = source.read(HEAD)
            kind = packing(head) or "plain"
            if kind == "plain":
                refuse_foreign(head)
    except BrokenError as error:
        problem = Problem(error.rule, str(error))
    except OSError as error:
        problem = Problem("file/unreadable", f"the file can't be opened: {error.strerror or error}")
    if problem is not None and problem.rule == "file/unreadable" and file.named:
        raise InputError(f"{harmless(file.name)}: {problem.message}")
    if kind == "gzip" or kind == "zstd":
        try:
            codec(kind)  # a missing package is told before any work is done
        except InputError as error:
            raise InputError(f"{harmless(file.name)}: {error}") from error
    return InputFile(file.name, file.url, kind, file.size, problem)


def _opened(url: str, opener: Opener | None, stop: int | None) -> AbstractContextManager[BinaryIO]:
    if url == STDIN:
        standard: Any = sys.stdin  # declared as always there, but it may have been closed
        if standard is None:
            raise InputError("the standard input is closed")
        return nullcontext(standard.buffer)  # it is not ours to close
    return opener.open(url, stop) if opener is not None and is_url(url) else open_local(url)


def _text(source: BinaryIO) -> Iterator[bytes]:
    """What a file holds, unpacked. Raises `BrokenError` where it ends too early."""
    begin = source.tell() if source.seekable() else None
    chunks = reads(source)
    head = b""
    while len(head) < _ENOUGH and (more := next(chunks, b"")):
        head += more
    chunks = chain((head,), chunks) if head else chunks
    kind = packing(head)
    if kind is not None:
        chunks = _unpacked(chunks, kind, source, begin)
    head = next(chunks, b"")
    refuse_foreign(head)
    if head:
        yield head
    yield from chunks


def _unpacked(chunks: Iterator[bytes], kind: Packing, source: BinaryIO, begin: int | None) -> Iterator[bytes]:
    known = 0
    try:
        for chunk in unpacked(chunks, kind):
            known += len(chunk)
            yield chunk
    except BrokenError as broken:
        if not broken.more or begin is None:
            raise
        source.seek(begin)
        for chunk in unpacked(reads(source, _EXACT), kind, known):
            if known:
                known -= len(chunk)  # it was given already
            else:
                yield chunk


def _joined(files: Sequence[InputFile], join: Join) -> list[Log]:
    if join == "file":
        return [Log(file.name, (file,)) for file in files]
    if join == "all":
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return [Log(f"{files[0].name}{more}", tuple(files))]
    folders: dict[str, list[InputFile]] = {}
    for file in files:
        folders.setdefault(file.url if file.url == STDIN else file.url.rpartition("/")[0], []).append(file)
    return [_folder(sorted(inside, key=lambda file: natural(file.url))) for inside in folders.values()]


def _folder(files: Sequence[InputFile]) -> Log:
    name = files[0].name if files[0].url == STDIN else files[0].name.rpartition("/")[0] or "."
    return Log(name, tuple(files))
