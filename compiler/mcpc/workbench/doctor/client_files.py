"""The clients' configuration files: whether they can be read, who can change them, and what they are missing."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc.workbench.doctor.model import fine, note, problem
from mcpc_runtime.tools.clients.entries import SECRET_NAME
from mcpc_runtime.tools.clients.files import read_text
from mcpc_runtime.tools.clients.installing import Target, all_targets
from mcpc_runtime.tools.clients.table import CLIENTS, USER, client_file, is_installed
from mcpc_runtime.tools.clients.text_edits import CannotEditError, EntryPlace
from mcpc_runtime.transports.platforms.files import access_of_others, is_own_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.workbench.doctor.model import Examination, Symptom

OTHER_KEYS = (("mcpServers",), ("servers",), ("mcp_servers",), ("context_servers",), ("mcp",), ("extensions",))
"""Keys of servers' entries in the files of other clients."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
VARIABLES = ("env", "environment", "envs")


@dataclass(frozen=True, slots=True)
class ClientServers:
    """A client's file and the servers in it; what is wrong with the file is a symptom instead."""

    target: Target
    entries: dict[str, dict[str, Any]]

    @property
    def subject(self) -> str:
        """The client, for a report."""
        return self.target.client.title


def read_clients(examined: Examination) -> Iterator[ClientServers | Symptom]:
    """Yield the file of every client that has one, or why it cannot be used; of several with one file the first."""
    files: dict[str, Target] = {}
    for target in all_targets(str(examined.folder.resolve())):
        if not examined.clients or target.label in examined.clients:
            files.setdefault(target.path, target)
    yield from map(read_client, files.values())


def read_client(target: Target) -> ClientServers | Symptom:
    """Return the servers in a client's file, or why it cannot be read."""
    subject = target.client.title
    if Path(target.path).is_symlink() and not Path(target.path).exists():
        where = Path(target.path).readlink()
        return problem(
            subject, f"{target.path} is a link to {where}, which is gone", "make the link anew, or remove it"
        )
    try:
        return ClientServers(target, dict(target.entries()))
    except CannotEditError as why:
        return problem(subject, f"{target.path}: {why}", f"correct the file; {subject} ignores it as it is")
    except PermissionError:
        return problem(subject, f"{target.path} cannot be read: no permission", f"chmod u+rw {target.path}")
    except OSError as why:
        return problem(
            subject, f"{target.path} cannot be read: {why.strerror or why}", "make it a file that you can read"
        )


def check_clients(examined: Examination) -> Iterator[Symptom]:
    """Yield what is wrong with each file, and the clients that are there without one."""
    present = set()
    for found in read_clients(examined):
        if isinstance(found, ClientServers):
            present.add(found.target.label)
            yield from _file_symptoms(found)
        else:
            yield found
    for label, client in CLIENTS.items():
        is_asked = not examined.clients or label in examined.clients
        if (
            is_asked
            and label not in present
            and is_installed(client)
            and not os.path.lexists(client_file(client, USER))
        ):
            yield fine(client.title, "is installed, and has no servers")
        elif label in examined.clients and label not in present and not is_installed(client):
            yield note(client.title, "is not on this machine", "`mcpc clients` lists those that are")


def _file_symptoms(found: ClientServers) -> Iterator[Symptom]:
    path, subject = found.target.path, found.subject
    status = Path(path).stat()
    if not is_own_file(status):
        yield problem(subject, f"{path} belongs to another user", f"sudo chown $USER {path}")
    if access_of_others(status) & OTHERS_WRITE:
        text = f"{path} can be changed by other users, who can so have {subject} start programs"
        yield problem(subject, text, f"chmod go-w {path}")
    elif access_of_others(status) and found.target.scope == USER and secrets_of(found.entries):
        yield note(subject, f"{path} has secrets, and other users can read it", f"chmod 600 {path}")
    if not os.access(path, os.W_OK):
        yield note(subject, f"{path} is read-only, so `mcpc install` cannot change it", f"chmod u+w {path}")
    if found.entries and found.target.client.condition:
        text, _, advice = found.target.client.condition.partition(": ")
        yield note(subject, text, advice)
    other = wrong_key(found)
    if other:
        right = ".".join(found.target.form.keys[0])
        text = f"{path} has its servers under `{other}`, where {subject} does not look"
        yield problem(subject, text, f"name the key `{right}`")
    count = len(found.entries)
    yield fine(subject, f"{path}: {count} server{'' if count == 1 else 's'}")


def secrets_of(entries: dict[str, dict[str, Any]]) -> list[str]:
    """Return the literal values of variables that are secrets by their names."""
    values = [entry.get(field) for entry in entries.values() for field in (*VARIABLES, "headers")]
    tables = [table for table in values if isinstance(table, dict)]
    return [value for table in tables for name, value in table.items() if is_literal_secret(str(name), value)]


def is_literal_secret(name: str, value: object) -> bool:
    """Tell whether a value is a secret by its name, and not a reference to one."""
    is_literal = isinstance(value, str) and value != "" and "$" not in value and "{env:" not in value
    return is_literal and SECRET_NAME.search(name) is not None


def wrong_key(found: ClientServers) -> str:
    """Return the key under which another client has its entries, if the file has only that one."""
    if found.entries or found.target.form.is_list:
        return ""
    text = read_text(found.target.path)
    for keys in OTHER_KEYS:
        if keys in found.target.form.keys:
            continue
        try:
            entries = found.target.editor.read(text, EntryPlace((keys,)))
        except CannotEditError:
            continue
        if any({"command", "url"} & entry.keys() for entry in entries.values()):
            return ".".join(keys)
    return ""
