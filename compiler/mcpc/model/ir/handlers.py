"""The handlers of definitions, and the options they are run with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.diagnostics import Span
    from mcpc.reading import Node

    PlainData = None | bool | int | float | str | bytes | Sequence["PlainData"] | Mapping[str, "PlainData"]
    """What marshal can write and every Python reads alike."""


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    """One parameter of a Python handler, as its signature says."""

    name: str
    required: bool
    keyword: bool = True


@dataclass(frozen=True, slots=True)
class BashFunction:
    """A function of a Bash library: called with the arguments as one JSON text.

    `variables`: pairs of a property and the shell variable that contains it, if the function uses such variables.
    `traps`: the library sets traps, so that the function's status must be observed from outside. `errexit`: as that of
    `mcpc_runtime.handlers.invocations.ShellCall`. `calls_tools`: it may
    call other tools of the server. `slice`: the part of the library that this function needs, for an isolated shell.
    `inherits`: it gets the server's whole environment by default.
    """

    function: str
    file: str
    span: Span
    contract: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    traps: bool = False
    errexit: str = ""
    calls_tools: bool = False
    slice: str = ""
    inherits: bool = False


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function of a Python module: called with the arguments as keywords, or as `binding` specifies.

    `binding`: a row of `BINDINGS` (`mcpc_runtime.handlers.python.bindings`), and the values it needs to build the
    function's arguments. `context`: the parameter for the call's context, if there is one.
    """

    function: str
    file: str
    span: Span
    parameters: tuple[FunctionParameter, ...] = ()
    accepts_any: bool = False
    is_async: bool = False
    contract: str = "python"
    binding: tuple[str, ...] = ()
    context: str = ""


@dataclass(frozen=True, slots=True)
class Executable:
    """A file that the system can run: it reads the arguments from standard input and prints the result."""

    file: str
    span: Span
    words: tuple[str, ...] = ()
    contract: str = "executable"


@dataclass(frozen=True, slots=True)
class ExternalHandler:
    """A handler of another system: only its contract interprets `facts`, which are plain data.

    `unpacks`: it reads the project's files on disk. `compiled`: the generated file in the artifact, empty for the file
    itself. `forks`: it is a script that runs as a child of a shell that has read its library. `answers`: the texts
    among its facts are results for clients. `language`: `python` if it needs the project's packages. `arguments`: what
    checks the arguments of a tool: its schema, which refuses those that it does not name (`closed`); its schema as it
    is written (`schema`); or the handler itself, so that the schema is only shown (`handler`). `generated`: a framework
    made the schemas, and not a person, who could correct them.
    """

    file: str
    span: Span
    contract: str
    facts: tuple[PlainData, ...] = ()
    unpacks: bool = False
    compiled: bytes = b""
    forks: bool = False
    answers: bool = False
    language: str = ""
    arguments: Literal["closed", "schema", "handler"] = "closed"
    generated: bool = False


@dataclass(frozen=True, slots=True)
class SettingUse:
    """A setting that a request uses, and where it names it."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class HttpHandler:
    """A request that the server sends: its plan, which the runtime interprets, and the settings that it uses.

    The plan is data (see `mcpc.lower.requests`): a value is never part of a text of it.
    """

    plan: Mapping[str, PlainData] = field(hash=False)
    span: Span
    settings: tuple[SettingUse, ...] = ()
    contract: str = "http"

    @property
    def file(self) -> str:
        """The file that has the plan."""
        return self.span.path

    @property
    def base(self) -> tuple[str, str]:
        """The setting that has the address, and the address without it."""
        base: Any = self.plan.get("base", ("", ""))
        return str(base[0]), str(base[1])

    @property
    def line(self) -> str:
        """The request in a line, with the names of its setting and its places: `GET $PETS_URL/pets/{id}`."""
        setting, url = self.base
        pieces: Any = self.plan.get("path", ())
        path = "".join(piece if isinstance(piece, str) else f"{{{piece[0]}}}" for piece in pieces)
        return f"{self.plan.get('method', '')} {f'${setting}' if setting else url}{path}"


@dataclass(frozen=True, slots=True)
class PipelineStep:
    """A request or a command that only one step of a pipeline calls; with `running`, it is run like a definition."""

    name: str
    node: Node
    handler: Handler
    # A lambda, because the class is defined below.
    running: HandlerOptions = field(default_factory=lambda: HandlerOptions())

    @property
    def span(self) -> Span:
        """Where it is written."""
        return self.node.span


@dataclass(frozen=True, slots=True)
class PipelineHandler:
    """Calls of tools, requests and commands, one after the other: the plan, which the runtime interprets.

    `steps`: its requests and commands; the plan refers to them by number (see `mcpc.lower.pipelines`).
    """

    plan: Mapping[str, PlainData] = field(hash=False)
    span: Span
    steps: tuple[PipelineStep, ...] = ()
    contract: str = "pipeline"

    @property
    def file(self) -> str:
        """The file that has the plan."""
        return self.span.path


COMMAND_LINE = "command"
"""The contract of programs that get arguments as words."""
PROGRAM_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
"""The name of a program on PATH."""
Handler = BashFunction | PythonFunction | Executable | ExternalHandler | HttpHandler | PipelineHandler


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment variables of a handler: all of the server's (`inherit`), or the standard ones and `names`.

    A name may end with `*`. Values are not known here.
    """

    inherit: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramRequirement:
    """A program that a handler starts, and its minimum version (digits and dots; empty for any)."""

    command: str
    version: str
    span: Span

    def __str__(self) -> str:
        """Return it in the form that projects use."""
        return f"{self.command} >= {self.version}" if self.version else self.command


@dataclass(frozen=True, slots=True)
class HandlerOptions:
    """How a handler is run.

    `timeout`: seconds. `inline`: in the server's own process, for speed; `loop`: over HTTP even on the event loop's
    thread. `isolated`: in a separate shell. `task`: whether a call may become a task (`optional`) or always does
    (`required`). `asks`: client requests that are made before: key, method, params as JSON. `max_result`: the limit
    of a tool's result in bytes, 0 for none.
    """

    timeout: float = 60.0
    inline: bool | Literal["loop"] = False
    isolated: bool = False
    environment: Environment = Environment()
    requires: tuple[ProgramRequirement, ...] = ()
    task: str = ""
    asks: tuple[tuple[str, str, bytes], ...] = ()
    max_result: int = 0


DEFAULT = HandlerOptions()
INHERITING = HandlerOptions(environment=Environment(inherit=True))
REQUESTING = HandlerOptions(timeout=30.0, max_result=64 << 10)


def with_steps(handlers: Iterable[Handler]) -> Iterator[Handler]:
    """Yield handlers, each before those of its steps."""
    for handler in handlers:
        yield handler
        if isinstance(handler, PipelineHandler):
            yield from (step.handler for step in handler.steps)


def runs_file(handler: Handler) -> bool:
    """Tell whether a handler's file is a program that the system runs."""
    if isinstance(handler, ExternalHandler):
        return handler.contract == COMMAND_LINE and handler.unpacks
    return isinstance(handler, Executable)


def default_options(handler: Handler) -> HandlerOptions:
    """Return the options of a handler for which nothing is set."""
    if isinstance(handler, HttpHandler):
        return REQUESTING
    return INHERITING if isinstance(handler, BashFunction) and handler.inherits else DEFAULT
