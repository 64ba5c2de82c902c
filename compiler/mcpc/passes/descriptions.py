"""Check that every tool, prompt and resource has a description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Prompt, Resource, ResourceTemplate, Server, Tool

HINTS = {
    "tool": "a model chooses its tools by their descriptions",
    "prompt": "people choose a prompt by its description",
    "resource": "people and models choose what to read by its description",
    "resource template": "people and models choose what to read by its description",
}


def check_descriptions(server: Server) -> Diagnostics:
    """Report definitions without a description, or with an empty one."""
    tools = server.tools
    if server.traits.describes_in_schema:
        tools = tuple(tool for tool in tools if not tool.input.description.strip())
    return (
        *_undescribed("tool", tools),
        *_undescribed("prompt", server.prompts),
        *_undescribed("resource", server.resources),
        *_undescribed("resource template", server.templates),
    )


def _undescribed(kind: str, nodes: tuple[Tool | Prompt | Resource | ResourceTemplate, ...]) -> Iterator[Diagnostic]:
    for node in nodes:
        description = node.metadata.description
        if description is None:
            yield diagnose("MCP108", node.span, f"the {kind} `{node.name}` has no description", "", HINTS[kind])
        elif not description.strip():
            message = f"the description of the {kind} `{node.name}` is empty"
            yield diagnose("MCP108", node.node.span_of("description") or node.span, message, "", HINTS[kind])
