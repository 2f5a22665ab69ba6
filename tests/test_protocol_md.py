"""The rules of schema/PROTOCOL.md have stable ids, and whatever the product cites exists."""

from __future__ import annotations

import re
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PROTOCOL: Final = ROOT / "schema" / "PROTOCOL.md"
CITING_DIRS: Final = ("codegen", "generated", "runtime", "schema", "tests")
CITING_SUFFIXES: Final = frozenset({".py", ".json", ".md", ".jinja"})

REVISION: Final = r"(?:2026-07-29|\d+\.\d+\.\d+)"
MARKS: Final = rf"(?:\[{REVISION}(?:\+|(?:, {REVISION})*)\] )?(?:\[observed\] )?"
RULE: Final = re.compile(rf"- \*\*([TSC][1-9]\d*)\*\* {MARKS}[^\[\s].*\.`?")
CITATION: Final = re.compile(r"\b(?:[Rr]ules?|PROTOCOL\.md)\s+([TSC]\d+(?:,\s+[TSC]\d+)*)")


def rule_lines() -> list[str]:
    """Every line that names a rule in bold, well-formed or not."""
    return [line for line in PROTOCOL.read_text(encoding="utf-8").splitlines() if re.search(r"\*\*[TSC]\d", line)]


def rule_ids() -> list[str]:
    return [match[1] for match in map(RULE.fullmatch, rule_lines()) if match]


def cited_ids(text: str) -> list[str]:
    return list(chain.from_iterable(re.findall(r"[TSC]\d+", found) for found in CITATION.findall(text)))


def citing_files() -> list[Path]:
    files = chain.from_iterable((ROOT / name).rglob("*") for name in CITING_DIRS)
    return sorted(path for path in files if path.suffix in CITING_SUFFIXES and path.is_file())


def test_every_rule_is_one_well_formed_line() -> None:
    assert [line for line in rule_lines() if not RULE.fullmatch(line)] == []

    lines = PROTOCOL.read_text(encoding="utf-8").splitlines()
    after_rules = [below for above, below in pairwise(lines) if RULE.fullmatch(above)]
    assert [line for line in after_rules if line and not RULE.fullmatch(line)] == []


def test_ids_are_unique_and_without_gaps() -> None:
    ids = rule_ids()
    for letter in "TSC":
        numbers = sorted(int(rule[1:]) for rule in ids if rule[0] == letter)
        assert numbers == list(range(1, len(numbers) + 1)), letter
        assert numbers, letter


def test_every_cited_rule_exists() -> None:
    known = set(rule_ids())
    missing = [
        f"{path.relative_to(ROOT)}: {rule}"
        for path in citing_files()
        for rule in cited_ids(path.read_text(encoding="utf-8"))
        if rule not in known
    ]
    assert missing == []


def test_citations_are_found() -> None:
    assert cited_ids("see rule T1; rules S2, C3 and PROTOCOL.md T4, but not T5") == ["T1", "S2", "C3", "T4"]
