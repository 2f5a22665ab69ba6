"""What the quick lanes are held to: the reference, as it comes, on one line; and mutants of lines to try them with.

A lane may refuse what the reference accepts. What it accepts, the reference has to accept, with nothing to report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, NoReturn

from hypothesis import settings
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from dsh_codegen.frames.frame import classify, envelope_problems, undeclared_in_envelope
from dsh_codegen.frames.judge import Judge
from dsh_codegen.frames.members import undeclared
from dsh_codegen.frames.tags import Definitions

LOGS: Final = Path(__file__).parents[2] / "fixtures" / "logs"
_BLANKS: Final = "\t\n\v\f\r \xa0\ufeff\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def bundle(revision: str) -> Any:
    module = f"v{revision.replace('.', '_').replace('-', '_')}"
    path = Path(__file__).parents[3] / "generated" / "python" / "dsh_protocol" / module / "schema.json"
    return json.loads(path.read_text(encoding="utf-8"))


def bundle_of(definitions: dict[str, Any], *methods: dict[str, Any]) -> Any:
    """A bundle that was never generated."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:x",
        "x-methods": list(methods),
        "$defs": definitions,
    }


def effort(usual: int) -> int:
    """How often to try something: more often with HYPOTHESIS_PROFILE=thorough."""
    return usual * settings().max_examples // 100


class Reference:
    """The standard library reads, `jsonschema` judges, `frame` and `members` look for what is not declared.

    One verdict in `plainly` is that of `jsonschema` as it comes.
    """

    def __init__(self, bundle: Any, plainly: int = 30) -> None:
        self.definitions = Definitions(bundle)
        self.methods: dict[str, Any] = {row["name"]: row for row in bundle["x-methods"]}
        self.codes = {row["code"] for row in bundle.get("x-errors", ())}
        self._judge = Judge(bundle)
        self._turn, self._plainly = 0, plainly
        registry: Any = Registry().with_resource(bundle["$id"], DRAFT202012.create_resource(bundle))
        plain: Any = Draft202012Validator
        self._plain = cache(lambda name: plain({"$ref": f"{bundle['$id']}#/$defs/{name}"}, registry=registry))

    def read(self, line: bytes) -> Any:
        """The value of a line. Raises `ValueError` and `RecursionError`."""
        return json.loads(line.decode().strip(_BLANKS), parse_constant=_no_json)

    def takes_row(self, line: bytes) -> str | None:
        """The method of a capture row in which nothing is to be reported; None for any other line. A response has none: ""."""
        try:
            row = self.read(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(row, dict) or row.get("dir") not in ("c2s", "s2c") or not row.keys() <= {"ts", "dir", "frame"}:
            return None
        return self.takes(row.get("frame"), row["dir"])

    def takes_line(self, line: bytes) -> str | None:
        """Likewise for a line that is a bare frame."""
        try:
            return self.takes(self.read(line), None)
        except (ValueError, RecursionError):
            return None

    def takes(self, value: Any, direction: str | None) -> str | None:
        """Likewise for a frame. Of a response only the envelope is judged."""
        frame = classify(value)
        if any(True for _ in envelope_problems(frame, self.codes)) or any(True for _ in undeclared_in_envelope(frame)):
            return None
        if frame.kind == "response":
            return ""
        row = self.methods.get(frame.method or "")
        if row is None or (frame.kind == "request") is not (row.get("result") is not None):
            return None
        if direction is not None and direction != {"client": "c2s", "server": "s2c"}[row["sender"]]:
            return None
        name: str = row["name"]
        if row.get("params") is None:
            return name
        params = value.get("params", {})
        return name if isinstance(params, dict) and self.is_clean(row["params"], params) else None

    def is_clean(self, definition: str, value: Any) -> bool:
        """Whether a value is valid, with nothing undeclared."""
        if not self.is_valid(definition, value):
            return False
        try:
            return not any(True for _ in undeclared(self.definitions, definition, value, ()))
        except RecursionError:
            return False

    def is_valid(self, definition: str, value: Any) -> bool:
        """Whether a value is valid.

        `jsonschema` as it comes takes milliseconds, so mostly `Judge` says it, which is held to that by a test of its own.
        """
        self._turn += 1
        try:
            if self._turn % self._plainly == 0:
                return bool(self._plain(definition).is_valid(value))
            return self._judge.is_valid(definition, value)
        except RecursionError:
            return False


def _no_json(constant: str) -> NoReturn:
    raise ValueError(constant)


class Text(bytes):
    """JSON text, or what looks like it, that is written as it stands."""


class Pairs(list[tuple[Any, Any]]):
    """An object whose members may come more than once."""


ODD: Final[Sequence[Any]] = (
    *(None, True, False, 0, 1, -1, 1.0, 1.5, 0.1, -0.5, 3, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 2**70),
    *(-(2**63), -(2**63) - 1, -(2**70), 10**400, -(10**30), 1e300, 5e-324, "", "a", "1", "\0", "😀", "e\u0301", "\x7f"),
    *(Text(b) for b in (b"1e2", b"1E400", b"-1e400", b"1e-400", b"-0", b"-0.0", b"0.0", b"1.0e0", b"9007199254740993.0")),
    *(Text(b) for b in (b"NaN", b"Infinity", b"-", b"01", b"1.", b".5", b"+1", b"0x1", b"1e", b"tru", b"True", b"nul", b"")),
    *(Text(b) for b in (b'"\\ud800"', b'"\\ud83d\\ude00"', b'"\\u0000"', b'"\\x"', b'"\xff"', b'"\xed\xa0\x80"', b'"\x01"')),
    *(
        Text(b)
        for b in (b'"\t"', b'"a', b"'a'", b"[1,]", b'{"a":1,}', b"[", b"{", b"1 2", b"{}{}", b'{"a":1 "b":2}', b"1" * 5000)
    ),
    *([], [None], [1, 1.0], [1, True], [[]], [1, 1], ["a", "a"], {}, {"": 1}, {"a": None}, {"type": "text"}, {"kind": 1}),
)
"""Values at the edges of JSON, and beyond."""

_BYTES: Final = b'\0\x01\t\n\r "\\/{}[],:019.-+eEnttfaz\x7f\x80\xc0\xe9\xed\xff'


def dump(value: Any) -> bytes:
    """JSON text of a value that may have `Text` and `Pairs` in it."""
    match value:
        case Text():
            return value
        case Pairs() | dict():
            pairs = value if isinstance(value, Pairs) else list(value.items())
            return b"{" + b",".join(_key(name) + b":" + dump(inner) for name, inner in pairs) + b"}"
        case list():
            return b"[" + b",".join(map(dump, value)) + b"]"
        case int():
            return b"1" + b"0" * 400 if value == 10**400 else json.dumps(value).encode()
        case _:
            return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _key(name: Any) -> bytes:
    return name if isinstance(name, Text) else json.dumps(name).encode()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in a value."""
    yield path
    if isinstance(value, Pairs):
        return
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, step))


def mutant(value: Any, random: Random, words: Sequence[str]) -> bytes:
    """The text of a JSON object with something wrong, or only odd, somewhere. `words`: texts that mean something."""
    paths = list(places(value))
    changed = _changed(value, random.choice(paths[1:] or [()]), random, words)
    if random.random() < 0.1:
        changed = _changed(changed, random.choice(list(places(changed))[1:] or [()]), random, words)
    text = dump(changed)
    if random.random() < 0.15:
        at = random.randrange(len(text) + 1)
        odd = bytes([random.choice(_BYTES)])
        text = text[:at] + odd + text[at + random.randrange(2) :]
    if random.random() < 0.05:
        text = (
            random.choice([b" ", b"\t", b"\xef\xbb\xbf", b"\x0b", b"\xc2\xa0"])
            + text
            + random.choice([b"\r", b"  ", b"\0", b"x", b"}"])
        )
    return text


def _changed(value: Any, path: tuple[Any, ...], random: Random, words: Sequence[str]) -> Any:
    """`value` with something else at `path`."""
    if not path:
        return random.choice([*ODD, *words])
    step, *rest = path
    if isinstance(value, list):
        changed = list(value)
        changed[step] = _changed(value[step], tuple(rest), random, words)
        if not rest and random.random() < 0.3:
            changed.append(value[step])
        return changed
    if rest:
        return {**value, step: _changed(value[step], tuple(rest), random, words)}
    pairs = Pairs(value.items())
    index = list(value).index(step)
    name, inner = pairs[index]
    match random.randrange(9):
        case 0:
            del pairs[index]
        case 1:
            pairs.insert(
                random.randrange(len(pairs) + 1), (random.choice([*words, "", "extra", name.upper()]), _odd(random, words))
            )
        case 2:
            pairs[index] = (random.choice([*words, f"{name}x"]), inner)
        case 3:
            pairs.insert(random.randrange(len(pairs) + 1), (name, random.choice([inner, _odd(random, words)])))
        case 4:
            random.shuffle(pairs)
        case 5:
            spelled = "".join(f"\\u{ord(char):04x}" if random.random() < 0.5 else char for char in name)
            pairs[index] = (Text(f'"{spelled}"'.encode()), inner)
        case _:
            pairs[index] = (name, _odd(random, words))
    return pairs


def _odd(random: Random, words: Sequence[str]) -> Any:
    return random.choice(words) if random.random() < 0.3 else random.choice(ODD)


def words_of(bundle: Any) -> list[str]:
    """The names and constants of a bundle."""
    found: set[str] = set()

    def walk(schema: Any) -> None:
        if isinstance(schema, dict):
            found.update(schema.get("properties", {}))
            found.update(each for each in [schema.get("const"), *schema.get("enum", ())] if isinstance(each, str))
            for inner in schema.values():
                walk(inner)
        elif isinstance(schema, list):
            for inner in schema:
                walk(inner)

    walk(bundle["$defs"])
    return sorted({*found, *(row["name"] for row in bundle["x-methods"]), "result", "error", "id", "params", "method"})
