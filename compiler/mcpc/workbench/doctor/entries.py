"""The servers in clients' files, by what can be seen without starting them: each check is a row of CHECKS."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcpc.client.http import LOOPBACK
from mcpc.workbench.doctor.clients import ClientServers, command_words, launch_of, read_clients, secrets_of, url_of
from mcpc.workbench.doctor.machine import found_program
from mcpc.workbench.doctor.report import note, problem
from mcpc_runtime.tools.clients.request import OLDEST, needs_python, version_of, why_temporary
from mcpc_runtime.tools.clients.table import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.workbench.doctor.clients import Launch
    from mcpc.workbench.doctor.report import Examination, Symptom

BUILT = ".pyz"
FILES = (BUILT, ".py", ".js", ".mjs", ".cjs", ".sh", ".jar")
FACTS = "META-INF/build.json"
MAX_FACTS = 32 << 20
INSTALL_AGAIN = "`mcpc install --replace` writes the entry anew"
ABSOLUTE = "give its absolute path; clients start servers in other folders, and with another PATH"


@dataclass(frozen=True, slots=True)
class ConfiguredServer:
    """A server of a client: its entry, and what the client starts for it."""

    client: ClientServers
    name: str
    entry: dict[str, Any]
    launch: Launch

    @property
    def subject(self) -> str:
        return f"{self.client.subject}: {self.name}"

    @property
    def program(self) -> str:
        """The path of the program, or an empty text if it is missing."""
        word = self.launch.words[0] if self.launch.words else ""
        return word if Path(word).is_absolute() else found_program(word) if word else ""

    @property
    def is_of_project(self) -> bool:
        """Whether a project's file names it, which may come from other people: nothing of it is run unasked."""
        return self.client.target.scope == PROJECT

    @property
    def is_disabled(self) -> bool:
        """Whether the client does not start it."""
        return self.entry.get("disabled") is True or self.entry.get("enabled") is False

    @property
    def built_file(self) -> Path | None:
        return next((Path(word) for word in self.launch.words if word.endswith(BUILT) and Path(word).is_file()), None)


def configured_servers(examined: Examination) -> Iterator[ConfiguredServer]:
    """Yield every server of every client's file."""
    for client in read_clients(examined):
        if isinstance(client, ClientServers):
            for name, entry in client.entries.items():
                if isinstance(entry, dict):
                    launch = launch_of(client.target, entry, examined.folder.resolve())
                    yield ConfiguredServer(client, name, entry, launch)


def check_entries(examined: Examination) -> Iterator[Symptom]:
    for server in configured_servers(examined):
        for check in CHECKS:
            yield from check(server)


def is_startable(server: ConfiguredServer) -> bool:
    """Tell whether nothing is known that stops a server from being started."""
    return bool(server.program) and all(not [*check(server)] for check in BLOCKING)


def form(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that an entry says what to start, or where the server is."""
    entry = server.entry
    if not command_words(entry) and not url_of(entry):
        yield problem(server.subject, "the entry has neither a command nor a URL", INSTALL_AGAIN)
    for field, kind, what in (("args", list, "a list of texts"), ("env", dict, "an object of texts")):
        value = entry.get(field)
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if value is not None and (not isinstance(value, kind) or not all(isinstance(each, str) for each in inner)):
            yield problem(server.subject, f"`{field}` is not {what}", f'write every value in quotes: "{field}": …')


def program(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that the program is there and can be started."""
    word = server.launch.words[0] if server.launch.words else ""
    if word.startswith(("~", "$", "%")):
        yield problem(server.subject, f"`{word}` is not replaced by the client", ABSOLUTE)
    elif word and not (server.program and Path(server.program).exists()):
        yield _missing(server, word)
    elif word and Path(server.program).is_dir():
        yield problem(server.subject, f"{word} is a folder", "name the program in it")
    elif word and not os.access(server.program, os.X_OK):
        yield problem(server.subject, f"{word} is not executable", f"chmod +x {word}")
    if server.client.target.form.refuses_spaces and " " in word:
        text = "the client starts no command with a space in its path"
        yield problem(server.subject, text, "move it to another folder")


def _missing(server: ConfiguredServer, word: str) -> Symptom:
    path, first = Path(word), word.split(" ")[0]
    if " " in word and (Path(first).exists() or found_program(first)):
        return problem(server.subject, f"`{word}` is one word", f"keep `{first}` as the command; the rest are `args`")
    if path.name.startswith("python") and path.parent.name in ("bin", "Scripts") and "venv" in word:
        advice = f"make the environment again, or name a Python that stays; {INSTALL_AGAIN}"
        text = f"{word} is gone, with the virtual environment {path.parent.parent}"
        return problem(server.subject, text, advice)
    if path.is_absolute():
        return problem(server.subject, f"{word} is not there", f"correct the path; {INSTALL_AGAIN}")
    return problem(server.subject, f"`{word}` is not on PATH", "install it, or name its absolute path")


def file(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that the server's file is there, whole, and readable."""
    words = [word for word in server.launch.words[1:] if word.endswith(FILES) and not word.startswith("-")]
    word = next((word for word in words if word.endswith(BUILT) or os.sep in word), "")
    path = Path(server.launch.folder) / word
    if word.startswith("~"):
        yield problem(server.subject, f"`{word}` is not replaced by the client", ABSOLUTE)
    elif word and not Path(word).is_absolute() and not server.is_of_project and "cwd" not in server.entry:
        yield problem(server.subject, f"{word} is a relative path", ABSOLUTE)
    elif word and not path.exists():
        yield problem(server.subject, f"{word} is not there", f"build or copy it there again; {INSTALL_AGAIN}")
    elif word and not os.access(path, os.R_OK):
        yield problem(server.subject, f"{word} cannot be read", f"chmod u+r {word}")
    elif word.endswith(BUILT) and damage(path):
        yield problem(server.subject, f"{word} {damage(path)}", "build it again")


def damage(path: Path) -> str:
    """Return why a file is not a whole built file, or an empty text."""
    try:
        with zipfile.ZipFile(path) as archive:
            archive.getinfo(FACTS)
    except KeyError:
        return "was not built by mcpc"
    except (OSError, ValueError, zipfile.BadZipFile):
        return "is damaged, or was not built by mcpc"
    return ""


def interpreter(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that the Python of a server stays, and is new enough for a built file."""
    python, path = server.program, server.built_file
    is_python = Path(python).name.startswith("python") and Path(python).is_file()
    why = why_temporary(python) if is_python else ""
    if why:
        yield note(server.subject, f"{python} may be gone tomorrow: {why}", "`mcpc install` names one that stays")
    # `version_of` runs the program, which a project's file may have named. A file that is started by its own first
    # line, or that contains Python, does not depend on the entry's.
    if path is None or server.is_of_project or str(path) == server.launch.words[0] or not needs_python(str(path)):
        return
    version = version_of(python) if Path(python).is_file() else ""
    if version and tuple(map(int, version.split("."))) < (3, OLDEST):
        yield problem(server.subject, f"{python} is Python {version}; the file needs 3.{OLDEST}", INSTALL_AGAIN)


def settings(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that every setting without which the server does not run has a value."""
    facts = {} if server.built_file is None else build_facts(server.built_file)
    for setting in facts.get("settings", ()):
        name = str(setting.get("name", ""))
        value = server.launch.variables.get(name)
        if setting.get("required") and "default" not in setting and not value and not server.launch.asked:
            advice = f"add it to `env` of the entry: `mcpc install --env {name}=… --replace`"
            yield problem(server.subject, f"the server needs {name}, which the entry does not set", advice)


def build_facts(path: Path) -> dict[str, Any]:
    """Return the facts of a built file, without running it; empty if it has none."""
    try:
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo(FACTS)
            # The size comes first: a small archive may hold an entry that unpacks to gigabytes.
            facts = json.loads(archive.read(entry)) if entry.file_size <= MAX_FACTS else {}
    except (KeyError, OSError, RecursionError, ValueError, zipfile.BadZipFile):
        return {}
    return facts if isinstance(facts, dict) else {}


def references(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that the variables to which an entry refers are set here."""
    for name in dict.fromkeys(server.launch.unset):
        advice = f"export {name} where {server.client.subject} starts, or write a value"
        yield problem(server.subject, f"the entry refers to {name}, which is not set here", advice)


def address(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check the address of a remote server, which is not asked."""
    url = url_of(server.entry)
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname):
        yield problem(server.subject, "its address is not an http or https URL", "correct `url` of the entry")
    elif parts.scheme == "http" and parts.hostname not in LOOPBACK and server.entry.get("headers"):
        yield problem(server.subject, "headers go over an unencrypted connection", "use an https address")


def sharing(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that no secret is written in a file that a project shares, and that the server is switched on."""
    if server.is_of_project and secrets_of({server.name: server.entry}):
        text = f"{server.client.target.path} is for everybody, and has a secret"
        yield problem(server.subject, text, "refer to a variable, or use the user's file")
    if server.is_disabled:
        yield note(server.subject, "it is switched off in the client's file", "switch it on there, or in the client")


BLOCKING = (form, program, file, settings, references, address)
"""Checks whose problems stop a server from being started."""
CHECKS: tuple[Callable[[ConfiguredServer], Iterator[Symptom]], ...] = (*BLOCKING, interpreter, sharing)
