"""How a server is added to each client: the place of the client's file, and the entry as an empty file has it.

Paths are those of every system, and none of this machine; the built file is `/path/to/NAME.pyz`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc_runtime.tools.clients.entries import CannotWriteEntryError, ServerEntry, client_entry
from mcpc_runtime.tools.clients.installing import Target, rendered
from mcpc_runtime.tools.clients.request import variable_of
from mcpc_runtime.tools.clients.table import CLIENTS, USER, with_root

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc_runtime.tools.clients.table import Client

MAIN = ("claude-desktop", "claude-code", "vscode", "cursor", "codex", "gemini-cli", "windsurf", "zed")
"""Clients that are shown first."""
SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
PLACE = "/path/to"


@dataclass(frozen=True, slots=True)
class ClientSection:
    """A client: its name for commands, the places of its file by system, an entry, and what to do afterwards."""

    label: str
    title: str
    places: tuple[str, ...]
    entry: str
    note: str
    is_main: bool


def client_sections(name: str, settings: Sequence[Mapping[str, Any]]) -> Iterator[ClientSection]:
    """Yield the clients, main ones first.  `name`: of the entry and the file; `settings`: the declared ones."""
    required = [row for row in settings if row.get("required") and "default" not in row]
    variables = tuple(variable_of(str(row["name"]), f"<{row['name']}>", row) for row in required)
    server = ServerEntry(name, "python3", ("-I", f"{PLACE}/{name}.pyz"), variables)
    for label in (*MAIN, *(label for label in CLIENTS if label not in MAIN)):
        client = CLIENTS[label]
        if client.refusal or not client.user:
            continue
        try:
            entry = client_entry(client, server, USER)
        except CannotWriteEntryError:
            continue
        text = rendered(Target(client, label, USER, ""), name, entry)
        yield ClientSection(label, client.title, tuple(places_of(client)), text, client.note, label in MAIN)


def places_of(client: Client) -> Iterator[str]:
    """Yield the places of a client's file; one for all systems, or one for each."""
    path = next((path for path in reversed(client.user) if not path.startswith("$")), client.user[-1])
    found = {title: with_root(path, system, {}) for system, title in SYSTEMS.items()}
    if len({*found.values()}) == 1:
        yield path
        return
    for title, place in found.items():
        if place:
            yield f"{title}: {place}"
