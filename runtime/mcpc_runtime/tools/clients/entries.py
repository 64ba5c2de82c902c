"""Make the entry of a server for a client: values in the client's form, secrets by reference wherever it has one.

Values come from the command line (`NAME=VALUE`), from the caller's environment, or stay with the client: what it asks
for itself, or finds in its own environment.  A secret is never written into a project's file, which others read.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from typing import NamedTuple
from zipfile import ZipFile

from mcpc_runtime.tools.clients import messages
from mcpc_runtime.tools.clients.table import (
    ARGS,
    COMMAND,
    HEADER_NAMES,
    HEADERS,
    NAME,
    PASSED,
    PROGRAM,
    PROJECT,
    TOKEN,
    URL,
    USER,
    Client,
    Shape,
    format_of,
)
from mcpc_runtime.tools.clients.table import ENV as VALUES
from mcpc_runtime.tools.clients.text_edits import Entry

FACTS = "META-INF/build.json"
MAX_FACTS = 1 << 20


def file_of_server(name: str, texts: Iterable[str]) -> str:
    """Return which of an entry's texts is the path of a built file whose server has this name."""
    files = (text for text in sorted(texts) if os.path.isabs(text) and os.path.isfile(text))
    return next((path for path in files if built_name(path) == name), "")


def built_name(path: str) -> str:
    """Return the name of the server in a built file; nothing for any other file."""
    try:
        with ZipFile(path) as archive:
            # A file is not trusted, and its facts are unpacked into memory.
            if archive.getinfo(FACTS).file_size > MAX_FACTS:
                return ""
            facts = json.loads(archive.read(FACTS))
    except Exception:  # noqa: BLE001 - any file may have this name: zipfile, zlib and lzma raise many kinds
        return ""
    name = facts.get("name") if isinstance(facts, dict) else None
    return name if isinstance(name, str) else ""


SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
KIND_FIELDS = frozenset(("type", "transport", "source"))
"""Fields that say what kind of server an entry is: an existing entry of another kind is another server."""


class CannotWriteEntryError(Exception):
    """No entry can be written for a client; the message states why, and what to do."""


class Variable(NamedTuple):
    """A variable that a server gets.  Without a value it is passed on from the client's environment."""

    name: str
    value: str | None
    is_secret: bool = False
    title: str = ""


class Header(NamedTuple):
    """A header that a client sends: a text, or a prefix and the value of a variable."""

    name: str
    text: str
    variable: str = ""

    @property
    def is_secret(self) -> bool:
        """Tell whether a text is a secret by the header's name."""
        return not self.variable and SECRET_NAME.search(self.name) is not None


class ServerEntry(NamedTuple):
    """A server as clients start or reach it; `file`: the built one, and `built_name`: the name that it has for it."""

    name: str
    command: str = ""
    arguments: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()
    url: str = ""
    headers: tuple[Header, ...] = ()
    built_name: str = ""
    file: str = ""

    @property
    def key(self) -> str:
        """What entries of the same server have: its URL or its file, or the last word of its command."""
        return self.url or self.file or (self.arguments[-1] if self.arguments else self.command)


class ClientEntry(NamedTuple):
    """An entry for a file: its fields, those that an existing entry gets, and what the client asks its user for."""

    fields: Entry
    owned: frozenset[str]
    inputs: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()


class Values(NamedTuple):
    """The values of variables and headers in one client's form."""

    written: dict[str, str]
    passed: list[str]
    inputs: list[Entry]
    notes: list[str]


def client_entry(client: Client, server: ServerEntry, scope: str) -> ClientEntry:
    """Return the entry of a server in a client's file; CannotWriteEntryError if it has no form for it."""
    form = format_of(client, scope)
    shape = form.http if server.url else form.stdio
    if shape is None:
        raise CannotWriteEntryError(messages.NO_REMOTE_SERVERS)
    if form.refuses_spaces and " " in server.command:
        raise CannotWriteEntryError(messages.NO_SPACES.format(command=server.command))
    values = Values({}, [], [], [])
    placed: dict[str, object] = {
        NAME: server.name,
        COMMAND: server.command,
        ARGS: list(server.arguments),
        PROGRAM: [server.command, *server.arguments],
        URL: server.url,
    }
    if server.url:
        placed.update(placed_headers(form, server, scope, values))
    else:
        for variable in server.variables:
            add_variable(form, server.name, variable, scope, values)
        placed[VALUES], placed[PASSED] = values.written, values.passed
    fields = {field: filled for field, value in shape.items() if (filled := fill(value, placed)) is not OMITTED}
    refuse_lost_values(shape, placed)
    owned = frozenset(field for field, value in shape.items() if is_placeholder(value))
    return ClientEntry(fields, owned, tuple(values.inputs), tuple(values.notes))


OMITTED = object()


def is_placeholder(value: object) -> bool:
    """Tell whether a value of a shape stands for another one."""
    return isinstance(value, str) and value.startswith("$")


def fill(value: object, placed: dict[str, object]) -> object:
    """Return the value for a placeholder, or OMITTED for an empty one that may be missing."""
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    name = value.removesuffix("?")
    # `$env` and `$env?` have one value: the mark says only that the field may be missing.
    value_there = placed.get(f"{name}?", placed.get(name))
    return OMITTED if not value_there and value.endswith("?") else value_there


def refuse_lost_values(shape: Shape, placed: dict[str, object]) -> None:
    """Refuse values that an entry of this shape has no field for."""
    fields = {str(value).removesuffix("?") for value in shape.values() if is_placeholder(value)}
    lost = [name for name in (VALUES, PASSED, HEADERS) if placed.get(name) and name.removesuffix("?") not in fields]
    if lost:
        raise CannotWriteEntryError(messages.NO_FIELD)


def add_variable(client: Client, name: str, variable: Variable, scope: str, values: Values) -> None:
    """Put a variable where the client has it: its own question, a reference, the names it passes on, or the value."""
    passes = PASSED.removesuffix("?") in {str(value).removesuffix("?") for value in client.stdio.values()}
    if client.inputs and variable.is_secret:
        values.written[variable.name] = asked_by_client(name, variable, values)
    # A client that keeps secrets asks for the value itself, whatever was given.
    elif passes and (variable.value is None or (client.keeps_secrets and variable.is_secret)):
        values.passed.append(variable.name)
    elif variable.value is None and client.reference and not (client.program and scope == USER):
        values.written[variable.name] = client.reference.format(variable.name)
        values.notes.append(messages.MUST_BE_SET.format(name=variable.name, client=client.title))
    else:
        if scope == PROJECT and variable.is_secret:
            raise CannotWriteEntryError(messages.SECRET_IN_PROJECT.format(name=variable.name))
        values.written[variable.name] = value_of(variable.name, variable.value)


def value_of(name: str, value: str | None) -> str:
    """Return a value, that of the caller's environment by default."""
    text = os.environ.get(name) if value is None else value
    if text is None:
        raise CannotWriteEntryError(messages.NOT_IN_ENVIRONMENT.format(name=name))
    return text


def asked_by_client(name: str, variable: Variable, values: Values) -> str:
    """Return the reference to a value that the client asks its user for."""
    identifier = f"{name}-{variable.name.lower().replace('_', '-')}"
    title = variable.title or messages.INPUT.format(variable=variable.name, server=name)
    values.inputs.append({"type": "promptString", "id": identifier, "description": title, "password": True})
    return f"${{input:{identifier}}}"


def placed_headers(client: Client, server: ServerEntry, scope: str, values: Values) -> dict[str, object]:
    """Return the headers in the client's form: names of variables, references, or texts."""
    names = {str(value) for value in (client.http or {}).values()}
    texts: dict[str, str] = {}
    named: dict[str, str] = {}
    token = ""
    for header in server.headers:
        if header.variable and header.text == BEARER and TOKEN in names:
            token = header.variable
        elif header.variable and not header.text and HEADER_NAMES in names:
            named[header.name] = header.variable
        else:
            texts[header.name] = header_text(client, server.name, header, scope, values)
    return {HEADERS: texts, TOKEN: token, HEADER_NAMES: named}


BEARER = "Bearer "


def header_text(client: Client, name: str, header: Header, scope: str, values: Values) -> str:
    """Return the value of a header: a reference to a variable where the client has one, else a text."""
    if header.variable and client.inputs:
        return header.text + asked_by_client(name, Variable(header.variable, None, True), values)
    if header.variable and client.reference and not (client.program and scope == USER):
        values.notes.append(messages.MUST_BE_SET.format(name=header.variable, client=client.title))
        return header.text + client.reference.format(header.variable)
    if scope == PROJECT and (header.variable or header.is_secret):
        raise CannotWriteEntryError(messages.SECRET_IN_PROJECT.format(name=header.variable or header.name))
    return header.text + (value_of(header.variable, None) if header.variable else "")


def strings_of(value: object) -> set[str]:
    """Return all strings in an entry."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        return {text for each in value for text in strings_of(each)}
    return {value} if isinstance(value, str) else set()


def is_same_server(existing: Entry, server: ServerEntry) -> bool:
    """Tell whether an entry starts the same file or another build of the server, or has the same URL."""
    return server.key in strings_of(existing) or other_build(existing, server) != ""


def other_build(existing: Entry, server: ServerEntry) -> str:
    """Return the file that an entry starts if it is another one with a server of this name."""
    texts = strings_of(existing)
    return "" if server.key in texts or not server.built_name else file_of_server(server.built_name, texts)
