"""List the clients of this machine, the servers that each has, and whether what they start still exists."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from mcpc_runtime.tools.clients.client_paths import USER, client_file, is_installed
from mcpc_runtime.tools.clients.installing import all_targets
from mcpc_runtime.tools.clients.table import CLIENTS
from mcpc_runtime.tools.clients.text_edits import CannotEditError, Entry
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.program_search import find_program

COMMANDS = ("command", "cmd")
URLS = ("url", "httpUrl", "serverUrl", "uri")
ARCHIVE = (".pyz", ".py")


class ServerRow(NamedTuple):
    """A server of a client; values of variables and headers are left out, since they may be secret."""

    name: str
    command: str
    url: str
    missing: str


def server_rows(entries: dict[str, Entry]) -> list[ServerRow]:
    """Return the servers of a file."""
    return [server_row(name, entry) for name, entry in entries.items()]


def server_row(name: str, entry: Entry) -> ServerRow:
    """Return one server."""
    words: list[Any] = []
    for value in (*(entry.get(field) for field in COMMANDS), entry.get("args")):
        words += value if isinstance(value, list) else [value] if isinstance(value, str) else []
    url = next((str(entry[field]) for field in URLS if entry.get(field)), "")
    texts = [word for word in words if isinstance(word, str)]
    return ServerRow(name, texts[0] if texts else "", url.partition("?")[0], missing_file(texts))


def missing_file(words: list[str]) -> str:
    """Return the program or file of a command that does not exist, or an empty text."""
    if words and not (os.path.exists(words[0]) if os.path.isabs(words[0]) else find_program(words[0], system.environ)):
        return words[0]
    files = [word for word in words[1:] if os.path.isabs(word) and word.endswith(ARCHIVE)]
    return next((word for word in files if not os.path.exists(word)), "")


def client_rows(folder: str) -> list[dict[str, Any]]:
    """Return the clients that are on this machine or have a file in a project's folder."""
    rows: list[dict[str, Any]] = []
    targets = all_targets(folder)
    present = {target.label for target in targets}
    for target in targets:
        row: dict[str, Any] = {"client": target.label, "title": target.client.title, "scope": target.scope}
        row |= {"path": target.path, "servers": [], "problem": ""}
        try:
            row["servers"] = [server._asdict() for server in server_rows(target.entries())]
        except CannotEditError as problem:
            row["problem"] = str(problem)
        except OSError as problem:
            row["problem"] = problem.strerror or str(problem)
        rows.append(row)
    for label, client in CLIENTS.items():
        if label not in present and is_installed(client):
            path = client_file(client, USER)
            rows.append(
                {"client": label, "title": client.title, "scope": USER, "path": path, "servers": [], "problem": ""}
            )
    order = [*CLIENTS]
    return sorted(rows, key=lambda row: (order.index(row["client"]), row["scope"] != USER))
