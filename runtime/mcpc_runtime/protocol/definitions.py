"""Definitions that clients call or read, and the compiled schemas of their arguments and results.

No start needs them: the lists are bytes, and a definition is read from the image when a client first names it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypedDict

from mcpc_runtime.protocol.jsonrpc import Json

Names = dict[str, Any]
"""The names of a module that was run."""
Reference = tuple[int, int]
"""Offset and length in the blob."""
Source = tuple[int, int, int]
"""The number of an entry of sources, offset and length in it."""
Code = tuple[Source, int]
"""A module's source, and the number of its bytecode."""
Schema = tuple[Code, Source]
"""A validator's predicate, and its collector of errors."""
Errors = Callable[[object], list[tuple[str, str, object]]]
"""Return why a value is refused: JSON Pointer, keyword, and what was expected."""
Running = tuple[float, bool | str, bool, int, tuple[tuple[str, str], ...]]


class OptionalFields(TypedDict, total=False):
    """Fields that few definitions have."""

    asks: tuple[tuple[str, str, bytes], ...]
    task: str
    again: bool
    headers: tuple[tuple[str, tuple[str, ...]], ...]
    max_result: int
    mime: str


Record = tuple[
    str,
    tuple[Any, ...],
    tuple[tuple[str, bool], ...],
    Schema | None,
    Schema | None,
    Running | None,
    OptionalFields | None,
]
"""See `mcpc.emit.records`."""

DEFAULT_OPTIONS = (60.0, False, False, 0, ())
"""Handler options of a record without any: time limit, inline, isolated, environment, requirements."""


class DefinitionSource(Protocol):
    """What definitions need of the `Image` that they are in."""

    max_result: int | None

    def hooks(self, name: str) -> tuple[str, ...]:
        """Return the rows of a hook."""
        ...

    def load(self, source: Source, number: int | None = None) -> Names:
        """Run a generated module and return its names."""
        ...


class Validator:
    """A compiled schema: `accepts` decides, `errors` returns the reasons of a refusal.

    `complete` returns a copy of an accepted value with defaults filled in; it is None for most schemas. The collector
    of errors is loaded only after a refusal.
    """

    __slots__ = ("_collector", "_server", "accepts", "complete", "errors")

    def __init__(self, server: DefinitionSource, predicate: Code, collector: Source) -> None:
        self._server = server
        self._collector = collector
        names = server.load(*predicate)
        self.accepts: Callable[[object], bool] = names["accepts"]
        self.complete: Callable[[dict[str, Json]], dict[str, Json]] | None = names.get("complete")
        self.errors: Errors = self._load_collector

    def _load_collector(self, instance: object) -> list[tuple[str, str, object]]:
        self.errors = self._server.load(self._collector)["errors"]
        return self.errors(instance)


class Definition:
    """A definition that a client may call or read: its contract, its handler options and its validators.

    `handler` is the data for its `contract`, its file first. `seconds`: time limit of a call; `inline`: whether it runs
    in the server's own process (`loop`: and never blocks there); `isolated`: whether each call has its own shell;
    `environment`: the number of its environment; `requires`: the required programs, each with a version. `asks`: the
    client requests that are sent before it is run: key, method, params as JSON. `task`: whether a call becomes a task:
    never (empty), where the client can (`optional`), or always (`required`); `again`: whether an interrupted call may
    be run again. `headers`: the arguments that an HTTP client repeats as headers, each with its path; `arguments`: a
    prompt's arguments, each with whether it is required; `mime`: the declared media type of a resource. `max_result`:
    the declared limit of a tool's result in bytes.
    """

    __slots__ = (
        "_input",
        "_output",
        "_server",
        "again",
        "arguments",
        "asks",
        "contract",
        "environment",
        "handler",
        "headers",
        "inline",
        "isolated",
        "max_result",
        "mime",
        "name",
        "requires",
        "seconds",
        "task",
    )  # fmt: skip

    def __init__(self, server: DefinitionSource, name: str, record: Record) -> None:
        self._server = server
        self.name = name
        self.contract, self.handler, self.arguments, schema, output, running, extras = record
        self._input: Validator | Schema | None = schema
        self._output: Validator | Schema | None = output
        self.seconds, self.inline, self.isolated, self.environment, self.requires = running or DEFAULT_OPTIONS
        self.asks = extras.get("asks", ()) if extras else ()
        self.task = extras.get("task", "") if extras else ""
        self.again = extras.get("again", False) if extras else False
        self.headers = extras.get("headers", ()) if extras else ()
        self.mime = extras.get("mime", "") if extras else ""
        self.max_result = extras.get("max_result", 0) if extras else 0

    def hooks(self, name: str) -> tuple[str, ...]:
        """Return the rows of a hook of its server."""
        return self._server.hooks(name)

    @property
    def result_limit(self) -> int:
        """The limit of the tool's result in bytes, 0 for none: that of the operator, else the declared one."""
        limit = self._server.max_result
        return self.max_result if limit is None else limit

    @property
    def input(self) -> Validator | None:
        """The validator of the arguments; None for a tool without a schema."""
        # As yet the places of the schema's code in the image.
        if isinstance(self._input, tuple):
            self._input = Validator(self._server, *self._input)
        return self._input

    @property
    def output(self) -> Validator | None:
        """The validator of the structured output, if the tool declares it."""
        if isinstance(self._output, tuple):
            self._output = Validator(self._server, *self._output)
        return self._output
