"""Scan of the servers that clients of this machine have: their entries, and what the servers offer.

Entries are read without starting anything.  A command is started only if the user names its server.  Of what a file of
the project names nothing is started or asked unless the user trusts it, because such a file may come from other people.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mcpc.cli import messages
from mcpc.cli.scan_targets import running_server
from mcpc.client.client import ConversationError, read_server
from mcpc.client.contents import ServerContents, read_server_contents
from mcpc.client.http import UnsafeAddressError, connected
from mcpc.diagnostics.formats.visible import visible
from mcpc.release.scan.entries import HIDDEN, SECRET_NAME, SHORTEST, secret_parts, shown_address, shown_command
from mcpc.release.scan.model import ADDRESS, HEADER, VARIABLE, WORD, ClientEntry, EntryText, ScannedServer
from mcpc.release.scan.texts import entry_position
from mcpc.workbench.doctor.checks import started_entry
from mcpc.workbench.doctor.clients import (
    COMMANDS,
    URLS,
    VARIABLES,
    ClientServers,
    Replaced,
    launch_of,
    read_clients,
    url_of,
    without_secrets,
)
from mcpc.workbench.doctor.entries import configured_servers
from mcpc.workbench.doctor.report import Examination
from mcpc_runtime.tools.clients.files import read_text
from mcpc_runtime.tools.clients.yaml_text import entries_of, fields_of, read_lines, scalar, section_of, statements
from mcpc_runtime.transports.platforms.files import access_of_others

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.cli.scan_targets import RequestOptions
    from mcpc.client import ServerLists
    from mcpc.client.processes import ProcessTransport
    from mcpc.release.scan.model import Hit, Position
    from mcpc.workbench.doctor.entries import ConfiguredServer
    from mcpc_runtime.tools.clients.yaml_text import Statement


ALL = "all"
MAX_WHY = 160


class Start(NamedTuple):
    """What may be started: servers by name, or `all`; those of the project's files only if it is trusted."""

    names: tuple[str, ...] = ()
    trusts_project: bool = False

    def allows_start(self, server: ConfiguredServer) -> bool:
        """Tell whether the command of a server may be started."""
        is_named = server.name in self.names or (ALL in self.names and not server.is_disabled)
        return is_named and (self.trusts_project or not server.is_of_project)

    def allows_question(self, server: ConfiguredServer) -> bool:
        """Tell whether the address of a server may be asked."""
        is_wanted = server.name in self.names or not server.is_disabled
        return is_wanted and (self.trusts_project or not server.is_of_project)


class ClientScan(NamedTuple):
    """The servers by client, the files that cannot be read, and how many servers were not started."""

    groups: tuple[tuple[ScannedServer, ...], ...]
    notes: tuple[str, ...]
    waiting: int


@dataclass(slots=True)
class ClientReader:
    """Reads the servers of clients; what several clients start or reach in the same way is asked once."""

    start: Start
    request: RequestOptions
    waiting: int = 0
    _known: dict[Any, tuple[ServerLists, ServerContents] | str] = field(default_factory=dict)

    def server(self, configured: ConfiguredServer) -> ScannedServer:
        """Return a server of a client, with its lists if it was asked for them."""
        entry = entry_of(configured)
        target = f"{entry.client}, {shown_path(entry.path)}"
        found = self._asked(configured, entry)
        if isinstance(found, str):
            why = visible(without_secrets(found, secrets_of(configured)), MAX_WHY)
            return ScannedServer(configured.name, target, {}, (), locator(configured), why, entry)
        secrets = [*secrets_of(configured), *(part.value for part, _ in secret_parts(entry))]
        read = without_values(running_server(target, *found), secrets)
        return replace(read, name=configured.name, locate=locator(configured), entry=entry)

    def _asked(self, server: ConfiguredServer, entry: ClientEntry) -> tuple[ServerLists, ServerContents] | str:
        """Return what a server offers and says, or why it was not asked."""
        words = [part.value for part in entry.of(WORD)]
        if words and not self.start.allows_start(server):
            self.waiting += 1
            return messages.NOT_STARTED.format(command=shown_command(words))
        if words:
            launch = server.launch
            # Words alone do not tell what starts: variables and the folder choose among files and accounts.
            key: Any = (launch.words, tuple(sorted(launch.variables.items())), launch.folder)
            return self._once(key, server, partial(started_quietly, server))
        url = url_of(server.entry)
        if not url:
            return messages.NOTHING_TO_ASK
        if not self.start.allows_question(server):
            return messages.NOT_ASKED.format(address=shown_address(url))
        texts = Replaced(Path.cwd())
        headers = {name: texts.replace(value) for name, value in headers_of(server.entry).items()}
        return self._once((url, *sorted(headers.items())), server, partial(connected, texts.replace(url), headers))

    def _once(
        self, key: Any, server: ConfiguredServer, connect: Callable[[], Any]
    ) -> tuple[ServerLists, ServerContents] | str:
        if key not in self._known:
            self._known[key] = self._answer(server, connect)
        return self._known[key]

    def _answer(self, server: ConfiguredServer, connect: Callable[[], Any]) -> tuple[ServerLists, ServerContents] | str:
        if server.launch.asked:
            return messages.CLIENT_ASKS
        try:
            if self.request.is_lists_only:
                return read_server(connect, self.request.seconds), ServerContents()
            return read_server_contents(connect, self.request.seconds)
        except UnsafeAddressError:
            return messages.HEADERS_IN_CLEAR
        except ConversationError as problem:
            return messages.NO_ANSWER.format(problem=problem)


def scan_of_clients(folder: Path, start: Start, request: RequestOptions) -> ClientScan:
    """Return the servers in the files of this machine's clients, and of the project in a folder.

    Raise a usage error if a server is to be started that no client has.
    """
    examined = Examination(folder)
    problems = [found for found in read_clients(examined) if not isinstance(found, ClientServers)]
    servers = [completed(server, folder.resolve()) for server in configured_servers(examined)]
    require_names(start, {server.name for server in servers})
    reader = ClientReader(start, request)
    groups: dict[str, list[ScannedServer]] = {}
    for server in servers:
        groups.setdefault(server.client.target.label, []).append(reader.server(server))
    notes = tuple(visible(f"{problem.subject}: {problem.text}") for problem in problems)
    return ClientScan(tuple(map(tuple, groups.values())), notes, reader.waiting)


def require_names(start: Start, names: set[str]) -> None:
    """Raise a usage error if a server is to be started that no client has."""
    for name in start.names:
        if name != ALL and name not in names:
            known = ", ".join(f"`{visible(each)}`" for each in sorted(names)) or "none"
            raise click.UsageError(messages.UNKNOWN_SERVER.format(name=name, names=known))


def secrets_of(server: ConfiguredServer) -> list[str]:
    """Return the values of variables and headers that are secrets by their names."""
    texts = Replaced(Path.cwd())
    headers = {name: texts.replace(value) for name, value in headers_of(server.entry).items()}
    named = {**server.launch.variables, **headers}
    found = [value for name, value in named.items() if SECRET_NAME.search(name)]
    # Of `Bearer abc` a server may repeat the token alone.
    return [*found, *(value.partition(" ")[2] for value in found)]


def without_values(server: ScannedServer, secrets: Sequence[str]) -> ScannedServer:
    """Return a server whose texts do not repeat the secrets that it was given."""
    # The longest first: a shorter one may be a part of it, and what is left of it would be shown.
    hidden = sorted({secret for secret in secrets if len(secret) >= SHORTEST}, key=len, reverse=True)
    lists, files, unread = json.dumps(server.lists), server.files, server.unread
    for secret in hidden:
        # As JSON writes it, with escapes and without its quotes.
        lists = lists.replace(json.dumps(secret)[1:-1], HIDDEN)
        files = tuple(file._replace(text=file.text.replace(secret, HIDDEN)) for file in files)
        unread = unread.replace(secret, HIDDEN)
    return replace(server, lists=json.loads(lists), files=files, unread=unread)


@contextmanager
def started_quietly(server: ConfiguredServer) -> Iterator[ProcessTransport]:
    """Start the command of an entry as its client does, and yield the connection to it; raise ConversationError."""
    # A file takes any amount; a full pipe that nobody reads would stop the server.
    with tempfile.TemporaryFile() as errors, started_entry(server, errors) as transport:
        yield transport


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
    # A symlink can be replaced where it is, and what it means where that is.
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
