"""Merge the definitions of several formats of one project into one server.

One description of the server is used: the first explicit one, else the first implied one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from mcpc.definitions import Definition
from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.definitions import ServerDefinition
    from mcpc.diagnostics import Diagnostics


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
        settings=tuple(dict(setting for definition in definitions for setting in definition.settings).items()),
        virtual_servers=tuple(facet for definition in definitions for facet in definition.virtual_servers),
        serves=frozenset[str]().union(*(definition.serves for definition in definitions)),
        traits=reduce(or_, (definition.traits for definition in definitions)),
        live_lists=tuple(dict(row for definition in definitions for row in definition.live_lists).items()),
    )
    others = (beside[path] for path in sorted(beside) if path not in read and path not in libraries)
    return replace(whole, beside=tuple(others)), problems


def _definition_files(definition: Definition) -> set[str]:
    """Return the files that only contain definitions: files that handlers also use stay in `beside`."""
    return {source.path for source in definition.sources} - {source.path for source in definition.beside}


def _select_server(found: Sequence[ServerDefinition]) -> tuple[ServerDefinition | None, Diagnostics]:
    written = [item for item in found if not item.implied]
    chosen = next(iter([*written, *found]), None)
    hint = "the first description is used; merge them there"
    message = "the server is described a second time; this description is ignored"
    return chosen, tuple(diagnose("MCP228", item.node.span, message, "", hint) for item in written[1:])
