"""The clients' configuration files, and what a client starts for an entry in one.

Desktop clients and the SDKs pass on only a few variables; what an entry names is added.  References to variables and to
values that the client asks for are replaced as the client would.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc.workbench.doctor.report import fine, note, problem
from mcpc.workbench.testing.writing import redacted
from mcpc_runtime.tools.clients.entries import SECRET_NAME
from mcpc_runtime.tools.clients.files import read_text
from mcpc_runtime.tools.clients.installing import Target, all_targets
from mcpc_runtime.tools.clients.table import CLIENTS, PROJECT, USER
from mcpc_runtime.tools.clients.text_edits import CannotEditError, EntryPlace
from mcpc_runtime.transports.platforms.files import access_of_others, is_own_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.workbench.doctor.report import Examination, Symptom

OTHER_KEYS = (("mcpServers",), ("servers",), ("mcp_servers",), ("context_servers",), ("mcp",), ("extensions",))
"""Keys of servers' entries in the files of other clients."""
COMMANDS = ("command", "cmd")
VARIABLES = ("env", "environment", "envs")
PASSED = ("env_vars", "env_keys")
URLS = ("url", "httpUrl", "serverUrl", "uri")
# `${NAME}`, `${env:NAME}` and `${NAME:-default}`; `{env:NAME}`; `$NAME`: each client has its own form.
REFERENCE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]*))?\}|\{env:(\w+)\}|\$(\w+)")
INPUT = re.compile(r"\$\{input:([^}]+)\}")
LEAST_SECRET = 6
"""Shorter values are words like `true`, which are in many lines."""
# A name that means a secret, `=` or `:`, and the value: up to a space, quote, comma or brace.
ASSIGNED = re.compile(
    r"(?i)((?:[\w-]*(?:key|token|secret|passw(?:or)?d|credential|auth)[\w-]*)[\"']?\s*[=:]\s*[\"']?)[^\s\"',}]+"
)


@dataclass(frozen=True, slots=True)
class ClientServers:
    """A client's file and the servers in it; what is wrong with the file is a symptom instead."""

    target: Target
    entries: dict[str, dict[str, Any]]

    @property
    def subject(self) -> str:
        return self.target.client.title


def read_clients(examined: Examination) -> Iterator[ClientServers | Symptom]:
    """Yield the file of every client that has one, or why it cannot be used; of several with one file the first."""
    targets: dict[str, Target] = {}
    for target in all_targets(str(examined.folder.resolve())):
        if not examined.clients or target.label in examined.clients:
            targets.setdefault(target.path, target)
    yield from map(read_client, targets.values())


def read_client(target: Target) -> ClientServers | Symptom:
    """Return the servers in a client's file, or why it cannot be read."""
    subject, path = target.client.title, Path(target.path)
    if path.is_symlink() and not path.exists():
        return problem(
            subject, f"{path} is a link to {path.readlink()}, which is gone", "make the link anew, or remove it"
        )
    try:
        return ClientServers(target, dict(target.entries()))
    except CannotEditError as why:
        return problem(subject, f"{path}: {why}", f"correct the file; {subject} ignores it as it is")
    except OSError as why:
        return problem(subject, f"{path} cannot be read: {why.strerror or why}", "make it a file that you can read")


def check_clients(examined: Examination) -> Iterator[Symptom]:
    """Yield what is wrong with each file, and the chosen clients that have none."""
    labels = set()
    for client in read_clients(examined):
        if isinstance(client, ClientServers):
            labels.add(client.target.label)
            yield from _file_symptoms(client)
        else:
            yield client
    for label in set(examined.clients) - labels:
        yield note(CLIENTS[label].title, "has no file with servers", "`mcpc clients` lists those that have one")


def _file_symptoms(client: ClientServers) -> Iterator[Symptom]:
    path, subject = client.target.path, client.subject
    status = Path(path).stat()
    others = access_of_others(status)
    if not is_own_file(status):
        yield problem(subject, f"{path} belongs to another user", f"sudo chown $USER {path}")
    if others & (stat.S_IWGRP | stat.S_IWOTH):
        text = f"{path} can be changed by other users, who can so have {subject} start programs"
        yield problem(subject, text, f"chmod go-w {path}")
    elif others and client.target.scope == USER and secrets_of(client.entries):
        yield note(subject, f"{path} has secrets, and other users can read it", f"chmod 600 {path}")
    if client.entries and client.target.client.condition:
        text, _, advice = client.target.client.condition.partition(": ")
        yield note(subject, text, advice)
    other = wrong_key(client)
    if other:
        text = f"{path} has its servers under `{other}`, where {subject} does not look"
        yield problem(subject, text, f"name the key `{'.'.join(client.target.form.keys[0])}`")
    count = len(client.entries)
    yield fine(subject, f"{path}: {count} server{'' if count == 1 else 's'}")


def secrets_of(entries: dict[str, dict[str, Any]]) -> list[str]:
    """Return the literal values of variables and headers that are secrets by their names."""
    values = [entry.get(field) for entry in entries.values() for field in (*VARIABLES, "headers")]
    tables = [table for table in values if isinstance(table, dict)]
    return [value for table in tables for name, value in table.items() if is_literal_secret(str(name), value)]


def is_literal_secret(name: str, value: object) -> bool:
    """Tell whether a value is a secret by its name, and not a reference to one."""
    is_literal = isinstance(value, str) and value != "" and "$" not in value and "{env:" not in value
    return is_literal and SECRET_NAME.search(name) is not None


def wrong_key(client: ClientServers) -> str:
    """Return the key under which another client has its entries, if the file has only that one."""
    if client.entries or client.target.form.is_list:
        return ""
    text = read_text(client.target.path)
    for keys in OTHER_KEYS:
        if keys in client.target.form.keys:
            continue
        try:
            entries = client.target.editor.read(text, EntryPlace((keys,)))
        except CannotEditError:
            continue
        # Other tables of a file may have these keys, too; only those of servers have a command or an address.
        if any({"command", "url"} & entry.keys() for entry in entries.values()):
            return ".".join(keys)
    return ""


@dataclass(frozen=True, slots=True)
class Launch:
    """What a client starts.

    `unset`: variables that an entry refers to and that are not set; `asked`: values that the client asks its user for.
    """

    words: tuple[str, ...]
    variables: Mapping[str, str]
    folder: str
    unset: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values of the entry's variables."""
        return tuple(value for value in self.variables.values() if value)


def launch_of(target: Target, entry: Mapping[str, Any], project: Path) -> Launch:
    """Return what a client starts for an entry; without words if the entry has no command."""
    texts = Replaced(project)
    words = tuple(texts.replace(word) for word in command_words(entry))
    variables = {name: texts.replace(value) for name, value in variables_of(entry).items()}
    passed = [name for field in PASSED for name in entry.get(field) or () if isinstance(name, str)]
    unset = [*texts.unset, *(name for name in passed if name not in os.environ)]
    variables |= {name: os.environ[name] for name in passed if name in os.environ}
    folder = texts.replace(entry["cwd"]) if isinstance(entry.get("cwd"), str) else ""
    default = project if target.scope == PROJECT else Path.home()
    return Launch(words, variables, folder or str(default), tuple(unset), tuple(texts.asked))


def command_words(entry: Mapping[str, Any]) -> list[str]:
    words: list[Any] = []
    for value in (*(entry.get(field) for field in COMMANDS), entry.get("args")):
        words += value if isinstance(value, list) else [value] if isinstance(value, str) and value else []
    return [word for word in words if isinstance(word, str)]


def variables_of(entry: Mapping[str, Any]) -> dict[str, str]:
    tables = [entry[field] for field in VARIABLES if isinstance(entry.get(field), dict)]
    return {name: value for table in tables for name, value in table.items() if isinstance(value, str)}


def url_of(entry: Mapping[str, Any]) -> str:
    """Return the address of a remote server, or an empty text."""
    return next((str(entry[field]) for field in URLS if entry.get(field)), "")


class Replaced:
    """Texts in which references are replaced; what could not be is kept."""

    def __init__(self, project: Path) -> None:
        self._folders = {"${userHome}": str(Path.home()), "${workspaceFolder}": str(project)}
        self.unset: list[str] = []
        self.asked: list[str] = []

    def replace(self, text: str) -> str:
        """Return a text without references."""
        self.asked += INPUT.findall(text)
        for name, folder in self._folders.items():
            text = text.replace(name, folder)
        return REFERENCE.sub(self._value, text)

    def _value(self, reference: re.Match[str]) -> str:
        name = reference[1] or reference[3] or reference[4]
        value: str | None = os.environ.get(name, reference[2])
        if value is None:
            self.unset.append(name)
        return value or ""


def without_secrets(text: str, secrets: Sequence[str] = ()) -> str:
    """Return a text without values that look like secrets, and without those that an entry sets."""
    # The longest first: a secret may contain another one.
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= LEAST_SECRET:
            text = text.replace(secret, "REDACTED")
    return ASSIGNED.sub(r"\1REDACTED", str(redacted(text)))
