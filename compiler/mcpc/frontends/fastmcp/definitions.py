"""The definitions of a program's server, as nodes with the place of the function that defines each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span
from mcpc.frontends.causes import line_span
from mcpc.frontends.fastmcp.made_schemas import usable_schemas
from mcpc.model.definitions import (
    HANDLERS_KEY,
    CompletionDefinition,
    PromptDefinition,
    ResourceDefinition,
    ServerDefinition,
    TemplateDefinition,
    ToolDefinition,
)
from mcpc.model.ir import ExternalHandler
from mcpc.model.ir.uri_templates import TemplateError, parse_template
from mcpc.reading.json_tree import implied_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.frontends.fastmcp.program import Offered, ProgramDescription
    from mcpc.frontends.fastmcp.project_settings import ProjectSettings
    from mcpc.reading import Json, SourceTree

CONTRACT = "fastmcp"
TIME_LIMIT = 86_400
"""Seconds: the frameworks have no time limit, and this is the longest that there is."""
INFORMATION = ("name", "version", "title", "description", "websiteUrl", "icons")
DEFAULT_NAME = "mcp-server"


class ProgramDefinitions:
    """Makes the definitions of a described program."""

    def __init__(self, tree: SourceTree, entry: EntryPoint, found: ProgramDescription) -> None:
        self._tree = tree
        self._entry = entry
        self._found = found
        self.problems: list[Diagnostic] = []

    def tools(self) -> Iterator[ToolDefinition]:
        """Yield the tools."""
        for item in self._found.lists["tools"]:
            span = self._span(item)
            entry, problems = usable_schemas(item.entry, span)
            self.problems += problems
            yield ToolDefinition(implied_node(entry, span), handler=self._handler(span))

    def prompts(self) -> Iterator[PromptDefinition]:
        """Yield the prompts."""
        for item in self._found.lists["prompts"]:
            span = self._span(item)
            yield PromptDefinition(implied_node(item.entry, span), handler=self._handler(span))

    def resources(self) -> Iterator[ResourceDefinition]:
        """Yield the resources."""
        for item in self._found.lists["resources"]:
            span = self._span(item)
            yield ResourceDefinition(implied_node(item.entry, span), handler=self._handler(span))

    def templates(self) -> Iterator[TemplateDefinition]:
        """Yield the resource templates."""
        for item in self._found.lists["templates"]:
            span = self._span(item)
            yield TemplateDefinition(implied_node(item.entry, span), handler=self._handler(span))

    def completions(self) -> Iterator[CompletionDefinition]:
        """Yield a completion for every argument, if the server completes any: it decides itself which it completes."""
        if not self._found.completes:
            return
        for item in self._found.lists["prompts"]:
            for argument in item.entry.get("arguments") or ():
                yield self._completion({"type": "ref/prompt", "name": item.entry.get("name")}, argument["name"], item)
        for item in self._found.lists["templates"]:
            template = str(item.entry.get("uriTemplate", ""))
            for name in variables_of(template):
                yield self._completion({"type": "ref/resource", "uri": template}, name, item)

    def _completion(self, ref: dict[str, Json], argument: str, item: Offered) -> CompletionDefinition:
        span = self._span(item)
        node = implied_node({"ref": ref, "argument": argument}, span)
        return CompletionDefinition(node, handler=self._handler(span))

    def _span(self, item: Offered) -> Span:
        """Return the place of the function that defines an item, else that of the entry."""
        source = self._tree.get(item.path) if item.path else None
        return line_span(source, item.line) if source is not None else Span(self._entry.file)

    def _handler(self, span: Span) -> ExternalHandler:
        found = program_handler(span.path or self._entry.file, span)
        return replace(found, arguments=self._found.arguments)


def program_handler(file: str, span: Span) -> ExternalHandler:
    """Return the handler of anything that the program handles; it checks arguments itself."""
    return ExternalHandler(file, span, CONTRACT, unpacks=True, language="python", arguments="handler", generated=True)


def variables_of(template: str) -> list[str]:
    """Return the names of a URI template's variables; none if it cannot be parsed, which is reported elsewhere."""
    try:
        return [variable.name for variable in parse_template(template).variables]
    except TemplateError:
        return []


def server_definition(
    found: ProgramDescription, settings: ProjectSettings, version: str, entry: EntryPoint
) -> ServerDefinition:
    """Return the server's description; `version`: that of the framework, for servers and projects without one."""
    said: dict[str, Any] = found.server
    information = {key: said[key] for key in INFORMATION if said.get(key)}
    information.setdefault("name", settings.name or DEFAULT_NAME)
    information.setdefault("version", settings.version or version)
    node: dict[str, Json] = {
        "serverInfo": information,
        **({"instructions": said["instructions"]} if said.get("instructions") else {}),
        "capabilities": {"logging": {}},
        "_meta": {HANDLERS_KEY: {"environment": "inherit", "timeout": TIME_LIMIT}},
    }
    return ServerDefinition(implied_node(node, Span(entry.file)))
