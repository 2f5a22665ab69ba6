"""`by_schema.py root|dispatched|fastjsonschema BUNDLE FILE`: judge each frame with a library; prints seconds, frames, invalid.

    root            `jsonschema` with the root schema, as one would begin
    dispatched      `jsonschema` with the schema of the method, and of the type of an event: no union is tried through
    fastjsonschema  the same with compiled functions

Parsing is in the seconds, with the standard library; starting up and compiling are not.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

Check = Callable[[Any], bool]
"""Whether a value is valid."""

EVENTS: Final = "session.event"


def root(bundle: dict[str, Any]) -> Check:
    """`jsonschema` as one would begin."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(bundle).is_valid


def by_jsonschema(bundle: dict[str, Any]) -> Callable[[str], Check]:
    """Compiles for `Dispatched` with `jsonschema`."""
    from jsonschema import Draft202012Validator

    whole = Draft202012Validator(bundle)
    return lambda name: whole.evolve(schema=bundle["$defs"][name]).is_valid


def by_fastjsonschema(bundle: dict[str, Any]) -> Callable[[str], Check]:
    """Compiles for `Dispatched` with `fastjsonschema`, whose newest draft is 7: what is newer it does not see."""
    library: Any = import_module("fastjsonschema")

    def compile_(name: str) -> Check:
        judge = library.compile({"$ref": f"#/$defs/{name}", "$defs": bundle["$defs"]})

        def check(value: Any) -> bool:
            try:
                judge(value)
            except library.JsonSchemaException:
                return False
            return True

        return check

    return compile_


class Dispatched:
    """Judges frames by their methods, events by their types, and responses by their requests. The envelope is not judged."""

    def __init__(self, bundle: dict[str, Any], compile_: Callable[[str], Check]) -> None:
        self._params = {each["name"]: compile_(each["params"]) for each in bundle["x-methods"] if each["params"]}
        self._results = {each["name"]: compile_(each["result"]) for each in bundle["x-methods"] if each.get("result")}
        arms = [each["$ref"].rpartition("/")[2] for each in bundle["$defs"]["SessionEvent"]["anyOf"]]
        types = {name: bundle["$defs"][name]["properties"]["type"].get("const") for name in arms}
        self._events = {types[name]: compile_(name) for name in arms}
        self._asked: dict[Any, str] = {}

    def is_valid(self, frame: Any) -> bool:
        """Whether a frame is valid."""
        method = frame.get("method")
        if method is None:
            method = self._asked.pop(frame["id"], "")
            return method in self._results and ("error" in frame or self._results[method](frame.get("result")))
        if method == EVENTS:
            params = frame["params"]
            event = params["event"]
            return isinstance(params["sessionId"], str) and self._events.get(event["type"], self._events[None])(event)
        if "id" in frame:
            self._asked[frame["id"]] = method
        return method not in self._params or self._params[method](frame["params"])


def judge(kind: str, bundle: dict[str, Any]) -> Check:
    """The function that judges a frame."""
    if kind == "root":
        return root(bundle)
    compile_ = by_fastjsonschema if kind == "fastjsonschema" else by_jsonschema
    return Dispatched(bundle, compile_(bundle)).is_valid


def main() -> None:
    kind, bundle, file = sys.argv[1:]
    is_valid = judge(kind, json.loads(Path(bundle).read_text(encoding="utf-8")))
    frames = invalid = 0
    with Path(file).open(encoding="utf-8", newline="\n") as lines:
        start = time.perf_counter()
        for line in lines:
            frame = json.loads(line)["frame"]
            if frame is not None:
                frames += 1
                invalid += not is_valid(frame)
        seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "frames": frames, "invalid": invalid}))


if __name__ == "__main__":
    main()
