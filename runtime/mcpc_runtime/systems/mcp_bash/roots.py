"""The roots of a tool: the client's, else those of the environment, else those of the project, else the project.

A root is an existing, readable folder or file, by its path without symbolic links; others are ignored and logged.
"""

from __future__ import annotations

from os.path import realpath

from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.jsonrpc import Json, encode
from mcpc_runtime.systems.mcp_bash.script_start import WritePath
from mcpc_runtime.systems.mcp_bash.scripts import Roots
from mcpc_runtime.systems.mcp_bash.settings import McpBashSettings
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.scripts import LIST_SEPARATOR, is_absolute, local_path

SCHEME, LOCAL_HOSTS = "file://", ("", "localhost")
UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
reported: set[str] = set()
"""The problems that were logged, so that each is logged once."""


def fallback_roots(settings: McpBashSettings, home: str) -> Roots:
    """Return the roots for a client without roots."""
    from_variable = [("", path) for path in settings.text("MCPBASH_ROOTS").split(LIST_SEPARATOR) if path]
    configured = [(name, path) for path, name in settings.built.get("roots", ())]
    for rows in (from_variable, configured):
        roots = usable_roots(
            [("", name, absolute_below(home, expand_home(settings, path))) for name, path in rows],
            "a root of the server",
        )
        if roots:
            return roots
    return usable_roots([("", "", home)], "the project")


def expand_home(settings: McpBashSettings, path: str) -> str:
    """Return a path with a leading `~` expanded."""
    return (
        settings.text("HOME", settings.text("USERPROFILE", "~")) + path[1:]
        if path == "~" or path.startswith("~/")
        else path
    )


def absolute_below(home: str, path: str) -> str:
    """Return a path as absolute; a relative path is below the project."""
    path = local_path(path)
    return path if is_absolute(path) else f"{home}/{path}"


def parse_client_roots(answer: Json) -> Roots:
    """Return the roots in a client's answer."""
    roots = answer.get("roots") if type(answer) is dict else None
    rows = []
    for root in roots if type(roots) is list else []:
        if type(root) is dict and type(root.get("uri")) is str:
            name = root.get("name")
            rows.append((str(root["uri"]), name if type(name) is str else "", file_uri_path(str(root["uri"]))))
    return usable_roots(rows, "a root of the client")


def file_uri_path(uri: str) -> str:
    """Return the absolute path of a local `file:` uri, or an empty string."""
    if uri[: len(SCHEME)].lower() != SCHEME:
        return ""
    authority, slash, path = uri[len(SCHEME) :].partition("/")
    if not slash or authority.lower() not in LOCAL_HOSTS:
        return ""
    # A percent sign that begins no escape stands for itself.
    head, *pieces = path.encode("utf-8", "surrogatepass").split(b"%")
    for piece in pieces:
        try:
            head += bytes.fromhex(piece[:2].decode("ascii")) + piece[2:] if len(piece) > 1 else b"%" + piece
        except ValueError:
            head += b"%" + piece
    return local_path("/" + str(head, "utf-8", "surrogateescape"))


def usable_roots(rows: list[tuple[str, str, str]], whose: str) -> Roots:
    """Return the rows whose path exists and is readable, each path once; log the others."""
    usable: dict[str, tuple[str, str, str]] = {}
    for uri, name, path in rows:
        real = real_path(path)
        if real and system.access(real, system.R_OK):
            usable.setdefault(real, (uri or file_uri(real), name, real))
        elif f"{whose} {path or uri}" not in reported and len(reported) < 1000:
            reported.add(f"{whose} {path or uri}")
            log_line(f"{whose} is ignored: {path or uri!r} does not exist or cannot be read")
    return list(usable.values())


def real_path(path: str) -> str:
    """Return a path without symbolic links, or an empty string for an invalid path."""
    # MCP_ROOTS_PATHS lists a path a line.
    if not is_absolute(path) or "\0" in path or "\n" in path:
        return ""
    try:
        return local_path(realpath(path))
    except (OSError, ValueError):
        return ""


def file_uri(path: str) -> str:
    """Return the `file:` uri of a path."""
    data = path.encode("utf-8", "surrogateescape")
    begin = SCHEME if path.startswith("/") else f"{SCHEME}/"
    return begin + "".join(chr(byte) if byte in UNRESERVED else f"%{byte:02X}" for byte in data)


def containing_root(roots: Roots, path: str) -> str | None:
    """Return the root that contains a path, None if there is none."""
    for _, _, root in roots:
        if path == root or path.startswith(root.rstrip("/") + "/"):
            return root
    return None


def root_variables(roots: Roots, write_path: WritePath) -> dict[bytes, bytes]:
    """Return the variables with a tool's roots; `write_path` writes their paths."""
    rows: Json = [{"uri": uri, "name": name, "path": write_path(path)} for uri, name, path in roots]
    return {
        b"MCP_ROOTS_JSON": encode(rows),
        b"MCP_ROOTS_PATHS": "\n".join(write_path(path) for _, _, path in roots).encode("utf-8", "surrogateescape"),
        b"MCP_ROOTS_COUNT": b"%d" % len(roots),
    }
