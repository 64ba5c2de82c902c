"""What a provider or a completion of mcp-bash finds around it: a curated environment, its words, the folder it runs in.

`MCPBASH_PROVIDER_ENV_MODE` is `isolate` (nothing but KEPT), `allowlist` (and the names it lists), or `inherit`
(everything, if `MCPBASH_PROVIDER_ENV_INHERIT_ALLOW` is `true`).  What is for the server alone no mode gives away.
"""

from __future__ import annotations

import posix

from mcpc_runtime.environments import environment
from mcpc_runtime.lazy import lazy
from mcpc_runtime.mcp_bash.environment import json_tool as found_json_tool
from mcpc_runtime.mcp_bash.settings import settings_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcpc_runtime.image import Image
    from mcpc_runtime.unpacking import folder as unpacking_folder
else:
    unpacking_folder = lazy("mcpc_runtime.unpacking:folder", "unpacking_folder")

FRAMEWORK = ".mcpc/mcp-bash"
"""Where below the project's folder that lies which a project looks for in its framework."""
KEPT = (
    *("PATH", "HOME", "TMPDIR", "TMP", "TEMP", "LANG", "LC_*", "MCP_*"),
    *("MCPBASH_HOME", "MCPBASH_PROJECT_ROOT", "MCPBASH_RESOURCES_DIR", "MCPBASH_PROMPTS_DIR"),
    *("MCPBASH_ENABLE_GIT_PROVIDER", "MCPBASH_GIT_*", "MCPBASH_HTTPS_*"),
)
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
FOR_PROVIDER = {
    "git": ("SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
    "https": ("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"),
}
"""What a project's own provider of this name finds besides."""
MODE, LISTED, INHERIT = (
    "MCPBASH_PROVIDER_ENV_MODE",
    "MCPBASH_PROVIDER_ENV_ALLOWLIST",
    "MCPBASH_PROVIDER_ENV_INHERIT_ALLOW",
)
MOST_BYTES = 10 << 20
PROGRAMS = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""How a file begins that the system can start by itself."""


def said(name: str) -> str:
    """Return a variable of the server's environment, nothing if it is not set."""
    return str(posix.environ.get(name.encode(), b""), "utf-8", "surrogateescape")


def number(name: str, usual: int, most: int = 1 << 40) -> int:
    """Return a variable that is a number, what is usual if it is none."""
    text = said(name)
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 16 else usual


def most_bytes() -> int:
    """Return how large a resource may be."""
    return number("MCPBASH_MAX_RESOURCE_BYTES", number("MCPBASH_MAX_TOOL_OUTPUT_SIZE", MOST_BYTES))


def built(image: Image) -> dict[str, Any]:
    """Return what the build said of the project."""
    return settings_of(image).said


def in_dialect(image: Image) -> bool:
    """Tell whether clients are answered as the original does, and not as MCP says."""
    found: bool = settings_of(image).in_dialect
    return found


def home(image: Image) -> str:
    """Return the project's folder."""
    found: str = unpacking_folder(image)
    return found


def roots(image: Image) -> tuple[str, ...]:
    """Return the folders whose files may be read."""
    given = said("MCP_RESOURCES_ROOTS") or f"{home(image)}/resources"
    return tuple(root for root in given.split(":") if root)


def curated(image: Image, provider: str, more: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return all that a script finds: what the mode leaves, what it needs in every one, and `more`."""
    folder = home(image)
    found = chosen((*PROXIES, *FOR_PROVIDER.get(provider, ())))
    framework = f"{folder}/{FRAMEWORK}"
    given = {"MCPBASH_HOME": framework, "MCPBASH_PROJECT_ROOT": folder, **more}
    found.update((name.encode(), value.encode("utf-8", "surrogateescape")) for name, value in given.items())
    found.setdefault(b"PATH", b"/usr/bin:/bin")
    found.setdefault(b"HOME", folder.encode("utf-8", "surrogateescape"))
    found.setdefault(b"TMPDIR", b"/tmp")
    found.setdefault(b"TMP", found[b"TMPDIR"])
    found.setdefault(b"TEMP", found[b"TMPDIR"])
    found.setdefault(b"LANG", b"C")
    found.setdefault(b"LC_ALL", found[b"LANG"])
    return found


def chosen(besides: tuple[str, ...] = ()) -> dict[bytes, bytes]:
    """Return what the mode leaves of the server's environment."""
    mode = said(MODE).lower()
    if mode == "inherit" and said(INHERIT) == "true":
        return dict(environment(True, ()))
    listed = said(LISTED).replace(",", " ").split() if mode == "allowlist" else []
    wanted = [name.encode("utf-8", "surrogateescape") for name in (*KEPT, *besides)]
    exact = {name for name in wanted if not name.endswith(b"*")}
    exact |= {name.encode("utf-8", "surrogateescape") for name in listed}
    begins = tuple(name[:-1] for name in wanted if name.endswith(b"*"))
    given = environment(True, ())
    return {name: value for name, value in given.items() if name in exact or name.startswith(begins)}


def words(path: str) -> list[str]:
    """Return the words that start a script: itself, or Bash if the system could not."""
    try:
        file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return [path]
    try:
        begins = posix.read(file, 4)
    finally:
        posix.close(file)
    return [path] if posix.access(path, posix.X_OK) and begins.startswith(PROGRAMS) else ["bash", path]


def json_tool(image: Image, path: bytes) -> dict[bytes, bytes]:
    """Return what scripts are told of the program that reads JSON."""
    return found_json_tool(settings_of(image), path) or {
        name.encode(): said(name).encode("utf-8", "surrogateescape")
        for name in ("MCPBASH_JSON_TOOL", "MCPBASH_JSON_TOOL_BIN")
    }
