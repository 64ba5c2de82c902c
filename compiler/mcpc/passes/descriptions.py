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


WITHIN = ("toolbox",)
"""Dialects whose clients find the description of a tool in its schema."""


def descriptions(server: Server) -> Diagnostics:
    """Report definitions without a description, or with an empty one."""
    return (
        *_silent("tool", tuple(tool for tool in server.tools if not _is_described_within(tool, server))),
        *_silent("prompt", server.prompts),
        *_silent("resource", server.resources),
        *_silent("resource template", server.templates),
    )


def _is_described_within(tool: Tool, server: Server) -> bool:
    said = tool.input.node.get("description")
    return server.dialect in WITHIN and said is not None and bool(str(said.value).strip())


def _silent(kind: str, nodes: tuple[Tool | Prompt | Resource | ResourceTemplate, ...]) -> Iterator[Diagnostic]:
    for node in nodes:
        description = node.members.get("description")
        if description is None:
            yield diagnose("MCP108", node.span, f"the {kind} `{node.name}` has no description", "", HINTS[kind])
        elif not str(description.value).strip():
            message = f"the description of the {kind} `{node.name}` is empty"
            yield diagnose("MCP108", description.span, message, "", HINTS[kind])
