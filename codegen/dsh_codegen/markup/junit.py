"""JUnit XML: suites of cases. Written in ASCII, so that it is what it says, UTF-8, whatever the encoding of the stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TextIO, TypeAlias

from .text import harmless

Verdict: TypeAlias = Literal["passed", "failure", "error"]
"""What became of a case. error: it could not be decided."""

_IN_TEXT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_IN_ATTRIBUTE: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that was checked. `message` says what is asked for; `lines` what was found, also if it passed."""

    suite: str
    name: str
    verdict: Verdict
    message: str
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases that belong together."""

    name: str
    cases: Sequence[Case]
    properties: Mapping[str, str] = field(default_factory=dict[str, str])

    def count(self, verdict: Verdict) -> int:
        """How many cases came out like that."""
        return sum(case.verdict == verdict for case in self.cases)


def write(stream: TextIO, name: str, suites: Sequence[Suite]) -> None:
    """A document of suites."""
    tests = sum(len(suite.cases) for suite in suites)
    failures, errors = (sum(suite.count(verdict) for suite in suites) for verdict in ("failure", "error"))
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(f'<testsuites name={_attribute(name)} tests="{tests}" failures="{failures}" errors="{errors}">\n')
    for suite in suites:
        counts = f'failures="{suite.count("failure")}" errors="{suite.count("error")}"'
        stream.write(f' <testsuite name={_attribute(suite.name)} tests="{len(suite.cases)}" {counts} skipped="0">\n')
        if suite.properties:
            stream.write("  <properties>\n")
            pairs = ((_attribute(key), _attribute(value)) for key, value in suite.properties.items())
            stream.writelines(f"   <property name={key} value={value}/>\n" for key, value in pairs)
            stream.write("  </properties>\n")
        for case in suite.cases:
            _write_case(stream, case)
        stream.write(" </testsuite>\n")
    stream.write("</testsuites>\n")


def _write_case(stream: TextIO, case: Case) -> None:
    body = _text("\n".join(case.lines))
    stream.write(f"  <testcase classname={_attribute(case.suite)} name={_attribute(case.name)}")
    if case.verdict != "passed":
        message = f"message={_attribute(case.message)}"
        stream.write(f">\n   <{case.verdict} {message}>{body}</{case.verdict}>\n  </testcase>\n")
    elif case.lines:
        stream.write(f">\n   <system-out>{body}</system-out>\n  </testcase>\n")
    else:
        stream.write("/>\n")


def _text(text: str) -> str:
    return _ascii(harmless(text, keep="\n").translate(_IN_TEXT))


def _attribute(text: str) -> str:
    return f'"{_ascii(harmless(text).translate(_IN_ATTRIBUTE))}"'


def _ascii(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")
