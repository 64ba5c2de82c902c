"""Give what was written its meaning: types, names, schemas, arguments, and for every definition one handler.

What cannot be typed is reported and left out, and a definition without a handler gets a stand-in, so that the passes
still see as much of a wrong server as there is.  Such a server is never checked: its errors go along to `check`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.definitions.handling import HANDLERS, command, handling
from mcpc.ir import Server
from mcpc.lower.environment import environment
from mcpc.lower.files import handler_files, shell_libraries
from mcpc.lower.handlers import Claim, bind
from mcpc.lower.models import catalog, mentioned
from mcpc.lower.parts import lower_prompt, lower_tool, member, text, written_wrong
from mcpc.lower.references import bundled
from mcpc.lower.shells import with_shells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.definitions import Bound, Definition
    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import Handler
    from mcpc.options import Options
    from mcpc.sources import Node

__all__ = ["lower"]


def lower(definition: Definition, options: Options) -> tuple[Server | None, Diagnostics]:
    """Return the server that `definition` describes, or None if it does not describe the server itself."""
    definition, unbundled = bundled(definition)
    written = [("tool", tool.node, tool.bound) for tool in definition.tools]
    written += [("prompt", prompt.node, prompt.bound) for prompt in definition.prompts]
    claims = {claim: node for kind, node, bound in written for claim in _claim(kind, node, bound)}
    handlers, unpack, found = bind(tuple(claims), definition)
    problems = (*written_wrong(definition), *unbundled, *found)
    if definition.server is None:
        return None, problems
    bound = tuple((claim.kind, claims[claim], handler) for claim, handler in zip(claims, handlers, strict=True))
    server = _server(definition, definition.server.node, bound, unpack, options)
    server, found = with_shells(server, definition)
    return server, (*problems, *found)


def _server(
    definition: Definition, node: Node, bound: Sequence[tuple[str, Node, Handler]], unpack: bool, options: Options
) -> Server:
    general = handling(node, HANDLERS)
    tools = (lower_tool(written, handler, general, options) for kind, written, handler in bound if kind == "tool")
    prompts = (lower_prompt(written, handler, general) for kind, written, handler in bound if kind == "prompt")
    files = handler_files(definition, [handler for _, _, handler in bound], unpack)
    return Server(
        format=definition.format,
        dialect=options.dialect,
        node=node,
        name=text(node, "serverInfo", "name"),
        version=text(node, "serverInfo", "version"),
        instructions=text(node, "instructions"),
        tools=tuple(tool for tool in tools if tool),
        prompts=tuple(prompt for prompt in prompts if prompt),
        files=files,
        shell=shell_libraries(definition),
        tools_page_size=options.tools_page_size,
        prompts_page_size=options.prompts_page_size,
        environment=environment(definition),
        sources=definition.sources,
        models=mentioned(files, catalog(definition)),
        unpack=unpack,
    )


def _claim(kind: str, node: Node, bound: Bound | None) -> tuple[Claim, ...]:
    name = member(node, "name", "string")
    return () if name is None else (Claim(kind, str(name.value), name.span, bound, command(node)),)
