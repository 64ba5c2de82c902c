"""Conversion of a module's schema to a tool definition, and to a second one under the schema's name.

    schema = {name, description, type, properties, …}   ─▶   {name, description, inputSchema: {type, properties, …}}

A tool is named after its file, whatever its schema contains.  In ToolBox, and with `--dialect toolbox`, clients see the
whole object as the input schema.  Arguments are never validated against it: tools check them themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import quoted
from mcpc.frontends.introspection.process import was_not_imported
from mcpc.languages.bundling import OLDEST_NODE
from mcpc.model.definitions import HANDLER_KEY, ToolDefinition
from mcpc.reading.json_tree import implied_node

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.languages.bundling import Bundle, BundleError, Description
    from mcpc.model.ir import Handler
    from mcpc.options import Options
    from mcpc.reading import Json, Source, SourceTree


DIALECT = "toolbox"
TOOL_MEMBERS = ("title", "description", "outputSchema", "annotations", "icons", "_meta")
"""Members of the tool itself, which are not part of its input schema."""
IN_NODE: dict[str, Json] = {"environment": "inherit", "requires": [f"node >= {OLDEST_NODE}"]}
"""How scripts are run: with the whole environment of the server, as in ToolBox."""
UNCHECKED: dict[str, Json] = {"validate": False}
IN_PYTHON: dict[str, Json] = {"environment": "inherit"}
ANY_OBJECT: dict[str, Json] = {"type": "object", "properties": {}}
"""The input schema of a tool without a schema."""
NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@dataclass(frozen=True, slots=True)
class ToolNames:
    """What all tools depend on: the options of the build, and the names of the files."""

    options: Options
    taken: frozenset[str]


def convert_schema(
    source: Source, schema: object, handler: Handler, making: ToolNames
) -> tuple[tuple[ToolDefinition, ...], Diagnostics]:
    """Return the definitions of one tool, and the problems of its schema."""
    span, name = schema_span(source), tool_name(source.path)
    given: dict[str, Json] = {str(key): value for key, value in schema.items()} if isinstance(schema, dict) else {}
    running = {**UNCHECKED, **(IN_PYTHON if source.path.endswith(".py") else IN_NODE)}
    exact = making.options.dialect == DIALECT
    names = [name, *(() if exact else schema_name(given, making.taken))]
    shown = toolbox_form if exact else protocol_form
    made = tuple(ToolDefinition(implied_node(shown(name, given, running), span), None, handler) for name in names)
    return made, tuple(schema_problems(source, schema, names))


def schema_name(schema: dict[str, Json], taken: Collection[str]) -> Iterator[str]:
    """Yield the name in a schema, if it is valid and no other tool has it."""
    said = schema.get("name")
    if isinstance(said, str) and NAME.fullmatch(said) and said not in taken:
        yield said


def toolbox_form(name: str, schema: dict[str, Json], running: dict[str, Json]) -> dict[str, Json]:
    """Return a tool in the form in which ToolBox lists it."""
    return {"name": name, "inputSchema": schema or ANY_OBJECT, "_meta": {HANDLER_KEY: running}}


def protocol_form(name: str, schema: dict[str, Json], running: dict[str, Json]) -> dict[str, Json]:
    """Return a tool with its schema's description in the members where clients expect it."""
    own = {key: schema[key] for key in TOOL_MEMBERS if key in schema and key != "_meta"}
    meta = schema.get("_meta")
    rest = {key: value for key, value in schema.items() if key not in (*TOOL_MEMBERS, "name")}
    meta = {**(meta if isinstance(meta, dict) else {}), HANDLER_KEY: running}
    return {"name": name, **own, "inputSchema": {**ANY_OBJECT, **rest}, "_meta": meta}


def schema_problems(source: Source, schema: object, names: Collection[str]) -> Iterator[Diagnostic]:
    """Yield missing or contradictory members of a schema; `names`: those under which the tool is offered."""
    span, name = schema_span(source), tool_name(source.path)
    if not isinstance(schema, dict):
        fault = "has no `schema`" if schema is None else "has a `schema` that is not an object"
        hint = 'export const schema = {description: "…", type: "object", properties: {…}}'
        yield diagnose(
            "MCP252", span, f"the tool `{name}` {fault}: it is shown with a schema that accepts anything", "", hint
        )
        return
    if "name" in schema and schema["name"] != name:
        message = f"the name in `schema` is `{schema['name']}`, but the file name is `{name}`"
        both = "; the other name is offered as well" if schema["name"] in names else ""
        yield diagnose("MCP253", span, message, "", f"the file name is used{both}")
    for field in (field for field in ("type", "properties") if field not in schema):
        yield diagnose(
            "MCP254", span, f"the schema of `{name}` has no `{field}`", "", f"the default is {DEFAULTS[field]}"
        )


DEFAULTS = {"type": '`"object"`', "properties": "no properties"}


LOCK = "package-lock.json"
UNIMPORTED = "`--no-import` was given"


def bundle_errors(bundled: Bundle, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield why modules could not be bundled."""
    for entry, faults in bundled.faults.items():
        for fault in faults[:MAX_REPORTED]:
            yield bundle_error(entry, fault, bundled, tree)


MAX_REPORTED = 5
"""Maximum number of reported errors of one module."""


def bundle_error(entry: str, fault: BundleError, bundled: Bundle, tree: SourceTree) -> Diagnostic:
    """Return one error as a missing package, a package with machine code, or an error in a source."""
    span = project_span(tree, fault.path, fault.line, fault.column) or Span(entry, 0, 0)
    left = f"`{entry}` is left out"
    # esbuild's message for an import that leads to nothing.
    if fault.package and fault.message.startswith("Could not resolve"):
        why = bundled.lacking.get(fault.package, "it is not installed")
        message = f"the package `{fault.package}` is not available ({why}): {left}"
        return diagnose(
            "MCP409", span, message, "", f"`npm install {fault.package}` in the project, or remove the import"
        )
    return diagnose("MCP256", span, f"`{entry}` cannot be bundled: {fault.message}")


def not_imported(source: Source, offered: Description, native: tuple[str, ...] = ()) -> Diagnostic:
    """Return why a bundled module cannot be imported; `native`: packages with machine code that it imports."""
    if offered.failure == UNIMPORTED:
        return was_not_imported(source.path)
    span = _module_span(source, *offered.place)
    said = offered.failure.strip().partition("\n")[0][:MAX_MESSAGE_LENGTH]
    if native:
        names = quoted(native)
        message = f"`{tool_name(source.path)}` is left out: it needs {names}, made for one kind of machine ({said})"
        return diagnose("MCP410", span, message, "", "use a package in pure JavaScript")
    hint = "open connections and read variables inside the function, when the tool is called"
    message = f"`{tool_name(source.path)}` cannot be imported, and is left out: {said}"
    return diagnose("MCP250", span, message, "", hint)


MAX_MESSAGE_LENGTH = 200


def _module_span(source: Source, path: str, line: int, column: int) -> Span:
    """Return a span in a module, or at its beginning."""
    if path != source.path:
        return Span(source.path, 0, 0)
    offset = source.offset(line, column)
    return Span(source.path, offset, offset)


def project_span(tree: SourceTree, path: str, line: int, column: int) -> Span | None:
    """Return a span in the project; None if it is elsewhere."""
    source = tree.get(path)
    if source is None or not line:
        return None
    offset = source.offset(line, column)
    return Span(path, offset, offset)


def missing_lock(bundled: Bundle, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield that the versions of packages are not fixed, so that builds may differ."""
    if bundled.unlocked:
        message = f"missing `{LOCK}`: the versions of {quoted(bundled.unlocked)} are not fixed"
        where = Span("package.json", 0, 0) if tree.get("package.json") else None
        yield diagnose("MCP411", where, message, "", f"`npm install --package-lock-only` writes `{LOCK}`")


FOLDER = "src/tools/"
ENDINGS = (".ts", ".js", ".mts", ".mjs")
EXCLUDED_ENDINGS = (".d.ts", ".d.mts", "__init__.py")
"""Files in the tools folder that are not tools."""
SCHEMA = re.compile(r"\bschema\b")


def tool_files(tree: SourceTree) -> tuple[Source, ...]:
    """Return the files directly in the folder of tools that are modules, in the order of their names."""
    return tuple(source for path, source in tree.files.items() if is_tool_path(path))


def is_tool_path(path: str) -> bool:
    """Tell whether a path is the one of a tool's module."""
    name = path.removeprefix(FOLDER)
    return name != path and "/" not in name and name.endswith((*ENDINGS, ".py")) and not name.endswith(EXCLUDED_ENDINGS)


def tool_name(path: str) -> str:
    """Return the tool name of a file."""
    return path.rpartition("/")[2].rpartition(".")[0]


def schema_span(source: Source) -> Span:
    """Return the span of a module's schema, or its beginning."""
    match = SCHEMA.search(source.text)
    return Span(source.path, match.start(), match.end()) if match else Span(source.path, 0, 0)
