"""Lower a definition to the IR: types, names, schemas, arguments, and one handler for each definition.

A definition that cannot be typed is reported and left out, and one without a handler gets a stand-in, so that the
passes see as much of a faulty server as possible. Its errors are included by `check_server`, so that it is never a
checked server.

Schemas that refer to other files of the project are bundled first, so that each is self-contained.
"""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from mcpc.lower.bash_options import bind_bash_options
from mcpc.lower.files import definition_variables, files_on_disk, handler_files, shell_libraries
from mcpc.lower.handler_options import lower_handler_options, result_limit
from mcpc.lower.handlers import bind_handlers, claimed_definitions
from mcpc.lower.metadata import declared_changes, lower_capabilities, lower_implementation, server_metadata
from mcpc.lower.models import mentioned_models, model_catalog
from mcpc.lower.resources import check_resources, lower_completion, lower_resource, lower_template
from mcpc.lower.settings import check_settings, check_toolsets, read_settings, read_toolsets, with_read_settings
from mcpc.lower.tools_and_prompts import Choices, check_definitions, lower_prompt, lower_tool, string_at
from mcpc.model.definitions import HANDLERS_KEY, options_node
from mcpc.model.ir import Completion, ExternalHandler, Resource, ResourceTemplate, RunTimeDefinitions, Server
from mcpc.model.ir.handlers import with_steps
from mcpc.schema.bundle import self_contained
from mcpc.schema.resources import Files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.definitions import Definition
    from mcpc.model.ir import Handler
    from mcpc.options import Options
    from mcpc.reading import Node

__all__ = ["lower"]

SKILLS = "mcpc.lower.skills:lower_skills"


def lower(definition: Definition, options: Options) -> tuple[Server | None, Diagnostics]:
    """Return the server that `definition` describes, or None if it does not describe the server itself."""
    definition, unbundled = bundle_references(definition)
    written, complete = claimed_definitions(definition)
    claims = tuple(claim for _, _, claim in written if claim)
    handlers, unpack, wrong = bind_handlers(claims, definition, complete=complete)
    run_time = definition.run_time
    unpacked = (*with_steps(handlers), *(() if run_time is None else (run_time.handler,)))
    unpack = unpack or (
        bool(definition.serves)
        and not any(isinstance(handler, ExternalHandler) and handler.unpacks for handler in unpacked)
    )
    problems = (*check_definitions(definition), *check_resources(definition), *unbundled, *wrong)
    # Not earlier: what is wrong with the definitions is reported without a server, too.
    if definition.server is None:
        return None, problems
    problems += (*check_settings(definition.server.node), *check_toolsets(definition.server.node))
    known = dict(zip(claims, handlers, strict=True))
    bound = [(kind, node, known[claim] if claim else None) for kind, node, claim in written]
    server = _server(definition, definition.server.node, bound, unpack, options)
    server, wrong = bind_bash_options(server, definition)
    problems += wrong
    if definition.skills:  # the YAML parser is imported only for skills
        skills, wrong = resolve_name(SKILLS)(definition)
        server, problems = replace(server, skills=skills), (*problems, *wrong)
    return server, problems


BoundDefinition = tuple[str, "Node", "Handler | None"]


def _server(
    definition: Definition, node: Node, bound: Sequence[BoundDefinition], unpack: bool, options: Options
) -> Server:
    general = options_node(node, HANDLERS_KEY)
    choices = Choices(options, definition.traits)
    called = [(kind, written, handler) for kind, written, handler in bound if handler is not None]
    tags = {tool.node: tool.tags for tool in definition.tools if tool.tags is not None}
    tools = [lower_tool(written, handler, general, choices) for kind, written, handler in called if kind == "tool"]
    tools = [
        replace(tool, is_listed=False, tags=tags[tool.node]) if tool and tool.node in tags else tool for tool in tools
    ]
    prompts = (lower_prompt(written, handler, general) for kind, written, handler in called if kind == "prompt")
    run_time = lower_run_time(definition, node, general)
    more = [] if run_time is None else [run_time.handler]
    handlers = [*with_steps(handler for _, _, handler in called), *more]
    files = handler_files(definition, handlers, unpack)
    on_disk = files_on_disk(files, handlers)
    rows = {kind: [(item, handler) for its_kind, item, handler in bound if its_kind == kind] for kind in MADE}
    made = {kind: [make(*row, general, definition) for row in rows[kind]] for kind, make in MADE.items()}
    return Server(
        format=definition.format,
        dialect=options.dialect,
        node=node,
        info=lower_implementation(node),
        instructions=string_at(node, "instructions"),
        tools=tuple(tool for tool in tools if tool),
        prompts=tuple(prompt for prompt in prompts if prompt),
        files=files,
        shell=shell_libraries(definition),
        resources=tuple(item for item in made["resource"] if isinstance(item, Resource)),
        templates=tuple(item for item in made["resource template"] if isinstance(item, ResourceTemplate)),
        completions=tuple(item for item in made["completion"] if isinstance(item, Completion)),
        resources_page_size=options.resources_page_size,
        changes=declared_changes(definition, options),
        tools_page_size=options.tools_page_size,
        platforms=options.platform_tags,
        prompts_page_size=options.prompts_page_size,
        environment=definition_variables(definition),
        sources=definition.sources,
        models=mentioned_models(files, model_catalog(definition)),
        unpack=unpack,
        runtime_settings=definition.runtime_settings,
        settings=with_read_settings(tuple(read_settings(node)), definition.settings_read),
        toolsets=(*definition.toolsets, *read_toolsets(node)),
        virtual_servers=definition.virtual_servers,
        serves=definition.serves,
        metadata=server_metadata(node),
        capabilities=tuple(lower_capabilities(node)),
        traits=definition.traits,
        live_lists=definition.live_lists,
        requirements=definition.requirements,
        run_time=run_time,
        imported=(*definition.imported, *on_disk),
        imports_from_disk=bool(on_disk),
    )


def lower_run_time(definition: Definition, node: Node, general: Node | None) -> RunTimeDefinitions | None:
    """Return the handler of definitions that are not known at build, with the server's options for handlers."""
    run_time = definition.run_time
    if run_time is None:
        return None
    running = replace(lower_handler_options(run_time.handler, None, general), max_result=result_limit(None, general))
    known = RunTimeDefinitions(
        run_time.kinds, run_time.changing, run_time.handler.span, node, run_time.handler, running
    )
    return replace(
        known, by_arguments=run_time.by_arguments, forwards=run_time.forwards, extensions=run_time.extensions
    )


MADE: dict[str, Callable[..., Resource | ResourceTemplate | Completion | None]] = {
    "resource": lower_resource,
    "resource template": lower_template,
    "completion": lower_completion,
}


SCHEMAS = ("inputSchema", "outputSchema")


def bundle_references(definition: Definition) -> tuple[Definition, Diagnostics]:
    """Return the definition with self-contained tool schemas, and the problems of unresolved references."""
    files = Files((*definition.sources, *definition.beside))
    problems: list[Diagnostic] = []
    tools = []
    for tool in definition.tools:
        node, changed = tool.node, {}
        for schema in (node.get(key) for key in SCHEMAS):
            if schema is not None and schema.kind == "object":
                whole, wrong = self_contained(schema, files)
                problems += wrong
                if whole is not schema:
                    changed[schema] = whole
        if changed:
            # Members and value of a node say the same, so that both are made anew.
            members = tuple(replace(member, node=changed.get(member.node, member.node)) for member in node.members)
            node = replace(node, members=members, value={member.key: member.node.value for member in members})
        tools.append(replace(tool, node=node))
    return replace(definition, tools=tuple(tools)), tuple(problems)
