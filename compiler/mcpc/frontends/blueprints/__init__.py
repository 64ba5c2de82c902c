"""MCP Dev Blueprints: JSON files that contain the complete results of tools, prompts and resources.

The running server reads no files.  Several servers of one knowledge base are one server over standard input and output;
over HTTP each has its own endpoint.

Custom features are decorated functions in `custom/*.py`, each served by the servers that list its id:

    custom_tools: ["status"]        @tool(name="status")
                                    def anything() -> str: …

The folder is in the knowledge base, beside it, or at the top of the project.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from mcpc.diagnostics import Span, has_errors
from mcpc.diagnostics.model import did_you_mean
from mcpc.frontends import native
from mcpc.frontends.blueprints.contents import SERVERS, KnowledgeBaseReader, knowledge_base, knowledge_base_folders
from mcpc.frontends.blueprints.features import read_servers
from mcpc.frontends.decorated import DEFINITION_FILES, DecoratorFamily, read_decorated
from mcpc.frontends.introspection import KINDS
from mcpc.model.definitions import (
    Definition,
    HandlerLibrary,
    PromptDefinition,
    ResourceDefinition,
    ServerDefinition,
    TemplateDefinition,
    ToolDefinition,
)
from mcpc.model.ir import VirtualServer
from mcpc.reading.json_tree import implied_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.blueprints.contents import KnowledgeBase
    from mcpc.frontends.blueprints.features import Feature, ListedServer
    from mcpc.frontends.decorated import DecoratedDefinitions
    from mcpc.options import Options
    from mcpc.reading import Node, SourceTree

    CustomDefinition = ToolDefinition | PromptDefinition | ResourceDefinition | TemplateDefinition


LOOKS_FOR = (
    f"`{SERVERS}` that lists servers with their `features`, at the top or in one folder below it (`--kb FOLDER` "
    "says in which)"
)
VERSION = "1.0.0"
"""The version of every server of this format."""


def recognises(tree: SourceTree) -> bool:
    """Tell whether there is exactly one knowledge base; in a native project a subfolder does not count."""
    folders = knowledge_base_folders(tree)
    return folders == ("",) or (len(folders) == 1 and not native.recognises(tree))


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Read a knowledge base: its servers, their feature files, and all files that those name."""
    base, problems = knowledge_base(tree, options)
    if base is None:
        return None, problems
    reader = KnowledgeBaseReader(base)
    listed, features = read_servers(reader)
    made = read_custom_features(reader, (item for feature in features.values() for item in feature.custom))
    path = base.servers.path
    used, functions = tuple(features.values()), made.of
    read = dict.fromkeys((path, *features, *(library.source.path for library in made.libraries)))
    definition = Definition(
        format="blueprints",
        server=_server(path, listed),
        tools=(*(tool for feature in used for tool in feature.tools), *functions(ToolDefinition)),
        prompts=(*(prompt for feature in used for prompt in feature.prompts), *functions(PromptDefinition)),
        resources=(*(resource for feature in used for resource in feature.resources), *functions(ResourceDefinition)),
        templates=functions(TemplateDefinition),
        libraries=made.libraries,
        beside=tuple(source for place, source in tree.files.items() if place not in read and _may_be_needed(place)),
        sources=tuple(tree.files[place] for place in sorted(read)),
        complete=made.complete and not has_errors(reader.problems),
        virtual_servers=tuple(_virtual_server(item, features, made) for item in listed),
    )
    return definition, tuple(reader.problems)


def _may_be_needed(path: str) -> bool:
    """Tell whether Python functions may need a file; code in other languages in `custom` is not run."""
    return f"/{FOLDER}/" not in f"/{path}" or not path.endswith((".ts", ".js", ".mjs"))


def _server(path: str, listed: Sequence[ListedServer]) -> ServerDefinition:
    """Return the description of all servers as one, with their names joined by commas."""
    name = ",".join(item.name for item in listed) or "blueprints"
    return ServerDefinition(implied_node({"serverInfo": {"name": name, "version": VERSION}}, Span(path)), implied=True)


def _virtual_server(listed: ListedServer, features: dict[str, Feature], made: CustomFeatures) -> VirtualServer:
    """Return the virtual server of one listed server."""
    own = [features[path] for path in listed.features]
    ids: dict[str, list[str]] = {"tool": [], "prompt": [], "resource": []}
    for feature in own:
        for kind, those in (("tool", feature.tools), ("prompt", feature.prompts), ("resource", feature.resources)):
            ids[kind] += (str(name.value) for item in those if (name := item.node.get("name")) is not None)
        for kind, node in feature.custom:
            # An id without a function is reported, and not served.
            ids[kind] += [str(node.value)] if (kind, str(node.value)) in made.functions else []
    names = {kind: tuple(dict.fromkeys(those)) for kind, those in ids.items()}
    return VirtualServer(listed.name, f"/{listed.path}", names["tool"], names["prompt"], names["resource"])


M = TypeVar("M")
FOLDER = "custom"
WHERE_TO_DEFINE = f"define it in a file of the folder `{FOLDER}`"
DECORATOR_EXAMPLES = {
    "tool": '@tool(name="{name}")',
    "prompt": '@prompt(name="{name}")',
    "resource": '@resource("docs://…", name="{name}")',
}


@dataclass(frozen=True, slots=True)
class CustomFeatures:
    """The decorated functions that feature files list, by kind and id, and the files that contain them."""

    functions: dict[tuple[str, str], list[CustomDefinition]] = field(default_factory=dict)
    libraries: tuple[HandlerLibrary, ...] = ()
    complete: bool = True

    def of(self, kind: type[M]) -> tuple[M, ...]:
        """Return the definitions of a kind."""
        return tuple(item for those in self.functions.values() for item in those if isinstance(item, kind))


def read_custom_features(reader: KnowledgeBaseReader, wanted: Iterable[tuple[str, Node]]) -> CustomFeatures:
    """Return the functions for the listed ids; report ids without a function, and functions without an id."""
    listed = tuple(wanted)
    files = tuple(_files(reader.base))
    decorated, problems = _decorated(reader.base, files)
    reader.problems.extend(problems)
    functions: dict[tuple[str, str], list[CustomDefinition]] = {}
    for key, entry in _by_kind_and_name(decorated):
        functions.setdefault(key, []).append(entry)
    ids = dict.fromkeys((kind, str(node.value)) for kind, node in listed)
    # A file with an error may have the function, so that none can be said to be missing.
    for kind, node in listed if not has_errors(problems) else ():
        if (kind, str(node.value)) not in functions:
            _report_missing(reader, kind, node, [name for other, name in functions if other == kind])
    for (kind, name), those in functions.items():
        if (kind, name) not in ids and those[0].bound is not None:
            message = f"the {kind} `{name}` is not listed in a feature file, and is not served"
            reader.report("MCP202", those[0].bound.span, message, "", f"list its id in `custom_{kind}s`")
    used = {key: functions[key] for key in ids if key in functions}
    homes = {item.bound.file for those in used.values() for item in those if item.bound is not None}
    libraries = tuple(HandlerLibrary(reader.base.tree.files[path], "python", ()) for path in files if path in homes)
    return CustomFeatures(used, libraries, not has_errors(problems))


def _files(base: KnowledgeBase) -> Iterator[str]:
    """Yield the Python files of the folder `custom`, at any of its possible paths."""
    beside = base.folder.rpartition("/")[0]
    homes = dict.fromkeys(f"{place}/{FOLDER}" if place else FOLDER for place in (base.folder, beside, ""))
    for path in base.tree.files:
        folder, _, name = path.rpartition("/")
        if folder in homes and name.endswith(".py"):
            yield path


def _decorated(base: KnowledgeBase, files: tuple[str, ...]) -> tuple[DecoratedDefinitions | None, Diagnostics]:
    """Return the decorated functions of these files; misplaced native decorators are not reported here."""
    if not files:
        return None, ()
    decorated, problems = read_decorated(
        base.tree, described=True, family=DecoratorFamily(KINDS, files, WHERE_TO_DEFINE)
    )
    own = (
        problem
        for problem in problems
        if problem.code != "MCP224" or problem.span is None or problem.span.path not in DEFINITION_FILES
    )
    return decorated, tuple(own)


def _by_kind_and_name(decorated: DecoratedDefinitions | None) -> Iterator[tuple[tuple[str, str], CustomDefinition]]:
    if decorated is None:
        return
    functions: tuple[tuple[str, tuple[CustomDefinition, ...]], ...] = (
        ("tool", decorated.tools),
        ("prompt", decorated.prompts),
        ("resource", (*decorated.resources, *decorated.templates)),
    )
    for kind, those in functions:
        yield from (((kind, _name(item)), item) for item in those)


def _name(one: CustomDefinition) -> str:
    name = one.node.get("name")
    return "" if name is None else str(name.value)


def _report_missing(reader: KnowledgeBaseReader, kind: str, node: Node, known: list[str]) -> None:
    written = DECORATOR_EXAMPLES[kind].format(name=node.value)
    example = f"decorate a function in `{reader.base.path(FOLDER)}/`: `{written}`"
    hint = did_you_mean(str(node.value), known, example)
    reader.report("MCP272", node.span, f"the custom {kind} `{node.value}` is not implemented", "", hint)
