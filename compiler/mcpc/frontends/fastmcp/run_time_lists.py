"""Which lists of a program are made at run time: those that its code makes, unless `[tool.mcpc] lists` decides.

A list that is compiled may still change while the server runs: it is made at run time from then on, and clients are
notified if code of the project mentions what changes lists.  So is one of a program that gets arguments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.causes import line_span
from mcpc.frontends.fastmcp.program import DynamicList
from mcpc.model.definitions import RunTimeHandler

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.fastmcp.program import ProgramDescription
    from mcpc.frontends.fastmcp.project_settings import ProjectSettings
    from mcpc.model.ir import ExternalHandler
    from mcpc.reading import Source, SourceTree

KINDS = {"tools": ("tools",), "prompts": ("prompts",), "resources": ("resources", "templates")}
"""The kinds of lists that may be made at run time, and the lists of each."""
MENTIONS = {
    "tools": re.compile(rb"(?:add|remove)_tool\b|tools?_(?:list_)?changed|ToolListChanged|tools/list_changed"),
    "prompts": re.compile(
        rb"(?:add|remove)_prompt\b|prompts?_(?:list_)?changed|PromptListChanged|prompts/list_changed"
    ),
    "resources": re.compile(
        rb"(?:add|remove)_(?:resource|resource_fn|template)\b"
        rb"|resources?_(?:list_)?changed|ResourceListChanged|resources/list_changed"
    ),
}
"""What code mentions that changes a list, or notifies of its change."""
ANY = re.compile(rb"\b(?:enable|disable)_components\b|\breset_visibility\b|\.(?:enable|disable)\(|\bmount\(")
"""What it mentions that may change every list that there is."""
STATIC, DYNAMIC = "static", "dynamic"
COSTS = 'the program starts with the first request for it; `lists = "static"` in `[tool.mcpc]` compiles it as it is now'


def run_time_handler(
    found: ProgramDescription,
    settings: ProjectSettings,
    sources: Sequence[Source],
    handler: ExternalHandler,
    *,
    is_original: bool = False,
) -> RunTimeHandler:
    """Return the handler of lists that are made at run time, and of what is in them.

    `is_original`: the framework itself handles requests, which may know extensions.
    """
    kinds = frozenset(item.kind for item in dynamic_lists(found, settings))
    code = b"\n".join(source.data for source in sources if source.path.endswith(".py"))
    may_change = ANY.search(code) is not None
    changing = {
        kind
        for kind, mention in MENTIONS.items()
        if kind not in found.unhandled and (mention.search(code) or (may_change and has_list(found, kind)))
    }
    listed = {kind for kind in KINDS if settings.lists != STATIC and has_list(found, kind)}
    extensions = tuple(sorted(found.extensions.items()))
    return RunTimeHandler(
        kinds, frozenset(changing) - kinds, handler, frozenset(listed) - kinds, is_original, extensions
    )


def dynamic_lists(found: ProgramDescription, settings: ProjectSettings) -> tuple[DynamicList, ...]:
    """Return the lists that are made at run time, and why."""
    if settings.lists == STATIC:
        return ()
    if settings.lists != DYNAMIC:
        return found.dynamic
    known = {item.kind: item for item in found.dynamic}
    said = "the lists of the project are dynamic, as `[tool.mcpc] lists` says"
    return tuple(known.get(kind) or DynamicList(kind, said) for kind in KINDS if kind in known or has_list(found, kind))


def has_list(found: ProgramDescription, kind: str) -> bool:
    """Tell whether the program lists anything of a kind at build."""
    return any(found.lists[name] for name in KINDS[kind])


def list_notes(found: ProgramDescription, settings: ProjectSettings, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the lists that are made at run time, and those that would be if the project did not say otherwise."""
    for item in dynamic_lists(found, settings):
        if item.reason:
            yield diagnose("MCP291", place_of(item, tree), item.reason, "", COSTS)
    for item in found.dynamic if settings.lists == STATIC else ():
        message = f"{item.reason or f'the list of {item.kind} needs a client'}; `lists` says that it is static"
        yield diagnose("MCP287", place_of(item, tree), message, "", "it is compiled as it is at build")


def place_of(item: DynamicList, tree: SourceTree) -> Span | None:
    """Return the place in the project that makes a list."""
    source = tree.get(item.path) if item.path else None
    return line_span(source, item.line) if source is not None else None
