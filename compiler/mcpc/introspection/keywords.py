"""Which keywords a mark may have: those that mean something here, and FastMCP's, of which some cannot be kept.

A keyword whose loss changes little is a warning; one that somebody relies on (who may call) is an error.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Span

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
RUNNING = ("timeout", "environment", "requires")
PROMPT = ("name", "title", "description", "icons", "meta", "tags", *RUNNING)
RESOURCE = ("uri", *PROMPT, "mime_type", "annotations", "size", "inline")
TOOL = (*PROMPT, "inline", "annotations", "output_schema", "task", *HINTS)
KEPT: Mapping[str, tuple[str, ...]] = {
    "completion": ("ref", "argument", "inline", *RUNNING),
    "mcp_prompt": (*PROMPT, "version", "arguments"),
    "mcp_resource": (*RESOURCE, "version", "mimeType"),
    "mcp_tool": (*TOOL, "version"),
    "prompt": PROMPT,
    "resource": RESOURCE,
    "tool": TOOL,
    "server": ("name", "instructions", "version", "title", "description", "website_url", "icons", *RUNNING),
}

NO_VERSIONS = "a definition has one version, the server's"
SERVED = "how it is served is said when it is started: `server.pyz serve --http [HOST:]PORT`"
LOST: Mapping[str, Mapping[str, str]] = {
    "completion": {},
    "prompt": {"version": NO_VERSIONS},
    "resource": {
        "app": "`_meta.ui` in `meta` says it",
        "security": "paths that lead upward are always refused",
        "version": NO_VERSIONS,
    },
    "tool": {
        "app": "`meta={'ui': {'resourceUri': …}}` says it",
        "run_in_thread": "every function that is not asynchronous runs in a thread",
        "version": NO_VERSIONS,
    },
    "server": {
        "debug": SERVED,
        "dependencies": "`requirements.txt` names the packages that a server carries",
        "host": SERVED,
        "json_response": SERVED,
        "port": SERVED,
        "stateless_http": SERVED,
        "cache_scope": "clients are told what is in a built file",
        "cache_ttl": "clients are told what is in a built file",
        "client_log_level": "the client chooses the level",
        "dereference_schemas": "`$ref` is inlined wherever that is possible",
        "list_page_size": "`mcpc build --tools-page-size` and `--resources-page-size` say it",
        "log_level": "the client chooses the level",
        "mask_error_details": "a model is told the exception, and the log has its traceback",
        "on_duplicate": "two definitions of one name are an error",
        "resource_security": "paths that lead upward are always refused",
        "request_state_security": "a call keeps no state",
        "session_state_store": "a call keeps no state",
        "strict_input_validation": "arguments are always checked by the schema, and nothing is guessed",
        "tasks": "a tool says it: `@tool(task=True)`",
    },
}
"""Keywords of FastMCP's that change nothing here, and why."""

REFUSED: Mapping[str, str] = {
    "auth": "mcpc has no authorization: without it everybody who reaches the server might call the function",
    "exclude_args": "every parameter is shown; give the function fewer",
    "experimental_capabilities": "`capabilities` in `server.json` says it",
    "inline": "only a tool can be run in the server's own process",
    "lifespan": "do at the top of the file what has to be done before the first call",
    "middleware": "mcpc has no middleware; decorate the function",
    "output_schema": "only a tool has one",
    "providers": "a built server offers what is in its project",
    "tools": "mark the functions: `@mcp.tool`",
    "transforms": "mcpc changes no definitions; write them as they are to be",
}

FIELD = frozenset(
    {
        *("default", "default_factory", "title", "description", "examples", "deprecated", "json_schema_extra", "repr"),
        *("gt", "ge", "lt", "le", "multiple_of", "allow_inf_nan", "max_digits", "decimal_places", "strict"),
        *("min_length", "max_length", "pattern", "coerce_numbers_to_str", "union_mode", "discriminator", "fail_fast"),
        *("alias", "alias_priority", "validation_alias", "serialization_alias", "exclude", "exclude_if", "frozen"),
        *("field_title_generator", "validate_default", "init", "init_var", "kw_only"),
    }
)
"""The keywords of `Field`, pydantic's."""


def judge_field(options: Mapping[str, Span]) -> Iterator[Diagnostic]:
    """Yield the keywords of a `Field` that it does not have: pydantic would show them to clients, and check nothing."""
    for name, span in options.items():
        if name not in FIELD:
            near = difflib.get_close_matches(name, sorted(FIELD), n=1, cutoff=0.5)
            hint = f"did you mean `{near[0]}`?" if near else "`json_schema_extra` adds members to the schema"
            yield diagnose("MCP249", span, f"`Field` has no keyword `{name}`", "", hint)


def judge(kind: str, options: Mapping[str, Span]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the keywords of a mark, by its kind, or of a `Server` (`server`)."""
    shown = "Server" if kind == "server" else kind
    for name, span in options.items():
        if name in LOST.get(kind, ()):
            yield diagnose("MCP222", span, f"`{name}` of `{shown}` has no effect: {LOST[kind][name]}", "", "remove it")
        elif name not in KEPT[kind]:
            near = difflib.get_close_matches(name, KEPT[kind], n=1)
            hint = REFUSED.get(name) or (f"did you mean `{near[0]}`?" if near else "")
            expected = "one of " + ", ".join(f"`{known}`" for known in KEPT[kind])
            yield diagnose("MCP221", span, f"`{shown}` has no keyword `{name}`", expected, hint)
