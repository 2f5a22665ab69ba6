"""Values as the runtime sees and spells them: absent is not null, and a value in a text has its ECMAScript string form."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from typing import Any, Final

MAX_SAFE_INTEGER: Final = 9007199254740991


class _Absent(enum.Enum):
    ABSENT = "ABSENT"


ABSENT: Final = _Absent.ABSENT
"""In place of a member that is not there (rule S12)."""


def member(params: Mapping[str, Any], name: str) -> object:
    """A member of params, or `ABSENT`."""
    return params.get(name, ABSENT)


def text_of(value: Any) -> str:
    """The string form of a JSON value, `undefined` for an absent one."""
    match value:
        case _Absent():
            return "undefined"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case float() if value.is_integer() and abs(value) < 1e21:
            return str(int(value))
        case [*items]:
            return ",".join("" if item is None else text_of(item) for item in items)
        case dict():
            return "[object Object]"
        case _:
            return str(value)


def received(value: object) -> str:
    """How a type error names the value that it got."""
    match value:
        case _Absent() | None:
            return text_of(value)
        case bool():
            return f"type boolean ({text_of(value)})"
        case int() | float():
            return f"type number ({text_of(value)})"
        case str():
            return f"type string ({json.dumps(value, ensure_ascii=False)})"
        case list():
            return "an instance of Array"
        case _:
            return "an instance of Object"


def safe_integer(value: object) -> int | None:
    """A number as the integer that it is, from 1 to 2**53 - 1; None for anything else. `1.0` is 1."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_SAFE_INTEGER:
        return value
    return None
