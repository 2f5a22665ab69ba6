"""IR -> the generated Python package: one subpackage per revision, one module per schema file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .. import naming
from ..errors import CodegenError
from ..ir import Definition, Method, Protocol, Record, Ref, Type
from .bundle import bundle_text
from .codecs import member_types, render_codecs
from .dataclasses import class_doc, render_types
from .environment import environment
from .literals import py_docstring, py_literal

_SUPPORT: Final = ("_codec", "_explain", "_methods")
_STDLIB: Final = {
    "Callable": "collections.abc",
    "dataclass": "dataclasses",
    "field": "dataclasses",
    "Any": "typing",
    "Final": "typing",
    "Literal": "typing",
    "Optional": "typing",  # written by the library where an alias refers to itself
    "TypeAlias": "typing",
    "Union": "typing",
}
_CODEC: Final = (
    "UNSET",
    "Mismatch",
    "Payload",
    "UnsetType",
    "encode",
    "extra",
    "integral",
    "literal",
    "merge",
    "new",
    "register",
    "unique",
)


@dataclass(frozen=True, slots=True)
class PythonOptions:
    """`package` is the import name of the generated package, `head` the revision whose names its root re-exports."""

    package: str
    head: str


def python_files(protocols: Sequence[Protocol], options: PythonOptions) -> dict[str, str]:
    """Text by path below the Python output directory. `protocols` are oldest first. Not yet formatted."""
    root = options.package
    head = next(protocol for protocol in protocols if protocol.revision == options.head)
    files = {f"{root}/py.typed": "", f"{root}/__init__.py": _root(protocols, head)}
    for name in _SUPPORT:
        files[f"{root}/{name}.py"] = environment().get_template(f"{name}.py.jinja").render()
    for protocol in protocols:
        base = f"{root}/{naming.revision_module(protocol.revision)}"
        for name, text in revision_files(protocol, options.package).items():
            files[f"{base}/{name}"] = text
    for path, text in files.items():
        if path.endswith(".py"):
            _compile(text, path)
    return files


def revision_files(protocol: Protocol, package: str) -> dict[str, str]:
    """Text by path below the subpackage of one revision."""
    types = render_types(protocol)
    groups = _modules(protocol)
    module_of = {definition.name: module for module, definitions in groups.items() for definition in definitions}
    files = {"schema.json": bundle_text(protocol, package), "methods.py": _methods(protocol, module_of)}
    files["__init__.py"] = _revision(protocol, groups)
    for module, definitions in groups.items():
        files[f"{module}.py"] = _module(module, definitions, types, module_of, protocol)
    return files


def _compile(text: str, path: str) -> None:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, Warning) as error:
        raise CodegenError(f"{path}: the generated file does not compile ({error}); this is a bug of the generator") from error


def _modules(protocol: Protocol) -> dict[str, list[Definition]]:
    """Definitions by Python module. Schema files that refer to each other in a circle share one module."""
    uses: dict[str, set[str]] = {definition.module: set() for definition in protocol.definitions}
    for definition in protocol.definitions:
        uses[definition.module] |= {protocol.by_name[name].module for name in _referenced(definition.type)}
    reach = {module: _reachable(module, uses) for module in uses}
    home = {
        module: min(other for other in uses if other == module or (other in reach[module] and module in reach[other]))
        for module in uses
    }
    groups: dict[str, list[Definition]] = {}
    for definition in protocol.definitions:
        groups.setdefault(home[definition.module], []).append(definition)
    return groups


def _reachable(start: str, uses: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        for other in uses[todo.pop()] - found:
            found.add(other)
            todo.append(other)
    return found


def _referenced(node: Type) -> set[str]:
    if isinstance(node, Ref):
        return {node.name}
    return {name for inner in member_types(node) for name in _referenced(inner)}


def _module(
    module: str, definitions: list[Definition], types: dict[str, str], module_of: dict[str, str], protocol: Protocol
) -> str:
    codecs = render_codecs(definitions, protocol)
    own = {definition.name for definition in definitions}
    texts = [_documented(types[name], protocol.by_name[name]) for name in types if name in own]
    # classes before aliases: an alias is evaluated where it stands
    texts.sort(key=lambda text: not text.startswith("@dataclass"))
    used = _names_in([*texts, *codecs.constants.values(), *codecs.functions, *codecs.tables]) | {"Final", "Any", "register"}
    classes = [
        (naming.type_name(definition.name), py_literal(definition.name))
        for definition in definitions
        if isinstance(definition.type, Record)
    ]
    return (
        environment()
        .get_template("module.py.jinja")
        .render(
            doc=_module_doc(module, definitions),
            imports=_imports(used, module, module_of),
            exports=sorted(naming.type_name(name) for name in own),
            types=texts,
            constants=codecs.constants,
            functions=codecs.functions,
            tables=codecs.tables,
            classes=classes,
        )
    )


def _module_doc(module: str, definitions: list[Definition]) -> str:
    sources = ", ".join(dict.fromkeys(definition.pointer.partition("#")[0] for definition in definitions))
    return py_docstring(f"Types and codecs of {sources} ({module}). Generated by dsh-codegen; edit the schema instead.")[3:-3]


def _documented(text: str, definition: Definition) -> str:
    if isinstance(definition.type, Record):
        return text
    return f"{text.rstrip()}\n{py_docstring(class_doc(definition))}\n"


def _names_in(texts: Iterable[str]) -> set[str]:
    return {node.id for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} | {
        match for text in texts for match in re.findall(r"(?<![\w.\"'])re(?=\.compile)", text)
    }


def _imports(used: set[str], module: str, module_of: dict[str, str]) -> list[str]:
    wanted: dict[str, list[str]] = {}
    for name, source in _STDLIB.items():
        if name in used:
            wanted.setdefault(source, []).append(name)
    lines = ["import re"] if "re" in used else []
    lines += [f"from {source} import {', '.join(names)}" for source, names in sorted(wanted.items())]
    lines += ["", f"from .._codec import {', '.join(name for name in _CODEC if name in used)}"]
    others: dict[str, list[str]] = {}
    for definition, home in sorted(module_of.items()):
        if home == module:
            continue
        name = naming.type_name(definition)
        others.setdefault(home, []).extend(n for n in (name, f"decode_{name}", f"encode_{name}") if n in used)
    return [*lines, *(f"from .{home} import {', '.join(names)}" for home, names in sorted(others.items()) if names)]


def _methods(protocol: Protocol, module_of: dict[str, str]) -> str:
    payloads = {name for method in protocol.methods for name in (method.params, method.result) if name is not None}
    by_module: dict[str, list[str]] = {}
    for name in sorted(payloads):
        by_module.setdefault(module_of[name], []).append(naming.type_name(name))
    rows = [_method_row(method, module_of) for method in protocol.methods]
    return (
        environment()
        .get_template("methods.py.jinja")
        .render(
            revision=py_docstring(protocol.revision)[3:-3],
            revision_literal=py_literal(protocol.revision),
            imports=[f"from .{module} import {', '.join(names)}" for module, names in sorted(by_module.items())],
            methods=rows,
            has_requests=any(row["result"] for row in rows),
            errors=[(error.code, py_literal(error.doc)) for error in protocol.errors],
        )
    )


def _method_row(method: Method, module_of: dict[str, str]) -> dict[str, Any]:
    def ref(name: str | None) -> str:
        if name is None:
            return "None"
        parts = (py_literal(text) for text in (module_of[name], naming.type_name(name), name))
        return f"TypeRef(_PACKAGE, {', '.join(parts)})"

    params = "None" if method.params is None else naming.type_name(method.params)
    result = "" if method.result is None else naming.type_name(method.result)
    return {
        "key": py_literal(method.name),
        "sender": method.sender,
        "kind": "Request" if result else "Notification",
        "type": f"Request[{params}, {result}]" if result else f"Notification[{params}]",
        "params": params,
        "result": result,
        "params_ref": ref(method.params),
        "result_ref": ref(method.result) if result else "",
    }


def _revision(protocol: Protocol, groups: dict[str, list[Definition]]) -> str:
    exports = {module: sorted(naming.type_name(d.name) for d in definitions) for module, definitions in sorted(groups.items())}
    modules = {name: module for module, names in exports.items() for name in names}
    renamed = {naming.type_name(d.name): py_literal(d.name) for d in protocol.definitions if naming.type_name(d.name) != d.name}
    return (
        environment()
        .get_template("revision.py.jinja")
        .render(
            revision=py_docstring(protocol.revision)[3:-3],
            revision_literal=py_literal(protocol.revision),
            title=py_docstring(protocol.title)[3:-3],
            exports=list(exports.items()),
            names=sorted(modules),
            modules=dict(sorted(modules.items())),
            renamed=renamed,
        )
    )


def _root(protocols: Sequence[Protocol], head: Protocol) -> str:
    revisions = [{"literal": py_literal(p.revision), "module": naming.revision_module(p.revision)} for p in protocols]
    return (
        environment()
        .get_template("package.py.jinja")
        .render(
            title=py_docstring(head.title or "Protocol")[3:-3],
            head=py_docstring(head.revision)[3:-3],
            head_literal=py_literal(head.revision),
            head_module=naming.revision_module(head.revision),
            revisions=revisions,
        )
    )
