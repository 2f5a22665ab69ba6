"""What a TypeScript comment or string literal may contain: schema text, made harmless, and constraints in plain words.

Schema text is data. Nothing here lets it end a comment, start a compiler directive, or hide characters from a reviewer:
terminators, line separators, control and bidirectional characters and lone surrogates come out as visible escapes.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from typing import Final

from ..ir import Array, Json, Literals, Map, Null, Number, OpenEnum, Scalar, String, Type, Union

SAFE_INTEGER: Final = 2**53 - 1

_LINE_BREAK: Final = re.compile("\r\n|[\r\x85\u2028\u2029]")
# controls (but line feed), zero-width marks, bidirectional overrides and isolates, byte order mark, surrogates
_HIDDEN: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def escape_hidden(text: str) -> str:
    """`text` with every character that can't be seen spelled `\\uXXXX`, as JSON and TypeScript write it."""
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def literal(value: Scalar) -> str:
    """A JSON scalar as a TypeScript literal; for a string also a quoted key."""
    return escape_hidden(json.dumps(value, ensure_ascii=False))


def comment_lines(*paragraphs: str, width: int) -> tuple[str, ...]:
    """The lines of a JSDoc comment without their ` * `, safe to print, none longer than `width` where words allow.

    A leading `@` is escaped: at the start of a comment TypeScript may take it for a directive (`@ts-expect-error`) or a tag.
    """
    lines: list[str] = []
    for paragraph in paragraphs:
        text = escape_hidden(_LINE_BREAK.sub("\n", paragraph).replace("\t", "    ")).replace("*/", "*\\/").strip("\n")
        for line in text.split("\n") if text.strip() else ():
            indent = line[: len(line) - len(line.lstrip(" "))]
            lines += textwrap.wrap(
                line.strip(" "), width, initial_indent=indent, subsequent_indent=indent,
                break_long_words=False, break_on_hyphens=False,
            ) or [""]  # fmt: skip
    return tuple(re.sub(r"^( *)@", r"\1\\@", line) for line in lines)


def constraints(node: Type) -> str:
    """What `node` demands beyond its TypeScript type, in one line of short sentences; empty if nothing."""
    match node:
        case String():
            length = _range(node.min_length or None, node.max_length, "character")
            nonempty = node.min_length == 1 and node.max_length is None
            pattern = f"Pattern: {node.pattern}" if node.pattern is not None else ""
            return _sentences("Non-empty." if nonempty else length, _excluded(node.excluded), pattern)
        case Number():
            return _number(node)
        case OpenEnum():
            return _sentences("Open set: expect other strings too.", constraints(String(min_length=node.min_length)))
        case Array():
            size = _range(node.min_items or None, node.max_items, "item")
            return _sentences(size, "Items are unique." if node.unique else "", _each("item", node.items))
        case Map():
            return _each("value", node.values)
        case Json(lenient=True):
            return "Any JSON: an echo of what another party sent."
        case Literals(values=values) if any(_imprecise(value) for value in values):
            return _PRECISION
        case Union(declared=declared):
            return _sentences(*dict.fromkeys(constraints(arm) for arm in declared if not isinstance(arm, Null)))
        case _:
            return ""


_LISTED: Final = 6
_PRECISION: Final = "May exceed 2^53-1: beyond that a JavaScript number is not exact."


def _excluded(values: Sequence[str]) -> str:
    if len(values) > _LISTED:
        return f"None of {len(values)} values that the schema lists."
    return f"Not {' or '.join(literal(value) for value in values)}." if values else ""


def _number(node: Number) -> str:
    bounds = [
        f"{words} {_exact(limit)}"
        for words, limit in (
            ("at least", node.minimum),
            ("more than", node.exclusive_minimum),
            ("at most", node.maximum),
            ("less than", node.exclusive_maximum),
            ("a multiple of", node.multiple_of),
        )
        if limit is not None
    ]
    if node.minimum is not None and node.maximum is not None and len(bounds) == 2:
        bounds = [f"{_exact(node.minimum)} to {_exact(node.maximum)}"]
    if not bounds:
        return "Integer." if node.integer else ""
    limits = (node.minimum, node.maximum, node.exclusive_minimum, node.exclusive_maximum)
    kind = "Integer" if node.integer else "Number"
    return _sentences(f"{kind}, {', '.join(bounds)}.", _PRECISION if any(_imprecise(limit) for limit in limits) else "")


def _imprecise(value: Scalar) -> bool:
    return isinstance(value, int | float) and abs(value) > SAFE_INTEGER


def _exact(value: int | float) -> str:
    return str(int(value)) if isinstance(value, int) or value.is_integer() else repr(value)


def _range(low: int | None, high: int | None, unit: str) -> str:
    match low, high:
        case None, None:
            return ""
        case int(), None:
            return f"At least {_count(low, unit)}."
        case None, int():
            return f"At most {_count(high, unit)}."
        case _ if low == high:
            return f"Exactly {_count(high or 0, unit)}."
        case _:
            return f"{low} to {_count(high or 0, unit)}."


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _each(unit: str, node: Type) -> str:
    inner = constraints(node)
    return f"Each {unit}: {inner[0].lower()}{inner[1:]}" if inner else ""


def _sentences(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
