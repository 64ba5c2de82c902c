"""The modules of an archive that run only if a file has a text that asks for them, as tables: `--minimal-library`.

What such a module imports is left out of the library where no file has that text.
"""

from __future__ import annotations

import re

ONLY_WITH = {"mcpc_runtime/handlers/python/worker/coroutines.py": re.compile(rb"async|await|coroutine")}
"""Modules of the runtime that run only if handlers or packages have such a text."""
REMOTE_RESOURCE = re.compile(rb"https:|MCPBASH_(?:ENABLE_GIT|HTTPS)|[\"'](?:git|https)[\"']")
MCP_BASH, MCP_BASH_PROVIDERS = ".mcpc/mcp-bash/", "mcpc_runtime/systems/mcp_bash/providers/"
ONLY_WITH_FILES = {
    f"{MCP_BASH}lib/python/download.py": re.compile(rb"mcp_download"),
    f"{MCP_BASH_PROVIDERS}https_provider.py": REMOTE_RESOURCE,
    f"{MCP_BASH_PROVIDERS}ssrf_guard.py": REMOTE_RESOURCE,
    "mcpc_runtime/server/tasks/sqlite.py": re.compile(rb"sqlite"),
}
"""Modules that run only if a file of the project, of any kind, has such a text: OpenSSL and SQLite are large."""
NOT_THE_PROJECT = ("mcpc_runtime/", "mcpc_app/", "META-INF/", "__main__", MCP_BASH)
"""How entries of an archive begin that are no files of the project."""
