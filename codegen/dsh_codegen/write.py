"""Replace whole sets of files: all of them or none.

New files are written beside their targets first. Only when that has worked for every directory are they moved into place;
should a move fail, the moves before it are taken back. Signals that would end the process wait until the files are in order.
A file that is already right is not touched; a link in place of a file is replaced, never followed.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .errors import OutputError

STAGING: Final = ".dsh-codegen-"
"""What the names of the folders begin with that hold files on their way. One that stays was left by a killed run."""

_HELD: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Change:
    """What is to happen in one directory: `files` (text by path below `root`) are written, `obsolete` paths are removed."""

    root: Path
    files: Mapping[str, str]
    obsolete: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Move:
    """`new` goes to `target` (None: nothing does), and what was there to `old`."""

    target: Path
    new: Path | None
    old: Path


def replace_files(changes: Sequence[Change]) -> list[int]:
    """Make all `changes` or none; how many files each wrote or removed. Raises `OutputError`, and then nothing has changed."""
    with _signals_held() as stop_if_asked, ExitStack() as folders, ExitStack() as stagings, ExitStack() as undo:
        moves = [_staged(change, folders, stagings, stop_if_asked) for change in changes]
        try:
            for move in (move for each in moves for move in each):
                stop_if_asked()
                with _sentence(move.target):
                    _make(move, undo)
            stop_if_asked()
        except BaseException as error:
            try:
                undo.close()
            except OSError as failure:
                stagings.pop_all()  # the old files are there, and nowhere else
                folders.pop_all()
                roots = ", ".join(str(change.root) for change in changes)
                kept = f"the old ones are in the folders {STAGING}* of {roots}"
                raise OutputError(f"files are half replaced and can't be put back ({failure.strerror}); {kept}") from error
            raise
        undo.pop_all()
        folders.pop_all()
        for change in changes:
            for path in change.obsolete:
                _remove_empty((change.root / path).parent, change.root)
    return [len(each) for each in moves]


def _staged(change: Change, folders: ExitStack, stagings: ExitStack, stop_if_asked: Callable[[], None]) -> list[_Move]:
    """The moves that a change needs, with the new files ready."""
    moves: list[_Move] = []
    staging = None
    for path in _different(change):
        stop_if_asked()
        _refuse_what_is_in_the_way(change, path)
        with _sentence(change.root / path):
            if staging is None:
                _make_folder(change.root, folders)
                stagings.enter_context(_locked(change.root))
                staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=change.root))
                stagings.callback(shutil.rmtree, staging, ignore_errors=True)
            moves.append(_stage(change, path, staging))
    return moves


@contextmanager
def _sentence(target: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{target}: can't be written: {error.strerror or error}; no file was changed") from None


def _different(change: Change) -> list[str]:
    """The paths that are not as they should be. The last of the files is the manifest: it vouches for all before it."""
    obsolete = [path for path in change.obsolete if os.path.lexists(change.root / path)]
    return [*obsolete, *(path for path, text in change.files.items() if not _is_right(change.root / path, text))]


def _is_right(file: Path, text: str) -> bool:
    try:
        return not file.is_symlink() and file.is_file() and file.read_bytes() == text.encode()
    except OSError:
        return False


def _refuse_what_is_in_the_way(change: Change, path: str) -> None:
    target = change.root / path
    parents = [change.root / parent for parent in Path(path).parents]
    for parent in parents[:-1]:
        if parent.is_symlink():
            raise OutputError(f"{parent}: a link is in the place of a generated directory; remove it")
    for parent in parents:
        if os.path.lexists(parent) and not parent.is_dir():
            raise OutputError(f"{parent}: a file is in the place of a generated directory; move it away")
    if path in change.files and target.is_dir() and not target.is_symlink() and any(target.iterdir()):
        raise OutputError(f"{target}: a directory is in the place of a generated file; move it away")


def _stage(change: Change, path: str, staging: Path) -> _Move:
    new = None
    if path in change.files:
        new = staging / "new" / path
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(change.files[path], encoding="utf-8", newline="\n")
    return _Move(change.root / path, new, staging / "old" / path)


def _make(move: _Move, undo: ExitStack) -> None:
    if os.path.lexists(move.target):
        move.old.parent.mkdir(parents=True, exist_ok=True)
        move.target.replace(move.old)
        undo.callback(move.old.replace, move.target)
    if move.new is not None:
        _make_folder(move.target.parent, undo)
        move.new.replace(move.target)
        undo.callback(move.target.unlink)


def _make_folder(folder: Path, undo: ExitStack) -> None:
    missing = [each for each in (folder, *folder.parents) if not each.is_dir()]
    for each in reversed(missing):
        each.mkdir()
        undo.callback(each.rmdir)


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove folders up to `root` that hold nothing but byte code. Not being able to does no harm."""
    with suppress(OSError):
        while folder != root and not any(entry for entry in folder.iterdir() if entry.name != "__pycache__"):
            shutil.rmtree(folder)
            folder = folder.parent


@contextmanager
def _locked(root: Path) -> Generator[None]:
    """Keeps other runs of this function out of `root`, where the system can."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(root, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(f"{root}: another run is writing here; start this one again when that has ended") from None
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _signals_held() -> Generator[Callable[[], None]]:
    """Signals wait until the end. What is yielded raises `KeyboardInterrupt` when one waits, so that work can be taken back."""
    came: list[int] = []

    def stop_if_asked() -> None:
        if came:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield stop_if_asked
        return
    ours = [number for number in _HELD if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    handlers = {number: signal.signal(number, lambda number, _: came.append(number)) for number in ours}
    try:
        yield stop_if_asked
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for signal_ in came:
            signal.raise_signal(signal_)
