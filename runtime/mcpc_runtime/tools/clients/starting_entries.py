"""Where the clients of this machine that start a server's file have its settings: for a server that lacks some.

It reads configuration files and never values; a file that cannot be read is passed over.
"""

from __future__ import annotations

import os

from mcpc_runtime.tools.clients.entries import strings_of
from mcpc_runtime.tools.clients.installing import Target, all_targets
from mcpc_runtime.tools.clients.messages import SET_IN_CLIENT
from mcpc_runtime.tools.clients.table import ENV
from mcpc_runtime.tools.clients.text_edits import CannotEditError

DEFAULT_FIELD = "env"


def how_to_set_in_clients(file: str) -> str:
    """Return where to set a setting in each client with an entry that starts `file`; an empty text without any."""
    names = {os.path.abspath(file), os.path.realpath(file)}
    found = [
        SET_IN_CLIENT.format(
            title=target.client.title, field=variables_field(target), entry=name, path=target.path, client=target.label
        )
        for target in all_targets(os.getcwd())
        for name in starting_names(target, names)
    ]
    return " ".join([*found, "Then start the server again."]) if found else ""


def starting_names(target: Target, files: set[str]) -> list[str]:
    """Return the names of the entries of a client's file that start one of `files`."""
    try:
        return sorted(name for name, entry in target.entries().items() if not files.isdisjoint(strings_of(entry)))
    except (CannotEditError, OSError, ValueError, RecursionError):
        return []


def variables_field(target: Target) -> str:
    """Return the field of an entry that has the server's variables."""
    return next((key.rstrip("?") for key, value in target.form.stdio.items() if value == ENV), DEFAULT_FIELD)
