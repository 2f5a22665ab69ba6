"""The manifest of an output directory: what was generated there, and from what.

It holds digests of the schema and the generator behind each revision, and of every file as it was written. They tell a file
that was edited by hand from one that is out of date, and a file that we made from one that must be left alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

MANIFEST: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the files of one revision came from: its module, the digest of its schema, the digest of the generator."""

    module: str
    schema: str
    generator: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`revisions` by name, oldest first; `generator`, the digest behind the files that they share; `files`, digests by path."""

    head: str
    generator: str
    revisions: Mapping[str, Origin]
    files: Mapping[str, str]

    def owner(self, path: str) -> str | None:
        """The revision that a path below the output directory is part of; None for a shared file."""
        module = module_of(path)
        return next((name for name, origin in self.revisions.items() if origin.module == module), None)

    def text(self) -> str:
        """The manifest as a file."""
        return json.dumps(asdict(self), indent=1) + "\n"


def read_manifest(root: Path) -> Manifest | None:
    """The manifest on disk; None where there is none, or none that makes sense (half-written, with a merge conflict)."""
    try:
        return parse_manifest((root / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def parse_manifest(text: str) -> Manifest | None:
    """The manifest in `text`, if it is one."""
    try:
        value = json.loads(text)
        revisions = {name: Origin(**_strings(origin)) for name, origin in value.pop("revisions").items()}
        files = _strings(value.pop("files"))
        return Manifest(revisions=revisions, files=files, **_strings(value))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None


def digest(text: str) -> str:
    """SHA-256, hex, of a text whatever its line ends are."""
    import hashlib  # it takes milliseconds, and who reads manifests may be in a hurry

    return hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()


def module_of(path: str) -> str:
    """What a path below an output directory begins with: the module of its revision, if it is part of one."""
    return path.split("/")[0].removesuffix(".d.ts")


def _strings(value: Any) -> dict[str, str]:
    texts: dict[str, Any] = {**value}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("something that is no text")
    return texts
