"""The files of clients, from the table that `mcpc install` uses."""

from __future__ import annotations

from generation.markdown import code, table
from mcpc_runtime.tools.clients.table import CLIENTS, ROOTS


def clients() -> str:
    """Return two tables: the files of each client, and what the folders in them are on each system."""
    rows = [
        (
            client.title,
            code(label),
            code(client.user[-1]) if client.user else "none",
            " or ".join(map(code, dict.fromkeys(client.project))) or "none",
            f"printed only: {client.refusal}" if client.refusal else client.grade,
        )
        for label, client in CLIENTS.items()
    ]
    files = table(("client", "name", "the user's file", "the project's file", "certainty"), rows)
    return f"{files}\n{folders()}"


def folders() -> str:
    """Return what a folder of the table is on each system."""
    rows = [
        (code(root), *(code(place) if place else "none" for place in places)) for root, (_, *places) in ROOTS.items()
    ]
    return table(("in the table", "Linux", "macOS", "Windows"), rows)
