"""The environment of a tool of mcp-bash: exactly what its mode gives, and what every one of them is told.

`minimal` (also any word nobody knows): four names, and MCP_* and MCPBASH_*; `allowlist`: those that are listed, too;
`inherit`: everything, and only if that is allowed a second time.  What is for the server alone is in none of them.
What `server.d/env.sh` exports is there in each, since the project says so itself.
"""

from __future__ import annotations

import posix
import sys

from mcpc_runtime.environments import SECRETS
from mcpc_runtime.mcp_bash.roots import variables
from mcpc_runtime.mcp_bash.settings import LONGEST_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc_runtime.mcp_bash.files import CallFolder
    from mcpc_runtime.mcp_bash.scripts import Roots, Script
    from mcpc_runtime.mcp_bash.settings import Settings

    Variables = dict[bytes, bytes]

OURS = ".mcpc/mcp-bash"
"""Where the files lie that stand for those of mcp-bash itself."""
COMPATIBLE = b"1.3.0"
"""The version of mcp-bash whose contract this is."""
KEPT = (b"PATH", b"HOME", b"TMPDIR", b"LANG")
KEPT_BEGIN = (b"MCP_", b"MCPBASH_")
INHERIT, ALLOWLIST = "inherit", "allowlist"
MODES = (INHERIT, ALLOWLIST)
NOT_INHERITED = "MCPBASH_TOOL_ENV_MODE=inherit requires MCPBASH_TOOL_ENV_INHERIT_ALLOW=true"
JSON_TOOLS = ("jq", "gojq")
DESCRIBED = ("NAME", "VERSION", "TITLE", "DESCRIPTION", "WEBSITE_URL", "ICONS", "INSTRUCTIONS")
KEYS = {"WEBSITE_URL": "websiteUrl"}


def mode(settings: Settings) -> str:
    """Return what the environment of tools is made by."""
    said = settings.text("MCPBASH_TOOL_ENV_MODE").lower()
    return said if said in MODES else "minimal"


def forbidden(settings: Settings) -> str:
    """Return why no tool may have the environment that was chosen, nothing if it may."""
    allowed = settings.text("MCPBASH_TOOL_ENV_INHERIT_ALLOW") == "true"
    return NOT_INHERITED if mode(settings) == INHERIT and not allowed else ""


def of_server(settings: Settings, home: str, exported: Mapping[bytes, bytes]) -> Variables:
    """Return what every tool of a server finds, whatever it is called with."""
    chosen = mode(settings)
    listed = {name.encode("utf-8", "surrogateescape") for name in names(settings)} if chosen == ALLOWLIST else set()
    place = home.encode("utf-8", "surrogateescape")
    found = {b"PATH": b"/usr/bin:/bin", b"HOME": place, b"TMPDIR": b"/tmp", b"LANG": b"C"}
    if chosen == INHERIT:
        found = {}
    for name, value in settings.environ.items():
        is_kept = chosen == INHERIT or name in KEPT or name in listed or name.startswith(KEPT_BEGIN)
        if is_kept and name not in SECRETS:
            found[name] = value
    found.update(exported)
    found.update(told(settings, place))
    found.update(json_tool(settings, found.get(b"PATH", b"")))
    return found


def names(settings: Settings) -> list[str]:
    """Return the variables that are listed for tools."""
    return settings.text("MCPBASH_TOOL_ENV_ALLOWLIST").replace(",", " ").split()


def told(settings: Settings, home: bytes) -> Variables:
    """Return what the server says of itself."""
    server = settings.said.get("server", {})
    found = {
        b"MCP_SDK": b"%b/%b/sdk" % (home, OURS.encode()),
        b"MCPBASH_PROJECT_ROOT": home,
        b"MCPBASH_FRAMEWORK_VERSION": COMPATIBLE,
        b"MCPBASH_MODE": b"full",
        b"MCPC_PYTHON": (sys.executable or "python3").encode("utf-8", "surrogateescape"),
    }
    for name in DESCRIBED:
        said = server.get(KEYS.get(name, name.lower())) or ""
        found[b"MCPBASH_SERVER_" + name.encode()] = str(said).replace("\0", "").encode("utf-8", "replace")
    return found


def json_tool(settings: Settings, path: bytes) -> Variables:
    """Return which program for JSON there is, if scripts want one."""
    if settings.text("MCPBASH_JSON_TOOL") and settings.text("MCPBASH_JSON_TOOL_BIN"):
        return {}
    for tool in JSON_TOOLS:
        for folder in path.split(b":"):
            place = (folder or b".") + b"/" + tool.encode()
            if posix.access(place, posix.X_OK):
                return {b"MCPBASH_JSON_TOOL": tool.encode(), b"MCPBASH_JSON_TOOL_BIN": place}
    return {b"MCPBASH_JSON_TOOL": b"none", b"MCPBASH_JSON_TOOL_BIN": b""}


def of_call(script: Script, home: str, roots: Roots, files: CallFolder) -> Variables:
    """Return what one call finds beside that."""
    stream = files.path("stream")
    found = {
        b"MCP_TOOL_NAME": script.name.encode(),
        b"MCP_TOOL_PATH": f"{home}/{script.file}".encode("utf-8", "surrogateescape"),
        b"MCP_TOOL_ERROR_FILE": files.path("error"),
        b"MCP_TOOL_RESOURCES_FILE": files.path("resources"),
        b"MCP_CANCEL_FILE": files.path("cancelled"),
        b"MCP_PROGRESS_STREAM": stream,
        b"MCP_LOG_STREAM": stream,
        b"MCP_PROGRESS_TOKEN": script.token.replace("\0", "").encode("utf-8", "replace"),
        b"MCP_ELICIT_SUPPORTED": b"1" if script.elicits else b"0",
        b"MCPBASH_WORKER_KEY": files.key,
        **variables(roots),
    }
    if script.elicits:
        found[b"MCP_ELICIT_REQUEST_FILE"] = files.path("question")
        found[b"MCP_ELICIT_RESPONSE_FILE"] = files.path("answer")
    if not script.settings.text("MCPBASH_DEBUG_LOG"):
        found[b"MCPBASH_DEBUG_LOG"] = files.path("debug.log")
    payloads = {"ARGS": script.arguments, "METADATA": script.facts["metadata"].encode(), "META": script.meta}
    for name, data in payloads.items():
        found.update(payload(script.settings, files, name, data))
    return found


def payload(settings: Settings, files: CallFolder, name: str, data: bytes) -> Variables:
    """Return the variable that has a JSON text, or names the file that has it because it is too long for one."""
    variable = b"MCP_TOOL_%b_JSON" % name.encode()
    # Bytes are never fewer than characters: only a text that has more is counted.
    is_long = len(data) > settings.payload and len(data.decode("utf-8", "replace")) > settings.payload
    if not is_long and len(data) <= LONGEST_VARIABLE:
        return {variable: data}
    return {variable: b"", b"MCP_TOOL_%b_FILE" % name.encode(): files.write(name.lower(), data)}
