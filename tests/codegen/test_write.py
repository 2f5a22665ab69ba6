from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_codegen.errors import OutputError
from dsh_codegen.write import STAGING, Change, replace_files
from tests.codegen.projects import snapshot

NOBODY: Final = 65534


def make_trees(folder: Path) -> list[Change]:
    """Three directories with everything that can happen to a file: new, replaced, the same, a link, removed."""
    one, two = folder / "one", folder / "two"
    (one / "old").mkdir(parents=True)
    (two / "deep").mkdir(parents=True)
    (folder / "outside.txt").write_text("outside", encoding="utf-8")
    (one / "replaced.txt").write_text("before", encoding="utf-8")
    (one / "same.txt").write_text("same\n", encoding="utf-8")
    (one / "link.txt").symlink_to(folder / "outside.txt")
    (one / "old" / "gone.txt").write_text("gone", encoding="utf-8")
    (one / "stray.txt").write_text("stray", encoding="utf-8")
    (two / "deep" / "replaced.txt").write_text("before", encoding="utf-8")
    return [
        Change(
            one,
            {
                "replaced.txt": "after\n",
                "same.txt": "same\n",
                "link.txt": "a file\n",
                "new/er/file.txt": "new\n",
                "m.json": "{}\n",
            },
            ["old/gone.txt"],
        ),
        Change(two, {"deep/replaced.txt": "after\n", "m.json": "{}\n"}),
        Change(folder / "three" / "four", {"m.json": "{}\n"}),
    ]


@pytest.fixture
def trees(tmp_path: Path) -> list[Change]:
    return make_trees(tmp_path)


@pytest.fixture
def unprivileged() -> Iterator[Callable[[], None]]:
    """Makes the process an ordinary user's from the call to the end of the test."""
    root = os.geteuid() == 0
    yield (lambda: os.seteuid(NOBODY)) if root else lambda: None
    if root:
        os.seteuid(0)


@pytest.fixture
def public(unprivileged: object) -> Iterator[Path]:
    """A folder that an ordinary user may reach and owns."""
    folder = Path(tempfile.mkdtemp())
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, -1)
    yield folder
    if os.geteuid() == NOBODY:
        os.seteuid(0)
    shutil.rmtree(folder)


def failing(function: Callable[..., Any], at: int, error: BaseException, *, once: bool = True) -> Callable[..., Any]:
    """`function`, but its call number `at` (and every later one, unless `once`) raises."""
    calls = 0

    def replacement(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at or (calls > at and not once):
            raise error
        return function(*args, **kwargs)

    return replacement


def full_disk() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_files_are_written_replaced_and_removed(trees: list[Change], tmp_path: Path) -> None:
    assert replace_files(trees) == [5, 2, 1]
    assert snapshot(tmp_path) == {
        "one": None,
        "one/replaced.txt": b"after\n",
        "one/same.txt": b"same\n",
        "one/link.txt": b"a file\n",
        "one/new": None,
        "one/new/er": None,
        "one/new/er/file.txt": b"new\n",
        "one/m.json": b"{}\n",
        "one/stray.txt": b"stray",
        "outside.txt": b"outside",
        "two": None,
        "two/deep": None,
        "two/deep/replaced.txt": b"after\n",
        "two/m.json": b"{}\n",
        "three": None,
        "three/four": None,
        "three/four/m.json": b"{}\n",
    }


def test_doing_it_again_touches_nothing(trees: list[Change], tmp_path: Path) -> None:
    replace_files(trees)
    before = {path: path.lstat() for path in tmp_path.rglob("*")}
    assert replace_files(trees) == [0, 0, 0]
    after = {path: path.lstat() for path in tmp_path.rglob("*")}
    assert [(path, stat.st_ino, stat.st_mtime_ns) for path, stat in after.items()] == [
        (path, stat.st_ino, stat.st_mtime_ns) for path, stat in before.items()
    ]


@pytest.mark.parametrize(
    ("name", "error", "steps"),
    [("replace", full_disk(), 11), ("replace", KeyboardInterrupt(), 11), ("mkdir", full_disk(), 8)],
    ids=["replace, disk full", "replace, interrupt", "mkdir, disk full"],
)
def test_a_failure_at_any_step_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, name: str, steps: int
) -> None:
    real = getattr(os, name)
    failures = 0
    for step in range(1, 20):
        folder = tmp_path / str(step)
        trees = make_trees(folder)
        before = snapshot(folder)
        monkeypatch.setattr(os, name, failing(real, step, error))
        caught: BaseException | None = None
        try:
            replace_files(trees)
        except (OutputError, KeyboardInterrupt) as raised:
            caught = raised
        monkeypatch.undo()
        if caught is None:
            continue
        failures += 1
        assert snapshot(folder) == before, f"step {step}"
        assert isinstance(caught, OutputError) == isinstance(error, OSError)
        if isinstance(caught, OutputError):
            assert str(caught).startswith(str(folder))
            assert str(caught).endswith("can't be written: No space left on device; no file was changed")
            assert STAGING not in str(caught)
    assert failures >= steps


def test_a_disk_that_is_full_while_files_are_prepared(
    trees: list[Change], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(tmp_path)
    real = Path.write_text
    for at in range(1, 8):
        monkeypatch.setattr(Path, "write_text", failing(real, at, full_disk()))
        with pytest.raises(
            OutputError, match=r"(one|two|four)/.*: can't be written: No space left on device; no file was changed"
        ):
            replace_files(trees)
        assert snapshot(tmp_path) == before


def test_when_the_way_back_is_blocked_too_the_old_files_are_kept(
    trees: list[Change], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", failing(os.replace, 4, full_disk(), once=False))
    said = r"files are half replaced and can't be put back \(No space left on device\); the old ones are in the folders "
    with pytest.raises(OutputError, match=said):
        replace_files(trees)
    kept = {content for path, content in snapshot(tmp_path).items() if STAGING in path}
    assert {b"gone", b"before"} <= kept


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("at", [1, 4, 9])
def test_a_signal_in_the_middle_takes_everything_back(
    trees: list[Change], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, at: int
) -> None:
    before = snapshot(tmp_path)
    real = os.replace
    calls = 0

    def replace(*args: Any) -> None:
        nonlocal calls
        calls += 1
        if calls >= at:  # also while the moves are taken back: an impatient user
            os.kill(os.getpid(), number)
        real(*args)

    def terminate(*_: object) -> None:
        raise SystemExit(143)

    previous = signal.signal(signal.SIGTERM, terminate)
    try:
        monkeypatch.setattr(os, "replace", replace)
        with pytest.raises(KeyboardInterrupt if number == signal.SIGINT else SystemExit):
            replace_files(trees)
    finally:
        handler = signal.signal(signal.SIGTERM, previous)
    assert snapshot(tmp_path) == before
    assert handler is terminate
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_that_is_ignored_stays_ignored(trees: list[Change], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.replace

    def replace(*args: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        real(*args)

    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as for a background job
    try:
        monkeypatch.setattr(os, "replace", replace)
        assert replace_files(trees) == [5, 2, 1]
    finally:
        signal.signal(signal.SIGINT, previous)


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("a\n", encoding="utf-8")
    for name, target in {"same": "../outside/a.txt", "dangling": "nowhere", "folder": "../outside", "self": "self"}.items():
        (root / name).symlink_to(target)
    replace_files([Change(root, dict.fromkeys(("same", "dangling", "folder", "self"), "a\n"))])
    assert snapshot(root) == dict.fromkeys(("same", "dangling", "folder", "self"), b"a\n")
    assert snapshot(tmp_path / "outside") == {"a.txt": b"a\n"}


@pytest.mark.parametrize("target", ["../outside", "inside", "nowhere"])
def test_a_link_in_place_of_a_directory_is_refused(tmp_path: Path, target: str) -> None:
    root = tmp_path / "root"
    (root / "inside").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / "sub").symlink_to(target)
    before = snapshot(tmp_path)
    with pytest.raises(OutputError) as caught:
        replace_files([Change(root, {"first.txt": "x", "sub/deep/file.txt": "x"})])
    assert str(caught.value) == f"{root / 'sub'}: a link is in the place of a generated directory; remove it"
    assert snapshot(tmp_path) == before


def test_a_directory_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")
    replace_files([Change(tmp_path / "root", {"a.txt": "a\n"})])
    assert snapshot(tmp_path / "real") == {"a.txt": b"a\n"}


def test_a_file_in_place_of_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sub").write_text("mine", encoding="utf-8")
    for change, place in (
        (Change(tmp_path, {"a.txt": "x", "sub/file.txt": "x"}), tmp_path / "sub"),
        (Change(tmp_path / "sub", {"file.txt": "x"}), tmp_path / "sub"),
    ):
        with pytest.raises(OutputError) as caught:
            replace_files([change])
        assert str(caught.value) == f"{place}: a file is in the place of a generated directory; move it away"
    assert snapshot(tmp_path) == {"sub": b"mine"}


def test_below_a_file_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=r"can't be written: (Not a directory|File exists); no file was changed"):
        replace_files([Change(tmp_path / "file" / "out", {"a.txt": "x"})])
    assert snapshot(tmp_path) == {"file": b"mine"}


def test_a_directory_in_place_of_a_file_is_refused_unless_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    (tmp_path / "a.txt" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError) as caught:
        replace_files([Change(tmp_path, {"0.txt": "x", "a.txt": "x"})])
    assert str(caught.value) == f"{tmp_path / 'a.txt'}: a directory is in the place of a generated file; move it away"
    assert snapshot(tmp_path) == {"a.txt": None, "a.txt/mine.txt": b"mine"}
    (tmp_path / "a.txt" / "mine.txt").unlink()
    replace_files([Change(tmp_path, {"a.txt": "x"})])
    assert snapshot(tmp_path) == {"a.txt": b"x"}


def test_a_read_only_directory(public: Path, unprivileged: Callable[[], None]) -> None:
    root = public / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("before", encoding="utf-8")
    (root / "sub" / "b.txt").write_text("before", encoding="utf-8")
    unprivileged()
    before = snapshot(public)
    if os.geteuid() != NOBODY:
        root.chmod(0o555)
    try:
        with pytest.raises(OutputError, match=r"root/a.txt: can't be written: Permission denied; no file was changed"):
            replace_files([Change(root, {"a.txt": "after", "sub/b.txt": "after"})])
        assert replace_files([Change(root, {"a.txt": "before"})]) == [0], "there is nothing to write"
    finally:
        if os.geteuid() != NOBODY:
            root.chmod(0o755)
    assert snapshot(public) == before


def test_a_read_only_directory_below(public: Path, unprivileged: Callable[[], None]) -> None:
    unprivileged()
    root = public / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("before", encoding="utf-8")
    (root / "sub" / "b.txt").write_text("before", encoding="utf-8")
    (root / "sub").chmod(0o555)
    before = snapshot(public)
    try:
        with pytest.raises(OutputError, match=r"root/sub/b.txt: can't be written: Permission denied; no file was changed"):
            replace_files([Change(root, {"a.txt": "after", "sub/b.txt": "after"})])
        assert snapshot(public) == before
    finally:
        (root / "sub").chmod(0o755)


def test_read_only_files_are_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("before", encoding="utf-8")
    file.chmod(0o444)
    replace_files([Change(tmp_path, {"a.txt": "after"})])
    assert file.read_text(encoding="utf-8") == "after"


def test_the_usual_permissions(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        replace_files([Change(tmp_path / "root", {"sub/a.txt": "a"})])
    finally:
        os.umask(previous)
    modes = [stat.S_IMODE((tmp_path / path).stat().st_mode) for path in ("root", "root/sub", "root/sub/a.txt")]
    assert modes == [0o750, 0o750, 0o640]


def test_line_ends_and_encoding_do_not_depend_on_the_platform(tmp_path: Path) -> None:
    replace_files([Change(tmp_path, {"a.txt": "“ä”\n𝄞\n"})])
    assert (tmp_path / "a.txt").read_bytes() == "“ä”\n𝄞\n".encode()


def test_folders_that_become_empty_go_byte_code_included(tmp_path: Path) -> None:
    for path in ("a/b/gone.py", "a/b/__pycache__/gone.pyc", "c/gone.py", "c/stray.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("", encoding="utf-8")
    assert replace_files([Change(tmp_path, {}, ["a/b/gone.py", "c/gone.py", "never/there.py"])]) == [2]
    assert snapshot(tmp_path) == {"c": None, "c/stray.txt": b""}


def test_the_leftover_of_a_killed_run_can_be_removed(tmp_path: Path) -> None:
    leftover = tmp_path / f"{STAGING}abc"
    (leftover / "old").mkdir(parents=True)
    (leftover / "old" / "a.txt").write_text("x", encoding="utf-8")
    assert replace_files([Change(tmp_path, {"a.txt": "x"}, [leftover.name])]) == [2]
    assert snapshot(tmp_path) == {"a.txt": b"x"}


def test_two_runs_do_not_write_at_once(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    (tmp_path / "a.txt").write_text("before", encoding="utf-8")
    other = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(OutputError) as caught:
            replace_files([Change(tmp_path, {"a.txt": "after"})])
    finally:
        os.close(other)
    assert str(caught.value) == f"{tmp_path}: another run is writing here; start this one again when that has ended"
    assert snapshot(tmp_path) == {"a.txt": b"before"}
    assert replace_files([Change(tmp_path, {"a.txt": "after"})]) == [1]
