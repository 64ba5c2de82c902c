"""Nodes of the IR: frozen and typed definitions of a server, independent of all project formats.

A definition keeps its source position for diagnostics; nothing here reads a file or a raw definition.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, Self, cast

from mcpc.model.ir.handlers import PipelineHandler
from mcpc.model.ir.project import NO_TRAITS
from mcpc.reading.json_tree import Member, implied_node, object_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Span
    from mcpc.model.ir.handlers import Handler, HandlerOptions, PlainData
    from mcpc.model.ir.layer import Layer, RequestedPackage
    from mcpc.model.ir.metadata import Annotations, Capability, Implementation, Metadata, ToolAnnotations, UserInterface
    from mcpc.model.ir.project import ProjectMetadata, Setting, Traits
    from mcpc.model.ir.uri_templates import UriTemplate
    from mcpc.reading import Json, Node, Source


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema as written.

    `closed`: refuse arguments that the root does not name, even if it allows them. `assert_formats`: enforce `format`.
    `completes`: fill in defaults. `decides`: enforce the schema; else it is only shown to clients. `unchecked`: the
    properties whose values the handler judges. `shown`: what clients see, if it is not all.
    """

    node: Node
    closed: bool = False
    assert_formats: bool = False
    completes: bool = False
    decides: bool = True
    unchecked: frozenset[str] = frozenset()
    shown: Node | None = None

    @property
    def enforced(self) -> Self:
        """The schema that is enforced: it allows everything where the handler judges."""
        declared = self.node.get("properties") if self.unchecked else None
        if declared is None:
            return self
        anything = (
            replace(member, node=implied_node({}, member.node.span)) if member.key in self.unchecked else member
            for member in declared.members
        )
        # Of two members with one key the last one is used, so this one takes the place of the written one.
        properties = Member("properties", declared.start, declared.start, object_node(anything, declared.span))
        return replace(self, node=object_node((*self.node.members, properties), self.node.span), unchecked=frozenset())

    @property
    def value(self) -> Json:
        """The schema as plain JSON."""
        return self.node.value

    @property
    def listed(self) -> Json:
        """What clients see of it, as plain JSON."""
        return (self.shown or self.node).value

    @property
    def type(self) -> Json:
        """The `type` of its root, or None."""
        value = self.node.get("type")
        return None if value is None else value.value

    @property
    def description(self) -> str:
        """The `description` of its root, or an empty string."""
        value = self.node.get("description")
        return "" if value is None else str(value.value)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.  `node`: its source, for the positions of its fields; `handler` is always present.

    `headers`: arguments that HTTP clients repeat as headers (`x-mcp-header`): the header's name, the path to the
    argument. `is_listed`: other tools find it otherwise, by its words and `tags`.
    """

    name: str
    span: Span
    node: Node
    input: Schema
    output: Schema | None
    handler: Handler
    running: HandlerOptions
    metadata: Metadata
    annotations: ToolAnnotations
    headers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    interface: UserInterface | None = None
    is_listed: bool = True
    tags: tuple[str, ...] = ()

    @property
    def may_run_again(self) -> bool:
        """Whether an interrupted call is run again: it became a task, and the tool is repeatable."""
        return bool(self.running.task) and self.annotations.repeatable


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument of a prompt; its value is always a string."""

    name: str
    required: bool
    span: Span
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt."""

    name: str
    span: Span
    node: Node
    arguments: tuple[PromptArgument, ...]
    handler: Handler
    running: HandlerOptions
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class StaticContents:
    """Content of a resource known at build time: a text, or a blob in base64.  `size`: in bytes."""

    data: str
    is_blob: bool
    size: int
    contract: str = "static"


@dataclass(frozen=True, slots=True)
class RootFolder:
    """A folder on the serving machine: its absolute path, or `$` and the environment variable that contains it.

    `path`: the file below it; for a template, the variable that contains that path.
    """

    folder: str
    path: str
    contract: str = "file"


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource: its content is static, or comes from files or a handler.

    `size`: the size in bytes shown to clients, as written or as known; None if neither.
    """

    name: str
    uri: str
    span: Span
    node: Node
    mime: str
    content: StaticContents | RootFolder | None
    handler: Handler | None
    running: HandlerOptions
    metadata: Metadata
    annotations: Annotations
    size: float | None = None
    interface: UserInterface | None = None


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """Resources described by a URI template: a handler gets the variables, or files have the contents."""

    name: str
    uri: UriTemplate
    span: Span
    node: Node
    mime: str
    content: RootFolder | None
    handler: Handler | None
    running: HandlerOptions
    metadata: Metadata
    annotations: Annotations


@dataclass(frozen=True, slots=True)
class Completion:
    """Values for an argument of a prompt or a variable of a template: static values, or a handler's.

    `kind`: `prompt` or `resource`; `ref`: the prompt's name, or the template; `span`: the position of `argument`.
    """

    kind: str
    ref: str
    argument: str
    span: Span
    node: Node
    values: tuple[str, ...]
    handler: Handler | None
    running: HandlerOptions

    @property
    def name(self) -> str:
        """The name in messages."""
        return f"{self.ref} {self.argument}"

    @property
    def key(self) -> str:
        """The key by which the runtime finds it."""
        return f"{self.kind}\n{self.ref}\n{self.argument}"


class HasHandler(Protocol):
    """A definition of any kind that has a handler."""

    @property
    def name(self) -> str:
        """The name in messages."""
        ...

    @property
    def span(self) -> Span:
        """The position of its name."""
        ...

    @property
    def node(self) -> Node:
        """Its source."""
        ...

    @property
    def handler(self) -> Handler:
        """The handler that is run."""
        ...

    @property
    def running(self) -> HandlerOptions:
        """The options of the handler."""
        ...


@dataclass(frozen=True, slots=True)
class RunTimeDefinitions:
    """The handler of what only the program knows: lists that are made when they are requested, and what is in them.

    `kinds`: `tools`, `prompts` or `resources` whose lists are never built; `changing`: those that may change while the
    server runs, and are made at run time from then on; `by_arguments`: those that are if the program gets arguments.
    `forwards`: it answers the methods of extensions; `extensions`: what it says of each in its capabilities.
    """

    kinds: frozenset[str]
    changing: frozenset[str]
    span: Span
    node: Node
    handler: Handler
    running: HandlerOptions
    name: str = "lists"
    by_arguments: frozenset[str] = frozenset()
    forwards: bool = False
    extensions: tuple[tuple[str, dict[str, Json]], ...] = field(default=(), hash=False)


@dataclass(frozen=True, slots=True)
class VirtualServer:
    """A part of a server with a separate HTTP path: the names of its tools, prompts and resources."""

    name: str
    path: str
    tools: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandlerFile:
    """A file that is written below `handlers/`, unchanged unless a handler in it is compiled."""

    source: Source
    language: str = ""


@dataclass(frozen=True, slots=True)
class Toolset:
    """A named group of tools: patterns of their names, each with its place."""

    name: str
    patterns: tuple[tuple[str, Span], ...]


@dataclass(frozen=True, slots=True)
class Server:
    """A whole server.

    `shell`: the Bash libraries in the order in which a shell reads them. `environment`: variables of the handlers
    beside the inherited ones. `unpack`: a library uses its own path, so that the files are needed on disk.
    `sources`: the files that spans point into, for hints with a second position; they are not emitted. `models`:
    the tools whose models the project's Python code mentions. `changes`: what may change while the server runs:
    `contents` of a resource, a list (`tools`, `prompts`, `resources`), or lists that are still empty (`ever`).
    `layer`: the packages of handlers; `serving`: those of the server itself, for HTTP and its options.
    `runtime_settings`: settings of the format's own runtime modules, by module name, as plain data.
    `virtual_servers`: separate servers over HTTP, of which this one is the union. `serves`: capabilities of the
    format's runtime modules without a definition. `traits`: differences for the server's system. `live_lists`:
    lists that a handler returns on request: the method, and the URI that identifies the handler. `requirements`:
    the packages that the handlers need; None for those that the project's files declare. `run_time`: the handler of
    definitions that are not known at build. `imported`: the Python files of the project that a program imports before
    it serves, or that handlers may import from disk (`imports_from_disk`), so that they find files. `platforms`: the
    tags of the platforms that were requested. `settings`: what the person who installs the server sets.
    `toolsets`: groups of tools that an operator can choose. `project`: what its carriers say about it. `runs_on`: the
    Pythons and systems that its packages are for, in words.
    """

    format: str
    dialect: str
    node: Node
    info: Implementation
    metadata: Metadata
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
    runtime_settings: tuple[tuple[str, Mapping[str, PlainData]], ...] = field(default=(), hash=False)  # no hash
    virtual_servers: tuple[VirtualServer, ...] = ()
    serves: frozenset[str] = frozenset()
    capabilities: tuple[Capability, ...] = ()
    traits: Traits = NO_TRAITS
    live_lists: tuple[tuple[str, str], ...] = ()
    requirements: tuple[RequestedPackage, ...] | None = None
    run_time: RunTimeDefinitions | None = None
    imported: tuple[str, ...] = ()
    imports_from_disk: bool = False
    platforms: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    toolsets: tuple[Toolset, ...] = ()
    project: ProjectMetadata | None = None
    runs_on: str = ""

    @property
    def name(self) -> str:
        """What the server is called."""
        return self.info.name

    @property
    def version(self) -> str:
        """The version of the server."""
        return self.info.version

    @property
    def is_of_document(self) -> bool:
        """Whether tools are those of an API document."""
        # The formats of a project that has several are joined by `+`.
        return "openapi" in self.format.split("+")

    @property
    def listed_tools(self) -> tuple[Tool, ...]:
        """The tools that clients list."""
        return tuple(tool for tool in self.tools if tool.is_listed)

    @property
    def operations(self) -> tuple[Tool, ...]:
        """The tools that are found by others, and not listed."""
        return tuple(tool for tool in self.tools if not tool.is_listed)

    @property
    def definitions(self) -> tuple[HasHandler, ...]:
        """All definitions that have a handler, and the requests and commands of pipelines."""
        more = () if self.run_time is None else (self.run_time,)
        steps = [
            step for tool in self.tools if isinstance(tool.handler, PipelineHandler) for step in tool.handler.steps
        ]
        return *self.tools, *steps, *self.prompts, *self._others(), *more

    def _others(self) -> Iterator[HasHandler]:
        others: tuple[Resource | ResourceTemplate | Completion, ...] = (*self.readable, *self.completions)
        for item in others:
            if item.handler is not None:
                yield cast("HasHandler", item)

    @property
    def readable(self) -> tuple[Resource | ResourceTemplate, ...]:
        """Definitions that clients read: resources and templates."""
        return *self.resources, *self.templates

    @property
    def has_resources(self) -> bool:
        """Whether clients can read anything."""
        listed = bool(self.resources or self.templates or self.skills)
        return listed or "resources" in self.serves or self.lists_later("resources")

    @property
    def offers_nothing(self) -> bool:
        """Whether there is nothing that a client could list, and never will be."""
        later = any(map(self.lists_later, ("tools", "prompts", "resources")))
        known = self.tools or self.prompts or self.has_resources or self.virtual_servers or self.serves
        return not (known or later or self.live_lists or self.changes)

    def lists_later(self, kind: str) -> bool:
        """Tell whether definitions of a kind may be known at run time only."""
        return self.run_time is not None and kind in self.run_time.kinds | self.run_time.changing

    @property
    def is_watched(self) -> bool:
        """Whether clients may subscribe to resources: the project sends or declares such notifications."""
        promised = any(item.name == "resources" and item.subscribe for item in self.capabilities)
        return promised or "contents" in self.changes

    @property
    def has_tasks(self) -> bool:
        """Whether calls of a tool may become tasks."""
        return any(tool.running.task for tool in self.tools)

    @property
    def completes(self) -> bool:
        """Whether anything can be completed."""
        return bool(self.completions) or "completions" in self.serves


@dataclass(frozen=True, slots=True)
class CheckedServer:
    """A server in which every pass found no error.  Emitters take nothing else."""

    server: Server


@dataclass(frozen=True, slots=True)
class SkillFile:
    """One file of a skill, unchanged.  `mime`: its media type."""

    uri: str
    source: Source
    mime: str


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill, a folder of instructions for an agent.

    `uri`: that of its SKILL.md; `frontmatter`: of that file; `files`: all files, sorted.
    """

    name: str
    uri: str
    span: Span
    frontmatter: dict[str, Json] = field(hash=False)
    files: tuple[SkillFile, ...]

    @property
    def folder(self) -> str:
        """The URI of its folder."""
        return self.uri.removesuffix("/SKILL.md")
