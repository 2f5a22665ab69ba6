"""Paths as the protocol means them: POSIX paths, made absolute and plain without asking the file system."""

from __future__ import annotations

import posixpath


def resolve_path(base: str, path: str) -> str:
    """An absolute path, without `.`, `..` and doubled slashes; relative ones start at `base`."""
    return posixpath.normpath("/" + posixpath.join(base, path).lstrip("/"))
