"""All texts of a server, with the role of each: descriptions, names, defaults, addresses, keys, contents.

Nothing is left out: a model reads the whole of a schema, so an unknown member may have orders as well as a description.
What a member is for is decided by its key; below `default`, `enum`, `examples` and `const` everything is a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mcpc.release.scan.model import Role, ServerTexts, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.release.scan.model import ScannedServer

KINDS = {"tools": "tool", "prompts": "prompt", "resources": "resource", "resourceTemplates": "template"}
IDENTIFIERS = {"tools": "name", "prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}
ROLES = {
    "name": Role.NAME,
    "src": Role.ADDRESS,
    "websiteUrl": Role.ADDRESS,
    "uri": Role.ADDRESS,
    "uriTemplate": Role.ADDRESS,
    "url": Role.ADDRESS,
    "text": Role.CONTENTS,
    "blob": Role.SYNTAX,
    **dict.fromkeys(("type", "format", "pattern", "mimeType", "version", "sizes", "theme", "required"), Role.SYNTAX),
    **dict.fromkeys(("$ref", "$schema", "$id", "$anchor", "$dynamicRef", "contentEncoding"), Role.SYNTAX),
    **dict.fromkeys(("taskSupport", "priority", "audience", "lastModified"), Role.SYNTAX),
}
"""The roles of members by their key; any other text is prose."""
VALUES = frozenset({"default", "enum", "examples", "example", "const"})
"""Keys below which everything is a value."""
NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"})
"""Keys whose members have names that the author chose."""
PLAIN_KEYS = frozenset({*ROLES, *VALUES, *NAMED})


class _Waiting(NamedTuple):
    value: Any
    pointer: str
    field: str
    role: Role
    is_named: bool


def server_texts(server: ScannedServer) -> ServerTexts:
    """Return a server with all its texts, in the order of its lists."""
    return ServerTexts(server, tuple(_texts(server)))


def _texts(server: ScannedServer) -> Iterator[Text]:
    lists = server.lists
    if lists.get("instructions"):
        yield Text("server", "", "instructions", "/instructions", Role.PROSE, str(lists["instructions"]))
    yield from _walk("server", "", lists.get("serverInfo") or {}, "/serverInfo")
    for key, kind in KINDS.items():
        items = lists.get(key)
        for number, item in enumerate(items if isinstance(items, list) else ()):
            name = str(item.get(IDENTIFIERS[key], "")) if isinstance(item, dict) else ""
            yield from _walk(kind, name, item, f"/{key}/{number}")
    settings = lists.get("settings")
    for number, item in enumerate(settings if isinstance(settings, list) else ()):
        name = str(item.get("name", "")) if isinstance(item, dict) else ""
        yield from _walk("setting", name, item, f"/settings/{number}")
    for file in server.files:
        yield Text(file.kind, file.path, file.field, "", file.role, file.text)


def _walk(kind: str, name: str, root: Mapping[str, Any], base: str) -> Iterator[Text]:
    """Yield the texts of one definition in order.  A stack, not recursion: a server decides how deep it is."""
    waiting = [_Waiting(root, base, "", Role.PROSE, is_named=False)]
    while waiting:
        at = waiting.pop()
        if isinstance(at.value, str):
            yield Text(kind, name, at.field, at.pointer, at.role, at.value)
        elif isinstance(at.value, list):
            below = [(f"{at.pointer}/{number}", item) for number, item in enumerate(at.value)]
            waiting += (_Waiting(item, pointer, at.field, at.role, is_named=False) for pointer, item in below[::-1])
        elif isinstance(at.value, dict):
            for key in at.value:
                if at.is_named or key not in PLAIN_KEYS:
                    role = Role.VALUE if at.role is Role.VALUE else Role.NAME
                    yield Text(kind, name, f"{at.field}.{key}".lstrip("."), f"{at.pointer}/{escaped(key)}", role, key)
            waiting += reversed([*_members(at)])


def _members(at: _Waiting) -> Iterator[_Waiting]:
    for key, value in at.value.items():
        role = ROLES.get(key, Role.PROSE)
        if at.role is Role.VALUE or (key in VALUES and not at.is_named):
            role = Role.VALUE
        elif at.is_named:
            role = Role.PROSE
        field = f"{at.field}.{key}".lstrip(".")
        is_named = key in NAMED and not at.is_named and role is not Role.VALUE
        yield _Waiting(value, f"{at.pointer}/{escaped(key)}", field, role, is_named)


def escaped(key: str) -> str:
    """Return a key as a part of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")
