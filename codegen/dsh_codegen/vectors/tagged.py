"""Cases of tagged unions: what decides which arm a value belongs to, and that nothing else does."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import Arm, Literals, Record, Ref, String, Type, Union
from .row import FUTURE, UNLISTED, Case, Value
from .samples import Samples
from .scalars import json_type, wrong_types


def tagged_cases(node: Union, tag: str, samples: Samples) -> Iterator[Case]:
    """The tag absent, null, of another type, unknown, retired; each arm's tag on a body that is not its own; arms by member."""
    least = {arm: _object(arm, samples) for arm in node.arms if _record(arm, samples) is not None}
    known = [value for arm in least for value in arm.tags]
    body = next(iter(least.values()))
    yield Case("negative", {key: value for key, value in body.items() if key != tag}, (tag,), "missing")
    for case in wrong_types({json_type(value) for value in known}):
        yield Case("negative", {**body, tag: case.value}, (tag,), case.reason)
    open_arm = node.open_arm
    rule = None if open_arm is None else _member(open_arm, tag, samples)
    if open_arm is None:
        strange = UNLISTED if isinstance(known[0], str) else max(value for value in known if isinstance(value, int)) + 1
        yield Case("negative", {**body, tag: strange}, (tag,), "wrong tag")
    elif isinstance(rule, String):
        for text in rule.excluded:
            if text not in known:
                yield Case("negative", {**least[open_arm], tag: text}, (tag,), "retired tag")
        if rule.min_length:
            yield Case("negative", {**least[open_arm], tag: ""}, (tag,), "out of range")
    for arm in least:
        yield from _body_of_another(arm, tag, samples)
        if arm.member is not None:
            yield from _by_member(arm, arm.member, least, samples)


def _body_of_another(arm: Arm, tag: str, samples: Samples) -> Iterator[Case]:
    """Every tag of an arm; and the tag with a member of the arm's body missing, which no other arm may take."""
    record, least = _record(arm, samples), _object(arm, samples)
    if record is None:
        return
    for value in arm.tags[1:]:
        yield Case("arm", {**least, tag: value}, (tag,))
    for member in record.members:
        if member.required and member.wire not in (tag, arm.member):
            less = {key: value for key, value in least.items() if key != member.wire}
            yield Case("negative", less, (member.wire,), "missing")
            return


def _by_member(arm: Arm, chooser: str, least: dict[Arm, dict[str, Value]], samples: Samples) -> Iterator[Case]:
    """Having the member chooses the arm among those of the same tag, whatever else is there; among others it says nothing."""
    own, value = _record(arm, samples), least[arm]
    rule = _member(arm, chooser, samples)
    if own is None or rule is None:
        return
    for other, body in least.items():
        record = _record(other, samples)
        if other is arm or record is None:
            continue
        if not set(other.tags) & set(arm.tags):
            if record.member(chooser) is None and not record.closed:
                yield Case("future", {**body, chooser: {FUTURE: True}}, (chooser,))
            continue
        lacking = next((member.wire for member in own.members if member.required and member.wire not in body), chooser)
        if lacking != chooser:
            yield Case("negative", {**body, chooser: value[chooser]}, (lacking,), "missing")
        for case in wrong_types(_kinds(rule, samples)):
            yield Case("negative", {**value, **body, chooser: case.value}, (chooser,), case.reason)


def _record(arm: Arm, samples: Samples) -> Record | None:
    target = samples.protocol.resolve(arm.type)
    return target if isinstance(arm.type, Ref) and isinstance(target, Record) else None


def _object(arm: Arm, samples: Samples) -> dict[str, Value]:
    found: dict[str, Value] = samples.minimal(arm.type)
    return found


def _member(arm: Arm, wire: str, samples: Samples) -> Type | None:
    record = _record(arm, samples)
    member = None if record is None else record.member(wire)
    return None if member is None else samples.protocol.resolve(member.type)


def _kinds(node: Type, samples: Samples) -> set[str]:
    if isinstance(node, Literals):
        return {json_type(value) for value in node.values}
    return {json_type(samples.minimal(node)), json_type(samples.full(node))}
