"""The project's own format, which is also mcbox's: JSON files that define, Bash and Python files that implement.

Only files at fixed places at the top of the project mean something; every other file lies beside the handlers.  What a
definition says is not looked at here: a file is taken apart into objects, and `lower` judges those.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.definitions import (
    CompletionDefinition,
    Definition,
    Library,
    PromptDefinition,
    ResourceDefinition,
    ServerDefinition,
    TemplateDefinition,
    ToolDefinition,
)
from mcpc.definitions.handling import CONTENTS, command, is_elsewhere
from mcpc.definitions.kinds import mismatch
from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.frontends.decorated import decorated, marks_something
from mcpc.frontends.project import project_server, with_project
from mcpc.frontends.skills import skills
from mcpc.sources import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.options import Options
    from mcpc.sources import Member, Node, Source, SourceTree

LOOKS_FOR = (
    "`server.json` with `tools.json`, `prompts.json` or `resources.json`, or `*.json` in `tools.d`, `prompts.d` or "
    "`resources.d`; or functions marked `@tool`, `@prompt` or `@resource` in `server.py`, `tools.py`, `prompts.py` or "
    "`resources.py`"
)
SERVER = "server.json"
NOTHING = "the project defines neither tools nor prompts nor resources"
MARKS_OF_ANOTHER = re.compile(rb"@(?:mcpc\.)?mcp_(?:tool|resource|prompt)\b")
SHELL_LIBRARIES = ("tools.bash", "prompts.bash")


@dataclass(frozen=True, slots=True)
class Collection:
    """The files that define one kind of thing, and those that usually implement it.

    `others`: keys of other lists that the files may hold, each with the kind of its items.
    """

    kind: str
    key: str
    homes: tuple[str, ...]
    others: tuple[tuple[str, str], ...] = ()

    @property
    def file(self) -> str:
        """The one file."""
        return f"{self.key}.json"

    @property
    def folder(self) -> str:
        """The folder with more of them."""
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
LATER = (RESOURCES, COMPLETIONS)
"""What mcbox has not: unless some are defined, files and functions of their names may be there for anything."""


def recognises(tree: SourceTree) -> bool:
    """Say whether a file that only this format has lies at the top of `tree`."""
    fixed = any(is_definition(path) or path in SHELL_LIBRARIES for path in tree.files)
    return fixed or any(map(marks_something, tree.files.values()))


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Read every file of the format, in one order: `server.json`, tools, prompts, marked functions, libraries."""
    written, found_in_files = _written(tree)
    marked, found_in_marks = decorated(tree, described=tree.get(SERVER) is not None)
    described = marked.describes and tree.get(SERVER) is None
    server, found = (marked.server, ()) if described else _server(tree)
    is_said = described or tree.get(SERVER) is not None
    server = with_project(server, tree) if is_said else project_server(tree)
    libraries = _libraries(tree, options, marked.files)
    problems = found + found_in_files + found_in_marks
    if not has_errors(found_in_files + found_in_marks):
        nothing = not any(written[kind] for kind in OFFERED) and not marked.offers and not skills(tree)
        nothing = nothing and not any(MARKS_OF_ANOTHER.search(source.data) for source in tree.files.values())
        problems += (_nothing_defined(tree),) if nothing else ()
        problems += tuple(_absences(written, libraries, tree))
    problems += tuple(_folders(tree))
    folders = skills(tree)
    paths = {library.source.path for library in libraries} | {file.path for skill in folders for file in skill.files}
    named = dict.fromkeys(path for path in tree.files if is_definition(path) or path in paths)
    definition = Definition(
        format="native",
        server=server,
        tools=(*map(ToolDefinition, written["tool"]), *marked.tools),
        prompts=(*map(PromptDefinition, written["prompt"]), *marked.prompts),
        resources=(*map(ResourceDefinition, written["resource"]), *marked.resources),
        templates=(*map(TemplateDefinition, written[TEMPLATE]), *marked.templates),
        completions=(*map(CompletionDefinition, written["completion"]), *marked.completions),
        skills=folders,
        libraries=libraries,
        beside=tuple(source for path, source in tree.files.items() if path not in named),
        sources=tuple(tree.files[path] for path in named),
        described=marked.describes or tree.get(SERVER) is not None or server is not None,
        complete=server is not None and not has_errors(problems),
        homes=tuple(
            (kind, one.homes) for one in COLLECTIONS if not paths & {*one.homes} for kind in one.lists.values()
        ),
    )
    return definition, problems


def _folders(tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the places of files at which there are folders: what lies in them would be passed over in silence."""
    for folder in dict.fromkeys(path.rpartition("/")[0] for path in tree.files):
        if is_definition(folder) or _is_library(folder):
            yield diagnose("MCP006", None, f"`{folder}` is a folder", "a file", "rename the folder")


def is_definition(path: str) -> bool:
    """Tell whether a file only defines: it says nothing that handlers want."""
    return path == SERVER or any(path == one.file or _in_folder(path, one) for one in COLLECTIONS)


def _in_folder(path: str, collection: Collection) -> bool:
    name = path.removeprefix(collection.folder)
    return name != path and name.endswith(".json") and "/" not in name


def _is_library(path: str) -> bool:
    return any(path in one.homes for one in COLLECTIONS)


def undescribed() -> Diagnostic:
    """Return what is wrong with a project of which nothing describes the server."""
    hint = "it names the server and its version, as `Server(name, version=...)` in a Python file does"
    return diagnose("MCP004", None, f"`{SERVER}` is missing", "", hint)


def _server(tree: SourceTree) -> tuple[ServerDefinition | None, Diagnostics]:
    source = tree.get(SERVER)
    if source is None:
        return None, ()
    node, problems = parse_json(source)
    return None if node is None else ServerDefinition(node), problems


def _libraries(tree: SourceTree, options: Options, marked: Sequence[str]) -> tuple[Library, ...]:
    """Return the libraries that are there.  One shell reads all Bash files, so each may hold any kind.

    In `server.py` only marked functions are handlers; without one it is a file beside the handlers.
    """
    prefixes = {"tool": options.tools_prefix, "prompt": options.prompts_prefix, **PREFIXES}
    later = [one for one in LATER if any(path == one.file or _in_folder(path, one) for path in tree.files)]
    shared = [kind for one in (TOOLS, PROMPTS, *later) for kind in one.lists.values()]
    found = []
    for collection in COLLECTIONS:
        kinds = [*collection.lists.values()]
        rows = {
            "bash": [(kind, prefixes[kind]) for kind in dict.fromkeys((*shared, *kinds))],
            "python": [(kind, prefix) for kind in kinds for prefix in ("", prefixes[kind])],
        }
        is_there = collection not in LATER or collection in later
        sources = [tree.get(home) if is_there or home in marked else None for home in collection.homes]
        found += [
            Library(source, language, tuple(served))
            for (language, served), source in zip(rows.items(), sources, strict=True)
            if source
        ]
    server = tree.get("server.py") if "server.py" in marked else None
    return tuple(found if server is None else [*found, Library(server, "python", ())])


PREFIXES = {"resource": "resource_", TEMPLATE: "resource_", "completion": "complete_"}
"""What functions begin with that implement what mcbox has not."""
OFFERED = ("tool", "prompt", "resource", TEMPLATE)
"""Kinds of which one is enough to make a server."""


def _written(tree: SourceTree) -> tuple[dict[str, list[Node]], Diagnostics]:
    """Return the definitions that JSON files hold, by kind, and what is wrong with those files."""
    written: dict[str, list[Node]] = {kind: [] for one in COLLECTIONS for kind in one.lists.values()}
    problems: list[Diagnostic] = []
    for collection in COLLECTIONS:
        for kind, nodes, found in _collect(collection, tree):
            written[kind] += nodes
            problems += found
    return written, tuple(problems)


def _collect(collection: Collection, tree: SourceTree) -> Iterator[tuple[str, tuple[Node, ...], Diagnostics]]:
    """Yield the definitions of a collection: those of the one file, then those of the folder in the order of names."""
    folder = [path for path in tree.files if _in_folder(path, collection)]
    for source in map(tree.get, (collection.file, *folder)):
        if source is not None:
            yield from _read(source, collection)


def _read(source: Source, collection: Collection) -> Iterator[tuple[str, tuple[Node, ...], Diagnostics]]:
    """Take one file apart; in the folder a file may also be a single definition."""
    node, problems = parse_json(source)
    yield collection.kind, (), problems
    if node is None:
        return
    listed = {kind: node.get(key) for key, kind in collection.lists.items()} if node.kind == "object" else {}
    if node.kind == "object" and source.path != collection.file and not any(listed.values()):
        yield TEMPLATE if node.get("uriTemplate") and collection is RESOURCES else collection.kind, (node,), ()
        return
    for kind, found in listed.items():
        yield kind, found.items if found is not None else (), ()
    yield collection.kind, (), tuple(_misshapen(node, collection))


def _misshapen(node: Node, collection: Collection) -> Iterator[Diagnostic]:
    """Yield what keeps `node` from being `{"tools": […]}` and nothing else: mcbox takes no other key beside it."""
    shape = f'`{{"{collection.key}": […]}}`'
    if node.kind != "object":
        yield diagnose("MCP101", node.span, mismatch(f"`{node.path}`", "object", node), shape)
        return
    for member in node.members:
        if member.key not in collection.lists:
            yield _stranger(member, node, collection)
        elif member.node.kind != "array":
            yield diagnose("MCP101", member.node.span, mismatch(f"`{member.key}`", "array", member.node), shape)
    if all(node.get(key) is None for key in collection.lists):
        yield diagnose("MCP102", node.span, f"`{node.path}` has no `{collection.key}`", shape)


def _stranger(member: Member, node: Node, collection: Collection) -> Diagnostic:
    keys = [key for key in collection.lists if node.get(key) is None]
    near = difflib.get_close_matches(member.key, keys, n=1)
    hint = f"did you mean `{near[0]}`?" if near else ""
    allowed = " and ".join(f"`{key}`" for key in collection.lists)
    message = f"`{node.path}` may hold only {allowed}, found `{member.key}`"
    return diagnose("MCP107", member.key_span, message, "", hint)


def _absences(written: dict[str, list[Node]], libraries: tuple[Library, ...], tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the files that a project of well-formed definitions still lacks to implement them."""
    served = {kind for library in libraries for kind, _ in library.prefixes}
    for collection in COLLECTIONS:
        kinds = collection.lists.values()
        nodes = [node for kind in kinds for node in written[kind] if command(node) is None and _is_bare(node)]
        nodes = [node for node in nodes if not is_elsewhere(node)]
        if nodes and collection.kind not in served:
            homes = " or ".join(f"`{home}`" for home in collection.homes)
            meant = next((path for path in tree.files if path in _misnamed(collection.homes)), "")
            hint = f"add {homes}, with one function for each {collection.kind}"
            if meant:
                hint = f"`{meant}` is not read: rename it to `{meant.rpartition('.')[0]}.bash`"
            yield diagnose("MCP004", nodes[0].span, f"no file implements the {collection.key}", homes, hint)


def _misnamed(homes: Iterable[str]) -> set[str]:
    """Return the names that a Bash file has which was meant for one of these."""
    return {home.removesuffix(".bash") + ending for home in homes for ending in (".sh", ".zsh") if ".bash" in home}


def _is_bare(node: Node) -> bool:
    """Say whether a definition has no content of its own; a tool or a prompt never has any."""
    return all(node.get(key) is None for key in CONTENTS)


def _nothing_defined(tree: SourceTree) -> Diagnostic:
    empty = next((path for path in tree.files if is_definition(path) and path != SERVER), "")
    code, span = ("MCP107", Span(empty)) if empty else ("MCP004", None)
    hint = "write a function in `tools.py` and mark it `@tool`, or add a tool to `tools.json` and a function for it"
    return diagnose(code, span, NOTHING, "", hint)
