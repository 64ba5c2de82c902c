"""The contents of resources: results of functions, and their form on the wire."""

from __future__ import annotations

import json
from base64 import b64encode

from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.contents import typed, wire
from mcpc_runtime.systems.fastmcp.engine.jsons import json_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.systems.fastmcp.engine.components import Resource, Template

    Object = dict[str, Any]

TEXT = "text/plain"
OCTETS = "application/octet-stream"
JSON = "application/json"
NATIVE = (dict, list, tuple, int, float, bool, type(None))


class ResourceContent:
    """A part of what a resource contains: text or bytes."""

    def __init__(self, content: Any, mime_type: str | None = None, meta: Object | None = None) -> None:
        default = JSON
        if isinstance(content, (str, bytes)):
            default = TEXT if isinstance(content, str) else OCTETS
        else:
            content = json_text(content)
        self.content: str | bytes = content
        self.mime_type = mime_type or default
        self.meta = meta

    def to_wire(self, uri: str) -> Object:
        """Return the contents on the wire."""
        found: Object = {"uri": uri, "mimeType": self.mime_type}
        if self.meta is not None:
            found["_meta"] = wire(self.meta)
        if isinstance(self.content, str):
            return {**found, "text": self.content}
        return {**found, "blob": b64encode(self.content).decode()}

    def to_mcp_resource_contents(self, uri: Any) -> Any:
        """Return the SDK's contents."""
        name = "TextResourceContents" if isinstance(self.content, str) else "BlobResourceContents"
        return typed(name, self.to_wire(str(uri)))


class ResourceResult:
    """What a resource contains."""

    def __init__(self, contents: Any, meta: Object | None = None) -> None:
        self.contents = parts_of(contents)
        self.meta = meta

    def to_wire(self, uri: str) -> Object:
        """Return the protocol's ReadResourceResult."""
        found = {"contents": [part.to_wire(uri) for part in self.contents]}
        return found if self.meta is None else {"_meta": wire(self.meta), **found}

    def to_mcp_result(self, uri: Any) -> Any:
        """Return the SDK's result."""
        return typed("ReadResourceResult", self.to_wire(str(uri)))


def parts_of(contents: Any) -> list[ResourceContent]:
    """Return contents as parts; TypeError: they are nothing that a resource may contain."""
    if isinstance(contents, (str, bytes)):
        return [ResourceContent(contents)]
    if isinstance(contents, (list, tuple)) and all(isinstance(item, ResourceContent) for item in contents):
        return list(contents)
    if isinstance(contents, list):
        index, item = next((i, each) for i, each in enumerate(contents) if not isinstance(each, ResourceContent))
        raise TypeError(
            f"contents[{index}] must be ResourceContent, got {type(item).__name__}. "
            f"Use ResourceContent({item!r}) to wrap the value."
        )
    if isinstance(contents, NATIVE):
        return [ResourceContent(json.dumps(contents), JSON)]
    raise TypeError(f"contents must be str, bytes, or list[ResourceContent], got {type(contents).__name__}")


def converted(resource: Resource | Template, result: Any) -> ResourceResult:
    """Return a function's result as what its resource contains."""
    if isinstance(result, ResourceResult):
        return result
    kind = resource.mime_type or TEXT
    if not behaviour().resources_are_strict:
        return ResourceResult([ResourceContent(text_or_bytes(result), kind)])
    if isinstance(result, (str, bytes)):
        return ResourceResult([ResourceContent(result, kind, public_meta(resource))])
    if isinstance(result, NATIVE) and not is_parts(result):
        return ResourceResult([ResourceContent(json.dumps(result), kind, public_meta(resource))])
    found = ResourceResult(result)
    meta = public_meta(resource)
    if meta is not None:
        found.contents = [
            ResourceContent(each.content, each.mime_type, {**meta, **(each.meta or {})}) for each in found.contents
        ]
    return found


def is_parts(result: Any) -> bool:
    """Tell whether a result is a list of parts."""
    return isinstance(result, list) and bool(result) and isinstance(result[0], ResourceContent)


def public_meta(resource: Resource | Template) -> Object | None:
    """Return the `_meta` of a resource that its contents have, too."""
    return resource.meta


def text_or_bytes(result: Any) -> str | bytes:
    """Return a result as text or bytes; others as JSON."""
    if isinstance(result, (str, bytes)):
        return result
    return json_text(result, indented=behaviour().indented)
