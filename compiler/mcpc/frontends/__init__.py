"""Table of all front ends; every front end that recognises a project folder reads its own files.

The definitions of several formats are merged into one server. One description of the server is used: the first explicit
one, else the first implied one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from itertools import islice
from operator import or_
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.frontends import bash_sdk, blueprints, bx, fastmcp, mcp_bash, native, openapi, toolbox
from mcpc.frontends.external_handlers import attach_external_handlers
from mcpc.frontends.frontend import BuildOutcome, Frontend, ReloadTool
from mcpc.frontends.introspection import build_inputs as describing_packages
from mcpc.frontends.project import is_concurrent, with_own_tables, with_result_limit
from mcpc.frontends.unrecognised import misspelt_library, unrecognised
from mcpc.model.definitions import Definition
from mcpc.model.ir import Traits
from mcpc.reading import SourceTree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.definitions import ServerDefinition
    from mcpc.options import Options
    from mcpc.reading import Source

__all__ = [
    "FRONTENDS",
    "BuildOutcome",
    "Frontend",
    "ReloadTool",
    "build_inputs",
    "frontends_of",
    "parse_project",
    "select_frontends",
    "tree_for",
]


def folder_name(tree: SourceTree) -> tuple[str, ...]:
    """Return the folder's name: the name of a server that its files do not name."""
    return (tree.name,)


FRONTENDS: tuple[Frontend, ...] = (
    Frontend(
        "native",
        ("mcbox",),
        native.recognises,
        native.parse,
        native.LOOKS_FOR,
        dialect=native.DIALECT,
        dialect_traits=native.DIALECT_TRAITS,
    ),
    Frontend("blueprints", ("mcp-dev-blueprints",), blueprints.recognises, blueprints.parse, blueprints.LOOKS_FOR),
    Frontend("bx-mcp", ("bx", "boxlang"), bx.recognises, bx.parse, bx.LOOKS_FOR, folder_name),
    Frontend(
        "fastmcp",
        ("mcp", "python-sdk"),
        fastmcp.recognises,
        fastmcp.parse,
        fastmcp.LOOKS_FOR,
        folder_name,
        dialect=fastmcp.DIALECT,
        summary=fastmcp.summary,
    ),
    Frontend(
        "mcp-bash",
        ("mcp_bash", "mcpbash"),
        mcp_bash.recognises,
        mcp_bash.parse,
        mcp_bash.LOOKS_FOR,
        folder_name,
        dialect=mcp_bash.DIALECT,
        dialect_traits=mcp_bash.DIALECT_TRAITS,
        passes=(mcp_bash.allowed_tools,),
    ),
    Frontend(openapi.FORMAT, ("swagger",), openapi.recognises, openapi.parse, openapi.LOOKS_FOR, folder_name),
    Frontend(
        "toolbox",
        (),
        toolbox.recognises,
        toolbox.parse,
        toolbox.LOOKS_FOR,
        toolbox.build_inputs,
        dialect=toolbox.DIALECT,
        dialect_traits=toolbox.DIALECT_TRAITS,
        reload=toolbox.RELOAD_TOOL,
    ),
    Frontend(
        "bash-sdk",
        ("mcp-server-bash-sdk", "bash_sdk"),
        bash_sdk.recognises,
        bash_sdk.parse,
        bash_sdk.LOOKS_FOR,
        owned=bash_sdk.owned_files,
    ),
)
"""In the order of their definitions in a server; of the files for handlers, those of a later one replace others."""
MAX_SHOWN_PROJECTS = 3
"""Number of projects in subfolders that are named when the folder itself is not a project."""


def parse_project(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Return the merged definition of the project at `tree`, in all its formats, and its problems."""
    tree = replace(tree, options=options)
    frontends, problems = select_frontends(tree, options)
    parsed = [frontend.parse(tree_for(frontend, tree, frontends), options) for frontend in frontends]
    problems += tuple(problem for _, wrong in parsed for problem in wrong)
    definitions = [definition for definition, _ in parsed if definition is not None]
    if not definitions:
        return None, problems
    problems = tuple(problem for problem in problems if not is_resolved_elsewhere(problem, definitions))
    definitions, borrowed = attach_external_handlers(definitions)
    problems += borrowed
    definition, more = merge_definitions(definitions)
    definition = replace(definition, server=with_result_limit(with_own_tables(definition.server, tree), tree))
    if not definition.described:
        more = (*more, native.missing_description())
    traits = (frontend.dialect_traits for frontend in FRONTENDS if frontend.dialect == options.dialect)
    own = Traits(serial=is_concurrent(tree) is False)
    definition = replace(definition, traits=reduce(or_, traits, definition.traits | own))
    return definition, (*problems, *more, *unused_variables(tree, frontends))


def unused_variables(tree: SourceTree, frontends: Sequence[Frontend]) -> Iterator[Diagnostic]:
    """Yield the variables of `--build-env` of a build that runs no code of the project."""
    if tree.options.imports and (
        fastmcp.FORMAT in {frontend.name for frontend in frontends} or describing_packages(tree)
    ):
        return
    for name, _ in tree.options.build_environment:
        message = f"`--build-env {name}` has no effect: this build runs no Python code of the project"
        yield diagnose(
            "MCP236", None, message, "", "leave it out; a built server gets its variables when it is started"
        )


def tree_for(frontend: Frontend, tree: SourceTree, others: Sequence[Frontend]) -> SourceTree:
    """Return the project without the files that only other formats of the project read."""
    owned = frozenset[str]().union(*(other.owned(tree) for other in others if other is not frontend))
    if not owned:
        return tree
    kept = {path: source for path, source in tree.files.items() if path not in owned}
    return replace(tree, files=MappingProxyType(kept))


def frontends_of(formats: str) -> tuple[Frontend, ...]:
    """Return the front ends that read a project, by its `format`: the names of one or several of them."""
    names = formats.split("+")
    return tuple(frontend for frontend in FRONTENDS if frontend.name in names)


def is_resolved_elsewhere(problem: Diagnostic, definitions: Sequence[Definition]) -> bool:
    """Tell whether another format resolves a problem: it offers definitions, or reads the decorated file."""
    if problem.message == native.NOTHING_DEFINED:
        return any(map(offers_anything, definitions))
    elsewhere = {
        library.source.path
        for definition in definitions
        if definition.format != "native"
        for library in definition.libraries
    }
    return problem.code == "MCP224" and problem.span is not None and problem.span.path in elsewhere


def offers_anything(definition: Definition) -> bool:
    """Tell whether a definition offers anything to clients."""
    offered = (definition.tools, definition.prompts, definition.resources, definition.templates, definition.skills)
    return any(offered)


def build_inputs(tree: SourceTree) -> list[tuple[str, ...]]:
    """Return what a build depends on besides the project's files, the options and the machine."""
    return [frontend.build_inputs(tree) for frontend in FRONTENDS if frontend.recognises(tree)]


MCP_IMPORT = re.compile(rb"^[ \t]*(?:from|import)\s+mcpc\b", re.MULTILINE)
MCP_DECORATOR = re.compile(rb"^[ \t]*@\w+(?:\.\w+)?\.(?:tool|prompt|resource)\b", re.MULTILINE)
DEFINITION_FILES = "`server.py`, `tools.py`, `prompts.py`, `resources.py` and `completions.py` of the project folder"
MAKE_A_SERVER = "make it at the top level: `mcp = Server(...)`; a class derived from `Server` makes none that is read"
NAME_THE_FOLDER = "name the folder that contains it"


def select_frontends(tree: SourceTree, options: Options) -> tuple[tuple[Frontend, ...], Diagnostics]:
    """Return the front ends that read `tree`: the one the options name, else those that recognise something."""
    if options.format or options.kb:
        return _frontend_named(options.format or "blueprints")
    # Without what any other format owns: a list of tools of one may look like a definition of another.
    frontends = tuple(frontend for frontend in FRONTENDS if frontend.recognises(tree_for(frontend, tree, FRONTENDS)))
    is_unread = _names_unread_file(tree, options, frontends)
    if frontends and not is_unread:
        return frontends, ()
    marked = _decorated_elsewhere(tree)
    # No entry begins with a space: without a marked file it is the entry that is reported.
    if is_unread and not options.entry.startswith(marked or " "):
        hint = "name the folder, or the file with `FastMCP(...)`, `Server(...)` or functions with `@tool`"
        place = Span(options.entry.partition(":")[0])
        problem = diagnose("MCP009", place, f"`{options.entry}` makes no server", "", hint)
        return (), (misspelt_library(tree) or problem,)
    # A text: only with its quotes a name is a whole one in it.
    if f"`{marked}`" in DEFINITION_FILES:
        message = f"no project found here: the decorators of `{marked}` are not those of a `Server` that it makes"
        return (), (diagnose("MCP009", Span(marked), message, "", MAKE_A_SERVER),)
    if marked:
        message = f"no project found here: `{marked}` has decorators, but decorators are read in {DEFINITION_FILES}"
        return (), (diagnose("MCP009", Span(marked), message, "", f"rename it to `server.py`, and {NAME_THE_FOLDER}"),)
    misspelt = misspelt_library(tree)
    return (), (misspelt or unrecognised(tree, _projects_below(tree)),)


def _names_unread_file(tree: SourceTree, options: Options, frontends: Sequence[Frontend]) -> bool:
    """Tell whether the entry is a file that no format reads: programs and API documents may have any name."""
    path = options.entry.partition(":")[0]
    programs = {fastmcp.FORMAT, openapi.FORMAT} & {frontend.name for frontend in frontends}
    is_read = f"`{path}`" in DEFINITION_FILES or bool(programs)
    return tree.get(path) is not None and not is_read


def _decorated_elsewhere(tree: SourceTree) -> str:
    """Return the first Python file with decorators of an MCP library, or an empty string."""
    files = (
        path
        for path, source in tree.files.items()
        if path.endswith(".py") and MCP_DECORATOR.search(source.data) and MCP_IMPORT.search(source.data)
    )
    # The nearest to the project's folder.
    return min(files, key=lambda path: (path.count("/"), path), default="")


def _projects_below(tree: SourceTree) -> list[str]:
    """Return some subfolders of `tree` that are projects, for a hint to name one of them."""
    folders: dict[str, dict[str, Source]] = {}
    for path, source in tree.files.items():
        folder, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(folder, {})[rest] = replace(source, path=rest)
    projects = (
        f"`{folder}`"
        for folder, files in folders.items()
        if any(frontend.recognises(SourceTree(MappingProxyType(files), folder)) for frontend in FRONTENDS)
    )
    return list(islice(projects, MAX_SHOWN_PROJECTS))


def _frontend_named(name: str) -> tuple[tuple[Frontend, ...], Diagnostics]:
    rows = {known: frontend for frontend in FRONTENDS for known in (frontend.name, *frontend.aliases)}
    if name in rows:
        return (rows[name],), ()
    expected = "one of " + quoted(rows)
    return (), (diagnose("MCP009", None, f"unknown format `{name}`", expected, did_you_mean(name, rows)),)


def merge_definitions(definitions: Sequence[Definition]) -> tuple[Definition, Diagnostics]:
    """Return the definitions of all front ends as one, and the descriptions of the server that are ignored."""
    if len(definitions) == 1:
        return definitions[0], ()
    server, problems = _select_server(
        [definition.server for definition in definitions if definition.server is not None]
    )
    read = {path for definition in definitions for path in _definition_files(definition)}
    named = sorted(
        (library for definition in definitions for library in definition.libraries),
        key=lambda library: bool(library.prefixes),
    )
    libraries = {library.source.path: library for library in named}  # a library with prefixes also has the others
    beside = {source.path: source for definition in definitions for source in definition.beside}
    whole = Definition(
        format="+".join(definition.format for definition in definitions),
        server=server,
        tools=tuple(tool for definition in definitions for tool in definition.tools),
        prompts=tuple(prompt for definition in definitions for prompt in definition.prompts),
        resources=tuple(resource for definition in definitions for resource in definition.resources),
        templates=tuple(template for definition in definitions for template in definition.templates),
        completions=tuple(completion for definition in definitions for completion in definition.completions),
        skills=tuple(skill for definition in definitions for skill in definition.skills),
        libraries=tuple(libraries.values()),
        sources=tuple({source.path: source for definition in definitions for source in definition.sources}.values()),
        described=any(definition.described for definition in definitions),
        complete=all(definition.complete for definition in definitions),
        homes=tuple(home for definition in definitions for home in definition.homes),
        runtime_settings=tuple(
            dict(setting for definition in definitions for setting in definition.runtime_settings).items()
        ),
        virtual_servers=tuple(facet for definition in definitions for facet in definition.virtual_servers),
        serves=frozenset[str]().union(*(definition.serves for definition in definitions)),
        traits=reduce(or_, (definition.traits for definition in definitions)),
        live_lists=tuple(dict(row for definition in definitions for row in definition.live_lists).items()),
        run_time=next((definition.run_time for definition in definitions if definition.run_time is not None), None),
        imported=tuple(path for definition in definitions for path in definition.imported),
        settings_read=tuple(setting for definition in definitions for setting in definition.settings_read),
        toolsets=tuple(toolset for definition in definitions for toolset in definition.toolsets),
    )
    others = (beside[path] for path in sorted(beside) if path not in read and path not in libraries)
    return replace(whole, beside=tuple(others)), problems


def _definition_files(definition: Definition) -> set[str]:
    """Return the files that only contain definitions: files that handlers also use stay in `beside`."""
    return {source.path for source in definition.sources} - {source.path for source in definition.beside}


def _select_server(definitions: Sequence[ServerDefinition]) -> tuple[ServerDefinition | None, Diagnostics]:
    written = [item for item in definitions if not item.implied]
    chosen = next(iter([*written, *definitions]), None)
    hint = "the first description is used; merge them there"
    message = "the server is described a second time; this description is ignored"
    return chosen, tuple(diagnose("MCP228", item.node.span, message, "", hint) for item in written[1:])
