"""Schema text as Python source: the only way it may enter generated code."""

from __future__ import annotations

import re

from ..ir import Scalar


def py_literal(value: Scalar) -> str:
    """A scalar as a Python literal on one line, readable where that is safe."""
    if not isinstance(value, str):
        return repr(value)
    body = "".join(_char(char) for char in value)
    return f'"{body}"'


def py_docstring(text: str, indent: str = "") -> str:
    """`text` as a triple-quoted literal; `inspect.cleandoc` of its value is `text`. Lines after the first get `indent`."""
    first, *rest = ("".join(_char(char, quotes=False) for char in line) for line in text.split("\n"))
    body = "\n".join([first, *(f"{indent}{line}" if line else "" for line in rest)])
    body = re.sub(r'"{3,}|"+\Z', lambda quotes: r"\"" * len(quotes[0]), body)  # backslashes of the text come in pairs here
    return f'"""{body}"""'


def _char(char: str, *, quotes: bool = True) -> str:
    if char == "\\" or (char == '"' and quotes):
        return f"\\{char}"
    if "\ud800" <= char <= "\udfff":
        return f"\\u{ord(char):04x}"
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
