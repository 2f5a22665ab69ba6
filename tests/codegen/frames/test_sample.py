"""Names in bounded memory: the same ones are kept, with the same counts, however the input was cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen.frames.observing.sample import Distinct, Key, Sample, hash64, shortened
from dsh_codegen.frames.observing.seen import Seen

KEYS = st.tuples(st.sampled_from("ab"), st.integers(0, 30).map(str))


def sampled(keys: list[Key], limit: int = 6) -> Sample[Seen]:
    sample = Sample[Seen](limit)
    for line, key in enumerate(keys, 1):
        seen = sample.get(key)
        if seen is None:
            sample.put(key, Seen(1, line))
        else:
            seen.count += 1
    sample.cut()
    return sample


@given(st.lists(KEYS, max_size=120), st.lists(st.integers(0, 120), max_size=4))
def test_any_cutting_gives_the_same_sample(keys: list[Key], cuts: list[int]) -> None:
    bounds = sorted({0, len(keys), *(cut for cut in cuts if cut < len(keys))})
    whole = Sample[Seen](6)
    for start, end in pairwise(bounds):
        whole.merge(sampled(keys[start:end]), "log", start)
    at_once = Sample[Seen](6)
    at_once.merge(sampled(keys), "log", 0)
    assert whole == at_once
    assert list(whole.entries) == list(at_once.entries)


@given(st.lists(KEYS, max_size=60), st.lists(KEYS, max_size=60), st.lists(KEYS, max_size=60))
def test_merging_is_associative(first: list[Key], second: list[Key], third: list[Key]) -> None:
    left = sampled(first)
    left.merge(sampled(second), None, len(first))
    left.merge(sampled(third), None, len(first + second))
    right = sampled(second)
    right.merge(sampled(third), None, len(second))
    whole = sampled(first)
    whole.merge(right, None, len(first))
    assert left == whole


@given(st.lists(KEYS, max_size=120))
def test_what_is_kept_has_its_full_count_and_the_rest_is_counted(keys: list[Key]) -> None:
    sample = sampled(keys)
    assert len(sample.entries) == min(6, len(set(keys)))
    for key, seen in sample.entries.items():
        assert (seen.count, seen.line) == (keys.count(key), keys.index(key) + 1)
    assert sample.left_out + sum(seen.count for seen in sample.entries.values()) == len(keys)


def test_a_flood_of_names_in_one_group_leaves_room_for_the_others() -> None:
    flood: list[Key] = [("flood", str(number)) for number in range(1000)]
    sample = sampled([*flood[:500], ("quiet", "one"), ("quiet", "two"), *flood[500:]])
    assert [key for key in sample.entries if key[0] == "quiet"] == [("quiet", "one"), ("quiet", "two")]
    assert (len(sample.entries), sample.left_out) == (6, 996)


def test_long_names_are_shortened() -> None:
    long = "x" * 1_000_000
    assert shortened("x" * 60) == "x" * 60
    assert shortened(long) == "x" * 59 + "…"
    assert len(shortened(long, unique=True)) <= 60
    assert shortened(long, unique=True) != shortened(long + "y", unique=True)
    assert shortened("\ud800" * 100, unique=True).startswith("\ud800")


def test_few_different_texts_are_counted_exactly() -> None:
    distinct = Distinct(limit=100)
    for number in range(500):
        distinct.add(str(number % 99))
    assert (distinct.count, distinct.exact) == (99, True)


@given(st.lists(st.integers(0, 40).map(str), max_size=200), st.integers(0, 200))
def test_an_estimate_does_not_depend_on_cuts(texts: list[str], cut: int) -> None:
    def counted(some: list[str]) -> Distinct:
        distinct = Distinct(limit=8)
        for text in some:
            distinct.add(text)
        distinct.cut()
        return distinct

    parts = counted(texts[:cut])
    parts.merge(counted(texts[cut:]))
    assert parts == counted(texts)
    assert parts.exact is (len(set(texts)) < 8)


def test_an_estimate_is_near() -> None:
    distinct = Distinct(limit=1000)
    for number in range(50_000):
        distinct.add(str(number))
    distinct.cut()
    assert not distinct.exact
    assert abs(distinct.count - 50_000) < 5_000  # three standard deviations


def test_a_hash_is_the_same_on_every_machine() -> None:
    assert hash64("session-1") == 12558777036138866604
