"""The definitions of a program's server, as nodes with the place of the function that defines each.

What is valid in no draft, or only in an earlier one than the schema says, is repaired if it has one meaning: a name
twice in `required`, `exclusiveMinimum: true` beside `minimum`, a keyword whose value is null.  A property that is not
valid even so allows everything; if there is no such property, the whole schema does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.causes import line_span
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
from mcpc.schema import compile_schema
from mcpc.schema.keywords import KEYWORDS, SCHEMA, SCHEMAS, SCHEMAS_BY_NAME, SCHEMAS_BY_PATTERN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.fastmcp.entry_points import EntryPoint, ProjectSettings
    from mcpc.frontends.fastmcp.program import Offered, ProgramDescription
    from mcpc.reading import Json, SourceTree

if TYPE_CHECKING:
    Schema = dict[str, Any]


CONTRACT = "fastmcp"
TIME_LIMIT = 86_400
"""Seconds: the frameworks have no time limit, and this is the longest that there is."""
INFORMATION = ("name", "version", "title", "description", "websiteUrl", "icons")
DEFAULT_NAME = "mcp-server"


class ProgramDefinitions:
    """Makes the definitions of a described program."""

    def __init__(self, tree: SourceTree, entry: EntryPoint, description: ProgramDescription) -> None:
        self._tree = tree
        self._entry = entry
        self._found = description
        self.problems: list[Diagnostic] = []

    def tools(self) -> Iterator[ToolDefinition]:
        for item in self._found.lists["tools"]:
            span = self._span(item)
            entry, problems = usable_schemas(item.entry, span)
            self.problems += problems
            yield ToolDefinition(implied_node(entry, span), handler=self._handler(span))

    def prompts(self) -> Iterator[PromptDefinition]:
        for item in self._found.lists["prompts"]:
            span = self._span(item)
            yield PromptDefinition(implied_node(item.entry, span), handler=self._handler(span))

    def resources(self) -> Iterator[ResourceDefinition]:
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
        handler = program_handler(span.path or self._entry.file, span)
        return replace(handler, arguments=self._found.arguments)


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
    description: ProgramDescription, settings: ProjectSettings, version: str, entry: EntryPoint
) -> ServerDefinition:
    """Return the server's description; `version`: that of the framework, for servers and projects without one."""
    said: dict[str, Any] = description.server
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


INVALID = frozenset({"MCP110", "MCP111", "MCP112", "MCP113", "MCP114", "MCP117"})
MAY_BE_NULL = frozenset({"const", "default"})
BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
EARLIER_DRAFTS = frozenset({"http://json-schema.org/draft-03/schema", "http://json-schema.org/draft-04/schema"})
"""Drafts that the runtime does not know; their differences are those that are repaired here."""
SHOWN = ("title", "description")
HINT = "clients see the schema without it; correct the library or the document that makes this schema"


def usable_schemas(entry: dict[str, Any], span: Span) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Return a tool with schemas that are valid, and a warning for each part that had to be loosened."""
    problems: list[Diagnostic] = []
    for key in ("inputSchema", "outputSchema"):
        if isinstance(entry.get(key), dict):
            # MCP demands an object at the root of `inputSchema`.
            written = entry[key] if key == "outputSchema" or "type" in entry[key] else {"type": "object", **entry[key]}
            schema = repaired(written) if fault_of(written, span) else written  # what is valid keeps even its order
            for pointer, fault in loosened(schema, span):
                where = f"`/{key}{pointer}` of the tool `{entry.get('name')}`"
                problems.append(diagnose("MCP319", span, f"{where} is no valid schema: {fault}", "", HINT))
            entry = {**entry, key: schema}
    return entry, problems


def repaired(schema: Any) -> Any:
    """Return a schema in which what has one meaning is written as JSON Schema 2020-12 writes it."""
    if not isinstance(schema, dict):
        return schema
    whole: Schema = {key: value for key, value in schema.items() if value is not None or key in MAY_BE_NULL}
    for repair in REPAIRS:
        repair(whole)
    return {key: repaired_parts(key, value) for key, value in whole.items()}


def repaired_parts(key: str, value: Any) -> Any:
    """Return the value of a keyword with repaired subschemas."""
    shape = KEYWORDS[key].shape if key in KEYWORDS else None
    if shape in (SCHEMAS_BY_NAME, SCHEMAS_BY_PATTERN) and isinstance(value, dict):
        return {name: repaired(part) for name, part in value.items()}
    if shape in (SCHEMA, SCHEMAS):
        return [repaired(part) for part in value] if isinstance(value, list) else repaired(value)
    return value


def drop_earlier_draft(schema: Schema) -> None:
    """Leave out the name of a draft that is not known."""
    if str(schema.get("$schema", "")).rstrip("#") in EARLIER_DRAFTS:
        del schema["$schema"]


def take_required_properties(schema: Schema) -> None:
    """Name in `required` the properties that say so themselves, as in draft 3."""
    properties = schema.get("properties")
    names = schema.pop("required", None)
    names = [*names] if isinstance(names, list) else []
    if isinstance(properties, dict):
        dicts = ((name, part) for name, part in properties.items() if isinstance(part, dict))
        marked = {name: part for name, part in dicts if part.get("required") is True}
        names += marked
        plain = {name: {key: part[key] for key in part if key != "required"} for name, part in marked.items()}
        schema["properties"] = {**properties, **plain}
    if names:
        schema["required"] = names


def write_bounds(schema: Schema) -> None:
    """Write an exclusive bound as the number itself, as since draft 6."""
    for key, bound in BOUNDS.items():
        # `false` says that the bound itself is allowed: the keyword goes, and the bound stays.
        if isinstance(schema.get(key), bool) and schema.pop(key) and bound in schema:
            schema[key] = schema.pop(bound)


def drop_repetitions(schema: Schema) -> None:
    """Name each type and each property once."""
    for key in ("required", "type"):
        items = schema.get(key)
        if isinstance(items, list):
            schema[key] = [item for place, item in enumerate(items) if item not in items[:place]]


def write_positions(schema: Schema) -> None:
    """Write schemas by position as `prefixItems`, where no draft is named that has another form."""
    if isinstance(schema.get("items"), list) and not {"$schema", "prefixItems"} & schema.keys():
        schema["prefixItems"] = schema.pop("items")
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")


REPAIRS: tuple[Callable[[Schema], None], ...] = (
    drop_earlier_draft,
    take_required_properties,
    write_bounds,
    drop_repetitions,
    write_positions,
)


def loosened(schema: Schema, span: Span) -> Iterator[tuple[str, str]]:
    """Let what is not valid allow everything; yield its pointer, and what is wrong with it."""
    if not fault_of(schema, span):
        return
    properties = schema.get("properties")
    if isinstance(properties, dict) and not fault_of({**schema, "properties": {}}, span):
        # Each property alone: a compilation for each, but only of schemas that are not valid.
        for name, part in list(properties.items()):
            wrong = fault_of({**schema, "properties": {name: part}}, span)
            if wrong:
                texts = part if isinstance(part, dict) else {}
                properties[name] = {key: texts[key] for key in SHOWN if isinstance(texts.get(key), str)}
                yield f"/properties/{name.replace('~', '~0').replace('/', '~1')}", wrong
    rest = fault_of(schema, span)
    if rest:
        # In place, because the caller's tool has this object.
        schema.clear()
        schema["type"] = "object"
        yield "", rest


def fault_of(schema: Schema, span: Span) -> str:
    """Return why a schema is not valid, empty if it is."""
    problems = compile_schema(implied_node(schema, span))[1]
    return next((problem.message for problem in problems if problem.code in INVALID), "")
