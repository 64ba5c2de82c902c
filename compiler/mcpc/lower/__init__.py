"""Give what was written its meaning: types, names, schemas, arguments, and for every definition one handler.

What cannot be typed is reported and left out, and a definition without a handler gets a stand-in, so that the passes
still see as much of a wrong server as there is.  Such a server is never checked: its errors go along to `check`.
"""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from mcpc.definitions.handling import HANDLERS, handling
from mcpc.ir import Completion, Foreign, Resource, ResourceTemplate, Server
from mcpc.lower.changes import changes
from mcpc.lower.claims import claimed
from mcpc.lower.environment import environment
from mcpc.lower.files import handler_files, shell_libraries
from mcpc.lower.handlers import bind
from mcpc.lower.models import catalog, mentioned
from mcpc.lower.parts import lower_prompt, lower_tool, text, written_wrong
from mcpc.lower.references import bundled
from mcpc.lower.resources import lower_completion, lower_resource, lower_template, resources_wrong
from mcpc.lower.shells import with_shells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import Handler
    from mcpc.options import Options
    from mcpc.sources import Node

__all__ = ["lower"]

SKILLS = "mcpc.lower.skills:lowered"


def lower(definition: Definition, options: Options) -> tuple[Server | None, Diagnostics]:
    """Return the server that `definition` describes, or None if it does not describe the server itself."""
    definition, unbundled = bundled(definition)
    written, complete = claimed(definition)
    claims = tuple(claim for _, _, claim in written if claim)
    handlers, unpack, found = bind(claims, definition, complete=complete)
    unpack = unpack or (bool(definition.serves) and not any(map(is_unpacked, handlers)))
    problems = (*written_wrong(definition), *resources_wrong(definition), *unbundled, *found)
    if definition.server is None:
        return None, problems
    known = dict(zip(claims, handlers, strict=True))
    bound = [(kind, node, known[claim] if claim else None) for kind, node, claim in written]
    server = _server(definition, definition.server.node, bound, unpack, options)
    server, found = with_shells(server, definition)
    problems += found
    if definition.skills:  # YAML is read only where there are any
        skills, found = resolve_name(SKILLS)(definition)
        server, problems = replace(server, skills=skills), (*problems, *found)
    return server, problems


def is_unpacked(handler: Handler) -> bool:
    """Tell whether a handler wants the project's files on disk by itself."""
    return isinstance(handler, Foreign) and handler.unpacks


Bound = tuple[str, "Node", "Handler | None"]


def _server(definition: Definition, node: Node, bound: Sequence[Bound], unpack: bool, options: Options) -> Server:
    general = handling(node, HANDLERS)
    called = [(kind, written, handler) for kind, written, handler in bound if handler is not None]
    tools = (lower_tool(written, handler, general, options) for kind, written, handler in called if kind == "tool")
    prompts = (lower_prompt(written, handler, general) for kind, written, handler in called if kind == "prompt")
    files = handler_files(definition, [handler for _, _, handler in called], unpack)
    rows = {kind: [(one, handler) for found, one, handler in bound if found == kind] for kind in MADE}
    made = {kind: [make(*row, general, definition) for row in rows[kind]] for kind, make in MADE.items()}
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
        resources=tuple(one for one in made["resource"] if isinstance(one, Resource)),
        templates=tuple(one for one in made["resource template"] if isinstance(one, ResourceTemplate)),
        completions=tuple(one for one in made["completion"] if isinstance(one, Completion)),
        resources_page_size=options.resources_page_size,
        changes=changes(definition, options),
        tools_page_size=options.tools_page_size,
        prompts_page_size=options.prompts_page_size,
        environment=environment(definition),
        sources=definition.sources,
        models=mentioned(files, catalog(definition)),
        unpack=unpack,
        settings=definition.settings,
        facets=definition.facets,
        serves=definition.serves,
    )


MADE: dict[str, Callable[..., Resource | ResourceTemplate | Completion | None]] = {
    "resource": lower_resource,
    "resource template": lower_template,
    "completion": lower_completion,
}
