"""What a file is, by its first bytes; never by its name."""

from __future__ import annotations

import codecs
import re
from typing import Final, Literal, TypeAlias

from ..errors import CodegenError

HEAD: Final = 4096
"""Bytes that are looked at."""

Packing: TypeAlias = Literal["gzip", "zstd"]
"""What is unpacked while it is read."""


class InputError(CodegenError):
    """A file can't be read as a log."""


class BrokenError(Exception):
    """What follows in a file can't be read. `rule` names the finding, the text says what is wrong.

    `more`: a decoder may have kept the last bytes before the damage to itself.
    """

    def __init__(self, rule: str, reason: str, *, more: bool = False) -> None:
        super().__init__(reason)
        self.rule = rule
        self.more = more


_ZSTD: Final = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)  # a frame, or one that is to be skipped

_PACKED: Final = {
    b"\x1f\x8b": ("gzip", "gzip -dc"),
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -dc"),
    b"\xfd7zXZ\x00": ("xz", "xz -dc"),
    b"BZh91AY&SY": ("bzip2", "bzip2 -dc"),
    b"PK\x03\x04": ("zip", "unzip -p"),
}
"""First bytes of packed files: what packed them, and what unpacks them."""


def packing(head: bytes) -> Packing | None:
    """What a file was packed by, if it can be unpacked while it is read."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    return "zstd" if _ZSTD.match(head) else None


def refuse_foreign(head: bytes) -> None:
    """Raise `BrokenError` for a file that begins with `head` and is no UTF-8 text."""
    for magic, (packer, unpack) in _PACKED.items():
        if head.startswith(magic):
            how = f"{unpack} FILE | dsh-codegen validate -"
            raise BrokenError("file/unreadable", f"it is compressed ({packer}); unpack it first: {how}")
    if head[257:262] == b"ustar":
        raise BrokenError("file/unreadable", "it is a tar archive; unpack it first: tar -xf FILE")
    encoding = _encoding(head[:HEAD])
    if encoding == "":
        raise BrokenError("file/unreadable", "it is a binary file, not a log of frames")
    if encoding is not None:
        how = f"iconv -f {encoding} -t UTF-8 FILE"
        raise BrokenError("file/encoding", f"the file is {encoding}, not UTF-8, and was not read; convert it: {how}")


def _encoding(head: bytes) -> str | None:
    """What text is encoded in; None: UTF-8, empty: it is no text."""
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
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # its last character may be cut
    except UnicodeDecodeError:
        return ""
    return None  # a crash leaves zeros in a text
