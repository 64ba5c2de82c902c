"""Which lists of a program are made at run time: those that its code makes, unless `[tool.mcpc] lists` decides.

A list that is compiled may still change while the server runs: it is made at run time from then on, and clients are
notified if code of the project mentions what changes lists.  So is one of a program that gets arguments.

The program is described twice, the second time as on another machine, if its files import anything that can know
one.  A list that differs is made at run time.  The server's own description cannot be, which is a warning.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.causes import line_span
from mcpc.frontends.fastmcp.imports import imported_modules
from mcpc.frontends.fastmcp.program import DynamicList, ProgramDescription, ProgramNote
from mcpc.model.definitions import RunTimeHandler

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.fastmcp.entry_points import ProjectSettings
    from mcpc.frontends.fastmcp.program import Offered, ProgramFailure
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
    description: ProgramDescription,
    settings: ProjectSettings,
    sources: Sequence[Source],
    handler: ExternalHandler,
    *,
    is_original: bool = False,
) -> RunTimeHandler:
    """Return the handler of lists that are made at run time, and of what is in them.

    `is_original`: the framework itself handles requests, which may know extensions.
    """
    kinds = frozenset(item.kind for item in dynamic_lists(description, settings))
    code = b"\n".join(source.data for source in sources if source.path.endswith(".py"))
    may_change = ANY.search(code) is not None
    changing = {
        kind
        for kind, mention in MENTIONS.items()
        if kind not in description.unhandled and (mention.search(code) or (may_change and has_list(description, kind)))
    }
    listed = {kind for kind in KINDS if settings.lists != STATIC and has_list(description, kind)}
    extensions = tuple(sorted(description.extensions.items()))
    return RunTimeHandler(
        kinds, frozenset(changing) - kinds, handler, frozenset(listed) - kinds, is_original, extensions
    )


def dynamic_lists(description: ProgramDescription, settings: ProjectSettings) -> tuple[DynamicList, ...]:
    """Return the lists that are made at run time, and why."""
    if settings.lists == STATIC:
        return ()
    if settings.lists != DYNAMIC:
        return description.dynamic
    known = {item.kind: item for item in description.dynamic}
    said = "the lists of the project are dynamic, as `[tool.mcpc] lists` says"
    return tuple(
        known.get(kind) or DynamicList(kind, said) for kind in KINDS if kind in known or has_list(description, kind)
    )


def has_list(description: ProgramDescription, kind: str) -> bool:
    """Tell whether the program lists anything of a kind at build."""
    return any(description.lists[name] for name in KINDS[kind])


def list_notes(description: ProgramDescription, settings: ProjectSettings, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the lists that are made at run time, and those that would be if the project did not say otherwise."""
    for item in dynamic_lists(description, settings):
        if item.reason:
            yield diagnose("MCP291", place_of(item, tree), item.reason, "", COSTS)
    for item in description.dynamic if settings.lists == STATIC else ():
        message = f"{item.reason or f'the list of {item.kind} needs a client'}; `lists` says that it is static"
        yield diagnose("MCP287", place_of(item, tree), message, "", "it is compiled as it is at build")


def place_of(item: DynamicList, tree: SourceTree) -> Span | None:
    """Return the place in the project that makes a list."""
    source = tree.get(item.path) if item.path else None
    return line_span(source, item.line) if source is not None else None


NOTE = "machine"
"""The kind of a note on a part that is compiled as it is on this machine."""
ROW = {"elsewhere": True}
"""What the request of a second description says (`mcpc_runtime.artifact.build_time.machine`)."""
VARIABLES = {
    **dict.fromkeys(("LOGNAME", "USER", "USERNAME"), "another-user"),
    **dict.fromkeys(("COMPUTERNAME", "HOSTNAME"), "another-host"),
    "LANG": "C",
    "SHELL": "/bin/another-shell",
    "TZ": "Asia/Tokyo",
}
"""The variables of the second description; those that the user sets for the build are kept."""
CONSTANT = frozenset(
    ("__future__", "abc", "anyio", "ast", "asyncio", "base64", "bisect", "collections", "contextlib", "copy", "csv",
     "dataclasses", "decimal", "difflib", "enum", "fastmcp", "fractions", "functools", "hashlib", "html", "httpx",
     "inspect", "itertools", "json", "keyword", "logging", "math", "mcp", "mcp_types", "numbers", "operator",
     "pydantic", "re", "statistics", "string", "textwrap", "traceback", "types", "typing", "typing_extensions",
     "unicodedata", "urllib", "warnings", "weakref", "xml")
)  # fmt: skip
"""Modules that know nothing of a machine."""
EXCERPT = 24
"""How much of a text is shown around its first difference."""


def may_depend_on_machine(description: ProgramDescription, sources: Sequence[Source]) -> bool:
    """Tell whether a file of a described program imports what may know a machine; any file, if those are not known."""
    ran = {*(description.imported or (source.path for source in sources if source.path.endswith(".py")))}
    own = {part.removesuffix(".py") for path in ran for part in path.split("/")}
    modules = {name for source in sources if source.path in ran for name in imported_modules(source)}
    # The first part of a relative import is empty.
    return any(name.partition(".")[0] not in CONSTANT | own | {""} for name in modules)


def with_machine_state(here: ProgramDescription, elsewhere: ProgramDescription | ProgramFailure) -> ProgramDescription:
    """Return a description in which lists that differ on another machine are made at run time.

    A program that does not run there has no other list to compare.
    """
    if not isinstance(elsewhere, ProgramDescription):
        return here
    known = {item.kind for item in here.dynamic}
    lists = [differing_list(kind, here, elsewhere) for kind in KINDS if kind not in known]
    dynamic = [item for item in lists if item is not None]
    notes = [ProgramNote(text, kind=NOTE) for text in differing_server(here, elsewhere)]
    return replace(here, dynamic=(*here.dynamic, *dynamic), notes=(*here.notes, *notes))


def differing_list(kind: str, here: ProgramDescription, elsewhere: ProgramDescription) -> DynamicList | None:
    """Return the list of a kind if it differs, with the place of the first item that does."""
    first, second = ([item for name in KINDS[kind] for item in each.lists[name]] for each in (here, elsewhere))
    if [item.entry for item in first] == [item.entry for item in second]:
        return None
    item, what = first_difference(first, second)
    return DynamicList(kind, f"the list of {kind} depends on where the program runs: {what}", item.path, item.line)


def first_difference(first: Sequence[Offered], second: Sequence[Offered]) -> tuple[Offered, str]:
    """Return the first item that differs, and how."""
    others = {identity(item): item.entry for item in second}
    for item in first:
        if others.get(identity(item), item.entry) != item.entry:
            return item, f"`{identity(item)}` has {differences(item.entry, others[identity(item)])}"
    for items, more, where in ((first, second, "here"), (second, first, "on another machine")):
        known = {identity(item) for item in more}
        for item in items:
            if identity(item) not in known:
                return item, f"`{identity(item)}` is in it only {where}"
    return first[0], "it has another order on another machine"


def identity(item: Offered) -> str:
    """Return what names an item."""
    return str(next((item.entry[key] for key in ("name", "uri", "uriTemplate") if key in item.entry), ""))


def differing_server(here: ProgramDescription, elsewhere: ProgramDescription) -> Iterator[str]:
    """Yield the parts of the server's description that differ: they are compiled as they are here."""
    for name in sorted(here.server.keys() | elsewhere.server.keys()):
        one, other = here.server.get(name), elsewhere.server.get(name)
        if one != other:
            yield f"`{name}` of the server depends on where the program runs: it has {differences(one, other)}"
    if here.routes != elsewhere.routes:
        what = differences(here.routes, elsewhere.routes)
        yield f"the HTTP routes depend on where the program runs: they have {what}"


def differences(one: object, other: object) -> str:
    """Return the first difference of two values: their texts around it."""
    for first, second in differing_texts(one, other):
        place = next(
            (number for number, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
            min(len(first), len(second)),
        )
        return f"`{excerpt(first, place)}` here and `{excerpt(second, place)}` on another machine"
    return "another value here"


def differing_texts(one: object, other: object) -> Iterator[tuple[str, str]]:
    """Yield the texts that differ at the same place of two values."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs: Iterable[tuple[object, object]] = ((one[key], other[key]) for key in one)
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        pairs = zip(one, other, strict=True)
    else:
        if one != other:
            yield str(one), str(other)
        return
    for first, second in pairs:
        yield from differing_texts(first, second)


def excerpt(text: str, place: int) -> str:
    """Return a text around a place on one line."""
    begin, end = max(place - EXCERPT, 0), place + EXCERPT
    shown = " ".join(text[begin:end].split())
    return f"{'…' if begin else ''}{shown}{'…' if end < len(text) else ''}"
