"""Every name that leaves the wire: one place decides it, from schema content alone.

The IR speaks wire names. Here they become Python members, Python and TypeScript types, and Python modules. A name never depends
on the order of files or on another name's presence, with one exception: two members of one object that would fold to the same
Python name (`_meta` and `meta`). The one that is spelled exactly so keeps it, the other gets a trailing underscore; a third, or
two of which neither is spelled so, are refused. There is never a numbered class.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from .errors import SchemaError

RESERVED_MEMBERS: Final = frozenset(keyword.kwlist) | {
    # names that the hints of a class body use: an attribute of that name would shadow them for typing.get_type_hints
    *("str", "int", "float", "bool", "list", "dict", "bytes", "object", "tuple", "field"),
    # the member that keeps what the schema doesn't know
    "extra",
}
# what a Python module of the generated package must not be called
RESERVED_MODULES: Final = frozenset(keyword.kwlist) | {
    # what the package of a revision holds beside its modules: loading a module of that name would replace it
    *(
        "methods",
        "annotations",
        "decode",
        "decode_params",
        "decode_result",
        "encode",
        "find_method",
        "import_module",
        "overload",
        "run",
    ),
    # what Windows keeps for devices
    *("con", "nul", "aux", "prn", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))),
}
# what generated modules call by name, their own members and the standard library's: a definition of that name would hide it
RESERVED_TYPES: Final = frozenset(keyword.kwlist) | {
    *(
        "Any",
        "Callable",
        "Final",
        "Literal",
        "ModuleType",
        "Optional",
        "TypeAlias",
        "TypedDict",
        "TypeVar",
        "TYPE_CHECKING",
        "Union",
    ),
    *("AttributeError", "LookupError"),
    *("CODECS", "DecodeError", "Mismatch", "Payload", "UNSET", "UnsetType", "Notification", "Request", "TypeRef"),
    *("ERROR_CODES", "HEAD", "METHODS", "Methods", "REVISION", "REVISIONS"),
}

_WORD_EDGE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def member_name(wire: str) -> str:
    """The Python attribute for a wire member: `userID` -> `user_id`, `class` -> `class_`, `2nd` -> `n2nd`, `` -> `empty`."""
    words = _WORD_EDGE.sub("_", _ascii(wire))
    name = re.sub(r"_+", "_", words).strip("_").lower() or "empty"
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if name in RESERVED_MEMBERS else name


def member_names(wires: Iterable[str], where: str) -> dict[str, str]:
    """Python attribute by wire name, for all members of one object. `where` is the object's place, for the refusal."""
    wires = list(wires)
    names = {wire: wire for wire in wires if member_name(wire) == wire}
    exact = frozenset(names.values())
    taken = set(exact)
    for wire in wires:
        if wire in names:
            continue
        name = member_name(wire)
        if name in exact:
            name = f"{name}_"
        if name in taken:
            rivals = ", ".join(repr(other) for other in wires if member_name(other) == member_name(wire))
            raise SchemaError(where, f"the members {rivals} all become {member_name(wire)!r} in Python; rename one of them")
        names[wire] = name
        taken.add(name)
    return {wire: names[wire] for wire in wires}


def type_name(definition: str) -> str:
    """The type for a definition, the same in Python and TypeScript: `foo-bar` -> `FooBar`; a capitalised identifier stays."""
    if _IDENTIFIER.match(definition) and definition[0].isupper():
        name = definition
    else:
        words = re.split(r"[^A-Za-z0-9]+", _ascii(definition))
        name = "".join(word[:1].upper() + word[1:] for word in words) or "Empty"
    if name[0].isdigit():
        name = f"N{name}"
    return f"{name}_" if name in RESERVED_TYPES else name


def module_name(stem: str) -> str:
    """The Python module for a schema file: `event-turn.schema.json` -> `event_turn`."""
    base = stem.removesuffix(".json").removesuffix(".schema")
    name = re.sub(r"[^a-z0-9]+", "_", _WORD_EDGE.sub("_", _ascii(base)).lower()).strip("_") or "types"
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if name in RESERVED_MODULES else name


def revision_module(revision: str) -> str:
    """The subpackage of a revision: `0.1.5` -> `v0_1_5`."""
    return "v" + re.sub(r"[^A-Za-z0-9]+", "_", revision).strip("_").lower()


def pascal(text: str) -> str:
    """Words joined as in a type name; for names made from a parent and a member."""
    return type_name(text).removesuffix("_")


def _ascii(text: str) -> str:
    """`text` with characters outside ASCII spelled by base letter or code point; punctuation too if there is nothing else."""
    out: list[str] = []
    for char in unicodedata.normalize("NFKD", text):
        if char.isascii():
            out.append(char if char.isalnum() else "_")
        elif not unicodedata.combining(char):
            out.append(f"_u{ord(char):x}_")
    spelled = "".join(out)
    return spelled if spelled.strip("_") else "_".join(f"u{ord(char):x}" for char in text)
