"""Words for sentences about JSON: values shortened, names quoted, near misses found, places written as JSONPath.

Logs are hostile text. Everything that is quoted from one goes through `escape`, so that a control sequence in a log can't
reach the terminal of its reader; and nothing here takes longer for a longer value than for a short one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Final, TypeAlias

from ..markup.text import harmless

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A parsed JSON value."""

Path: TypeAlias = tuple[str | int, ...]
"""A place in a JSON value: member names and array indexes, from the outside in."""

LONGEST_VALUE: Final = 60
"""Characters of a value that are shown."""
LONGEST_LIST: Final = 8
"""Names that are listed before "and N more"."""
_LONGEST_COMPARED: Final = 80
_MOST_COMPARED: Final = 1000
_LONGEST_KEPT: Final = 10_000  # characters of words with which a word was compared
_MOST_KEPT: Final = 256

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_SPELLING: Final = re.compile(r"[^a-z0-9]+")


def show(value: Json) -> str:
    """A value as short, harmless JSON text: `"it is a long te…"`."""
    text = _beginning(value, LONGEST_VALUE + 1)
    return harmless(text) if len(text) <= LONGEST_VALUE else f"{harmless(text[: LONGEST_VALUE - 1])}…"


def _beginning(value: Json, most: int) -> str:
    """The JSON text of a value, or at least so many characters of it: deep and large values are never written out."""
    match value:
        case str():
            return _ENCODER.encode(value[:most])
        case list():
            text = "["
            for item in value:
                if len(text) >= most:
                    return text
                text += "," if len(text) > 1 else ""
                text += _beginning(item, max(most - len(text), 0))
            return f"{text}]"
        case dict():
            text = "{"
            for member, item in value.items():
                if len(text) >= most:
                    return text
                text += f"{',' if len(text) > 1 else ''}{_ENCODER.encode(member[:most])}:"
                text += _beginning(item, max(most - len(text), 0))
            return f"{text}}}"
        case _:
            return _ENCODER.encode(value)


def name(text: str) -> str:
    """A member, tag or method name, quoted."""
    if not text:
        return '""'
    short = text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
    return f"`{harmless(short)}`"


def place(path: Path) -> str:
    """The last member's name with the indexes that follow it, quoted: `contentBlocks[1]`."""
    indexes = ""
    for step in reversed(path):
        if isinstance(step, str):
            return name(step + indexes)
        indexes = f"[{step}]{indexes}"
    return name(indexes or "$")


def listing(words: Sequence[str], last: str = "and") -> str:
    """`a, b and c`; of many words the first few and how many more there are."""
    if len(words) > LONGEST_LIST:
        return f"{', '.join(words[:LONGEST_LIST])} {last} {len(words) - LONGEST_LIST} more"
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def json_type(value: Json) -> str:
    """The JSON type of a value, with its article: `an object`."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"


def nearest(wrong: object, known: Iterable[str]) -> str | None:
    """The known word that `wrong` was probably meant to be: the same letters in another spelling, or nearly the same."""
    if not isinstance(wrong, str) or not 0 < len(wrong) <= _LONGEST_COMPARED:
        return None
    words = tuple(islice(known, _MOST_COMPARED))
    # A log has the same mistake many times; what it holds itself is not kept without limit.
    return _nearest(wrong, words) if sum(map(len, words)) <= _LONGEST_KEPT else _nearest.__wrapped__(wrong, words)


@lru_cache(_MOST_KEPT)
def _nearest(wrong: str, words: tuple[str, ...]) -> str | None:
    candidates = [word for word in words if word != wrong]
    letters = _SPELLING.sub("", wrong.lower())
    if letters:
        for word in candidates:
            if _SPELLING.sub("", word.lower()) == letters:
                return word
    # What all words begin with says nothing about which is meant: "image/tiff" is not nearly "image/gif".
    shared = _shared_prefix([*candidates, wrong]) if len(candidates) > 1 else 0
    rests = {word[shared:]: word for word in candidates}
    close = get_close_matches(wrong[shared:], rests, n=1, cutoff=0.75)
    return rests[close[0]] if close else None


def _shared_prefix(words: Sequence[str]) -> int:
    columns = zip(*words, strict=False)
    return next((index for index, column in enumerate(columns) if len(set(column)) > 1), min(map(len, words)))


def did_you_mean(wrong: object, known: Iterable[str]) -> str:
    """`; did you mean "session/prompt"?`, or nothing."""
    found = nearest(wrong, known)
    return "" if found is None else f"; did you mean {show(found)}?"


def json_path(path: Iterable[str | int]) -> str:
    """A place as JSONPath (RFC 9535), counted from the frame: `$.params.contentBlocks[0]['odd key']`."""
    return "$" + "".join([_step(step) for step in path])


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if step.isascii() and step.isidentifier():
        return f".{step}"
    quoted = harmless(step.replace("\\", "\\\\").replace("'", "\\'"))
    return f"['{quoted}']"
