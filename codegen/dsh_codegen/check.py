"""Drift: where the files on disk differ from what would be generated now, and why.

Sets of files are compared first, then texts. Line ends don't count, so a checkout with CRLF is clean.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, Literal

from .errors import OutputError
from .generate import Tree
from .manifest import MANIFEST, Manifest, digest, parse_manifest, read_manifest
from .write import STAGING

Kind = Literal["missing", "orphan", "changed"]

# what interpreters, package managers, editors and file browsers drop anywhere
_IGNORED: Final = ("__pycache__", "node_modules", ".*.sw?", "*~", ".#*", "#*#", ".DS_Store", "Thumbs.db")
_MARK: Final = "dsh-codegen"
_MARKED: Final = 400  # characters of a generated file that have the mark among them


@dataclass(frozen=True, slots=True)
class Drift:
    """One file that is not as it should be: `cause` is a phrase that says why.

    `found` and `wanted` are the text on disk and the text it should be, where they can be compared line by line.
    """

    kind: Kind
    file: Path
    cause: str
    found: str | None = None
    wanted: str | None = None

    def diff(self) -> str:
        """A unified diff, from what is on disk to what should be; empty where there are no texts."""
        if self.found is None or self.wanted is None:
            return ""
        names = f"{self.file} (on disk)", f"{self.file} (generated)"
        return _text(difflib.unified_diff(self.found.splitlines(True), self.wanted.splitlines(True), *names))


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one output directory differs.

    `obsolete` are the orphans that the generator made and may remove, as paths below the directory; `strays` the others.
    """

    drifts: tuple[Drift, ...]
    obsolete: tuple[str, ...]
    strays: tuple[Drift, ...]

    @property
    def fixable(self) -> bool:
        """Whether generating would change anything."""
        return len(self.drifts) > len(self.strays)


def compare(tree: Tree) -> Comparison:
    """Compare one generated directory with the disk."""
    before = read_manifest(tree.root)
    there = {path for path in _files(tree.root) if tree.covers(path)}
    empty = there.isdisjoint(tree.files)
    missing = [
        Drift("missing", tree.root / path, _why_missing(path, tree, before, empty))
        for path in sorted(tree.files.keys() - there)
    ]
    obsolete: list[str] = []
    orphans: list[Drift] = []
    strays: list[Drift] = []
    for path in sorted(there - tree.files.keys()):
        if (cause := _why_left_behind(path, before, tree.manifest)) is None:
            strays.append(Drift("orphan", tree.root / path, "it was not generated; only generated files belong here"))
        else:
            obsolete.append(path)
            orphans.append(Drift("orphan", tree.root / path, cause))
    changed = [drift for path in sorted(tree.files.keys() & there) if (drift := _compare(tree, path, before)) is not None]
    return Comparison((*missing, *orphans, *strays, *changed), tuple(obsolete), tuple(strays))


def refuse_foreign(tree: Tree) -> None:
    """Refuse to overwrite files in a directory that was never ours, such as a `package.json` in a source directory.

    Ours is a directory with a manifest, or, when that was lost, one where a file says that we generated it.
    """
    texts = {path: text for path in tree.files if (text := _read(tree.root / path)) is not None}
    if read_manifest(tree.root) is not None or any(_MARK in text[:_MARKED] for text in texts.values()):
        return
    for path, text in texts.items():
        if text != tree.files[path]:
            raise OutputError(
                f"{tree.root / path}: it was not generated and would be overwritten; choose another output directory"
            )


def _files(root: Path) -> set[str]:
    """All files below `root`, links included. A leftover of a killed run counts as one."""
    if not root.is_dir():
        return set()
    paths = [file.relative_to(root) for file in root.rglob("*") if file.is_symlink() or not file.is_dir()]
    paths = [Path(path.parts[0]) if path.parts[0].startswith(STAGING) else path for path in paths]
    return {path.as_posix() for path in paths if not any(fnmatch(part, name) for part in path.parts for name in _IGNORED)}


def _read(file: Path) -> str | None:
    """A text with its line ends made equal; None if there is none."""
    try:
        return file.read_bytes().decode("utf-8").replace("\r\n", "\n") if file.is_file() else None
    except (OSError, UnicodeDecodeError):
        return None


def _why_missing(path: str, tree: Tree, before: Manifest | None, empty: bool) -> str:
    if (tree.root / path).is_dir():
        return "a directory is in its place; move it away"
    if empty and before is None:
        return "nothing was generated here yet"
    if path == MANIFEST or (before is not None and path in before.files):
        return "it was generated, but someone deleted it"
    if before is None:
        return "without a manifest nothing says whether it ever was there"
    return f"it is new: {_why_outdated(path, before, tree.manifest)}"


def _why_left_behind(path: str, before: Manifest | None, now: Manifest) -> str | None:
    """Why one of our files is not asked for any more; None if it is not ours."""
    if path.startswith(STAGING):
        return "a run that was killed left it behind"
    if before is None or path not in before.files:
        return None
    return f"it is no longer asked for: {_why_outdated(path, before, now)}"


def _compare(tree: Tree, path: str, before: Manifest | None) -> Drift | None:
    file, wanted = tree.root / path, tree.files[path]
    if file.is_symlink():
        return Drift("changed", file, "a link is in its place")
    if not file.is_file():
        return Drift("changed", file, "something that is no regular file is in its place")
    try:
        found = file.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        return Drift("changed", file, f"it can't be read: {error.strerror}")
    except UnicodeDecodeError:
        return Drift("changed", file, "it was edited by hand: it is not UTF-8 text")
    if path == MANIFEST:
        cause = _why_manifest_changed(found, tree)
        return None if cause is None else Drift("changed", file, cause)
    if found == wanted:
        return None
    return Drift("changed", file, _why_changed(path, found, before, tree.manifest), found, wanted)


def _why_manifest_changed(found: str, tree: Tree) -> str | None:
    """Only what the manifest says of files counts: a schema or generator edit without effect on them is no drift."""
    before, now = parse_manifest(found), tree.manifest
    if before is None:
        return "it was edited by hand or is half-written: it is no manifest"
    if (before.head, list(before.revisions)) != (now.head, list(now.revisions)):
        return f"the revisions changed: they are {', '.join(now.revisions)} now, the head is {now.head}"
    if before.files.keys() != now.files.keys():
        return "it lists other files than are generated now"
    for path, wanted in now.files.items():
        if before.files[path] != wanted and _read(tree.root / path) == tree.files.get(path):
            return f"it was edited by hand, or a run was cut short: its entry for {path} does not fit that file"
    return None


def _why_changed(path: str, found: str, before: Manifest | None, now: Manifest) -> str:
    if before is None:
        return "there is no manifest, so whether it was edited by hand is unknown"
    if path not in before.files:
        return "a file that was not generated is in the place of a generated one"
    causes: list[str] = []
    if digest(found) != before.files[path]:
        causes.append("it was edited by hand")
    if now.files[path] != before.files[path]:
        causes.append(_why_outdated(path, before, now))
    return "; ".join(causes)


def _why_outdated(path: str, before: Manifest, now: Manifest) -> str:
    """What changed since a file was generated, or was not: all that can make a difference to it."""
    old, new = before.revisions, now.revisions
    owner = now.owner(path) or before.owner(path)
    names = list(dict.fromkeys([*new, *old])) if owner is None else [owner]
    causes = [f"revision {name} was added" for name in names if name not in old]
    causes += [f"revision {name} was removed" for name in names if name not in new]
    both = [name for name in names if name in old and name in new]
    stale = [name for name in both if old[name].schema != new[name].schema]
    if stale:
        causes.append(f"the schema of {', '.join(stale)} changed")
    if before.generator != now.generator if owner is None else any(old[name].generator != new[name].generator for name in both):
        causes.append("the generator or a template changed")
    return "; ".join(causes) or "the settings changed"


def _text(diff: Iterable[str]) -> str:
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff)
