"""The nodes of the intermediate representation: frozen, typed, free of any front end's names.

A node keeps the place it came from, because passes report there; nothing here reads a file or a raw definition.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Span
    from mcpc.ir.layer import Layer
    from mcpc.ir.skills import Skill
    from mcpc.ir.uri_templates import UriTemplate
    from mcpc.sources import Json, Node, Source


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema as written.

    `closed`: arguments the root does not name are refused although it does not say so.  `assert_formats`: `format`
    decides.  `completes`: defaults are put in the place of what is missing.  `decides`: what breaks it is refused; else
    it only describes.
    """

    node: Node
    closed: bool = False
    assert_formats: bool = False
    completes: bool = False
    decides: bool = True

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


@dataclass(frozen=True, slots=True)
class Foreign:
    """A handler as another system has it: only its contract knows what `facts` mean, which are plain data.

    `unpacks`: it wants the project's files on disk.  `compiled`: what its file is in the artifact, nothing if itself.
    """

    file: str
    span: Span
    contract: str
    facts: tuple[Any, ...] = ()
    unpacks: bool = False
    compiled: bytes = b""


Handler = BashFunction | PythonFunction | Executable | Foreign


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

    `timeout`: seconds.  `inline`: in the server's own process, for speed; `loop`: over HTTP even on the thread that
    serves everybody.  `isolated`: in a shell of its own.  `task`: whether a call may become a task (`optional`) or
    always does (`required`).  `asks`: what the client is asked before: key, method, params as JSON.
    """

    timeout: float = 60.0
    inline: bool | Literal["loop"] = False
    isolated: bool = False
    environment: Environment = Environment()
    requires: tuple[Requirement, ...] = ()
    task: str = ""
    asks: tuple[tuple[str, str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.  `members`: what a list shows of it, in the order written; `handler` is never missing.

    `headers`: the arguments that HTTP clients repeat as headers (`x-mcp-header`): the header's name, the path to it.
    """

    name: str
    span: Span
    members: Node
    input: Schema
    output: Schema | None
    handler: Handler
    running: Running = Running()
    headers: tuple[tuple[str, tuple[str, ...]], ...] = ()


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
class Contents:
    """What a resource is, known when the server is built: a text, or a blob in base64.  `size`: its bytes."""

    data: str
    is_blob: bool
    size: int
    contract: str = "static"


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of the machine that serves: its absolute path, or `$` and the variable of the environment that has it.

    `path`: the file below it; of a template, the variable that holds that path.
    """

    folder: str
    path: str
    contract: str = "file"


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource: either its content is known, or files or a handler have it."""

    name: str
    uri: str
    span: Span
    members: Node
    mime: str
    content: Contents | Root | None
    handler: Handler | None
    running: Running = Running()


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """Many resources, whose uris a template describes: a handler is given the variables, or files have the contents."""

    name: str
    uri: UriTemplate
    span: Span
    members: Node
    mime: str
    content: Root | None
    handler: Handler | None
    running: Running = Running()


@dataclass(frozen=True, slots=True)
class Completion:
    """What may stand for an argument of a prompt, or for a variable of a template: known values, or a handler's.

    `kind`: `prompt` or `resource`; `ref`: the prompt's name, or the template; `span`: the place of `argument`.
    """

    kind: str
    ref: str
    argument: str
    span: Span
    members: Node
    values: tuple[str, ...]
    handler: Handler | None
    running: Running = Running()

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.ref} {self.argument}"

    @property
    def key(self) -> str:
        """What it is found by when the server runs."""
        return f"{self.kind}\n{self.ref}\n{self.argument}"


class Handled(Protocol):
    """A definition of any kind that has a handler."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def span(self) -> Span:
        """Where its name is."""
        ...

    @property
    def members(self) -> Node:
        """What was written of it."""
        ...

    @property
    def handler(self) -> Handler:
        """What is run."""
        ...

    @property
    def running(self) -> Running:
        """How it is run."""
        ...


@dataclass(frozen=True, slots=True)
class Facet:
    """A part of a server that is a server of its own over HTTP, under `path`: the names of what it has."""

    name: str
    path: str
    tools: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandlerFile:
    """A file that goes into the artifact under `handlers/`, byte for byte unless a handler in it is compiled."""

    source: Source
    language: str = ""


@dataclass(frozen=True, slots=True)
class Server:
    """A whole server.

    `shell`: the Bash libraries in the order one shell reads them.  `environment`: variables the handlers find, beside
    what they inherit.  `unpack`: a library asks for its own place, so that the files are wanted on disk.  `sources`:
    the files that spans point into, for the problem whose hint names a second place; nothing of them is emitted.
    `models`: the tools whose models the project's own Python code mentions.  `changes`: what the project's sources say
    may change while the server runs: `contents` of a resource, or a list (`tools`, `prompts`, `resources`), or lists
    that are empty yet (`ever`).  `layer`: the packages that handlers find; `serving`: those that the server itself has,
    for HTTP and what goes with it.
    `settings`: what a format's own parts of the runtime are told, by their names, as plain data.  `facets`: servers of
    which this one is all together.  `serves`: the capabilities that a format's own parts have without a definition.
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
    skills: tuple[Skill, ...] = ()
    shell: tuple[str, ...] = ()
    tools_page_size: int = 0
    prompts_page_size: int = 0
    resources: tuple[Resource, ...] = ()
    templates: tuple[ResourceTemplate, ...] = ()
    completions: tuple[Completion, ...] = ()
    resources_page_size: int = 0
    changes: frozenset[str] = frozenset()
    environment: tuple[tuple[str, str], ...] = ()
    sources: tuple[Source, ...] = ()
    models: tuple[str, ...] = ()
    unpack: bool = False
    layer: Layer | None = None
    serving: Layer | None = None
    settings: tuple[tuple[str, Any], ...] = field(default=(), hash=False)  # plain data, of which dicts have no hash
    facets: tuple[Facet, ...] = ()
    serves: frozenset[str] = frozenset()

    @property
    def definitions(self) -> tuple[Handled, ...]:
        """Everything that has a handler."""
        return *self.tools, *self.prompts, *self._others()

    def _others(self) -> Iterator[Handled]:
        others: tuple[Resource | ResourceTemplate | Completion, ...] = (*self.readable, *self.completions)
        for one in others:
            if one.handler is not None:
                yield cast("Handled", one)

    @property
    def readable(self) -> tuple[Resource | ResourceTemplate, ...]:
        """What clients read: resources and templates."""
        return *self.resources, *self.templates

    @property
    def has_resources(self) -> bool:
        """Whether there is anything for a client to read."""
        return bool(self.resources or self.templates or self.skills) or "resources" in self.serves

    @property
    def completes(self) -> bool:
        """Whether anything can be completed."""
        return bool(self.completions) or "completions" in self.serves


@dataclass(frozen=True, slots=True)
class CheckedServer:
    """A server in which every pass found no error.  Emitters take nothing else."""

    server: Server
