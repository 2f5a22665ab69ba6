"""Sentences about the order of frames: which event came where, after what, and which rule that breaks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from .findings import Direction, Finding, Rule, Severity
from .paths import EACH, Key, Scalar, steps
from .pending import OPPOSITE
from .protocol import Protocol
from .sequencing import NOTHING, Event, SequenceRule, Sequencing, fill
from .track import Breach
from .wording import json_path, listing, show


class Words:
    """Makes findings of what the order of frames amounts to. With `strict` warnings are errors."""

    def __init__(self, sequencing: Sequencing, protocol: Protocol, *, strict: bool = False) -> None:
        self._rules: Final = sequencing.rules
        self._events: Final = sequencing.events
        self._protocol = protocol
        self._strict = strict

    def breach(self, breach: Breach, file: str) -> Finding:
        """The finding for two neighbours that a rule does not allow. Its line is that of the breach."""
        rule = self._rules[breach.rule]
        if rule.rising is not None:
            event = self._events[next(iter(rule.events))]
            path = rule.rising
            message = (
                f"`{path.rpartition('.')[2]}` of {_key(breach.key)} is {show(breach.event)}, after {show(breach.previous)} "
                f"in line {breach.previous_line}: it has to rise"
            )
        else:
            event = self._events[str(breach.event)]
            path = next(iter(rule.events[event.name]), "")
            message = self._message(rule, breach)
        severity: Severity = "error" if self._strict and rule.severity == "warning" else rule.severity
        return self._finding(rule, event, file, breach.line, path, message, severity)

    def _message(self, rule: SequenceRule, breach: Breach) -> str:
        event, previous = str(breach.event), str(breach.previous)
        template = rule.says.get(event)
        if template is not None:
            return fill(template, event, previous, breach.previous_line, _shown(breach.key))
        whose = f" of {_key(breach.key)}" if breach.key else ""
        if previous == NOTHING:
            return f"{event}{whose} comes without {listing(sorted(rule.after[event]), 'or') or 'anything'} before it"
        return f"{event}{whose} follows {previous} in line {breach.previous_line}"

    def end(self, index: int, key: Key, event: Scalar, file: str, line: int, seen: Collection[str]) -> Finding | None:
        """The note on what is open at the end of a log, in which the events `seen` came; None where there is nothing to
        tell."""
        rule = self._rules[index]
        for end in rule.ends.get(str(event), ()):
            if end.seen is None or end.seen in seen:
                declared = self._events[str(event)]
                path = next(iter(rule.events[declared.name]), "")
                message = fill(end.says, declared.name, "", line, _shown(key))
                return self._finding(rule, declared, file, line, path, message, "note")
        return None

    def _finding(
        self, rule: SequenceRule, event: Event, file: str, line: int, path: str, message: str, severity: Severity
    ) -> Finding:
        method = self._protocol.methods.get(event.methods[0])
        direction: Direction | None = None if method is None else method.direction
        if direction is not None and event.kind == "response":
            direction = OPPOSITE[direction]
        at = "$" if not path else json_path(step for step in steps(path) if step != EACH)
        return Finding(file, line, direction, event.kind, _only(event.methods), rule.id, at, None, message, severity)


def _only(methods: tuple[str, ...]) -> str | None:
    return methods[0] if len(methods) == 1 else None


def _shown(key: Key) -> list[str]:
    return [show(part) for part in key]


def _key(key: Key) -> str:
    return ", ".join(_shown(key))


def rules(sequencing: Sequencing) -> Mapping[str, Rule]:
    """The rules of the table, as reports list them."""
    return {rule.id: Rule(rule.sentence, rule.protocol, rule.severity) for rule in sequencing.rules}
