"""Python type hints as syntax trees -> shapes. Nothing is imported or evaluated: a hint means what its text says."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from .model import (
    ABSENT,
    ANY,
    BOOLEAN,
    INTEGER,
    NOTHING,
    NULL,
    NUMBER,
    STRING,
    Shape,
    kind,
    literal,
    ref,
    union,
    unread,
)

Lookup: TypeAlias = Callable[[str], str]
"""What a name of a module is called where it was defined."""

_PLAIN: Final[Mapping[str, Shape]] = MappingProxyType(
    {
        "Any": ANY,
        "object": ANY,
        "JsonValue": ANY,
        "None": NULL,
        "NoneType": NULL,
        "UnsetType": ABSENT,
        "Never": NOTHING,
        "NoReturn": NOTHING,
        "str": kind(STRING),
        "int": kind(INTEGER),
        "float": kind(NUMBER),
        "bool": kind(BOOLEAN),
        # what the strict versions of pydantic accept, and what is written as a string
        **dict.fromkeys(("StrictStr", "LiteralString", "bytes", "StrictBytes"), kind(STRING)),
        **dict.fromkeys(("StrictInt", "PositiveInt", "NonNegativeInt", "NegativeInt", "NonPositiveInt"), kind(INTEGER)),
        **dict.fromkeys(("StrictFloat", "FiniteFloat", "PositiveFloat", "NonNegativeFloat"), kind(NUMBER)),
        "StrictBool": kind(BOOLEAN),
        **dict.fromkeys(("Path", "PurePath", "FilePath", "DirectoryPath", "UUID", "UUID4", "Decimal"), kind(STRING)),
        **dict.fromkeys(("datetime", "date", "time", "timedelta", "AwareDatetime", "NaiveDatetime"), kind(STRING)),
        **dict.fromkeys(("AnyUrl", "HttpUrl", "EmailStr", "SecretStr", "Base64Bytes", "Base64Str"), kind(STRING)),
        **dict.fromkeys(("list", "List", "Sequence", "tuple", "Tuple", "set", "frozenset"), Shape(items=ANY)),
        **dict.fromkeys(("dict", "Dict", "Mapping", "MutableMapping"), Shape(values=ANY)),
    }
)
_ARRAYS: Final = frozenset(
    "list List Sequence MutableSequence Iterable Collection tuple Tuple set Set frozenset FrozenSet deque".split()
)
_MAPS: Final = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict"})
_TRANSPARENT: Final = frozenset({"Annotated", "Final", "Required", "NotRequired", "ReadOnly"})


def shape_of(node: ast.expr, lookup: Lookup = str) -> Shape:
    """The JSON values of a hint. A name that is not the language's own is a reference."""
    match node:
        case ast.Constant(value=None):
            return NULL
        case ast.Constant(value=str(text)):
            return _quoted(text, lookup)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return union(shape_of(left, lookup), shape_of(right, lookup))
        case ast.Name() | ast.Attribute():
            name = last_name(node, lookup)
            return _PLAIN[name] if name in _PLAIN else ref(name)
        case ast.Subscript(value=value, slice=index):
            return _subscript(node, last_name(value, lookup), index, lookup)
        case _:
            return unread(ast.unparse(node))


def last_name(node: ast.expr, lookup: Lookup = str) -> str:
    """`dataclasses.field` -> `field`; an imported name as it was called where it came from."""
    match node:
        case ast.Name(id=name):
            return lookup(name)
        case ast.Attribute(attr=name):
            return name
        case _:
            return ""


def constant(node: ast.expr) -> str | float | bool | None:
    """The scalar that an expression is written as. Raises `ValueError` where it is none."""
    value = ast.literal_eval(node)
    if value is not None and not isinstance(value, (str, int, float, bool)):
        raise ValueError(value)
    return value


def parts_of(index: ast.expr) -> list[ast.expr]:
    """What stands between the brackets of a subscript."""
    return list(index.elts) if isinstance(index, ast.Tuple) else [index]


def _quoted(text: str, lookup: Lookup) -> Shape:
    try:
        return shape_of(ast.parse(text, mode="eval").body, lookup)
    except SyntaxError:
        return unread(repr(text))


def _subscript(node: ast.expr, name: str, index: ast.expr, lookup: Lookup) -> Shape:
    parts = parts_of(index)
    if name == "Literal":
        return union(NOTHING, *(_literal(part, lookup) for part in parts))
    if name == "Optional":
        return union(shape_of(index, lookup), NULL)
    if name == "Union":
        return union(NOTHING, *(shape_of(part, lookup) for part in parts))
    if name in _TRANSPARENT:
        return shape_of(parts[0], lookup)
    if name in _ARRAYS:
        given = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is Ellipsis)]
        return Shape(items=union(NOTHING, *(shape_of(part, lookup) for part in given)))
    if name in _MAPS and len(parts) == 2:
        return Shape(values=shape_of(parts[1], lookup))
    return unread(ast.unparse(node))


def _literal(node: ast.expr, lookup: Lookup) -> Shape:
    if isinstance(node, ast.Subscript) and last_name(node.value, lookup) == "Literal":
        return shape_of(node, lookup)
    try:
        return literal(constant(node))
    except ValueError:
        return unread(ast.unparse(node))
