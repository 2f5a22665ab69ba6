"""Every site of the method map in the generated Python of one revision."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dsh_codegen.parity.python import parse_module, read_methods
from tests.parity.python_text import Piece
from tests.parity.sites import OTHER, Site, Sites, also_named


def method_sites(text: str, sites: Sites) -> Iterator[Site]:
    """The changes of a `methods.py`: its table, the mapping of types, the overloads."""
    piece = Piece(text.encode())

    def site(category: str, method: str, what: str, node: ast.expr, new: str) -> Site:
        made = sites.method(category, what, method, lambda: read_methods(parse_module(piece.changed((node, new)))))
        return also_named(made) if what.startswith("rename") else made

    for node in ast.parse(text).body:
        match node:
            case ast.AnnAssign(target=ast.Name(id="METHODS"), value=ast.Dict(keys=keys, values=calls)):
                for key, call in zip(keys, calls, strict=True):
                    assert isinstance(key, ast.Constant)
                    assert isinstance(call, ast.Call)
                    name = str(key.value)
                    yield site("method", name, "rename the key of", key, repr(OTHER))
                    yield site("method", name, "another name inside", call.args[0], repr(OTHER))
                    swapped = "server" if ast.unparse(call.args[1]) == "'client'" else "client"
                    yield site("sender", name, "sender of", call.args[1], repr(swapped))
                    kind = "Notification" if ast.unparse(call.func) == "Request" else "Request"
                    yield site("result", name, "kind of", call.func, kind)
                    for way, payload in zip(("params", "result"), call.args[2:], strict=False):
                        if isinstance(payload, ast.Call):
                            yield site(way, name, f"class of {way} of", payload.args[2], repr(OTHER))
                            yield site(way, name, f"definition of {way} of", payload.args[3], repr(OTHER))
                        else:
                            yield site(way, name, f"{way} of", payload, f"TypeRef(_PACKAGE, 'm', '{OTHER}', '{OTHER}')")
            case ast.Assign(targets=[ast.Name(id="Methods")], value=ast.Call(args=[_, ast.Dict(keys=keys, values=hints)])):
                for key, hint in zip(keys, hints, strict=True):
                    assert isinstance(key, ast.Constant)
                    assert isinstance(hint, ast.Constant)
                    name = str(key.value)
                    yield site("method", name, "rename the type of", key, repr(OTHER))
                    head, _, rest = str(hint.value).rstrip("]").partition("[")
                    names = rest.split(", ")
                    for index, way in enumerate(("params", "result")[: len(names)]):
                        changed = [OTHER if at == index else each for at, each in enumerate(names)]
                        yield site(way, name, f"typed {way} of", hint, repr(f"{head}[{', '.join(changed)}]"))
            case ast.FunctionDef(
                name="decode_params" | "decode_result" as function,
                args=ast.arguments(args=[first, _]),
                returns=ast.expr() as returns,
            ) if isinstance(first.annotation, ast.Subscript):
                key = first.annotation.slice
                assert isinstance(key, ast.Constant)
                name, way = str(key.value), function.removeprefix("decode_")
                yield site("method", name, f"rename the overload for {way} of", key, repr(OTHER))
                yield site(way, name, f"overload for {way} of", returns, OTHER)
            case _:
                pass
