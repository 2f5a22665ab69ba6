"""Packed bytes -> what was packed. Whatever is wrong with them is told after everything that came before it.

gzip is unpacked by ISA-L (isal) or, without it, by the slower standard library; zstd by the standard library of Python 3.14 or
its copy for older ones (backports.zstd). Both give at most `STEP` bytes at a time, so a small file that unpacks to a very large
one does no harm.
"""

from __future__ import annotations

import importlib
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from .heads import BrokenError, InputError, Packing, packing

STEP: Final = 1 << 18
"""Most bytes that are unpacked at once."""
_LARGEST_WINDOW: Final = 27  # 2^27 bytes, the limit of the zstd command too: this much memory a file may ask for


class Member(Protocol):
    """Unpacks one member of a gzip file, or one frame of a zstd file."""

    @property
    def eof(self) -> bool:
        """Whether its end was reached."""
        ...

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes without more input."""
        ...

    @property
    def unused_data(self) -> bytes:
        """What follows its end."""
        ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Take `data` and give what is there, at most `max_length` bytes."""
        ...


Codec = tuple[Callable[[], Member], type[Exception]]
"""What begins a member, and what it raises for broken data."""


def codec(kind: Packing, *, exact: bool = False) -> Codec:
    """What unpacks. `exact`: what raises gives every byte before the damage first, if asked for one at a time.

    Raises `InputError`, without the name of the file, if a package is missing.
    """
    if kind == "zstd":
        return _zstd()
    return (_Zlib, zlib.error) if exact else _gzip()


def unpacked(chunks: Iterator[bytes], kind: Packing, known: int | None = None) -> Iterator[bytes]:
    """What `chunks` unpack to, in parts that are not empty; then raises `BrokenError` if that is not all.

    A decoder that meets damage gives nothing of what it has just decoded. To get that as well, unpack the file once more, in
    small chunks, saying that `known` bytes came the first time: what follows them is given and taken byte by byte.
    """
    begin, error = codec(kind, exact=known is not None)
    done = 0
    if known is not None:
        chunks = _smaller(chunks, lambda: done >= known)
    raw = _next_member(b"", chunks)
    while raw:  # one member a turn
        if packing(raw) != kind:
            raise BrokenError("file/corrupt", f"what follows the packed data is not {kind} but something else")
        member = begin()
        while not member.eof:
            if not raw and member.needs_input:
                raw = next(chunks, b"")
                if not raw:
                    raise BrokenError("file/truncated", "the packed data ends before its time")
            try:
                out = member.decompress(raw, STEP if known is None else max(1, min(STEP, known - done)))
            except error as problem:
                raise BrokenError("file/corrupt", _reason(str(problem)), more=True) from None
            raw = b""
            if out:
                done += len(out)
                yield out
        raw = _next_member(member.unused_data, chunks)


def _smaller(chunks: Iterator[bytes], near: Callable[[], bool]) -> Iterator[bytes]:
    for chunk in chunks:
        if near():
            yield from (bytes((byte,)) for byte in chunk)
        else:
            yield chunk


def _reason(text: str) -> str:
    if "too much memory" in text:
        limit = f"{1 << _LARGEST_WINDOW - 20} MiB"
        how = "zstd -dc --long=31 FILE | dsh-codegen validate -"
        return f"it was packed with a window of more than {limit}; unpack it first: {how}"
    return f"the packed data is damaged ({text})"


def _next_member(raw: bytes, chunks: Iterator[bytes]) -> bytes:
    """What follows a member, without the zeros that fill up a block; enough to see what it is."""
    raw = raw.lstrip(b"\x00")
    while len(raw) < 4 and (more := next(chunks, b"")):
        raw = (raw + more).lstrip(b"\x00")
    return raw


def _gzip() -> Codec:
    try:
        from isal import igzip_lib
    except ImportError:
        return _Zlib, zlib.error
    error: Any = igzip_lib.IsalError  # declared as an instance
    return lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP), error


class _Zlib:
    """The standard library's decoder in the way of the others."""

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        self._full = False

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def needs_input(self) -> bool:
        return not self._full and not self._decoder.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        out = self._decoder.decompress(self._decoder.unconsumed_tail + data, max_length)
        self._full = len(out) == max_length  # so there may be more of it
        return out


def _zstd() -> Codec:
    try:
        zstd: Any = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError:
        message = (
            "it is compressed (zstd), which needs the package backports.zstd; install it: pip install backports.zstd, "
            "or unpack the file: zstd -dc FILE | dsh-codegen validate -"
        )
        raise InputError(message) from None
    options = {zstd.DecompressionParameter.window_log_max: _LARGEST_WINDOW}
    return lambda: zstd.ZstdDecompressor(options=options), zstd.ZstdError
