"""Every line of a file is in exactly one piece, whole, wherever the file is cut and however it is read."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen.frames.findings import Problem
from dsh_codegen.frames.flow import Cutter, cut
from dsh_codegen.frames.heads import BrokenError
from dsh_codegen.frames.source import Batch, Overlong, Piece, batches

Line = tuple[int, bytes | int, bool]
"""Where it begins, its bytes (or how many, if they were not kept), whether a line feed ends it."""

texts = st.lists(st.sampled_from([b"\n", b"\n", b"\n\n", b"\r\n", b"a", b"bc", b"\x00", b"\xff", b"0123456789" * 3])).map(
    b"".join
)


def plain(data: bytes, max_line: int) -> list[Line]:
    """The lines of a file by the shortest way there is."""
    *whole, rest = data.split(b"\n")
    lines = [(line, True) for line in whole] + ([(rest, False)] if rest else [])
    found: list[Line] = []
    offset = 0
    for line, ended in lines:
        found.append((offset, line if len(line) <= max_line else len(line), ended))
        offset += len(line) + 1
    return found


def flat(parts: Iterable[Batch | Overlong]) -> Iterator[Line]:
    for part in parts:
        if isinstance(part, Overlong):
            yield part.offset, part.size, part.terminated
            continue
        assert part.lines, "no batch is empty"
        offset = part.offset
        assert part.size == sum(map(len, part.lines))
        assert part.terminated is part.lines[-1].endswith(b"\n")
        for line in part.lines:
            yield offset, line.removesuffix(b"\n"), line.endswith(b"\n")
            offset += len(line)


def opener(data: bytes) -> BinaryIO:
    return io.BytesIO(data)


@given(texts, st.lists(st.integers(0, 200)), st.integers(1, 20), st.integers(1, 40))
def test_pieces_have_the_lines_of_the_whole(data: bytes, cuts: list[int], block: int, max_line: int) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [Piece("f", "u", start, end) for start, end in pairwise(edges)]
    found = [line for piece in pieces for line in flat(batches(piece, max_line, lambda _: opener(data), block=block))]
    assert found == plain(data, max_line)


@given(texts, st.integers(1, 20), st.integers(1, 40))
def test_a_piece_without_an_end_has_all_that_follows(data: bytes, block: int, max_line: int) -> None:
    whole = list(flat(batches(Piece("f", "u", 0, None), max_line, lambda _: opener(data), block=block)))
    assert whole == plain(data, max_line)


@given(st.lists(texts), st.integers(1, 20), st.integers(1, 40), st.integers(1, 60))
def test_bytes_that_come_one_after_another_are_cut_into_whole_lines(
    chunks: list[bytes], block: int, max_line: int, size: int
) -> None:
    pieces = list(cut(filter(None, chunks), Cutter("f", "u", max_line, size)))
    assert all(isinstance(piece, Piece) for piece in pieces)
    found = [piece for piece in pieces if isinstance(piece, Piece)]
    assert [piece.last for piece in found] == [False] * (len(found) - 1) + [True]
    assert [piece.start for piece in found] == [0, *(piece.end for piece in found[:-1])]
    lines = [line for piece in found for line in flat(batches(piece, max_line, block=block))]
    assert lines == plain(b"".join(chunks), max_line)


def test_a_piece_reads_no_further_than_its_last_line() -> None:
    class Counted(io.BytesIO):
        taken = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            self.taken += len(data)
            return data

    source = Counted(b"x" * 9 + b"\n" + b"y" * 1000)
    assert list(batches(Piece("f", "u", 0, 10), 100, lambda _: source, block=4)) == [Batch(0, [b"x" * 9 + b"\n"], 10)]
    assert source.taken == 10 + 4  # one block beyond, in which a line begins that is not its own


def test_what_was_appended_since_the_cuts_were_made_ends_the_last_line_and_is_no_other_one() -> None:
    grown = b"01234567\n9 and more\nnew\n"
    found = flat(batches(Piece("f", "u", 0, 10), 100, lambda _: opener(grown)))
    assert list(found) == [(0, b"01234567", True), (9, b"9 and more", True)]


def test_a_file_that_became_shorter_ends_earlier() -> None:
    assert list(batches(Piece("f", "u", 0, 10), 100, lambda _: opener(b"ab"))) == [Batch(0, [b"ab"], 2)]
    assert list(batches(Piece("f", "u", 5, 10), 100, lambda _: opener(b"ab"))) == []


def test_local_files_are_opened_by_their_path_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a\nb")
    assert list(flat(batches(Piece("log", str(path), 0, 3), 100))) == [(0, b"a", True), (2, b"b", False)]
    with pytest.raises(FileNotFoundError):
        list(batches(Piece("log", str(tmp_path / "none"), 0, 3), 100))


def test_a_line_without_end_takes_no_memory_beyond_the_limit() -> None:
    class Endless(io.RawIOBase):
        left = 64 << 20

        def read(self, size: int = -1, /) -> bytes:
            size = min(size, self.left)
            self.left -= size
            return b"x" * size

    tracemalloc.start()
    try:
        parts = list(batches(Piece("f", "u", 0, None), 1 << 20, lambda _: Endless()))  # type: ignore[arg-type,return-value]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert parts == [Overlong(0, 64 << 20, False)]
    assert peak < 2 << 20


def test_what_breaks_off_is_read_as_far_as_its_lines_are_whole() -> None:
    def chunks() -> Iterator[bytes]:
        yield b"a\nb"
        raise BrokenError("file/corrupt", "it is damaged")

    piece, problem = cut(chunks(), Cutter("f", "u", 100))
    assert piece == Piece("f", "u", 0, 2, b"a\n")
    says = "it is damaged; 3 bytes of text came before that; the last 1 of them are no whole line and were not read"
    assert problem == Problem("file/corrupt", says)
