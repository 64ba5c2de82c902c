"""What the core asks of the image it serves, as types: only type checkers read this file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mcpc_runtime.protocol.jsonrpc import Json


class Validator(Protocol):
    """A compiled schema.

    `accepts` decides, `errors` says why not, as (JSON pointer, keyword, what was expected).  `complete` puts defaults
    in the place of what is missing, in a copy of an accepted value.
    """

    @property
    def accepts(self) -> Callable[[object], bool]:
        """Decide."""
        ...

    @property
    def errors(self) -> Callable[[object], list[tuple[str, str, object]]]:
        """Say why not."""
        ...

    @property
    def complete(self) -> Callable[[Any], Any] | None:
        """Put defaults in the place of what is missing, if the schema has any."""


class Definition(Protocol):
    """A tool or a prompt."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def contract(self) -> str:
        """The contract its handler keeps."""
        ...

    @property
    def handler(self) -> tuple[Any, ...]:
        """What its contract reads: its file first."""
        ...

    @property
    def seconds(self) -> float:
        """How long a call may take."""
        ...

    @property
    def inline(self) -> bool:
        """Whether it runs in the server's own process."""
        ...

    @property
    def isolated(self) -> bool:
        """Whether each call has a shell of its own."""
        ...

    @property
    def environment(self) -> int:
        """The number of the environment it finds."""
        ...

    @property
    def requires(self) -> tuple[tuple[str, str], ...]:
        """The programs it starts, each with the oldest version that will do."""
        ...

    @property
    def arguments(self) -> tuple[tuple[str, bool], ...]:
        """A prompt's arguments: each name, and whether it is required."""
        ...

    @property
    def input(self) -> Validator | None:
        """What decides about the arguments."""

    @property
    def output(self) -> Validator | None:
        """What decides about the structured output."""


class Wire(Protocol):
    """One protocol revision as the server speaks it."""

    @property
    def version(self) -> str:
        """Its date."""
        ...

    @property
    def stateless(self) -> bool:
        """Its era."""
        ...

    @property
    def batches(self) -> bool:
        """Whether it has batches."""
        ...

    @property
    def logging(self) -> bool:
        """Whether the server may log to the client."""
        ...

    @property
    def progress_message(self) -> bool:
        """Whether progress may be told in words."""
        ...

    @property
    def tail(self) -> bytes:
        """What every result of it ends with."""
        ...

    @property
    def content(self) -> tuple[str, ...]:
        """The kinds of content it knows."""
        ...

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that need more than a ready answer."""
        ...

    @property
    def lists(self) -> Mapping[str, tuple[object, ...]]:
        """Its lists by method."""
        ...

    def answer(self, method: str) -> bytes | None:
        """Return the result of a method whose answer never changes."""

    def initialize(self) -> bytes:
        """Return the result of `initialize`."""
        ...

    def page(self, method: str, cursor: Json) -> bytes | None:
        """Return a page of a list, None for an unknown cursor."""

    def shows_structured(self, value: object) -> bool:
        """Tell whether a result may carry this value as structured content."""
        ...

    def seal(self, result: dict[str, Json], meta: dict[str, Json]) -> bytes:
        """Return a result as JSON with what the revision wants in it."""
        ...


class Image(Protocol):
    """A built server."""

    @property
    def handshake_versions(self) -> tuple[str, ...]:
        """The revisions of the handshake era, oldest first."""
        ...

    @property
    def stateless_versions(self) -> tuple[str, ...]:
        """The revisions of the stateless era, oldest first."""
        ...

    @property
    def refusals(self) -> Mapping[str, str]:
        """What a refusal says in each situation."""
        ...

    def wire(self, version: str) -> Wire:
        """Return a revision this server speaks."""
        ...

    def tool(self, name: str) -> Definition | None:
        """Return the tool of this name."""

    def prompt(self, name: str) -> Definition | None:
        """Return the prompt of this name."""
