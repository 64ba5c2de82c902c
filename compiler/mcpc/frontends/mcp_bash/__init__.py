"""Projects of mcp-bash: programs in `tools/`, texts in `prompts/`, files in `resources/`, the server in `server.d/`.

Nothing of a project is run to understand it, unless its `register.sh` is asked for by `--hooks`.  Whatever mcp-bash
would pass over in silence, or find out when a client asks, is reported.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mcpc.definitions import Definition
from mcpc.diagnostics import Span, has_errors
from mcpc.frontends.mcp_bash import prompts, resources, server, tools
from mcpc.frontends.mcp_bash.completing import completions
from mcpc.frontends.mcp_bash.interfaces import SAID, interface_resources
from mcpc.frontends.mcp_bash.nodes import text
from mcpc.frontends.mcp_bash.reading import DIALECT, META, YAML, Reading, base, stem
from mcpc.frontends.mcp_bash.register import HOOK, JSON, registration
from mcpc.frontends.mcp_bash.scripts import is_tool
from mcpc.frontends.mcp_bash.sdk import carried
from mcpc.ir import Foreign

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpc.definitions import PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition
    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.mcp_bash.completing import Described
    from mcpc.frontends.mcp_bash.reading import Found
    from mcpc.frontends.mcp_bash.register import Register
    from mcpc.options import Options
    from mcpc.sources import Source, SourceTree

__all__ = ["LOOKS_FOR", "parse", "recognises"]

LOOKS_FOR = (
    "`server.d/server.meta.json`, `server.d/register.json` or `server.d/register.sh`; or a script in a folder below "
    "`tools/` with `*.meta.json` beside it or `mcp:` in it; or `*.meta.json` below `prompts/` or `resources/`"
)
MARKERS = frozenset({server.META, JSON, HOOK})
DESCRIBED = ("prompts/", "resources/")
LISTED = ("tools", "prompts", "resources")
INSIDE = re.compile(rb"\A(?:[^\n]*\n){0,9}[^\n]*mcp:[ \t]*\{|/tool-sdk\.sh\b")
SETTING = "mcp_bash"
SHEBANG = b"#!"


def recognises(tree: SourceTree) -> bool:
    """Say whether a file that only mcp-bash would have lies in `tree`."""
    return any(path in MARKERS or _is_ours(source, tree) for path, source in tree.files.items())


def _is_ours(source: Source, tree: SourceTree) -> bool:
    path = source.path
    if path.startswith(DESCRIBED):
        return path.endswith(META)
    if not path.startswith("tools/") or path.count("/") < 2 or not is_tool(source):
        return False
    beside = (path + META, stem(path) + META)
    return any(name in tree.files for name in beside) or INSIDE.search(source.data) is not None


class Offered(NamedTuple):
    """What the project offers."""

    tools: tuple[ToolDefinition, ...]
    prompts: tuple[PromptDefinition, ...]
    resources: tuple[ResourceDefinition, ...]
    templates: tuple[TemplateDefinition, ...]


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Return what the project defines, and everything that is wrong with it."""
    reading = Reading(tree, options)
    about, is_described = server.described(reading)
    reading.server = text(about, "name")
    registered = registration(reading)
    offered = _offered(registered, reading)
    described: tuple[Described, ...] = (*offered.prompts, *offered.templates, *offered.resources)
    completed = completions(registered.get("completions"), described, reading)
    resources.judge_providers(reading)
    settings = {**server.settings(about, reading), "completions": completed.scripts}
    _unread(registered, reading)
    reading.tell_of_shared()
    files = tree.files.values()
    reads = bool(offered.resources or offered.templates or resources.own_providers(reading))
    completes = bool(completed.scripts) or options.dialect == DIALECT  # the original completes anything
    served = {"resources": reads, "completions": completes}
    definition = Definition(
        format="mcp-bash",
        server=server.definition(about, reading, implied=not is_described, offers=(bool(offered.tools), reads)),
        tools=offered.tools,
        prompts=offered.prompts,
        resources=offered.resources,
        templates=offered.templates,
        completions=tuple(completed.definitions),
        beside=(*carried(files, forks=any(map(_forks, offered.tools))), *map(_runnable, files)),
        sources=tuple(reading.read[path] for path in sorted(reading.read)),
        complete=not has_errors(reading.problems),
        settings=((SETTING, settings),),
        serves=frozenset(name for name, is_there in served.items() if is_there),
    )
    return definition, tuple(reading.problems)


def _forks(tool: ToolDefinition) -> bool:
    """Tell whether a tool may run in a shell that has read the library."""
    return isinstance(tool.handler, Foreign) and bool(dict(tool.handler.facts[0])["fork"])


def _runnable(source: Source) -> Source:
    """Return a file as it is wanted on disk: a script that names its interpreter is run by it, whatever its mode."""
    is_script = source.path.startswith("tools/") and source.data.startswith(SHEBANG)
    return replace(source, mode=source.mode | 0o100) if is_script else source


def _offered(registered: Register, reading: Reading) -> Offered:
    made = [tools.definition(one, reading) for one in _found("tools", tools.discovered, registered, reading)]
    role = prompts.SYSTEM if "prompts" in registered else prompts.ROLES[0]
    written = _found("prompts", prompts.discovered, registered, reading)
    texts = [prompts.definition(one, reading, role) for one in written]
    static = [
        resources.definition(one, reading) for one in _found("resources", resources.discovered, registered, reading)
    ]
    manual = registered.get("resourceTemplates", ())
    names = {text(one.fields, "name") for one in manual}
    others = [one for one in resources.discovered_templates(reading) if text(one.fields, "name") not in names]
    templates = sorted([*manual, *others], key=lambda one: text(one.fields, "name"))
    return Offered(
        tools=tuple(tool for tool in made if tool is not None),
        prompts=tuple(prompt for prompt in texts if prompt is not None),
        resources=(*static, *interface_resources(reading)),
        templates=tuple(resources.template(one, reading) for one in templates),
    )


def _found(
    key: str, discover: Callable[[Reading], list[Found]], registered: Register, reading: Reading
) -> Sequence[Found]:
    """Return what is registered of a kind, else what lies in the project."""
    return registered[key] if key in registered else discover(reading)


def _unread(registered: Register, reading: Reading) -> None:
    """Report descriptions that describe nothing: in YAML, or beside no file."""
    for path in reading.tree.files:
        if path.partition("/")[0] not in LISTED or path.partition("/")[0] in registered:
            continue
        if path.endswith(YAML):
            hint = f"write it as JSON into `{path.rpartition('.')[0]}.json`"
            reading.tell("MCP148", Span(path), "descriptions in YAML are not read", "", hint)
        elif path.endswith(META) and base(path) not in (META, SAID) and path not in reading.used:
            hint = f"it describes a file called `{base(path).removesuffix(META)}`, with any suffix or none"
            reading.tell("MCP149", Span(path), f"`{path}` lies beside nothing that it could describe", "", hint)
