"""What the keywords of `jsonschema` are handed to go on with: its validator, without what it does anew at every step.

A keyword is a function of a validator, the keyword's value, an instance and a schema. It yields errors, and asks the validator
to judge members and items. That of `jsonschema` makes a validator and a resolver for each of these; this one looks up once
what the keywords of a schema are. A few keywords ask for more than that, and get the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from types import NoneType
from typing import Any, Final, TypeAlias, cast

from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from .tags import Definitions, Schema
from .wording import Json

Keyword: TypeAlias = Callable[[Any, Any, Any, Any], "Iterable[ValidationError] | None"]
"""A keyword of `jsonschema`: validator, value, instance, schema -> errors."""

Skip: TypeAlias = Callable[[Any, Json], bool]
"""Whether a value is known to be valid against a schema, so that its errors need not be looked for."""

_Demands: TypeAlias = "tuple[Schema, Restart | None, list[tuple[Keyword, str, Any, Validator | None]]]"
"""A schema, the reference that leads to it, and its keywords with name, value and the validator they need, if it is another."""

MOST_STEPS: Final = 200
"""How deeply a value is followed into members and items, wherever it is judged: the stack has room for that."""

_DEMANDING: Final = frozenset({"$dynamicRef", "unevaluatedItems", "unevaluatedProperties"})
_UNSET: Final[object] = ValidationError("").schema  # what an error says of which nobody has said anything


_TYPES: Final[Mapping[str, type]] = {"string": str, "object": dict, "array": list, "boolean": bool, "null": NoneType}


def is_type(instance: Any, type_: str) -> bool:
    """Whether `instance` is of a JSON type, as `jsonschema` tells them: 1.0 is an integer, true is no number."""
    found = _TYPES.get(type_)
    if found is not None:
        return isinstance(instance, found)
    match type_:
        case "number":
            return isinstance(instance, int | float) and not isinstance(instance, bool)
        case "integer" if isinstance(instance, float):
            return instance.is_integer()
        case "integer":
            return isinstance(instance, int) and not isinstance(instance, bool)
        case _:
            raise ValueError(f"the schema has a type that is none of JSON's: {type_!r}")


class Restart(str):
    """An element of a schema path at which the pointer starts anew: the reference that was followed."""

    __slots__ = ()


class Walk:
    """Judges values by the definitions of a bundle. Schemas are told by their identity, so they must live as long as it does.

    `keywords` are those of `validator`, which judges by the whole bundle. `skip` saves steps into members and items.
    """

    format_checker: Final = None  # a format demands nothing
    is_type: Final = staticmethod(is_type)

    def __init__(self, definitions: Definitions, validator: Validator, keywords: Mapping[str, Keyword], skip: Skip) -> None:
        self.schema: Any = True
        self._definitions = definitions
        self._validator: Any = validator
        self._keywords = keywords
        self._skip = skip
        self._known: dict[int, _Demands] = {}
        self._steps = 0
        self._next: Walk | None = None

    def evolve(self, *, schema: Any) -> Walk:
        """The same for a value that is held to `schema` as a whole."""
        other = copy(self)
        other.schema = schema
        return other

    def is_valid(self, instance: Any) -> bool:
        """Whether there is no error. Raises `RecursionError` for hopelessly deep values."""
        return next(self.iter_errors(instance), None) is None

    def iter_errors(self, instance: Any) -> Iterator[ValidationError]:
        """The errors of a value. Raises `RecursionError` for hopelessly deep values."""
        return self._errors(instance, self.schema, None, None)

    def descend(self, instance: Any, schema: Any, path: Any = None, schema_path: Any = None) -> Iterable[ValidationError]:
        """The errors of a value by another schema. `path` is the step to it from the value that was judged before."""
        if path is None:
            return self._errors(instance, schema, None, schema_path)
        if self._skip(schema, instance):
            return ()
        return (self._next or self._one_step_on())._errors(instance, schema, path, schema_path)

    def _one_step_on(self) -> Walk:
        if self._steps >= MOST_STEPS:
            raise RecursionError
        self._next = copy(self)
        self._next._steps, self._next._next = self._steps + 1, None
        return self._next

    def _errors(self, instance: Any, schema: Any, path: Any, schema_path: Any) -> Iterator[ValidationError]:
        if schema is True:
            return
        if schema is False:
            yield ValidationError("", validator=cast("str", None), validator_value=None, instance=instance, schema=False)
            return
        schema, restart, demands = self._known.get(id(schema)) or self._look_up(schema)
        for keyword, name, value, validator in demands:
            for error in keyword(validator or self, value, instance, schema) or ():
                if error.schema is _UNSET:
                    _fill(error, name, value, instance, schema)
                if name not in ("if", "$ref"):
                    error.schema_path.appendleft(name)
                if restart is not None:
                    error.schema_path.appendleft(restart)
                if path is not None:
                    error.path.appendleft(path)
                if schema_path is not None:
                    error.schema_path.appendleft(schema_path)
                yield error

    def _look_up(self, schema: Schema) -> _Demands:
        """What a schema demands, in its order; for one that only refers to a definition, what that demands."""
        definitions = self._definitions.by_ref
        target, restart = schema, None
        seen: set[str] = set()
        while self._keywords.keys() & target.keys() == {"$ref"} and isinstance(definitions.get(ref := target["$ref"]), dict):
            if ref in seen:  # it is endless, and ends with a `RecursionError`
                target, restart = schema, None
                break
            seen.add(ref)
            target, restart = definitions[ref], Restart(ref)
        demands = [
            (self._keywords[name], name, value, self._validator.evolve(schema=target) if name in _DEMANDING else None)
            for name, value in target.items()
            if name in self._keywords
        ]
        found = self._known[id(schema)] = target, restart, demands
        return found


def _fill(error: ValidationError, name: str, value: Any, instance: Any, schema: Any) -> None:
    """What a keyword leaves open in an error of its own."""
    if error.validator is _UNSET:
        error.validator, error.validator_value = name, value
    error.instance, error.schema = instance, schema
