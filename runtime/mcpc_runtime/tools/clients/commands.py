"""The commands `install`, `uninstall`, `clients` and `config`: their options, and what they print.

A built file has them with the same words as `mcpc` has, which reads its own command line.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from textwrap import fill
from typing import NamedTuple

from mcpc_runtime.artifact.start_options import READ_ONLY, TOLERANT, TOOLS, TOOLSETS
from mcpc_runtime.tools.clients import messages
from mcpc_runtime.tools.clients.copies import copies_of, install_copy, remove_copy
from mcpc_runtime.tools.clients.entries import CannotWriteEntryError, Variable, client_entry
from mcpc_runtime.tools.clients.installing import (
    ABSENT,
    BY_HAND,
    FAILED,
    UNCHANGED,
    ClientOutcome,
    install,
    rendered,
    targets_of,
    uninstall,
)
from mcpc_runtime.tools.clients.listing import badge, client_rows, link
from mcpc_runtime.tools.clients.request import (
    Artifact,
    InvalidRequestError,
    Options,
    chosen_name,
    given_variables,
    server_entry,
    variable_of,
)
from mcpc_runtime.tools.clients.table import CLIENTS

FINDINGS, USAGE = 1, 2
WIDTH = 80


class CommandOption(NamedTuple):
    """An option: the field of Options, whether it takes a value, and whether it can be repeated."""

    field: str
    takes_value: bool = True
    is_repeated: bool = False
    help: str = ""
    metavar: str = ""


OPTIONS = {
    "--client": CommandOption("clients", True, True, "Client, or `all` for those on this machine.", "NAME"),
    "--scope": CommandOption("scope", help="The user's file, or the project's in this folder.", metavar="user|project"),
    "--name": CommandOption("name", help="Name of the entry (default: the server's).", metavar="NAME"),
    "--env": CommandOption(
        "env", True, True, "Variable of the server; without a value from your environment.", "NAME[=VALUE]"
    ),
    "--url": CommandOption("url", help="Add a server at this URL instead of a file.", metavar="URL"),
    "--header": CommandOption("headers", True, True, "Header for --url; VALUE may be $VARIABLE.", "'NAME: VALUE'"),
    "--token-env": CommandOption("token_env", help="Variable with the bearer token for --url.", metavar="NAME"),
    TOOLS: CommandOption("tools", help="Tools that the server offers, separated by commas.", metavar="NAMES"),
    TOOLSETS: CommandOption("toolsets", help="Toolsets that the server offers, separated by commas.", metavar="NAMES"),
    READ_ONLY: CommandOption("read_only", False, help="Offer only tools that change nothing."),
    TOLERANT: CommandOption("tolerant", False, help="Correct invalid arguments of this client."),
    "--python": CommandOption("python", help="Python that starts the file (default: one that stays).", metavar="PATH"),
    "--dry-run": CommandOption("dry_run", False, help="Print what would be written, and write nothing."),
    "--in-place": CommandOption("in_place", False, help="Have clients start the file where it is, not a copy."),
    "--replace": CommandOption("replace", False, help="Replace an entry of another server with this name."),
    "--command": CommandOption(
        "command", help="Command that is the same everywhere, instead of a file.", metavar="WORDS"
    ),
    "--link": CommandOption("link", help="Print a link that adds the server to this client.", metavar="CLIENT"),
    "--badge": CommandOption(
        "badge", help="Print a badge for a README that adds the server to this client.", metavar="CLIENT"
    ),
    "--json": CommandOption("is_json", False, help="Print JSON."),
}
SERVER = (
    *("--client", "--scope", "--name", "--env", TOOLS, TOOLSETS, READ_ONLY, TOLERANT),
    *("--url", "--header", "--token-env", "--python"),
)
ACCEPTED = {
    "install": (*SERVER, "--dry-run", "--in-place", "--replace", "--json"),
    "uninstall": ("--client", "--scope", "--name", "--dry-run", "--json"),
    "clients": ("--json",),
    "config": (*SERVER, "--command", "--link", "--badge"),
}
"""The options of each command."""
ENTRY_COMMANDS = ("install", "config")
"""The commands that write an entry, in which words for the server's program may be."""


PURPOSES = {
    "install": "Copy the file to the servers of this user, and add it to the configuration of clients.",
    "uninstall": "Remove the server from the configuration of clients, and the copy that no other client starts.",
    "clients": "List the clients on this machine, the servers that each has, and what of them is missing.",
    "config": "Print the entry of the server for a client, and where it goes; or a link or a badge.",
}


def help_of(command: str, program: str, *, takes_words: bool = False) -> str:
    """Return the help page of a command of a built file; `takes_words`: an entry may have arguments of its program."""
    rows = [(f"{name} {OPTIONS[name].metavar}".strip(), OPTIONS[name].help) for name in ACCEPTED[command]]
    width = max(len(words) for words, _ in rows) + 2
    lines = "".join(f"  {words:<{width}}{help_text}\n" for words, help_text in rows)
    words = " [-- WORDS]" if takes_words and command in ENTRY_COMMANDS else ""
    names = fill(", ".join(CLIENTS), WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    lines += f"\nClients:\n{names}\n" if "--client" in ACCEPTED[command] else ""
    return f"Usage: {program} {command} [OPTIONS]{words}\n\n{PURPOSES[command]}\n\nOptions:\n{lines}"


def read_options(command: str, words: Sequence[str]) -> Options:
    """Return the options of a command line."""
    options: dict[str, object] = {}
    todo = list(words)
    while todo:
        name, equals, value = todo.pop(0).partition("=")
        option = OPTIONS.get(name)
        if option is None or name not in ACCEPTED[command]:
            raise InvalidRequestError(messages.UNKNOWN_OPTION.format(option=name))
        if not option.takes_value:
            if equals:
                raise InvalidRequestError(messages.VALUE_UNEXPECTED.format(option=name))
            options[option.field] = True
            continue
        if not equals and not todo:
            raise InvalidRequestError(messages.VALUE_EXPECTED.format(option=name))
        text = value if equals else todo.pop(0)
        earlier = options.get(option.field, ())
        options[option.field] = (*earlier, text) if option.is_repeated and isinstance(earlier, tuple) else text
    return Options(**options)  # type: ignore[arg-type]


def run(command: str, artifact: Artifact | None, options: Options) -> int:
    """Run a command; return the exit status.  InvalidRequestError is the caller's, who has the help."""
    return COMMANDS[command](artifact, options)


def run_install(artifact: Artifact | None, options: Options) -> int:
    """Add the server to clients."""
    if artifact is None or options.in_place or options.url:
        return put_outcomes(install(artifact, options), options)
    return put_outcomes(install_copy(artifact, options), options)


def run_uninstall(artifact: Artifact | None, options: Options) -> int:
    """Remove the server from clients."""
    name = chosen_name(options, artifact.name if artifact else "")
    outcomes = uninstall(name, options)
    copies = copies_of(name, artifact.name if artifact else "")
    if not copies and all(outcome.word == ABSENT for outcome in outcomes):
        sys.stderr.write(f"{messages.NOTHING.format(name=name)}\n")
        return FINDINGS
    status = put_outcomes([outcome for outcome in outcomes if outcome.word != ABSENT], options)
    # The copies go last, when it is known which clients still start them.
    words = [] if options.dry_run else [*map(remove_copy, copies)]
    sys.stdout.write("" if options.is_json else "".join(f"{printable(each)}\n" for each in words))
    return status


def put_outcomes(outcomes: list[ClientOutcome], options: Options) -> int:
    """Print what came of each client; return the exit status, that of the first that failed."""
    if options.is_json:
        rows = [
            {
                "client": outcome.target.label,
                "path": outcome.target.path,
                "result": outcome.word,
                "dryRun": options.dry_run,
                "text": outcome.text,
                "notes": list(outcome.notes),
            }
            for outcome in outcomes
        ]
        put_json(rows)
        return next((outcome.status for outcome in outcomes if outcome.status), 0)
    for outcome in outcomes:
        stream = sys.stderr if outcome.word == FAILED else sys.stdout
        stream.write(sentence(outcome, dry_run=options.dry_run))
    return next((outcome.status for outcome in outcomes if outcome.status), 0)


def sentence(outcome: ClientOutcome, *, dry_run: bool) -> str:
    """Return what came of one client in words."""
    title, path = outcome.target.client.title, printable(outcome.target.path)
    if outcome.word == FAILED:
        return f"error: {title}{f', {path}' if path else ''}: {printable_lines(outcome.text)}\n"
    if outcome.word == BY_HAND:
        reasons = "; ".join(outcome.notes)
        where = f" to {path}" if path and not outcome.status else ""
        return f"{title}: {reasons}; {messages.BY_HAND}{where}:\n{printable_lines(outcome.text)}"
    word = f"would be {outcome.word}" if dry_run and outcome.word != UNCHANGED else outcome.word
    lines = [f"{title}: {word}, {path}"]
    lines += [f"  {printable(note)}" for note in outcome.notes]
    return "\n".join([*lines, *([printable_lines(outcome.text)] if outcome.text else [])]).rstrip("\n") + "\n"


def printable(text: str) -> str:
    """Return a text with unprintable characters escaped."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def printable_lines(text: str) -> str:
    """Return lines with unprintable characters escaped."""
    return "\n".join(map(printable, text.split("\n")))


def run_clients(artifact: Artifact | None, options: Options) -> int:
    """Print the clients of this machine and their servers."""
    rows = client_rows(os.getcwd())
    if options.is_json:
        put_json(rows)
        return 0
    if not rows:
        sys.stdout.write("no client was found on this machine\n")
    for row in rows:
        sys.stdout.write(f"{row['client']:<16}{row['scope']:<9}{printable(row['path'])}\n")
        if row["problem"]:
            sys.stdout.write(f"  cannot be read: {printable(row['problem'])}\n")
        for server in row["servers"]:
            state = f"missing: {server['missing']}" if server["missing"] else "ok"
            sys.stdout.write(f"  {printable(server['name']):<22}{printable(server['url'] or state)}\n")
    return 0


def put_json(value: object) -> None:
    """Print a value as JSON."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def run_config(artifact: Artifact | None, options: Options) -> int:
    """Print an entry and where it goes, or a link or a badge."""
    variables = config_variables(artifact, options)
    if options.link or options.badge:
        if not options.url and not options.command:
            raise InvalidRequestError(messages.ONLY_FOR_URLS)
        server = server_entry(None, options, variables)
        try:
            text = link(options.link, server) if options.link else badge(options.badge, server)
        except CannotWriteEntryError as problem:
            raise InvalidRequestError(str(problem)) from None
        sys.stdout.write(f"{text}\n")
        return 0
    server = server_entry(artifact, options, variables)
    status = 0
    for target in targets_of(options):
        try:
            entry = client_entry(target.client, server, target.scope)
        except CannotWriteEntryError as problem:
            sys.stderr.write(f"error: {target.client.title}: {problem}\n")
            status = USAGE
            continue
        why = f"  ({target.client.refusal})" if target.client.refusal else ""
        sys.stdout.write(f"{target.client.title}: {printable(target.path)}{why}\n")
        sys.stdout.write(printable_lines(rendered(target, server.name, entry)))
    return status


def config_variables(artifact: Artifact | None, options: Options) -> tuple[Variable, ...]:
    """Return the variables of an entry that is printed: those that were given, and a place for each required one."""
    settings = {str(row["name"]): row for row in artifact.settings} if artifact else {}
    variables = given_variables(options)
    needed = {name: f"<{name}>" for name, row in settings.items() if row.get("required") and "default" not in row}
    # What was given takes the place that is kept for it.
    return tuple(variable_of(name, value, settings.get(name, {})) for name, value in {**needed, **variables}.items())


COMMANDS: dict[str, Callable[[Artifact | None, Options], int]] = {
    "install": run_install,
    "uninstall": run_uninstall,
    "clients": run_clients,
    "config": run_config,
}
