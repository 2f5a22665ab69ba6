"""One sentence for one error of the validator: what was found, what was expected, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from jsonschema.exceptions import ValidationError

from ..markup.text import harmless
from .tags import Definitions, Schema, TagTable
from .wording import Json, Path, did_you_mean, json_type, listing, name, nearest, place, show

_ARTICLES: Final = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}
_DEEPEST: Final = 4  # unions in unions that are spelled out
_LONGEST_PATTERN: Final = 60


class Explainer:
    """Makes sentences, knowing the definitions that an expectation may refer to."""

    def __init__(self, definitions: Definitions, table: Callable[[Schema], TagTable]) -> None:
        self._definitions = definitions
        self._table = table
        self._expected: Final[dict[int, str]] = {}

    def sentence(self, error: ValidationError, path: Path) -> str:
        """What `error` says; `path` leads from the frame to the value it is about."""
        instance: Any = error.instance
        schema: Any = error.schema
        asked: Any = error.validator_value
        subject = place(path)
        match error.validator:
            case "required":
                return self._missing(subject, error.message, instance, schema)
            case "x-tag":
                return self._wrong_tag(subject, asked, instance)
            case "enum" | "const":
                known: list[Any] = asked if error.validator == "enum" else [asked]
                hint = did_you_mean(instance, [each for each in known if isinstance(each, str)])
                return f"{subject} is {show(instance)}, expected {self.expected(schema)}{hint}"
            case "not":
                return f"{subject} is {show(instance)}, which is not allowed here"
            case "additionalProperties" if schema.get("additionalProperties") is False:
                return self._surplus(subject, instance, schema)
            case "uniqueItems":
                return f"{subject} has equal items, expected every item once"
            case "minItems" | "maxItems":
                return f"{subject} has {len(instance)} items, expected {self.expected(schema)}"
            case "type":
                return f"{subject} is {_found(instance)}, expected {self.expected(schema)}"
            case _:
                return f"{subject} is {show(instance)}, expected {self.expected(schema)}"

    def expected(self, schema: Any) -> str:
        """What a schema asks for, in words. It must be a part of the bundle, as it is told by its identity."""
        found = self._expected.get(id(schema))
        if found is None:
            found = self._expected[id(schema)] = self._expectation(schema, 0)
        return found

    def _expectation(self, schema: Any, depth: int) -> str:
        schema = self._definitions.resolve(schema)
        if depth > _DEEPEST:
            return "another value"
        if "const" in schema:
            return show(schema["const"])
        if "enum" in schema:
            return listing([show(each) for each in schema["enum"]], "or")
        if "x-tag" in schema:
            return f"an object with {name(schema['x-tag'])}"
        if "anyOf" in schema or "oneOf" in schema:
            arms = [self._expectation(arm, depth + 1) for arm in schema.get("anyOf", schema.get("oneOf"))]
            return listing(list(dict.fromkeys(arms)), "or")
        types: Any = schema.get("type", ())
        if isinstance(types, str):
            types = (types,)
        return listing([_expected_type(each, schema) for each in types], "or") or "another value"

    def _missing(self, subject: str, member: str, instance: dict[str, Json], schema: Schema) -> str:
        properties = schema.get("properties", {})
        expected = self.expected(properties[member]) if member in properties else "a value"
        meant = nearest(member, (other for other in instance if other not in properties))
        hint = "" if meant is None else f"; is {name(meant)} meant to be {name(member)}?"
        return f"{name(member)} is missing in {subject}, expected {expected}{hint}"

    def _wrong_tag(self, subject: str, table: TagTable, instance: Json) -> str:
        known = listing([show(each) for each in table.known], "or")
        if not isinstance(instance, dict):
            return f"{subject} is {_found(instance)}, expected an object with {name(table.tag)}"
        if table.tag not in instance:
            meant = nearest(table.tag, instance)
            hint = "" if meant is None else f"; is {name(meant)} meant to be {name(table.tag)}?"
            return f"{name(table.tag)} is missing in {subject}, expected {known}{hint}"
        value = instance[table.tag]
        if value in table.retired:
            return f"{subject} is {show(value)}, which this revision no longer has; expected {known}"
        return f"{subject} is {show(value)}, expected {known}{did_you_mean(value, [str(each) for each in table.known])}"

    def _surplus(self, subject: str, instance: dict[str, Json], schema: Schema) -> str:
        declared = schema.get("properties", {})
        surplus = [member for member in instance if member not in declared]
        hint = did_you_mean(surplus[0], declared) if len(surplus) == 1 else ""
        return f"{subject} has {listing([name(each) for each in surplus])}, which it may not have{hint}"


def _found(value: Json) -> str:
    return "null" if value is None else f"{show(value)} ({json_type(value)})"


def _expected_type(type_: str, schema: Schema) -> str:
    match type_:
        case "integer" | "number":
            return _ARTICLES[type_] + _range(schema)
        case "string":
            return _expected_string(schema)
        case "array" if "minItems" in schema or "maxItems" in schema:
            low, high = schema.get("minItems", 0), schema.get("maxItems")
            return f"an array of at least {low} items" if high is None else f"an array of {low} to {high} items"
        case _:
            return _ARTICLES.get(type_, type_)


def _range(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    words: list[str] = []
    if low is not None and high is not None:
        words.append(f" from {show(low)} to {show(high)}")
    elif low is not None:
        words.append(f" of at least {show(low)}")
    elif high is not None:
        words.append(f" of at most {show(high)}")
    if "exclusiveMinimum" in schema:
        words.append(f" greater than {show(schema['exclusiveMinimum'])}")
    if "exclusiveMaximum" in schema:
        words.append(f" less than {show(schema['exclusiveMaximum'])}")
    if "multipleOf" in schema:
        words.append(f" that is a multiple of {show(schema['multipleOf'])}")
    return "".join(words)


def _expected_string(schema: Schema) -> str:
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    words = "a non-empty string" if low == 1 else "a string"
    if low > 1:
        words += f" of at least {low} characters"
    if high is not None:
        words += f" of at most {high} characters"
    if "pattern" in schema:
        words += _form(schema["pattern"], schema.get("description", ""))
    return words


def _form(pattern: str, description: str) -> str:
    """What a string has to look like: a long pattern explains less than the first words of its description."""
    if len(pattern) <= _LONGEST_PATTERN or not description:
        return f" that matches {harmless(pattern)}"
    first_words = re.split(r"[.:;]", description)[0]
    return f', described as "{harmless(first_words)}"'
