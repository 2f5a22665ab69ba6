"""Text of one line -> a JSON value, or the problem that keeps it from being one; by the protocol's own reading rules.

Lines are trimmed as ECMAScript `trim` does, so a byte order mark, CRLF and no-break spaces do no harm; what is left is one
JSON value of RFC 8259 or nothing. The standard library reads more than that (NaN), stops at deep nesting and at long
integers, and names columns badly: this module makes problems of all of it, with a column a person can go to.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, NoReturn

from ..markup.text import harmless
from .depth import at_any_depth
from .findings import Problem
from .wording import Json, show

BLANKS: Final = "\t\n\v\f\r \xa0\ufeff\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""The characters that ECMAScript `trim` removes."""

_TAIL: Final = 40  # characters that are shown of what was torn off

# What a frame or a capture row begins with; found inside a line that is no JSON, it marks where a second one was glued on.
_START: Final = re.compile(r'\{\s*"(?:jsonrpc|ts|dir)"\s*:')


class _NotJsonError(Exception):
    """NaN, Infinity or -Infinity, which the standard library takes for numbers."""


def _refuse(constant: str) -> NoReturn:
    raise _NotJsonError(constant)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


@dataclass(frozen=True, slots=True)
class Text:
    """One line's text. `offset` is the byte in the file at which it begins, None where that can't be told."""

    full: str
    offset: int | None = None

    @property
    def blank(self) -> bool:
        """Nothing but blanks: skipped by every reader."""
        return not self.full.strip(BLANKS)

    def parse(self) -> Json | Problem:
        """The JSON value, or why there is none."""
        try:
            return at_any_depth(self._parse)
        except RecursionError:
            return Problem("json/nesting", "the line is nested too deeply to be read")

    def _parse(self) -> Json | Problem:
        text = self.full.strip(BLANKS)
        try:
            value: Json = _DECODER.decode(text)
        except json.JSONDecodeError as error:
            return self._explain(text, error)
        except _NotJsonError as error:
            return Problem("json/syntax", f"the line is not JSON: {error} is no JSON number")
        except ValueError:  # Python refuses to convert integers of more than 4,300 digits
            return Problem("json/number", "the line has an integer of too many digits to be read")
        return value

    def torn(self) -> Problem:
        """The problem of a text that no line feed ends."""
        end = len(self.full.rstrip(BLANKS))
        return Problem("json/torn", f"the last line breaks off {self._place(end)}, without a line feed: {_tail(self.full)}")

    def _explain(self, text: str, error: json.JSONDecodeError) -> Problem:
        glued = _START.search(text, 1)
        hint = "" if glued is None else f"; a frame begins {self._place(self._lead + glued.start())}"
        if text[:1] == "\0":
            count = len(text) - len(text.lstrip("\0"))
            stand = f"NUL byte{' stands' if count == 1 else 's stand'} {self._place(self._lead)}"
            return Problem("json/nul", f"{count:,} {stand}, as a crash leaves them{hint}")
        if text[:1] not in ("{", "["):
            return Problem("json/noise", f"the line is not JSON but other text: {show(text)}{hint}")
        if error.msg == "Extra data":
            if _is_value(text[error.pos :]):
                place = self._place(self._lead + error.pos)
                message = f"the line holds several JSON values, the second {place}; all are dropped"
                return Problem("json/several-values", message)
        elif glued is not None:
            place = self._place(self._lead + glued.start())
            message = (
                f"the value that begins {self._place(self._lead)} breaks off, and another one begins {place}; both are dropped"
            )
            return Problem("json/glued", message)
        where = self._place(self._lead + error.pos)
        rest = text[error.pos :]
        found = f"found {show(rest)}" if rest else "the line ends"
        return Problem("json/syntax", f"the line is not JSON: {_EXPECTED.get(error.msg, error.msg)} {where}, {found}")

    @property
    def _lead(self) -> int:
        return len(self.full) - len(self.full.lstrip(BLANKS))

    def _place(self, index: int) -> str:
        column = f"at column {index + 1}"
        if self.offset is None:
            return column
        byte = self.offset + len(self.full[:index].encode("utf-8", "surrogatepass"))
        return f"{column} (byte {byte} of the file)"


_EXPECTED: Final = {
    "Expecting value": "a value was expected",
    "Expecting property name enclosed in double quotes": "a member name in double quotes was expected",
    "Illegal trailing comma before end of object": "a trailing comma stands",
    "Illegal trailing comma before end of array": "a trailing comma stands",
    "Expecting ':' delimiter": "':' was expected",
    "Expecting ',' delimiter": "',' or the end was expected",
    "Unterminated string starting at": "a string without an end begins",
    "Invalid control character at": "a string has an unescaped control character",
    "Invalid \\escape": "a string has an unknown escape",
    "Invalid \\uXXXX escape": "a string has a broken \\u escape",
    "Extra data": "the value is followed by other text",
}
"""The standard library's words for what is wrong, in ours: they are followed by a place."""


def _is_value(text: str) -> bool:
    try:
        _DECODER.raw_decode(text.lstrip(BLANKS))
    except (ValueError, _NotJsonError):
        return False
    return True


def _tail(text: str) -> str:
    end = text.strip(BLANKS)
    return harmless(end) if len(end) <= _TAIL else f"…{harmless(end[-_TAIL:])}"
