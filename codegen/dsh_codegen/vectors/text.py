"""Strings that a pattern takes, and strings beside them that it refuses.

A pattern here is a portable one (see `load.patterns`): literals, classes, groups, alternatives, quantifiers and anchors.
Looking ahead is not solved but tried: a text counts only when `re` says so.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

_MOST: Final = 64  # texts tried per pattern
_QUANTIFIER: Final = re.compile(r"([*+?])\??|\{(\d+)(?:(,)(\d*))?\}\??")
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_PROBES: Final = "a0A_-. :/Z9zé\U0001f600\n"


def matching(pattern: str) -> list[str]:
    """Texts that `pattern` finds itself in, the plainest first: every alternative, and each part once more than needed.

    Empty if none was found.
    """
    compiled = re.compile(pattern)
    tried = itertools.islice(_Reader(pattern).alternatives(), _MOST)
    return list(dict.fromkeys(text for text in tried if compiled.search(text)))


def beside(pattern: str) -> list[str]:
    """Texts near those of `matching` that `pattern` refuses: cut, with more before or after, in another case."""
    compiled = re.compile(pattern)
    near: list[str] = []
    for text in matching(pattern)[:2]:
        near += [f"{text}\n", f"{text} ", f" {text}", f"{text}x", f"x{text}", text[:-1], text[1:], text.swapcase()]
    return [text for text in dict.fromkeys([*near, "", "?", "\n"]) if not compiled.search(text)]


class _Reader:
    """Reads a pattern from left to right and lists texts for what it reads."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def alternatives(self) -> Iterator[str]:
        """Texts for everything up to the end of the group."""
        branches = [self._sequence()]
        while self.pattern.startswith("|", self.at):
            self.at += 1
            branches.append(self._sequence())
        return iter([text for branch in branches for text in branch])

    def _sequence(self) -> list[str]:
        texts = [""]
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            part = self._repeated(self._atom())
            first = [text + part[0] for text in texts]
            more = [texts[0] + other for other in part[1:]]  # one part varies at a time
            texts = [*first, *more][:_MOST]
        return texts

    def _repeated(self, part: list[str]) -> list[str]:
        quantifier = _QUANTIFIER.match(self.pattern, self.at)
        if quantifier is None:
            return part
        self.at = quantifier.end()
        sign, low, comma, high = quantifier.groups()
        if sign:
            least, most = {"*": (0, 2), "+": (1, 2), "?": (0, 1)}[sign]
        else:
            least = int(low)
            most = least if comma is None else min(int(high) if high else least + 1, least + 1)
        return list(dict.fromkeys([part[0] * least, part[0] * most, *(other * max(least, 1) for other in part[1:])]))

    def _atom(self) -> list[str]:
        char = self.pattern[self.at]
        if char in "^$":
            self.at += 1
            return [""]
        if char == "(":
            return self._group()
        end = self._end_of_class() if char == "[" else self.at + 1
        if char == "\\":
            end = self.at + {"x": 4, "u": 6}.get(self.pattern[self.at + 1], 2)
        atom, self.at = self.pattern[self.at : end], end
        return _some_of(atom)

    def _group(self) -> list[str]:
        ahead = self.pattern.startswith(("(?=", "(?!"), self.at)
        self.at += 3 if self.pattern.startswith("(?", self.at) else 1
        inner = list(self.alternatives())
        self.at += 1
        return [""] if ahead else inner

    def _end_of_class(self) -> int:
        at = self.at + 1
        while self.pattern[at] != "]":
            at += 2 if self.pattern[at] == "\\" else 1
        return at + 1


def _some_of(atom: str) -> list[str]:
    """A character or two that a literal, an escape or a class takes."""
    if len(atom) == 1:
        return [atom]
    if len(atom) == 2 and atom[0] == "\\":
        return [_CONTROLS.get(atom[1], atom[1])]
    compiled = re.compile(atom)
    others = (chr(code) for code in range(0x20, 0x3000))
    taken = (char for char in itertools.chain(_PROBES, others) if compiled.fullmatch(char))
    return list(itertools.islice(taken, 2)) or [""]
