"""Looking into JSON that nobody has checked: what is not there, or not of that type, is empty."""

from __future__ import annotations

from typing import Any


def members(value: Any) -> dict[str, Any]:
    """The members of an object; none of anything else."""
    found: dict[str, Any] = value if value.__class__ is dict else {}
    return found


def elements(value: Any) -> list[Any]:
    """The elements of an array; none of anything else."""
    found: list[Any] = value if value.__class__ is list else []
    return found


def member(value: Any, *path: str) -> Any:
    """What a path of member names leads to; None if it leads nowhere."""
    for name in path:
        value = members(value).get(name)
    return value
