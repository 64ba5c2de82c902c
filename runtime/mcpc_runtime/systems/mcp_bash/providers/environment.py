"""The environment, command line and folders of mcp-bash providers and completions.

`MCPBASH_PROVIDER_ENV_MODE` is `isolate` (only INHERITED_NAMES), `allowlist` (also the listed names), or `inherit`
(everything, if `MCPBASH_PROVIDER_ENV_INHERIT_ALLOW` is `true`).  The server's secrets are in no mode.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcpc_runtime.artifact.extraction import extracted_folder
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.systems.mcp_bash.environment import FRAMEWORK_FOLDER
from mcpc_runtime.systems.mcp_bash.environment import json_tool_variables as server_json_tool
from mcpc_runtime.systems.mcp_bash.script_start import ScriptStart, WritePath
from mcpc_runtime.systems.mcp_bash.script_start import script_start as readable_script_start
from mcpc_runtime.systems.mcp_bash.settings import settings_of
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.environments import SCRIPT_DEFAULTS, handler_environment, script_variables
from mcpc_runtime.transports.platforms.scripts import LIST_SEPARATOR, local_path

INHERITED_NAMES = (
    *("PATH", "HOME", "TMPDIR", "TMP", "TEMP", "LANG", "LC_*", "MCP_*"),
    *("MCPBASH_HOME", "MCPBASH_PROJECT_ROOT", "MCPBASH_RESOURCES_DIR", "MCPBASH_PROMPTS_DIR"),
    *("MCPBASH_ENABLE_GIT_PROVIDER", "MCPBASH_GIT_*", "MCPBASH_HTTPS_*"),
)
PROXY_VARIABLES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
PROVIDER_VARIABLES = {
    "git": ("SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
    "https": ("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"),
}
"""Additional variables of a project's own provider, by its name."""
MODE_VARIABLE, ALLOWLIST_VARIABLE, INHERIT_VARIABLE = (
    "MCPBASH_PROVIDER_ENV_MODE",
    "MCPBASH_PROVIDER_ENV_ALLOWLIST",
    "MCPBASH_PROVIDER_ENV_INHERIT_ALLOW",
)
COPIES = {b"TMP": b"TMPDIR", b"TEMP": b"TMPDIR", b"LC_ALL": b"LANG"}
"""Variables that have the value of another one where they are not set."""
DEFAULT_MAX_BYTES = 10 << 20


def variable_text(name: str) -> str:
    """Return a variable of the server's environment, empty if it is not set."""
    return str(system.environ.get(name.encode(), b""), "utf-8", "surrogateescape")


def variable_number(name: str, default: int, maximum: int = 1 << 40) -> int:
    """Return the number in a variable, at most `maximum`, or the default if it is not a number."""
    text = variable_text(name)
    # Python refuses to convert thousands of digits; fifteen are enough for every limit.
    return min(int(text), maximum) if text.isascii() and text.isdigit() and len(text) < 16 else default


def max_resource_bytes() -> int:
    """Return the maximum size of a resource."""
    return variable_number(
        "MCPBASH_MAX_RESOURCE_BYTES", variable_number("MCPBASH_MAX_TOOL_OUTPUT_SIZE", DEFAULT_MAX_BYTES)
    )


def project_folder(image: Image) -> str:
    """Return the project's folder."""
    return local_path(extracted_folder(image))


def resource_roots(image: Image) -> tuple[str, ...]:
    """Return the folders of which files may be read."""
    roots = variable_text("MCP_RESOURCES_ROOTS") or f"{project_folder(image)}/resources"
    return tuple(local_path(root) for root in roots.split(LIST_SEPARATOR) if root)


def build_environment(
    image: Image, provider: str, more: Mapping[str, str], write_path: WritePath
) -> dict[bytes, bytes]:
    """Return the environment of a script: the variables of the mode, the required ones, and `more`."""
    folder = write_path(project_folder(image))
    variables = inherited_environment((*PROXY_VARIABLES, *PROVIDER_VARIABLES.get(provider, ())))
    variables = {**variables, **script_variables()}
    framework = write_path(f"{project_folder(image)}/{FRAMEWORK_FOLDER}")
    required = {"MCPBASH_HOME": framework, "MCPBASH_PROJECT_ROOT": folder, **more}
    variables.update((name.encode(), value.encode("utf-8", "surrogateescape")) for name, value in required.items())
    own_folder = system.environ.get(b"USERPROFILE") or folder.encode("utf-8", "surrogateescape")
    # Defaults come first: what is inherited or required replaces them.
    variables = {**SCRIPT_DEFAULTS, b"HOME": own_folder, **variables}
    for name, other in COPIES.items():
        if other in variables:
            variables.setdefault(name, variables[other])
    return variables


def inherited_environment(besides: tuple[str, ...] = ()) -> dict[bytes, bytes]:
    """Return the variables of the server's environment that the mode allows."""
    mode = variable_text(MODE_VARIABLE).lower()
    if mode == "inherit" and variable_text(INHERIT_VARIABLE) == "true":
        return dict(handler_environment(True, ()))
    listed = variable_text(ALLOWLIST_VARIABLE).replace(",", " ").split() if mode == "allowlist" else []
    selected = [name.encode("utf-8", "surrogateescape") for name in (*INHERITED_NAMES, *besides)]
    exact = {name for name in selected if not name.endswith(b"*")}
    exact |= {name.encode("utf-8", "surrogateescape") for name in listed}
    begins = tuple(name[:-1] for name in selected if name.endswith(b"*"))
    visible = handler_environment(True, ())
    return {name: value for name, value in visible.items() if name in exact or name.startswith(begins)}


def script_start(path: str) -> ScriptStart:
    """Return how a script is started; one that cannot be read is started by itself, which will fail."""
    try:
        return readable_script_start(path)
    except OSError:
        return ScriptStart([path], local_path)


def json_tool_variables(image: Image, path: bytes, write_path: WritePath) -> dict[bytes, bytes]:
    """Return the variables for the JSON program."""
    return server_json_tool(settings_of(image), path, write_path) or {
        name.encode(): variable_text(name).encode("utf-8", "surrogateescape")
        for name in ("MCPBASH_JSON_TOOL", "MCPBASH_JSON_TOOL_BIN")
    }
