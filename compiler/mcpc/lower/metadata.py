"""Lower client-visible metadata of definitions to typed fields.

A field of the wrong type is reported elsewhere and empty here; such a server is never emitted.

What handlers may report as changed while the server runs (lists, and contents of resources) is a capability, too. The
lists of a built file are fixed, but results of handlers may change, and a handler that reports a change is believed.
The changed list is determined from the argument of the call; if that is not constant, any list may change.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.model.definitions import COMPILER_PREFIX, CONTENT_KEYS
from mcpc.model.ir import (
    Annotations,
    Capability,
    FieldOrder,
    Icon,
    Implementation,
    Located,
    Metadata,
    ToolAnnotations,
    UserInterface,
)
from mcpc.reading import member_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mcpc.model.definitions import Definition
    from mcpc.options import Options
    from mcpc.reading import Json, Node

COMMON = ("title", "description", "icons", "_meta")
TOOL_FIELDS = (*COMMON, "name", "inputSchema", "outputSchema", "annotations")
PROMPT_FIELDS = (*COMMON, "name", "arguments")
PROMPT_ARGUMENT_FIELDS = ("name", "title", "description", "required")
RESOURCE_FIELDS = (*COMMON, "name", "uri", "mimeType", "annotations", "size")
TEMPLATE_FIELDS = (*COMMON, "name", "uriTemplate", "mimeType", "annotations")
IMPLEMENTATION_FIELDS = ("name", "title", "version", "description", "websiteUrl", "icons")
SERVER_FIELDS = ("protocolVersion", "serverInfo", "capabilities", "instructions", "_meta")
"""The fields of each kind of definition that the IR represents."""
NOT_SHOWN_OF_TOOL = ("execution",)
"""`execution` is not shown in any revision: whether a call is a task is agreed between client and server."""
NOT_SHOWN_OF_READ = tuple(CONTENT_KEYS)
"""Fields with the source of a resource's content are not shown."""
NOT_SHOWN_OF_SERVER = ("settings", "toolsets")
"""Settings are for the person who installs the server."""
LEGACY_INTERFACE = "ui/resourceUri"
"""The former name of `_meta.ui`; hosts still read it, so the same rules apply."""


def lower_metadata(node: Node | None, known: Collection[str], hidden: Collection[str] = ()) -> Metadata:
    """Return the metadata of a definition; `known` are the fields of its kind, `hidden` ones are not for clients."""
    description, icons, written = member_of(node, "description"), member_of(node, "icons"), member_of(node, "_meta")
    meta: dict[str, Json] | None = None
    if written is not None and isinstance(written.value, dict):
        public = {key: value for key, value in written.value.items() if not key.startswith(COMPILER_PREFIX)}
        # An author's own empty `_meta` stays; one that had options of the compiler only is left out.
        meta = public if public or not written.value else None
    return Metadata(
        title=string_member(node, "title"),
        description=None if description is None else str(description.value),
        icons=() if icons is None else tuple(icon(item) for item in icons.items),
        meta=meta,
        order=field_order(node, known, (*hidden, *(("_meta",) if meta is None and "_meta" in known else ()))),
    )


def field_order(node: Node | None, known: Collection[str], hidden: Collection[str] = ()) -> FieldOrder:
    """Return the order of an object's fields, and the fields that are not `known`."""
    value = node.value if node is not None and isinstance(node.value, dict) else {}
    keys = tuple(key for key in value if key not in hidden)
    return FieldOrder(keys, tuple((key, value[key]) for key in keys if key not in known))


def icon(node: Node) -> Icon:
    return Icon(
        source=string_member(node, "src"),
        mime=string_member(node, "mimeType"),
        sizes=tuple(str(item.value) for item in _items(node, "sizes")),
        theme=string_member(node, "theme"),
        order=field_order(node, ("src", "mimeType", "sizes", "theme")),
    )


TOOL_HINTS = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}


def tool_annotations(tool: Node) -> ToolAnnotations:
    """Return the behaviour hints of a tool."""
    node = tool.get("annotations")
    if node is None:
        return ToolAnnotations()
    hints = {field: _hint(node, key) for key, field in TOOL_HINTS.items()}
    order = field_order(node, ("title", *TOOL_HINTS))
    return ToolAnnotations(title=string_member(node, "title"), order=order, **hints)


def read_annotations(definition: Node) -> Annotations:
    """Return the annotations of a resource or a template."""
    node = member_of(definition, "annotations")
    priority = member_of(node, "priority")
    return Annotations(
        audience=tuple(str(item.value) for item in _items(node, "audience")),
        priority=priority.value if priority is not None and isinstance(priority.value, int | float) else None,
        last_modified=string_member(node, "lastModified"),
        order=field_order(node, ("audience", "priority", "lastModified")),
    )


def lower_implementation(server: Node) -> Implementation:
    """Return the server's name and version."""
    node = member_of(server, "serverInfo")
    return Implementation(
        name=string_member(node, "name"),
        version=string_member(node, "version"),
        website=string_member(node, "websiteUrl"),
        metadata=lower_metadata(node, IMPLEMENTATION_FIELDS),
    )


def server_metadata(server: Node) -> Metadata:
    """Return the server's fields in `initialize` beside computed ones; its order has all fields of the result."""
    metadata = lower_metadata(server, SERVER_FIELDS, NOT_SHOWN_OF_SERVER)
    keys = metadata.order.keys
    first = () if "protocolVersion" in keys else ("protocolVersion",)
    last = tuple(key for key in ("serverInfo", "capabilities") if key not in keys)
    return Metadata(meta=metadata.meta, order=FieldOrder((*first, *keys, *last), metadata.order.others))


def lower_capabilities(server: Node) -> Iterator[Capability]:
    """Yield the declared capabilities of a project."""
    declared = member_of(server, "capabilities")
    for member in declared.members if declared is not None else ():
        change = member.node.get("listChanged")
        yield Capability(
            name=member.key,
            span=member.key_span,
            settings=member.node.value if isinstance(member.node.value, dict) else {},
            list_changed=_hint(member.node, "listChanged") is True,
            subscribe=_hint(member.node, "subscribe") is True,
            list_changed_span=None if change is None else change.span,
        )


def user_interface(definition: Node) -> UserInterface | None:
    """Return the user interface of a definition, or None."""
    meta = definition.get("_meta")
    if meta is None:
        return None
    node, legacy = member_of(meta, "ui"), member_of(meta, LEGACY_INTERFACE)
    uris = [uri_node for uri_node in (member_of(node, "resourceUri"), legacy) if uri_node is not None]
    if node is None and legacy is None:
        return None
    return UserInterface(
        span=(node or uris[0]).span,
        is_object=node is None or node.kind == "object",
        uris=tuple(Located(uri.value, uri.span) for uri in uris),
        visibility=tuple(Located(item.value, item.span) for item in _items(node, "visibility")),
        keys=tuple(Located(member.key, member.key_span) for member in (node.members if node is not None else ())),
    )


def string_member(node: Node | None, key: str) -> str:
    """Return a string member, or an empty string."""
    value = member_of(node, key)
    return value.value if value is not None and isinstance(value.value, str) else ""


def _hint(node: Node | None, key: str) -> bool | None:
    value = member_of(node, key)
    return value.value if value is not None and isinstance(value.value, bool) else None


def _items(node: Node | None, key: str) -> tuple[Node, ...]:
    listed = member_of(node, key)
    return () if listed is None else listed.items


CONTENTS = re.compile(r"\b(?:resource_updated|mcpc_updated)\b")
# A call that reports a changed list, and which list, if a literal behind it says so.
LISTS = re.compile(r"\b(?:list_changed|mcpc_changed)\b[\s(]*[\"']?(tools|prompts|resources)?")
KINDS = ("tools", "prompts", "resources")
ENDINGS = (".py", ".bash", ".sh")


EVER = "ever"
"""Added to the lists: changes are announced even for lists that are empty."""


def declared_changes(definition: Definition, options: Options) -> frozenset[str]:
    """Return the lists, and `contents`, that may change."""
    always = (*KINDS, EVER) if options.live else ()
    return frozenset((*always, *_mentioned_lists(definition)))


def _mentioned_lists(definition: Definition) -> Iterator[str]:
    sources = (*definition.beside, *(library.source for library in definition.libraries))
    for source in sources:
        if source.path.endswith(ENDINGS):
            if CONTENTS.search(source.text):
                yield "contents"
            for match in LISTS.finditer(source.text):
                yield from (match[1],) if match[1] else KINDS
