"""The verdict on params and results: that of `jsonschema`, only quicker and with better errors.

The validator is `Draft202012Validator` with three keywords replaced; none of them changes a verdict:

- `anyOf` of a tagged union judges the arms that can own the object's tag (see `tags`) instead of all of them, so that the
  errors are those of the arm that was meant. Of other unions it reports the arm with the right JSON type.
- `$ref` goes to the definition through a table instead of resolving a URI, and marks in the error where its pointer restarts.
- `required` names the member that is missing.

Nothing is ever retrieved: a reference that leaves the bundle raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from .explain import Explainer
from .findings import Problem
from .tags import PREFIX, Definitions, Schema, TagTable
from .wording import Json, Path

# Its published types leave all arguments open.
_extend: Final[Callable[..., Any]] = getattr(validators, "extend")  # noqa: B009

MOST_PROBLEMS: Final = 20
"""Problems that are reported of one frame's params or result."""


class _Types:
    """The seven JSON types, as `jsonschema` tells them: 1.0 is an integer, true is no number.

    Its own type checker keeps them in a map written in Rust, which panics instead of raising when the recursion limit is
    reached inside it; a deeply nested frame must end as a finding.
    """

    def is_type(self, instance: Any, type_: str) -> bool:
        """Whether `instance` is of that type."""
        match type_:
            case "string":
                return isinstance(instance, str)
            case "object":
                return isinstance(instance, dict)
            case "array":
                return isinstance(instance, list)
            case "boolean":
                return isinstance(instance, bool)
            case "null":
                return instance is None
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


class Judge:
    """Judges values by the definitions of one bundle. Tables and validators are built once and on demand."""

    def __init__(self, bundle: Schema) -> None:
        self.definitions: Final = Definitions(bundle)
        self._explainer: Final = Explainer(self.definitions, self.table)
        keywords = {"anyOf": self._any_of, "$ref": self._reference, "required": self._required}
        checker = _extend(Draft202012Validator, keywords, type_checker=_Types())
        registry = Registry[Any]().with_resource(bundle["$id"], DRAFT202012.create_resource(bundle))
        self._root: Any = checker(bundle, registry=registry)
        self._by_ref: dict[str, Validator] = {}

    def table(self, union: Schema) -> TagTable:
        """The tag table of a union of this bundle that has `x-tag`."""
        return self.definitions.table(union)

    def is_valid(self, definition: str, value: Json) -> bool:
        """Whether `value` is valid against `#/$defs/<definition>`. Raises `RecursionError` for hopelessly deep values."""
        return next(self._validator(PREFIX + definition).iter_errors(value), None) is None

    def problems(self, rule: str, definition: str, value: Json, at: Path) -> list[Problem]:
        """What keeps `value`, which stands at `at` in its frame, from being valid: at most `MOST_PROBLEMS`, outermost first."""
        ref = PREFIX + definition
        try:
            errors = list(islice(self._validator(ref).iter_errors(value), MOST_PROBLEMS))
        except RecursionError:
            return [Problem("json/nesting", "the value is nested too deeply to be judged", at)]
        found: list[Problem] = []
        for error in errors:
            path = (*at, *error.absolute_path)
            found.append(Problem(rule, self._explainer.sentence(error, path), path, _pointer(ref, error)))
        return found

    def required(self, definition: str) -> list[str]:
        """The members that an object of `#/$defs/<definition>` must have, as far as that is said in one place."""
        return self.definitions.required(definition)

    def _validator(self, ref: str) -> Validator:
        found = self._by_ref.get(ref)
        if found is None:
            found = self._by_ref[ref] = self._root.evolve(schema=self.definitions.by_ref[ref])
        return found

    def _reference(self, validator: Any, ref: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if ref not in self.definitions.by_ref:
            yield from Draft202012Validator.VALIDATORS["$ref"](validator, ref, instance, schema) or ()
            return
        for error in self._validator(ref).iter_errors(instance):
            error.schema_path.appendleft(Restart(ref))
            yield error

    def _required(self, _validator: Any, required: Sequence[str], instance: Any, _schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, dict):
            yield from (ValidationError(member) for member in required if member not in instance)  # `explain` words it

    def _any_of(self, validator: Any, arms: Sequence[Any], instance: Any, schema: Schema) -> Iterator[ValidationError]:
        table = self.table(schema) if "x-tag" in schema else None
        candidates = range(len(arms)) if table is None else table.candidates(instance)
        failed: dict[int, list[ValidationError]] = {}
        for index in candidates:
            errors = validator.descend(instance, arms[index], schema_path=index)
            if len(candidates) == 1 and table is not None:
                yield from errors
                return
            failed[index] = list(errors)
            if not failed[index]:
                return
        if table is None:
            yield from self._by_type(failed)
        elif failed:
            yield from failed[table.choose(instance, candidates)]
        else:
            path = (table.tag,) if table.has_tag(instance) else ()
            yield ValidationError("", validator="x-tag", validator_value=table, path=path, instance=instance, schema=schema)

    def _by_type(self, failed: dict[int, list[ValidationError]]) -> Iterator[ValidationError]:
        """The errors of the only arm that has the right JSON type; with none or several such arms, that none fits."""
        meant = [errors for errors in failed.values() if not any(_is_misfit(error) for error in errors)]
        if len(meant) == 1:
            yield from meant[0]
        else:
            yield ValidationError("", context=[error for errors in failed.values() for error in errors])


def _is_misfit(error: ValidationError) -> bool:
    """Whether a value as a whole is of another type than the schema asks for."""
    return not error.path and error.validator in ("type", "const", "enum")


def _pointer(ref: str, error: ValidationError) -> str:
    """The schema that refused, as a pointer into the bundle that crosses no reference."""
    parts: list[str] = [ref]
    for element in error.absolute_schema_path:
        if isinstance(element, Restart):
            parts = [element]
        else:
            parts.append(str(element).replace("~", "~0").replace("/", "~1"))
    return "/".join(parts)
