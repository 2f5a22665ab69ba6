"""The method maps of two sides: names, senders, and what goes with each method."""

from __future__ import annotations

from collections.abc import Iterator

from .found import MISSING, At, Found
from .model import Method, Shape, Side, text
from .pairwise import Pair


def compare_methods(left: Side, right: Side, pair: Pair) -> Iterator[Found]:
    """What two method maps say differently; nothing where a side has none."""
    if left.methods is None or right.methods is None:
        return
    for name in dict.fromkeys([*left.methods, *right.methods]):
        one, other = left.methods.get(name), right.methods.get(name)
        if one is None or other is None:
            places = (None if one is None else one.place, None if other is None else other.place)
            said = (MISSING, _signature(other)) if one is None else (_signature(one), MISSING)
            yield Found(At(name), "method", "wider" if one is None else "narrower", *said, places)
            continue
        places = (one.place, other.place)
        if one.name != other.name:
            yield Found(At(name), "method", "other", one.name, other.name, places)
            continue
        if one.sender is not None and other.sender is not None and one.sender != other.sender:
            yield Found(At(name), "sender", "other", one.sender, other.sender, places)
        for way, first, second in (("params", one.params, other.params), ("result", one.result, other.result)):
            if first is None or second is None:
                if first is not second:
                    yield Found(At(name), way, "other", _shown(first), _shown(second), places)
            elif right.complete and first != second:
                yield Found(At(name), way, "other", text(first), text(second), places)
            else:
                yield from pair.shapes(first, second, At(name, f".{way}"))


def _signature(method: Method | None) -> str:
    if method is None:
        return MISSING
    kind = "notification" if method.result is None else "request"
    return f"{kind} of the {method.sender}" if method.sender else kind


def _shown(shape: Shape | None) -> str:
    return "none" if shape is None else text(shape)
