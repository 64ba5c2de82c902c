"""Import of a project of any format: writes it in the native format, from its parsed definitions, with a report.

    a definition in JSON      in the file of its kind, as clients see it
    a static answer           in the definition
    another format's script   at its path, unchanged; the definition has a `"contract"`
    a decorated function      unchanged

Files are copied byte for byte; only those whose whole meaning is in the new files are left out.  The report is
`IMPORT.md` in the new project; the lists that clients of both servers see are compared.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.emit.list_pages import item_text
from mcpc.emit.responses import listings
from mcpc.frontends import parse_project, select_frontends, tree_for
from mcpc.frontends.external_handlers import attach_external_handlers
from mcpc.frontends.native import SERVER, is_definition
from mcpc.model.definitions import HANDLER_KEY
from mcpc.model.ir import ExternalHandler
from mcpc.model.revisions import REVISIONS
from mcpc.pack.manifest import readable_json
from mcpc.reading import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.definitions import Definition
    from mcpc.model.ir import Server
    from mcpc.options import Options
    from mcpc.reading import Json, SourceTree


NATIVE = "native"
KINDS = {
    "tools": ("tool", "tools.json", "tools"),
    "prompts": ("prompt", "prompts.json", "prompts"),
    "resources": ("resource", "resources.json", "resources"),
    "templates": ("resource template", "resources.json", "resourceTemplates"),
    "completions": ("completion", "completions.json", "completions"),
}
"""By the field of `Definition`: its name in messages, the file of such definitions, the list in it."""
ANSWER_MEMBERS = {"tools": "content", "prompts": "messages", "resources": "contents"}
"""The member with the static answer of a kind."""
STATIC_CONTRACTS = ("known", "static")
NAME = "IMPORT.md"
HEAD = "| definition | old file | new file | handler |\n|---|---|---|---|"
EXPLANATION = """If a definition has a `"contract"`, the other system's script keeps its location and is called as
before. What clients see of it is now in the new file, and no longer beside the script."""


@dataclass(frozen=True, slots=True)
class DefinitionRow:
    """What one definition became: where it was, where it is, and how it is run."""

    kind: str
    name: str
    origin: str
    target: str
    runs: str


@dataclass(frozen=True, slots=True)
class Translation:
    """The files of the new project, how each definition was converted, files left out, and parts that were lost."""

    formats: tuple[str, ...]
    files: Mapping[str, Source]
    rows: tuple[DefinitionRow, ...]
    left_out: tuple[str, ...]
    lost: Diagnostics


def translate(tree: SourceTree, options: Options) -> Translation:
    """Return a project without errors in the native format."""
    frontends, _ = select_frontends(tree, options)
    parsed = [frontend.parse(tree_for(frontend, tree, frontends), options)[0] for frontend in frontends]
    parts, _ = attach_external_handlers([definition for definition in parsed if definition is not None])
    lists: dict[str, dict[str, list[Json]]] = {}
    rows = [row for part in parts for row in _rows(part, tree, lists)]
    server = _server(tree, options)
    gone = {path for part in parts for path in _replaced(part)}
    gone |= {path for path in tree.files if is_definition(path)}
    if server is not None:
        gone.add(server[1])
        lists[SERVER] = server[0]
    files = {path: source for path, source in tree.files.items() if path not in gone}
    files |= {path: Source(path, readable_json(value), 0o644) for path, value in lists.items()}
    return Translation(
        formats=tuple(part.format for part in parts),
        files=dict(sorted(files.items())),
        rows=tuple(rows),
        left_out=tuple(sorted(gone & {*tree.files} - {*files})),
        lost=tuple(problem for part in parts for problem in _lost(part)),
    )


def has_static_answers(part: Definition) -> bool:
    """Tell whether all handlers of another format's definitions are static answers."""
    handlers = [item.handler for kind in KINDS for item in getattr(part, kind)]
    return (
        part.format != NATIVE
        and bool(handlers)
        and all(isinstance(handler, ExternalHandler) and handler.contract in STATIC_CONTRACTS for handler in handlers)
    )


def _rows(part: Definition, tree: SourceTree, lists: dict[str, dict[str, list[Json]]]) -> Iterator[DefinitionRow]:
    """Yield what becomes of the definitions of a part; add those in JSON to the lists of their files."""
    for field, (kind, file, key) in KINDS.items():
        for item in getattr(part, field):
            name = definition_name(item.node.value)
            if part.format == NATIVE and item.bound is not None:
                yield DefinitionRow(
                    kind, name, readable_place(item.node.span, tree), item.bound.file, "a decorated function, unchanged"
                )
                continue
            said, runs = _handler_options(field, item, part)
            # A copy, with its own `_meta`: the parsed definition stays as it is.
            value = {**item.node.value, "_meta": {**item.node.value.get("_meta", {})}}
            if said:
                value["_meta"][HANDLER_KEY] = {**value["_meta"].get(HANDLER_KEY, {}), **said}
            if not value["_meta"]:
                del value["_meta"]
            lists.setdefault(file, {}).setdefault(key, []).append(value)
            yield DefinitionRow(kind, name, readable_place(item.node.span, tree), file, runs)


def _handler_options(field: str, definition: Any, part: Definition) -> tuple[dict[str, Json], str]:
    """Return the handler options of a definition besides those it has, and their description."""
    handler = definition.handler
    if part.format == NATIVE:
        return {}, "as before"
    if has_static_answers(part):
        return {ANSWER_MEMBERS[field]: json.loads(handler.facts[0])}, "constant result"
    file = definition.bound.file if definition.bound is not None else handler.file if handler is not None else ""
    where = f", `{file}`" if file else ""
    return {"contract": part.format}, f"the contract of {part.format}{where}"


def definition_name(node: Any) -> str:
    if "ref" in node:
        return f"{node['ref'].get('name') or node['ref'].get('uri')} {node.get('argument', '')}"
    return str(node.get("name") or node.get("uri") or node.get("uriTemplate") or "")


def readable_place(span: Span, tree: SourceTree) -> str:
    source = tree.get(span.path)
    return span.path if source is None else f"{span.path}:{source.position(span.start)[0]}"


def _server(tree: SourceTree, options: Options) -> tuple[Any, str] | None:
    """Return the server's description and the file that had it; None where a decorated file has it."""
    definition, _ = parse_project(tree, options)
    if definition is None or definition.server is None:
        return None
    server = definition.server
    is_marked = server.node.path.endswith(".py") and not server.implied
    told = server.node.path if not server.implied else SERVER
    return None if is_marked else (server.node.value, told)


def _replaced(part: Definition) -> Sequence[str]:
    """Return the files that are no longer needed: their whole meaning is in the new ones."""
    if not has_static_answers(part):
        return ()
    libraries = {library.source.path for library in part.libraries}
    return [source.path for source in part.sources if source.path not in libraries]


def _lost(part: Definition) -> Iterator[Diagnostic]:
    """Yield the parts of a definition that the native format cannot express."""
    for facet in part.virtual_servers if has_static_answers(part) else ():
        message = f"the server `{facet.name}` no longer has a separate path (`{facet.path}`)"
        hint = "all of them become one server; to import a single one, import a project that lists only that"
        yield diagnose("MCP281", None, message, "", hint)


def import_report(translation: Translation, differences: Diagnostics) -> bytes:
    return "\n".join(_lines(translation, differences)).encode("utf-8", "backslashreplace") + b"\n"


def _lines(translation: Translation, differences: Diagnostics) -> Iterator[str]:
    yield f"# Imported from {', '.join(translation.formats)}\n"
    if translation.rows:
        yield "## Definitions\n"
        yield HEAD
        for row in translation.rows:
            cells = (f"{row.kind} `{row.name}`", f"`{row.origin}`", f"`{row.target}`", row.runs)
            yield "| " + " | ".join(map(table_cell, cells)) + " |"
        if any(row.runs.startswith("the contract") for row in translation.rows):
            yield f"\n{EXPLANATION}"
    if translation.left_out:
        yield "\n## Removed files\n"
        yield "Their content is in the new files:\n"
        yield from (f"- `{path}`" for path in translation.left_out)
    yield "\n## Differences\n"
    problems = (*translation.lost, *differences)
    yield from (f"- {problem.message}" + (f": {problem.hint}" if problem.hint else "") for problem in problems)
    if not problems:
        yield "None: clients see the same lists."


def table_cell(value: str) -> str:
    return " ".join(value.split()).replace("|", "\\|")


def list_differences(before: Server, after: Server) -> Iterator[Diagnostic]:
    """Yield differences that clients see, in the newest revision."""
    earlier, later = listed_items(before), listed_items(after)
    for name in sorted(earlier.keys() | later.keys()):
        if name not in later:
            yield diagnose("MCP281", None, f"{name} no longer exists")
        elif name not in earlier:
            yield diagnose("MCP281", None, f"{name} is new")
        elif earlier[name] != later[name]:
            yield diagnose("MCP281", None, f"{name} is shown differently")
    for what in ("name", "version", "instructions"):
        if getattr(before, what) != getattr(after, what):
            yield diagnose("MCP281", None, f"the server's {what} has changed")


def listed_items(server: Server) -> dict[str, bytes]:
    """Return each item of each list, by its name in messages."""
    items: dict[str, bytes] = {}
    for listing in listings(server, REVISIONS[-1]):
        for item in map(item_text, listing.items):
            value = json.loads(item)
            # Several resources may have one name, but not one URI.
            key = value.get("uri") or value.get("uriTemplate") or value.get("name")
            items[f"`{key}` of `{listing.method}`"] = item
    return items
