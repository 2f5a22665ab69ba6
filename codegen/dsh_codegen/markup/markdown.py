"""Markdown as GitHub reads it: in summaries of workflow steps, issues and files.

Text of strangers stands as code: outside of it GitHub makes links, images, mentions and references to issues of what looks so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from .text import harmless

_MARKUP: Final = re.compile(r"[^\w\s.,;?()/=$+'\"-]|_|(?<=www)\.", re.ASCII | re.IGNORECASE)
"""Whatever might begin markup or a link."""


def code(text: str) -> str:
    """Text as it is, in the font of code, on one line and also in a cell of a table."""
    text = harmless(text)
    if not text:
        return ""
    if "`" in text or "\\|" in text or text[0] == " " or text[-1] == " ":
        # Readers differ in how they take these within back quotes; entities are the same to all.
        return f"<code>{_entities(text)}</code>"
    return f"`{text.replace('|', chr(92) + '|')}`"


def plain(text: str) -> str:
    """Text of our own on one line, with nothing in it taken as a border of a table or as HTML."""
    return harmless(text).replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], right: frozenset[int] = frozenset()) -> Iterable[str]:
    """The lines of a table of cells that are Markdown already. `right`: the columns that are numbers."""
    yield f"| {' | '.join(columns)} |\n"
    yield f"|{''.join(' ---: |' if index in right else ' --- |' for index in range(len(columns)))}\n"
    for row in rows:
        yield f"| {' | '.join(row)} |\n"


def _entities(text: str) -> str:
    return _MARKUP.sub(lambda char: f"&#{ord(char[0])};" if char[0].isascii() else char[0], text)
