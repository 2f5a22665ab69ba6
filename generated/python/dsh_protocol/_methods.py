"""Typed descriptors of methods. Standard library only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Generic, Literal, TypeGuard, TypeVar

from ._codec import encode, run

P = TypeVar("P")
R = TypeVar("R")

Sender = Literal["client", "server"]


@dataclass(slots=True, eq=False)
class TypeRef:
    """A generated class, by package, module and name; loaded when first asked for. `definition` is its name in the schema."""

    package: str
    module: str
    name: str
    definition: str
    _decoder: Callable[[Any], Any] | None = field(default=None, init=False, repr=False)

    def load(self) -> Any:
        """The class."""
        return getattr(import_module(f"{self.package}.{self.module}"), self.name)

    def decode(self, value: object) -> Any:
        """An instance from parsed JSON. Raises `DecodeError`."""
        decoder = self._decoder
        if decoder is None:
            found: Callable[[Any], Any] = getattr(import_module(f"{self.package}.{self.module}"), f"decode_{self.name}")
            decoder = self._decoder = found
        return run(decoder, self.package, self.definition, value)


@dataclass(frozen=True, slots=True)
class Notification(Generic[P]):
    """A method without a response. `P` is the class of its params."""

    method: str
    sender: Sender
    _params: TypeRef | None

    @property
    def params(self) -> type[P] | None:
        """The class of the params; None for a method that takes none."""
        return None if self._params is None else self._params.load()

    def decode_params(self, value: object) -> P:
        """Params from parsed JSON. Raises `DecodeError`. A method that takes none ignores what it gets and returns None."""
        return None if self._params is None else self._params.decode(value)  # type: ignore[return-value]

    def encode_params(self, params: P) -> dict[str, Any]:
        """The JSON object of params; `{}` for a method that takes none."""
        return {} if self._params is None else encode(params)


@dataclass(frozen=True, slots=True)
class Request(Notification[P], Generic[P, R]):
    """A method with a response. `P` is the class of its params, `R` of its result."""

    _result: TypeRef

    @property
    def result(self) -> type[R]:
        """The class of the result."""
        return self._result.load()  # type: ignore[no-any-return]

    def decode_result(self, value: object) -> R:
        """A result from parsed JSON. Raises `DecodeError`."""
        return self._result.decode(value)  # type: ignore[no-any-return]

    def encode_result(self, result: R) -> dict[str, Any]:
        """The JSON object of a result."""
        return encode(result)  # type: ignore[no-any-return]


def is_request(descriptor: Notification[Any] | None) -> TypeGuard[Request[Any, Any]]:
    """Whether a descriptor is that of a request."""
    return isinstance(descriptor, Request)
