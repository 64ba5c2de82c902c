"""Lower resources, templates and completions, and find the source of each one's content.

A resource has one source: `text`, `blob` or `file`, which are static; `root`, a folder on the serving machine; or a
handler. Clients do not see the fields that name a source.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import quoted
from mcpc.lower.files import invalid_path_reason, missing_file, project_files
from mcpc.lower.handler_options import check_client_requests, lower_handler_options
from mcpc.lower.metadata import (
    NOT_SHOWN_OF_READ,
    RESOURCE_FIELDS,
    TEMPLATE_FIELDS,
    lower_metadata,
    read_annotations,
    user_interface,
)
from mcpc.lower.tools_and_prompts import string_at
from mcpc.model.definitions import APP, APP_SCHEME, command_node, options_node
from mcpc.model.ir import (
    Completion,
    ExternalHandler,
    FieldOrder,
    Resource,
    ResourceTemplate,
    RootFolder,
    StaticContents,
)
from mcpc.model.ir.uri_templates import TemplateError, UriTemplate, parse_template
from mcpc.reading import member_of
from mcpc_runtime.protocol.media import is_text, is_textual, media_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.model.definitions import Definition
    from mcpc.model.ir import Handler, Metadata
    from mcpc.reading import Node, Source

KNOWN = ("text", "blob", "file")
"""Fields with static content."""
SOURCES = (*KNOWN, "root")
"""Fields that name a source of content."""
# A type and a subtype of at most 127 characters each (RFC 6838, section 4.2), and parameters.
MIME = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}(?: *;.{1,200})?")
NO_MATCH = "(?!)"
"""A pattern that no URI matches."""
MAX_NAMED = 3
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
A_ROOT = '`"/an/absolute/path"`, or `{"environment": "VARIABLE"}`'
A_ROOT_AND_PATH = '`{"folder": "/an/absolute/path", "path": "file"}`, or `{"environment": "VARIABLE", "path": "file"}`'


def needs_function(kind: str, node: Node) -> bool:
    """Tell whether only a function can provide a definition's content."""
    keys = ("values",) if kind == "completion" else SOURCES
    return node.kind == "object" and all(node.get(key) is None for key in keys)


def lower_resource(
    node: Node, handler: Handler | None, general: Node | None, definition: Definition
) -> Resource | None:
    """Return the resource, or None if a required field is missing."""
    name, uri = member_of(node, "name", "string"), member_of(node, "uri", "string")
    content = None if handler else _content(node, definition)
    if name is None or uri is None or (handler is None and content is None):
        return None
    return Resource(
        name=str(name.value),
        uri=str(uri.value),
        span=name.span,
        node=node,
        mime=_mime(node, definition),
        content=content,
        handler=handler,
        running=lower_handler_options(handler, options_node(node), general),
        size=_size(node, content),
        metadata=_metadata(node, _mime(node, definition), content),
        annotations=read_annotations(node),
        interface=user_interface(node),
    )


def _size(node: Node, content: StaticContents | RootFolder | None) -> float | None:
    """Return the declared size, else that of static content."""
    written = member_of(node, "size", "number")
    if written is not None and isinstance(written.value, int | float):
        return written.value
    return content.size if isinstance(content, StaticContents) else None


def _metadata(node: Node, mime: str, content: StaticContents | RootFolder | None) -> Metadata:
    """Return the metadata of a resource; a computed type and size come last."""
    metadata = lower_metadata(node, RESOURCE_FIELDS, NOT_SHOWN_OF_READ)
    added = {"mimeType": bool(mime), "size": isinstance(content, StaticContents)}
    # A set that keeps its order: a key that the author wrote stays in its place.
    keys = dict.fromkeys((*metadata.order.keys, *(key for key, is_known in added.items() if is_known)))
    return replace(metadata, order=FieldOrder(tuple(keys), metadata.order.others))


def lower_template(
    node: Node, handler: Handler | None, general: Node | None, definition: Definition
) -> ResourceTemplate | None:
    """Return the template, or None if a required field is missing."""
    name, template = member_of(node, "name", "string"), parsed_template(node)
    # What a program's framework accepts is listed, even where no URI can be matched with it.
    template = template or (listed_template(node) if is_program(handler) else None)
    root = None if handler or template is None else _template_root(node, template)
    if name is None or template is None or (handler is None and root is None):
        return None
    return ResourceTemplate(
        name=str(name.value),
        uri=template,
        span=name.span,
        node=node,
        mime=string_at(node, "mimeType"),
        content=root,
        handler=handler,
        running=lower_handler_options(handler, options_node(node), general),
        metadata=lower_metadata(node, TEMPLATE_FIELDS, NOT_SHOWN_OF_READ),
        annotations=read_annotations(node),
    )


def lower_completion(
    node: Node, handler: Handler | None, general: Node | None, definition: Definition
) -> Completion | None:
    """Return the completion, or None if a required field is missing."""
    argument, (kind, named) = member_of(node, "argument", "string"), completion_ref(node)
    values = member_of(node, "values", "array")
    if argument is None or named is None or (handler is None and values is None):
        return None
    return Completion(
        kind=kind,
        ref=str(named.value),
        argument=str(argument.value),
        span=argument.span,
        node=node,
        values=tuple(str(item.value) for item in (values.items if values else ())),
        handler=handler,
        running=lower_handler_options(handler, options_node(node), general),
    )


def completion_ref(node: Node) -> tuple[str, Node | None]:
    """Return the target of a completion: `prompt` or `resource`, and the node that names it."""
    ref = member_of(node, "ref", "object")
    kind = string_at(ref, "type").removeprefix("ref/")
    return kind, member_of(ref, {"prompt": "name", "resource": "uri"}.get(kind, ""), "string")


def listed_template(node: Node) -> UriTemplate | None:
    """Return the template of a definition that is only listed: no URI matches it."""
    written = string_at(node, "uriTemplate")
    return UriTemplate(written, NO_MATCH) if written else None


def is_program(handler: Handler | None) -> bool:
    """Tell whether a handler is the project's own program, which lists what its framework accepts."""
    return isinstance(handler, ExternalHandler) and bool(handler.language)


def parsed_template(node: Node) -> UriTemplate | None:
    """Return the parsed URI template of a definition, None if it is invalid."""
    written = member_of(node, "uriTemplate", "string")
    try:
        return None if written is None else parse_template(str(written.value))
    except TemplateError:
        return None


def check_resources(definition: Definition) -> Iterator[Diagnostic]:
    """Yield invalid values of resources and templates whose fields have the right types."""
    for resource in definition.resources:
        yield from _check_sources(resource.node, bound=resource.bound is not None)
        yield from _check_content(resource.node, definition)
        yield from _check_mime(resource.node)
        yield from check_client_requests(options_node(resource.node), ())
    for template in definition.templates:
        yield from _check_known(template.node)
        yield from _check_sources(template.node, bound=template.bound is not None)
        yield from _check_template(template.node, is_listed=is_program(template.handler))
        yield from _check_mime(template.node)
        known = parsed_template(template.node)
        names = [variable.name for variable in known.variables] if known else []
        yield from check_client_requests(options_node(template.node), names)
    yield from _unrequestable_templates(definition)


def _unrequestable_templates(definition: Definition) -> Iterator[Diagnostic]:
    """Yield what is wrong with templates that a program lists: one warning for all that have the same fault."""
    by_reason: dict[str, list[Node]] = {}
    for template in definition.templates:
        written = member_of(template.node, "uriTemplate", "string")
        if written is None or not is_program(template.handler):
            continue
        try:
            parse_template(str(written.value))
        except TemplateError as problem:
            by_reason.setdefault(str(problem), []).append(written)
    for reason, nodes in by_reason.items():
        names = quoted(node.value for node in nodes[:MAX_NAMED])
        more = f" and {len(nodes) - MAX_NAMED} more" if len(nodes) > MAX_NAMED else ""
        subject = f"the URI template {names} is" if len(nodes) == 1 else f"the URI templates {names}{more} are"
        message = f"{subject} listed, but no client can request {'it' if len(nodes) == 1 else 'them'}: {reason}"
        yield diagnose("MCP288", nodes[0].span, message)


def _check_sources(node: Node, *, bound: bool) -> Iterator[Diagnostic]:
    sources = [sources for key in SOURCES if (sources := node.get(key)) is not None]
    program = command_node(node)
    others = [*sources[1:], *([program] if program is not None and sources else [])]
    for other in others:
        message = "the resource has a second content source"
        yield diagnose("MCP125", other.span, message, "one of `text`, `blob`, `file`, `root`, or a handler")
    if bound and sources:
        yield diagnose("MCP125", sources[0].span, "the resource has a second content source besides its function")


def _check_known(template: Node) -> Iterator[Diagnostic]:
    for key in KNOWN:
        value = template.get(key)
        if value is not None:
            message = f"a template describes many resources, but `{key}` is the content of a single one"
            yield diagnose("MCP125", value.span, message, "`root`, or a handler")


def _content(node: Node, definition: Definition) -> StaticContents | RootFolder | None:
    """Return the content of a resource without a handler, None if its source is invalid."""
    written = {key: text_node for key in KNOWN if (text_node := member_of(node, key, "string")) is not None}
    if "text" in written:
        value = str(written["text"].value)
        # JSON can escape lone surrogates, which UTF-8 cannot encode.
        return StaticContents(value, is_blob=False, size=len(value.encode("utf-8", "surrogatepass")))
    if "blob" in written:
        data = _decoded(str(written["blob"].value))
        return None if data is None else StaticContents(str(written["blob"].value), is_blob=True, size=len(data))
    if "file" in written:
        source = _file(written["file"], definition)
        return None if source is None else _of_file(source, _mime(node, definition))
    root = node.get("root")
    folder, path = _root(root) if root is not None else ("", "")
    return RootFolder(folder, path) if folder and path else None


def _of_file(source: Source, mime: str) -> StaticContents:
    """Return a file's content: as text if its bytes and its type allow, else as a blob."""
    if is_textual(mime) and is_text(source.data):
        return StaticContents(source.data.decode(), is_blob=False, size=len(source.data))
    return StaticContents(base64.b64encode(source.data).decode(), is_blob=True, size=len(source.data))


def _decoded(blob: str) -> bytes | None:
    try:
        return base64.b64decode(blob, validate=True)
    except (binascii.Error, ValueError):
        return None


def _file(named: Node, definition: Definition) -> Source | None:
    place = "/".join(part for part in str(named.value).split("/") if part not in ("", "."))
    if invalid_path_reason(str(named.value)):
        return None
    return next((source for source in project_files(definition) if source.path == place), None)


def _mime(node: Node, definition: Definition) -> str:
    """Return the declared media type, or that of user interfaces for one, or that of the file."""
    said, named = string_at(node, "mimeType"), member_of(node, "file", "string")
    if not said and string_at(node, "uri").startswith(APP_SCHEME):
        return APP
    source = _file(named, definition) if named is not None and not said else None
    return media_type(source.path, source.data) if source is not None else said


def _root(root: Node) -> tuple[str, str]:
    """Return the folder (or `$` and a variable) and the path below it; empty if invalid."""
    folder, path = (root.value, "") if root.kind == "string" else (string_at(root, "folder"), string_at(root, "path"))
    variable = string_at(root, "environment")
    if variable and not folder:
        return (f"${variable}" if VARIABLE.fullmatch(variable) else ""), path
    is_absolute = isinstance(folder, str) and folder.startswith("/") and "\0" not in folder and not variable
    return (str(folder) if is_absolute else ""), path


def _template_root(node: Node, template: UriTemplate) -> RootFolder | None:
    root = node.get("root")
    folder, said = _root(root) if root is not None else ("", "")
    path = said or _path_variable(template)
    known = any(variable.name == path for variable in template.variables)
    return RootFolder(folder, path) if folder and known else None


def _path_variable(template: UriTemplate) -> str:
    """Return the variable for the path below a root: the only one, or the only one that may contain `/`."""
    names = [variable.name for variable in template.variables]
    wide = [variable.name for variable in template.variables if variable.exploded or variable.kind == "+"]
    return names[0] if len(names) == 1 else wide[0] if len(wide) == 1 else ""


def _check_content(node: Node, definition: Definition) -> Iterator[Diagnostic]:
    blob, named = member_of(node, "blob", "string"), member_of(node, "file", "string")
    root = node.get("root")
    if blob is not None and _decoded(str(blob.value)) is None:
        yield diagnose("MCP125", blob.span, "`blob` is not base64", "base64 characters, padded with `=`")
    if named is not None and invalid_path_reason(str(named.value)):
        expected = "a path inside the project, with `/` between its folders"
        yield diagnose("MCP125", named.span, f"`{named.value}` {invalid_path_reason(str(named.value))}", expected)
    elif named is not None and _file(named, definition) is None:
        files = {source.path: source for source in project_files(definition)}
        yield missing_file("MCP125", named, files, "a file with the content of the resource")
    if root is not None:
        yield from _check_root(root, A_ROOT_AND_PATH, needs_path=True)


def _check_root(root: Node, expected: str, *, needs_path: bool) -> Iterator[Diagnostic]:
    folder, path = _root(root)
    hint = "an absolute path on the server's machine; use `file` for a file of the project"
    if not folder:
        yield diagnose("MCP129", root.span, "`root` lacks a folder", expected, hint)
    elif needs_path and not path:
        yield diagnose("MCP129", root.span, "`root` lacks the path of a file below it", expected)
    elif needs_path and (invalid_path_reason(path) or "\0" in path):
        # The reason is worded for paths in the project.
        message = f"`{path}` {invalid_path_reason(path) or 'names no file'}".replace("the project", "the root")
        yield diagnose("MCP129", root.span, message, expected)


def _check_template(node: Node, *, is_listed: bool) -> Iterator[Diagnostic]:
    written, root = member_of(node, "uriTemplate", "string"), node.get("root")
    if written is None:
        return
    try:
        template = parse_template(str(written.value))
    except TemplateError as problem:
        if not is_listed:
            yield diagnose("MCP124", written.span, f"invalid URI template `{written.value}`: {problem}")
        return
    if not template.variables:
        hint = "write it as a resource, with `uri`"
        yield diagnose("MCP124", written.span, "the template has no variables, and matches a single URI", "", hint)
    elif root is not None:
        yield from _check_root(root, A_ROOT, needs_path=False)
        if _root(root)[0] and _template_root(node, template) is None:
            names = ", ".join(f"`{variable.name}`" for variable in template.variables)
            message = "it is ambiguous which variable is the path below the root"
            yield diagnose("MCP129", root.span, message, f'`"path"` in `root`: one of {names}')


def _check_mime(node: Node) -> Iterator[Diagnostic]:
    said = member_of(node, "mimeType", "string")
    if said is not None and MIME.fullmatch(str(said.value)) is None:
        yield diagnose("MCP107", said.span, f"`{said.value}` is not a media type", "like `text/plain` or `image/png`")
