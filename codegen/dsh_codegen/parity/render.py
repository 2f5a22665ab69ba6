"""Agreements and differences as text for people, and as JSON, Markdown, GitHub annotations, SARIF and JUnit for programs.

Every format is one function of a list of agreements and a stream, deterministic, and harmless on a terminal: what the sides say
may come from strangers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TextIO, TypeAlias
from xml.sax.saxutils import escape as xml_escape
from xml.sax.saxutils import quoteattr

from .difference import CATEGORIES, Agreement, Difference
from .model import Place

Agreements: TypeAlias = Sequence[Agreement]

SARIF_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_STYLES: Final = MappingProxyType({"error": "red", "warning": "yellow", "note": "dim"})
_INFORMATION: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html"


def write_text(agreements: Agreements, stream: TextIO) -> None:
    """A table a revision on a terminal, lines elsewhere; then one line that sums up."""
    if stream.isatty():
        _write_table(agreements, stream)
    else:
        for agreement in agreements:
            for each in agreement.differences:
                stream.write(f"{harmless(each.where)}: {each.severity}: {each.category}: {harmless(each.consequence)}\n")
                stream.writelines(f"    {side:<10} {harmless(_said(text))}\n" for side, text in each.texts)
                stream.write(f"    {'at':<10} {', '.join([each.pointer, *(_spot(place) for _, place in each.places)])}\n")
    for agreement in agreements:
        stream.write(f"{summary(agreement)}\n")


def _write_table(agreements: Agreements, stream: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    for agreement in agreements:
        if not agreement.differences:
            continue
        table = Table(title=f"revision {harmless(agreement.revision)}", title_justify="left")
        for column in ("place", "class", *agreement.sides, "breaks", "severity"):
            table.add_column(column, overflow="fold")
        for each in agreement.differences:
            texts = dict(each.texts)
            said = (_said(texts.get(side)) for side in agreement.sides)
            cells = [each.where, each.category, *said, _breaks(each), each.severity]
            table.add_row(*(Text(harmless(cell)) for cell in cells), style=_STYLES[each.severity])
        console.print(table)


def write_json(agreements: Agreements, stream: TextIO) -> None:
    """One JSON object; ASCII only."""
    value = {"agrees": all(agreement.agrees for agreement in agreements), "revisions": [_json(each) for each in agreements]}
    stream.write(json.dumps(value, indent=1) + "\n")


def write_markdown(agreements: Agreements, stream: TextIO) -> None:
    """A heading and a table a revision."""
    for agreement in agreements:
        stream.write(f"## Revision {_cell(agreement.revision)}\n\n{_cell(summary(agreement))}\n\n")
        if agreement.differences:
            columns = ("place", "class", *agreement.sides, "breaks", "severity")
            stream.write(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n")
            for each in agreement.differences:
                texts = dict(each.texts)
                said = (_code(_said(texts.get(side))) for side in agreement.sides)
                cells = [_code(each.where), each.category, *said, _breaks(each), each.severity]
                stream.write(f"| {' | '.join(cells)} |\n")
            stream.write("\n")


def write_github(agreements: Agreements, stream: TextIO) -> None:
    """Workflow commands, which GitHub shows beside the lines of a change."""
    for agreement in agreements:
        for each in agreement.differences:
            kind = "notice" if each.severity == "note" else each.severity
            place = _odd_place(each)
            where = {} if place is None else {"file": _shown(place.file), "line": str(place.line)}
            options = {**where, "title": f"parity: {each.category}"}
            listed = ",".join(f"{key}={_command(value, ',:')}" for key, value in options.items())
            message = f"{each} ({agreement.revision}; {each.consequence})"
            stream.write(f"::{kind} {listed}::{_command(message)}\n")
        stream.write(f"{summary(agreement)}\n")


def write_sarif(agreements: Agreements, stream: TextIO) -> None:
    """SARIF 2.1.0, one run."""
    rules = [{"id": f"parity/{name}", "shortDescription": {"text": sentence}} for name, sentence in CATEGORIES.items()]
    order = list(CATEGORIES)
    results = [
        {
            "ruleId": f"parity/{each.category}",
            "ruleIndex": order.index(each.category),
            "level": each.severity,
            "message": {"text": f"{each} ({each.consequence})"},
            "locations": [_sarif_location(each, place) for _, place in each.places] or [_sarif_location(each, None)],
            "partialFingerprints": {"place/v1": f"{agreement.revision}/{each.where}/{each.category}"},
            "properties": {"revision": agreement.revision, "pointer": each.pointer, "breaks": list(each.breaks)},
        }
        for agreement in agreements
        for each in agreement.differences
    ]
    driver = {"name": "dsh-codegen parity", "informationUri": _INFORMATION, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    stream.write(json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n")


def write_junit(agreements: Agreements, stream: TextIO) -> None:
    """JUnit XML: a suite a revision, a case a class of comparison."""
    cases = len(agreements) * len(CATEGORIES)
    failed = {agreement.revision: _failing(agreement) for agreement in agreements}
    failures = sum(map(len, failed.values()))
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(f'<testsuites name="parity" tests="{cases}" failures="{failures}" errors="0">\n')
    for agreement in agreements:
        bad = failed[agreement.revision]
        name = quoteattr(harmless(agreement.revision))
        stream.write(f' <testsuite name={name} tests="{len(CATEGORIES)}" failures="{len(bad)}" errors="0" skipped="0">\n')
        for category, sentence in CATEGORIES.items():
            lines = [f"{each} ({each.consequence})" for each in agreement.differences if each.category == category]
            body = xml_escape(harmless("\n".join(lines), keep="\n"))
            case = f'<testcase classname={quoteattr("parity." + harmless(agreement.revision))} name="{category}"'
            if category in bad:
                stream.write(f"  {case}>\n   <failure message={quoteattr(sentence)}>{body}</failure>\n  </testcase>\n")
            elif lines:
                stream.write(f"  {case}>\n   <system-out>{body}</system-out>\n  </testcase>\n")
            else:
                stream.write(f"  {case}/>\n")
        stream.write(" </testsuite>\n")
    stream.write("</testsuites>\n")


RENDERERS: Final[Mapping[str, Callable[[Agreements, TextIO], None]]] = MappingProxyType(
    {
        "text": write_text,
        "json": write_json,
        "md": write_markdown,
        "github": write_github,
        "sarif": write_sarif,
        "junit": write_junit,
    }
)
"""Every format by its name."""


def summary(agreement: Agreement) -> str:
    """`0.2.1: schema, python and typescript agree: 295 definitions, 931 members, 11 methods compared`."""
    counts = ", ".join(_count(count, what.removesuffix("s")) for what, count in agreement.compared.items())
    sides = ", ".join(agreement.sides[:-1]) + f" and {agreement.sides[-1]}"
    found = {level: sum(each.severity == level for each in agreement.differences) for level in ("error", "warning", "note")}
    listed = ", ".join(_count(count, level) for level, count in found.items() if count)
    verdict = "agree" if agreement.agrees else "differ"
    text = f"{agreement.revision}: {sides} {verdict}: {counts} compared{f'; {listed}' if listed else ''}"
    if agreement.uncovered or agreement.unmatched:
        mine, theirs = _count(len(agreement.uncovered), "definition"), _count(len(agreement.unmatched), "type")
        text += f"; without a counterpart: {mine} of the schema, {theirs} of the others"
    return harmless(text)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def harmless(text: str, keep: str = "") -> str:
    """`text` with whatever a terminal might obey, or XML refuses, written as an escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else f"\\u{ord(char):04x}" for char in text)


def _json(agreement: Agreement) -> dict[str, Any]:
    return {
        "revision": agreement.revision,
        "sides": list(agreement.sides),
        "agrees": agreement.agrees,
        "compared": dict(agreement.compared),
        "differences": [
            {
                "class": each.category,
                "definition": each.definition,
                "path": each.path,
                "texts": dict(each.texts),
                "between": [list(pair) for pair in each.between],
                "relation": each.relation,
                "breaks": list(each.breaks),
                "severity": each.severity,
                "pointer": each.pointer,
                "places": {side: {"file": _shown(place.file), "line": place.line} for side, place in each.places},
            }
            for each in agreement.differences
        ],
        "uncovered": list(agreement.uncovered),
        "unmatched": list(agreement.unmatched),
    }


def _failing(agreement: Agreement) -> set[str]:
    return {each.category for each in agreement.differences if each.severity != "note"}


def _sarif_location(difference: Difference, place: Place | None) -> dict[str, Any]:
    logical = {"logicalLocations": [{"fullyQualifiedName": difference.where, "kind": "member"}]}
    if place is None:
        return logical
    region = {"startLine": max(place.line, 1)}
    artifact = {"uri": Path(_shown(place.file)).as_uri() if Path(_shown(place.file)).is_absolute() else _uri(place.file)}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}, **logical}


def _uri(file: str) -> str:
    from urllib.parse import quote

    return quote(Path(_shown(file)).as_posix())


def _odd_place(difference: Difference) -> Place | None:
    """The place to look at: that of the side which all others contradict, or else of one that is not the schema."""
    alone = [side for side, _ in difference.texts if all(side in pair for pair in difference.between)]
    places = [place for side, place in difference.places if side in alone] or [place for _, place in difference.places]
    return places[-1] if places else None


def _breaks(difference: Difference) -> str:
    return " and ".join(difference.breaks) or "none"


def _said(text: str | None) -> str:
    return "-" if text is None else text


def _spot(place: Place) -> str:
    return harmless(f"{_shown(place.file)}:{place.line}")


def _shown(file: str) -> str:
    """Relative to the working directory where it lies below it."""
    path = Path(file)
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else file


def _code(text: str) -> str:
    text = _cell(text)
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def _cell(text: str) -> str:
    return harmless(text).replace("|", "\\|")


def _command(text: str, also: str = "") -> str:
    """Data of a workflow command, escaped as it asks for."""
    for char in "%\r\n" + also:
        text = text.replace(char, f"%{ord(char):02X}")
    return harmless(text)
