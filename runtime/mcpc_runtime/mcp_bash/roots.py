"""The folders that a tool may work in: the client's, or those of the environment, of the project, or the project.

Its law: a root is a folder or file that is there, by its own path, without links; what is none is passed over.
"""

from __future__ import annotations

import posix

from mcpc_runtime.errors import tell
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.jsonrpc import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from posixpath import realpath

    from mcpc_runtime.mcp_bash.scripts import Roots
    from mcpc_runtime.mcp_bash.settings import Settings
    from mcpc_runtime.protocol.jsonrpc import Json
else:
    realpath = lazy("posixpath:realpath")

SCHEME, LOCAL = "file://", ("", "localhost")
UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
told: set[str] = set()
"""What was complained of: each once."""


def fallbacks(settings: Settings, home: str) -> Roots:
    """Return the roots of a client that has none of its own."""
    from_variable = [("", path) for path in settings.text("MCPBASH_ROOTS").split(":") if path]
    configured = [(name, path) for path, name in settings.said.get("roots", ())]
    for rows in (from_variable, configured):
        found = usable(
            [("", name, below(home, expanded(settings, path))) for name, path in rows], "a root of the server"
        )
        if found:
            return found
    return usable([("", "", home)], "the project")


def expanded(settings: Settings, path: str) -> str:
    """Return a path whose first part may be `~`."""
    return settings.text("HOME", "~") + path[1:] if path == "~" or path.startswith("~/") else path


def below(home: str, path: str) -> str:
    """Return a path that may begin at the project."""
    return path if path.startswith("/") else f"{home}/{path}"


def of_client(answer: Json) -> Roots:
    """Return the roots that a client answered with."""
    given = answer.get("roots") if type(answer) is dict else None
    rows = []
    for one in given if type(given) is list else []:
        if type(one) is dict and type(one.get("uri")) is str:
            name = one.get("name")
            rows.append((str(one["uri"]), name if type(name) is str else "", path_of(str(one["uri"]))))
    return usable(rows, "a root of the client")


def path_of(uri: str) -> str:
    """Return the absolute path that a `file:` uri names on this machine, nothing if it names none."""
    if uri[: len(SCHEME)].lower() != SCHEME:
        return ""
    authority, slash, path = uri[len(SCHEME) :].partition("/")
    if not slash or authority.lower() not in LOCAL:
        return ""
    head, *pieces = path.encode("utf-8", "surrogatepass").split(b"%")
    for piece in pieces:
        try:
            head += bytes.fromhex(piece[:2].decode("ascii")) + piece[2:] if len(piece) > 1 else b"%" + piece
        except ValueError:
            head += b"%" + piece
    return "/" + str(head, "utf-8", "surrogateescape")


def usable(rows: list[tuple[str, str, str]], whose: str) -> Roots:
    """Return those rows, each path once, whose path is there and may be read."""
    found: dict[str, tuple[str, str, str]] = {}
    for uri, name, path in rows:
        place = real(path)
        if place and posix.access(place, posix.R_OK):
            found.setdefault(place, (uri or uri_of(place), name, place))
        elif f"{whose} {path or uri}" not in told and len(told) < 1000:
            told.add(f"{whose} {path or uri}")
            tell(f"{whose} is passed over: {path or uri!r} is not there, or cannot be read")
    return list(found.values())


def real(path: str) -> str:
    """Return a path without links, nothing if it cannot be one."""
    if not path.startswith("/") or "\0" in path or "\n" in path:
        return ""
    try:
        place: str = realpath(path)
    except (OSError, ValueError):
        return ""
    return place


def uri_of(path: str) -> str:
    """Return the uri of a file."""
    data = path.encode("utf-8", "surrogateescape")
    return SCHEME + "".join(chr(byte) if byte in UNRESERVED else f"%{byte:02X}" for byte in data)


def root_above(roots: Roots, path: str) -> str | None:
    """Return the root that a path lies below, None if there is none."""
    for _, _, root in roots:
        if path == root or path.startswith(root.rstrip("/") + "/"):
            return root
    return None


def variables(roots: Roots) -> dict[bytes, bytes]:
    """Return the variables in which a tool finds its roots."""
    rows: Json = [{"uri": uri, "name": name, "path": path} for uri, name, path in roots]
    return {
        b"MCP_ROOTS_JSON": encode(rows),
        b"MCP_ROOTS_PATHS": "\n".join(path for _, _, path in roots).encode("utf-8", "surrogateescape"),
        b"MCP_ROOTS_COUNT": b"%d" % len(roots),
    }
