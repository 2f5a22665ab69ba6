"""Whether schema, Python and TypeScript say the same: what `dsh-codegen parity` does.

    model       what a side says: definitions, members, methods; a `Shape` is a set of JSON values
    schema      a bundle -> a side
    python      generated Python -> a side (`classes` and `hints` read what all dialects share); `python_foreign` others
    typescript  generated TypeScript -> a side (`ts_syntax`, `ts_types`, `ts_algebra`); `typescript_foreign` other files
    pairwise    one definition of two sides -> what differs (`arms` and `unions`: how a union's arms are told apart)
    compare     all definitions and methods of all sides -> an `Agreement`
    direction   which way a type travels, and so which way a difference breaks
    difference  differences as values; `render` writes them
    command     the command line

Everything is read as text. Nothing is imported, and nothing here sees what the generator sees: neither its IR, nor its names,
nor its templates. So a mistake of the generator shows, as long as it was not made twice.
"""

from __future__ import annotations
