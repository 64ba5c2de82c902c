"""Data that is read in the source of a file of decorated functions, without running it.

A keyword whose loss changes little is a warning; one that users rely on (who may call) is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import did_you_mean, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.reading import Source


@dataclass(frozen=True, slots=True)
class DescribedParameter:
    """The spans of a parameter: its name, its annotation, its default."""

    name: Span
    annotation: Span | None
    default: Span | None


@dataclass(frozen=True, slots=True)
class Decorator:
    """A function that is a definition.  `span`: the place of its name; `options`: of each keyword's value."""

    kind: str
    function: str
    span: Span
    options: Mapping[str, Span]
    parameters: Mapping[str, DescribedParameter] = field(default_factory=dict)
    docstring: Span | None = None
    returns: Span | None = None


@dataclass(frozen=True, slots=True)
class ServerObject:
    """A `Server(...)` that has a name at the top of its file."""

    name: str
    span: Span
    options: Mapping[str, Span]


@dataclass(frozen=True, slots=True)
class DecoratedFile:
    """The decorated functions and servers of a file.

    `runs`: it may be run for descriptions; if not, `problems` have the reason.  `seen`: every function with a
    decorator, also if it was only reported.  `unknown`: keywords of `Field` that do not exist, as `problems` say.
    """

    source: Source
    marks: tuple[Decorator, ...]
    servers: tuple[ServerObject, ...]
    problems: Diagnostics
    seen: frozenset[str]
    runs: bool
    unknown: frozenset[str] = frozenset()


HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
HANDLER_KEYWORDS = ("timeout", "environment", "requires")
PROMPT = ("name", "title", "description", "icons", "meta", "tags", *HANDLER_KEYWORDS)
RESOURCE = ("uri", *PROMPT, "mime_type", "annotations", "size", "inline")
# Hints may also be keywords of their own, beside `annotations`.
TOOL = (*PROMPT, "inline", "annotations", "output_schema", "max_result", "task", *HINTS)
SUPPORTED: Mapping[str, tuple[str, ...]] = {
    "completion": ("ref", "argument", "inline", *HANDLER_KEYWORDS),
    "mcp_prompt": (*PROMPT, "version", "arguments"),
    "mcp_resource": (*RESOURCE, "version", "mimeType"),
    "mcp_tool": (*TOOL, "version"),
    "prompt": PROMPT,
    "resource": RESOURCE,
    "tool": TOOL,
    "server": (
        "name",
        "instructions",
        "version",
        "title",
        "description",
        "website_url",
        "icons",
        "settings",
        "max_result",
        *HANDLER_KEYWORDS,
    ),
}

NO_VERSIONS = "a definition has one version, the server's"
TRANSPORT_AT_START = "the transport is chosen at start: `server.pyz serve --http [HOST:]PORT`"
WITHOUT_EFFECT: Mapping[str, Mapping[str, str]] = {
    "completion": {},
    "prompt": {"version": NO_VERSIONS},
    "resource": {
        "app": "use `_meta.ui` in `meta`",
        "security": "paths that lead upward are always refused",
        "version": NO_VERSIONS,
    },
    "tool": {
        "app": "use `meta={'ui': {'resourceUri': …}}`",
        "run_in_thread": "every function that is not asynchronous runs in a thread",
        "version": NO_VERSIONS,
    },
    "server": {
        "debug": TRANSPORT_AT_START,
        "dependencies": "list packages in `requirements.txt`",
        "host": TRANSPORT_AT_START,
        "json_response": TRANSPORT_AT_START,
        "port": TRANSPORT_AT_START,
        "stateless_http": TRANSPORT_AT_START,
        "cache_scope": "clients are told what is in a built file",
        "cache_ttl": "clients are told what is in a built file",
        "client_log_level": "the client chooses the level",
        "dereference_schemas": "`$ref` is inlined wherever that is possible",
        "list_page_size": "use `mcpc build --tools-page-size` and `--resources-page-size`",
        "log_level": "the client chooses the level",
        "mask_error_details": "the model receives the exception, and the log its traceback",
        "on_duplicate": "two definitions of one name are an error",
        "resource_security": "paths that lead upward are always refused",
        "request_state_security": "a call keeps no state",
        "session_state_store": "a call keeps no state",
        "strict_input_validation": "arguments are always validated strictly against the schema",
        "tasks": "set it per tool: `@tool(task=True)`",
    },
}
"""Keywords of FastMCP's that have no effect here, with the reason."""

REFUSED: Mapping[str, str] = {
    "auth": "mcpc has no authorization in decorators: without it every client could call the function",
    "exclude_args": "all parameters are shown; remove those that clients must not set",
    "experimental_capabilities": "use `capabilities` in `server.json`",
    "inline": "only a tool can be run in the server's own process",
    "lifespan": "move start-up code to the top level of the file",
    "middleware": "mcpc has no middleware; decorate the function",
    "output_schema": "only tools have one",
    "providers": "a built server offers what is in its project",
    "tools": "decorate the functions: `@mcp.tool`",
    "transforms": "mcpc does not transform definitions; write them in their final form",
}

FIELD_KEYWORDS = frozenset(
    {
        *("default", "default_factory", "title", "description", "examples", "deprecated", "json_schema_extra", "repr"),
        *("gt", "ge", "lt", "le", "multiple_of", "allow_inf_nan", "max_digits", "decimal_places", "strict"),
        *("min_length", "max_length", "pattern", "coerce_numbers_to_str", "union_mode", "discriminator", "fail_fast"),
        *("alias", "alias_priority", "validation_alias", "serialization_alias", "exclude", "exclude_if", "frozen"),
        *("field_title_generator", "validate_default", "init", "init_var", "kw_only"),
    }
)
"""The keywords of pydantic's `Field`."""


FIELD_MEANINGS: Mapping[str, str] = {
    **dict.fromkeys(("min", "minimum", "min_value"), "did you mean `ge`?"),
    **dict.fromkeys(("max", "maximum", "max_value"), "did you mean `le`?"),
    **dict.fromkeys(("minItems", "minLength", "min_items", "min_len"), "did you mean `min_length`?"),
    **dict.fromkeys(("maxItems", "maxLength", "max_items", "max_len"), "did you mean `max_length`?"),
    **dict.fromkeys(("format", "match", "regex", "regexp"), "did you mean `pattern`?"),
    **dict.fromkeys(("desc", "doc", "help", "text"), "did you mean `description`?"),
    **dict.fromkeys(("choices", "enum", "options", "values"), 'annotate the parameter with `Literal["a", "b"]`'),
    **dict.fromkeys(("optional", "required"), "a parameter without a default is required"),
    "example": "did you mean `examples`?",
    "exclusiveMaximum": "did you mean `lt`?",
    "exclusiveMinimum": "did you mean `gt`?",
    "multipleOf": "did you mean `multiple_of`?",
}
"""What is meant by keywords of JSON Schema and of other libraries."""
REFUSED_BY_PYDANTIC = frozenset({"const", "regex", "unique_items"})
"""Unknown keywords with which pydantic raises an exception, so that the file is not run."""
EXTRA = "`json_schema_extra` adds members to the schema"


def check_field_keywords(options: Mapping[str, Span]) -> Iterator[Diagnostic]:
    """Yield unknown keywords of a `Field`: what they ask for would not be checked."""
    for name, span in options.items():
        if name not in FIELD_KEYWORDS:
            hint = FIELD_MEANINGS.get(name) or did_you_mean(name, sorted(FIELD_KEYWORDS), EXTRA)
            yield diagnose("MCP249", span, f"unknown keyword `{name}` of `Field`", "", hint)


def check_keywords(kind: str, options: Mapping[str, Span]) -> Iterator[Diagnostic]:
    """Yield problems of a decorator's keywords, by its kind, or of those of a `Server` (`server`)."""
    shown = "Server" if kind == "server" else kind
    for name, span in options.items():
        if name in WITHOUT_EFFECT.get(kind, ()):
            yield diagnose(
                "MCP222", span, f"`{name}` of `{shown}` has no effect: {WITHOUT_EFFECT[kind][name]}", "", "remove it"
            )
        elif name not in SUPPORTED[kind]:
            hint = REFUSED.get(name) or did_you_mean(name, SUPPORTED[kind])
            expected = "one of " + quoted(SUPPORTED[kind])
            yield diagnose("MCP221", span, f"unknown keyword `{name}` of `{shown}`", expected, hint)
