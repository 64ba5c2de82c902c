"""What a tool names in its file for resources: the files that its answer is to have, if they lie below a root."""

from __future__ import annotations

from mcpc_runtime.contents import base64_of, contents_of
from mcpc_runtime.mcp_bash.roots import below, real, root_above, uri_of
from mcpc_runtime.mcp_bash.scripts import Embedded
from mcpc_runtime.protocol.jsonrpc import ParseError, parse
from mcpc_runtime.protocol.media import media_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.mcp_bash.scripts import Roots
    from mcpc_runtime.protocol.jsonrpc import Json

    Row = tuple[str, str, str]

MOST_FILES = 100
LOOKED_AT = 1024
"""So many bytes of a file say whether it is text."""
FIELDS = ("path", "mimeType", "uri")


def named(data: bytes) -> list[Row]:
    """Return the path, the type and the uri of each file, the last two empty if they are not said."""
    try:
        value = parse(data)
    except ParseError:
        lines = str(data, "utf-8", "surrogateescape").split("\n")
        rows = [triple(*line.split("\t"), "", "") for line in lines]
    else:
        rows = [row(one) for one in (value if type(value) is list else [value])]
    return [found for found in rows if found[0]]


def row(value: Json) -> Row:
    """Return what one entry of a list says."""
    if type(value) is str:
        return value, "", ""
    if type(value) is not dict:
        return "", "", ""
    path, mime, uri = (one if type(one) is str else "" for one in map(value.get, FIELDS))
    return path, mime, uri


def triple(path: str, mime: str, uri: str, *_: str) -> Row:
    """Return the first three words of a line."""
    return path, mime, uri


def found_below(roots: Roots, home: str, rows: list[Row]) -> tuple[list[tuple[str, Embedded]], list[str]]:
    """Return each file that may be read, after the root that it lies below; and what is said of the others."""
    files, warnings = [], []
    for path, mime, uri in rows[:MOST_FILES]:
        place = real(below(home, path))
        root = root_above(roots, place) if place else None
        if root is None:
            warnings.append(f"{path!r} was left out of the answer: it lies outside the roots")
        else:
            files.append((root, Embedded(place, mime, uri or uri_of(place))))
    if len(rows) > MOST_FILES:
        warnings.append(f"{len(rows) - MOST_FILES} files were left out of the answer: {MOST_FILES} is the most")
    return files, warnings


def steps(root: str, path: str) -> tuple[str, str]:
    """Return a folder, and the path below it of a file that is a root or lies below one."""
    if path == root:
        above, _, name = path.rpartition("/")
        return above or "/", name
    return root, path[len(root.rstrip("/")) + 1 :]


def embedded(file: Embedded) -> Json:
    """Return a file as content: a text if its type is one, and it looks like one."""
    mime = file.mime or media_type(file.path, file.data)
    if b"\0" in file.data[:LOOKED_AT]:
        return {"type": "resource", "resource": {"uri": file.uri, "mimeType": mime, "blob": base64_of(file.data)}}
    return {"type": "resource", "resource": contents_of(file.uri, mime, file.data)}
