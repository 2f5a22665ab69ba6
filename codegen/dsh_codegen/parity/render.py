"""Agreements and differences as text for people, and as JSON, Markdown, GitHub annotations, SARIF and JUnit for programs.

Every format is one function of a list of agreements and a stream, deterministic, and harmless on a terminal: what the sides say
may come from strangers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TextIO, TypeAlias

from ..markup import github, junit, markdown, sarif
from ..markup.files import relative
from ..markup.text import ascii_json, counted, harmless
from .difference import CATEGORIES, Agreement, Difference
from .model import Place

Agreements: TypeAlias = Sequence[Agreement]

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
                places = [harmless(each.pointer), *(_spot(place) for _, place in each.places)]
                stream.write(f"    {'at':<10} {', '.join(places)}\n")
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
    stream.write(f"{ascii_json(value, indent=1)}\n")


def write_markdown(agreements: Agreements, stream: TextIO) -> None:
    """A heading and a table a revision."""
    for agreement in agreements:
        stream.write(f"## Revision {markdown.plain(agreement.revision)}\n\n{markdown.plain(summary(agreement))}\n\n")
        if agreement.differences:
            columns = ("place", "class", *agreement.sides, "breaks", "severity")
            stream.writelines(markdown.table(columns, [_cells(agreement, each) for each in agreement.differences]))
            stream.write("\n")


def _cells(agreement: Agreement, each: Difference) -> list[str]:
    texts = dict(each.texts)
    said = (markdown.code(_said(texts.get(side))) for side in agreement.sides)
    return [markdown.code(each.where), each.category, *said, _breaks(each), each.severity]


def write_github(agreements: Agreements, stream: TextIO) -> None:
    """Workflow commands, which GitHub shows beside the lines of a change."""
    for agreement in agreements:
        for each in agreement.differences:
            message = f"{each} ({agreement.revision}; {each.consequence})"
            place = _odd_place(each)
            where = (None, None) if place is None else (place.file, place.line)
            stream.write(f"{github.annotation(each.severity, f'parity: {each.category}', message, *where)}\n")
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
            "locations": [sarif.location(place.file, place.line, each.where) for _, place in each.places]
            or [sarif.location(None, None, each.where)],
            "partialFingerprints": {"place/v1": f"{agreement.revision}/{each.where}/{each.category}"},
            "properties": {"revision": agreement.revision, "pointer": each.pointer, "breaks": list(each.breaks)},
        }
        for agreement in agreements
        for each in agreement.differences
    ]
    run = sarif.run({"name": "dsh-codegen parity", "informationUri": _INFORMATION, "rules": rules})
    stream.write(f"{ascii_json(sarif.document({**run, 'results': results}), indent=1)}\n")


def write_junit(agreements: Agreements, stream: TextIO) -> None:
    """JUnit XML: a suite a revision, a case a class of comparison."""
    suites = [
        junit.Suite(agreement.revision, [_case(agreement, category, sentence) for category, sentence in CATEGORIES.items()])
        for agreement in agreements
    ]
    junit.write(stream, "parity", suites)


def _case(agreement: Agreement, category: str, sentence: str) -> junit.Case:
    found = [each for each in agreement.differences if each.category == category]
    failed = any(each.severity != "note" for each in found)
    lines = [f"{each} ({each.consequence})" for each in found]
    return junit.Case(f"parity.{agreement.revision}", category, "failure" if failed else "passed", sentence, lines)


RENDERERS: Final[Mapping[str, Callable[[Agreements, TextIO], None]]] = MappingProxyType(
    {
        "text": write_text,
        "json": write_json,
        "markdown": write_markdown,
        "md": write_markdown,
        "github": write_github,
        "sarif": write_sarif,
        "junit": write_junit,
    }
)
"""Every format by its name."""


def summary(agreement: Agreement) -> str:
    """`0.2.1: schema, python and typescript agree: 295 definitions, 931 members, 11 methods compared`."""
    counts = ", ".join(counted(count, what.removesuffix("s")) for what, count in agreement.compared.items())
    sides = ", ".join(agreement.sides[:-1]) + f" and {agreement.sides[-1]}"
    found = {level: sum(each.severity == level for each in agreement.differences) for level in ("error", "warning", "note")}
    listed = ", ".join(counted(count, level) for level, count in found.items() if count)
    verdict = "agree" if agreement.agrees else "differ"
    text = f"{agreement.revision}: {sides} {verdict}: {counts} compared{f'; {listed}' if listed else ''}"
    if agreement.uncovered or agreement.unmatched:
        mine, theirs = counted(len(agreement.uncovered), "definition"), counted(len(agreement.unmatched), "type")
        text += f"; without a counterpart: {mine} of the schema, {theirs} of the others"
    return harmless(text)


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
                "places": {side: {"file": relative(place.file), "line": place.line} for side, place in each.places},
            }
            for each in agreement.differences
        ],
        "uncovered": list(agreement.uncovered),
        "unmatched": list(agreement.unmatched),
    }


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
    return harmless(f"{relative(place.file)}:{place.line}")
