"""Mutants that mean the same as the schema they were made from, so that no vector can notice them.

Each row of the table is one reason why that can be, with the check that proves it. A check looks at the schema and at the
mutant and runs for every single mutant that the reason is claimed of; a survivor that passes none is a gap in the vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from .mutate import Mutant
from .prove import Judge
from .row import FUTURE, UNLISTED, Path

_ANNOTATIONS: Final = frozenset({"description", "deprecated", "title", "default"})


@dataclass(frozen=True, slots=True)
class Site:
    """A mutant beside the schema it was made from."""

    judge: Judge
    schema: Any
    mutant: Mutant


@dataclass(frozen=True, slots=True)
class Equivalence:
    """One reason, and whether it holds for a site."""

    reason: str
    holds: Callable[[Site], bool]


def equivalence(site: Site) -> Equivalence | None:
    """The reason why a mutant changes nothing, proven for it, or None."""
    return next((row for row in TABLE if row.holds(site)), None)


def _admits_all(site: Site) -> bool:
    """What is gone, or stands in for a reference that is, says nothing: it has annotations only."""
    path = site.mutant.path
    if site.mutant.operator != "drop" or not path:
        return False
    *above, last = path
    is_member = above[-1:] == ["properties"] and "additionalProperties" not in _get(site.schema, tuple(above[:-1]))
    if not is_member and last not in {"items", "additionalProperties", "$ref"}:
        return False
    here = _follow(site, _get(site.schema, path if last != "$ref" else tuple(above)))
    return not isinstance(here, bool) and all(key in _ANNOTATIONS or key.startswith("x-") for key in here)


def _is_empty(site: Site) -> bool:
    """A list of required members, or of declared ones, that has none."""
    path = site.mutant.path
    return site.mutant.operator == "drop" and path[-1:] in {("properties",), ("required",)} and not _get(site.schema, path)


def _is_covered(site: Site) -> bool:
    """An arm that takes objects only, beside one that takes every object."""
    path = site.mutant.path
    if site.mutant.operator != "drop" or len(path) < 2 or path[-2] != "anyOf":
        return False
    arms = [_follow(site, arm) for arm in _get(site.schema, path[:-1])]
    gone = arms.pop(int(path[-1]))
    free = [arm for arm in arms if arm.get("type") == "object" and not arm.get("properties") and not arm.get("required")]
    return gone.get("type") == "object" and any("additionalProperties" not in arm for arm in free)


def _excludes_the_same(site: Site) -> bool:
    """An exclusion beside a reference (`x-by-member`): of all objects that the reference can take, it leaves out the same ones.

    The exclusion speaks of the tag's value and of which members are there, so a few objects stand for all.
    """
    path = site.mutant.path
    if "allOf" not in path or path.index("allOf") + 1 >= len(path) or path[path.index("allOf") + 1] == 0:
        return False
    at = path[: path.index("allOf") + 1]
    before, after = _get(site.schema, at)[1:], _get(site.mutant.schema, at)[1:]
    tags = {tag for part in before for tag in part["not"]["properties"]}
    objects: list[Any] = []
    for record in _records(site, _get(site.schema, at)[0]):
        if not tags <= set(record.get("required", ())):
            return False
        rules = {tag: site.judge.part(record["properties"][tag]) for tag in tags}
        stand_ins = _stand_ins(before, tags)
        objects += [each for each in stand_ins if all(rule.is_valid(each[tag]) for tag, rule in rules.items())]
    judges = [site.judge.part({"allOf": parts} if parts else True) for parts in (before, after)]
    return all(judges[0].is_valid(value) == judges[1].is_valid(value) for value in objects)


def _records(site: Site, schema: Any) -> Iterator[Any]:
    """The objects that a reference leads to, of nested unions all."""
    schema = _follow(site, schema)
    if "anyOf" in schema:
        for arm in schema["anyOf"]:
            yield from _records(site, arm)
    else:
        yield schema


def _stand_ins(exclusions: list[Any], tags: set[str]) -> Iterator[dict[str, Any]]:
    """An object for every value of a tag that exclusions name, and two others, with and without each member they name."""
    for part in exclusions:
        rule = part["not"]
        for tag in tags & rule["properties"].keys():
            for value in (*rule["properties"][tag]["enum"], FUTURE, UNLISTED):
                yield {tag: value}
                yield {tag: value, **{wire: True for wire in rule["required"] if wire != tag}}


def _get(schema: Any, path: Path) -> Any:
    for key in path:
        schema = schema[key]
    return schema


def _follow(site: Site, schema: Any) -> Any:
    while not isinstance(schema, bool) and "$ref" in schema:
        schema = site.judge.definition(schema["$ref"])
    return schema


def _stays_whole(site: Site) -> bool:
    """A number that is a multiple of an integer is one."""
    path = site.mutant.path
    if site.mutant.operator != "swap integer for number" or path[-1:] != ("type",):
        return False
    here = _get(site.schema, path[:-1])
    return here["type"] == "integer" and isinstance(here.get("multipleOf"), int)


def _bounds_the_same(site: Site) -> bool:
    """A bound of integers, or of multiples, that was moved past none of them."""
    path = site.mutant.path
    edge = _EDGES.get(path[-1]) if path else None
    if edge is None or site.mutant.operator not in {"up", "down"}:
        return False
    before, after = _get(site.schema, path[:-1]), _get(site.mutant.schema, path[:-1])
    step = before.get("multipleOf", 1 if before.get("type") == "integer" else None)
    return step is not None and edge(before[path[-1]], step) == edge(after[path[-1]], step)


# which multiple of a step is the outermost that a bound lets in
_EDGES: Final[dict[str | int, Callable[[float, int], int]]] = {
    "minimum": lambda bound, step: math.ceil(bound / step),
    "maximum": lambda bound, step: math.floor(bound / step),
    "exclusiveMinimum": lambda bound, step: math.floor(bound / step) + 1,
    "exclusiveMaximum": lambda bound, step: math.ceil(bound / step) - 1,
}

TABLE: Final = (
    Equivalence("no multiple lies between the two bounds", _bounds_the_same),
    Equivalence("multiples of an integer are integers", _stays_whole),
    Equivalence("what is gone admits every value", _admits_all),
    Equivalence("what is gone is an empty list", _is_empty),
    Equivalence("another arm takes all that this one takes", _is_covered),
    Equivalence("of the objects the arm can take, the exclusion leaves out the same ones", _excludes_the_same),
)
"""Why a mutant may be equivalent."""
