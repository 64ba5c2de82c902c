"""The native format, which is also mcbox's: JSON files that define, Bash and Python files that implement.

Only files at fixed paths at the top of the project are read; all other files are available to handlers.  Definitions
are not checked here: a file is split into objects, and `lower` checks those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.frontends.decorated import has_decorators, read_decorated
from mcpc.frontends.installed_metadata import with_own_metadata
from mcpc.frontends.project import project_info, project_server, read_skills, with_project
from mcpc.frontends.project_metadata import is_registry_manifest
from mcpc.model.definitions import (
    CONTENT_KEYS,
    CompletionDefinition,
    Definition,
    HandlerLibrary,
    PromptDefinition,
    ResourceDefinition,
    ServerDefinition,
    TemplateDefinition,
    ToolDefinition,
    command_node,
    has_external_handler,
    kind_mismatch,
    pipeline_node,
    request_node,
)
from mcpc.model.ir import Traits
from mcpc.reading import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.options import Options
    from mcpc.reading import Node, Source, SourceTree

LOOKS_FOR = (
    "`server.json` with `tools.json`, `prompts.json` or `resources.json`, or `*.json` in `tools.d`, `prompts.d` or "
    "`resources.d`; or functions with `@tool`, `@prompt` or `@resource` in `server.py`, `tools.py`, `prompts.py` or "
    "`resources.py`"
)
SERVER = "server.json"
NOTHING_DEFINED = "the project does not define any tools, prompts or resources"
BX_DECORATOR = re.compile(rb"@(?:mcpc\.)?mcp_(?:tool|resource|prompt)\b")
SHELL_LIBRARIES = ("tools.bash", "prompts.bash")
CONTRACT = "mcbox"
"""How Bash functions are called."""
VARIABLES = (("MCBOX_SERVER_CONFIG", "server"), ("MCBOX_TOOLS_CONFIG", "tools"), ("MCBOX_PROMPTS_CONFIG", "prompts"))
"""The variables in which mcbox passes its configuration to every tool."""
DIALECT = "mcbox"
DIALECT_TRAITS = Traits(keeps_argument_text=True, suspends_errexit=True)
"""What `--dialect mcbox` changes."""


@dataclass(frozen=True, slots=True)
class Collection:
    """The files that define one kind of item, and the files that usually implement it.

    `others`: keys of other lists that the files may have, each with the kind of its items.
    """

    kind: str
    key: str
    homes: tuple[str, ...]
    others: tuple[tuple[str, str], ...] = ()

    @property
    def file(self) -> str:
        """Path of the single file."""
        return f"{self.key}.json"

    @property
    def folder(self) -> str:
        """Path of the folder with further files."""
        return f"{self.key}.d/"

    @property
    def lists(self) -> dict[str, str]:
        """The lists that a file may have, and the kinds of their items."""
        return {self.key: self.kind, **dict(self.others)}


TEMPLATE = "resource template"
TOOLS = Collection("tool", "tools", ("tools.bash", "tools.py"))
PROMPTS = Collection("prompt", "prompts", ("prompts.bash", "prompts.py"))
RESOURCES = Collection("resource", "resources", ("resources.bash", "resources.py"), (("resourceTemplates", TEMPLATE),))
COMPLETIONS = Collection("completion", "completions", ("completions.bash", "completions.py"))
COLLECTIONS = (TOOLS, PROMPTS, RESOURCES, COMPLETIONS)
OPTIONAL_COLLECTIONS = (RESOURCES, COMPLETIONS)
"""Collections that mcbox does not have: unless some are defined, files and functions of these names are ordinary."""


def recognises(tree: SourceTree) -> bool:
    """Tell whether a file that only this format has is at the top of `tree`."""
    tree = without_registry_manifest(tree)
    fixed = any(is_definition(path) or path in SHELL_LIBRARIES for path in tree.files)
    return fixed or any(map(has_decorators, tree.files.values()))


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Read every file of the format, in fixed order: `server.json`, tools, prompts, decorated functions, libraries."""
    project = project_info(tree)
    tree = with_own_metadata(without_registry_manifest(tree), project.get("name", ""), project.get("version", ""))
    written, file_problems = _read_definitions(tree)
    decorated, decorator_problems = read_decorated(tree, described=tree.get(SERVER) is not None)
    described = decorated.describes and tree.get(SERVER) is None
    server, server_problems = (decorated.server, ()) if described else _server(tree)
    is_said = described or tree.get(SERVER) is not None
    server = with_project(server, tree) if is_said else project_server(tree)
    libraries = _libraries(tree, options, decorated.files)
    problems = server_problems + file_problems + decorator_problems
    # What seems to be missing may be in a file that cannot be read.
    if not has_errors(file_problems + decorator_problems):
        nothing = not any(written[kind] for kind in OFFERED) and not decorated.offers and not read_skills(tree)
        # These functions are definitions of another front end, whose result is merged with this one.
        nothing = nothing and not any(BX_DECORATOR.search(source.data) for source in tree.files.values())
        problems += (_nothing_defined(tree),) if nothing and not options.allow_empty else ()
        problems += tuple(_missing_libraries(written, libraries, tree))
    problems += tuple(_folders_at_file_paths(tree))
    folders = read_skills(tree)
    paths = {library.source.path for library in libraries} | {file.path for skill in folders for file in skill.files}
    named = dict.fromkeys(path for path in tree.files if is_definition(path) or path in paths)
    definition = Definition(
        format="native",
        server=server,
        tools=(*map(ToolDefinition, written["tool"]), *decorated.tools),
        prompts=(*map(PromptDefinition, written["prompt"]), *decorated.prompts),
        resources=(*map(ResourceDefinition, written["resource"]), *decorated.resources),
        templates=(*map(TemplateDefinition, written[TEMPLATE]), *decorated.templates),
        completions=(*map(CompletionDefinition, written["completion"]), *decorated.completions),
        skills=folders,
        settings_read=decorated.settings_read,
        libraries=libraries,
        beside=tuple(source for path, source in tree.files.items() if path not in named),
        sources=tuple(tree.files[path] for path in named),
        described=decorated.describes or tree.get(SERVER) is not None or server is not None,
        complete=server is not None and not has_errors(problems),
        homes=tuple(
            (kind, collection.homes)
            for collection in COLLECTIONS
            if not paths & {*collection.homes}
            for kind in collection.lists.values()
        ),
    )
    return definition, problems


def without_registry_manifest(tree: SourceTree) -> SourceTree:
    """Return a tree without a `server.json` that only describes the server for the registry."""
    source = tree.get(SERVER)
    if source is None or not is_registry_manifest(source):
        return tree
    return replace(tree, files=MappingProxyType({path: file for path, file in tree.files.items() if path != SERVER}))


def _folders_at_file_paths(tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield folders at the paths of definition files: their contents would be ignored silently."""
    for folder in dict.fromkeys(str(folder) for path in tree.files for folder in PurePosixPath(path).parents):
        if is_definition(folder) or any(folder in collection.homes for collection in COLLECTIONS):
            yield diagnose("MCP006", None, f"`{folder}` is a folder", "a file", "rename the folder")


def is_definition(path: str) -> bool:
    """Tell whether a file contains only definitions, so that handlers do not need it."""
    return path == SERVER or any(path == collection.file or _in_folder(path, collection) for collection in COLLECTIONS)


def _in_folder(path: str, collection: Collection) -> bool:
    name = path.removeprefix(collection.folder)
    return name != path and name.endswith(".json") and "/" not in name


def missing_description() -> Diagnostic:
    """Return the problem of a project that does not describe its server."""
    hint = "it contains the name and version of the server; `Server(name, version=...)` in Python also works"
    return diagnose("MCP004", None, f"`{SERVER}` is missing", "", hint)


def _server(tree: SourceTree) -> tuple[ServerDefinition | None, Diagnostics]:
    source = tree.get(SERVER)
    if source is None:
        return None, ()
    node, problems = parse_json(source)
    return None if node is None else ServerDefinition(node), problems


def _libraries(tree: SourceTree, options: Options, decorated: Sequence[str]) -> tuple[HandlerLibrary, ...]:
    """Return the handler libraries.  One shell reads all Bash files, so each may implement any kind.

    In `server.py` only decorated functions are handlers; otherwise it is an ordinary file.
    """
    prefixes = {"tool": options.tools_prefix, "prompt": options.prompts_prefix, **PREFIXES}
    used_collections = [
        collection
        for collection in OPTIONAL_COLLECTIONS
        if any(path == collection.file or _in_folder(path, collection) for path in tree.files)
    ]
    shared = [kind for item in (TOOLS, PROMPTS, *used_collections) for kind in item.lists.values()]
    libraries = []
    for collection in COLLECTIONS:
        kinds = [*collection.lists.values()]
        rows = {
            "bash": [(kind, prefixes[kind]) for kind in dict.fromkeys((*shared, *kinds))],
            # A Python function has the name of its definition, or the prefix before it.
            "python": [(kind, prefix) for kind in kinds for prefix in ("", prefixes[kind])],
        }
        is_there = collection not in OPTIONAL_COLLECTIONS or collection in used_collections
        sources = [tree.get(home) if is_there or home in decorated else None for home in collection.homes]
        libraries += [
            _library(source, language, tuple(served))
            for (language, served), source in zip(rows.items(), sources, strict=True)
            if source
        ]
    server = tree.get("server.py") if "server.py" in decorated else None
    return tuple(libraries if server is None else [*libraries, HandlerLibrary(server, "python", ())])


def _library(source: Source, language: str, served: tuple[tuple[str, str], ...]) -> HandlerLibrary:
    """Return a library; Bash functions get the same environment as in mcbox."""
    if language != "bash":
        return HandlerLibrary(source, language, served)
    return HandlerLibrary(source, language, served, CONTRACT, inherits_environment=True, variables=VARIABLES)


PREFIXES = {"resource": "resource_", TEMPLATE: "resource_", "completion": "complete_"}
"""Prefixes of functions that implement what mcbox does not have."""
OFFERED = ("tool", "prompt", "resource", TEMPLATE)
"""Kinds of which one definition is enough for a server."""


def _read_definitions(tree: SourceTree) -> tuple[dict[str, list[Node]], Diagnostics]:
    """Return the definitions of JSON files, by kind, and the problems of those files."""
    written: dict[str, list[Node]] = {kind: [] for collection in COLLECTIONS for kind in collection.lists.values()}
    problems: list[Diagnostic] = []
    for collection in COLLECTIONS:
        for kind, nodes, wrong in _collect(collection, tree):
            written[kind] += nodes
            problems += wrong
    return written, tuple(problems)


def _collect(collection: Collection, tree: SourceTree) -> Iterator[tuple[str, tuple[Node, ...], Diagnostics]]:
    """Yield the definitions of a collection: those of the single file, then of the folder, ordered by name."""
    folder = [path for path in tree.files if _in_folder(path, collection)]
    for source in map(tree.get, (collection.file, *folder)):
        if source is not None:
            yield from _read(source, collection)


def _read(source: Source, collection: Collection) -> Iterator[tuple[str, tuple[Node, ...], Diagnostics]]:
    """Split one file into definitions; in the folder a file may also be a single definition."""
    node, problems = parse_json(source)
    yield collection.kind, (), problems
    if node is None:
        return
    listed = {kind: node.get(key) for key, kind in collection.lists.items()} if node.kind == "object" else {}
    if node.kind == "object" and source.path != collection.file and not any(listed.values()):
        yield TEMPLATE if node.get("uriTemplate") and collection is RESOURCES else collection.kind, (node,), ()
        return
    for kind, listed_node in listed.items():
        yield kind, listed_node.items if listed_node is not None else (), ()
    yield collection.kind, (), tuple(_shape_problems(node, collection))


def _shape_problems(node: Node, collection: Collection) -> Iterator[Diagnostic]:
    """Yield why `node` is not `{"tools": […]}`; mcbox allows no other key."""
    shape = f'`{{"{collection.key}": […]}}`'
    if node.kind != "object":
        yield diagnose("MCP101", node.span, kind_mismatch(f"`{node.path}`", "object", node), shape)
        return
    for member in node.members:
        if member.key not in collection.lists:
            keys = [key for key in collection.lists if node.get(key) is None]
            message = f"`{node.path}` may hold only {quoted(collection.lists, ' and ')}, found `{member.key}`"
            yield diagnose("MCP107", member.key_span, message, "", did_you_mean(member.key, keys))
        elif member.node.kind != "array":
            yield diagnose("MCP101", member.node.span, kind_mismatch(f"`{member.key}`", "array", member.node), shape)
    if all(node.get(key) is None for key in collection.lists):
        yield diagnose("MCP102", node.span, f"`{node.path}` has no `{collection.key}`", shape)


def _missing_libraries(
    written: dict[str, list[Node]], libraries: tuple[HandlerLibrary, ...], tree: SourceTree
) -> Iterator[Diagnostic]:
    """Yield the missing files that would implement well-formed definitions."""
    served = {kind for library in libraries for kind, _ in library.prefixes}
    for collection in COLLECTIONS:
        kinds = collection.lists.values()
        nodes = [node for kind in kinds for node in written[kind] if command_node(node) is None]
        nodes = [node for node in nodes if request_node(node) is None and pipeline_node(node) is None]
        nodes = [node for node in nodes if not any(node.get(key) is not None for key in CONTENT_KEYS)]
        nodes = [node for node in nodes if not has_external_handler(node)]
        if nodes and collection.kind not in served:
            homes = quoted(collection.homes, " or ")
            meant = next((path for path in tree.files if path in _wrong_names(collection.homes)), "")
            hint = f"add {homes}, with one function for each {collection.kind}"
            if meant:
                hint = f"`{meant}` is not read: rename it to `{meant.rpartition('.')[0]}.bash`"
            yield diagnose("MCP004", nodes[0].span, f"no file implements the {collection.key}", homes, hint)


def _wrong_names(homes: Iterable[str]) -> set[str]:
    """Return wrong names that a Bash file meant as one of `homes` may have."""
    return {home.removesuffix(".bash") + ending for home in homes for ending in (".sh", ".zsh") if ".bash" in home}


def _nothing_defined(tree: SourceTree) -> Diagnostic:
    empty = next((path for path in tree.files if is_definition(path) and path != SERVER), "")
    hint = "write a function with `@tool` in `tools.py`, or add a tool to `tools.json` and a function for it"
    return diagnose("MCP303", Span(empty) if empty else None, NOTHING_DEFINED, "", hint)
