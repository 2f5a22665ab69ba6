"""Reading a table that people write in JSON: each step checks what it finds, and a refusal names the place."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final, NamedTuple

from ..errors import SchemaError
from .wording import json_type, listing, show

_STEP: Final = r"[A-Za-z_$][A-Za-z0-9_$-]*(\[\*\])?"
_PATH: Final = re.compile(rf"{_STEP}(\.{_STEP})*")
_NAMED: Final = re.compile(r"[^\x00-\x1f]+")


class At(NamedTuple):
    """A value in a table: `file` is the table's name, `pointer` the JSON Pointer to the value."""

    value: Any
    file: str
    pointer: str = ""

    def refuse(self, reason: str) -> SchemaError:
        """A refusal that names this place."""
        return SchemaError(f"{self.file}#{self.pointer}", reason)

    def child(self, key: str | int) -> At:
        """The value below."""
        step = str(key).replace("~", "~0").replace("/", "~1")
        return At(self.value[key], self.file, f"{self.pointer}/{step}")

    def named(self) -> dict[str, At]:
        """What a non-empty object has, whatever the names. Raises `SchemaError` for anything else; so do the methods below."""
        is_object = isinstance(self.value, dict)
        if not is_object:
            raise self.refuse(f"it is {json_type(self.value)}, expected an object")
        if not self.value:
            raise self.refuse("it is empty; leave it out")
        for key in self.value:
            if key and not _NAMED.fullmatch(key):
                raise self.refuse(f"the name {show(key)} has control characters")
        return {key: self.child(key) for key in self.value}

    def members(self, required: Collection[str], optional: Collection[str] = ()) -> dict[str, At]:
        """The members of an object that has these and no others."""
        found = self.named()
        for key in found:
            if key not in required and key not in optional:
                raise self.refuse(f"there is no member {show(key)}; there are {listing([*required, *optional])}")
        for key in required:
            if key not in found:
                raise self.refuse(f"the member {show(key)} is missing")
        return found

    def items(self) -> list[At]:
        """The items of a non-empty array."""
        is_array = isinstance(self.value, list)
        if not is_array:
            raise self.refuse(f"it is {json_type(self.value)}, expected an array")
        if not self.value:
            raise self.refuse("it is empty; leave it out")
        return [self.child(index) for index in range(len(self.value))]

    def text(self, pattern: re.Pattern[str] | None = None, what: str = "a text") -> str:
        """A string that is not empty; with `pattern` one that it matches as a whole. `what` says what was expected."""
        value = self.value
        if not isinstance(value, str) or not value or (pattern is not None and not pattern.fullmatch(value)):
            raise self.refuse(f"it is {show(value)}, expected {what}")
        return value

    def texts(self, pattern: re.Pattern[str] | None = None, what: str = "a text") -> tuple[str, ...]:
        """The strings of a non-empty array, all different."""
        found = tuple(each.text(pattern, what) for each in self.items())
        for index, each in enumerate(found):
            if each in found[:index]:
                raise self.child(index).refuse(f"{show(each)} stands twice")
        return found

    def path(self) -> str:
        """A dotted path into a frame (see `paths`)."""
        return self.text(_PATH, "a path such as params.event.type")

    def scalar(self) -> str | int | bool:
        """A string, an integer or a boolean."""
        value = self.value
        if not isinstance(value, str | int):
            raise self.refuse(f"it is {show(value)}, expected a string, an integer or a boolean")
        return value

    def known(self, names: Collection[str], what: str) -> str:
        """A string that is one of `names`."""
        if not isinstance(self.value, str) or self.value not in names:
            raise self.refuse(f"there is no {what} {show(self.value)}; there are {listing([show(each) for each in names])}")
        return self.value
