"""The verdict on params and results: that of `jsonschema`, only quicker and with better errors.

The keywords are those of `Draft202012Validator` with four replaced; none of them changes a verdict:

- `anyOf` of a tagged union judges the arms that can own the object's tag (see `tags`) instead of all of them, so that the
  errors are those of the arm that was meant. Of other unions it reports the arm with the right JSON type.
- `$ref` goes to the definition through a table instead of resolving a URI, and marks in the error where its pointer restarts.
- `required` names the member that is missing, and `type` says nothing: `explain` words it.

Looking for what is wrong with a value, it passes over members and items that the compiled schema accepts.

Nothing is ever retrieved: a reference that leaves the bundle raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from .compiled import Compiled
from .explain import Explainer
from .findings import Problem, too_deep
from .tags import PREFIX, Definitions, Schema, TagTable
from .walk import Restart, Walk, is_type
from .wording import Json, Path

# Its published types leave all arguments open.
_extend: Final[Callable[..., Any]] = getattr(validators, "extend")  # noqa: B009

MOST_PROBLEMS: Final = 20
"""Problems that are reported of one frame's params or result."""


class _Types:
    """The seven JSON types, for the validator of `jsonschema`.

    Its own type checker keeps them in a map written in Rust, which panics instead of raising when the recursion limit is
    reached inside it; a deeply nested frame must end as a finding.
    """

    def is_type(self, instance: Any, type_: str) -> bool:
        """Whether `instance` is of that type."""
        return is_type(instance, type_)


class Judge:
    """Judges values by the definitions of one bundle. Tables and validators are built once and on demand."""

    def __init__(self, bundle: Schema, compiled: Compiled | None = None) -> None:
        self.definitions: Final = Definitions(bundle)
        self._explainer: Final = Explainer(self.definitions, self.table)
        keywords = {"anyOf": self._any_of, "$ref": self._reference, "required": self._required, "type": self._type}
        checker = _extend(Draft202012Validator, keywords, type_checker=_Types())
        registry = Registry[Any]().with_resource(bundle["$id"], DRAFT202012.create_resource(bundle))
        self._root: Any = checker(bundle, registry=registry)
        self._whole: Final = Walk(self.definitions, self._root, checker.VALIDATORS, skip=lambda _schema, _value: False)
        self._short: Final = Walk(self.definitions, self._root, checker.VALIDATORS, skip=(compiled or Compiled(bundle)).fits)

    def table(self, union: Schema) -> TagTable:
        """The tag table of a union of this bundle that has `x-tag`."""
        return self.definitions.table(union)

    def is_valid(self, definition: str, value: Json) -> bool:
        """Whether `value` is valid against `#/$defs/<definition>`. Raises `RecursionError` for hopelessly deep values."""
        return next(iter(self._whole.descend(value, self.definitions.by_ref[PREFIX + definition])), None) is None

    def problems(self, rule: str, definition: str, value: Json, at: Path) -> list[Problem]:
        """What keeps `value`, which stands at `at` in its frame, from being valid: at most `MOST_PROBLEMS`, outermost first."""
        ref = PREFIX + definition
        try:
            errors = list(islice(self._short.descend(value, self.definitions.by_ref[ref]), MOST_PROBLEMS))
        except RecursionError:
            return [too_deep(at)]
        found: list[Problem] = []
        for error in errors:
            path = (*at, *error.absolute_path)
            found.append(Problem(rule, partial(self._explainer.sentence, error, path), path, _pointer(ref, error)))
        return found

    def required(self, definition: str) -> list[str]:
        """The members that an object of `#/$defs/<definition>` must have, as far as that is said in one place."""
        return self.definitions.required(definition)

    def _reference(self, validator: Any, ref: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if ref not in self.definitions.by_ref:
            yield from Draft202012Validator.VALIDATORS["$ref"](self._root, ref, instance, schema) or ()
            return
        for error in validator.descend(instance, self.definitions.by_ref[ref]):
            error.schema_path.appendleft(Restart(ref))
            yield error

    def _type(self, _validator: Any, types: Any, instance: Any, _schema: Any) -> Sequence[ValidationError]:
        fits = is_type(instance, types) if isinstance(types, str) else any(is_type(instance, each) for each in types)
        return () if fits else (ValidationError(""),)  # that of `jsonschema` writes out the value, however large it is

    def _required(self, _validator: Any, required: Sequence[str], instance: Any, _schema: Any) -> Sequence[ValidationError]:
        missing = [member for member in required if member not in instance] if isinstance(instance, dict) else ()
        return [ValidationError(member) for member in missing]

    def _any_of(self, validator: Any, arms: Sequence[Any], instance: Any, schema: Schema) -> Iterable[ValidationError]:
        table = self.table(schema) if "x-tag" in schema else None
        candidates = range(len(arms)) if table is None else table.candidates(instance)
        if table is not None and len(candidates) == 1:
            errors: Iterable[ValidationError] = validator.descend(instance, arms[candidates[0]], schema_path=candidates[0])
            return errors
        failed: dict[int, _Refusal] = {}
        for index in candidates:
            failed[index] = _Refusal.of(validator.descend(instance, arms[index], schema_path=index))
            if not failed[index].errors:
                return ()
        if table is None:
            return self._by_type(failed)
        if failed:
            return failed[table.choose(instance, candidates)].errors
        path = (table.tag,) if table.has_tag(instance) else ()
        return [ValidationError("", validator="x-tag", validator_value=table, path=path, instance=instance, schema=schema)]

    def _by_type(self, failed: Mapping[int, _Refusal]) -> list[ValidationError]:
        """The errors of the only arm that has the right JSON type; with none or several such arms, that none fits."""
        meant = [refusal.errors for refusal in failed.values() if not refusal.misfit]
        return meant[0] if len(meant) == 1 else [ValidationError("")]


class _Refusal(NamedTuple):
    """The first errors of an arm, and whether any says that the value as a whole is of another type than the arm asks for."""

    errors: list[ValidationError]
    misfit: bool

    @classmethod
    def of(cls, errors: Iterable[ValidationError]) -> _Refusal:
        first: list[ValidationError] = []
        misfit = False
        for error in errors:
            misfit = misfit or (not error.path and error.validator in ("type", "const", "enum"))
            if len(first) < MOST_PROBLEMS:
                first.append(error)
        return cls(first, misfit)


def _pointer(ref: str, error: ValidationError) -> str:
    """The schema that refused, as a pointer into the bundle that crosses no reference."""
    parts: list[str] = []
    for element in reversed(error.absolute_schema_path):
        if isinstance(element, Restart):
            ref = element
            break
        parts.append(str(element).replace("~", "~0").replace("/", "~1"))
    return "/".join([ref, *reversed(parts)])
