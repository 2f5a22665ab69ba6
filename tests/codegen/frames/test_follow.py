"""A file that grows, is rotated, is truncated: each line comes once, as soon as it is whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dsh_codegen.frames.follow import follow, pause
from dsh_codegen.frames.heads import InputError
from dsh_codegen.frames.plan import InputFile, plan
from dsh_codegen.frames.source import Overlong, Piece, open_local

Seen = tuple[str, int, bytes | Overlong | None, bool]


class StopLookingError(Exception):
    pass


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def rotate(path: Path, data: bytes) -> None:
    path.rename(path.with_suffix(".old"))
    path.write_bytes(data)


def seen(paths: list[Path], *steps: Callable[[], object], max_line: int = 100) -> list[Seen]:
    """What is told while `steps` happen, one each time that all was read."""
    todo = iter(steps)

    def wait() -> None:
        step = next(todo, None)
        if step is None:
            raise StopLookingError
        step()

    found: list[Seen] = []
    files = [file for log in plan(map(str, paths)) for file in log.files]
    with suppress(StopLookingError):
        for piece in follow(files, max_line, wait):
            name = Path(piece.file).name
            found.append((name, piece.start, piece.overlong if piece.data is None else piece.data, piece.last))
    assert not list(todo), "it ended by itself"
    return found


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a.log"
    path.write_bytes(b"1\n2")
    return path


def test_lines_come_when_they_are_whole(log: Path) -> None:
    found = seen([log], lambda: append(log, b"2"), lambda: append(log, b"\n3\n4"), lambda: append(log, b"\n"))
    assert found == [("a.log", 0, b"1\n", False), ("a.log", 2, b"22\n3\n", False), ("a.log", 7, b"4\n", False)]


def test_a_line_that_is_too_long_is_told_when_it_ends(log: Path) -> None:
    found = seen(
        [log], lambda: append(log, b"x" * 99), lambda: append(log, b"x\n3\n"), lambda: append(log, b"y" * 300), max_line=50
    )
    assert found[1:] == [("a.log", 2, Overlong(2, 101, True), False), ("a.log", 104, b"3\n", False)]


def test_several_files_take_turns(log: Path) -> None:
    other = log.with_name("b.log")
    other.write_bytes(b"")
    found = seen([log, other], lambda: append(other, b"b\n"), lambda: append(log, b"\n"))
    assert found == [("a.log", 0, b"1\n", False), ("b.log", 0, b"b\n", False), ("a.log", 2, b"2\n", False)]


def test_a_file_that_is_rotated_ends_and_the_new_one_begins(log: Path) -> None:
    def late() -> None:
        old = log.with_suffix(".old")
        log.rename(old)
        append(old, b"2\n")  # by a writer that has not noticed yet
        log.write_bytes(b"new\n")

    found = seen([log], late, lambda: rotate(log, b""), lambda: append(log, b"newer\n"))
    assert found == [
        ("a.log", 0, b"1\n", False),
        ("a.log", 2, b"22\n", False),
        ("a.log", 5, b"", True),
        ("a.log", 0, b"new\n", False),
        ("a.log", 4, b"", True),
        ("a.log", 0, b"newer\n", False),
    ]


def test_while_there_is_no_new_file_the_old_one_goes_on(log: Path) -> None:
    old = log.with_suffix(".old")
    found = seen([log], lambda: log.rename(old), lambda: append(old, b"\n"), lambda: log.write_bytes(b"new\n"))
    assert found == [
        ("a.log", 0, b"1\n", False),
        ("a.log", 2, b"2\n", False),
        ("a.log", 4, b"", True),
        ("a.log", 0, b"new\n", False),
    ]


def test_a_link_to_the_log_of_today_is_followed(log: Path) -> None:
    link = log.with_name("current")
    link.symlink_to(log)
    other = log.with_name("b.log")
    other.write_bytes(b"tomorrow\n")

    def relink() -> None:
        link.unlink()
        link.symlink_to(other)

    assert seen([link], relink)[-1] == ("current", 0, b"tomorrow\n", False)


def test_a_new_file_that_is_gone_again_is_waited_for(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def flaky(url: str) -> object:
        opened.append(url)
        if len(opened) == 2:
            raise FileNotFoundError(2, "No such file or directory")
        return open_local(url)

    monkeypatch.setattr("dsh_codegen.frames.follow.open_local", flaky)
    found = seen([log], lambda: rotate(log, b"new\n"), lambda: None)
    assert found[-1] == ("a.log", 0, b"new\n", False)
    assert len(opened) == 3


def test_a_file_that_became_shorter_begins_again(log: Path) -> None:
    found = seen([log], lambda: log.write_bytes(b"x\n"), lambda: append(log, b"y\n"))
    assert found == [
        ("a.log", 0, b"1\n", False),
        ("a.log", 2, b"2", True),
        ("a.log", 0, b"x\n", False),
        ("a.log", 2, b"y\n", False),
    ]


def test_closing_it_closes_the_files(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (only,) = plan([str(log)])
    told: Iterator[Piece] = follow(only.files, 100)
    next(told)
    told.close()  # type: ignore[attr-defined]
    # an unclosed file would be a ResourceWarning, which fails the test


def test_the_pause_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    pause()
    assert slept == [0.2]


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (InputFile("<stdin>", "-", "stream", None), r"^<stdin>: only plain files of this machine can be followed$"),
        (InputFile("a.gz", "/a.gz", "gzip", 1), r"^a\.gz: only plain files"),
        (InputFile("s3://a", "s3://a", "plain", 1), r"^s3://a: only plain files"),
        (InputFile("gone", "/nowhere/gone", "plain", 1), r"^gone: No such file or directory$"),
    ],
)
def test_what_cannot_be_followed_is_refused(file: InputFile, says: str) -> None:
    with pytest.raises(InputError, match=says):
        next(follow([file], 100))
