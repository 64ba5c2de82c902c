"""Tools in JavaScript and TypeScript: bundled, described, and included as separate modules.

A module is loaded when its tool is called, so that a failing module does not affect others.  The prompts of the
project's handlers are those that are listed during the build; the resources are read through one template, whose
handler lists them at each request.  ToolBox's tool that rebuilds a project returns an error in a built server, which
cannot rebuild itself; `mcpc dev` returns the answer of the original.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.toolbox.tool_definitions import (
    ENDINGS,
    IN_NODE,
    UNIMPORTED,
    bundle_errors,
    convert_schema,
    missing_lock,
    not_imported,
    schema_span,
    tool_name,
)
from mcpc.languages.bundling import Description, NodeError, bundle_modules, describe_modules
from mcpc.languages.bundling.node import mcpc_program
from mcpc.model.definitions import HANDLER_KEY, PromptDefinition, TemplateDefinition
from mcpc.model.ir import ExternalHandler
from mcpc.reading import Source
from mcpc.reading.json_tree import implied_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.frontend import BuildOutcome
    from mcpc.frontends.toolbox.tool_definitions import ToolNames
    from mcpc.languages.bundling import Bundle
    from mcpc.model.definitions import ToolDefinition
    from mcpc.reading import Json, SourceTree

HOME = ".mcpc/toolbox/"
"""The folder of the modules in a server, beside the program that runs them."""
PROGRAMS = ("host.mjs", "surroundings.mjs")
RELOADS = "Build the server again and load it: `mcpc dev` does so."


@dataclass(frozen=True, slots=True)
class ScriptTools:
    """The definitions in scripts, the generated files, and the files that were read."""

    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    templates: tuple[TemplateDefinition, ...] = ()
    made: tuple[Source, ...] = ()
    read: tuple[str, ...] = ()
    live_lists: tuple[tuple[str, str], ...] = ()
    complete: bool = True


def read_script_tools(tree: SourceTree, files: Sequence[Source], making: ToolNames) -> tuple[ScriptTools, Diagnostics]:
    """Return the tools of these files, with the prompts and resources of the project's handlers."""
    if not files:
        return ScriptTools(), ()
    handlers = {kind: path for kind, stem in HANDLERS.items() for path in [module_path(tree, stem)] if path}
    # The tool that rebuilds is not bundled: a built server has an answer of its own for it.
    entries = [source.path for source in files if tool_name(source.path) != RELOAD]
    try:
        bundled = bundle_modules(tree, [*entries, *handlers.values()])
        offered = (
            describe_bundled(bundled, entries, handlers)
            if tree.options.imports
            else empty_descriptions([*entries, *handlers])
        )
    except NodeError as problem:
        return ScriptTools(complete=False), (diagnose("MCP408", Span(files[0].path), str(problem)),)
    problems = [*missing_lock(bundled, tree), *bundle_errors(bundled, tree)]
    tools: list[ToolDefinition] = []
    for source in files:
        made, wrong = tool_definitions(source, offered.get(source.path), making, bundled.native.get(source.path, ()))
        tools += made
        problems += wrong
    kept = [entry for entry in entries if any(tool.node.path == entry for tool in tools)]
    prompts, templates, wrong = read_handlers(tree, handlers, offered)
    problems += wrong
    read = tuple(path for path in tree.files if path.startswith("src/") and path.endswith(ENDINGS))
    whole = ScriptTools(
        tools=tuple(tools),
        prompts=prompts,
        templates=templates,
        made=tuple(generated_files(bundled, kept, handlers, tools)),
        read=tuple(path for path in read if path not in entries),
        live_lists=tuple(("resources/list", sample_uri(item)) for item in templates[:1]),
    )
    return whole, tuple(problems)


def bundle_path(path: str) -> str:
    """Return the path of a file's bundle."""
    return f"{path.removeprefix('src/').rpartition('.')[0]}.mjs"


def empty_descriptions(names: Sequence[str]) -> dict[str, Description]:
    """Return empty descriptions of modules that are not imported."""
    return {name: Description(failure=UNIMPORTED) for name in names}


def describe_bundled(bundled: Bundle, entries: Sequence[str], handlers: Mapping[str, str]) -> dict[str, Description]:
    """Return descriptions of the bundled modules: of tools by file, of handlers by kind."""
    tools = {path: bundle_path(path) for path in entries if bundle_path(path) in bundled.modules}
    others = {kind: bundle_path(path) for kind, path in handlers.items() if bundle_path(path) in bundled.modules}
    return describe_modules(bundled.modules, bundled.maps, tools, others)


def tool_definitions(
    source: Source, offered: Description | None, making: ToolNames, native: tuple[str, ...]
) -> tuple[tuple[ToolDefinition, ...], Diagnostics]:
    """Return the definitions of one tool; if it cannot be imported or called, none and the reason."""
    name, span = tool_name(source.path), schema_span(source)
    if name == RELOAD:
        return reload_tool(source, making)
    if offered is None:
        return (), ()  # it was left out of the bundle, which was told
    if offered.failure:
        return (), (not_imported(source, offered, native),)
    if offered.handler != "function":
        message = f"`{source.path}` has no default export that is a function: it is left out"
        return (), (diagnose("MCP251", span, message, "export default async function (request) { … }"),)
    handler = ExternalHandler(source.path, span, CONTRACT, ("tool", name), unpacks=True)
    made, problems = convert_schema(source, offered.schema, handler, making)
    if offered.unwritten:
        # In place of the problem that there is no schema: there is one, which JSON does not have.
        message = f"the schema of `{name}` cannot be written as JSON: {offered.unwritten}"
        problems = (diagnose("MCP252", span, message),)
    return made, problems


def reload_tool(source: Source, making: ToolNames) -> tuple[tuple[ToolDefinition, ...], Diagnostics]:
    """Return the tool that rebuilds; in a built server it returns how to rebuild."""
    shown = {"name": RELOAD, "description": RELOADS, "type": "object", "properties": {}}
    handler = ExternalHandler(source.path, schema_span(source), CONTRACT, ("tool", RELOAD), unpacks=True)
    hint = "under `mcpc dev` this tool works"
    message = f"a built server cannot build itself: `{RELOAD}` returns an error"
    return convert_schema(source, shown, handler, making)[0], (
        diagnose("MCP255", Span(source.path), message, "", hint),
    )


def generated_files(
    bundled: Bundle, kept: Sequence[str], handlers: Mapping[str, str], tools: Sequence[ToolDefinition]
) -> Iterator[Source]:
    """Yield the files of the server: the modules, the program that runs them, and the list of tools."""
    others = {kind: bundle_path(path) for kind, path in handlers.items() if bundle_path(path) in bundled.modules}
    left = {bundle_path(path) for path in bundled.faults}
    listed = {tool_name(tool.node.path): bundle_path(tool.node.path) for tool in tools if tool.node.path in kept}
    names = {str(tool.node.value["name"]): tool_name(tool.node.path) for tool in tools}  # type: ignore[index,call-overload]
    said: dict[str, Json] = {
        "tools": dict(sorted(listed.items())),
        "handlers": dict(others),
        "aliases": {name: stem for name, stem in sorted(names.items()) if name != stem},
        "reload": RELOAD,
    }
    yield Source(f"{HOME}tools.json", json.dumps(said, ensure_ascii=False).encode())
    for name in PROGRAMS:
        yield Source(HOME + name, mcpc_program(name))
    for path, data in bundled.modules.items():
        if path not in left:
            yield Source(HOME + path, data)


RELOAD = "buildReload_tool"


def reload_answer(outcome: BuildOutcome) -> str:
    """Return the result of a build in the form of ToolBox's tool."""
    if outcome.succeeded:
        build = {"success": True, "output": outcome.output, "directory": str(outcome.folder)}
        value: dict[str, Any] = {"build": build, "reload": {"success": True, "tools": outcome.tools}}
    else:
        told = {"stack": "", "directory": str(outcome.folder), "system": sys.platform, "exitCode": outcome.status}
        details = {"message": "the project cannot be built", **told, "stdout": "", "stderr": outcome.output}
        value = {"error": "BuildReload_FAILED", "details": details}
    return json.dumps(value, indent=2, ensure_ascii=False)


CONTRACT = "toolbox"
RESOURCE_DESCRIPTION = "What the list of resources shows."
HANDLERS = {"prompts": "src/handler/PromptHandler", "resources": "src/handler/ResourceHandler"}
REQUIRED_EXPORTS = {
    "prompts": ("listPromptsHandler", "getPromptHandler"),
    "resources": ("listResourcesHandler", "readResourceHandler"),
}
# The beginning of a text that is a URI with a `${…}` in it: its scheme, and up to three slashes.
URI = re.compile(r"""[`"']([a-z][a-z0-9+.-]*:/{0,3})[^`"'\s]*\$\{""", re.IGNORECASE)
ANY_URI = "{+uri}"


def module_path(tree: SourceTree, stem: str) -> str:
    """Return the module with this path, in any of the languages."""
    return next((stem + ending for ending in ENDINGS if tree.get(stem + ending)), "")


def read_handlers(
    tree: SourceTree, handlers: Mapping[str, str], offered: Mapping[str, Description]
) -> tuple[tuple[PromptDefinition, ...], tuple[TemplateDefinition, ...], Diagnostics]:
    """Return the prompts that a project's handler lists, and a template for its resource handler."""
    problems: list[Diagnostic] = []
    usable = {}
    for kind, path in handlers.items():
        handler = offered.get(kind)
        if handler is not None and handler.failure:
            problems.append(not_imported(tree.files[path], handler))
        elif handler is not None and set(REQUIRED_EXPORTS[kind]) <= set(handler.exported):
            usable[kind] = handler
    prompts = tuple(listed_prompts(handlers.get("prompts", ""), usable))
    templates = (resource_template(tree.files[handlers["resources"]]),) if "resources" in usable else ()
    return prompts, templates, tuple(problems)


def listed_prompts(path: str, usable: Mapping[str, Description]) -> Iterator[PromptDefinition]:
    for prompt in usable["prompts"].prompts if "prompts" in usable else ():
        if isinstance(prompt, dict) and isinstance(prompt.get("name"), str):
            span = Span(path, 0, 0)
            handler = ExternalHandler(path, span, CONTRACT, ("prompt", prompt["name"]), unpacks=True)
            meta = prompt.get("_meta")
            running: Json = {**(meta if isinstance(meta, dict) else {}), HANDLER_KEY: IN_NODE}
            yield PromptDefinition(implied_node({**prompt, "_meta": running}, span), None, handler)


def resource_template(source: Source) -> TemplateDefinition:
    """Return the template for all resources of a handler; its text shows the beginning of their URIs."""
    match = URI.search(source.text)
    span = Span(source.path, *(match.span(1) if match else (0, 0)))
    uri = f"{match[1]}{{+path}}" if match else ANY_URI
    handler = ExternalHandler(source.path, span, CONTRACT, ("resource", uri), unpacks=True)
    value: Json = {
        "uriTemplate": uri,
        "name": "resources",
        "description": RESOURCE_DESCRIPTION,
        "_meta": {HANDLER_KEY: IN_NODE},
    }
    return TemplateDefinition(implied_node(value, span), None, handler)


def sample_uri(template: TemplateDefinition) -> str:
    """Return a URI that matches a template, to find the handler that lists resources."""
    return str(template.node.value["uriTemplate"]).replace("{+path}", "x").replace(ANY_URI, "x:x")  # type: ignore[index,call-overload]
