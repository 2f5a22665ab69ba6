"""The quickest lane: msgspec decodes a line straight into structs that are at least as strict as the bundle.

What decodes is a frame of which nothing is to be said: one JSON value, a proper envelope, a method that is called by the right
side and in the right way, valid params, nothing undeclared. It does not hold the other way round: what does not decode here may
be as good, and has to be judged by somebody else.

Free JSON, and the results of responses, are checked to be JSON and left as they stand in the line. What msgspec does not look
at there is looked at here: see `plain` and `careful`. How deeply free JSON may be nested is up to msgspec, and what is on the
stack when it is called: never as deeply as `depth` goes for the reference, which starts on an empty stack.

Responses don't say what they answer, so only their envelope is judged along with the line. Their result is left unread, and
`accepts` or `result` has to be asked about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import msgspec
from msgspec import Raw, Struct

from .paths import SCALARS
from .struct_frames import Call, StructFrames
from .struct_parts import Tag
from .struct_paths import always, getter
from .struct_scalars import one_of
from .struct_shapes import Shapes
from .struct_types import ANY, StructTypes
from .tags import Schema

MISSES: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""All that is raised for a line or a result that is not accepted. (`msgspec.ValidationError` is a `DecodeError`.)"""

_TWO_DIGITS: Final = re.compile(rb"[0-9]{2}")

Decode: TypeAlias = Callable[[bytes], Any]

MOST_DIGITS: Final = 4_300
"""Python reads no integers that are longer, so a line with one is none that can be read."""


class Structs:
    """The structs of one bundle, and what decodes into them.

    - `rows` decodes a row of a capture with a call, `{"ts"?, "dir", "frame"}`, into `row.ts`, `row.dir` and `row.frame`.
    - `frames` decodes a bare call into `frame.jsonrpc`, `frame.method`, `frame.params`, and `frame.id` if it is a request. What
      `calls` says of its class holds for all of them.
    - `response_rows` and `responses` do so for responses, which have `jsonrpc`, `id`, and either `result`, a `msgspec.Raw` that
      was not looked at, or `error` with `code` and `message`. In rows their direction is either.

    A member that is absent is `msgspec.UNSET`. All four raise one of `MISSES` for a line that they don't accept. They are for
    lines that are `plain`; for others, `careful` makes of them what can be relied upon.
    """

    def __init__(self, bundle: Schema) -> None:
        self._shapes: Final = Shapes(bundle)
        self._types: Final = StructTypes(self._shapes)
        self.finders: Final[dict[tuple[Any, ...], Any]] = {}
        """What was made of getters, for whoever needs the same again."""
        self._getters: Final[dict[tuple[type, str], Callable[[Any], Any] | None]] = {}
        self._results: Final[dict[str | None, Callable[[Raw | bytes], Any]]] = {}
        made = StructFrames(bundle, self._shapes, self._types)
        response = made.response()
        self.frames: Final = _decoder(made.frames("c2s", "s2c"))
        self.rows: Final = _decoder(made.rows())
        self.responses: Final = _decoder([response])
        self.response_rows: Final = _decoder([made.response_row(response)])
        self.calls: Final[Mapping[type, Call]] = made.calls
        self.tags: Final[Mapping[type, tuple[str, Tag]]] = self._types.tags
        """The classes of objects that were chosen by a tag -> the member that is the tag, and its value."""

    def accepts(self, definition: str | None, raw: Raw | bytes) -> bool:
        """Whether a result is valid against `#/$defs/<definition>`, with nothing undeclared; None: whether it is JSON."""
        try:
            self.result(definition, raw)
        except MISSES:
            return False
        return True

    def result(self, definition: str | None, raw: Raw | bytes) -> Any:
        """A result that is accepted, decoded. Raises one of `MISSES` for another."""
        return self.results(definition)(raw)

    def results(self, definition: str | None) -> Callable[[Raw | bytes], Any]:
        """What decodes results that are held to a definition: see `result`."""
        decode = self._results.get(definition)
        if decode is None:
            decode = self._results[definition] = self._result(definition)
        return decode

    def _result(self, definition: str | None) -> Callable[[Raw | bytes], Any]:
        typed = ANY if definition is None else self._types.typed(self._shapes.definition(definition))
        if typed is None or typed.differ:  # only a struct sees to it that the items of an array differ
            return _refuse
        return msgspec.json.Decoder(typed.type).decode

    def getter(self, class_: type, path: str) -> Callable[[Any], Any] | None:
        """A function that finds what stands at a path, such as `params.event.seq`, in an instance of a struct of this bundle.

        Members have their names on the wire. The function gives `msgspec.UNSET` where nothing stands; with `[*]` in the path,
        which is each item of an array, it gives a list of what there is. None for a function: nothing can ever stand there, or
        the class is none of a struct.
        """
        if class_ not in self._types.members:
            return None
        if (class_, path) not in self._getters:
            self._getters[class_, path] = getter(self._types.members, class_, path)
        return self._getters[class_, path]

    def always(self, class_: type, path: str, classes: Collection[type] = SCALARS) -> bool:
        """Whether a scalar, of one of `classes`, stands at a path, such as for `getter`, in every instance of a struct."""
        return class_ in self._types.members and always(self._types.members, class_, path, classes)


def _decoder(structs: Sequence[type[Struct]]) -> Decode:
    return msgspec.json.Decoder(one_of(structs)).decode if structs else _refuse


def plain(lines: Sequence[bytes]) -> bool:
    """Whether no line has what msgspec would not notice in free JSON: bytes that are no UTF-8, integers of too many digits."""
    foreign = [line for line in lines if not line.isascii()]
    long = [line for line in lines if len(line) > MOST_DIGITS]
    return all(map(_is_text, foreign)) and not any(map(_has_long_integer, long))


def careful(decode: Decode) -> Decode:
    """The same for any line. All of it is looked at: a member may come twice, and then the first one leaves no trace."""

    def decode_carefully(line: bytes) -> Any:
        decoded = decode(line)
        if not plain([line]):
            raise msgspec.DecodeError
        return decoded

    return decode_carefully


def _is_text(line: bytes) -> bool:
    """Whether a line is UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _has_long_integer(line: bytes) -> bool:
    """Whether a line may have more than `MOST_DIGITS` digits in a row: then they fill one of the blocks of half that length."""
    half = MOST_DIGITS // 2
    if _TWO_DIGITS.search(line[::half]) is None:  # nearly always so, which spares a look at the blocks
        return False
    return any(line[start : start + half].isdigit() for start in range(0, len(line), half))


def _refuse(_line: object) -> NoReturn:
    raise msgspec.ValidationError("no struct takes this")
