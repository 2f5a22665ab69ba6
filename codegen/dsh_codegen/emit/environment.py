"""The Jinja environment of all templates.

Templates lay out text that the emitters have already made safe: a template never sees schema text that could be code, and an
undefined name is an error.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def environment() -> Environment:
    """Templates beside this module; values are inserted as they are, never read as template text."""
    return Environment(
        loader=PackageLoader("dsh_codegen.emit"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is code, not HTML
    )
