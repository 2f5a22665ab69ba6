"""Model adapters: who answers for a provider, and how a model is asked.

An adapter is the only thing that talks to a model. It gets the messages as they are, with no system text and no tools but those
that the host put into the request, and yields what the model says piece by piece.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from .values import ABSENT, text_of

DEEPSEEK: Final = "deepseek-official"
"""The one provider for which the server mounts an adapter by itself (rule S22)."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What an adapter knows of one model: its efforts, and the effort and the output cap (tokens) that apply without others."""

    reasoning_efforts: tuple[str, ...] = ()
    default_effort: str | None = None
    default_max_tokens: int | None = None
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """Which model answers, and how. None: the default of the model applies (rules S31, S33)."""

    provider: str
    model: str
    reasoning_effort: str | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of the thinking before the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole tool call. `arguments` is JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What the request cost, in tokens; those read from a cache are not among `input_tokens` (rule S138)."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of the answer: `stop`, `tool-calls` or `max-tokens`. The last piece."""

    kind: str


Piece: TypeAlias = Text | Reasoning | ToolCall | Usage | Finish


class ModelError(Exception):
    """The request failed for good. `code` names the kind of failure (`AUTH`, ...); `status` is the HTTP status, if any."""

    def __init__(self, message: str, code: str, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request: the route with nothing left open, and the conversation so far as JSON messages, oldest first."""

    route: Route
    messages: list[Any]
    tools: list[Any] = field(default_factory=list[Any])


class Adapter(Protocol):
    """Answers for one provider."""

    @property
    def provider(self) -> str:
        """The name it is asked by."""
        ...

    async def describe(self, model: str) -> ModelInfo | None:
        """What there is to know of a model; None if there can be no such model (rules S25, S27)."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Ask, and yield the answer as it comes; `Finish` is last. Raises `ModelError`. Cancelling stops the request."""
        ...

    async def close(self) -> None:
        """Give up what it holds."""


class Adapters:
    """The adapters of a host, one for each provider."""

    def __init__(self, *adapters: Adapter) -> None:
        self._by_provider: dict[str, Adapter] = {}
        for adapter in adapters:
            self.register(adapter)

    def register(self, adapter: Adapter) -> None:
        """Let it answer for its provider. Raises `ValueError` if another one does."""
        if adapter.provider in self._by_provider:
            raise ValueError(f'provider "{adapter.provider}" already has an adapter')
        self._by_provider[adapter.provider] = adapter

    def remove(self, adapter: Adapter) -> None:
        """It answers no more."""
        if self._by_provider.get(adapter.provider) is adapter:
            del self._by_provider[adapter.provider]

    def owner(self, provider: object) -> Adapter | None:
        """Who answers for that provider, if anybody does."""
        return self._by_provider.get(provider) if isinstance(provider, str) else None


def no_adapter(provider: object) -> LookupError:
    """The error of rule S23."""
    return LookupError(f'no adapter registered for provider "{text_of(provider)}"')


async def resolve(adapter: Adapter, model: object, effort: str | None, max_tokens: int | None) -> Route:
    """The exact route. Raises with the texts of rules S25, S26."""
    info = await adapter.describe(model) if isinstance(model, str) and model else None
    if info is None or not isinstance(model, str):
        raise ValueError(
            f'adapter returned invalid exact model metadata for provider "{adapter.provider}" model "{text_of(model)}"'
        )
    if effort is not None and effort not in info.reasoning_efforts:
        raise ValueError(f'provider "{adapter.provider}" model "{model}" does not support reasoning effort "{effort}"')
    return Route(adapter.provider, model, effort, max_tokens)


def plain_text(value: object) -> str:
    """A member of a route that nobody checked, as text (rule S29); empty if absent."""
    return "" if value is ABSENT else text_of(value)
