"""Whether schema, Python and TypeScript say the same: what `dsh-codegen parity` does.

What a side says, and where it comes from:

    model       definitions, members, methods; a `Shape` is a set of JSON values
    schema      a bundle -> a side
    python      generated Python -> a side (`classes` and `hints` read what all dialects share); `python_foreign` others
    typescript  generated TypeScript -> a side; `typescript_foreign` others, across files (`ts_disk` finds them)
    ts_types    a type in TypeScript -> a shape, with
                    ts_syntax, ts_nodes      a file, and one node of its tree
                    ts_names                 what names lead to
                    ts_values                literals, enums, constants
                    ts_algebra, ts_utility   operators and utility types, on shapes alone
    renaming    a side under the names of the schema

What two sides say differently:

    pairwise    one definition of two sides (`following`: references of others; `relations`: which shape takes more)
    arms        the arms of a union, as others may write them; `unions`: as generated code lists them
    methods     the method maps
    found       what all of these yield

What comes of it:

    compare     all sides against each other -> an `Agreement` (`memory`: what need not be compared again)
    judging     what was found -> differences, with the harm that they do
    direction   which way a type travels, and so which way a difference breaks
    pointer     where in the bundle that is
    difference  differences as values; `render` writes them
    command     the command line

Everything is read as text. Nothing is imported, and nothing here sees what the generator sees: neither its IR, nor its names,
nor its templates. So a mistake of the generator shows, as long as it was not made twice.
"""

from __future__ import annotations
