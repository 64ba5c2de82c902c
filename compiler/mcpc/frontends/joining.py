"""Several formats in one project are one server: what each front end found, one after the other.

One description of the server holds: the first that somebody wrote, else the first that was made up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.definitions import Definition
from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.definitions import ServerDefinition
    from mcpc.diagnostics import Diagnostics


def joined(definitions: Sequence[Definition]) -> tuple[Definition, Diagnostics]:
    """Return everything that front ends found as one definition, and the descriptions that do not hold."""
    if len(definitions) == 1:
        return definitions[0], ()
    server, problems = _server([one.server for one in definitions if one.server is not None])
    read = {path for one in definitions for path in _alone(one)}
    named = sorted((library for one in definitions for library in one.libraries), key=lambda one: bool(one.prefixes))
    libraries = {library.source.path: library for library in named}  # one that finds functions by names finds marks too
    beside = {source.path: source for one in definitions for source in one.beside}
    whole = Definition(
        format="+".join(one.format for one in definitions),
        server=server,
        tools=tuple(tool for one in definitions for tool in one.tools),
        prompts=tuple(prompt for one in definitions for prompt in one.prompts),
        resources=tuple(resource for one in definitions for resource in one.resources),
        templates=tuple(template for one in definitions for template in one.templates),
        completions=tuple(completion for one in definitions for completion in one.completions),
        skills=tuple(skill for one in definitions for skill in one.skills),
        libraries=tuple(libraries.values()),
        sources=tuple({source.path: source for one in definitions for source in one.sources}.values()),
        described=any(one.described for one in definitions),
        complete=all(one.complete for one in definitions),
        homes=tuple(home for one in definitions for home in one.homes),
        settings=tuple(dict(setting for one in definitions for setting in one.settings).items()),
        facets=tuple(facet for one in definitions for facet in one.facets),
        serves=frozenset[str]().union(*(one.serves for one in definitions)),
    )
    others = (beside[path] for path in sorted(beside) if path not in read and path not in libraries)
    return replace(whole, beside=tuple(others)), problems


def _alone(one: Definition) -> set[str]:
    """Return the files that only say what there is: those that handlers want as well stay beside them."""
    return {source.path for source in one.sources} - {source.path for source in one.beside}


def _server(found: Sequence[ServerDefinition]) -> tuple[ServerDefinition | None, Diagnostics]:
    written = [one for one in found if not one.implied]
    chosen = next(iter([*written, *found]), None)
    hint = "the first one found is the server's; say it all there"
    message = "the server is described a second time, and this is not heard"
    return chosen, tuple(diagnose("MCP228", one.node.span, message, "", hint) for one in written[1:])
