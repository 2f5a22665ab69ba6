"""Real logs of a real runtime: silent where it behaves, and every probe of its clients found at its place."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_codegen.frames.findings import Finding
from dsh_codegen.frames.protocol import protocols as ready
from dsh_codegen.frames.report import Report
from dsh_codegen.frames.setup import Setup
from tests.codegen.frames.sequence_logs import REVISIONS, bundle
from tests.codegen.frames.toy import report

RELEASES: Final = {"": "0.2.1", "_0.1.5rc1": "0.1.5", "_0.1.2rc1": "0.1.1", "_0.1.0rc7": "0.1.1"}
LOGS: Final = Path(__file__).parents[2] / "fixtures" / "logs"

# What deliberately bad clients sent, as (line, path). Lines that are no JSON have the path of the frame.
PROBES: Final[dict[str, set[tuple[int, str]]]] = {
    "h_initialize_errors": {
        *((line, "$.params.maxTokens") for line in (13, 15, 17, 19, 21, 23)),
        *((line, "$.params.reasoningEffort") for line in (27, 29, 31)),
        (33, "$.params.cwd"),
        (39, "$.params.provider"),
        (41, "$.params.model"),
        (43, "$.params.model"),
        (45, "$.params.provider"),
        *((line, "$.params") for line in (47, 49, 51, 53)),
        (55, "$"),
    },
    "h2_prompt_param_errors": {
        *((line, "$.params") for line in (3, 5, 10)),
        (12, "$.params.sessionId"),
        (23, "$.params.sessionId"),
        (25, "$.params.contentBlocks"),
        (30, "$.params.contentBlocks"),
        *((line, "$.params.contentBlocks[0]") for line in (76, 126, 145, 164)),
    },
    "i_protocol_edge_cases": {
        *((line, "$.method") for line in (3, 5, 7, 9, 17, 19, 21, 23, 25, 27, 29, 30, 31, 32, 47, 48, 49, 50)),
        *((line, "$.method") for line in (53, 54, 55, 56, 64, 65, 66, 68, 69)),
        *((line, "$.params") for line in (11, 13, 15)),
        *((line, "$.id") for line in (29, 30, 31, 51, 52, 66)),
        (33, "$"),
        (33, "$.params"),
        *((line, "$") for line in (34, 35, 36, 37, 38, 39, 40, 41, 42, 46, 48, 67)),
        (49, "$.jsonrpc"),
        (52, "$.error.code"),
    },
    "k2_image_errors": {
        (24, "$.params.contentBlocks[1].data"),
        (34, "$.params.contentBlocks[1].mimeType"),
        (39, "$.params.contentBlocks[1]"),
        (44, "$.params.contentBlocks[1].data"),
        (49, "$.params.contentBlocks[1]"),
        (74, "$.params.contentBlocks[1].data"),
    },
    "l1_shutdown_twice": {(27, "$.params")},
    "o1_new_methods": {(line, "$.params") for line in (5, 9, 11, 18)},
}


@pytest.fixture(scope="module")
def setups() -> list[Setup]:
    revisions = ("0.1.5", "0.2.1")
    bundles = [(revision, bundle(revision)) for revision in revisions]
    return [Setup(protocol, listed=1000) for protocol in ready(bundles, revisions)]


def told(judged: Report) -> list[Finding]:
    """What is wrong: some logs end in the middle, which is only worth a note."""
    return [finding for finding in judged.findings() if finding.severity != "note"]


def captures(reference_dir: Path) -> Iterator[Path]:
    """Those of the newest release."""
    return (path for path in sorted((reference_dir / "captures").glob("*.jsonl")) if "_0.1." not in path.name)


def test_the_server_never_breaks_the_protocol_and_every_probe_is_found(reference_dir: Path, setups: list[Setup]) -> None:
    found: dict[str, set[tuple[int, str]]] = defaultdict(set)
    from_server: list[Finding] = []
    for path in captures(reference_dir):
        judged = report(setups[1:], path)
        for finding in told(judged):
            from_server += [finding] if finding.direction != "c2s" else []
            found[path.stem].add((finding.line, finding.path))
    assert not from_server
    assert found == PROBES


def test_the_log_tells_its_revision(reference_dir: Path, setups: list[Setup]) -> None:
    told: dict[str, Any] = {}
    for path in captures(reference_dir):
        judged = report(setups, path)
        told[path.stem] = judged.candidates
    assert told.pop("l7_shutdown_before_initialize") == ("0.1.5", "0.2.1")
    assert set(told.values()) == {("0.2.1",)}


def test_all_releases_are_told_apart_and_a_broken_log_is_not_taken_for_another(reference_dir: Path) -> None:
    bundles = [(revision, bundle(revision)) for revision in REVISIONS]
    setups = [Setup(protocol) for protocol in ready(bundles, REVISIONS)]
    expected = {f"captures/v_mixed{suffix}.jsonl": revision for suffix, revision in RELEASES.items()}
    told_as = {name: report(setups, reference_dir / name).candidates for name in expected}
    assert told_as == {name: (revision,) for name, revision in expected.items()}
    for name, revision in {"healthy": "0.2.1", "broken": "0.2.1", "healthy-0.1.5": "0.1.5"}.items():
        assert report(setups, LOGS / f"{name}.jsonl").candidates == (revision,)


def test_the_older_release_speaks_the_head(reference_dir: Path, setups: list[Setup]) -> None:
    judged = report(setups, reference_dir / "captures" / "v_mixed_0.1.5rc1.jsonl")
    assert judged.candidates == ("0.1.5",)
    assert list(judged.findings()) == []


def test_bytes_of_the_wire_are_judged_like_the_rows_of_their_capture(reference_dir: Path, setups: list[Setup]) -> None:
    judged = report(setups[1:], reference_dir / "captures" / "i_protocol_edge_cases.c2s.raw")
    by_line: dict[int, set[str]] = defaultdict(set)
    for finding in told(judged):
        by_line[finding.line].add(finding.rule)
    assert by_line[32] == {"line/utf-8", "json/noise"}
    assert by_line[46] == {"json/several-values"}
    assert by_line[33] == {"method/unknown"}  # its byte order mark does no harm
    assert not {29, 30, 31} & set(by_line)  # blank lines


def test_our_own_logs_are_healthy_and_broken_as_named(setups: list[Setup]) -> None:
    for name, revision in (("healthy", "0.2.1"), ("healthy-0.1.5", "0.1.5")):
        judged = report(setups, LOGS / f"{name}.jsonl")
        assert (judged.candidates, list(judged.findings())) == ((revision,), [])
    judged = report(setups, LOGS / "broken.jsonl")
    assert judged.revision == "0.2.1"
    assert len({finding.line for finding in told(judged)}) == judged.summary.invalid > 5


def test_cases_about_dirty_logs(reference_dir: Path, setups: list[Setup], tmp_path: Path) -> None:
    lines = (reference_dir / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {case["id"]: case for case in map(json.loads, lines)}
    expected = {
        "D01": [(1, "method/unknown"), (2, "json/torn")],
        "D02": [(1, "json/glued")],
        "D04": [(1, "json/syntax"), (2, "method/unknown")],
        "D05": [(1, "json/noise"), (2, "method/unknown"), (3, "json/noise")],
        "D15": [(1, "file/encoding")],
        "D16": [(1, "frame/shape"), (2, "json/syntax")],
    }
    for name, findings in expected.items():
        given = cases[name]["input"]
        path = tmp_path / name
        path.write_bytes("".join(given["log"]).encode() if "log" in given else bytes.fromhex(given["log_hex"]))
        judged = report(setups[1:], path)
        assert [(each.line, each.rule) for each in told(judged)] == findings, name
