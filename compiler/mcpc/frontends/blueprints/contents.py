"""What tools, resources and prompts of a knowledge base say, as the protocol has it: every file is read now.

{"type": "file", "path": "guide.md"}    {"type": "text", "text": …}                 in a tool
                                        {"uri": its own, "mimeType": …, "text": …}  in a resource, or a blob
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from mcpc.definitions.media import is_text, media_type
from mcpc.revisions import REVISIONS
from mcpc_runtime.protocol.media import is_textual

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpc.frontends.blueprints.reading import Reading
    from mcpc.sources import Json, Node, Source

    Item = Callable[[Reading, Node, str], Json]

FILE_SCHEME = "file://"
KINDS = tuple(dict.fromkeys(kind for revision in REVISIONS for kind in revision.content))
ROLES = ("user", "assistant")
SYSTEM = "system"


def tool_content(reading: Reading, node: Node, label: str) -> list[Json]:
    """Return the content blocks of a tool's result."""
    content = reading.part(node, "content", "array", label)
    return _items(reading, content, IN_TOOLS, label) if content is not None else []


def resource_contents(reading: Reading, node: Node, uri: Node, label: str) -> list[Json]:
    """Return the contents of a resource: what its items say, or else what its uri leads to."""
    if node.get("content") is None:
        return _of_uri(reading, node, uri, label)
    content = reading.part(node, "content", "array", label)
    found = _items(reading, content, IN_RESOURCES, label) if content is not None else []
    return [_placed(one, str(uri.value), _mime(node)) for one in found if isinstance(one, dict)]


def messages(reading: Reading, node: Node, label: str) -> list[Json]:
    """Return the messages of a prompt, as they are written."""
    found = [_message(reading, one, label) for one in reading.objects(node, "messages", label)]
    return [message for message in found if message is not None]


def _items(reading: Reading, content: Node, known: Mapping[str, Item], label: str) -> list[Json]:
    """Return what the items of a content are; one of an unknown type is left out, as it always was."""
    found: list[Json] = []
    for item in content.items:
        if not reading.is_a(item, "object", f"an item of `content` of {label}"):
            continue
        kind = reading.part(item, "type", "string", f"an item of {label}")
        read = None if kind is None else known.get(str(kind.value))
        if kind is not None and read is None:
            expected = "one of " + ", ".join(f"`{name}`" for name in known)
            message = f"content of the type `{kind.value}` in {label} is left out"
            reading.report("MCP274", kind.span, message, expected)
        made = None if read is None else read(reading, item, label)
        found += [] if made is None else [made]
    return found


def _text(reading: Reading, item: Node, label: str) -> Json:
    text = reading.text(item, "text", f"a text of {label}")
    return None if text is None else {"type": "text", "text": text}


def _source(reading: Reading, item: Node, label: str) -> Source | None:
    path = reading.part(item, "path", "string", f"a file of {label}")
    if path is None:
        return None
    source, problems = reading.base.found(path, f"a file of {label}")
    reading.problems.extend(problems)
    return source


def _file(reading: Reading, item: Node, label: str) -> Json:
    """Return a file as a text; a tool has no other way to show one."""
    source = _source(reading, item, label)
    try:
        return None if source is None else {"type": "text", "text": source.data.decode()}
    except UnicodeDecodeError as problem:
        span = (item.get("path") or item).span
        what = f"`{source.path if source else ''}`, a file of {label}, is not UTF-8 at byte {problem.start}"
        reading.report("MCP001", span, what, "a text", "save it as UTF-8; in a resource it may be any file")
        return None


def _link(reading: Reading, item: Node, label: str) -> Json:
    uri = reading.text(item, "uri", f"a link of {label}")
    if uri is None:
        return None
    optional = {key: item.get(key) for key in ("name", "mimeType", "description")}
    said = {
        key: found.value
        for key, found in optional.items()
        if found is not None and reading.is_a(found, "string", f"`{key}` of a link of {label}")
    }
    return {"type": "resource_link", "uri": uri, "name": uri, **said}  # the protocol wants a name


def _bytes(reading: Reading, item: Node, label: str) -> Json:
    source = _source(reading, item, label)
    return None if source is None else _shown(source)


def _shown(source: Source) -> dict[str, Json]:
    """Return a file as a part of a resource: a text if it is one."""
    mime = media_type(source.path, source.data)
    if is_textual(mime) and is_text(source.data):
        return {"mimeType": mime, "text": source.data.decode()}
    return {"mimeType": mime, "blob": b64encode(source.data).decode()}


def _reference(reading: Reading, item: Node, label: str) -> Json:
    uri = reading.text(item, "uri", f"a uri of {label}")
    return None if uri is None else _pointer(uri)


def _pointer(uri: str) -> dict[str, Json]:
    return {"uri": uri, "text": f"Resource available at: {uri}"}


IN_TOOLS: dict[str, Item] = {"text": _text, "file": _file, "resource_link": _link}
IN_RESOURCES: dict[str, Item] = {"text": _text, "file": _bytes, "uri": _reference}


def _mime(node: Node) -> str:
    found = node.get("mimeType")
    return str(found.value) if found is not None and found.kind == "string" else ""


def _placed(item: dict[str, Json], uri: str, mime: str) -> Json:
    """Return a part of a resource with the resource's uri and type, unless it has its own uri."""
    if "uri" in item:
        return item
    said = mime if "text" in item or not is_textual(mime) else ""
    kind: Json = said or item.get("mimeType")
    typed: dict[str, Json] = {"mimeType": kind} if kind else {}
    return {"uri": uri, **typed, **{key: value for key, value in item.items() if key in ("text", "blob")}}


def _of_uri(reading: Reading, node: Node, uri: Node, label: str) -> list[Json]:
    """Return what a resource without content has: the file of its uri, or all in that folder, or the uri itself."""
    written = str(uri.value)
    place = reading.base.place(written.removeprefix(FILE_SCHEME)) if written.startswith(FILE_SCHEME) else ""
    if not written.startswith(FILE_SCHEME):
        return [_pointer(written)]
    if place is None:
        reading.report("MCP710", uri.span, f"`{written}`, the uri of {label}, leads outside the project")
        return []
    source = reading.base.tree.get(place)
    if source is not None:
        return [_placed(_shown(source), written, _mime(node))]
    inside = reading.base.below(place) if place else ()
    if not inside:
        message = f"`{written}`, the uri of {label}, leads to no file of the knowledge base"
        reading.report("MCP278", uri.span, message, "", "the resource will only say what its uri is")
        return [_pointer(written)]
    return [{"uri": f"{written.rstrip('/')}/{file.path[len(place) + 1 :]}", **_shown(file)} for file in inside]


def _message(reading: Reading, node: Node, label: str) -> Json:
    """Return a message as it is; a role that the protocol does not have becomes the user's."""
    where = f"a message of {label}"
    role, content = reading.part(node, "role", "string", where), node.get("content")
    if content is not None and content.kind == "string":
        hint = '`{"type": "text", "text": …}`'
        reading.report("MCP101", content.span, f"`content` of {where} must be an object, found a string", hint)
        return None
    content = reading.part(node, "content", "object", where)
    if role is None or content is None or not _is_content(reading, content, where):
        return None
    value = node.value if isinstance(node.value, dict) else {}
    if role.value == SYSTEM:
        reading.report("MCP277", role.span, f"{where} has the role `system`, and becomes the user's", _either(ROLES))
        return {**value, "role": "user"}
    if role.value not in ROLES:
        reading.report("MCP107", role.span, f"{where} has the role `{role.value}`", _either(ROLES))
    return value


def _is_content(reading: Reading, content: Node, where: str) -> bool:
    kind = reading.part(content, "type", "string", f"`content` of {where}")
    if kind is not None and kind.value not in KINDS:
        reading.report("MCP107", kind.span, f"there is no content of the type `{kind.value}`", _either(KINDS))
    return kind is not None and (
        kind.value != "text" or reading.text(content, "text", f"the text of {where}") is not None
    )


def _either(names: tuple[str, ...]) -> str:
    return "one of " + ", ".join(f"`{name}`" for name in names)
