"""Names of files as a report shows them. A name may be any bytes, in the way of `os.fsdecode`, or a URL."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Final
from urllib.parse import quote

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_STRAY_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


def relative(file: str) -> str:
    """Relative to the working directory where the file lies below it; else as it is."""
    path = Path(file)
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else file


def uri(file: str) -> str:
    """A name as a URI reference: relative to the working directory where the file lies below it, else absolute.

    A URL stays what it is, with what no URL may hold encoded.
    """
    if _URL.match(file):
        return _STRAY_PERCENT.sub("%25", quote(_bytes(file), safe="/:?@!$&'()*+,;=~%"))
    path = posixpath.normpath(relative(file))
    if path.startswith(("/", "../")) or path == "..":
        return f"file://{quote(_bytes(posixpath.normpath(posixpath.join(os.getcwd(), path))))}"  # noqa: PTH109
    return quote(_bytes(path))


def _bytes(name: str) -> bytes:
    try:
        return name.encode("utf-8", "surrogateescape")  # the bytes that the file is named by
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogatepass")
