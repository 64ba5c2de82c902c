"""What a command is asked for: the server, its values, the clients and the scope; and what came of it.

The Python that an entry names: absolute, able to run the file, and still there tomorrow.

A client starts it for months, so one of a virtual environment, of a temporary folder, a version manager's shim or the
alias of a store is not taken, unless the user names it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from getpass import getpass
from typing import Any, NamedTuple

from mcpc_runtime.artifact.start_options import READ_ONLY, TOLERANT, TOOLS, TOOLSETS
from mcpc_runtime.tools.clients import messages
from mcpc_runtime.tools.clients.entries import (
    BEARER,
    SECRET_NAME,
    VARIABLE,
    CannotWriteEntryError,
    Header,
    ServerEntry,
    Variable,
)
from mcpc_runtime.tools.clients.table import CLIENTS, Client
from mcpc_runtime.transports.platforms.program_search import installed_pythons, lasting_path

Settings = tuple[Mapping[str, Any], ...]


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
LONGEST_NAME = 64
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ALL = "all"
HEAD_BYTES = 8192
PROLOGUE = b"mcpc_start"
"""What the script at the beginning of a file has that finds a Python; one that includes Python does not have it."""


class InvalidRequestError(Exception):
    """A command is wrong; the message states what was expected."""


class Options(NamedTuple):
    """The options of the commands."""

    clients: tuple[str, ...] = ()
    scope: str = "user"
    name: str = ""
    env: tuple[str, ...] = ()
    url: str = ""
    headers: tuple[str, ...] = ()
    token_env: str = ""
    python: str = ""
    command: str = ""
    dry_run: bool = False
    in_place: bool = False
    replace: bool = False
    link: str = ""
    badge: str = ""
    is_json: bool = False
    tools: str = ""
    toolsets: str = ""
    read_only: bool = False
    tolerant: bool = False
    words: tuple[str, ...] = ()
    """What follows `--`: arguments of the server's program."""


class Artifact(NamedTuple):
    """A built file: its path, and of its facts what an entry needs."""

    path: str
    name: str
    minors: tuple[str, ...] = ()
    settings: Settings = ()
    tools: tuple[str, ...] = ()
    needs_python: bool = True
    """Whether it is an archive for a Python of the machine, and not a program."""
    takes_arguments: bool = False
    """Whether its program may get arguments."""


def artifact_of(path: str, facts: Mapping[str, Any], tools: Iterable[str] = ()) -> Artifact:
    """Return a built file with these facts."""
    minors = re.findall(r"3\.\d+", str(facts.get("python", {}).get("bytecode", "")))
    return Artifact(
        os.path.abspath(path),
        str(facts["name"]),
        minors=tuple(minors),
        settings=tuple(facts.get("settings", ())),
        tools=tuple(tools),
        needs_python=needs_python(path),
        takes_arguments=facts.get("takesArguments") is True,
    )


def needs_python(path: str) -> bool:
    """Tell whether a file is an archive for a Python on the machine, and not a program that includes or finds one."""
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    return head.startswith(b"PK") or (head.startswith(b"#!") and PROLOGUE in head)


def chosen_name(options: Options, default: str) -> str:
    """Return the name of an entry: the option's, or the server's with characters that all clients take."""
    name = options.name or re.sub(r"[^A-Za-z0-9_-]+", "-", default).strip("-_")[:LONGEST_NAME] or "server"
    if not NAME.fullmatch(name):
        raise InvalidRequestError(messages.BAD_NAME.format(name=name, most=LONGEST_NAME))
    return name


def chosen_clients(options: Options, installed: Iterable[str]) -> list[str]:
    """Return the clients that were named, or those on this machine."""
    if not options.clients:
        raise InvalidRequestError(messages.CLIENT_MISSING.format(names=", ".join(installed) or "none"))
    names: dict[str, None] = {}
    for name in options.clients:
        if name != ALL and name not in CLIENTS:
            near = get_close_matches(name, CLIENTS, 1)
            hint = f"; did you mean {near[0]}?" if near else messages.LISTED
            raise InvalidRequestError(messages.UNKNOWN_CLIENT.format(name=name, hint=hint))
        names.update(dict.fromkeys(installed if name == ALL else (name,)))
    if not names:
        raise InvalidRequestError(messages.NONE_INSTALLED)
    return [*names]


def server_entry(artifact: Artifact | None, options: Options, variables: tuple[Variable, ...]) -> ServerEntry:
    """Return the server that an entry starts or reaches."""
    started = start_words(artifact, options)
    if started and (options.url or options.command):
        raise InvalidRequestError(messages.ONLY_FOR_FILES.format(option=started[0].partition("=")[0]))
    if options.url:
        if not re.match(r"https?://[^\s/]", options.url):
            raise InvalidRequestError(messages.BAD_URL.format(url=options.url))
        default = re.sub(r"^https?://(?:www\.)?", "", options.url).partition("/")[0].partition(":")[0]
        return ServerEntry(chosen_name(options, default), url=options.url, headers=headers_of(options))
    if options.command or artifact is None:
        words = shlex.split(options.command)
        if not words:
            raise InvalidRequestError(messages.ONLY_FOR_URLS)
        return ServerEntry(chosen_name(options, os.path.basename(words[-1])), words[0], tuple(words[1:]), variables)
    command, arguments = command_of(artifact, options)
    arguments = (*arguments, *started)
    for text in (command, *arguments):
        if not text.isprintable():
            raise InvalidRequestError(messages.TEXT_ONLY)
    name = chosen_name(options, artifact.name)
    return ServerEntry(name, command, arguments, variables, built_name=artifact.name, file=artifact.path)


def command_of(artifact: Artifact, options: Options) -> tuple[str, tuple[str, ...]]:
    """Return the command that starts a file, and its arguments.

    A client may have variables of its own Python (PYTHONHOME of an AppImage), which `-I` has another one ignore.
    """
    if not artifact.needs_python:
        return artifact.path, ()
    python = options.python or lasting_python(artifact.minors)
    return os.path.abspath(python) if os.sep in python else python, ("-I", artifact.path)


def start_words(artifact: Artifact | None, options: Options) -> tuple[str, ...]:
    """Return the options of serving with which a client starts a file, and the arguments of its program."""
    named = ((TOOLS, options.tools), (TOOLSETS, options.toolsets))
    flags = ((READ_ONLY, options.read_only), (TOLERANT, options.tolerant))
    words = (*(f"{name}={value}" for name, value in named if value), *(name for name, is_set in flags if is_set))
    if not options.words:
        return words
    if artifact is None or not artifact.takes_arguments:
        raise InvalidRequestError(messages.NO_PROGRAM.format(words=shlex.join(options.words)))
    return (*words, "--", *options.words)


def python_notes(options: Options) -> tuple[str, ...]:
    """Return a warning about a Python that the user named and that may be gone tomorrow."""
    why = why_temporary(options.python) if options.python else ""
    return (messages.IS_LASTING.format(path=options.python, why=why),) if why else ()


def name_notes(artifact: Artifact | None, name: str) -> tuple[str, ...]:
    """Return a warning about a tool's name that becomes too long with that of the server."""
    longest = max(artifact.tools, key=len, default="") if artifact else ""
    # Some clients put this before the name of a tool, and accept no more than 64 characters in all.
    is_long = longest and len(f"mcp__{name}__{longest}") > LONGEST_NAME
    return (messages.TOO_LONG.format(name=name, tool=longest),) if is_long else ()


def headers_of(options: Options) -> tuple[Header, ...]:
    """Return the headers of a remote server."""
    headers = [Header("Authorization", BEARER, options.token_env)] if options.token_env else []
    if options.token_env and not VARIABLE_NAME.fullmatch(options.token_env):
        raise InvalidRequestError(messages.BAD_VARIABLE.format(value=options.token_env))
    for text in options.headers:
        name, colon, value = text.partition(":")
        value = value.strip()
        if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name) or not value or not value.isprintable():
            raise InvalidRequestError(messages.BAD_HEADER.format(value=name))
        variable = VARIABLE.fullmatch(value.removeprefix(BEARER))
        prefix = BEARER if value.startswith(BEARER) else ""
        headers.append(Header(name, prefix, variable[1]) if variable else Header(name, value))
    return tuple(headers)


def given_variables(options: Options) -> dict[str, str | None]:
    """Return the variables of the command line; None stands for the value in the environment."""
    variables: dict[str, str | None] = {}
    for text in options.env:
        name, sign, value = text.partition("=")
        if not VARIABLE_NAME.fullmatch(name):
            raise InvalidRequestError(messages.BAD_VARIABLE.format(value=name))
        variables[name] = value if sign else None
    return variables


def variables_of(settings: Settings, options: Options, known: set[str], clients: list[Client]) -> tuple[Variable, ...]:
    """Return the variables of an entry: those that were given, and the required settings, which are asked for.

    `known`: the names that existing entries have.  A secret is not asked for if all clients ask for it themselves.
    """
    values = given_variables(options)
    declared = {str(row["name"]): row for row in settings}
    variables = [variable_of(name, value, declared.get(name, {})) for name, value in values.items()]
    missing = [
        name
        for name, row in declared.items()
        if row.get("required") and "default" not in row and name not in values and name not in known
    ]
    if options.url:
        return ()
    # A copy, because items are removed meanwhile.
    for name in missing[:]:
        if declared[name].get("secret") and all(client.inputs or client.keeps_secrets for client in clients):
            variables.append(variable_of(name, None, declared[name]))
            missing.remove(name)
    if missing and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidRequestError(messages.MISSING_VALUES.format(server="the server", names=", ".join(missing)))
    return (*variables, *(variable_of(name, prompted_value(declared[name]), declared[name]) for name in missing))


def variable_of(name: str, value: str | None, row: Mapping[str, object]) -> Variable:
    """Return a variable; one that is not declared is a secret if its name is that of one."""
    is_secret = bool(row.get("secret")) if row else SECRET_NAME.search(name) is not None
    return Variable(name, value, is_secret, str(row.get("title") or row.get("description") or ""))


def prompted_value(row: Mapping[str, object]) -> str:
    """Return the value of a setting from the terminal; a secret is not shown."""
    hint = f" ({row['description']})" if row.get("description") else ""
    prompt = messages.PROMPT.format(title=row["name"], hint=hint)
    if row.get("secret"):
        return str(getpass(prompt))
    sys.stderr.write(prompt)
    sys.stderr.flush()
    return sys.stdin.readline().rstrip("\r\n")


OLDEST, NEWEST = 11, 15
TEMPORARY = (
    ("/shims/", "a version manager's script"),
    ("/WindowsApps/", "the alias of a store"),
    ("/.cache/", "a cache"),
    ("/uv/cache/", "a cache"),
    ("/Caches/", "a cache"),
    ("/__pypackages__/", "a project's folder"),
    ("/.tox/", "a test environment"),
    ("/.nox/", "a test environment"),
)
"""Parts of paths of Pythons that may be gone tomorrow, and what they are."""
VERSION = "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"
START_SECONDS = 20


def why_temporary(path: str) -> str:
    """Return why a Python may be gone tomorrow, or an empty text."""
    folder = os.path.dirname(path)
    for place in (folder, os.path.dirname(folder)):
        if os.path.exists(os.path.join(place, "pyvenv.cfg")):
            return "it is of a virtual environment"
    slashed = path.replace("\\", "/")
    what = next((what for part, what in TEMPORARY if part in slashed), "")
    temporary = os.path.realpath(tempfile.gettempdir()).replace("\\", "/")
    if os.path.realpath(path).replace("\\", "/").startswith(f"{temporary}/"):
        # By the real path: on macOS the temporary folder is behind a link.
        what = "a temporary folder"
    return f"it is in {what}" if what else ""


def lasting_python(minors: Sequence[str]) -> str:
    """Return a Python for a file with bytecode for these minor versions; any other that is new enough is slower."""
    for minor, path in candidates(minors):
        place = lasting_path(path)
        if os.path.isfile(place) and not why_temporary(place) and version_of(place) == minor:
            return place
    raise CannotWriteEntryError(messages.NO_PYTHON)


def candidates(minors: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield Pythons with the minor version that each should be: of the right ones the system's first, and this one."""
    here = "{}.{}".format(*sys.version_info[:2])
    # In a virtual environment, the Python that it was made of.
    running = getattr(sys, "_base_executable", "") or sys.executable or ""
    others = [f"3.{minor}" for minor in range(NEWEST, OLDEST - 1, -1)]
    for minor in dict.fromkeys((*minors, here, *others)):
        yield from ((minor, path) for path in installed_pythons(minor))
        if minor == here and running:
            yield minor, os.path.abspath(running)


def version_of(path: str) -> str:
    """Return the minor version of a Python, or an empty text if it does not start."""
    try:
        # Isolated, and without `site`: a customization of the user may print something.
        finished = subprocess.run(
            [path, "-ISc", VERSION], stdin=subprocess.DEVNULL, capture_output=True, timeout=START_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return finished.stdout.decode("ascii", "replace") if finished.returncode == 0 else ""
