"""What the keywords of `jsonschema` are handed to go on with: its validator, without what it does anew at every step.

A keyword is a function of a validator, the keyword's value, an instance and a schema. It yields errors, and asks the validator
to judge members and items. That of `jsonschema` makes a validator and a resolver for each of these; this one looks up once
what the keywords of a schema are. A few keywords ask for more than that, and get the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from .wording import Json

Keyword: TypeAlias = Callable[[Any, Any, Any, Any], "Iterable[ValidationError] | None"]
"""A keyword of `jsonschema`: validator, value, instance, schema -> errors."""

Skip: TypeAlias = Callable[[Any, Json], bool]
"""Whether a value is known to be valid against a schema, so that its errors need not be looked for."""

_Demand: TypeAlias = "tuple[Keyword, str, Any, Validator | None]"
"""A keyword, its name and its value, and the validator that it needs, if that is not the one that walks."""

_DEMANDING: Final = frozenset({"$dynamicRef", "unevaluatedItems", "unevaluatedProperties"})
_UNSET: Final[object] = ValidationError("").schema  # what an error says of which nobody has said anything


class Walk:
    """Judges values by one schema of a bundle. Schemas must live as long as it does: they are told by their identity.

    `keywords` are those of `validator`, which judges by the whole bundle; `skip` saves steps into members and items.
    """

    format_checker: Final = None  # a format is no demand

    def __init__(self, schema: Any, validator: Validator, keywords: Mapping[str, Keyword], skip: Skip) -> None:
        self.schema = schema
        self._validator = validator
        self._keywords = keywords
        self._skip = skip
        self._known: dict[int, list[_Demand]] = {}

    def evolve(self, *, schema: Any) -> Walk:
        """The same for another schema."""
        walk = Walk(schema, self._validator, self._keywords, self._skip)
        walk._known = self._known
        return walk

    def is_type(self, instance: Any, type_: str) -> bool:
        """Whether `instance` is of a JSON type."""
        return is_type(instance, type_)

    def is_valid(self, instance: Any) -> bool:
        """Whether there is no error. Raises `RecursionError` for hopelessly deep values."""
        return next(self.iter_errors(instance), None) is None

    def iter_errors(self, instance: Any) -> Iterator[ValidationError]:
        """The errors of a value. Raises `RecursionError` for hopelessly deep values."""
        return self._errors(instance, self.schema, None, None)

    def descend(self, instance: Any, schema: Any, path: Any = None, schema_path: Any = None) -> Iterable[ValidationError]:
        """The errors of a value by another schema; `path` is the step from the value that was judged before, if it is another."""
        if path is not None and self._skip(schema, instance):
            return ()
        return self._errors(instance, schema, path, schema_path)

    def _errors(self, instance: Any, schema: Any, path: Any, schema_path: Any) -> Iterator[ValidationError]:
        if schema is True:
            return
        if schema is False:
            yield ValidationError("", validator=cast("str", None), validator_value=None, instance=instance, schema=False)
            return
        known = self._known.get(id(schema))
        for keyword, name, value, validator in self._look_up(schema) if known is None else known:
            for error in keyword(validator or self, value, instance, schema) or ():
                if error.schema is _UNSET:
                    _fill(error, name, value, instance, schema)
                if name not in ("if", "$ref"):
                    error.schema_path.appendleft(name)
                if path is not None:
                    error.path.appendleft(path)
                if schema_path is not None:
                    error.schema_path.appendleft(schema_path)
                yield error

    def _look_up(self, schema: Mapping[str, Any]) -> list[_Demand]:
        """What a schema demands, in the order in which it says so."""
        found = self._known[id(schema)] = [
            (self._keywords[name], name, value, self._validator.evolve(schema=schema) if name in _DEMANDING else None)
            for name, value in schema.items()
            if name in self._keywords
        ]
        return found


def _fill(error: Any, name: str, value: Any, instance: Any, schema: Any) -> None:
    """What a keyword leaves open in an error of its own."""
    for field, content in (("validator", name), ("validator_value", value), ("instance", instance), ("schema", schema)):
        if getattr(error, field) is _UNSET:
            setattr(error, field, content)


def is_type(instance: Any, type_: str) -> bool:
    """Whether `instance` is of one of the seven JSON types, as `jsonschema` tells them: 1.0 is an integer, true is no number."""
    try:
        return _TYPES[type_](instance)
    except KeyError:
        raise ValueError(f"the schema has a type that is none of JSON's: {type_!r}") from None


_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        value.is_integer() if isinstance(value, float) else isinstance(value, int) and not isinstance(value, bool)
    ),
}
