"""Percentiles are within the error that is promised; everything else is exact, however the numbers were split."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from dsh_codegen.frames.observing.histogram import ERROR, Histogram

NUMBERS = st.one_of(st.integers(0, 300), st.integers(0, 10**6), st.integers(0, 2**63 - 1))


def counted(numbers: list[int]) -> Histogram:
    histogram = Histogram()
    for number in numbers:
        histogram.add(number)
    return histogram


def nearest_rank(numbers: list[int], percent: int) -> int:
    return sorted(numbers)[max(0, -(-len(numbers) * percent // 100) - 1)]


@given(st.lists(NUMBERS, min_size=1), st.integers(1, 100))
@example([0], 50)
@example([2**63 - 1] * 3, 99)
@example(list(range(1000)), 99)
def test_percentiles_are_nearly_those_of_the_sorted_numbers(numbers: list[int], percent: int) -> None:
    found = counted(numbers).percentile(percent)
    true = nearest_rank(numbers, percent)
    assert found is not None
    assert abs(found - true) <= true * ERROR
    assert found == true or true >= 128


@given(st.lists(NUMBERS))
def test_count_sum_and_ends_are_exact(numbers: list[int]) -> None:
    histogram = counted(numbers)
    ends = (min(numbers), max(numbers)) if numbers else (None, None)
    assert (histogram.count, histogram.total) == (len(numbers), sum(numbers))
    assert (histogram.least, histogram.most) == ends


@given(st.lists(NUMBERS), st.lists(NUMBERS))
def test_parts_merge_into_the_whole_and_stay_as_they_are(some: list[int], others: list[int]) -> None:
    histogram, other = counted(some), counted(others)
    histogram.merge(other)
    assert histogram == counted(some + others)
    assert other == counted(others)


def test_nothing_has_no_percentiles() -> None:
    assert Histogram().percentile(50) is None


def test_a_million_different_numbers_take_few_buckets() -> None:
    histogram = counted([number**3 for number in range(0, 2_000_000, 200)])
    assert len(histogram.buckets) < 3712
    huge = counted([2**80])
    assert (huge.most, len(huge.buckets)) == (2**63 - 1, 1)
