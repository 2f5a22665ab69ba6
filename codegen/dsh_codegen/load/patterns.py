r"""Patterns that mean the same in every engine.

JSON Schema patterns are ECMA-262 searches, but the engines that meet them (Python `re`, Rust regex, JavaScript with and without
its `u` flag) differ on what `\d`, `\w`, `.` and `$` match, on which escapes there are and on stray braces. `portable`
rewrites what it can to the ECMA meaning in a spelling all engines share, and refuses what has no such spelling.
"""

from __future__ import annotations

import re
from typing import Final

_CLASSES: Final = {"d": "0-9", "w": "A-Za-z0-9_"}
_ANY_BUT_LINE_ENDS: Final = r"[^\n\r\u2028\u2029]"
_END: Final = r"$(?!\n)"  # Python's `$` alone also matches before a final newline
_SYNTAX: Final = frozenset(r"^$\.*+?()[]{}|/")  # what every engine lets a backslash stand before
_GROUPS: Final = ("(?:", "(?=", "(?!")
_QUANTIFIER: Final = re.compile(r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??")
_CODE: Final = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4})")


class PatternError(ValueError):
    """The text says which construct of the pattern has no portable spelling."""


def portable(pattern: str) -> str:
    """`pattern` rewritten so that it means the same in Python, Rust and ECMA-262; idempotent. Raises `PatternError`."""
    out: list[str] = []
    groups: list[bool] = []  # of each open group: whether it looks ahead
    at, repeatable = 0, False  # whether a quantifier may follow
    while at < len(pattern):
        char = pattern[at]
        if quantifier := _QUANTIFIER.match(pattern, at):
            if not repeatable:
                raise PatternError(f"the quantifier {quantifier[0]!r} follows something that not every engine repeats")
            text, repeatable = quantifier[0], False
            at = quantifier.end()
        elif char == "[":
            text, at = _class(pattern, at)
            repeatable = True
        elif char == "\\":
            text, at = _escape(pattern, at, in_class=False)
            repeatable = True
        elif char == "(":
            text = next((group for group in _GROUPS if pattern.startswith(group, at)), "(")
            if text == "(" and pattern.startswith("(?", at):
                raise PatternError(f"the group {pattern[at : at + 4]!r} is not understood by every engine")
            groups.append(text in {"(?=", "(?!"})
            at, repeatable = at + len(text), False
        elif char in "{}]":
            raise PatternError(f"{char!r} has no counterpart here, which engines read differently; put a backslash before it")
        else:
            text = {".": _ANY_BUT_LINE_ENDS, "$": _END}.get(char, char)
            repeatable = char not in "^$|" and not (char == ")" and groups and groups[-1])
            if char == ")" and groups:
                groups.pop()
            at += len(_END) if pattern.startswith(_END, at) else 1
        out.append(text)
    text = "".join(out)
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"it does not compile: {error}") from None
    return text


def _class(pattern: str, start: int) -> tuple[str, int]:
    """The portable text of the character class that starts at `start`, and where the pattern goes on."""
    opening = "[^" if pattern.startswith("[^", start) else "["
    out = [opening]
    at = start + len(opening)
    if pattern.startswith("]", at):
        raise PatternError("an empty character class is read differently by different engines")
    while not pattern.startswith("]", at):
        if at >= len(pattern):
            raise PatternError("a character class is not closed")
        two = pattern[at : at + 2]
        if two[0] == "[" or two in {"&&", "--", "~~", "||"}:
            raise PatternError(f"{two!r} inside a character class is read differently by different engines")
        text, after = _escape(pattern, at, in_class=True) if two[0] == "\\" else (two[0], at + 1)
        if text in _CLASSES.values():
            before_dash = pattern.startswith("-", after) and not pattern.startswith("-]", after)
            if before_dash or (pattern[at - 1] == "-" and out[-1] == "-" and len(out) > 2):
                raise PatternError(f"{two!r} can't be an end of a range")
        out.append(text)
        at = after
    return "".join([*out, "]"]), at + 1


def _escape(pattern: str, at: int, *, in_class: bool) -> tuple[str, int]:
    """The portable text of the escape that starts at `at`, and where the pattern goes on."""
    char = pattern[at + 1 : at + 2]
    if not char:
        raise PatternError("it ends in a lone backslash")
    if char in _CLASSES:
        return _CLASSES[char] if in_class else f"[{_CLASSES[char]}]", at + 2
    if char.lower() in _CLASSES and not in_class:
        return f"[^{_CLASSES[char.lower()]}]", at + 2
    if char in "nrtfv" or char in _SYNTAX:
        return pattern[at : at + 2], at + 2
    if code := _CODE.match(pattern, at):
        return code[0], code.end()
    if char.isalnum():
        raise PatternError(f"'\\{char}' is not understood in the same way by every engine")
    return f"\\x{ord(char):02x}" if char.isascii() else char, at + 2
