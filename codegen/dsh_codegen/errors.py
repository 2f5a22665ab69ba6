"""What can go wrong in the tool, as values: each error is one sentence with a place.

Everything the CLI reports to a user descends from `CodegenError`; anything else is a bug and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class CodegenError(Exception):
    """The user can act on this: the text says what is wrong, where, and what to do. The CLI exits with 2."""


class ConfigError(CodegenError):
    """The configuration or the command line can't be used."""


@dataclass(eq=False)
class SchemaError(CodegenError):
    """A schema file can't be used.

    `where` is the file, relative to the schema root, and a JSON Pointer into it: `content.schema.json#/$defs/TextBlock`.
    """

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


class OutputError(CodegenError):
    """Files can't be written as asked; the output is as it was before."""


def suggestion(wrong: str, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown word: what there is, and which of it was probably meant."""
    from difflib import get_close_matches

    near = get_close_matches(wrong, known, n=1)
    return f"; there are {', '.join(known)}{f': did you mean {near[0]!r}?' if near else ''}"
