"""Logs whose lines wrap frames in a way of their own: where in a line the frame stands, and who sent it.

Both places are JSON Pointers (RFC 6901) from the command line, and so is what directions are called there: a log says `out` for
what its writer sent, and only its user knows which side that was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from .findings import Direction, Finding, Problem
from .wording import Json, Path, json_path, listing, show

_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,17}")
_ABOUT_LINES: Final = ("file/", "line/", "row/", "json/", "strict/unterminated")
"""The rules that are about a line as a whole; the others are about the frame in it."""


def pointer(text: str) -> Path:
    """The steps of a JSON Pointer; what can be an index is one. Raises `ValueError`."""
    if not _POINTER.fullmatch(text):
        reason = 'in it "~" is written "~0"' if text.startswith("/") else 'it has to begin with "/"'
        raise ValueError(f"{show(text)} is no JSON Pointer: {reason}")
    steps = (step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])
    return tuple(int(step) if _INDEX.fullmatch(step) else step for step in steps)


def words(c2s: Iterable[str], s2c: Iterable[str]) -> dict[str, Direction]:
    """The words for directions: their names, and those given. Raises `ValueError` for one that would be both."""
    found: dict[str, Direction] = {"c2s": "c2s", "s2c": "s2c"}
    given: list[tuple[str, Direction]] = [*((word, "c2s") for word in c2s), *((word, "s2c") for word in s2c)]
    for word, direction in given:
        if found.setdefault(word, direction) != direction:
            raise ValueError(f"{show(word)} can't stand for both directions")
    return found


@dataclass(frozen=True, slots=True)
class Envelope:
    """Where in a line the frame and its direction stand (None: nowhere), and the words for directions. It can be pickled."""

    frame: Path
    direction: Path | None
    words: Mapping[str, Direction]

    def opened(self, line: Json) -> tuple[Mapping[str, Json], Json | UnsetType]:
        """The object in which the frame of a line stands (an empty one: in none), and the frame, `UNSET` if there is none."""
        if not self.frame:
            return {}, line
        *steps, last = self.frame
        holder = _at(line, steps)
        return holder if isinstance(holder, dict) else {}, _at(holder, [last])

    def no_frame(self) -> Problem:
        """What is wrong with a line in which there is none."""
        return Problem("row/shape", f"the line has no frame at {json_path(self.frame)}")

    def sent(self, line: Json) -> Direction | Problem | None:
        """The direction that a line tells, or what is wrong with it."""
        if self.direction is None:
            return None
        word = _at(line, self.direction)
        text = show(word) if isinstance(word, bool | int | float) else word
        found = self.words.get(text) if isinstance(text, str) else None
        return self._no_direction(self.direction, word) if found is None else found

    def _no_direction(self, place: Path, word: Json | UnsetType) -> Problem:
        expected = f"{json_path(place)}, expected {listing([show(each) for each in self.words], 'or')}"
        if word is UNSET:
            return Problem("row/shape", f"the line has no direction at {expected}")
        hint = "--c2s and --s2c say what else stands for them"
        return Problem("row/shape", f"the line has {show(word)} at {expected}; {hint}")

    def path(self, rule: str, path: str) -> str:
        """The path of a finding, counted from the line instead of the frame."""
        return path if path == "$" and rule.startswith(_ABOUT_LINES) else json_path(self.frame) + path.removeprefix("$")

    def placed(self, finding: Finding) -> Finding:
        """The same finding, with its path counted from the line."""
        return replace(finding, path=self.path(finding.rule, finding.path))


def _at(value: Json | UnsetType, path: Iterable[str | int]) -> Json | UnsetType:
    """What stands at a path, or `UNSET`."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step), UNSET)
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step] if step < len(value) else UNSET
        else:
            return UNSET
    return value
