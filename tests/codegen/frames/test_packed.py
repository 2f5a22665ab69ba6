"""gzip and zstd: what is whole is unpacked, what is not is told after all that came before it."""

from __future__ import annotations

import gzip
import importlib
import io
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen.frames import packed
from dsh_codegen.frames.heads import BrokenError, InputError, Packing
from dsh_codegen.frames.packed import STEP, unpacked

zstd: Any = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

Pack = Callable[[bytes], bytes]

KINDS: list[tuple[Packing, Pack]] = [("gzip", gzip.compress), ("zstd", zstd.compress)]
each_kind = pytest.mark.parametrize(("kind", "pack"), KINDS, ids=["gzip", "zstd"])


@pytest.fixture(params=["isal", "zlib"])
def gzip_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "zlib":
        monkeypatch.setitem(sys.modules, "isal", None)
    return str(request.param)


def text(size: int) -> bytes:
    """Text that packs neither very well nor not at all."""
    chance = random.Random(size)
    return b"".join(b'{"id":%d}\n' % chance.getrandbits(40) for _ in range(size // 15))


def chunked(data: bytes, size: int = 4096) -> Iterator[bytes]:
    return iter([data[at : at + size] for at in range(0, len(data), size)])


def unpack(data: bytes, kind: Packing, known: int | None = None, size: int = 4096) -> tuple[bytes, str, str]:
    """What comes, then the rule that is broken and why; empty if all is well."""
    out = io.BytesIO()
    try:
        for part in unpacked(chunked(data, size), kind, known):
            assert 0 < len(part) <= STEP
            out.write(part)
    except BrokenError as error:
        return out.getvalue(), error.rule, str(error)
    return out.getvalue(), "", ""


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5), st.integers(1, 50), st.sampled_from(KINDS), st.booleans())
def test_members_follow_each_other_wherever_reads_end(
    members: list[bytes], size: int, how: tuple[Packing, Pack], exact: bool
) -> None:
    kind, pack = how
    data = b"".join(pack(member) for member in members)
    assert unpack(data, kind, 0 if exact else None, size) == (b"".join(members), "", "")


@each_kind
def test_a_small_file_that_unpacks_to_a_large_one_comes_in_steps(kind: Packing, pack: Pack, gzip_by: str) -> None:
    assert unpack(pack(bytes(20 * STEP + 5)), kind)[0] == bytes(20 * STEP + 5)


@each_kind
@pytest.mark.parametrize("missing", [1, 8, 1000])
def test_what_is_truncated_gives_what_it_has(kind: Packing, pack: Pack, missing: int, gzip_by: str) -> None:
    data = text(1_000_000)
    found, rule, reason = unpack(pack(data)[:-missing], kind)
    assert (rule, reason) == ("file/truncated", "the packed data ends before its time")
    assert data.startswith(found)
    assert len(found) > 500_000


@each_kind
def test_zeros_that_fill_up_a_block_do_no_harm(kind: Packing, pack: Pack, gzip_by: str) -> None:
    assert unpack(pack(b"a\n") + bytes(10_000), kind) == (b"a\n", "", "")
    assert unpack(pack(b"a\n") + bytes(10_000) + pack(b"b\n"), kind) == (b"a\nb\n", "", "")


@each_kind
@pytest.mark.parametrize("more", [b"garbage", b"x", bytes(5000) + b"\x1f"])
def test_other_bytes_at_the_end_are_told(kind: Packing, pack: Pack, more: bytes, gzip_by: str) -> None:
    found, rule, reason = unpack(pack(b"a\n") + more, kind)
    assert (found, rule) == (b"a\n", "file/corrupt")
    assert reason == f"what follows the packed data is not {kind} but something else"


def damaged(pack: Pack, data: bytes) -> bytes:
    packed = pack(data)
    middle = len(packed) // 2
    return packed[:middle] + bytes(255 - byte for byte in packed[middle : middle + 200]) + packed[middle + 200 :]


def test_damage_in_the_middle_of_gzip_is_told(gzip_by: str) -> None:
    data = text(1_000_000)
    found, rule, reason = unpack(damaged(gzip.compress, data), "gzip")
    assert rule == "file/corrupt"
    assert reason.startswith("the packed data is damaged (")
    assert data[: len(found) // 2] == found[: len(found) // 2]


@each_kind
def test_a_second_time_gives_all_that_comes_before_the_damage(kind: Packing, pack: Pack) -> None:
    checked = {zstd.CompressionParameter.checksum_flag: 1} if kind == "zstd" else None
    data = text(1_500_000)
    broken = damaged(pack if checked is None else lambda plain: zstd.compress(plain, options=checked), data)
    first, rule, _ = unpack(broken, kind)
    second, again, _ = unpack(broken, kind, len(first), 256)
    assert rule == again == "file/corrupt"
    assert second.startswith(first)
    assert second[:700_000] == data[:700_000]  # what follows may be decoded to something else first


@pytest.mark.parametrize(
    ("kind", "pack"),
    [("gzip", gzip.compress), ("zstd", lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1}))],
)
def test_a_wrong_checksum_is_damage_after_all_there_is(kind: Packing, pack: Pack) -> None:
    data = text(100_000)
    whole = pack(data)
    at = 8 if kind == "gzip" else 1
    broken = whole[:-at] + bytes((255 - whole[-at],)) + whole[len(whole) - at + 1 :]
    first, rule, _ = unpack(broken, kind)
    second, again, _ = unpack(broken, kind, len(first), 256)
    assert rule == again == "file/corrupt"
    assert (len(first) < len(data), second) == (True, data)


def test_frames_that_are_to_be_skipped_are_skipped() -> None:
    skipped = b"\x5f\x2a\x4d\x18\x05\x00\x00\x00hello"
    data = skipped + zstd.compress(b"a\n") + skipped + skipped + zstd.compress(b"b\n") + skipped
    assert unpack(data, "zstd") == (b"a\nb\n", "", "")


def long_distance(window: int) -> bytes:
    options = {zstd.CompressionParameter.window_log: window, zstd.CompressionParameter.enable_long_distance_matching: 1}
    compressor = zstd.ZstdCompressor(options=options)
    return bytes(compressor.compress(b"a\n") + compressor.flush())


def test_large_windows_are_read_and_larger_ones_refused() -> None:
    assert unpack(long_distance(27), "zstd") == (b"a\n", "", "")
    found, rule, reason = unpack(long_distance(28), "zstd")
    assert (found, rule) == (b"", "file/corrupt")
    assert "more than 128 MiB" in reason
    assert "zstd -dc --long=31" in reason


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, zstd.__name__, None)
    with pytest.raises(InputError, match=r"needs the package .*pip install .* zstd -dc FILE"):
        packed.codec("zstd")
