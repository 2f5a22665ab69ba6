"""From arguments to logs, from files to pieces: what is read, as what, in which order, and what is said of the rest."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen.frames import plan as planning
from dsh_codegen.frames.arguments import natural
from dsh_codegen.frames.findings import Problem
from dsh_codegen.frames.flow import DATA
from dsh_codegen.frames.heads import InputError
from dsh_codegen.frames.plan import PIECE, InputFile, Join, pieces, plan
from dsh_codegen.frames.source import Overlong, Piece, batches
from tests.codegen.frames.test_packed import KINDS, zstd

MAX_LINE = 1 << 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, *names: str, data: bytes = b"{}\n") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def names(*arguments: str, join: Join = "file") -> list[str]:
    return [file.name for log in plan(arguments, join) for file in log.files]


def only(*arguments: str) -> InputFile:
    ((file,),) = (log.files for log in plan(arguments))
    return file


def read(file: InputFile, max_line: int = MAX_LINE) -> tuple[bytes, list[Problem]]:
    """All lines of a file, each with its line feed if it has one, and what is wrong."""
    out: list[bytes] = []
    problems: list[Problem] = []
    for each in pieces(file, max_line):
        if isinstance(each, Problem):
            problems.append(each)
            continue
        for batch in batches(each, max_line):
            assert not isinstance(batch, Overlong)
            out += batch.lines
    return b"".join(out), problems


# Which files


def test_a_directory_means_the_logs_in_it_and_below(folder: Path) -> None:
    logs = ["d/a.jsonl", "d/b/c.NDJSON", "d/part-2.log.gz", "d/part-10.log", "d/x.json.zst", "d/y.log.zstd"]
    write(folder, *logs, "d/notes.txt", "d/.hidden.log", "d/.git/x.log", "d/x.gz", "d/a.jsonl.bak")
    os.mkfifo(folder / "d" / "pipe.log")
    (folder / "d" / "gone.log").symlink_to("nowhere")
    (folder / "d" / "b" / "loop").symlink_to(folder / "d")
    assert names("d") == logs
    assert names(str(folder / "d")) == [str(folder / log) for log in logs]
    assert names(".") == [f"./{log}" for log in logs]


def test_a_directory_without_a_log_says_what_was_looked_for(folder: Path) -> None:
    write(folder, "d/notes.txt")
    with pytest.raises(
        InputError, match=r"^d: there is no log in this directory; .* \.jsonl, \.ndjson, \.log or \.json, .* \.zst"
    ):
        plan(["d"])


def test_a_folder_that_cannot_be_looked_into_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "d/locked/a.log")
    really = os.scandir

    def scandir(path: str) -> Any:
        if path == "d/locked":
            raise PermissionError(13, "Permission denied", path)
        return really(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(InputError, match=r"^d/locked: Permission denied$"):
        plan(["d"])


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("*.log", ["a.log", "b.log"]),
        ("./*.log", ["a.log", "b.log"]),
        ("[ab].log", ["a.log", "b.log"]),
        ("?/*", ["d/2.txt", "d/10.txt"]),
        ("**/*.txt", ["d/2.txt", "d/10.txt", "d/e/f.txt"]),
        ("d/**", ["d/2.txt", "d/10.txt", "d/e/f.txt"]),
        ("d**/*.txt", ["d/2.txt", "d/10.txt"]),
        ("d/.*", ["d/.hidden"]),
    ],
)
def test_a_pattern_that_no_shell_expanded_means_the_files_it_matches(folder: Path, pattern: str, matches: list[str]) -> None:
    write(folder, "a.log", "b.log", "d/10.txt", "d/2.txt", "d/e/f.txt", "d/.hidden")
    (folder / "d" / "e" / "loop").symlink_to(folder)
    assert names(pattern) == matches
    assert names(f"{folder}/{pattern}") == [f"{folder}/{match}" for match in matches]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(folder: Path) -> None:
    write(folder, "a[1].log", "a1.log")
    assert names("a[1].log") == ["a[1].log"]


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("*.log", r"^\*\.log: no file matches this pattern$"),
        ("none.log", r"^none\.log: No such file or directory$"),
        ("a\x1b\x00", r"^a\\u001b\\u0000: .*embedded null (byte|character)"),
        ("s3://bucket/a.log", r"^s3://bucket/a\.log: .* pip install 'dsh-protocol\[dask\]'$"),
    ],
)
def test_what_means_no_file_is_refused(folder: Path, argument: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        plan([argument])


def test_a_file_that_cannot_be_read_is_refused_if_it_is_named_and_told_if_it_was_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "d/a.log", "d/b.log")
    really = Path.open

    def locked(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name == "a.log":
            raise PermissionError(13, "Permission denied", str(path))
        return really(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", locked)
    with pytest.raises(InputError, match=r"^d/a\.log: Permission denied$"):
        plan(["d/a.log"])
    first, second = plan(["d"])
    assert list(pieces(first.files[0], MAX_LINE)) == [Problem("file/unreadable", "the file can't be opened: Permission denied")]
    assert second.files[0].problem is None


def test_a_file_is_read_once_however_it_is_reached(folder: Path) -> None:
    write(folder, "d/a.log", "d/b.log")
    (folder / "link.log").symlink_to("d/a.log")
    (folder / "d" / "hard.log").hardlink_to(folder / "d" / "b.log")
    assert names("d/b.log", "./d/b.log", "d", "d/*.log", "link.log", "-", "-") == ["d/b.log", "d/a.log", "<stdin>"]


def test_numbers_in_names_count_by_value() -> None:
    mixed = ["b", "a/part-10", "a/part-2", "a-1", "a/part-02", "a/x²", "a/part-2/1", "10", "9"]
    ordered = ["9", "10", "a/part-02", "a/part-2", "a/part-2/1", "a/part-10", "a/x²", "a-1", "b"]
    assert sorted(mixed, key=natural) == ordered


@given(st.lists(st.text("a1/.-0²", max_size=6)))
def test_any_names_have_one_order(paths: list[str]) -> None:
    there = sorted(paths, key=natural)
    paths.reverse()
    assert sorted(paths, key=natural) == there


def test_files_are_joined_to_logs(folder: Path) -> None:
    write(folder, "d/part-10.log", "d/part-2.log", "e/x.log", "f.log")
    given = ["e", "d/part-10.log", "d/part-2.log", "f.log", "-"]

    def logs(join: Join) -> list[tuple[str, list[str]]]:
        return [(log.name, [file.name for file in log.files]) for log in plan(given, join)]

    files = ["e/x.log", "d/part-10.log", "d/part-2.log", "f.log", "<stdin>"]
    assert logs("file") == [(name, [name]) for name in files]
    assert logs("all") == [("e/x.log and 4 more", files)]
    assert logs("directory") == [
        ("e", ["e/x.log"]),
        ("d", ["d/part-2.log", "d/part-10.log"]),
        (".", ["f.log"]),
        ("<stdin>", ["<stdin>"]),
    ]
    assert [log.name for log in plan(["f.log"], "all")] == ["f.log"]


# As what


def test_a_plain_file_is_cut_into_ranges(folder: Path) -> None:
    write(folder, "big")
    os.truncate(folder / "big", 2 * PIECE + 3)
    url = str(folder / "big")
    assert list(pieces(only("big"), MAX_LINE)) == [
        Piece("big", url, 0, PIECE, last=False),
        Piece("big", url, PIECE, 2 * PIECE, last=False),
        Piece("big", url, 2 * PIECE, 2 * PIECE + 3),
    ]
    for finer in (False, True):
        os.truncate(folder / "big", PIECE)
        assert list(pieces(only("big"), MAX_LINE, finer=finer)) == [Piece("big", url, 0, PIECE)]


def test_a_file_may_be_cut_finer_towards_its_end(folder: Path) -> None:
    write(folder, "big")
    os.truncate(folder / "big", 6 * PIECE + 4)
    found = [each for each in pieces(only("big"), MAX_LINE, finer=True) if isinstance(each, Piece)]
    assert [each.start for each in found[1:]] == [each.end for each in found[:-1]]
    assert (found[0].start, found[-1].end) == (0, 6 * PIECE + 4)
    assert [each.last for each in found] == [False] * (len(found) - 1) + [True]
    sizes = [(each.end or 0) - each.start for each in found]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[:3] == [PIECE] * 3
    assert PIECE // 4 in sizes


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"{}\n", b'{"a":1}\r\n\r\n{}\n', b"\xef\xbb\xbf{}\n", b"{}\n" + bytes(5000) + b"\n{}\n"]
)
@pytest.mark.parametrize("how", ["plain", "gzip", "zstd", "standard input"])
def test_every_byte_of_a_file_arrives(folder: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, how: str) -> None:
    packed = data if how not in dict(KINDS) else dict(KINDS)[how](data)
    write(folder, "log", data=packed)
    if how == "standard input":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    file = only("-" if how == "standard input" else "log")
    expected = ("stream", None) if how == "standard input" else (how, len(packed))
    assert (file.kind, file.size) == expected
    assert read(file) == (data, [])
    assert [each.last for each in pieces(file, MAX_LINE) if isinstance(each, Piece)][-1:] == [True]


def test_a_zstd_file_may_begin_with_something_to_be_skipped(folder: Path) -> None:
    write(folder, "log", data=b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstd.compress(b"a\n") + zstd.compress(b"b\n"))
    file = only("log")
    assert (file.kind, read(file)) == ("zstd", (b"a\nb\n", []))


def test_a_packed_file_comes_in_pieces_with_their_data(folder: Path) -> None:
    data = b"0123456\n" * (7 * DATA // 16)
    write(folder, "log.gz", data=gzip.compress(data, 1))
    found = list(pieces(only("log.gz"), MAX_LINE))
    assert len(found) == 4
    assert b"".join(each.data or b"" for each in found if isinstance(each, Piece)) == data
    assert max(len(each.data or b"") for each in found if isinstance(each, Piece)) < 2 * DATA


def test_a_line_that_is_too_long_is_a_piece_without_data(folder: Path) -> None:
    write(folder, "log.gz", data=gzip.compress(b"a\n" + b"x" * 900_000 + b"\nb\n"))
    found = list(pieces(only("log.gz"), 1000))
    assert [each.overlong for each in found if isinstance(each, Piece)] == [None, Overlong(2, 900_000, True), None]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("how", ["plain", "gzip", "standard input"])
def test_another_encoding_is_one_problem(folder: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, how: str) -> None:
    data = ('{"jsonrpc":"2.0"}\n' * 50).encode(encoding)
    write(folder, "log", data=gzip.compress(data) if how == "gzip" else data)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    (problem,) = pieces(only("-" if how == "standard input" else "log"), MAX_LINE)
    assert isinstance(problem, Problem)
    assert problem.rule == "file/encoding"
    name = encoding[:6].upper()
    assert problem.message == f"the file is {name}, not UTF-8, and was not read; convert it: iconv -f {name} -t UTF-8 FILE"


NO_LOGS = [
    (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "it is a binary file, not a log of frames"),
    (b"\x7fELF\x00\xff", "it is a binary file, not a log of frames"),
    (b"\xfd7zXZ\x00", "it is compressed (xz); unpack it first: xz -dc FILE | dsh-codegen validate -"),
    (b"PK\x03\x04\x14\x00", "it is compressed (zip); unpack it first: unzip -p FILE | dsh-codegen validate -"),
    (b"a.log".ljust(257, b"\x00") + b"ustar\x00", "it is a tar archive; unpack it first: tar -xf FILE"),
]


@pytest.mark.parametrize(("data", "says"), NO_LOGS)
def test_what_is_no_log_is_refused_if_it_is_named_and_told_if_it_was_found(folder: Path, data: bytes, says: str) -> None:
    write(folder, "d/a.log", data=data)
    with pytest.raises(InputError) as refused:
        plan(["d/a.log"])
    assert str(refused.value) == f"d/a.log: {says}"
    assert list(pieces(only("d"), MAX_LINE)) == [Problem("file/unreadable", says)]


@pytest.mark.parametrize(
    ("data", "says"), [*NO_LOGS, (gzip.compress(b""), "it is compressed (gzip); unpack it first: gzip -dc")]
)
def test_what_is_no_log_once_it_is_unpacked_is_told(folder: Path, data: bytes, says: str) -> None:
    write(folder, "a.gz", data=gzip.compress(data))
    (problem,) = pieces(only("a.gz"), MAX_LINE)
    assert isinstance(problem, Problem)
    assert (problem.rule, problem.message[: len(says)]) == ("file/unreadable", says)


def test_a_packed_file_that_breaks_off_is_read_so_far(folder: Path) -> None:
    data = b"".join(b'{"id":%d}\n' % number for number in range(1000))
    write(folder, "a.gz", data=gzip.compress(data)[:-8])
    write(folder, "b.gz", data=gzip.compress(data + b'{"id"')[:-8])
    write(folder, "c.gz", data=gzip.compress(data)[:5])
    start = "the packed data ends before its time"
    assert read(only("a.gz")) == (data, [Problem("file/truncated", f"{start}; {len(data):,} bytes of text came before that")])
    rest = f"{len(data) + 5:,} bytes of text came before that; the last 5 of them are no whole line and were not read"
    assert read(only("b.gz")) == (data, [Problem("file/truncated", f"{start}; {rest}")])
    assert list(pieces(only("c.gz"), MAX_LINE)) == [Problem("file/truncated", start)]


@pytest.mark.parametrize("how", ["file", "pipe"])
def test_a_damaged_file_is_read_up_to_the_damage(folder: Path, how: str) -> None:
    data = b"".join(b'{"id":%d}\n' % number for number in range(50_000))
    packed = gzip.compress(data)
    broken = packed[:-8] + b"\x00\x00\x00\x00" + packed[-4:]
    if how == "file":
        write(folder, "a.gz", data=broken)
    else:
        os.mkfifo(folder / "a.gz")
        threading.Thread(target=(folder / "a.gz").write_bytes, args=(broken,)).start()
    found, (problem,) = read(only("a.gz"))
    assert problem.rule == "file/corrupt"
    if how == "file":
        assert found == data
    else:  # which can't be read again for what the decoder kept to itself
        assert data.startswith(found)
        assert len(data) > len(found) > len(data) // 2


def test_a_missing_package_is_told_before_any_work_is_done(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "d/a.log.zst", data=zstd.compress(b"{}\n"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(zstd.compress(b"{}\n"))))
    monkeypatch.setitem(sys.modules, zstd.__name__, None)
    with pytest.raises(InputError, match=r"^d/a\.log\.zst: it is compressed \(zstd\), which needs the package backports\.zstd"):
        plan(["d"])
    with pytest.raises(InputError, match=r"^<stdin>: it is compressed \(zstd\), which needs the package"):
        list(pieces(only("-"), MAX_LINE))


# From where


@pytest.mark.parametrize("data", [b'{"id":1}\n{"id":2}', gzip.compress(b'{"id":1}\n{"id":2}'), b""])
def test_a_pipe_is_read_from_beginning_to_end(folder: Path, data: bytes) -> None:
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=(folder / "pipe").write_bytes, args=(data,))
    writer.start()
    file = only("pipe")
    assert (file.kind, file.size) == ("stream", None)
    assert read(file) == (b'{"id":1}\n{"id":2}' if data else b"", [])
    writer.join()


def test_a_pipe_that_gives_a_byte_at_a_time_is_recognised_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            return self.read(1)

        def seekable(self) -> bool:
            return False

    class Standard:
        buffer = Slow(gzip.compress(b"{}\n{}\n"))

    monkeypatch.setattr(sys, "stdin", Standard())
    assert read(only("-")) == (b"{}\n{}\n", [])
    assert not Standard.buffer.closed


def test_a_device_is_read_like_a_pipe() -> None:
    file = only("/dev/null")
    assert (file.kind, list(pieces(file, MAX_LINE))) == ("stream", [Piece("/dev/null", "/dev/null", 0, 0, b"")])


def test_the_standard_input_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match=r"^<stdin>: the standard input is closed$"):
        list(pieces(only("-"), MAX_LINE))


def test_a_file_that_is_gone_when_its_turn_comes_is_told(folder: Path) -> None:
    write(folder, "a.gz", data=gzip.compress(b"{}\n"))
    file = only("a.gz")
    (folder / "a.gz").unlink()
    assert list(pieces(file, MAX_LINE)) == [Problem("file/unreadable", "the file can't be opened: No such file or directory")]


def test_a_read_that_fails_is_told_after_what_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            data = super().read1(30)
            if not data:
                raise OSError(5, "Input/output error")
            return data

    class Standard:
        buffer = Failing(b'{"id":1}\n' * 5)

    monkeypatch.setattr(sys, "stdin", Standard())
    says = "the file can't be read to its end: Input/output error; 45 bytes of text came before that"
    assert read(only("-")) == (b'{"id":1}\n' * 5, [Problem("file/unreadable", says)])


class Elsewhere:
    """A store of files that is not on this machine."""

    files: dict[str, bytes | None] = {"x://a/2.log": b"{}\n", "x://a/10.log": gzip.compress(b"{}\n"), "x://a/live": None}  # noqa: RUF012

    def expand(self, pattern: str) -> list[str]:
        return [url for url in self.files if url.startswith(pattern)]

    def size(self, url: str) -> int | None:
        data = self.files[url]
        return None if data is None else len(data)

    def open(self, url: str, stop: int | None = None) -> BinaryIO:
        return io.BytesIO(self.files[url] or b"live\n")


def test_urls_are_opened_by_the_opener() -> None:
    opener = Elsewhere()
    (log,) = plan(["x://a/"], "directory", opener)
    assert [(file.name, file.kind, file.size is None) for file in log.files] == [
        ("x://a/2.log", "plain", False),
        ("x://a/10.log", "gzip", False),
        ("x://a/live", "stream", True),
    ]
    assert log.name == "x://a"
    plain, packed, live = (list(pieces(file, MAX_LINE, opener)) for file in log.files)
    assert plain == [Piece("x://a/2.log", "x://a/2.log", 0, 3)]
    assert packed == [Piece("x://a/10.log", "x://a/10.log", 0, 3, b"{}\n")]
    assert live == [Piece("x://a/live", "x://a/live", 0, 5, b"live\n")]
    with pytest.raises(InputError, match=r"^x://b: there is no such file$"):
        plan(["x://b"], opener=opener)


def test_a_plan_is_made_of_values(folder: Path) -> None:
    import pickle

    write(folder, "a.log")
    logs = plan(["a.log"])
    made: Any = pickle.loads(pickle.dumps((logs, list(pieces(logs[0].files[0], 1)))))  # workers get them
    assert made == (logs, list(planning.pieces(logs[0].files[0], 1)))
