"""What a front end found, with the place of every field: what was written, not yet what it means.

One shape for all front ends.  A definition may be wrong in every way; `lower` gives it a meaning, the passes judge it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from mcpc.diagnostics import Span
    from mcpc.ir import Facet, Handler
    from mcpc.sources import Node, Source


@dataclass(frozen=True, slots=True)
class ServerDefinition:
    """The server's own description: the JSON object that says name, version, capabilities, instructions.

    `implied`: nobody wrote it; another description, if there is one, says more.
    """

    node: Node
    implied: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """The function of a definition that is a function itself: nothing has to be found by its name.

    `binding`: how it is called, as `PythonFunction.binding`; `context`: the parameter for the call's context.
    """

    file: str
    function: str
    span: Span
    binding: tuple[str, ...] = ()
    context: str = ""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool as written: an object whose fields are the protocol's (`name`, `description`, `inputSchema`, …).

    `bound` is the function that it is itself; `handler`, of this and of all others, what its format knows to be run.
    """

    node: Node
    bound: Bound | None = None
    handler: Handler | None = None


@dataclass(frozen=True, slots=True)
class PromptDefinition:
    """One prompt as written: `name`, `title`, `description`, `arguments`."""

    node: Node
    bound: Bound | None = None
    handler: Handler | None = None


@dataclass(frozen=True, slots=True)
class ResourceDefinition:
    """One resource as written: `uri`, `name`, …, and where its content comes from."""

    node: Node
    bound: Bound | None = None
    handler: Handler | None = None


@dataclass(frozen=True, slots=True)
class TemplateDefinition:
    """One resource template as written: as a resource, with `uriTemplate` for `uri`."""

    node: Node
    bound: Bound | None = None
    handler: Handler | None = None


@dataclass(frozen=True, slots=True)
class CompletionDefinition:
    """One completion as written: `ref`, `argument`, `values`."""

    node: Node
    bound: Bound | None = None
    handler: Handler | None = None


@dataclass(frozen=True, slots=True)
class SkillDefinition:
    """One skill: its folder below `skills/`, its SKILL.md, and every file in the folder."""

    folder: str
    main: Source
    files: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """A source file that holds handlers.

    `language` is a row of `mcpc.languages.LANGUAGES`.  `prefixes` are pairs: the kind of definition (`tool`, `prompt`)
    whose handlers may be here, and what is put before the definition's name to make the name of the function.  Files
    that one shell reads share their functions, so a file may serve both kinds; a kind with two prefixes accepts both.
    `contract`: how its Bash functions are called.
    """

    source: Source
    language: str
    prefixes: tuple[tuple[str, str], ...]
    contract: str = "mcbox"


@dataclass(frozen=True, slots=True)
class Definition:
    """Everything one project wrote, in the order it was written.

    `complete` is false when the front end reported a file that is missing or cannot be understood: what seems absent
    may be there, so nothing is reported that only follows from it.  `sources` are the files that spans of definitions
    and handlers point into; `beside` are files the handlers may want beside them (modules they import, data they read).
    `described` is true if something describes the server, even if nothing could be learned of it.
    `homes` are files that usually implement a kind, for the kinds of which none is there.  `settings` are what a
    format's own parts of the runtime are told, by their names, as plain data.  `facets` are servers of their own over
    HTTP, of which the definition is all together.  `serves` are the capabilities that a format's own parts have without
    a definition: whatever `resources` its providers take, `completions` by names.
    """

    format: str
    server: ServerDefinition | None
    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    resources: tuple[ResourceDefinition, ...] = ()
    templates: tuple[TemplateDefinition, ...] = ()
    completions: tuple[CompletionDefinition, ...] = ()
    skills: tuple[SkillDefinition, ...] = ()
    libraries: tuple[Library, ...] = ()
    beside: tuple[Source, ...] = ()
    sources: tuple[Source, ...] = ()
    complete: bool = True
    described: bool = True
    homes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
    facets: tuple[Facet, ...] = ()
    serves: frozenset[str] = frozenset()
