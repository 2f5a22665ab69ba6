"""Where in a bundle a difference is, as a JSON pointer."""

from __future__ import annotations

from urllib.parse import quote

from .model import Side


def pointer_to(schema: Side, definition: str, path: str, *, method: bool) -> str:
    """The place in the bundle, as far as it has one."""
    if method:
        names = list(schema.methods or {})
        return f"#/x-methods/{names.index(definition)}" if definition in names else "#/x-methods"
    found = schema.definitions.get(definition)
    if found is None:
        return "#/$defs"
    steps = [f"#/$defs/{_step(definition)}"]
    node = found.shape.objects[0] if found.shape.objects else None
    # longest first: a member's name may contain a dot
    for member in sorted(node.members if node else (), key=lambda each: -len(each.wire)):
        if path == f".{member.wire}" or path.startswith(
            (f".{member.wire}.", f".{member.wire}[", f".{member.wire}{{", f".{member.wire}<")
        ):
            steps += ["properties", _step(member.wire)]
            path = path[len(member.wire) + 1 :]
            break
    while path.startswith(("[]", "{}")):
        steps.append("items" if path.startswith("[]") else "additionalProperties")
        path = path[2:]
    return "/".join(steps)


def _step(name: str) -> str:
    return quote(name.replace("~", "~0").replace("/", "~1"), safe="~$()!*'@:,;&=+")
