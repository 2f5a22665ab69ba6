"""The generated TypeScript against real frames: what was on the wire is accepted, the same with broken structure is refused.

A frame becomes one line, `void ({...} satisfies RequestFrame<"initialize">);`, so a diagnostic names its frame. Literals are
checked as written. Only frames that do not pass so, though the schema accepts them, are checked again as a peer's values: with
members that the schema does not declare (TypeScript reports those in literals alone) and with arms of later revisions.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from tests.tsc import Tsc

ROOT: Final = Path(__file__).parents[2]
GENERATED: Final = ROOT / "generated" / "typescript"
SCHEMAS: Final = ROOT / "generated" / "python" / "dsh_protocol"
LOGS: Final = ROOT / "tests" / "fixtures" / "logs"
FIXTURES: Final = {"healthy.jsonl": "v0_2_1", "healthy-0.1.5.jsonl": "v0_1_5"}

# The type of a value that is read only: literals `as const` are, and they keep their literal types.
VALUE: Final = """
type Value<T> = unknown extends T ? T
  : T extends string | number | boolean | null | undefined ? T
  : T extends readonly (infer Item)[] ? readonly Value<Item>[]
  : { readonly [K in keyof T]: Value<T[K]> };
"""


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A frame, the TypeScript type that it claims to have, its payload's place and definition, and where it was seen."""

    type: str
    frame: dict[str, Any]
    origin: str
    payload: str = ""
    definition: str | None = None


@cache
def bundle(module: str) -> dict[str, Any]:
    """The schema of a generated revision."""
    content: dict[str, Any] = json.loads((SCHEMAS / module / "schema.json").read_text(encoding="utf-8"))
    return content


@cache
def validator(module: str, definition: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": bundle(module)["$defs"]})


def accepts(module: str, definition: str | None, value: Any) -> bool:
    """Whether the schema takes `value`; without a definition it takes anything."""
    return definition is None or validator(module, definition).is_valid(value)


def checks(log: Path, module: str) -> Iterator[Check]:
    """Every frame of `log` that has the outer form of a known request, of the answer to one, or of a known notification."""
    requests = {row["name"]: row for row in bundle(module)["x-methods"] if "result" in row}
    notifications = {row["name"]: row for row in bundle(module)["x-methods"] if "result" not in row}
    pending: dict[str, str] = {}
    for number, line in enumerate(log.read_text(encoding="utf-8").rstrip("\n").split("\n"), 1):
        row = json.loads(line)
        frame, origin = row.get("frame"), f"{log.name}:{number}"
        if not isinstance(frame, dict) or frame.get("jsonrpc") != "2.0":
            continue
        method, key = frame.get("method"), json.dumps(frame.get("id"))
        if row["dir"] == "c2s" and method in requests and type(frame.get("id")) in (str, int, float):
            pending[key] = str(method)
            yield Check(f'RequestFrame<"{method}">', frame, origin, "params", requests[method]["params"])
        elif row["dir"] == "s2c" and method in notifications:
            yield Check(f'NotificationFrame<"{method}">', frame, origin, "params", notifications[method]["params"])
        elif row["dir"] == "s2c" and "error" in frame:
            yield Check("ErrorFrame", frame, origin)
        elif row["dir"] == "s2c" and key in pending:
            name = pending.pop(key)
            yield Check(f'ResponseFrame<"{name}">', frame, origin, "result", requests[name]["result"])


def accepted(_: int, check: Check) -> str:
    return f"// {check.origin}\nvoid ({json.dumps(check.frame)} satisfies {check.type});\n"


def accepted_as_value(number: int, check: Check) -> str:
    return f"const f{number} = {json.dumps(check.frame)} as const;\nvoid (f{number} satisfies Value<{check.type}>);\n"


def refused(_: int, check: Check) -> str:
    return f"// @ts-expect-error {check.origin}\nvoid ({json.dumps(check.frame)} satisfies {check.type});\n"


def failures(
    tsc: Tsc, folder: Path, found: dict[str, list[Check]], line: Callable[[int, Check], str], *, as_peer: bool = False
) -> dict[str, dict[Check, str]]:
    """The checks (by module) that tsc refuses when each is written as two lines by `line`, with tsc's words.

    With `as_peer`, members that are open unions take the arms of later revisions too, as a peer may send them.
    """
    shutil.copytree(GENERATED, folder)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    for module, batch in found.items():
        types = folder / f"{module}.d.ts"
        if as_peer:
            types.write_text(opened(types.read_text(encoding="utf-8")), encoding="utf-8")
        head = f'import type {{ ErrorFrame, NotificationFrame, RequestFrame, ResponseFrame }} from "./{module}.js";\n'
        text = head + "".join(line(number, check) for number, check in enumerate(batch)) + VALUE
        (folder / f"{module}.frames.ts").write_text(text, encoding="utf-8")
    refusals: dict[str, dict[Check, str]] = {}
    for diagnostic in tsc.check(folder):
        module, _, rest = diagnostic.file.partition(".")
        assert (rest, diagnostic.line > 1) == ("frames.ts", True), diagnostic
        refusals.setdefault(module, {})[found[module][(diagnostic.line - 2) // 2]] = diagnostic.text
    return refusals


def opened(declarations: str) -> str:
    """The declarations with `...OrUnknown` wherever a member names an open union."""
    names = "|".join(re.findall(r"export type (\w+)OrUnknown", declarations))
    return re.sub(
        r"^  (?!\| ).*", lambda line: re.sub(rf"\b({names})\b", r"\1OrUnknown", line[0]), declarations, flags=re.MULTILINE
    )


def judge(tsc: Tsc, folder: Path, logs: dict[Path, str]) -> tuple[int, list[str]]:
    """How many frames the logs (file -> module) hold that schema and TypeScript accept, and which of these not as literals.

    Fails for a frame that the schema accepts and TypeScript does not.
    """
    found: dict[str, list[Check]] = {}
    for log, module in logs.items():
        found.setdefault(module, []).extend(checks(log, module))
    literals = failures(tsc, folder / "literals", found, accepted)
    good = {
        module: [check for check in batch if accepts(module, check.definition, check.frame.get(check.payload))]
        for module, batch in literals.items()
    }
    values = failures(tsc, folder / "values", good, accepted_as_value, as_peer=True)
    assert not values, "\n".join(f"{check.origin}: {text}" for batch in values.values() for check, text in batch.items())
    as_values = [check.origin for batch in good.values() for check in batch]
    return sum(map(len, found.values())) - sum(map(len, literals.values())) + len(as_values), as_values


@pytest.fixture(scope="module", autouse=True)
def _generated() -> None:
    if not GENERATED.is_dir():
        pytest.skip("generated/typescript is absent: run `make generate`")


def test_shipped_logs_satisfy_the_types(tsc: Tsc, tmp_path: Path) -> None:
    count, as_values = judge(tsc, tmp_path, {LOGS / name: module for name, module in FIXTURES.items()})
    assert count > 50
    assert as_values == []


def test_reference_captures_satisfy_the_types(tsc: Tsc, tmp_path: Path, reference_dir: Path) -> None:
    captures = sorted((reference_dir / "captures").glob("*.jsonl"))
    logs = {log: "v0_2_1" for log in captures if "_0.1." not in log.stem}
    logs |= {log: "v0_1_5" for log in captures if log.stem.endswith("_0.1.5rc1")}
    count, as_values = judge(tsc, tmp_path, logs)
    assert count > 1000
    assert len(as_values) < count / 50, as_values


# Broken frames


def mutants(
    value: Any, refuses: Callable[[Any], bool], whole: Callable[[Any], Any], path: str = ""
) -> Iterator[tuple[str, Any]]:
    """The whole with one defect in the structure of `value`, where the schema refuses it: a member that is left out, or a value
    of another JSON type. Yields the defect's path and the whole. Nothing below a value that may be anything is tried.
    """
    if isinstance(value, dict):
        for key in value:
            if refuses(defect := whole({name: kept for name, kept in value.items() if name != key})):
                yield f"{path}.{key}", defect
    for key in value if isinstance(value, dict) else sorted({0, len(value) - 1}) if isinstance(value, list) and value else ():

        def rebuilt(item: Any, key: Any = key) -> Any:
            changed = value.copy()
            changed[key] = item
            return whole(changed)

        where = f"{path}.{key}"
        defect = next((found for other in others(value[key], where) if refuses(found := rebuilt(other))), None)
        if defect is not None:
            yield where, defect
            yield from mutants(value[key], refuses, rebuilt, where)


def others(value: Any, where: str) -> Iterator[Any]:
    """Values of other JSON types than `value` has; which comes first changes from place to place."""
    samples: list[Any] = [None, 7, "other", {}, []]
    first = len(where) % 2
    return (sample for sample in samples[first:] + samples[:first] if type(sample) is not type(value))


def broken(log: Path, module: str) -> Iterator[Check]:
    """Each kind of frame in `log` with each defect that the schema refuses."""
    kinds: set[tuple[str, str]] = set()
    for check in checks(log, module):
        kind = (check.type, check.frame.get("params", {}).get("event", {}).get("type", ""))
        if check.definition is None or kind in kinds:
            continue
        kinds.add(kind)

        def refuses(value: Any, definition: str = check.definition) -> bool:
            return not accepts(module, definition, value)

        for path, defect in mutants(check.frame[check.payload], refuses, lambda value: value):
            yield Check(check.type, {**check.frame, check.payload: defect}, f"{check.origin} {path}")


def test_broken_structure_is_refused(tsc: Tsc, tmp_path: Path) -> None:
    found = {module: list(broken(LOGS / name, module)) for name, module in FIXTURES.items()}
    assert min(map(len, found.values())) > 200
    unnoticed = failures(tsc, tmp_path / "broken", found, refused)
    assert not unnoticed, "\n".join(f"{check.origin}: {check.frame}" for batch in unnoticed.values() for check in batch)


def test_a_log_reader_can_be_written(tsc: Tsc, tmp_path: Path) -> None:
    shutil.copytree(GENERATED, tmp_path, dirs_exist_ok=True)
    text = """
        import type { NotificationFrame, SessionEvent, SessionEventOrUnknown } from "./index.js";
        const future: SessionEventOrUnknown = { type: "future/event", seq: 1, time: 1, data: { anything: [1] } };
        // @ts-expect-error what is written is known
        const known: SessionEvent = { type: "future/event", seq: 1, time: 1, data: {} };
        export function describe(frame: NotificationFrame): string {
          if (frame.method !== "session.event") return frame.method;
          const { event } = frame.params;
          switch (event.type) {
            case "turn/end": return event.data.reason.kind;
            case "user/message": return event.data.id;
            default: return event.type;
          }
        }
        export const kept: SessionEventOrUnknown[] = [future];
    """
    (tmp_path / "reader.ts").write_text(text, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    assert tsc.check(tmp_path) == []
