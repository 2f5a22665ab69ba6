"""Reported defects of other transports: each is covered by a case here, or a rule of PROTOCOL.md asks for something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.runtime import (
    test_asyncio,
    test_behaviour,
    test_capture,
    test_connection,
    test_faults,
    test_json_suite,
    test_threads,
)
from tests.runtime.cases import CASES

COVERED: Final[dict[str, str]] = {
    "C01": "long_lines",
    "C03": "test_a_line_over_the_limit test_a_line_without_end_takes_no_memory",
    "C04": "a_character_split_over_chunks",
    "C05": "test_one_byte_at_a_time test_any_chunks",
    "C06": "odd_blanks_around_a_frame what_we_write",
    "C08": "only_line_feeds_end_lines",
    "C09": "odd_blanks_around_a_frame",
    "C10": "garbage_is_skipped",
    "C11": "garbage_is_skipped test_what_an_observer_sees",
    "C13": "garbage_is_skipped test_what_is_no_json",
    "C15": "bytes_that_are_no_utf8",
    "C16": "params_that_are_not_json test_bytes_on_the_wire",
    "C17": "params_that_are_not_json test_what_is_no_json",
    "C18": "test_open_verdicts test_huge_integers",
    "C19": "test_deep_nesting_is_refused_both_ways",
    "C21": "ids_and_methods",
    "C23": "responses_nobody_waits_for",
    "C25": "ids_and_methods",
    "C26": "an_id_used_twice",
    "C27": "responses_nobody_waits_for",
    "C28": "responses_nobody_waits_for",
    "C29": "both_sides_use_the_same_id",
    "C31": "an_abandoned_call a_cancelled_submission",
    "C33": "error_responses results",
    "C34": "error_responses",
    "C35": "error_responses",
    "C36": "test_an_error_without_an_id",
    "C37": "garbage_is_skipped",
    "C38": "garbage_is_skipped",
    "C39": "params_that_are_no_object",
    "C40": "ids_and_methods nobody_to_handle_it",
    "C42": "frames_are_read_generously test_the_observer_sees_every_line",
    "C43": "failing_handlers",
    "C45": "test_a_handler_that_ends_in_any_way_is_answered",
    "C46": "failing_notification_handlers",
    "C47": "handlers_that_call_back_three_deep",
    "C48": "notifications_keep_their_order a_slow_handler_delays_no_other",
    "C49": "notifications_and_responses_keep_their_order a_notification_handler_that_calls_back",
    "C50": "answers_out_of_order",
    "C51": "the_end_of_the_input test_the_peer_dies_during_a_thousand_requests",
    "C58": "test_a_peer_that_stops_reading_and_goes_on_writing",
    "C61": "test_a_flood_waits_in_the_pipe_while_a_handler_is_slow",
    "C62": "test_senders_wait_for_a_peer_that_does_not_read",
    "C67": "test_no_pending_entry_is_left",
}

DEPARTURES: Final[dict[str, tuple[str, str]]] = {
    "C09": ("T3", "a byte order mark is trimmed from any line, not from the first one only"),
    "C11": ("T8", "any number of stray lines is dropped; they are counted and observed, and end nothing"),
    "C15": ("T6", "the frame survives with U+FFFD in place of what is no UTF-8"),
    "C17": ("T8", "NaN in the input is dropped without a reply"),
    "C18": (
        "T8",
        "an integer of any length is valid JSON, so the frame is handled: the number is infinite, as in the real runtime",
    ),
    "C19": ("T37", "there is no -32700: a line that is nested too deeply is dropped"),
    "C31": ("T47", "nothing is sent when a call is abandoned"),
    "C33": ("T48", "a response without result is the result None"),
    "C35": ("T48", "an error that is no object makes no error: the call gets the result"),
    "C37": ("T9", "dropped without a reply"),
    "C38": ("T10", "dropped without a reply"),
    "C39": ("T27", "params that are no object reach the handler as {}"),
    "C40": ("T18", "an id without a method, or with one that is no string, is a response"),
    "C43": ("T33", "the message is the text of the exception, whatever that is"),
}
"""What differs from the expectation, by the rule that wins; the rest of the expectation holds."""

ELSEWHERE: Final = {
    "C12": "the server's standard output",
    "C54": "the server's process",
    "C55": "the client's closing ladder",
    "C57": "signals, of both processes",
    "C59": "the client's reader of standard error",
    "C64": "Windows, which is not supported",
    "C66": "the client's launch",
}


def test_every_case_has_its_place(reference_dir: Path) -> None:
    lines = (reference_dir / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    ids = {case["id"] for case in map(json.loads, lines) if case["area"] == "c"}
    assert ids == COVERED.keys() | ELSEWHERE.keys()
    assert not COVERED.keys() & ELSEWHERE.keys()
    assert DEPARTURES.keys() <= COVERED.keys()


def test_every_test_named_here_exists() -> None:
    modules: tuple[Any, ...] = (
        test_asyncio, test_behaviour, test_capture, test_connection, test_faults, test_json_suite, test_threads,
    )  # fmt: skip
    known = {str(case) for case in CASES} | {name for module in modules for name in vars(module)}
    assert {name for names in COVERED.values() for name in names.split()} <= known


@pytest.mark.parametrize("rule", sorted({rule for rule, _ in DEPARTURES.values()}))
def test_departures_cite_rules(rule: str) -> None:
    text = (Path(__file__).parents[2] / "schema" / "PROTOCOL.md").read_text(encoding="utf-8")
    assert f"- **{rule}** " in text
