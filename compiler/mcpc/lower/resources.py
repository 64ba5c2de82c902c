"""Resources, templates and completions: where the content of each comes from.

A resource has one source: `text`, `blob` or `file`, which are known now; `root`, a folder of the machine that serves;
or a handler.  What names a source is said to the compiler alone, and no client is shown it.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from mcpc.definitions.handling import command, handling
from mcpc.diagnostics import diagnose
from mcpc.ir import Completion, Contents, Resource, ResourceTemplate, Root
from mcpc.ir.uri_templates import TemplateError, UriTemplate, parse_template
from mcpc.lower.asking import asks_wrong
from mcpc.lower.parts import member, text
from mcpc.lower.programs import absent, misnamed, project_files
from mcpc.lower.running import running
from mcpc_runtime.protocol.media import is_text, is_textual, media_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic
    from mcpc.ir import Handler
    from mcpc.sources import Node, Source

KNOWN = ("text", "blob", "file")
"""Fields that say what a resource is when it is built."""
SOURCES = (*KNOWN, "root")
"""Fields that name a source of content."""
MIME = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}(?: *;.{1,200})?")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
A_ROOT = '`"/an/absolute/path"`, or `{"environment": "VARIABLE"}`'
A_ROOT_AND_PATH = '`{"folder": "/an/absolute/path", "path": "file"}`, or `{"environment": "VARIABLE", "path": "file"}`'


def wants_function(kind: str, node: Node) -> bool:
    """Say whether a definition's content can only come from a function."""
    keys = ("values",) if kind == "completion" else SOURCES
    return node.kind == "object" and all(node.get(key) is None for key in keys)


def lower_resource(
    node: Node, handler: Handler | None, general: Node | None, definition: Definition
) -> Resource | None:
    """Return the resource, or None if it lacks what every resource has."""
    name, uri = member(node, "name", "string"), member(node, "uri", "string")
    content = None if handler else _content(node, definition)
    if name is None or uri is None or (handler is None and content is None):
        return None
    return Resource(
        name=str(name.value),
        uri=str(uri.value),
        span=name.span,
        members=node,
        mime=_mime(node, definition),
        content=content,
        handler=handler,
        running=running(handler, handling(node), general),
    )


def lower_template(
    node: Node, handler: Handler | None, general: Node | None, definition: Definition
) -> ResourceTemplate | None:
    """Return the template, or None if it lacks what every template has."""
    name, template = member(node, "name", "string"), template_of(node)
    root = None if handler or template is None else _template_root(node, template)
    if name is None or template is None or (handler is None and root is None):
        return None
    return ResourceTemplate(
        name=str(name.value),
        uri=template,
        span=name.span,
        members=node,
        mime=text(node, "mimeType"),
        content=root,
        handler=handler,
        running=running(handler, handling(node), general),
    )


def lower_completion(
    node: Node, handler: Handler | None, general: Node | None, definition: Definition
) -> Completion | None:
    """Return the completion, or None if it lacks what every completion has."""
    argument, (kind, named) = member(node, "argument", "string"), ref_of(node)
    values = member(node, "values", "array")
    if argument is None or named is None or (handler is None and values is None):
        return None
    return Completion(
        kind=kind,
        ref=str(named.value),
        argument=str(argument.value),
        span=argument.span,
        members=node,
        values=tuple(str(item.value) for item in (values.items if values else ())),
        handler=handler,
        running=running(handler, handling(node), general),
    )


def ref_of(node: Node) -> tuple[str, Node | None]:
    """Return what a completion is for: `prompt` or `resource`, and the node that names it."""
    ref = member(node, "ref", "object")
    kind = text(ref, "type").removeprefix("ref/")
    return kind, member(ref, {"prompt": "name", "resource": "uri"}.get(kind, ""), "string")


def template_of(node: Node) -> UriTemplate | None:
    """Return the template that a definition has, None if it is none."""
    written = member(node, "uriTemplate", "string")
    try:
        return None if written is None else parse_template(str(written.value))
    except TemplateError:
        return None


def resources_wrong(definition: Definition) -> Iterator[Diagnostic]:
    """Yield what cannot be meant by a resource or a template of which every field has its type."""
    for resource in definition.resources:
        yield from _sources_wrong(resource.node, bound=resource.bound is not None)
        yield from _content_wrong(resource.node, definition)
        yield from _mime_wrong(resource.node)
        yield from asks_wrong(handling(resource.node), ())
    for template in definition.templates:
        yield from _known_wrong(template.node)
        yield from _sources_wrong(template.node, bound=template.bound is not None)
        yield from _template_wrong(template.node)
        yield from _mime_wrong(template.node)
        known = template_of(template.node)
        names = [variable.name for variable in known.variables] if known else []
        yield from asks_wrong(handling(template.node), names)


def _sources_wrong(node: Node, *, bound: bool) -> Iterator[Diagnostic]:
    found = [found for key in SOURCES if (found := member_of(node, key)) is not None]
    program = command(node) if node.kind == "object" else None
    others = [*found[1:], *([program] if program is not None and found else [])]
    for other in others:
        message = "the content of a resource has one source, and this is another"
        yield diagnose("MCP125", other.span, message, "one of `text`, `blob`, `file`, `root`, or a handler")
    if bound and found:
        yield diagnose("MCP125", found[0].span, "the function has the content, and this is another source")


def _known_wrong(template: Node) -> Iterator[Diagnostic]:
    for key in KNOWN:
        found = member_of(template, key)
        if found is not None:
            message = f"a template describes many resources, and `{key}` is the content of one"
            yield diagnose("MCP125", found.span, message, "`root`, or a handler")


def member_of(node: Node, key: str) -> Node | None:
    """Return a member of an object, of whatever kind it is."""
    return node.get(key) if node.kind == "object" else None


def _content(node: Node, definition: Definition) -> Contents | Root | None:
    """Return the content of a resource that has no handler, None if what names it is wrong."""
    written = {key: found for key in KNOWN if (found := member(node, key, "string")) is not None}
    if "text" in written:
        value = str(written["text"].value)
        return Contents(value, is_blob=False, size=len(value.encode("utf-8", "surrogatepass")))
    if "blob" in written:
        data = _decoded(str(written["blob"].value))
        return None if data is None else Contents(str(written["blob"].value), is_blob=True, size=len(data))
    if "file" in written:
        source = _file(written["file"], definition)
        return None if source is None else _of_file(source, _mime(node, definition))
    root = member_of(node, "root")
    folder, path = _root(root) if root is not None else ("", "")
    return Root(folder, path) if folder and path else None


def _of_file(source: Source, mime: str) -> Contents:
    """Return a file's content: a text if it is one and its type says so, else a blob."""
    if is_textual(mime) and is_text(source.data):
        return Contents(source.data.decode(), is_blob=False, size=len(source.data))
    return Contents(base64.b64encode(source.data).decode(), is_blob=True, size=len(source.data))


def _decoded(blob: str) -> bytes | None:
    try:
        return base64.b64decode(blob, validate=True)
    except (binascii.Error, ValueError):
        return None


def _file(named: Node, definition: Definition) -> Source | None:
    place = "/".join(part for part in str(named.value).split("/") if part not in ("", "."))
    if misnamed(str(named.value)):
        return None
    return next((source for source in project_files(definition) if source.path == place), None)


def _mime(node: Node, definition: Definition) -> str:
    """Return the media type that is said, or that of the file."""
    said, named = text(node, "mimeType"), member(node, "file", "string")
    source = _file(named, definition) if named is not None and not said else None
    return media_type(source.path, source.data) if source is not None else said


def _root(root: Node) -> tuple[str, str]:
    """Return the folder, or `$` and the variable that has it, and the path below it; nothing for what is wrong."""
    folder, path = (root.value, "") if root.kind == "string" else (text(root, "folder"), text(root, "path"))
    variable = text(root, "environment")
    if variable and not folder:
        return (f"${variable}" if VARIABLE.fullmatch(variable) else ""), path
    is_absolute = isinstance(folder, str) and folder.startswith("/") and "\0" not in folder and not variable
    return (str(folder) if is_absolute else ""), path


def _template_root(node: Node, template: UriTemplate) -> Root | None:
    root = member_of(node, "root")
    folder, said = _root(root) if root is not None else ("", "")
    path = said or _path_variable(template)
    known = any(variable.name == path for variable in template.variables)
    return Root(folder, path) if folder and known else None


def _path_variable(template: UriTemplate) -> str:
    """Return the variable that must hold the path below a root: the only one, or the only one that may hold `/`."""
    names = [variable.name for variable in template.variables]
    wide = [variable.name for variable in template.variables if variable.exploded or variable.kind == "+"]
    return names[0] if len(names) == 1 else wide[0] if len(wide) == 1 else ""


def _content_wrong(node: Node, definition: Definition) -> Iterator[Diagnostic]:
    blob, named, root = member(node, "blob", "string"), member(node, "file", "string"), member_of(node, "root")
    if blob is not None and _decoded(str(blob.value)) is None:
        yield diagnose("MCP125", blob.span, "`blob` is not base64", "the letters of base64, padded with `=`")
    if named is not None and misnamed(str(named.value)):
        expected = "a path inside the project, with `/` between its folders"
        yield diagnose("MCP125", named.span, f"`{named.value}` {misnamed(str(named.value))}", expected)
    elif named is not None and _file(named, definition) is None:
        files = {source.path: source for source in project_files(definition)}
        yield absent("MCP125", named, files, "a file whose content the resource has")
    if root is not None:
        yield from _root_wrong(root, A_ROOT_AND_PATH, needs_path=True)


def _root_wrong(root: Node, expected: str, *, needs_path: bool) -> Iterator[Diagnostic]:
    folder, path = _root(root)
    hint = "a path of the machine that serves; what lies in the project is `file`, and goes into the built file"
    if not folder:
        yield diagnose("MCP129", root.span, "`root` names no folder", expected, hint)
    elif needs_path and not path:
        yield diagnose("MCP129", root.span, "`root` names no file below it", expected)
    elif needs_path and (misnamed(path) or "\0" in path):
        message = f"`{path}` {misnamed(path) or 'names no file'}".replace("the project", "the root")
        yield diagnose("MCP129", root.span, message, expected)


def _template_wrong(node: Node) -> Iterator[Diagnostic]:
    written, root = member(node, "uriTemplate", "string"), member_of(node, "root")
    if written is None:
        return
    try:
        template = parse_template(str(written.value))
    except TemplateError as problem:
        yield diagnose("MCP124", written.span, f"no uri can be matched with `{written.value}`: {problem}")
        return
    if not template.variables:
        hint = "write it as a resource, with `uri`"
        yield diagnose("MCP124", written.span, "the template has no variable, and describes one uri", "", hint)
    elif root is not None:
        yield from _root_wrong(root, A_ROOT, needs_path=False)
        if _root(root)[0] and _template_root(node, template) is None:
            names = ", ".join(f"`{variable.name}`" for variable in template.variables)
            message = "which variable holds the path below the root is not known"
            yield diagnose("MCP129", root.span, message, f'`"path"` in `root`: one of {names}')


def _mime_wrong(node: Node) -> Iterator[Diagnostic]:
    said = member(node, "mimeType", "string")
    if said is not None and MIME.fullmatch(str(said.value)) is None:
        yield diagnose("MCP107", said.span, f"`{said.value}` is no media type", "like `text/plain` or `image/png`")
