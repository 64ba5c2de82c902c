"""The environment of mcp-bash tools: the variables of its mode, and those of the framework.

`minimal` (also for unknown modes): four names, and MCP_* and MCPBASH_*; `allowlist`: the listed names, too; `inherit`:
everything, only if MCPBASH_TOOL_ENV_INHERIT_ALLOW is `true`.  The server's secrets are in none of them.  The settings
that the project declares, and the exports of `server.d/env.sh`, are in all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from mcpc_runtime.systems.mcp_bash.files import CallFolder
from mcpc_runtime.systems.mcp_bash.roots import root_variables
from mcpc_runtime.systems.mcp_bash.script_start import WritePath
from mcpc_runtime.systems.mcp_bash.scripts import Roots, ScriptCall
from mcpc_runtime.systems.mcp_bash.settings import McpBashSettings
from mcpc_runtime.transports.platforms.environments import (
    MAX_VARIABLE_LENGTH,
    SCRIPT_DEFAULTS,
    SECRETS,
    script_variables,
)
from mcpc_runtime.transports.platforms.program_search import find_program

Variables = dict[bytes, bytes]


FRAMEWORK_FOLDER = ".mcpc/mcp-bash"
"""The folder with mcpc's replacements of mcp-bash's files, below the project."""
FRAMEWORK_VERSION = b"1.3.0"
"""The version of mcp-bash with which this is compatible."""
INHERITED_NAMES = (b"PATH", b"HOME", b"TMPDIR", b"LANG")
INHERITED_PREFIXES = (b"MCP_", b"MCPBASH_")
INHERIT, ALLOWLIST = "inherit", "allowlist"
MODES = (INHERIT, ALLOWLIST)
INHERIT_NOT_ALLOWED = "MCPBASH_TOOL_ENV_MODE=inherit requires MCPBASH_TOOL_ENV_INHERIT_ALLOW=true"
JSON_TOOLS = ("jq", "gojq")
SERVER_FIELDS = ("NAME", "VERSION", "TITLE", "DESCRIPTION", "WEBSITE_URL", "ICONS", "INSTRUCTIONS")
SERVER_KEYS = {"WEBSITE_URL": "websiteUrl"}


def environment_mode(settings: McpBashSettings) -> str:
    """Return the mode of the tools' environment."""
    mode = settings.text("MCPBASH_TOOL_ENV_MODE").lower()
    return mode if mode in MODES else "minimal"


def forbidden_reason(settings: McpBashSettings) -> str:
    """Return why the configured mode is not allowed, or an empty string."""
    allowed = settings.text("MCPBASH_TOOL_ENV_INHERIT_ALLOW") == "true"
    return INHERIT_NOT_ALLOWED if environment_mode(settings) == INHERIT and not allowed else ""


def server_environment(
    settings: McpBashSettings, home: str, exported: Mapping[bytes, bytes], write_path: WritePath
) -> Variables:
    """Return what every tool of a server finds, whatever it is called with; `write_path` writes the paths in it."""
    mode = environment_mode(settings)
    allowlist = settings.text("MCPBASH_TOOL_ENV_ALLOWLIST") if mode == ALLOWLIST else ""
    listed = {name.encode("utf-8", "surrogateescape") for name in allowlist.replace(",", " ").split()}
    listed.update(row[0].encode() for row in settings.image.index.get("settings", ()))
    # Where the server has no HOME to inherit: the profile on Windows, else the project.
    own_folder = settings.environ.get(b"USERPROFILE") or as_path(home, write_path)
    variables = {} if mode == INHERIT else {**SCRIPT_DEFAULTS, b"HOME": own_folder, **script_variables()}
    for name, value in settings.environ.items():
        is_inherited = (
            mode == INHERIT or name in INHERITED_NAMES or name in listed or name.startswith(INHERITED_PREFIXES)
        )
        if is_inherited and name not in SECRETS:
            variables[name] = value
    # In this order, so that the project's file cannot change what describes the server.
    variables.update(exported)
    variables.update(server_variables(settings, home, write_path))
    variables.update(json_tool_variables(settings, variables.get(b"PATH", b""), write_path))
    return variables


def as_path(path: str, write_path: WritePath) -> bytes:
    """Return a path as the value of a variable."""
    return write_path(path).encode("utf-8", "surrogateescape")


def server_variables(settings: McpBashSettings, home: str, write_path: WritePath) -> Variables:
    """Return the variables that describe the server."""
    server = settings.built.get("server", {})
    variables = {
        b"MCP_SDK": as_path(f"{home}/{FRAMEWORK_FOLDER}/sdk", write_path),
        b"MCPBASH_PROJECT_ROOT": as_path(home, write_path),
        b"MCPBASH_FRAMEWORK_VERSION": FRAMEWORK_VERSION,
        b"MCPBASH_MODE": b"full",
        b"MCPC_PYTHON": as_path(sys.executable or "python3", write_path),
    }
    for name in SERVER_FIELDS:
        value = server.get(SERVER_KEYS.get(name, name.lower())) or ""
        variables[b"MCPBASH_SERVER_" + name.encode()] = str(value).replace("\0", "").encode("utf-8", "replace")
    return variables


def json_tool_variables(settings: McpBashSettings, path: bytes, write_path: WritePath) -> Variables:
    """Return the variables for the JSON program, unless they are configured."""
    if settings.text("MCPBASH_JSON_TOOL") and settings.text("MCPBASH_JSON_TOOL_BIN"):
        return {}
    for tool in JSON_TOOLS:
        # Searched on the PATH that the tool will have, not on the server's.
        program = find_program(tool, {**settings.environ, b"PATH": path})
        if program:
            return {b"MCPBASH_JSON_TOOL": tool.encode(), b"MCPBASH_JSON_TOOL_BIN": as_path(program, write_path)}
    return {b"MCPBASH_JSON_TOOL": b"none", b"MCPBASH_JSON_TOOL_BIN": b""}


def call_variables(script: ScriptCall, home: str, roots: Roots, files: CallFolder, write_path: WritePath) -> Variables:
    """Return the additional variables of one call; `write_path` writes the paths in it."""

    def place(name: str) -> bytes:
        return as_path(f"{files.location}/{name}", write_path)

    stream = place("stream")
    variables = {
        b"MCP_TOOL_NAME": script.name.encode(),
        b"MCP_TOOL_PATH": as_path(f"{home}/{script.file}", write_path),
        b"MCP_TOOL_ERROR_FILE": place("error"),
        b"MCP_TOOL_RESOURCES_FILE": place("resources"),
        b"MCP_CANCEL_FILE": place("cancelled"),
        b"MCP_PROGRESS_STREAM": stream,
        b"MCP_LOG_STREAM": stream,
        b"MCP_PROGRESS_TOKEN": script.token.replace("\0", "").encode("utf-8", "replace"),
        b"MCP_ELICIT_SUPPORTED": b"1" if script.elicits else b"0",
        b"MCPBASH_WORKER_KEY": files.key,
        **root_variables(roots, write_path),
    }
    if script.elicits:
        variables[b"MCP_ELICIT_REQUEST_FILE"] = place("question")
        variables[b"MCP_ELICIT_RESPONSE_FILE"] = place("answer")
    if not script.settings.text("MCPBASH_DEBUG_LOG"):
        variables[b"MCPBASH_DEBUG_LOG"] = place("debug.log")
    payloads = {"ARGS": script.arguments, "METADATA": script.facts["metadata"].encode(), "META": script.meta}
    for name, data in payloads.items():
        variable = b"MCP_TOOL_%b_JSON" % name.encode()
        if is_short(script.settings, data):
            variables[variable] = data
        else:
            files.write(name.lower(), data)
            variables.update({variable: b"", b"MCP_TOOL_%b_FILE" % name.encode(): place(name.lower())})
    return variables


def is_short(settings: McpBashSettings, data: bytes) -> bool:
    """Tell whether a text may be a variable; else it is in a file, which a variable names."""
    # A text has at most as many characters as bytes: they are counted only if there are more bytes than allowed.
    is_long = len(data) > settings.payload and len(data.decode("utf-8", "replace")) > settings.payload
    return not is_long and len(data) <= MAX_VARIABLE_LENGTH
