"""Ask whether a description says what each tool, prompt and resource is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Prompt, Resource, ResourceTemplate, Server, Tool

HINTS = {
    "tool": "a model chooses its tools by their descriptions",
    "prompt": "people choose a prompt by its description",
    "resource": "people and models choose what to read by its description",
    "resource template": "people and models choose what to read by its description",
}


def descriptions(server: Server) -> Diagnostics:
    """Report definitions without a description, or with an empty one."""
    return (
        *_silent("tool", server.tools),
        *_silent("prompt", server.prompts),
        *_silent("resource", server.resources),
        *_silent("resource template", server.templates),
    )


def _silent(kind: str, nodes: tuple[Tool | Prompt | Resource | ResourceTemplate, ...]) -> Iterator[Diagnostic]:
    for node in nodes:
        description = node.members.get("description")
        if description is None:
            yield diagnose("MCP108", node.span, f"the {kind} `{node.name}` has no description", "", HINTS[kind])
        elif not str(description.value).strip():
            message = f"the description of the {kind} `{node.name}` is empty"
            yield diagnose("MCP108", description.span, message, "", HINTS[kind])
