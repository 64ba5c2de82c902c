"""What a front end found, with the place of every field: what was written, not yet what it means.

One shape for all front ends.  A definition may be wrong in every way; `lower` gives it a meaning, the passes judge it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.diagnostics import Span
    from mcpc.sources import Node, Source


@dataclass(frozen=True, slots=True)
class ServerDefinition:
    """The server's own description: the JSON object that says name, version, capabilities, instructions."""

    node: Node


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
    """One tool as written: an object whose fields are the protocol's (`name`, `description`, `inputSchema`, …)."""

    node: Node
    bound: Bound | None = None


@dataclass(frozen=True, slots=True)
class PromptDefinition:
    """One prompt as written: `name`, `title`, `description`, `arguments`."""

    node: Node
    bound: Bound | None = None


@dataclass(frozen=True, slots=True)
class Library:
    """A source file that holds handlers.

    `language` is a row of `mcpc.languages.LANGUAGES`.  `prefixes` are pairs: the kind of definition (`tool`, `prompt`)
    whose handlers may be here, and what is put before the definition's name to make the name of the function.  Files
    that one shell reads share their functions, so a file may serve both kinds; a kind with two prefixes accepts both.
    """

    source: Source
    language: str
    prefixes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """Everything one project wrote, in the order it was written.

    `complete` is false when the front end reported a file that is missing or cannot be understood: what seems absent
    may be there, so nothing is reported that only follows from it.  `sources` are the files that spans of definitions
    and handlers point into; `beside` are files the handlers may want beside them (modules they import, data they read).
    """

    format: str
    contract: str
    server: ServerDefinition | None
    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    libraries: tuple[Library, ...] = ()
    beside: tuple[Source, ...] = ()
    sources: tuple[Source, ...] = ()
    complete: bool = True
