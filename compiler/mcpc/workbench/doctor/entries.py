"""The servers in clients' files, by what can be seen without starting them: each check is a row of CHECKS."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcpc.client.http import LOOPBACK
from mcpc.sandbox.platforms.files import servers_folder
from mcpc.workbench.doctor.built_file import build_facts, damage
from mcpc.workbench.doctor.client_files import ClientServers, read_clients, secrets_of
from mcpc.workbench.doctor.environment import command_words, launch_of, url_of, variables_of
from mcpc.workbench.doctor.model import note, problem
from mcpc.workbench.doctor.pythons import gone_environment, lasts
from mcpc.workbench.doctor.tools import found_program
from mcpc_runtime.tools.clients.request import NAME, OLDEST, needs_python, version_of
from mcpc_runtime.tools.clients.table import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.workbench.doctor.environment import Launch
    from mcpc.workbench.doctor.model import Examination, Symptom

BUILT = ".pyz"
FILES = (BUILT, ".py", ".js", ".mjs", ".cjs", ".sh", ".jar")
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
        """Client and server, for a report."""
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
        """The built file that it starts, if there is one."""
        found = next((word for word in self.launch.words if word.endswith(BUILT) and Path(word).is_file()), None)
        return None if found is None else Path(found)


def configured_servers(examined: Examination) -> Iterator[ConfiguredServer]:
    """Yield every server of every client's file."""
    for client in read_clients(examined):
        if isinstance(client, ClientServers):
            for name, entry in client.entries.items():
                if isinstance(entry, dict):
                    launch = launch_of(client.target, entry, examined.folder.resolve())
                    yield ConfiguredServer(client, name, entry, launch)


def check_entries(examined: Examination) -> Iterator[Symptom]:
    """Yield what is wrong with the entries of servers."""
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
    for field in ("args", "env"):
        kind, what = (list, "a list of texts") if field == "args" else (dict, "an object of texts")
        value = entry.get(field)
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if value is not None and (not isinstance(value, kind) or not all(isinstance(each, str) for each in inner)):
            yield problem(server.subject, f"`{field}` is not {what}", f'write every value in quotes: "{field}": …')
    if command_words(entry) and url_of(entry):
        yield note(server.subject, "the entry has a command and a URL", "remove the one that you do not use")


def program(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that the program is there and can be started."""
    words = server.launch.words
    if not words:
        return
    word = words[0]
    if word.startswith(("~", "$", "%")):
        yield problem(server.subject, f"`{word}` is not replaced by the client", ABSOLUTE)
    elif not server.program or not Path(server.program).exists():
        yield _missing(server, word)
    elif Path(server.program).is_dir():
        yield problem(server.subject, f"{word} is a folder", "name the program in it")
    elif not os.access(server.program, os.X_OK):
        yield problem(server.subject, f"{word} is not executable", f"chmod +x {word}")


def _missing(server: ConfiguredServer, word: str) -> Symptom:
    first = word.split(" ")[0]
    if " " in word and (Path(first).exists() or found_program(first)):
        return problem(server.subject, f"`{word}` is one word", f"keep `{first}` as the command; the rest are `args`")
    if environment := gone_environment(word):
        advice = f"make the environment again, or name a Python that stays; {INSTALL_AGAIN}"
        return problem(server.subject, f"{word} is gone, with the virtual environment {environment}", advice)
    if Path(word).is_absolute():
        return problem(server.subject, f"{word} is not there", f"correct the path; {INSTALL_AGAIN}")
    return problem(server.subject, f"`{word}` is not on PATH", "install it, or name its absolute path")


def file(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that the server's file is there, whole, and readable."""
    words = [word for word in server.launch.words[1:] if word.endswith(FILES) and not word.startswith("-")]
    found = next((word for word in words if word.endswith(BUILT) or os.sep in word), None)
    if found is not None:
        yield from _file_symptoms(server, found)


def _file_symptoms(server: ConfiguredServer, word: str) -> Iterator[Symptom]:
    place = Path(server.launch.folder) / word
    if word.startswith("~"):
        yield problem(server.subject, f"`{word}` is not replaced by the client", ABSOLUTE)
    elif not Path(word).is_absolute() and server.client.target.scope != PROJECT and "cwd" not in server.entry:
        yield problem(server.subject, f"{word} is a relative path", ABSOLUTE)
    elif not place.exists():
        yield _moved(server, word)
    elif not os.access(place, os.R_OK):
        yield problem(server.subject, f"{word} cannot be read", f"chmod u+r {word}")
    elif word.endswith(BUILT) and damage(place):
        yield problem(server.subject, f"{word} {damage(place)}", "build it again")


def _moved(server: ConfiguredServer, word: str) -> Symptom:
    places = [servers_folder() / Path(word).name, Path(word).parent.parent / Path(word).name]
    found = next((place for place in places if place.is_file()), None)
    advice = f"a file of this name is at {found}" if found else "build or copy it there again"
    return problem(server.subject, f"{word} is not there", f"{advice}; {INSTALL_AGAIN}")


def interpreter(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that the Python of a built file is new enough, and that it stays."""
    if not server.program or not Path(server.program).is_file():
        return
    why = lasts(server.program)
    if why:
        yield note(
            server.subject, f"{server.program} may be gone tomorrow: {why}", "`mcpc install` names one that stays"
        )
    path = server.built_file
    if path is None or server.is_of_project or str(path) == server.launch.words[0] or not needs_python(str(path)):
        return
    version = version_of(server.program)
    if version and tuple(map(int, version.split("."))) < (3, OLDEST):
        yield problem(server.subject, f"{server.program} is Python {version}; the file needs 3.{OLDEST}", INSTALL_AGAIN)
        return
    built = str(build_facts(path).get("python", {}).get("bytecode", ""))
    if version and built and not f"{built}.".startswith(f"{version}."):
        text = f"the file was built for Python {built} and is started by {version}, which is slower at first"
        yield note(server.subject, text, "name that Python in the entry, or build with --python")


def settings(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that every setting without which the server does not run has a value."""
    path = server.built_file
    facts = {} if path is None else build_facts(path)
    for setting in facts.get("settings", ()):
        name = str(setting.get("name", ""))
        value = server.launch.variables.get(name)
        if setting.get("required") and "default" not in setting and not value and not server.launch.asked:
            advice = f"add it to `env` of the entry: `mcpc install --env {name}=… --replace`"
            yield problem(server.subject, f"the server needs {name}, which the entry does not set", advice)


def references(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that the variables to which an entry refers are set here."""
    for name in dict.fromkeys(server.launch.unset):
        advice = f"export {name} where {server.client.subject} starts, or write a value"
        yield problem(server.subject, f"the entry refers to {name}, which is not set here", advice)


def secrets(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check that no secret is written in a file that a project shares."""
    if server.client.target.scope == PROJECT and secrets_of({server.name: server.entry}):
        path = server.client.target.path
        yield problem(
            server.subject, f"{path} is for everybody, and has a secret", "refer to a variable, or use the user's file"
        )


def address(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check the address of a remote server, which is not asked."""
    url = url_of(server.entry)
    if not url:
        return
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield problem(server.subject, "its address is not an http or https URL", "correct `url` of the entry")
    elif parts.scheme == "http" and parts.hostname not in LOOPBACK and server.entry.get("headers"):
        yield problem(server.subject, "headers go over an unencrypted connection", "use an https address")


def remarks(server: ConfiguredServer) -> Iterator[Symptom]:
    """Check what is allowed, and surprises people."""
    if server.is_disabled:
        yield note(server.subject, "it is switched off in the client's file", "switch it on there, or in the client")
    if not NAME.fullmatch(server.name):
        yield note(server.subject, "its name has characters that some clients refuse", "use letters, digits, `-`, `_`")
    if server.client.target.form.refuses_spaces and " " in " ".join(server.launch.words[:1]):
        yield problem(
            server.subject, "the client starts no command with a space in its path", "move it to another folder"
        )
    empty = [name for name, value in variables_of(server.entry).items() if not value]
    if empty:
        yield note(server.subject, f"{', '.join(empty)} is set to an empty text", "remove it, or give it a value")


BLOCKING = (form, program, file, settings, references, address)
"""Checks whose problems stop a server from being started."""
CHECKS: tuple[Callable[[ConfiguredServer], Iterator[Symptom]], ...] = (*BLOCKING, interpreter, secrets, remarks)
