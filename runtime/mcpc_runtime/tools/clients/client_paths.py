"""Which file of a client is meant: by system, scope, variables and what exists."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from mcpc_runtime.tools.clients.table import CLIENTS, ROOTS, Client

USER, PROJECT = "user", "project"
SCOPES = (USER, PROJECT)
SYSTEMS = {"darwin": 2, "win32": 3}
"""The column of ROOTS; any other system has that of Linux."""
LINUX_WITH_VARIABLE, LINUX = 0, 1


def with_root(path: str, system: str, environment: Mapping[str, str]) -> str:
    """Return a path whose root is replaced by its folder; empty if there is none on this system."""
    root, slash, rest = path.partition("/")
    if root not in ROOTS:
        return path
    column = SYSTEMS.get(system, LINUX)
    if column == LINUX and environment.get(ROOTS[root][LINUX_WITH_VARIABLE].partition("/")[0][1:]):
        column = LINUX_WITH_VARIABLE
    return f"{ROOTS[root][column]}{slash}{rest}" if ROOTS[root][column] else ""


def expanded(path: str, environment: Mapping[str, str], home: str) -> str:
    """Return a path without `~`, `$NAME` and `%NAME%` at its beginning; empty if the variable is not set."""
    root, slash, rest = path.partition("/")
    if root == "~":
        return f"{home}{slash}{rest}"
    if root[:1] in ("$", "%"):
        value = environment.get(root.strip("$%"), "")
        return f"{value}{slash}{rest}" if value else ""
    return path


def user_paths(client: Client, system: str, environment: Mapping[str, str], home: str) -> list[str]:
    """Return the files of a client that belong to the user; the one that a variable names is the only one."""
    found: list[str] = []
    for path in client.user:
        name = with_root(path, system, environment)
        place = expanded(name, environment, home)
        if not place:
            continue
        if path.startswith("$"):
            return [os.path.abspath(place)]
        found.append(place)
    return [path.replace("/", os.sep) for path in found]


def client_file(client: Client, scope: str, folder: str = "") -> str:
    """Return the file of a client, or an empty text; `folder`: the project's, for its scope."""
    if scope == PROJECT:
        return existing([os.path.join(folder, *path.split("/")) for path in client.project])
    return existing(user_paths(client, sys.platform, os.environ, os.path.expanduser("~")))


def existing(paths: list[str]) -> str:
    """Return the first path that exists, else the first whose folder exists, else the last."""
    for path in paths:
        if os.path.lexists(path):
            return path
    if len(paths) > 1 and paths[-1] in paths[:-1]:
        return paths[-1]  # a default that is not the first to look for
    return next((path for path in paths if os.path.isdir(os.path.dirname(path))), paths[-1] if paths else "")


def is_installed(client: Client) -> bool:
    """Tell whether a client is on this machine: its folder is there, or a file that is directly in the user's home."""
    path = client_file(client, USER)
    home = os.path.expanduser("~")
    return bool(path) and (
        os.path.lexists(path) or (os.path.dirname(path) != home and os.path.isdir(os.path.dirname(path)))
    )


def format_of(client: Client, scope: str) -> Client:
    """Return the client whose format a file has."""
    return CLIENTS[client.project_as] if scope == PROJECT and client.project_as else client
