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
    """A tool, a prompt, a resource, or what completes an argument."""

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
    def inline(self) -> bool | str:
        """Whether it runs in the server's own process; `loop`: and never waits there."""
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
    def asks(self) -> tuple[tuple[str, str, bytes], ...]:
        """What the client is asked before it is run: key, method, params as JSON."""
        ...

    @property
    def task(self) -> str:
        """Whether a call becomes a task: never (nothing), where the client can (`optional`), or always (`required`)."""
        ...

    @property
    def again(self) -> bool:
        """Whether a call that was interrupted may be run again: the tool says that this changes nothing more."""
        ...

    @property
    def headers(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The arguments that an HTTP client repeats as headers: the header's name, the path of the argument."""
        ...

    @property
    def arguments(self) -> tuple[tuple[str, bool], ...]:
        """A prompt's arguments: each name, and whether it is required."""
        ...

    @property
    def mime(self) -> str:
        """The media type that a resource is declared to have."""
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
    def cache(self) -> bytes:
        """What a result ends with that may be kept for as long as a list."""
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

    def capabilities(self) -> dict[str, Json]:
        """Return what clients are told that the server can do."""
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
    def endpoint(self) -> str:
        """The path that it is served at over HTTP."""
        ...

    @property
    def result_meta(self) -> Mapping[str, Any]:
        """What every result has in its `_meta`: which server it is."""
        ...

    @property
    def handshake_versions(self) -> tuple[str, ...]:
        """The revisions of the handshake era, oldest first."""
        ...

    @property
    def stateless_versions(self) -> tuple[str, ...]:
        """The revisions of the stateless era, oldest first."""
        ...

    @property
    def lenient_cursors(self) -> bool:
        """Whether a cursor that was never given out means the first page."""
        ...

    @property
    def shown(self) -> Callable[[str], bool] | None:
        """Which tools a list shows to anybody, all if None."""

    @property
    def refusals(self) -> Mapping[str, tuple[int, str]]:
        """What a refusal is in each situation: its code (0: a tool's own error) and its words."""
        ...

    @property
    def index(self) -> Mapping[str, Any]:
        """What the start needs; what formats want to know of their own is in it by their names."""
        ...

    @property
    def guard(self) -> Callable[[Any], Any] | None:
        """What refuses requests before anything else looks at them: a `Failure`, or None for those that may pass."""

    def wire(self, version: str) -> Wire:
        """Return a revision this server speaks."""
        ...

    def tool(self, name: str) -> Definition | None:
        """Return the tool of this name."""

    def value(self, table: str, key: str) -> bytes | None:
        """Return what a table of the index has for a key, None if that is nothing."""

    def prompt(self, name: str) -> Definition | None:
        """Return the prompt of this name."""

    def resource(self, uri: str) -> Definition | None:
        """Return the resource of this uri."""

    @property
    def templates(self) -> tuple[tuple[Any, ...], ...]:
        """The templates of resources: template, pattern, variables, place of the record."""
        ...

    def template(self, uri: str) -> tuple[Definition, dict[str, Json]] | None:
        """Return the first template that a uri matches, and its variables; raise ValueError if those are refused."""

    def completion(self, key: str) -> Definition | None:
        """Return what completes an argument."""

    @property
    def read(self) -> Callable[[int, int], bytes]:
        """What reads a stretch of what was made when the server was built: offset, length."""
        ...
