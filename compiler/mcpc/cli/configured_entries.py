"""Entries of servers in clients' files as a scan reads them: texts, files that can be replaced, and places."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc.release.scan.model import ADDRESS, HEADER, VARIABLE, WORD, ClientEntry, EntryText
from mcpc.release.scan.texts import entry_position
from mcpc.workbench.doctor.clients import COMMANDS, URLS, VARIABLES, launch_of
from mcpc_runtime.tools.clients.files import read_text
from mcpc_runtime.tools.clients.yaml_text import entries_of, fields_of, read_lines, scalar, section_of, statements
from mcpc_runtime.transports.platforms.files import access_of_others

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.release.scan.model import Hit, Position
    from mcpc.workbench.doctor.entries import ConfiguredServer
    from mcpc_runtime.tools.clients.yaml_text import Statement

HEADERS = ("headers", "http_headers")
SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".pyz", ".jar", ".rb")


YAML = "yaml"


def completed(server: ConfiguredServer, folder: Path) -> ConfiguredServer:
    """Return a server with the values of its entry that are written over several lines of YAML."""
    target = server.client.target
    if target.form.format != YAML:
        return server
    lines = read_lines(read_text(target.path))
    statement = entries_of(lines, section_of(lines, target.entry_place), target.entry_place)[server.name]
    below = {each.key: _block(lines, each) for each in fields_of(lines, statement) if not each.rest}
    entry = {**server.entry, **{key: value for key, value in below.items() if value}}
    return replace(server, entry=entry, launch=launch_of(target, entry, folder))


def _block(lines: list[str], field: Statement) -> dict[str, str] | list[str]:
    inner = statements(lines, field.first + 1, field.last)
    if all(each.key for each in inner):
        return {each.key: scalar(each.rest) for each in inner}
    return [scalar(each.rest) for each in inner]


def entry_of(server: ConfiguredServer) -> ClientEntry:
    """Return the entry of a server as its client's file has it."""
    target = server.client.target
    return ClientEntry(
        target.client.title,
        target.path,
        tuple(_parts(server.entry)),
        server.launch.words,
        tuple(_replaceable(server)),
        server.is_of_project or is_read_by_others(Path(target.path)),
    )


def _parts(entry: dict[str, Any]) -> Iterator[EntryText]:
    for name in (*COMMANDS, "args"):
        value = entry.get(name)
        if isinstance(value, str) and value:
            yield EntryText(WORD, "", value, f"/{name}")
        for number, word in enumerate(value if isinstance(value, list) else ()):
            if isinstance(word, str):
                yield EntryText(WORD, "", word, f"/{name}/{number}")
    for kind, fields in ((VARIABLE, VARIABLES), (HEADER, HEADERS)):
        yield from (part for name in fields for part in _members(kind, name, entry.get(name)))
    for name in URLS:
        if isinstance(entry.get(name), str):
            yield EntryText(ADDRESS, name, entry[name], f"/{name}")


def _members(kind: str, name: str, table: object) -> Iterator[EntryText]:
    for key, value in table.items() if isinstance(table, dict) else ():
        if isinstance(value, str):
            yield EntryText(kind, str(key), value, f"/{name}/{key}")


def headers_of(entry: dict[str, Any]) -> dict[str, str]:
    """Return the headers that an entry sends, and those that it takes from variables."""
    tables = [entry[name] for name in HEADERS if isinstance(entry.get(name), dict)]
    found = {name: value for table in tables for name, value in table.items() if isinstance(value, str)}
    named = entry.get("env_http_headers")
    for name, variable in named.items() if isinstance(named, dict) else ():
        found[str(name)] = f"${{{variable}}}"
    token = entry.get("bearer_token_env_var")
    return {**found, "Authorization": f"Bearer ${{{token}}}"} if isinstance(token, str) else found


def _replaceable(server: ConfiguredServer) -> Iterator[str]:
    """Yield the program and the files of a command that every user of this machine can replace."""
    words = server.launch.words
    for word in (server.program, *(each for each in words[1:] if each.endswith(SCRIPTS))):
        place = Path(server.launch.folder, word)
        if word and place.is_absolute() and is_replaceable(place):
            yield word


def is_replaceable(path: Path) -> bool:
    """Tell whether every user can write a file, or put another one in its place."""
    places = dict.fromkeys((path, Path(os.path.realpath(path))))
    return any(
        others_write(each, below)
        for place in places
        for each, below in zip((place, *place.parents), (None, place, *place.parents), strict=False)
    )


def others_write(path: Path, below: Path | None) -> bool:
    """Tell whether every user can change a file, or what is `below` in a folder: in `/tmp` only if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return False
    is_protected = bool(status.st_mode & stat.S_ISVTX) and below is not None and os.path.lexists(below)
    return bool(access_of_others(status) & stat.S_IWOTH) and not is_protected


def is_read_by_others(path: Path) -> bool:
    """Tell whether every user of this machine can read a file: its mode and those of the folders above allow it."""
    try:
        can_read = access_of_others(path.stat()) & stat.S_IROTH
        return bool(can_read) and all(access_of_others(each.stat()) & stat.S_IXOTH for each in path.parents)
    except OSError:
        return False


def locator(server: ConfiguredServer) -> Callable[[Hit], Position | None]:
    """Return the function that finds hits of an entry in the client's file."""
    target = server.client.target

    def locate(hit: Hit) -> Position | None:
        keys = (server.name, *(hit.text.pointer.split("/")[2:] if hit.text.pointer.startswith("/entry") else ()))
        try:
            text = read_text(target.path)
        except OSError:
            return None
        return entry_position(target.path, text, target.form.format, target.entry_place, keys)

    return locate


def shown_path(path: str) -> str:
    """Return a path with `~` for the user's home."""
    home = str(Path.home())
    return f"~{path.removeprefix(home)}" if path.startswith(f"{home}{os.sep}") else path
