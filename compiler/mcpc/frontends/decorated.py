"""Definitions that are marked Python functions: the same nodes as JSON gives, with places in the Python file.

    @tool                       {"name": "add", "inputSchema": {"properties": {"a": {"type": "integer"}}, …}, …}
    def add(a: int) -> int: …   where `name` stands at `add`, the key `a` at `a`, and its schema at `int`

Every value has the place of what said it; what nobody wrote has the place of the function's name.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from itertools import starmap
from typing import TYPE_CHECKING

from mcpc.definitions import (
    Bound,
    CompletionDefinition,
    PromptDefinition,
    ResourceDefinition,
    ServerDefinition,
    TemplateDefinition,
    ToolDefinition,
)
from mcpc.definitions.handling import HANDLER, HANDLERS
from mcpc.dependencies.missing import advice
from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.project import project_info
from mcpc.introspection import KINDS, ask, find, servers_of
from mcpc.introspection.places import line
from mcpc.introspection.unimported import read
from mcpc.languages import imports
from mcpc.sources import Member, Node

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.introspection import Answers, Failure, Mark, MarkedFile, ServerMark
    from mcpc.sources import Json, Source, SourceTree

HOMES = ("tools.py", "prompts.py", "resources.py", "completions.py", "server.py")
VERSION = "0.1.0"
"""The version of a server whose `Server(...)` says none, and whose project has none."""
ELSEWHERE = "define it in " + ", ".join(f"`{home}`" for home in HOMES)


@dataclass(frozen=True, slots=True)
class Family:
    """Kinds of marks that belong together, the files in which they define something, and what to do about others.

    `unheard`: files whose `Server(...)` another family reads.
    """

    kinds: Mapping[str, tuple[str, ...]]
    homes: tuple[str, ...]
    elsewhere: str
    unheard: tuple[str, ...] = ()


OWN = Family(KINDS, HOMES, ELSEWHERE)
Places = dict[tuple[str, ...], Span]
"""The place of the value at a path of keys, and of what is below it; `(…, KEY)` is the place of the key itself."""
KEY = "\0key"


@dataclass(frozen=True, slots=True)
class Decorated:
    """What the marks of a project define, and the files they are in.

    `describes`: one of them has a `Server(...)`, or may have, even if nothing could be learned of it.
    """

    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    resources: tuple[ResourceDefinition, ...] = ()
    templates: tuple[TemplateDefinition, ...] = ()
    completions: tuple[CompletionDefinition, ...] = ()
    server: ServerDefinition | None = None
    files: tuple[str, ...] = ()
    describes: bool = False

    @property
    def offers(self) -> bool:
        """Whether clients are offered anything."""
        return bool(self.tools or self.prompts or self.resources or self.templates)


def marks_something(source: Source) -> bool:
    """Tell whether a file at one of the places has a mark, or tries to."""
    return source.path in HOMES and find(source, {}) is not None


def decorated(tree: SourceTree, *, described: bool, family: Family = OWN) -> tuple[Decorated, Diagnostics]:
    """Return what marked functions define; `described`: the server itself is described elsewhere."""
    shared = dict(_shared(tree))
    found = [file for source in tree.files.values() for file in [find(source, shared, family.kinds)] if file]
    found = [replace(file, servers=()) if file.source.path in family.unheard else file for file in found]
    homes = {path: place for place, path in enumerate(family.homes)}
    files = sorted((file for file in found if file.source.path in homes), key=lambda file: homes[file.source.path])
    problems = [problem for file in files for problem in file.problems]
    strangers = [file for file in found if file not in files]
    problems += (problem for file in strangers for problem in _elsewhere(file, described, family))
    runnable = [file for file in files if file.runs and (file.marks or file.servers)]
    describes = any(file.servers or not file.runs for file in files)
    nothing = Decorated(files=tuple(file.source.path for file in files), describes=describes)
    if not runnable:
        return nothing, tuple(problems)
    answers, asking = ask(runnable, tree) if tree.imports else read(runnable)
    problems += asking
    if answers is None:
        return nothing, tuple(problems)
    written, described_wrong = _definitions(runnable, answers, tree)
    problems += (*described_wrong, *_strays(answers, found, family))
    server, about_server = _server(runnable, answers, tree, described=described)
    whole = replace(
        nothing,
        tools=tuple(starmap(ToolDefinition, written["tool"])),
        prompts=tuple(starmap(PromptDefinition, written["prompt"])),
        resources=tuple(starmap(ResourceDefinition, written["resource"])),
        templates=tuple(starmap(TemplateDefinition, written[TEMPLATE])),
        completions=tuple(starmap(CompletionDefinition, written["completion"])),
        server=server,
    )
    return whole, (*problems, *about_server)


def _shared(tree: SourceTree) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the modules of the project that name a server, each with its names."""
    for path, source in tree.files.items():
        names = servers_of(source) if path.endswith(".py") else frozenset()
        if names:
            yield path.removesuffix(".py").removesuffix("/__init__").replace("/", "."), names


def _elsewhere(file: MarkedFile, described: bool, family: Family) -> Iterator[Diagnostic]:
    """Yield the marks of a file in which nobody looks for definitions."""
    for mark in file.marks:
        message = f"`{mark.function}` is marked in a file that defines nothing"
        there = f"{family.elsewhere}, or mark it there: `{mark.kind}({mark.function})`"
        yield diagnose("MCP224", mark.span, message, "", there)
    for server in () if described else file.servers:
        yield diagnose("MCP224", server.span, "this `Server` is in a file that defines nothing", "", family.elsewhere)


def _strays(answers: Answers, files: list[MarkedFile], family: Family) -> Iterator[Diagnostic]:
    """Yield the functions that have a mark when the files have run, and had none in the source."""
    sources = {file.source.path: file.source for file in files}
    told = {(file.source.path, name) for file in files for name in file.seen}
    for stray in answers.strays:
        path, function = str(stray["path"]), str(stray["function"])
        if (path, function) not in told and not family.kinds.keys().isdisjoint(_words(stray["kinds"])):
            span = line(sources[path], int(str(stray["line"]))) if path in sources else Span(path)
            hint = "write the mark where the function is defined, at the top of the file"
            yield diagnose("MCP220", span, f"`{function}` is marked only while the file runs", "", hint)


TEMPLATE = "resource template"


def _definitions(
    files: list[MarkedFile], answers: Answers, tree: SourceTree
) -> tuple[dict[str, list[tuple[Node, Bound]]], Diagnostics]:
    """Return the definitions by kind, and what is wrong with them."""
    written: dict[str, list[tuple[Node, Bound]]] = {kind: [] for kind in (*KINDS, TEMPLATE)}
    problems: list[Diagnostic] = []
    for file in files:
        answer = answers.files.get(file.source.path)
        if answer is None:
            continue  # the file before it ended the process
        if answer.failure:
            problems.append(_unasked(file.source.path, answer.failure, tree))
        for mark, row in zip(file.marks, answer.marks, strict=bool(answer.marks)):
            found = tuple(_problems(mark, row))
            problems += found
            if not found:
                node = node_of(row["definition"], mark.span, (), _places(mark))
                bound = Bound(file.source.path, mark.function, mark.span, _words(row["binding"]), str(row["context"]))
                kind = mark.kind.removeprefix("mcp_")
                written[TEMPLATE if node.get("uriTemplate") else kind].append((node, bound))
    return written, tuple(problems)


def _words(value: Json) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


ABSENT = re.compile(r"it raises ModuleNotFoundError: No module named '(?P<name>[^'.]+)'")


def _unasked(path: str, failure: Failure, tree: SourceTree) -> Diagnostic:
    """Return why a file could not be imported, at the line of the project where that shows."""
    source = tree.get(failure.path)
    span = line(source, failure.line) if source and failure.line else Span(failure.path)
    absent = ABSENT.match(failure.message)
    own = {name.partition("/")[0].removesuffix(".py") for name in tree.files if name.endswith(".py")}
    if absent and source and absent["name"] not in own:
        return _absent(absent["name"], source, span, own)
    hint = "what a marked function offers is asked of Python: the file has to be importable without its server"
    return diagnose("MCP216", span, f"`{path}` cannot be imported: {failure.message}", "", hint)


def _absent(name: str, source: Source, span: Span, own: Collection[str]) -> Diagnostic:
    """Return that a module is not there, at the import of it, or of what needs it."""
    there = (found for module, found in imports(source) if module == name)
    hint = advice(name, (*sorted(own), *sorted(sys.stdlib_module_names)))
    return diagnose("MCP209", next(there, span), f"the module `{name}` will not be there", "", hint)


def _problems(mark: Mark, row: Mapping[str, Json]) -> Iterator[Diagnostic]:
    found = row["problems"]
    for problem in found if isinstance(found, list) else ():
        if isinstance(problem, dict):
            texts = {key: str(value) for key, value in problem.items()}
            yield diagnose(texts["code"], _where(mark, texts["where"]), texts["message"], "", texts["hint"])


def _where(mark: Mark, where: str) -> Span:
    """Return the place that a problem names: `function`, `returns`, `parameter x`, `default x`, `option x`."""
    what, _, name = where.partition(" ")
    if what in ("parameter", "default") and name in mark.parameters:
        parameter = mark.parameters[name]
        if what == "default" and parameter.default:
            return parameter.default
        return parameter.annotation or parameter.name
    if what == "option":
        return mark.options.get(name, mark.span)
    return (mark.returns if what == "returns" else None) or mark.span


def _places(mark: Mark) -> Places:
    """Return where the parts of a definition were written."""
    documented = mark.docstring or mark.span
    places: Places = {("description",): documented, ("outputSchema",): mark.returns or mark.span}
    for option, key in OPTIONS.items():
        if option in mark.options:
            places[(key,)] = mark.options[option]
    if "uri" in mark.options:
        places["uriTemplate",] = mark.options["uri"]
    for option in RUNNING:
        if option in mark.options:
            places["_meta", HANDLER, option] = mark.options[option]
    for name, parameter in mark.parameters.items():
        written = parameter.annotation or parameter.name
        places["inputSchema", "properties", name] = written
        places["inputSchema", "properties", name, KEY] = parameter.name
        places["inputSchema", "required", name] = parameter.name
        places["arguments", name] = parameter.name
        if parameter.default:
            places["inputSchema", "properties", name, "default"] = parameter.default
    return places


OPTIONS = {
    "name": "name",
    "title": "title",
    "description": "description",
    "annotations": "annotations",
    "icons": "icons",
    "meta": "_meta",
    "output_schema": "outputSchema",
    "uri": "uri",
    "mime_type": "mimeType",
    "size": "size",
    "ref": "ref",
    "argument": "argument",
}
"""The members that a keyword of a mark says."""
RUNNING = ("timeout", "inline", "environment", "requires", "task")
"""The keywords that say how a function is run; they stand in an object in `_meta`."""


def node_of(value: Json, span: Span, path: tuple[str, ...], places: Places) -> Node:
    """Return a value as a node; it stands where its path says, else where what holds it stands."""
    span = places.get(path, span)
    members: list[Member] = []
    items: list[Node] = []
    if isinstance(value, dict):
        for key, part in value.items():
            node = node_of(part, span, (*path, key), places)
            where = places.get((*path, key, KEY), places.get((*path, key), span))
            members.append(Member(key, where.start, where.end, node))
    elif isinstance(value, list):
        items = [node_of(item, span, (*path, _label(item)), places) for item in value]
    return Node(value, span.path, span.start, span.end, tuple(members), tuple(items))


def _label(item: Json) -> str:
    """Return what an item of a list is found by: itself, or its name."""
    return str(item.get("name", "")) if isinstance(item, dict) else str(item)


def _server(
    files: list[MarkedFile], answers: Answers, tree: SourceTree, *, described: bool
) -> tuple[ServerDefinition | None, Diagnostics]:
    """Return what the one `Server` says of itself; nothing if `server.json` does."""
    found = [
        (server, answers.files[file.source.path].servers[server.name])
        for file in files
        for server in file.servers
        if file.source.path in answers.files and server.name in answers.files[file.source.path].servers
    ]
    problems = [
        diagnose("MCP220", server.span, "a project is one server, and this is another `Server`", "", "use the first")
        for server, _ in found[1:]
    ]
    if described:
        problems += (problem for server, said in found for problem in _unheard(server, said))
        return None, tuple(problems)
    if not found:
        return None, tuple(problems)
    server, said = found[0]
    wrong = said.get("problems", [])
    for row in wrong if isinstance(wrong, list) else ():
        if isinstance(row, dict):
            span = server.options.get(str(row["where"]).removeprefix("option "), server.span)
            problems.append(diagnose(str(row["code"]), span, str(row["message"])))
    return ServerDefinition(_described(server, said.get("said", {}), project_info(tree))), tuple(problems)


def _unheard(server: ServerMark, said: Mapping[str, Json]) -> Iterator[Diagnostic]:
    """Yield what a `Server` says although `server.json` decides."""
    for name in ("instructions", "version"):
        if name in server.options:
            hint = "say it in one place: remove it here, or delete `server.json`"
            yield diagnose("MCP222", server.options[name], f"`{name}` is said by `server.json`", "", hint)


def _described(server: ServerMark, said: Json, project: Mapping[str, str]) -> Node:
    """Return what a `Server` says of itself; `project`: what the project says that it does not."""
    given = said if isinstance(said, dict) else {}
    info = {**project, **{FIELDS[name]: value for name, value in given.items() if name in FIELDS}}
    if "name" in info:
        info["version"] = info.get("version", VERSION)
    value: dict[str, Json] = {"serverInfo": info}
    if "instructions" in given:
        value["instructions"] = given["instructions"]
    running = {name: given[name] for name in RUNNING if name in given}
    if running:
        value["_meta"] = {HANDLERS: running}
    places: Places = {("serverInfo", FIELDS[name]): span for name, span in server.options.items() if name in FIELDS}
    places |= {("_meta", HANDLERS, name): span for name, span in server.options.items() if name in RUNNING}
    places["instructions",] = server.options.get("instructions", server.span)
    return node_of(value, server.span, (), places)


FIELDS = {
    "name": "name",
    "title": "title",
    "version": "version",
    "description": "description",
    "website_url": "websiteUrl",
    "icons": "icons",
}
"""What the keywords of `Server` are called in `serverInfo`."""
