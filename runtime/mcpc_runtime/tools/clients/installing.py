"""Put a server into the files of clients, take it out, and print what is to be added by hand.

Where the clients of this machine that start a server's file have its settings: for a server that lacks some.

It reads configuration files and never values; a file that cannot be read is passed over.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from mcpc_runtime.tools.clients import messages
from mcpc_runtime.tools.clients.entries import (
    KIND_FIELDS,
    CannotWriteEntryError,
    ClientEntry,
    ServerEntry,
    client_entry,
    is_same_server,
    other_build,
    strings_of,
)
from mcpc_runtime.tools.clients.files import edit_file, read_text, undo_in_file
from mcpc_runtime.tools.clients.json_text import JSON, drop_items, put_item
from mcpc_runtime.tools.clients.messages import SET_IN_CLIENT
from mcpc_runtime.tools.clients.request import (
    Artifact,
    InvalidRequestError,
    Options,
    chosen_clients,
    chosen_name,
    name_notes,
    python_notes,
    server_entry,
    variables_of,
)
from mcpc_runtime.tools.clients.table import (
    CLIENTS,
    ENV,
    PROJECT,
    SCOPES,
    USER,
    Client,
    client_file,
    format_of,
    is_installed,
)
from mcpc_runtime.tools.clients.text_edits import CannotEditError, Editor, Entry, EntryPlace
from mcpc_runtime.tools.clients.toml_text import TOML
from mcpc_runtime.tools.clients.yaml_text import YAML
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.program_search import find_program

EDITORS = {"json": JSON, "toml": TOML, "yaml": YAML}
SUCCESS, USAGE, UNEXPECTED_FILE, NOT_RUNNABLE = 0, 2, 6, 8
ADDED, UPDATED, UNCHANGED, REMOVED, ABSENT, BY_HAND, FAILED = (
    *("added", "updated", "unchanged", "removed", "absent", "by hand", "failed"),
)
PROGRAM_SECONDS = 60


class Target(NamedTuple):
    """A file of a client."""

    client: Client
    label: str
    scope: str
    path: str

    @property
    def form(self) -> Client:
        """The client whose format the file has."""
        return format_of(self.client, self.scope)

    @property
    def editor(self) -> Editor:
        """The editor for the file."""
        return EDITORS[self.form.format]

    @property
    def entry_place(self) -> EntryPlace:
        """Where the entries are."""
        return EntryPlace(self.form.keys, self.form.is_list)

    def entries(self) -> dict[str, Entry]:
        """Return the entries that the file has."""
        return self.editor.read(read_text(self.path), self.entry_place)


class ClientOutcome(NamedTuple):
    """What came of one client: a word, what to add by hand or what was wrong, and the exit status."""

    target: Target
    word: str
    text: str = ""
    notes: tuple[str, ...] = ()
    status: int = SUCCESS


def targets_of(options: Options) -> list[Target]:
    """Return the files of the clients that were chosen; of several with one file the first."""
    if options.scope not in SCOPES:
        raise InvalidRequestError(messages.UNKNOWN_SCOPE.format(scope=options.scope))
    installed = [name for name, client in CLIENTS.items() if is_installed(client) and not client.refusal]
    targets: dict[str, Target] = {}
    for label in chosen_clients(options, installed):
        client = CLIENTS[label]
        path = client_file(client, options.scope, os.getcwd())
        if path or label in options.clients:
            targets.setdefault(path or label, Target(client, label, options.scope, path))
    return [*targets.values()]


def install(artifact: Artifact | None, options: Options) -> list[ClientOutcome]:
    """Add a server to clients; of several clients each is tried."""
    targets = targets_of(options)
    default = server_entry(artifact, options, ())
    # A value is asked for if at least one client lacks it.
    known = set.intersection(*(names_in(target, default.name) for target in targets))
    settings = artifact.settings if artifact else ()
    variables = variables_of(settings, options, known, [target.form for target in targets])
    server = default._replace(variables=variables)
    notes = (*python_notes(options), *name_notes(artifact, server.name))
    return [attempt(target, partial(install_in, target, server, options, notes)) for target in targets]


def names_in(target: Target, name: str) -> set[str]:
    """Return the names that an existing entry mentions: of its variables, and of those that it passes on."""
    try:
        existing = target.entries().get(name, {}) if target.path else {}
    except (CannotEditError, OSError):
        return set()
    names: set[str] = set()
    for value in existing.values():
        if isinstance(value, dict | list):
            names.update(map(str, value))
        # Some formats give a table in one line as text, which is read here as far as its names.
        elif isinstance(value, str) and value.startswith("{"):
            names.update(part.partition(":")[0].strip() for part in value.strip("{}").split(","))
    return names


def attempt(target: Target, action: Callable[[], ClientOutcome]) -> ClientOutcome:
    """Return what came of one client."""
    try:
        return action()
    except CannotWriteEntryError as problem:
        return ClientOutcome(target, FAILED, str(problem), status=USAGE)
    except CannotEditError as problem:
        return ClientOutcome(target, FAILED, str(problem), status=UNEXPECTED_FILE)
    except OSError as problem:
        return ClientOutcome(target, FAILED, problem.strerror or str(problem), status=UNEXPECTED_FILE)


def install_in(target: Target, server: ServerEntry, options: Options, notes: tuple[str, ...]) -> ClientOutcome:
    """Add a server to one client."""
    entry = client_entry(target.client, server, target.scope)
    absent = target.scope == USER and not is_installed(target.client)
    notes = (*notes, *entry.notes, *filter(None, (target.client.note, target.client.condition)))
    notes = (messages.NOT_FOUND.format(title=target.client.title), *notes) if absent else notes
    why = target.client.refusal or ("" if target.path else messages.NO_FILE.format(scope=target.scope))
    if why:
        return ClientOutcome(target, BY_HAND, rendered(target, server.name, entry), (why,))
    if target.client.program and target.scope == USER:
        outcome = install_by_program(target, server, entry, options)
        return outcome._replace(notes=(*outcome.notes, *notes))

    def change(text: str) -> str:
        return text_with(target, text, server, entry, replaces=options.replace)

    try:
        before = target.entries().get(server.name)
        if options.dry_run:
            text = read_text(target.path)
            is_changed = change(text) != text
        else:
            is_changed = edit_file(target.path, server.name, change)
    except CannotEditError as problem:
        advice = f"{problem}; {messages.BY_HAND}:\n{rendered(target, server.name, entry)}"
        return ClientOutcome(target, FAILED, advice, status=UNEXPECTED_FILE)
    word = UNCHANGED if not is_changed else ADDED if before is None else UPDATED
    other = "" if before is None else other_build(before, server)
    notes = (messages.STARTED_BEFORE.format(path=other), *notes) if other else notes
    preview = rendered(target, server.name, entry) if options.dry_run and is_changed else ""
    return ClientOutcome(target, word, preview, notes if is_changed else ())


def text_with(target: Target, text: str, server: ServerEntry, entry: ClientEntry, *, replaces: bool) -> str:
    """Return a text with the entry of a server; an entry of another server is replaced only if that was asked for."""
    existing = target.editor.read(text, target.entry_place).get(server.name)
    if existing is not None and is_other(existing, server, entry):
        if not replaces:
            raise CannotWriteEntryError(messages.CONFLICT.format(name=server.name))
        # Dropped first, so that no field of the other server stays.
        text = target.editor.drop(text, target.entry_place, server.name)
    text = target.editor.put(text, target.entry_place, server.name, entry.fields, entry.owned)
    for item in entry.inputs:
        text = put_item(text, target.form.inputs, item)
    return text


def is_other(existing: Entry, server: ServerEntry, entry: ClientEntry) -> bool:
    """Tell whether an entry is that of another server, or of another kind."""
    kinds = {field: value for field, value in entry.fields.items() if field in KIND_FIELDS}
    is_of_kind = all(existing.get(field, value) == value for field, value in kinds.items())
    return not (is_of_kind and is_same_server(existing, server))


def rendered(target: Target, name: str, entry: ClientEntry) -> str:
    """Return an entry as an empty file would have it."""
    text = target.editor.put("", target.entry_place, name, entry.fields, entry.owned)
    for item in entry.inputs:
        text = put_item(text, target.form.inputs, item)
    return text


def install_by_program(target: Target, server: ServerEntry, entry: ClientEntry, options: Options) -> ClientOutcome:
    """Add a server by the client's own program, because a running client writes its file."""
    existing = target.entries().get(server.name)
    if existing is not None:
        if is_other(existing, server, entry) and not options.replace:
            raise CannotWriteEntryError(messages.CONFLICT.format(name=server.name))
        # The program writes an entry whole, so it gets what the user has added to it as well.
        merged = {**existing, **{field: entry.fields[field] for field in entry.owned if field in entry.fields}}
        if merged == existing:
            return ClientOutcome(target, UNCHANGED)
        entry = entry._replace(fields=entry.fields if options.replace else merged)
    words = ["mcp", "add-json", server.name, json.dumps(entry.fields, ensure_ascii=False), "--scope", USER]
    removal = ["mcp", "remove", server.name, "--scope", USER]
    word = ADDED if existing is None else UPDATED
    # The program refuses to add a name that is there.
    return run_client(target, [removal, words] if existing is not None else [words], word, options)


def run_client(target: Target, commands: list[list[str]], word: str, options: Options) -> ClientOutcome:
    """Run a client's own program, or return what to run."""
    name = target.client.program
    program = find_program(name, system.environ)
    text = "\n".join(shlex.join([name, *words]) for words in commands)
    if options.dry_run:
        return ClientOutcome(target, word, text)
    # The words have JSON in them, which `cmd.exe` would act on.
    if not program or program.lower().endswith((".cmd", ".bat")):
        why = messages.MISSING_PROGRAM.format(program=name)
        return ClientOutcome(target, BY_HAND, f"{text}\n", (why,), NOT_RUNNABLE)
    for words in commands:
        finished = subprocess.run(
            [program, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=PROGRAM_SECONDS, check=False
        )
        if finished.returncode:
            output = (finished.stderr or finished.stdout).decode("utf-8", "replace").strip()
            command = " ".join((name, *words[:3]))
            raise CannotEditError(messages.COMMAND_FAILED.format(command=command, problem=output))
    return ClientOutcome(target, word)


def uninstall(name: str, options: Options) -> list[ClientOutcome]:
    """Remove a server from clients."""
    name = chosen_name(options._replace(name=name), name)
    return [attempt(target, partial(uninstall_in, target, name, options)) for target in targets_of(options)]


def uninstall_in(target: Target, name: str, options: Options) -> ClientOutcome:
    """Remove a server from one client."""
    if not target.path or target.client.refusal or name not in target.entries():
        return ClientOutcome(target, ABSENT)
    if target.client.program and target.scope == USER:
        return run_client(target, [["mcp", "remove", name, "--scope", USER]], REMOVED, options)
    if options.dry_run:
        text_without(target, read_text(target.path), name)
    else:
        undo_in_file(
            target.path,
            name,
            lambda text: text_without(target, text, name),
            lambda text: text in skeletons(target, name),
        )
    return ClientOutcome(target, REMOVED, notes=(target.client.note,) if target.client.note else ())


def text_without(target: Target, text: str, name: str) -> str:
    """Return a text without an entry and without the questions for its values."""
    new = target.editor.drop(text, target.entry_place, name)
    return drop_items(new, target.form.inputs, f"{name}-") if target.form.inputs and new != text else new


def skeletons(target: Target, name: str) -> set[str]:
    """Return the texts that are left of files that were made for one entry."""
    form = target.form
    entry: Entry = {"name": name}
    made = target.editor.put("", target.entry_place, name, entry, frozenset())
    texts = [made]
    if form.inputs:
        texts.append(put_item(made, form.inputs, {"id": f"{name}-"}))
    return {"", *(text_without(target, text, name) for text in texts)}


def all_targets(folder: str) -> list[Target]:
    """Return the files of all clients that exist: of the user, and of the project in a folder."""
    targets = [
        Target(client, label, scope, client_file(client, scope, folder))
        for label, client in CLIENTS.items()
        for scope in (USER, PROJECT)
    ]
    return [target for target in targets if target.path and os.path.lexists(target.path)]


DEFAULT_FIELD = "env"


def how_to_set_in_clients(file: str) -> str:
    """Return where to set a setting in each client with an entry that starts `file`; an empty text without any."""
    names = {os.path.abspath(file), os.path.realpath(file)}
    targets = [
        SET_IN_CLIENT.format(
            title=target.client.title, field=variables_field(target), entry=name, path=target.path, client=target.label
        )
        for target in all_targets(os.getcwd())
        for name in starting_names(target, names)
    ]
    return " ".join([*targets, "Then start the server again."]) if targets else ""


def starting_names(target: Target, files: set[str]) -> list[str]:
    """Return the names of the entries of a client's file that start one of `files`."""
    try:
        return sorted(name for name, entry in target.entries().items() if not files.isdisjoint(strings_of(entry)))
    except (CannotEditError, OSError, ValueError, RecursionError):
        return []


def variables_field(target: Target) -> str:
    """Return the field of an entry that has the server's variables."""
    return next((key.rstrip("?") for key, value in target.form.stdio.items() if value == ENV), DEFAULT_FIELD)
