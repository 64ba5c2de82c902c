"""The project's own format, which is also mcbox's: JSON files that define, Bash and Python files that implement.

Only files at fixed places at the top of the project mean something; every other file lies beside the handlers.  What a
definition says is not looked at here: a file is taken apart into objects, and `lower` judges those.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.definitions import Definition, Library, PromptDefinition, ServerDefinition, ToolDefinition
from mcpc.definitions.handling import command
from mcpc.definitions.kinds import mismatch
from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.frontends.decorated import decorated, marks_something
from mcpc.sources import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.options import Options
    from mcpc.sources import Member, Node, Source, SourceTree

LOOKS_FOR = (
    "`server.json` with `tools.json`, `tools.d/*.json`, `prompts.json` or `prompts.d/*.json`; "
    "or functions marked `@tool` or `@prompt` in `server.py`, `tools.py` or `prompts.py`"
)
SERVER = "server.json"
CONTRACT = "mcbox"
SHELL_LIBRARIES = ("tools.bash", "prompts.bash")


@dataclass(frozen=True, slots=True)
class Collection:
    """The files that define one kind of thing, and those that usually implement it."""

    kind: str
    key: str
    file: str
    folder: str
    homes: tuple[str, ...]


TOOLS = Collection("tool", "tools", "tools.json", "tools.d/", ("tools.bash", "tools.py"))
PROMPTS = Collection("prompt", "prompts", "prompts.json", "prompts.d/", ("prompts.bash", "prompts.py"))
COLLECTIONS = (TOOLS, PROMPTS)


def recognises(tree: SourceTree) -> bool:
    """Say whether a file that only this format has lies at the top of `tree`."""
    fixed = any(_defines(path) or path in SHELL_LIBRARIES for path in tree.files)
    return fixed or any(map(marks_something, tree.files.values()))


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Read every file of the format, in one order: `server.json`, tools, prompts, marked functions, libraries."""
    tools, found_in_tools = _collect(TOOLS, tree)
    prompts, found_in_prompts = _collect(PROMPTS, tree)
    marked, found_in_marks = decorated(tree, described=tree.get(SERVER) is not None)
    described = marked.describes and tree.get(SERVER) is None
    server, found = (marked.server, ()) if described else _server(tree)
    libraries = _libraries(tree, options, marked.files)
    problems = found + found_in_tools + found_in_prompts + found_in_marks
    if not has_errors(found_in_tools + found_in_prompts + found_in_marks):
        nothing = not tools and not prompts and not marked.tools and not marked.prompts
        problems += (_nothing_defined(tree),) if nothing else ()
        problems += tuple(_absences({TOOLS: tools, PROMPTS: prompts}, libraries))
    problems += tuple(_folders(tree))
    paths = {library.source.path for library in libraries}
    named = dict.fromkeys(path for path in tree.files if _defines(path) or path in paths)
    definition = Definition(
        format="native",
        contract=CONTRACT,
        server=server,
        tools=(*map(ToolDefinition, tools), *marked.tools),
        prompts=(*map(PromptDefinition, prompts), *marked.prompts),
        libraries=libraries,
        beside=tuple(source for path, source in tree.files.items() if path not in named),
        sources=tuple(tree.files[path] for path in named),
        complete=not has_errors(problems),
    )
    return definition, problems


def _folders(tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the places of files at which there are folders: what lies in them would be passed over in silence."""
    for folder in dict.fromkeys(path.rpartition("/")[0] for path in tree.files):
        if _defines(folder) or _is_library(folder):
            yield diagnose("MCP006", None, f"`{folder}` is a folder", "a file", "rename the folder")


def _defines(path: str) -> bool:
    return path == SERVER or any(path == one.file or _in_folder(path, one) for one in COLLECTIONS)


def _in_folder(path: str, collection: Collection) -> bool:
    name = path.removeprefix(collection.folder)
    return name != path and name.endswith(".json") and "/" not in name


def _is_library(path: str) -> bool:
    return any(path in one.homes for one in COLLECTIONS)


def _server(tree: SourceTree) -> tuple[ServerDefinition | None, Diagnostics]:
    source = tree.get(SERVER)
    if source is None:
        hint = "it names the server and its version, as `Server(name, version=...)` in a Python file does"
        return None, (diagnose("MCP004", None, f"`{SERVER}` is missing", "", hint),)
    node, problems = parse_json(source)
    return None if node is None else ServerDefinition(node), problems


def _libraries(tree: SourceTree, options: Options, marked: Sequence[str]) -> tuple[Library, ...]:
    """Return the libraries that are there.  One shell reads both Bash files, so each may hold either kind.

    In `server.py` only marked functions are handlers; without one it is a file beside the handlers.
    """
    tool, prompt = options.tools_prefix, options.prompts_prefix
    shell = (("tool", tool), ("prompt", prompt))
    rows: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
        ("tools.bash", "bash", shell),
        ("tools.py", "python", (("tool", ""), ("tool", tool))),
        ("prompts.bash", "bash", shell),
        ("prompts.py", "python", (("prompt", ""), ("prompt", prompt))),
    )
    rows += (("server.py", "python", ()),) if "server.py" in marked else ()
    found = ((tree.get(path), language, prefixes) for path, language, prefixes in rows)
    return tuple(Library(source, language, prefixes) for source, language, prefixes in found if source is not None)


def _collect(collection: Collection, tree: SourceTree) -> tuple[tuple[Node, ...], Diagnostics]:
    """Return the definitions of one kind: those of the one file, then those of the folder in the order of its names."""
    folder = [path for path in tree.files if _in_folder(path, collection)]
    nodes: list[Node] = []
    problems: list[Diagnostic] = []
    for source in map(tree.get, (collection.file, *folder)):
        if source is not None:
            defined, found = _read(source, collection)
            nodes += defined
            problems += found
    return tuple(nodes), tuple(problems)


def _read(source: Source, collection: Collection) -> tuple[tuple[Node, ...], Diagnostics]:
    """Take one file apart; in the folder a file may also be a single definition."""
    node, problems = parse_json(source)
    if node is None:
        return (), problems
    listed = node.get(collection.key) if node.kind == "object" else None
    if listed is None and node.kind == "object" and source.path != collection.file:
        return (node,), problems
    return () if listed is None else listed.items, (*problems, *_misshapen(node, collection))


def _misshapen(node: Node, collection: Collection) -> Iterator[Diagnostic]:
    """Yield what keeps `node` from being `{"tools": […]}` and nothing else: mcbox takes no other key beside it."""
    shape = f'`{{"{collection.key}": […]}}`'
    if node.kind != "object":
        yield diagnose("MCP101", node.span, mismatch(f"`{node.path}`", "object", node), shape)
        return
    for member in node.members:
        if member.key != collection.key:
            yield _stranger(member, node, collection)
        elif member.node.kind != "array":
            yield diagnose("MCP101", member.node.span, mismatch(f"`{member.key}`", "array", member.node), shape)
    if node.get(collection.key) is None:
        yield diagnose("MCP102", node.span, f"`{node.path}` has no `{collection.key}`", shape)


def _stranger(member: Member, node: Node, collection: Collection) -> Diagnostic:
    lost = node.get(collection.key) is None and difflib.get_close_matches(member.key, [collection.key])
    hint = f"did you mean `{collection.key}`?" if lost else ""
    message = f"`{node.path}` may hold only `{collection.key}`, found `{member.key}`"
    return diagnose("MCP107", member.key_span, message, "", hint)


def _absences(defined: dict[Collection, tuple[Node, ...]], libraries: tuple[Library, ...]) -> Iterator[Diagnostic]:
    """Yield the files that a project of well-formed definitions still lacks to implement them."""
    served = {kind for library in libraries for kind, _ in library.prefixes}
    for collection, written in defined.items():
        nodes = [node for node in written if command(node) is None]
        if nodes and collection.kind not in served:
            homes = " or ".join(f"`{home}`" for home in collection.homes)
            hint = f"add {homes}, with one function for each {collection.kind}"
            yield diagnose("MCP004", nodes[0].span, f"no file implements the {collection.key}", homes, hint)


def _nothing_defined(tree: SourceTree) -> Diagnostic:
    empty = next((path for path in tree.files if _defines(path) and path != SERVER), "")
    code, span = ("MCP107", Span(empty)) if empty else ("MCP004", None)
    hint = "write a function in `tools.py` and mark it `@tool`, or add a tool to `tools.json` and a function for it"
    return diagnose(code, span, "the project defines neither tools nor prompts", "", hint)
