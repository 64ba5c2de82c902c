"""The nodes of the intermediate representation: frozen, typed, free of any front end's names.

A node keeps the place it came from, because passes report there; nothing here reads a file or a raw definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.diagnostics import Span
    from mcpc.ir.layer import Layer
    from mcpc.sources import Json, Node, Source


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema as written.

    `closed`: arguments the root does not name are refused although it does not say so.  `assert_formats`: `format`
    decides.  `completes`: defaults are put in the place of what is missing.
    """

    node: Node
    closed: bool = False
    assert_formats: bool = False
    completes: bool = False

    @property
    def value(self) -> Json:
        """The schema as plain JSON."""
        return self.node.value


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a Python handler, as its signature says."""

    name: str
    required: bool
    keyword: bool = True


@dataclass(frozen=True, slots=True)
class BashFunction:
    """A function of a Bash library: called with the arguments as one JSON text.

    `variables`: pairs of a property and the shell variable that holds it, if the function asks for such variables.
    `traps`: the library sets traps, so that the function's status must be watched from outside.  `calls_tools`: it
    may call other tools of the server.  `slice`: as much of the library as this function needs, for a shell of its own.
    """

    function: str
    file: str
    span: Span
    contract: str = "mcbox"
    variables: tuple[tuple[str, str], ...] = ()
    traps: bool = False
    calls_tools: bool = False
    slice: str = ""


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function of a Python module: called with the arguments as keywords, or as `binding` says.

    `binding`: a row of `mcpc_runtime.bindings.BINDINGS` and what it needs to turn arguments into the function's own.
    `context`: the parameter that wants the call's context, if one does.
    """

    function: str
    file: str
    span: Span
    parameters: tuple[Parameter, ...] = ()
    accepts_any: bool = False
    is_async: bool = False
    contract: str = "python"
    binding: tuple[str, ...] = ()
    context: str = ""


@dataclass(frozen=True, slots=True)
class Executable:
    """A file that the system can run: told the arguments on its standard input, it prints the answer."""

    file: str
    span: Span
    words: tuple[str, ...] = ()
    contract: str = "executable"


Handler = BashFunction | PythonFunction | Executable


@dataclass(frozen=True, slots=True)
class Environment:
    """What of the server's environment a handler finds: all of it (`inherit`), or what every program needs and `names`.

    A name may end with `*`.  Values are never known here.
    """

    inherit: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Requirement:
    """A program that a handler starts, and the oldest version that will do (digits and dots; nothing for any)."""

    command: str
    version: str
    span: Span

    def __str__(self) -> str:
        """Return it as a project writes it."""
        return f"{self.command} >= {self.version}" if self.version else self.command


@dataclass(frozen=True, slots=True)
class Running:
    """How a handler is run.

    `timeout`: seconds.  `inline`: in the server's own process, for speed.  `isolated`: in a shell of its own.
    """

    timeout: float = 60.0
    inline: bool = False
    isolated: bool = False
    environment: Environment = Environment()
    requires: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.  `members`: what a list shows of it, in the order written; `handler` is never missing."""

    name: str
    span: Span
    members: Node
    input: Schema
    output: Schema | None
    handler: Handler
    running: Running = Running()


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument of a prompt; its value is always a string."""

    name: str
    required: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt."""

    name: str
    span: Span
    members: Node
    arguments: tuple[PromptArgument, ...]
    handler: Handler
    running: Running = Running()


@dataclass(frozen=True, slots=True)
class HandlerFile:
    """A file that goes into the artifact byte for byte, under `handlers/`."""

    source: Source
    language: str = ""


@dataclass(frozen=True, slots=True)
class Server:
    """A whole server.

    `shell`: the Bash libraries in the order one shell reads them.  `environment`: variables the handlers find, beside
    what they inherit.  `unpack`: a library asks for its own place, so that the files are wanted on disk.  `sources`:
    the files that spans point into, for the problem whose hint names a second place; nothing of them is emitted.
    `models`: the tools whose models the project's own Python code mentions.
    """

    format: str
    dialect: str
    node: Node
    name: str
    version: str
    instructions: str
    tools: tuple[Tool, ...]
    prompts: tuple[Prompt, ...]
    files: tuple[HandlerFile, ...]
    shell: tuple[str, ...] = ()
    tools_page_size: int = 0
    prompts_page_size: int = 0
    environment: tuple[tuple[str, str], ...] = ()
    sources: tuple[Source, ...] = ()
    models: tuple[str, ...] = ()
    unpack: bool = False
    layer: Layer | None = None

    @property
    def definitions(self) -> tuple[Tool | Prompt, ...]:
        """Everything that has a handler."""
        return *self.tools, *self.prompts


@dataclass(frozen=True, slots=True)
class CheckedServer:
    """A server in which every pass found no error.  Emitters take nothing else."""

    server: Server
