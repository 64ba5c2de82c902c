"""Definitions by decorated Python functions: the same nodes as from JSON, with spans in the Python file.

    @tool                       {"name": "add", "inputSchema": {"properties": {"a": {"type": "integer"}}, …}, …}
    def add(a: int) -> int: …   where `name` stands at `add`, the key `a` at `a`, and its schema at `int`

Every value has the span of the code that defines it; an implied value has the span of the function's name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import starmap
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import quoted
from mcpc.frontends.causes import line_span
from mcpc.frontends.fastmcp.build_environment import baked_values
from mcpc.frontends.fastmcp.imports import uses_framework
from mcpc.frontends.fastmcp.read_settings import settings_note, settings_read
from mcpc.frontends.import_failures import import_failure, other_faults, with_meant_name, with_syntax
from mcpc.frontends.introspection import KINDS, describe_files, find_decorated, server_names
from mcpc.frontends.introspection.process import read_without_import
from mcpc.frontends.project import build_environment, project_info
from mcpc.model.definitions import (
    HANDLER_KEY,
    HANDLERS_KEY,
    CompletionDefinition,
    DecoratedFunction,
    PromptDefinition,
    ResourceDefinition,
    ServerDefinition,
    TemplateDefinition,
    ToolDefinition,
)
from mcpc.packages import read_requirements
from mcpc.reading import Member, Node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.introspection import DecoratedFile, Decorator, ImportResults, ServerObject
    from mcpc.model.ir.project import Setting
    from mcpc.reading import Json, Source, SourceTree

DEFINITION_FILES = ("tools.py", "prompts.py", "resources.py", "completions.py", "server.py")
VERSION = "0.1.0"
"""Version of a server if neither its `Server(...)` nor the project defines one."""
WHERE_TO_DEFINE = "define it in " + quoted(DEFINITION_FILES)


@dataclass(frozen=True, slots=True)
class DecoratorFamily:
    """A group of decorators, the files in which they define something, and what to do about others.

    `unheard`: files whose `Server(...)` another family reads.
    """

    kinds: Mapping[str, tuple[str, ...]]
    homes: tuple[str, ...]
    elsewhere: str
    unheard: tuple[str, ...] = ()


NATIVE_FAMILY = DecoratorFamily(KINDS, DEFINITION_FILES, WHERE_TO_DEFINE)
SpanTable = dict[tuple[str, ...], Span]
"""The span of the value at a path of keys, and of all below it; `(…, KEY)` is the span of the key itself."""
# No key of a definition is written so.
KEY = "\0key"
WRONG_PYTHON = "MCP416"
"""The code of a project that requires another Python, which may be why a file has syntax that this one cannot read."""


@dataclass(frozen=True, slots=True)
class DecoratedDefinitions:
    """The definitions that a project's decorators make, and the files that contain them.

    `describes`: one of the files has a `Server(...)`, or may have one that could not be read. `settings_read`: the
    fields of classes of pydantic-settings that no `Server(...)` names.
    """

    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    resources: tuple[ResourceDefinition, ...] = ()
    templates: tuple[TemplateDefinition, ...] = ()
    completions: tuple[CompletionDefinition, ...] = ()
    server: ServerDefinition | None = None
    files: tuple[str, ...] = ()
    describes: bool = False
    settings_read: tuple[Setting, ...] = ()

    @property
    def offers(self) -> bool:
        """Whether clients are offered anything."""
        return bool(self.tools or self.prompts or self.resources or self.templates)


def has_decorators(source: Source) -> bool:
    """Tell whether a definition file has a decorator, or tries to use one; those of a framework do not count."""
    return source.path in DEFINITION_FILES and not uses_framework(source) and find_decorated(source, {}) is not None


def read_decorated(
    tree: SourceTree, *, described: bool, family: DecoratorFamily = NATIVE_FAMILY
) -> tuple[DecoratedDefinitions, Diagnostics]:
    """Return the definitions of decorated functions; `described`: the server itself is described elsewhere."""
    shared = dict(_server_modules(tree))
    sources = [source for source in tree.files.values() if not uses_framework(source)]
    decorated = [file for source in sources for file in [find_decorated(source, shared, family.kinds)] if file]
    decorated = [replace(file, servers=()) if file.source.path in family.unheard else file for file in decorated]
    homes = {path: place for place, path in enumerate(family.homes)}
    files = sorted((file for file in decorated if file.source.path in homes), key=lambda file: homes[file.source.path])
    problems = [problem for file in files for problem in file.problems]
    strangers = [file for file in decorated if file not in files]
    problems += (problem for file in strangers for problem in _misplaced_decorators(file, described, family))
    if any(problem.code == "MCP205" for problem in problems):
        problems += (problem for problem in read_requirements(tree)[1] if problem.code == WRONG_PYTHON)
    defining = [file for file in files if file.marks or file.servers]
    describes = any(file.servers or not file.runs for file in files)
    nothing = DecoratedDefinitions(files=tuple(file.source.path for file in files), describes=describes)
    if not defining:
        return nothing, tuple(problems)
    answers, asking = _describe([file for file in defining if file.runs], tree)
    problems += asking
    if answers is None:
        return nothing, tuple(problems)
    problems += (fault for file in defining for fault in other_faults(file, answers, tree))
    answers = with_syntax(defining, answers)
    definitions, described_wrong = _definitions(defining, answers, tree)
    problems += (*described_wrong, *_undetected_decorators(answers, decorated, family))
    server, about_server = _server(defining, answers, tree, described=described)
    read = tuple(_settings(answers, defining[0].source.path, tree))
    problems += settings_note(read, defining[0].source.path, tree)
    whole = replace(
        nothing,
        tools=tuple(starmap(ToolDefinition, definitions["tool"])),
        prompts=tuple(starmap(PromptDefinition, definitions["prompt"])),
        resources=tuple(starmap(ResourceDefinition, definitions["resource"])),
        templates=tuple(starmap(TemplateDefinition, definitions[TEMPLATE])),
        completions=tuple(starmap(CompletionDefinition, definitions["completion"])),
        server=server,
        settings_read=read,
    )
    return whole, (*problems, *about_server)


def _settings(answers: ImportResults, main: str, tree: SourceTree) -> Iterator[Setting]:
    """Yield the settings of a project's classes that no `Server(...)` names.

    One is required if the build had to give it a value: what was imported without a value has another way to get one.
    """
    servers = (said.get("said", {}) for file in answers.files.values() for said in file.servers.values())
    listed = (rows for said in servers if isinstance(said, dict) for rows in [said.get("settings")])
    named = {row.get("name") for rows in listed if isinstance(rows, list) for row in rows if isinstance(row, dict)}
    rows = [row for row in answers.settings if row.get("name") not in named]
    given = dict(build_environment(tree))
    needed = frozenset(str(row["name"]) for row in rows if row.get("needed") is True and row.get("name") in given)
    yield from settings_read(rows, needed, (), main, tree)


def _describe(files: list[DecoratedFile], tree: SourceTree) -> tuple[ImportResults | None, Diagnostics]:
    """Return the descriptions of files that may be imported, and the values of `--build-env` that are in them."""
    if not files or not tree.options.imports:
        return read_without_import(files)
    answers, problems = describe_files(files, tree, build_environment(tree))
    if answers is not None:
        for path, answer in answers.files.items():
            problems += (*baked_values((answer.marks, answer.servers), dict(tree.options.build_environment), path),)
    return answers, problems


def _server_modules(tree: SourceTree) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the modules of the project that name a server, each with its names."""
    for path, source in tree.files.items():
        names = server_names(source) if path.endswith(".py") else frozenset()
        if names:
            yield path.removesuffix(".py").removesuffix("/__init__").replace("/", "."), names


def _misplaced_decorators(file: DecoratedFile, described: bool, family: DecoratorFamily) -> Iterator[Diagnostic]:
    """Yield problems of decorators in files where definitions are not read."""
    for decorator in file.marks:
        message = f"`{decorator.function}` is decorated in a file where definitions are not read"
        there = f"{family.elsewhere}, or decorate it there: `{decorator.kind}({decorator.function})`"
        yield diagnose("MCP224", decorator.span, message, "", there)
    for server in () if described else file.servers:
        yield diagnose(
            "MCP224", server.span, "this `Server` is in a file where definitions are not read", "", family.elsewhere
        )


def _undetected_decorators(
    answers: ImportResults, files: list[DecoratedFile], family: DecoratorFamily
) -> Iterator[Diagnostic]:
    """Yield functions that are decorated after the files have run, but not in the source."""
    sources = {file.source.path: file.source for file in files}
    told = {(file.source.path, name) for file in files for name in file.seen}
    for stray in answers.strays:
        path, function = str(stray["path"]), str(stray["function"])
        if (path, function) not in told and not family.kinds.keys().isdisjoint(_strings(stray["kinds"])):
            span = line_span(sources[path], int(str(stray["line"]))) if path in sources else Span(path)
            hint = "write the decorator where the function is defined, at the top level of the file"
            yield diagnose("MCP220", span, f"`{function}` is decorated only while the file runs", "", hint)


TEMPLATE = "resource template"


def _definitions(
    files: list[DecoratedFile], answers: ImportResults, tree: SourceTree
) -> tuple[dict[str, list[tuple[Node, DecoratedFunction]]], Diagnostics]:
    """Return the definitions by kind, and what is wrong with them."""
    definitions: dict[str, list[tuple[Node, DecoratedFunction]]] = {kind: [] for kind in (*KINDS, TEMPLATE)}
    problems: list[Diagnostic] = []
    for file in files:
        answer = answers.files.get(file.source.path)
        if answer is None:
            continue  # the file before it ended the process
        if answer.failure:
            problems += import_failure(file.source.path, answer.failure, tree)
        # A file that failed has no marks; any other one has described each of its decorators.
        for decorator, row in zip(file.marks, answer.marks, strict=bool(answer.marks)):
            wrong = tuple(with_meant_name(problem, file.source) for problem in _row_problems(decorator, row))
            problems += wrong
            if not wrong:
                definition = _without_keys(row["definition"], file.unknown)
                node = node_of(definition, decorator.span, (), _spans(decorator))
                bound = DecoratedFunction(
                    file.source.path, decorator.function, decorator.span, _strings(row["binding"]), str(row["context"])
                )
                kind = decorator.kind.removeprefix("mcp_")
                definitions[TEMPLATE if node.get("uriTemplate") else kind].append((node, bound))
    return definitions, tuple(problems)


def _without_keys(value: Json, names: frozenset[str]) -> Json:
    """Return a value without the members of some names, which are reported already."""
    if not names:
        return value
    if isinstance(value, list):
        return [_without_keys(item, names) for item in value]
    if isinstance(value, dict):
        return {key: _without_keys(part, names) for key, part in value.items() if key not in names}
    return value


def _strings(value: Json) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _row_problems(decorator: Decorator, row: Mapping[str, Json]) -> Iterator[Diagnostic]:
    listed = row["problems"]
    for problem in listed if isinstance(listed, list) else ():
        if isinstance(problem, dict):
            texts = {key: str(value) for key, value in problem.items()}
            yield diagnose(
                texts["code"], _span_of_problem(decorator, texts["where"]), texts["message"], "", texts["hint"]
            )


def _span_of_problem(decorator: Decorator, where: str) -> Span:
    """Return the span that a problem names: `function`, `returns`, `parameter x`, `default x`, `option x`."""
    what, _, name = where.partition(" ")
    if what in ("parameter", "default") and name in decorator.parameters:
        parameter = decorator.parameters[name]
        if what == "default" and parameter.default:
            return parameter.default
        return parameter.annotation or parameter.name
    if what == "option":
        return decorator.options.get(name, decorator.span)
    return (decorator.returns if what == "returns" else None) or decorator.span


def _spans(decorator: Decorator) -> SpanTable:
    """Return the spans of the parts of a definition."""
    documented = decorator.docstring or decorator.span
    places: SpanTable = {("description",): documented, ("outputSchema",): decorator.returns or decorator.span}
    for option, key in OPTIONS.items():
        if option in decorator.options:
            places[(key,)] = decorator.options[option]
    # A URI with variables is that of a template, where its member has another name.
    if "uri" in decorator.options:
        places["uriTemplate",] = decorator.options["uri"]
    for option in HANDLER_KEYWORDS:
        if option in decorator.options:
            places["_meta", HANDLER_KEY, HANDLER_KEYWORDS[option]] = decorator.options[option]
    for name, parameter in decorator.parameters.items():
        definitions = parameter.annotation or parameter.name
        places["inputSchema", "properties", name] = definitions
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
"""The members that a decorator's keywords define."""
HANDLER_KEYWORDS = {
    **{name: name for name in ("timeout", "inline", "environment", "requires", "task")},
    "max_result": "maxResult",
}
"""The keywords for how a function is run, with their names in the object in `_meta` that has them."""


def node_of(value: Json, span: Span, path: tuple[str, ...], places: SpanTable) -> Node:
    """Return a value as a node; each part has the span of its path, else the span of its parent."""
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
    """Return the key of a list item in `places`: itself, or its name."""
    return str(item.get("name", "")) if isinstance(item, dict) else str(item)


def _server(
    files: list[DecoratedFile], answers: ImportResults, tree: SourceTree, *, described: bool
) -> tuple[ServerDefinition | None, Diagnostics]:
    """Return the description by the project's one `Server`; None if `server.json` has it."""
    servers = [
        (server, answers.files[file.source.path].servers[server.name])
        for file in files
        for server in file.servers
        if file.source.path in answers.files and server.name in answers.files[file.source.path].servers
    ]
    problems = [
        diagnose("MCP220", server.span, "a project has one `Server`, and this is a second one", "", "use the first")
        for server, _ in servers[1:]
    ]
    if described:
        problems += (problem for server, said in servers for problem in _overridden_options(server, said))
        return None, tuple(problems)
    if not servers:
        return None, tuple(problems)
    server, said = servers[0]
    wrong = said.get("problems", [])
    for row in wrong if isinstance(wrong, list) else ():
        if isinstance(row, dict):
            span = server.options.get(str(row["where"]).removeprefix("option "), server.span)
            problems.append(diagnose(str(row["code"]), span, str(row["message"])))
    return ServerDefinition(_server_node(server, said.get("said", {}), project_info(tree))), tuple(problems)


def _overridden_options(server: ServerObject, said: Mapping[str, Json]) -> Iterator[Diagnostic]:
    """Yield options of a `Server` that have no effect because `server.json` sets them."""
    for name in ("instructions", "version", "settings"):
        if name in server.options:
            hint = "keep one of them: remove it here, or delete `server.json`"
            yield diagnose("MCP222", server.options[name], f"`{name}` is already set in `server.json`", "", hint)


def _server_node(server: ServerObject, said: Json, project: Mapping[str, str]) -> Node:
    """Return a `Server`'s description; `project` supplies what it does not define."""
    given = said if isinstance(said, dict) else {}
    info = {**project, **{FIELDS[name]: value for name, value in given.items() if name in FIELDS}}
    if "name" in info:
        info["version"] = info.get("version", VERSION)
    value: dict[str, Json] = {"serverInfo": info}
    if "instructions" in given:
        value["instructions"] = given["instructions"]
    if given.get("settings"):
        value["settings"] = given["settings"]
    running = {member: given[name] for name, member in HANDLER_KEYWORDS.items() if name in given}
    if running:
        value["_meta"] = {HANDLERS_KEY: running}
    places: SpanTable = {("serverInfo", FIELDS[name]): span for name, span in server.options.items() if name in FIELDS}
    places |= {
        ("_meta", HANDLERS_KEY, HANDLER_KEYWORDS[name]): span
        for name, span in server.options.items()
        if name in HANDLER_KEYWORDS
    }
    for name in ("instructions", "settings"):
        places[name,] = server.options.get(name, server.span)
    return node_of(value, server.span, (), places)


FIELDS = {
    "name": "name",
    "title": "title",
    "version": "version",
    "description": "description",
    "website_url": "websiteUrl",
    "icons": "icons",
}
"""The names in `serverInfo` of the keywords of `Server`."""
