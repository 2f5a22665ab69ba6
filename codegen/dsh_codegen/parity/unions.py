"""What a generated union says about its arms beyond their names, against what the arms of the schema add up to.

Python's decoders have a table from values of the tag to arms; TypeScript's `XOrUnknown` lists what the future may add. Both
repeat what the definitions of the arms say. Where an arm differs itself, that is reported there, and not here once more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from .found import At, Found, Tags
from .model import FUTURE, Definition, Shape, kind_of

REST = "*"


def tags_of(definitions: Mapping[str, Definition]) -> Tags:
    """Definition and member of the tag, for every arm of every tagged union."""
    return frozenset(
        (arm, union.tag) for union in definitions.values() if union.tag is not None for arm in _arms(union, definitions)
    )


def table(union: Definition, definitions: Mapping[str, Definition]) -> frozenset[tuple[str, str]]:
    """Value of the tag and arm, as the arms' own definitions have them; `*` stands for every other value."""
    found: set[tuple[str, str]] = set()
    for name in _arms(union, definitions):
        for node in definitions[name].shape.objects:
            member = node.member(union.tag or "")
            if member is not None:
                values = member.shape.literals if not member.shape.kinds else frozenset({REST})
                found |= {(value, name) for value in values}
    return frozenset(found)


def dispatch(
    schema: Mapping[str, Definition], union: Definition, other: Definition, explained: Collection[tuple[str, str]]
) -> Iterator[Found]:
    """Where the table of a decoder leads elsewhere. `explained` are (definition, path) that were reported already."""
    if other.arms is None or union.tag is None or union.tag != other.tag or other.arms == table(union, schema):
        return
    wanted = table(union, schema)
    if any(definition == union.name and not path for definition, path in explained):
        return
    told = {definition for definition, path in explained if path in ("", f".{union.tag}")}
    if told & _nested(union, schema):
        return
    odd = {(value, arm) for value, arm in wanted ^ other.arms if arm not in told}
    values = {value for value, _ in odd}
    if odd:
        places = (union.place, other.place)
        yield Found(At(union.name), "discriminator", "other", _rows(wanted, values), _rows(other.arms, values), places)


def future(
    schema: Mapping[str, Definition], union: Definition, other: Definition, explained: Collection[tuple[str, str]]
) -> Iterator[Found]:
    """Where `XOrUnknown` adds something else than the open arms, and the open unions among the arms."""
    if other.future is None or not (union.open and other.open):
        return
    arms = [schema[name] for name in union.shape.refs if name in schema]
    opened = [arm for arm in arms if _is_open(arm, union.tag)]
    wanted = frozenset(arm.name if arm.shape.objects else f"{arm.name}{FUTURE}" for arm in opened)
    told = {definition for definition, _ in explained}
    odd = {name for name in wanted ^ other.future if name.removesuffix(FUTURE) not in told}
    if odd and union.name not in told:
        places = (union.place, other.place)
        yield Found(At(union.name), "open", "other", _names(wanted), _names(other.future), places)


def _arms(union: Definition, definitions: Mapping[str, Definition], seen: frozenset[str] = frozenset()) -> set[str]:
    """The records that a union comes down to."""
    found: set[str] = set()
    for name in union.shape.refs - seen:
        if name in definitions:
            inner = definitions[name]
            found |= {name} if inner.shape.objects else _arms(inner, definitions, seen | union.shape.refs)
    return found


def _nested(union: Definition, definitions: Mapping[str, Definition]) -> set[str]:
    """The arms of a union that are no records: other unions, and what is not there."""
    found: set[str] = set()
    for name in union.shape.refs:
        inner = definitions.get(name)
        if inner is None:
            found.add(name)
        elif not inner.shape.objects:
            found |= {name} | _nested(inner, definitions)
    return found


def reached_arms(name: str, definitions: Mapping[str, Definition], memory: dict[int, frozenset[str]]) -> frozenset[str]:
    """A union with its arms, and those of the unions among them. `memory` is by id: the definitions have to outlive it."""
    union = definitions[name]
    if id(union) not in memory:
        found = {name}
        todo = list(union.shape.refs)
        while todo:
            arm = todo.pop()
            if arm not in found:
                found.add(arm)
                inner = definitions.get(arm)
                todo += inner.shape.refs if inner is not None and not inner.shape.objects else ()
        memory[id(union)] = frozenset(found)
    return memory[id(union)]


def _is_open(arm: Definition, tag: str | None) -> bool:
    if not arm.shape.objects:
        return bool(arm.open)
    member = arm.shape.objects[0].member(tag or "")
    return member is not None and _unbounded(member.shape)


def _unbounded(shape: Shape) -> bool:
    return bool(shape.kinds - {kind_of(literal) for literal in shape.literals}) if shape.literals else bool(shape.kinds)


def _rows(rows: Collection[tuple[str, str]], values: Collection[str]) -> str:
    chosen = [f"{value} -> {arm}" for value, arm in sorted(rows) if value in values]
    return ", ".join(chosen) or f"no arm for {', '.join(sorted(values))}"


def _names(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
