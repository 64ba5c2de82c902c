"""The contents of tools, resources and prompts of a knowledge base; every file is read at build time.

{"type": "file", "path": "guide.md"}    {"type": "text", "text": …}                 in a tool
                                        {"uri": its own, "mimeType": …, "text": …}  in a resource, or a blob
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from mcpc.diagnostics.suggestions import quoted
from mcpc.model.revisions import REVISIONS
from mcpc_runtime.protocol.media import is_text, is_textual, media_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpc.frontends.blueprints.base import KnowledgeBaseReader
    from mcpc.reading import Json, Node, Source

    Item = Callable[[KnowledgeBaseReader, Node, str], Json]

FILE_SCHEME = "file://"
KINDS = tuple(dict.fromkeys(kind for revision in REVISIONS for kind in revision.content))
ROLES = ("user", "assistant")
SYSTEM = "system"


def tool_content(reader: KnowledgeBaseReader, node: Node, label: str) -> list[Json]:
    """Return the content blocks of a tool's result."""
    content = reader.required_member(node, "content", "array", label)
    return _items(reader, content, IN_TOOLS, label) if content is not None else []


def resource_contents(reader: KnowledgeBaseReader, node: Node, uri: Node, label: str) -> list[Json]:
    """Return the contents of a resource: those of its items, or else those of its URI."""
    if node.get("content") is None:
        return _contents_of_uri(reader, node, uri, label)
    content = reader.required_member(node, "content", "array", label)
    found = _items(reader, content, IN_RESOURCES, label) if content is not None else []
    return [_with_uri(item, str(uri.value), _declared_mime(node)) for item in found if isinstance(item, dict)]


def prompt_messages(reader: KnowledgeBaseReader, node: Node, label: str) -> list[Json]:
    """Return the messages of a prompt."""
    found = [_message(reader, item, label) for item in reader.optional_objects(node, "messages", label)]
    return [message for message in found if message is not None]


def _items(reader: KnowledgeBaseReader, content: Node, known: Mapping[str, Item], label: str) -> list[Json]:
    """Return the values of a content's items; an item of an unknown type is left out."""
    found: list[Json] = []
    for item in content.items:
        if not reader.check_kind(item, "object", f"an item of `content` of {label}"):
            continue
        kind = reader.required_member(item, "type", "string", f"an item of {label}")
        read = None if kind is None else known.get(str(kind.value))
        if kind is not None and read is None:
            message = f"content of the type `{kind.value}` in {label} is left out"
            reader.report("MCP274", kind.span, message, f"one of {quoted(known)}")
        made = None if read is None else read(reader, item, label)
        found += [] if made is None else [made]
    return found


def _text(reader: KnowledgeBaseReader, item: Node, label: str) -> Json:
    text = reader.required_text(item, "text", f"a text of {label}")
    return None if text is None else {"type": "text", "text": text}


def _source(reader: KnowledgeBaseReader, item: Node, label: str) -> Source | None:
    path = reader.required_member(item, "path", "string", f"a file of {label}")
    if path is None:
        return None
    source, problems = reader.base.find_file(path, f"a file of {label}")
    reader.problems.extend(problems)
    return source


def _file(reader: KnowledgeBaseReader, item: Node, label: str) -> Json:
    """Return a file as text; a tool's result cannot contain a file in another form."""
    source = _source(reader, item, label)
    if source is None:
        return None
    try:
        return {"type": "text", "text": source.data.decode()}
    except UnicodeDecodeError as problem:
        span = (item.get("path") or item).span
        what = f"`{source.path}`, a file of {label}, is not UTF-8 at byte {problem.start}"
        reader.report("MCP001", span, what, "a text", "save it as UTF-8; in a resource it may be any file")
        return None


def _link(reader: KnowledgeBaseReader, item: Node, label: str) -> Json:
    uri = reader.required_text(item, "uri", f"a link of {label}")
    if uri is None:
        return None
    optional = {key: item.get(key) for key in ("name", "mimeType", "description")}
    said = {
        key: found.value
        for key, found in optional.items()
        if found is not None and reader.check_kind(found, "string", f"`{key}` of a link of {label}")
    }
    return {"type": "resource_link", "uri": uri, "name": uri, **said}  # the protocol wants a name


def _bytes(reader: KnowledgeBaseReader, item: Node, label: str) -> Json:
    source = _source(reader, item, label)
    return None if source is None else _file_contents(source)


def _file_contents(source: Source) -> dict[str, Json]:
    """Return a file as resource contents: text if it is textual, else a blob."""
    mime = media_type(source.path, source.data)
    if is_textual(mime) and is_text(source.data):
        return {"mimeType": mime, "text": source.data.decode()}
    return {"mimeType": mime, "blob": b64encode(source.data).decode()}


def _reference(reader: KnowledgeBaseReader, item: Node, label: str) -> Json:
    uri = reader.required_text(item, "uri", f"a uri of {label}")
    return None if uri is None else _reference_contents(uri)


def _reference_contents(uri: str) -> dict[str, Json]:
    return {"uri": uri, "text": f"Resource available at: {uri}"}


IN_TOOLS: dict[str, Item] = {"text": _text, "file": _file, "resource_link": _link}
IN_RESOURCES: dict[str, Item] = {"text": _text, "file": _bytes, "uri": _reference}


def _declared_mime(node: Node) -> str:
    found = node.get("mimeType")
    return str(found.value) if found is not None and found.kind == "string" else ""


def _with_uri(item: dict[str, Json], uri: str, mime: str) -> Json:
    """Return resource contents with the resource's URI and type, unless they have their own URI."""
    if "uri" in item:
        return item
    said = mime if "text" in item or not is_textual(mime) else ""
    kind: Json = said or item.get("mimeType")
    typed: dict[str, Json] = {"mimeType": kind} if kind else {}
    return {"uri": uri, **typed, **{key: value for key, value in item.items() if key in ("text", "blob")}}


def _contents_of_uri(reader: KnowledgeBaseReader, node: Node, uri: Node, label: str) -> list[Json]:
    """Return the contents of a resource without `content`: the file of its URI, its folder's files, or the URI."""
    written = str(uri.value)
    if not written.startswith(FILE_SCHEME):
        return [_reference_contents(written)]
    path = written.removeprefix(FILE_SCHEME)
    place = reader.base.resolve(path)
    if place is None:
        reader.report("MCP710", uri.span, f"`{written}`, the URI of {label}, is outside the project")
        return []
    source = reader.base.tree.get(place)
    if source is not None:
        return [_with_uri(_file_contents(source), written, _declared_mime(node))]
    inside = reader.base.files_below(place)
    if not inside:
        message = f"`{written}`, the URI of {label}, is not a file of the knowledge base"
        reader.report("MCP278", uri.span, message, "", "the resource will only contain its URI")
        return [_reference_contents(written)]
    folder = FILE_SCHEME + path.rstrip("/")
    return [{"uri": folder + file.path.removeprefix(place), **_file_contents(file)} for file in inside]


def _message(reader: KnowledgeBaseReader, node: Node, label: str) -> Json:
    """Return a message unchanged, except that the role `system` becomes `user`."""
    where = f"a message of {label}"
    role, content = reader.required_member(node, "role", "string", where), node.get("content")
    if content is not None and content.kind == "string":
        hint = '`{"type": "text", "text": …}`'
        reader.report("MCP101", content.span, f"`content` of {where} must be an object, found a string", hint)
        return None
    content = reader.required_member(node, "content", "object", where)
    if role is None or content is None or not _is_content(reader, content, where):
        return None
    value = node.value if isinstance(node.value, dict) else {}
    if role.value == SYSTEM:
        reader.report(
            "MCP277", role.span, f"{where} has the role `system`, and is sent as the user's", f"one of {quoted(ROLES)}"
        )
        return {**value, "role": "user"}
    if role.value not in ROLES:
        reader.report("MCP107", role.span, f"{where} has the role `{role.value}`", f"one of {quoted(ROLES)}")
    return value


def _is_content(reader: KnowledgeBaseReader, content: Node, where: str) -> bool:
    kind = reader.required_member(content, "type", "string", f"`content` of {where}")
    if kind is not None and kind.value not in KINDS:
        reader.report("MCP107", kind.span, f"unknown content type `{kind.value}`", f"one of {quoted(KINDS)}")
    return kind is not None and (
        kind.value != "text" or reader.required_text(content, "text", f"the text of {where}") is not None
    )
