"""MCP Dev Blueprints: JSON files that say all that a tool, a prompt or a resource will ever answer.

Nothing is left to be read when the server runs.  Several servers of one knowledge base are one over standard input and
output, and over HTTP each has an endpoint of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.definitions import (
    Definition,
    PromptDefinition,
    ResourceDefinition,
    ServerDefinition,
    TemplateDefinition,
    ToolDefinition,
)
from mcpc.diagnostics import Span, has_errors
from mcpc.frontends import native
from mcpc.frontends.blueprints.base import SERVERS, folders, knowledge_base
from mcpc.frontends.blueprints.custom import FOLDER, custom
from mcpc.frontends.blueprints.features import servers
from mcpc.frontends.blueprints.reading import Reading, unwritten
from mcpc.ir import Facet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.blueprints.custom import Custom
    from mcpc.frontends.blueprints.features import Feature, Listed
    from mcpc.options import Options
    from mcpc.sources import SourceTree

LOOKS_FOR = (
    f"`{SERVERS}` that lists servers with their `features`, at the top or in one folder below it (`--kb FOLDER` "
    "says in which)"
)
VERSION = "1.0.0"
"""Every server of the kind has this version."""


def recognises(tree: SourceTree) -> bool:
    """Say whether there is one knowledge base; below a project of our own format it may be anything."""
    found = folders(tree)
    return found == ("",) or (len(found) == 1 and not native.recognises(tree))


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Read a knowledge base: its servers, their feature files, and all files that those name."""
    base, problems = knowledge_base(tree, options)
    if base is None:
        return None, problems
    reading = Reading(base)
    listed, features = servers(reading)
    made = custom(reading, (one for feature in features.values() for one in feature.custom))
    path = base.servers.path
    found, functions = tuple(features.values()), made.of
    read = dict.fromkeys((path, *features, *(library.source.path for library in made.libraries)))
    definition = Definition(
        format="blueprints",
        server=_server(path, listed),
        tools=(*(one for feature in found for one in feature.tools), *functions(ToolDefinition)),
        prompts=(*(one for feature in found for one in feature.prompts), *functions(PromptDefinition)),
        resources=(*(one for feature in found for one in feature.resources), *functions(ResourceDefinition)),
        templates=functions(TemplateDefinition),
        libraries=made.libraries,
        beside=tuple(source for place, source in tree.files.items() if place not in read and _may_be_wanted(place)),
        sources=tuple(tree.files[place] for place in sorted(read)),
        complete=made.complete and not has_errors(reading.problems),
        facets=tuple(_facet(one, features, made) for one in listed),
    )
    return definition, tuple(reading.problems)


def _may_be_wanted(path: str) -> bool:
    """Say whether a Python function may want a file beside it; in `custom`, what another language wrote is not run."""
    return f"/{FOLDER}/" not in f"/{path}" or not path.endswith((".ts", ".js", ".mjs"))


def _server(path: str, listed: Sequence[Listed]) -> ServerDefinition:
    """Return the description of all servers as one: their names, as they were always joined."""
    name = ",".join(one.name for one in listed) or "blueprints"
    return ServerDefinition(unwritten({"serverInfo": {"name": name, "version": VERSION}}, Span(path)), implied=True)


def _facet(listed: Listed, features: dict[str, Feature], made: Custom) -> Facet:
    """Return what one server has of all that there is."""
    own = [features[path] for path in listed.features]
    ids: dict[str, list[str]] = {"tool": [], "prompt": [], "resource": []}
    for feature in own:
        for kind, those in (("tool", feature.tools), ("prompt", feature.prompts), ("resource", feature.resources)):
            ids[kind] += (str(name.value) for one in those if (name := one.node.get("name")) is not None)
        for kind, node in feature.custom:
            ids[kind] += [str(node.value)] if (kind, str(node.value)) in made.marked else []
    names = {kind: tuple(dict.fromkeys(those)) for kind, those in ids.items()}
    return Facet(listed.name, f"/{listed.path}", names["tool"], names["prompt"], names["resource"])
