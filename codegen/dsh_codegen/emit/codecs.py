"""Straight-line decoders and encoders, as Python source.

A decoder checks everything its schema demands and fills the slots of a new instance; it raises `Mismatch` (or KeyError for a
missing member) and says nothing of where: a failed decode is explained afterwards by walking the bundle (`_explain`). A sample:

    def decode_StepStartData(o: Any) -> StepStartData:
        if o.__class__ is not dict:
            raise Mismatch
        v = new(StepStartData)
        n = 2
        x = o["turn"]
        if x.__class__ is not int:
            x = integral(x)
        if x < 0:
            raise Mismatch
        v.turn = x
        ...
        v.extra = {} if len(o) == n else extra(o, _KEYS_StepStartData)
        return v
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from .. import naming
from ..ir import (
    Arm,
    Array,
    Boolean,
    Definition,
    Json,
    Literals,
    Map,
    Null,
    Number,
    OpenEnum,
    Protocol,
    Record,
    Ref,
    Scalar,
    String,
    Type,
    Union,
    kinds,
)
from .dataclasses import nullable
from .literals import py_literal

INDENT: Final = "    "
_UNCHANGED: Final = (Null, Boolean, String, OpenEnum)  # checked, never converted
_PLAIN: Final = (Json, Null, Boolean, String, Number, Literals, OpenEnum)


@dataclass
class ModuleCodecs:
    """The codec source of one module: what it needs at the top, its functions, in order, and the tables that name functions."""

    constants: dict[str, str] = field(default_factory=dict[str, str])
    functions: list[str] = field(default_factory=list[str])
    tables: list[str] = field(default_factory=list[str])


def render_codecs(definitions: list[Definition], protocol: Protocol) -> ModuleCodecs:
    """Decoders and encoders of the definitions that share a module."""
    module = ModuleCodecs()
    for definition in definitions:
        _Writer(definition, protocol, module).write()
    return module


class _Writer:
    """Writes the functions of one definition."""

    def __init__(self, definition: Definition, protocol: Protocol, module: ModuleCodecs) -> None:
        self.definition = definition
        self.protocol = protocol
        self.module = module
        self.name = naming.type_name(definition.name)
        self.names: dict[str, str] = {}

    def write(self) -> None:
        match self.definition.type:
            case Record() as record:
                self.names = naming.member_names([member.wire for member in record.members], self.definition.pointer)
                self._record_decoder(record)
                self._record_encoder(record)
            case Union(tag=str()) as union:
                self._function(f"decode_{self.name}", self.name, self._tagged(union))
            case other:
                self._function(f"decode_{self.name}", "Any", [*self._check(other), "return x"], argument="x")

    def _function(self, name: str, returns: str, body: list[str], *, argument: str = "o") -> None:
        lines = [f"def {name}({argument}: Any) -> {returns}:", *(INDENT + line for line in body)]
        self.module.functions.append("\n".join(lines))

    def _constant(self, kind: str, value: str) -> str:
        """The name of a module constant with that source text; equal texts share one."""
        for name, text in self.module.constants.items():
            if text == value:
                return name
        name = f"_{kind}{sum(other.startswith(f'_{kind}') for other in self.module.constants)}"
        self.module.constants[name] = value
        return name

    # records

    def _record_decoder(self, record: Record) -> None:
        required = [member for member in record.members if member.required]
        body = ["if o.__class__ is not dict:", "    raise Mismatch", f"v = new({self.name})", f"n = {len(required)}"]
        for member in record.members:
            target = f"v.{self.names[member.wire]}"
            take = [f"x = o[{py_literal(member.wire)}]", *self._check(member.type), f"{target} = x"]
            if member.required:
                body += take
            else:
                absent = "UNSET" if nullable(member.type, self.protocol) else "None"
                body += [f"if {py_literal(member.wire)} in o:", *(INDENT + line for line in ("n += 1", *take))]
                body += ["else:", f"    {target} = {absent}"]
        if record.closed:
            body += ["if len(o) != n:", "    raise Mismatch"]
        else:
            body.append(f"v.extra = {{}} if len(o) == n else extra(o, _KEYS_{self.name})")
            keys = ", ".join(py_literal(member.wire) for member in record.members)
            self.module.constants[f"_KEYS_{self.name}"] = f"frozenset({{{keys}}})" if record.members else "frozenset[str]()"
        self._function(f"decode_{self.name}", self.name, [*body, "return v"])

    def _record_encoder(self, record: Record) -> None:
        body = ["o: dict[str, Any] = {}"]
        for member in record.members:
            source = f"v.{self.names[member.wire]}"
            put = f"o[{py_literal(member.wire)}] = {self._encoded(member.type, source)}"
            if member.required:
                body.append(put)
            else:
                absent = "UNSET" if nullable(member.type, self.protocol) else "None"
                body += [f"if {source} is not {absent}:", INDENT + put]
        if not record.closed:
            body += ["if v.extra:", "    merge(o, v.extra)"]
        lines = [f"def encode_{self.name}(v: {self.name}) -> dict[str, Any]:", *(INDENT + line for line in [*body, "return o"])]
        self.module.functions.append("\n".join(lines))

    # decoding: statements that check `x`, and convert it in place

    def _check(self, node: Type, x: str = "x") -> list[str]:
        match node:
            case Json():
                return []
            case Null():
                return [f"if {x} is not None:", "    raise Mismatch"]
            case Boolean():
                return [f"if {x} is not True and {x} is not False:", "    raise Mismatch"]
            case String():
                return [f"if {self._string_fails(node, x)}:", "    raise Mismatch"]
            case OpenEnum(min_length=min_length):
                return [f"if {self._string_fails(String(min_length), x)}:", "    raise Mismatch"]
            case Number():
                return self._number(node, x)
            case Literals(values):
                return self._literals(values, x)
            case Array():
                return self._array(node)
            case Map(values):
                return ["if x.__class__ is not dict:", "    raise Mismatch", *self._each_value(values)]
            case Ref(name):
                return self._ref(name)
            case Union():
                return self._by_kind(node)
            case Record():
                raise AssertionError("a record is always a definition of its own")

    def _string_fails(self, node: String, x: str) -> str:
        tests = [f"{x}.__class__ is not str"]
        if node.min_length == 1:
            tests.append(f"not {x}")
        elif node.min_length:
            tests.append(f"len({x}) < {node.min_length}")
        if node.max_length is not None:
            tests.append(f"len({x}) > {node.max_length}")
        if node.pattern is not None:
            tests.append(f"{self._constant('PATTERN', f're.compile({py_literal(node.pattern)}).search')}({x}) is None")
        if node.excluded:
            tests.append(f"{x} in {self._constant('EXCLUDED', self._set(node.excluded))}")
        return " or ".join(tests)

    def _number(self, node: Number, x: str) -> list[str]:
        if node.integer:
            lines = [f"if {x}.__class__ is not int:", f"    {x} = integral({x})"]
        else:
            lines = [f"if {x}.__class__ is not int and {x}.__class__ is not float:", "    raise Mismatch"]
        # written so that NaN passes, as it does in a JSON Schema validator: JSON has no NaN
        tests = [
            ("<", node.minimum),
            (">", node.maximum),
            ("<=", node.exclusive_minimum),
            (">=", node.exclusive_maximum),
        ]
        fails = [f"{x} {sign} {bound!r}" for sign, bound in tests if bound is not None]
        if node.multiple_of is not None:
            fails.append(f"{x} % {node.multiple_of}")
        return [*lines, f"if {' or '.join(fails)}:", "    raise Mismatch"] if fails else lines

    def _literals(self, values: tuple[Scalar, ...], x: str) -> list[str]:
        if all(isinstance(value, str) for value in values):
            if len(values) == 1:
                return [f"if {x} != {py_literal(values[0])}:", "    raise Mismatch"]
            admitted = ", ".join(py_literal(value) for value in values)  # a tuple: its `in` takes unhashable values too
            return [f"if {x} not in {self._constant('VALUES', f'({admitted})')}:", "    raise Mismatch"]
        if len(values) == 1 and (values[0] is None or isinstance(values[0], bool)):
            return [f"if {x} is not {values[0]!r}:", "    raise Mismatch"]
        table = ", ".join(f"({type(value).__name__ if value is not None else 'None'}, {py_literal(value)})" for value in values)
        return [f"{x} = literal({x}, {self._constant('VALUES', f'frozenset({{{table}}})')})"]

    def _set(self, values: tuple[Scalar, ...]) -> str:
        return f"frozenset({{{', '.join(py_literal(value) for value in values)}}})"

    def _array(self, node: Array) -> list[str]:
        tests = ["x.__class__ is not list"]
        if node.min_items == 1:
            tests.append("not x")
        elif node.min_items:
            tests.append(f"len(x) < {node.min_items}")
        if node.max_items is not None:
            tests.append(f"len(x) > {node.max_items}")
        lines = [f"if {' or '.join(tests)}:", "    raise Mismatch"]
        if node.unique:
            lines.append("unique(x)")
        if isinstance(self.protocol.resolve(node.items), Json):
            return lines
        items = self.protocol.resolve(node.items)
        if isinstance(items, _UNCHANGED) or (
            isinstance(items, Literals) and all(isinstance(value, str) for value in items.values)
        ):
            return [*lines, "for y in x:", *(INDENT + line for line in self._check(items, "y"))]
        if isinstance(items, Number):  # a list of plain integers stays as it is: only `1.0` has to become 1
            slow = f"x = [{self._call(items)}(y) for y in x]"
            return [*lines, "if any(y.__class__ is not int for y in x):", INDENT + slow, *self._bounds(items)]
        return [*lines, f"x = [{self._call(node.items)}(y) for y in x]"]

    def _bounds(self, node: Number) -> list[str]:
        lines = self._number(node, "y")[2:]
        return ["else:", INDENT + "for y in x:", *(INDENT * 2 + line for line in lines)] if lines else []

    def _each_value(self, node: Type) -> list[str]:
        if isinstance(self.protocol.resolve(node), Json):
            return []
        return [f"x = {{k: {self._call(node)}(y) for k, y in x.items()}}"]

    def _call(self, node: Type) -> str:
        """The name of a function that decodes `node`."""
        if isinstance(node, Ref):
            return f"decode_{naming.type_name(node.name)}"
        body = [*self._check(node), "return x"]
        text = "\n".join(INDENT + line for line in body)
        for function in self.module.functions:
            head, _, rest = function.partition("\n")
            if rest == text and head.startswith("def _item"):
                return head[4 : head.index("(")]
        name = f"_item{sum(function.startswith('def _item') for function in self.module.functions)}"
        self._function(name, "Any", body, argument="x")
        return name

    def _ref(self, name: str) -> list[str]:
        node = self.protocol.resolve(Ref(name))
        if isinstance(node, Json):
            return []
        if isinstance(node, _PLAIN):
            return self._check(node)
        return [f"x = decode_{naming.type_name(name)}(x)"]

    # unions

    def _by_kind(self, node: Union) -> list[str]:
        """A union told apart by JSON type; every declared arm has types of its own."""
        rest = [arm for arm in node.declared if not isinstance(self.protocol.resolve(arm), Null)]
        if len(rest) == 1 and len(node.declared) == 2:
            return ["if x is not None:", *(INDENT + line for line in self._check(rest[0]) or ["pass"])]
        lines: list[str] = []
        for arm in node.declared:
            test = " or ".join(self._is_kind(kind) for kind in self._kinds(arm))
            lines += [f"{'elif' if lines else 'if'} {test}:", *(INDENT + line for line in self._check(arm) or ["pass"])]
        return [*lines, "else:", "    raise Mismatch"]

    def _is_kind(self, kind: str) -> str:
        return {
            "null": "x is None",
            "boolean": "x.__class__ is bool",
            "string": "x.__class__ is str",
            "number": "x.__class__ is int or x.__class__ is float",
            "array": "x.__class__ is list",
            "object": "x.__class__ is dict",
        }[kind]

    def _kinds(self, node: Type) -> list[str]:
        match self.protocol.resolve(node):
            case Union(arms=arms):
                return list(dict.fromkeys(kind for arm in arms for kind in self._kinds(arm.type)))
            case resolved:
                return list(kinds(resolved))

    def _tagged(self, union: Union) -> list[str]:
        assert union.tag is not None
        others = [arm for arm in union.arms if not arm.tags and not arm.open]
        body: list[str] = []
        if others:
            body += ["if o.__class__ is not dict:"]
            body += [INDENT + line for line in self._scalar_arms(others)]
        else:
            body += ["if o.__class__ is not dict:", "    raise Mismatch"]
        table = self._arm_table(union)
        tag = f"o[{py_literal(union.tag)}]"
        keys = [value for arm in union.arms for value in arm.tags]
        if not all(isinstance(value, str) for value in keys):
            values = self._literals(tuple(dict.fromkeys(keys)), "x")
            body += [f"x = {tag}", *values, f"return {table}[x](o)"]
            return body
        body += [f"t = {tag}", "if t.__class__ is not str:", "    raise Mismatch"]
        open_arm = union.open_arm
        if open_arm is None or not isinstance(open_arm.type, Ref):
            return [*body, f"return {table}[t](o)"]
        return [*body, f"return {table}.get(t, decode_{naming.type_name(open_arm.type.name)})(o)"]

    def _scalar_arms(self, arms: list[Arm]) -> list[str]:
        lines = ["x = o"]
        for arm in arms:
            test = " or ".join(self._is_kind(kind) for kind in self._kinds(arm.type))
            lines += [f"if {test}:", *(INDENT + line for line in [*self._check(arm.type), "return x"])]
        return [*lines, "raise Mismatch"]

    def _arm_table(self, union: Union) -> str:
        entries: dict[str, str] = {}
        for arm in union.arms:
            if not isinstance(arm.type, Ref):
                continue
            decoder = f"decode_{naming.type_name(arm.type.name)}"
            for value in arm.tags:
                key = py_literal(value)
                if arm.member is None:
                    entries.setdefault(key, decoder)
                    continue
                other = next((o for o in union.arms if o is not arm and value in o.tags and isinstance(o.type, Ref)), None)
                entries[key] = self._chooser(arm.member, decoder, other)
        name = f"_ARMS_{self.name}"
        rows = "".join(f"{INDENT}{key}: {decoder},\n" for key, decoder in entries.items())
        self.module.tables.append(f"{name}: Final[dict[Any, Callable[[Any], {self.name}]]] = {{\n{rows}}}")
        return name

    def _chooser(self, member: str, decoder: str, other: Arm | None) -> str:
        """A function that takes the arm which has `member`, else the other arm with the same tag value."""
        if other is None or not isinstance(other.type, Ref):
            return decoder
        name = f"_choose_{self.name}_{sum(f'_choose_{self.name}_' in function for function in self.module.functions)}"
        rest = f"decode_{naming.type_name(other.type.name)}"
        self._function(name, self.name, [f"return {decoder}(o) if {py_literal(member)} in o else {rest}(o)"])
        return name

    # encoding: an expression

    def _encoded(self, node: Type, source: str) -> str:
        if self._is_plain(node):
            return source
        match node:
            case Ref(name) if isinstance(self.protocol.resolve(node), Record):
                return f"encode_{naming.type_name(name)}({source})"
            case Array(items):
                return f"[{self._encoded(items, 'y')} for y in {source}]"
            case Map(values):
                return f"{{k: {self._encoded(values, 'y')} for k, y in {source}.items()}}"
            case _:
                return f"encode({source})"

    def _is_plain(self, node: Type, path: tuple[str, ...] = ()) -> bool:
        """Whether a decoded value is the JSON value itself."""
        match node:
            case Ref(name):
                return name in path or self._is_plain(self.protocol.by_name[name].type, (*path, name))
            case Array(items):
                return self._is_plain(items, path)
            case Map(values):
                return self._is_plain(values, path)
            case Union(arms=arms):
                return all(self._is_plain(arm.type, path) for arm in arms)
            case Record():
                return False
            case _:
                return True


def member_types(node: Type) -> list[Type]:
    """The types directly inside `node`."""
    match node:
        case Record(members=members):
            return [member.type for member in members]
        case Array(items):
            return [items]
        case Map(values):
            return [values]
        case Union(declared=declared, arms=arms):
            return [*declared, *(arm.type for arm in arms)]
        case _:
            return []
