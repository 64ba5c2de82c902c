"""Projects of mcp-bash: programs in `tools/`, texts in `prompts/`, files in `resources/`, the server in `server.d/`.

Nothing of a project is run to read it, except its `register.sh`, which `--hooks` enables.  Files that mcp-bash would
ignore silently, and errors that it would find only at a request, are reported.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mcpc.diagnostics import Span, has_errors
from mcpc.frontends.mcp_bash import prompts, resources, server, tools
from mcpc.frontends.mcp_bash.completions import read_completions
from mcpc.frontends.mcp_bash.interfaces import DESCRIPTION, interface_resources
from mcpc.frontends.mcp_bash.reading import DIALECT, META, YAML, ProjectReader, base_name, without_suffix
from mcpc.frontends.mcp_bash.register import HOOK, JSON, read_register
from mcpc.frontends.mcp_bash.server import sdk_files
from mcpc.frontends.mcp_bash.tools import allowed_tools, is_tool
from mcpc.model.definitions import Definition
from mcpc.model.ir import ExternalHandler, Traits
from mcpc.reading.json_tree import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.mcp_bash.completions import Described
    from mcpc.frontends.mcp_bash.reading import ProjectItem
    from mcpc.frontends.mcp_bash.register import Register
    from mcpc.model.definitions import PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition
    from mcpc.options import Options
    from mcpc.reading import Source, SourceTree

__all__ = ["DIALECT", "DIALECT_TRAITS", "LOOKS_FOR", "allowed_tools", "parse", "recognises"]

LOOKS_FOR = (
    "`server.d/server.meta.json`, `server.d/register.json` or `server.d/register.sh`; or a script in a folder below "
    "`tools/` with `*.meta.json` beside it or `mcp:` in it; or `*.meta.json` below `prompts/` or `resources/`"
)
DECISIVE_FILES = frozenset({server.META, JSON, HOOK})
DESCRIBED_FOLDERS = ("prompts/", "resources/")
ITEM_FOLDERS = ("tools", "prompts", "resources")
# `mcp:` and an object in one of the first ten lines, or the library of mcp-bash for tools.
TOOL_HEADER = re.compile(rb"\A(?:[^\n]*\n){0,9}[^\n]*mcp:[ \t]*\{|/tool-sdk\.sh\b")
SETTING = "mcp_bash"
RUNTIME = "mcpc_runtime.systems.mcp_bash"
HOOKS = (
    ("complete", f"{RUNTIME}.completion_contract:complete_unknown"),
    ("describe_hidden_tools", f"{RUNTIME}.startup:hidden_tools_note"),
    ("find_resource", f"{RUNTIME}.resource_contract:find_unlisted"),
    ("guard", f"{RUNTIME}.remote_token:install_token_check"),
    ("is_polled", f"{RUNTIME}.resource_contract:is_polled"),
    ("name_resource", f"{RUNTIME}.resource_contract:resolve_name"),
    ("names_subscriptions", f"{RUNTIME}.resource_contract:names_subscriptions"),
    ("poll_resources", f"{RUNTIME}.resource_polling:start_polling"),
    ("self_check", f"{RUNTIME}.health_checks:health_check"),
    ("start", f"{RUNTIME}.startup:hide_tools"),
    ("takes_any_arguments", f"{RUNTIME}.prompt_contract:takes_any_arguments"),
)
TRAITS = Traits(
    unpacks_as_one_entry=True,
    other_tools_of=((SETTING, tools.CONTRACT),),
    hooks=HOOKS,
    contracts=("mcp_bash_completion", "mcp_bash_resource"),
)
DIALECT_TRAITS = Traits(announces_extensions=True)
"""What `--dialect mcp-bash` changes."""
SHEBANG = b"#!"


def recognises(tree: SourceTree) -> bool:
    """Tell whether `tree` contains a file that only mcp-bash projects have."""
    return any(path in DECISIVE_FILES or _is_mcp_bash_file(source, tree) for path, source in tree.files.items())


def _is_mcp_bash_file(source: Source, tree: SourceTree) -> bool:
    path = source.path
    if path.startswith(DESCRIBED_FOLDERS):
        return path.endswith(META)
    if not path.startswith("tools/") or path.count("/") < 2 or not is_tool(source):
        return False
    beside = (path + META, without_suffix(path) + META)
    return any(name in tree.files for name in beside) or TOOL_HEADER.search(source.data) is not None


class OfferedDefinitions(NamedTuple):
    """The definitions that the project offers."""

    tools: tuple[ToolDefinition, ...]
    prompts: tuple[PromptDefinition, ...]
    resources: tuple[ResourceDefinition, ...]
    templates: tuple[TemplateDefinition, ...]


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Return the definitions of the project, and all its problems."""
    reader = ProjectReader(tree, options)
    about, is_described = server.described_server(reader)
    # First, since the URIs of interfaces contain the server's name.
    reader.server = text_of(about, "name")
    registered = read_register(reader)
    offered = _read_definitions(registered, reader)
    described: tuple[Described, ...] = (*offered.prompts, *offered.templates, *offered.resources)
    # After the definitions, whose entries in mcp-bash's registry the scripts receive.
    completed = read_completions(registered.get("completions"), described, reader)
    resources.check_providers(reader)
    settings = {**server.runtime_settings(about, reader), "completions": completed.scripts}
    _report_unused_descriptions(registered, reader)
    reader.report_shared_programs()
    files = tree.files.values()
    reads = bool(offered.resources or offered.templates or resources.project_providers(reader))
    completes = bool(completed.scripts) or options.dialect == DIALECT  # the original completes anything
    served = {"resources": reads, "completions": completes}
    definition = Definition(
        format="mcp-bash",
        server=server.server_definition(about, reader, implied=not is_described, offers=(bool(offered.tools), reads)),
        tools=offered.tools,
        prompts=offered.prompts,
        resources=offered.resources,
        templates=offered.templates,
        completions=tuple(completed.definitions),
        beside=(
            *sdk_files(
                files,
                forks=any(isinstance(tool.handler, ExternalHandler) and tool.handler.forks for tool in offered.tools),
            ),
            *map(_runnable, files),
        ),
        sources=tuple(reader.read[path] for path in sorted(reader.read)),
        complete=not has_errors(reader.problems),
        runtime_settings=((SETTING, settings),),
        traits=TRAITS,
        serves=frozenset(name for name, is_there in served.items() if is_there),
    )
    return definition, tuple(reader.problems)


def _runnable(source: Source) -> Source:
    """Return a file with its mode on disk: a script with an interpreter line is executable, whatever its mode was."""
    is_script = source.path.startswith("tools/") and source.data.startswith(SHEBANG)
    return replace(source, mode=source.mode | 0o100) if is_script else source


def _read_definitions(registered: Register, reader: ProjectReader) -> OfferedDefinitions:
    made = [
        tools.tool_definition(item, reader)
        for item in _items_of_kind("tools", tools.discover_tools, registered, reader)
    ]
    role = prompts.SYSTEM if "prompts" in registered else prompts.ROLES[0]
    written = _items_of_kind("prompts", prompts.discover_prompts, registered, reader)
    texts = [prompts.prompt_definition(item, reader, role) for item in written]
    static = [
        resources.resource_definition(item, reader)
        for item in _items_of_kind("resources", resources.discover_resources, registered, reader)
    ]
    manual = registered.get("resourceTemplates", ())
    names = {text_of(item.fields, "name") for item in manual}
    others = [
        template for template in resources.discover_templates(reader) if text_of(template.fields, "name") not in names
    ]
    templates = sorted([*manual, *others], key=lambda item: text_of(item.fields, "name"))
    return OfferedDefinitions(
        tools=tuple(tool for tool in made if tool is not None),
        prompts=tuple(prompt for prompt in texts if prompt is not None),
        resources=(*static, *interface_resources(reader)),
        templates=tuple(resources.template_definition(template, reader) for template in templates),
    )


def _items_of_kind(
    key: str, discover: Callable[[ProjectReader], list[ProjectItem]], registered: Register, reader: ProjectReader
) -> Sequence[ProjectItem]:
    """Return what is registered of a kind, else what is found in the project."""
    return registered[key] if key in registered else discover(reader)


def _report_unused_descriptions(registered: Register, reader: ProjectReader) -> None:
    """Report descriptions that describe nothing: in YAML, or without a matching file."""
    for path in reader.tree.files:
        if path.partition("/")[0] not in ITEM_FOLDERS or path.partition("/")[0] in registered:
            continue
        if path.endswith(YAML):
            hint = f"write it as JSON into `{path.rpartition('.')[0]}.json`"
            reader.report("MCP148", Span(path), "YAML descriptions are not supported", "", hint)
        elif path.endswith(META) and base_name(path) not in (META, DESCRIPTION) and path not in reader.used:
            hint = f"it describes a file called `{base_name(path).removesuffix(META)}`, with any suffix or none"
            reader.report("MCP149", Span(path), f"`{path}` has no matching file", "", hint)
