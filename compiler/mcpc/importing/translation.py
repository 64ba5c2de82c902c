"""What a project means, as files of our own format.

    a definition in JSON            in the one file of its kind, as clients are shown it
    what always answers the same    that answer with it
    what another system runs        `"contract"` beside it, and its script where that system looks for it, as it was
    a marked function               where it is: that is our own format already

Files are copied byte for byte; only those that said no more than is said now in ours are left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.definitions.handling import HANDLER
from mcpc.diagnostics import Span, diagnose
from mcpc.frontends import recognise, understand
from mcpc.frontends.native import SERVER, is_definition
from mcpc.ir import Foreign
from mcpc.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.options import Options
    from mcpc.sources import Json, SourceTree

NATIVE = "native"
KINDS = {
    "tools": ("tool", "tools.json", "tools"),
    "prompts": ("prompt", "prompts.json", "prompts"),
    "resources": ("resource", "resources.json", "resources"),
    "templates": ("resource template", "resources.json", "resourceTemplates"),
    "completions": ("completion", "completions.json", "completions"),
}
"""By the field of `Definition`: what a person calls one, the file they go into, the list there."""
ANSWERS = {"tools": "content", "prompts": "messages", "resources": "contents"}
"""By what member a definition of a kind says its answer."""
KNOWN = ("known", "static")


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one definition: where it was and where it is, and how it is run."""

    kind: str
    name: str
    origin: str
    target: str
    runs: str


@dataclass(frozen=True, slots=True)
class Translation:
    """The files of the new project, what became of each definition, which files were left out, what is not carried."""

    formats: tuple[str, ...]
    files: Mapping[str, Source]
    rows: tuple[Row, ...]
    left_out: tuple[str, ...]
    lost: Diagnostics


def translate(tree: SourceTree, options: Options) -> Translation:
    """Return a project in which no error was found, in our own format."""
    found, _ = recognise(tree, options)
    parsed = [frontend.parse(tree, options)[0] for frontend in found]
    parts = [definition for definition in parsed if definition is not None]
    lists: dict[str, dict[str, list[Json]]] = {}
    rows = [row for part in parts for row in _rows(part, tree, lists)]
    server = _server(tree, options)
    gone = {path for part in parts for path in _replaced(part)}
    gone |= {path for path in tree.files if is_definition(path)}
    if server is not None:
        gone.add(server[1])
        lists[SERVER] = server[0]
    files = {path: source for path, source in tree.files.items() if path not in gone}
    files |= {path: Source(path, text(value), 0o644) for path, value in lists.items()}
    return Translation(
        formats=tuple(part.format for part in parts),
        files=dict(sorted(files.items())),
        rows=tuple(rows),
        left_out=tuple(sorted(gone & {*tree.files} - {*files})),
        lost=tuple(problem for part in parts for problem in _lost(part)),
    )


def text(value: Any) -> bytes:
    """Return JSON as a person would write it."""
    return json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def is_known(part: Definition) -> bool:
    """Tell whether all that another system's part of a project answers is known."""
    handlers = [one.handler for kind in KINDS for one in getattr(part, kind)]
    return (
        part.format != NATIVE
        and bool(handlers)
        and all(isinstance(one, Foreign) and one.contract in KNOWN for one in handlers)
    )


def _rows(part: Definition, tree: SourceTree, lists: dict[str, dict[str, list[Json]]]) -> Iterator[Row]:
    """Yield what becomes of the definitions of a part; put those that are written into the lists of their files."""
    for field, (kind, file, key) in KINDS.items():
        for one in getattr(part, field):
            name = named(one.node.value)
            if part.format == NATIVE and one.bound is not None:
                yield Row(kind, name, place(one.node.span, tree), one.bound.file, "a marked function, as it was")
                continue
            said, runs = _said(field, one, part)
            value = {**one.node.value, "_meta": {**one.node.value.get("_meta", {})}}
            if said:
                value["_meta"][HANDLER] = {**value["_meta"].get(HANDLER, {}), **said}
            if not value["_meta"]:
                del value["_meta"]
            lists.setdefault(file, {}).setdefault(key, []).append(value)
            yield Row(kind, name, place(one.node.span, tree), file, runs)


def _said(field: str, one: Any, part: Definition) -> tuple[dict[str, Json], str]:
    """Return what a definition has to say of its handler beside what it says already, and that in words."""
    handler = one.handler
    if part.format == NATIVE:
        return {}, "as before"
    if is_known(part):
        return {ANSWERS[field]: json.loads(handler.facts[0])}, "always answers this"
    file = one.bound.file if one.bound is not None else handler.file if handler is not None else ""
    where = f", `{file}`" if file else ""
    return {"contract": part.format}, f"the contract of {part.format}{where}"


def named(node: Any) -> str:
    """Return what a person calls a definition."""
    if "ref" in node:
        return f"{node['ref'].get('name') or node['ref'].get('uri')} {node.get('argument', '')}"
    return str(node.get("name") or node.get("uri") or node.get("uriTemplate") or "")


def place(span: Span, tree: SourceTree) -> str:
    """Return a place as a person reads it."""
    source = tree.get(span.path)
    return span.path if source is None else f"{span.path}:{source.position(span.start)[0]}"


def _server(tree: SourceTree, options: Options) -> tuple[Any, str] | None:
    """Return the server's description and the file that had it; None where a marked file has it."""
    definition, _ = understand(tree, options)
    if definition is None or definition.server is None:
        return None
    server = definition.server
    is_marked = server.node.path.endswith(".py") and not server.implied
    told = server.node.path if not server.implied else SERVER
    return None if is_marked else (server.node.value, told)


def _replaced(part: Definition) -> Sequence[str]:
    """Return the files of which nothing is wanted any more: all that it meant is written in ours."""
    if not is_known(part):
        return ()
    libraries = {library.source.path for library in part.libraries}
    return [source.path for source in part.sources if source.path not in libraries]


def _lost(part: Definition) -> Iterator[Diagnostic]:
    """Yield what a part means for which our own format has no word."""
    for facet in part.facets if is_known(part) else ():
        message = f"the server `{facet.name}` has no path of its own (`{facet.path}`) any more"
        hint = "all of them are one server; for one of them alone, import a project that lists only that"
        yield diagnose("MCP281", None, message, "", hint)
