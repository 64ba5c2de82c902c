"""Servers of `mcpc scan --clients`: those in the files of this machine's clients.

Entries are read without starting anything.  A command is started only if the user names its server.  Of what a file of
the project names nothing is started or asked unless the user trusts it, because such a file may come from other people.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mcpc.cli import messages
from mcpc.cli.configured_entries import completed, entry_of, headers_of, locator, shown_path
from mcpc.cli.scan_targets import running_server
from mcpc.client.client import ConversationError, read_server
from mcpc.client.contents import ServerContents, read_server_contents
from mcpc.client.http import UnsafeAddressError, connected
from mcpc.diagnostics.formats.visible import visible
from mcpc.release.scan.entries import (
    HIDDEN,
    SECRET_NAME,
    SHORTEST,
    secret_parts,
    shown_address,
    shown_command,
)
from mcpc.release.scan.model import WORD, ClientEntry, ScannedServer
from mcpc.workbench.doctor.checks import started_entry
from mcpc.workbench.doctor.clients import ClientServers, Replaced, read_clients, url_of, without_secrets
from mcpc.workbench.doctor.entries import configured_servers
from mcpc.workbench.doctor.report import Examination

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.cli.scan_targets import RequestOptions
    from mcpc.client import ServerLists
    from mcpc.client.processes import ProcessTransport
    from mcpc.workbench.doctor.entries import ConfiguredServer

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
    return [*found, *(value.partition(" ")[2] for value in found)]


def without_values(server: ScannedServer, secrets: Sequence[str]) -> ScannedServer:
    """Return a server whose texts do not repeat the secrets that it was given."""
    hidden = sorted({secret for secret in secrets if len(secret) >= SHORTEST}, key=len, reverse=True)
    lists, files, unread = json.dumps(server.lists), server.files, server.unread
    for secret in hidden:
        lists = lists.replace(json.dumps(secret)[1:-1], HIDDEN)
        files = tuple(file._replace(text=file.text.replace(secret, HIDDEN)) for file in files)
        unread = unread.replace(secret, HIDDEN)
    return replace(server, lists=json.loads(lists), files=files, unread=unread)


@contextmanager
def started_quietly(server: ConfiguredServer) -> Iterator[ProcessTransport]:
    """Start the command of an entry as its client does, and yield the connection to it; raise ConversationError."""
    with tempfile.TemporaryFile() as errors, started_entry(server, errors) as transport:
        yield transport
