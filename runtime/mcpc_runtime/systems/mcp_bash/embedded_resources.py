"""Embedding of the files that a tool names in its resources file, if they are below a root."""

from __future__ import annotations

from mcpc_runtime.protocol.jsonrpc import Json, ParseError, parse
from mcpc_runtime.protocol.media import media_type
from mcpc_runtime.protocol.resource_contents import base64_of, contents_of
from mcpc_runtime.systems.mcp_bash.roots import absolute_below, containing_root, file_uri, real_path
from mcpc_runtime.systems.mcp_bash.scripts import EmbeddedFile, Roots
from mcpc_runtime.transports.platforms import LINE_END

FileEntry = tuple[str, str, str]


MAX_FILES = 100
PROBE_LENGTH = 1024
"""The number of bytes that decide whether a file is text."""
FIELDS = ("path", "mimeType", "uri")


def parse_file_list(data: bytes) -> list[FileEntry]:
    """Return path, media type and uri of each file; the last two are empty if they are missing."""
    try:
        value = parse(data)
    except ParseError:
        lines = str(data, "utf-8", "surrogateescape").replace(LINE_END, "\n").split("\n")
        rows = [first_fields(*line.split("\t"), "", "") for line in lines]
    else:
        rows = [parse_entry(entry) for entry in (value if type(value) is list else [value])]
    return [row for row in rows if row[0]]


def parse_entry(value: Json) -> FileEntry:
    """Return path, media type and uri of one entry."""
    if type(value) is str:
        return value, "", ""
    if type(value) is not dict:
        return "", "", ""
    path, mime, uri = (field if type(field) is str else "" for field in map(value.get, FIELDS))
    return path, mime, uri


def first_fields(path: str, mime: str, uri: str, *_: str) -> FileEntry:
    """Return the first three fields of a line."""
    return path, mime, uri


def find_embeddable(roots: Roots, home: str, rows: list[FileEntry]) -> tuple[list[tuple[str, EmbeddedFile]], list[str]]:
    """Return each allowed file with its root, and warnings about the others."""
    files, warnings = [], []
    for path, mime, uri in rows[:MAX_FILES]:
        real = real_path(absolute_below(home, path))
        root = containing_root(roots, real) if real else None
        if root is None:
            warnings.append(f"{path!r} was left out of the answer: it is outside the roots")
        else:
            files.append((root, EmbeddedFile(real, mime, uri or file_uri(real))))
    if len(rows) > MAX_FILES:
        warnings.append(f"{len(rows) - MAX_FILES} files were left out of the answer: the maximum is {MAX_FILES}")
    return files, warnings


def split_below_root(root: str, path: str) -> tuple[str, str]:
    """Return a folder and the path of a file below it; the file may be the root itself."""
    if path == root:
        above, _, name = path.rpartition("/")
        return above or "/", name
    return root, path[len(root.rstrip("/")) + 1 :]


def embedded_resource(file: EmbeddedFile) -> Json:
    """Return a file as a content block: text if its type and its first bytes are, else a blob."""
    mime = file.mime or media_type(file.path, file.data)
    if b"\0" in file.data[:PROBE_LENGTH]:
        return {"type": "resource", "resource": {"uri": file.uri, "mimeType": mime, "blob": base64_of(file.data)}}
    return {"type": "resource", "resource": contents_of(file.uri, mime, file.data)}
