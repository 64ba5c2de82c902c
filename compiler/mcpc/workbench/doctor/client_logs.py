"""What clients wrote about servers that failed: the last lines of their logs, without secrets.

Where a client has its logs is known from its documentation or its users; a folder that is not there is not an error.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.workbench.doctor.entries import configured_servers
from mcpc.workbench.doctor.model import note
from mcpc.workbench.testing.redaction import redacted
from mcpc_runtime.tools.clients.table import expanded, with_root

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.workbench.doctor.entries import ConfiguredServer
    from mcpc.workbench.doctor.model import Examination, Symptom

CODE_LOGS = "{{app}}/{}/logs/*/window*"
LOGS: dict[str, dict[str, tuple[str, ...]]] = {
    "claude-desktop": {
        "darwin": ("~/Library/Logs/Claude/mcp-server-{name}.log", "~/Library/Logs/Claude/mcp.log"),
        "win32": ("%APPDATA%/Claude/logs/mcp-server-{name}.log", "%APPDATA%/Claude/logs/mcp.log"),
        "": ("~/.config/Claude/logs/mcp-server-{name}.log", "~/.config/Claude/logs/mcp.log"),
    },
    "claude-code": {
        "darwin": ("~/Library/Caches/claude-cli-nodejs/*/mcp-logs-{name}/*",),
        "win32": ("%LOCALAPPDATA%/claude-cli-nodejs/Cache/*/mcp-logs-{name}/*",),
        "": ("~/.cache/claude-cli-nodejs/*/mcp-logs-{name}/*",),
    },
    "vscode": {"*": (f"{CODE_LOGS.format('Code')}/mcpServer.*{{name}}*.log",)},
    "vscode-insiders": {"*": (f"{CODE_LOGS.format('Code - Insiders')}/mcpServer.*{{name}}*.log",)},
    "cursor": {"*": (f"{CODE_LOGS.format('Cursor')}/exthost/anysphere.cursor-mcp/MCP*{{name}}*.log",)},
}
"""The logs of clients by system, the best first; `""` is any other system, `*` every one."""
FAILURE = re.compile(r"(?i)error|fail|exit|ENOENT|EACCES|refused|denied|disconnect|not found|timed? ?out|traceback")
TAIL_BYTES, TAIL_LINES, QUOTED_LINES = 64 << 10, 40, 4
MAX_LINE = 300
SPECIAL = re.compile(r"([\[\]*?])")
SHARED = "mcp.log"


def check_logs(examined: Examination) -> Iterator[Symptom]:
    """Yield what the newest log of each server says about a failure."""
    for server in configured_servers(examined):
        found = newest_log(server)
        if found is None:
            continue
        lines = failure_lines(found, server.name if found.name == SHARED else "")
        if lines:
            quoted = tuple(without_secrets(line, server.launch.secrets)[:MAX_LINE] for line in lines)
            yield note(server.subject, f"its log reports a failure: {found}", "see the log for more", quoted)


def newest_log(server: ConfiguredServer) -> Path | None:
    """Return the log of a server that was written last, None if there is none."""
    for pattern in log_patterns(server.client.target.label, server.name):
        files = sorted(_matching(pattern), key=lambda path: path.stat().st_mtime)
        if files:
            return files[-1]
    return None


def log_patterns(label: str, name: str) -> Iterator[str]:
    """Yield the patterns of a server's logs on this system."""
    rows = LOGS.get(label, {})
    system = sys.platform if sys.platform in rows else ""
    for row in rows.get("*", rows.get(system, ())):
        path = expanded(with_root(row, sys.platform, os.environ), os.environ, os.path.expanduser("~"))  # noqa: PTH111
        if path:
            yield path.format(name=SPECIAL.sub(r"[\1]", name))


def _matching(pattern: str) -> list[Path]:
    path = Path(pattern)
    parts = path.parts[1:]
    return [found for found in Path(path.anchor).glob(str(Path(*parts))) if found.is_file()]


def failure_lines(path: Path, name: str) -> list[str]:
    """Return the last lines that report a failure, among the last of a file; `name`: only those that have it."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).decode("utf-8", "replace").splitlines()[-TAIL_LINES:]
    except OSError:
        return []
    return [line for line in lines if FAILURE.search(line) and name in line][-QUOTED_LINES:]


def without_secrets(text: str, secrets: Sequence[str] = ()) -> str:
    """Return a text without values that look like secrets, and without those that an entry sets."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= LEAST_SECRET:
            text = text.replace(secret, "REDACTED")
    return ASSIGNED.sub(r"\1REDACTED", str(redacted(text)))


LEAST_SECRET = 6
"""Shorter values are words like `true`, which are in many lines."""
ASSIGNED = re.compile(
    r"(?i)((?:[\w-]*(?:key|token|secret|passw(?:or)?d|credential|auth)[\w-]*)[\"']?\s*[=:]\s*[\"']?)[^\s\"',}]+"
)
