"""Emit answers that are known at build time: static results, and each dialect's errors.

    handler of the contract `known`, as its format made it   (file, JSON of the content blocks, or of the messages)
    and in its record                                        (file, (kinds, offset, length), …), the richest form first

A form is for the revisions that define its `kinds`; the last form uses only kinds that all revisions define. A static
resource has the contract `static`, and its record has only the position.

Situations that a dialect does not define are answered as MCP specifies: rejected arguments are then a tool result,
which the model can read, and not a protocol error.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from mcpc.model.ir import ExternalHandler
from mcpc.model.revisions import REVISIONS
from mcpc.reading import compact_json
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND
from mcpc_runtime.protocol.contents import downgrade_content

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.emit.blob import Blob
    from mcpc.model.ir import Handler, Server
    from mcpc.reading import Json

KNOWN, STATIC = "known", "static"
COMMON = reduce(frozenset.__and__, (frozenset(revision.content) for revision in REVISIONS))
"""The kinds of content that every revision defines."""


def place_static_results(server: Server, blob: Blob) -> Server:
    """Return a server whose static results are replaced by positions in the blob."""
    if all(definition.handler.contract != KNOWN for definition in server.definitions):
        return server
    return replace(
        server,
        tools=tuple(replace(tool, handler=_handler(tool.handler, _block, blob)) for tool in server.tools),
        prompts=tuple(replace(prompt, handler=_handler(prompt.handler, _message, blob)) for prompt in server.prompts),
    )


def static_contents_of(handler: Handler | None) -> bytes | None:
    """Return the static contents of a resource, None if they come from elsewhere."""
    if not isinstance(handler, ExternalHandler) or handler.contract != STATIC:
        return None
    return encode_result(handler)


def encode_result(handler: ExternalHandler) -> bytes:
    """Return the result of a static handler as JSON."""
    (answer,) = handler.facts
    assert isinstance(answer, bytes)
    return answer


def _handler(handler: Handler, shown: Callable[[Json], Json], blob: Blob) -> Handler:
    """Return the handler with the positions of its forms; `shown` is the form that every revision supports."""
    if not isinstance(handler, ExternalHandler) or handler.contract != KNOWN:
        return handler
    whole = encode_result(handler)
    value = json.loads(whole)
    # A message of a prompt has its block in `content`; an item of a tool's result is one itself.
    all_kinds = {str(item["content"]["type"] if "content" in item else item["type"]) for item in value}
    kinds = tuple(sorted(all_kinds - COMMON))
    forms = [(kinds, *blob.add(whole))]
    # Another form only where some revision lacks a kind.
    if kinds:
        forms.append(((), *blob.add(compact_json([shown(item) for item in value]))))
    return replace(handler, facts=tuple(forms))


def _block(block: Json) -> Json:
    return downgrade_content(block, tuple(COMMON))


def _message(message: Any) -> Json:
    return {**message, "content": _block(message["content"])}


REJECTED = "Invalid params: tool arguments do not match inputSchema"
FAILED, NOT_FOUND = -32000, -32001
"""The codes of bx-mcp for a tool that fails, and for an unknown tool."""

Refusal = tuple[int, str]
"""The code of an error, or 0 for a tool result, and its text; `{name}` is the requested name."""

REFUSALS: dict[str, dict[str, Refusal]] = {
    "mcp": {
        "tool_name_missing": (INVALID_PARAMS, "Invalid params: `name` must be a string"),
        "tool_name_malformed": (INVALID_PARAMS, "Unknown tool: {name}"),
        "tool_unknown": (INVALID_PARAMS, "Unknown tool: {name}"),
        "tool_arguments_not_object": (INVALID_PARAMS, "Invalid params: `arguments` must be an object"),
    },
    "mcbox": {
        "tool_name_missing": (INVALID_PARAMS, "Invalid params: tool call parameters missing required 'name' property"),
        "tool_name_malformed": (INVALID_PARAMS, "Invalid params: tool name is malformed"),
        "tool_unknown": (INVALID_PARAMS, "Invalid params: tool not found"),
        "tool_arguments_not_object": (INVALID_PARAMS, REJECTED),
        "tool_arguments_rejected": (INVALID_PARAMS, REJECTED),
        "handler_wrote_nothing": (0, ""),
    },
    "mcp-bash": {
        "tool_name_missing": (INVALID_PARAMS, "Tool name is required"),
        "tool_name_malformed": (INVALID_PARAMS, "Tool '{name}' not found"),
        "tool_unknown": (INVALID_PARAMS, "Tool '{name}' not found"),
        "tool_arguments_not_object": (INVALID_PARAMS, "Invalid arguments JSON"),
        "prompt_name_missing": (INVALID_PARAMS, "Prompt name is required"),
        "prompt_unknown": (INVALID_PARAMS, "Prompt not found"),
        "resource_uri_missing": (INVALID_PARAMS, "Resource name or uri required"),
        "resource_unknown": (RESOURCE_NOT_FOUND, "Resource not found"),
    },
    "bx-mcp": {
        "tool_name_missing": (INVALID_PARAMS, "Invalid params: `name` must be a string"),
        "tool_name_malformed": (NOT_FOUND, "Tool not found: {name}"),
        "tool_unknown": (NOT_FOUND, "Tool not found: {name}"),
        "tool_arguments_not_object": (INVALID_PARAMS, "Invalid params: `arguments` must be an object"),
        "tool_arguments_rejected": (INVALID_PARAMS, "Invalid params: the arguments do not match inputSchema"),
        "tool_failed": (FAILED, "{message}"),
        "prompt_unknown": (NOT_FOUND, "Prompt not found: {name}"),
    },
    "blueprints": {
        "tool_name_missing": (INVALID_PARAMS, "Invalid params: `name` must be a string"),
        "tool_name_malformed": (0, "MCP error -32602: Tool {name} not found"),
        "tool_unknown": (0, "MCP error -32602: Tool {name} not found"),
        "tool_arguments_not_object": (INVALID_PARAMS, "Invalid params: `arguments` must be an object"),
        "prompt_unknown": (INVALID_PARAMS, "MCP error -32602: Prompt {name} not found"),
        "resource_unknown": (INVALID_PARAMS, "MCP error -32602: Resource {name} not found"),
    },
    "fastmcp": {
        "tool_name_missing": (INVALID_PARAMS, "Invalid params: `name` must be a string"),
        "tool_name_malformed": (0, "Unknown tool: '{name}'"),
        "tool_unknown": (0, "Unknown tool: '{name}'"),
        "tool_arguments_not_object": (INVALID_PARAMS, "Invalid params: `arguments` must be an object"),
        "prompt_unknown": (INVALID_PARAMS, "Unknown prompt: '{name}'"),
    },
    "toolbox": {
        "tool_name_missing": (INVALID_PARAMS, "Invalid params: `name` must be a string"),
        "tool_name_malformed": (0, '"Unknown tool: {name}"'),
        "tool_unknown": (0, '"Unknown tool: {name}"'),
        "tool_arguments_not_object": (INVALID_PARAMS, "Invalid params: `arguments` must be an object"),
        "prompt_unknown": (INTERNAL_ERROR, "Unknown prompt"),
    },
}
LENIENT_CURSORS = frozenset({"mcbox"})
"""Dialects in which an unknown cursor means the first page."""
