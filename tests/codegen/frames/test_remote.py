"""Files by URL: what a URL means, ranges of bytes, and a sentence for whatever is in the way."""

from __future__ import annotations

import importlib
import io
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen import bundles
from dsh_codegen.cli import main
from dsh_codegen.frames import ranges, remote
from dsh_codegen.frames.heads import InputError
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.ranges import Ranges
from dsh_codegen.frames.setup import Setup
from dsh_codegen.frames.source import Batch, Piece, batches
from tests.codegen.frames.store import store
from tests.codegen.frames.toy import BUNDLE, log, request, row

fsspec: Any = pytest.importorskip("fsspec", reason="fsspec is not installed")

BUCKET: Final = "a-few-logs"
PING: Final = log(row("c2s", request(1, "ping")))

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(bundles, "load_bundles", lambda _: [("1", BUNDLE)])
    return lambda *arguments: CliRunner().invoke(main, ["validate", "--revision", "1", *map(str, arguments)])


@pytest.fixture
def memory() -> Iterator[Any]:
    files = fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


class Shop(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """A store with one file in it. `refusal` is raised by all it does."""

    protocol = "shop"
    cachable = False
    data = PING
    told: ClassVar[dict[str, Any]] = {}
    refusal: Exception | None = None
    whole = False
    lost = 0

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        if self.refusal is not None:
            raise self.refusal
        return {"name": path, "type": "file", "size": len(self.data), **self.told}

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        return self.data if self.whole else self.data[start : (end or len(self.data)) - self.lost]

    def open(self, path: str, mode: str = "rb", **_: Any) -> io.BytesIO:
        return io.BytesIO(self.data)


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> type[Shop]:
    class Mine(Shop):
        pass

    fsspec.register_implementation("shop", Mine, clobber=True)
    return Mine


# What a URL means


def test_a_file_a_folder_and_a_pattern(memory: Any) -> None:
    names = [
        "host-2/a.jsonl",
        "host-10/a.jsonl.gz",
        "host-10/b.LOG",
        "host-10/notes.txt",
        "host-10/.hidden.jsonl",
        ".old/a.jsonl",
    ]
    for name in names:
        memory.pipe(f"/logs/{name}", PING)
    opener = remote.opener()
    assert opener.expand("memory://logs/host-10/notes.txt") == ["memory://logs/host-10/notes.txt"]
    found = [f"memory://logs/host-{name}" for name in ("2/a.jsonl", "10/a.jsonl.gz", "10/b.LOG")]
    assert opener.expand("memory://logs") == found
    assert opener.expand("memory://logs/") == found
    assert opener.expand("memory://logs/*/a.*") == found[:2]
    assert opener.expand("memory://logs/**") == [*found, "memory://logs/host-10/notes.txt"]
    assert opener.expand("memory://logs/*/.h*") == ["memory://logs/host-10/.hidden.jsonl"]
    assert opener.expand("memory://logs/none*") == opener.expand("memory://logs/none") == []
    assert opener.size(found[0]) == opener.size("memory://logs/host-10/.hidden.jsonl") == len(PING)


def test_a_name_that_looks_like_a_pattern_is_a_name_first(memory: Any) -> None:
    memory.pipe("/logs/a[1].jsonl", PING)
    memory.pipe("/logs/a1.jsonl", PING)
    assert remote.opener().expand("memory://logs/a[1].jsonl") == ["memory://logs/a[1].jsonl"]


def test_a_folder_without_logs(memory: Any) -> None:
    memory.pipe("/logs/readme", b"")
    with pytest.raises(InputError, match="memory://logs: there is no log in this folder"):
        remote.opener().expand("memory://logs")


def test_urls_keep_what_stands_before_the_path(tmp_path: Path, shop: type[Shop], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_bytes(PING)
    assert remote.opener().expand(f"file://{tmp_path}/*") == [f"file://{tmp_path}/a.jsonl"]
    monkeypatch.setattr(shop, "_strip_protocol", classmethod(lambda cls, path: "cellar/*"))
    monkeypatch.setattr(shop, "refusal", FileNotFoundError())
    monkeypatch.setattr(
        shop, "glob", lambda *_, **__: {"cellar/a": {"type": "file", "size": 3}, "cellar/b": {"type": "directory"}}
    )
    opener = remote.opener()
    assert opener.expand("shop://cellar@elsewhere/*") == ["shop://cellar/a"]
    assert opener.size("shop://cellar/a") == 3


def test_a_pattern_in_a_place_that_is_not_there(run: Run, shop: type[Shop], monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError

    monkeypatch.setattr(shop, "info", gone)
    monkeypatch.setattr(shop, "glob", gone)
    assert says(run, "shop://a/*") == "error: shop://a/*: there is no such file\n"


def test_an_opener_travels_without_what_it_knows(memory: Any) -> None:
    memory.pipe("/a.jsonl", PING)
    opener = remote.opener()
    assert opener.size("memory://a.jsonl") == len(PING)
    setup: Setup = pickle.loads(pickle.dumps(Setup(Protocol("1", {}), opener=opener)))
    memory.pipe("/a.jsonl", PING * 2)
    assert setup.opener is not None
    assert setup.opener.size("memory://a.jsonl") == 2 * len(PING)
    with setup.open("memory://a.jsonl") as source:
        assert source.read() == PING * 2


# Reading


class Recorded:
    """A file that is there, and what was asked of it."""

    url = "shop://file"

    def __init__(self, data: bytes, at_a_time: int = 3) -> None:
        self.data = data
        self.at_a_time = at_a_time
        self.asked: list[tuple[int, int]] = []
        self.under_way: list[Future[bytes]] = []

    def range(self, start: int, end: int) -> Future[bytes]:
        assert start < end <= len(self.data)
        self.asked.append((start, end))
        answer: Future[bytes] = Future()
        answer.set_result(self.data[start:end])
        self.under_way.append(answer)
        return answer

    def info(self) -> Future[dict[str, Any]]:
        answer: Future[dict[str, Any]] = Future()
        answer.set_result({"size": len(self.data)})
        return answer


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "FETCH", 64)
    monkeypatch.setattr(ranges, "ALONE", 8)


@given(
    lines=st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=30),
    cuts=st.lists(st.integers(0, 600), max_size=4),
    known=st.booleans(),
    at_a_time=st.integers(1, 3),
    block=st.integers(1, 90),
)
def test_pieces_of_a_file_are_read_as_those_of_a_local_one(
    lines: list[bytes], cuts: list[int], known: bool, at_a_time: int, block: int
) -> None:
    data = b"".join(line + b"\n" for line in lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "FETCH", 64)
        patch.setattr(ranges, "ALONE", 8)
        edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
        found: list[bytes] = []
        for start, end in pairwise(edges):
            file: Any = Recorded(data, at_a_time)
            piece = Piece("file", "shop://file", start, end)
            opened: Any = Ranges(file, len(data) if known else None, end)
            for batch in batches(piece, 100, {"shop://file": opened}.__getitem__, block=block):
                assert isinstance(batch, Batch)
                found += [line.removesuffix(b"\n") for line in batch.lines]
            assert all(begin >= start - 1 for begin, _ in file.asked)
            assert sum(last - first for first, last in file.asked) <= end - start + 1 + 8 + 16 + 32  # the rest of a line
        assert found == lines


@pytest.mark.usefixtures("small")
def test_what_will_be_read_is_asked_for_early_and_nothing_else() -> None:
    file: Any = Recorded(bytes(1000))
    opened = Ranges(file, None, 200)
    assert (opened.readable(), opened.seekable(), file.asked) == (True, True, [])
    opened.seek(9)
    assert len(opened.read(1)) == 1
    assert file.asked == [(9, 73), (73, 137), (137, 200)]  # the last one took the rest along
    assert (opened.tell(), len(opened.read()), opened.tell()) == (10, 63, 73)
    while opened.tell() < 200:
        opened.read(50)
    assert len(file.asked) == 3
    sizes = [len(opened.read()) for _ in range(7)]
    assert sizes == [8, 16, 32, 64, 64, 64, 64]
    opened.seek(1000)
    assert opened.read(5) == opened.read() == b""
    with pytest.raises(io.UnsupportedOperation):
        opened.seek(0, io.SEEK_END)


@pytest.mark.usefixtures("small")
def test_the_head_of_a_file_is_one_small_request() -> None:
    file: Any = Recorded(bytes(range(100)))
    with Ranges(file, 100, 0) as opened:
        assert opened.read(4) == b"\0\1\2\3"
    assert file.asked == [(0, 8)]


@pytest.mark.usefixtures("small")
def test_what_is_under_way_is_given_up_with_the_file() -> None:
    file: Any = Recorded(bytes(1000))
    answer: Future[bytes] = Future()
    usual = file.range
    file.range = lambda start, end: usual(start, end) if start == 0 else answer
    opened = Ranges(file, None, 1000)
    opened.read(1)
    opened.close()
    assert answer.cancelled()


# What can be in the way


def says(run: Run, *arguments: str) -> str:
    found = run(*arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith("error: ")
    assert found.stderr.count("\n") == 1
    return found.stderr


def test_the_extra_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert "pip install 'dsh-protocol[dask]'" in says(run, "s3://bucket/log")


@pytest.mark.parametrize(
    ("protocol", "module", "remedy"), [("s3", "s3fs", "pip install 'dsh-protocol[s3]'"), ("gs", "gcsfs", "gcsfs")]
)
def test_the_package_of_a_protocol_is_missing(
    run: Run, monkeypatch: pytest.MonkeyPatch, protocol: str, module: str, remedy: str
) -> None:
    monkeypatch.delitem(importlib.import_module("fsspec.registry")._registry, protocol, raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    told = says(run, f"{protocol}://bucket/log")
    assert told.startswith(f"error: {protocol}://bucket/log: a package is missing: ")
    assert remedy in told


def test_an_unknown_protocol(run: Run) -> None:
    assert "nonsense://x: Protocol not known: nonsense" in says(run, "nonsense://x")


def test_a_file_that_is_not_there(run: Run, memory: Any) -> None:
    assert says(run, "memory://a/b.jsonl") == "error: memory://a/b.jsonl: there is no such file\n"


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (PermissionError(13, "Forbidden"), "Forbidden"),
        (PermissionError("Access\nDenied"), "Access Denied"),
        (RuntimeError("no credentials \x1b[31m"), "no credentials \\u001b[31m"),
        (KeyError(), "KeyError"),
    ],
)
def test_access_is_refused(run: Run, shop: type[Shop], refusal: Exception, reason: str) -> None:
    shop.refusal = refusal
    assert says(run, "shop://a") == f"error: shop://a: {reason}\n"


def test_a_file_found_by_a_pattern_that_is_gone_when_it_is_opened_is_a_finding(
    run: Run, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe("/logs/a.jsonl", PING)
    memory.pipe("/logs/b.jsonl", PING)
    there = type(memory).cat_file

    def gone(self: Any, path: str, **how: Any) -> Any:
        return self.info("/logs/gone") if path == "/logs/a.jsonl" else there(self, path, **how)

    monkeypatch.setattr(type(memory), "cat_file", gone)  # of the class: each thread has an instance of its own
    found = run("memory://logs/*")
    assert found.exit_code == 1
    assert "memory://logs/a.jsonl" in found.stdout
    assert "there is no such file" in found.stdout


@pytest.mark.parametrize(("name", "value", "reason"), [("lost", 1, "it became shorter"), ("whole", True, "download it first")])
def test_a_file_that_changes_and_a_server_without_ranges(shop: type[Shop], name: str, value: Any, reason: str) -> None:
    shop.data = PING * 1000
    setattr(shop, name, value)
    opener: Any = remote.opener()
    with opener.open("shop://a", 99) as source, pytest.raises(OSError, match=reason) as caught:
        source.read(10)
    assert caught.value.filename == "shop://a"


def test_a_file_that_can_only_be_read_from_beginning_to_end(run: Run, shop: type[Shop]) -> None:
    shop.told = {"partial": False}
    opener = remote.opener()
    assert opener.size("shop://a") is None
    with opener.open("shop://a") as source:
        assert source.read(4) == PING[:4]
    assert "1 frame" in run("shop://a").stdout


# A real store


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    with store(BUCKET) as files:
        yield files


@pytest.mark.xdist_group("s3")
def test_logs_in_a_store(run: Run, s3: Any) -> None:
    s3.pipe(f"{BUCKET}/host-2/a.jsonl", PING)
    many = log(*(row("c2s", request(number, "ping")) for number in range(10_000)))
    s3.pipe(f"{BUCKET}/host-10/a.jsonl", many)
    s3.pipe(f"{BUCKET}/host-10/empty.jsonl", b"")
    found = run("--format", "json", f"s3://{BUCKET}/*/*.jsonl")
    assert found.exit_code == 0
    assert '"files": 3, "frames": 10001, "valid": 10001' in found.stdout
    assert '"files": 3, "frames": 10001' in run("--format", "json", f"s3://{BUCKET}").stdout
    opener: Any = remote.opener()
    with opener.open(f"s3://{BUCKET}/host-10/a.jsonl", len(many) - 5) as source:
        source.seek(len(many) - 40)
        assert source.read() + source.read() == many[-40:]
        assert source.read() == b""


@pytest.mark.xdist_group("s3")
def test_a_bucket_or_an_object_that_is_not_there(run: Run, s3: Any) -> None:
    for url in (f"s3://{BUCKET}/none", "s3://nobody-has-this/none", "s3://nobody-has-this/*", f"s3://{BUCKET}/none*"):
        assert says(run, url) == f"error: {url}: there is no such file\n"
