"""MCP Dev Blueprints: JSON files that contain the complete results of tools, prompts and resources.

The running server reads no files.  Several servers of one knowledge base are one server over standard input and output;
over HTTP each has its own endpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, has_errors
from mcpc.frontends import native
from mcpc.frontends.blueprints.contents import SERVERS, KnowledgeBaseReader, knowledge_base, knowledge_base_folders
from mcpc.frontends.blueprints.custom import FOLDER, read_custom_features
from mcpc.frontends.blueprints.features import read_servers
from mcpc.model.definitions import (
    Definition,
    PromptDefinition,
    ResourceDefinition,
    ServerDefinition,
    TemplateDefinition,
    ToolDefinition,
)
from mcpc.model.ir import VirtualServer
from mcpc.reading.json_tree import implied_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.blueprints.custom import CustomFeatures
    from mcpc.frontends.blueprints.features import Feature, ListedServer
    from mcpc.options import Options
    from mcpc.reading import SourceTree

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
            ids[kind] += [str(node.value)] if (kind, str(node.value)) in made.functions else []
    names = {kind: tuple(dict.fromkeys(those)) for kind, those in ids.items()}
    return VirtualServer(listed.name, f"/{listed.path}", names["tool"], names["prompt"], names["resource"])
