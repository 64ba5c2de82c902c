"""The checks in the order of a report; the last ones start a built file, and each server as its client starts it.

Only a few variables are passed on, as desktop clients do.  A command that downloads its program is not started, nor is
one that a project's file names, unless the user trusts the project.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mcpc.client.client import ConversationError, Deadline, ServerClient
from mcpc.client.processes import started_server
from mcpc.pack.prologue import START
from mcpc.sandbox import programs
from mcpc.workbench.doctor.clients import check_clients, url_of, without_secrets
from mcpc.workbench.doctor.entries import check_entries, configured_servers, damage, is_startable
from mcpc.workbench.doctor.machine import (
    check_cache,
    check_command,
    check_environments,
    check_programs,
    check_pythons,
    check_temporary,
)
from mcpc.workbench.doctor.report import fine, note, problem
from mcpc_runtime.tools.clients.request import needs_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from mcpc.client.processes import ProcessTransport
    from mcpc.workbench.doctor.entries import ConfiguredServer
    from mcpc.workbench.doctor.report import Examination, Symptom

FILE = "built file"
FILE_SECONDS = 120.0
REBUILD = "build it again, or copy it again"
DOWNLOADING = {
    *("npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "bun", "deno", "uvx", "uv", "pipx"),
    *("docker", "podman", "nerdctl"),
}
"""Programs that may download what they start."""
QUOTED_LINES, ERROR_BYTES = 5, 64 << 10
START_STEP, INITIALIZE, LIST = "start", "initialize", "tools/list"


def check_file(examined: Examination) -> Iterator[Symptom]:
    """Yield what a built file says about itself and this machine, by its command `check`; nothing for a project."""
    path = examined.target
    if path.is_dir():
        return
    if why := damage(path):
        yield problem(FILE, f"{path} {why}", REBUILD)
        return
    # A file that contains Python is a program by itself.
    start = programs.python_command("-S", "-c", START) if needs_python(str(path)) else []
    try:
        done = programs.run_program("server", [*start, str(path.resolve()), "check", "--json"], FILE_SECONDS)
        report = json.loads(done.stdout)
        checks, notes = report["checks"], report["notes"]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        yield problem(FILE, f"{path} does not start: {fault}", REBUILD)
        return
    for row in checks:
        for text in row["problems"]:
            yield problem(FILE, f"{row['name']}: {text}", f"see `{path} check`")
    yield from (note(FILE, text) for text in notes)
    if not any(row["problems"] for row in checks):
        yield fine(FILE, f"{path} passes its own check")


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a start: the step that failed, none if all went well, and what the server wrote.

    `stray`: a line on standard output that is not of the protocol.
    """

    step: str
    text: str
    written: str = ""
    stray: str = ""


def check_starts(examined: Examination) -> Iterator[Symptom]:
    for server in configured_servers(examined):
        if url_of(server.entry) and not server.launch.words:
            yield fine(server.subject, "is a remote server, which is not asked")
        elif not examined.starts or server.is_disabled or not is_startable(server):
            continue
        elif server.is_of_project and not examined.trusts_project:
            text = "not started: a file of the project names the command, and nothing of a project is run unasked"
            yield note(server.subject, text, "read the entry, and then use --trust-project")
        # The stem, because these programs end in `.cmd` or `.exe` on Windows.
        elif Path(server.launch.words[0]).stem in DOWNLOADING:
            text = f"not started: `{server.launch.words[0]}` may download what it starts"
            yield note(server.subject, text, "start it in the client, and look at its log")
        elif server.launch.asked:
            yield note(server.subject, "not started: the client asks its user for values")
        else:
            yield from _trial_symptoms(server, examined.seconds)


def _trial_symptoms(server: ConfiguredServer, seconds: float) -> Iterator[Symptom]:
    trial = run_trial(server, "server of a client", seconds)
    clean = partial(without_secrets, secrets=server.launch.secrets)
    if trial.stray:
        text = f"it writes to standard output what is not of the protocol: {clean(trial.stray)[:60]}"
        yield note(server.subject, text, "print to standard error; strict clients end the connection")
    if not trial.step:
        yield fine(server.subject, f"starts: {trial.text}")
        return
    quoted = tuple(clean(line) for line in trial.written.splitlines()[-QUOTED_LINES:])
    # Started once more with all variables of the terminal: a server that works then needs one of them.
    if not run_trial(server, "server", seconds).step:
        text = f"{trial.step}: it starts only with variables of this terminal, which clients do not pass on"
        yield problem(server.subject, text, "add the variables that it needs to `env` of the entry", quoted)
        return
    yield problem(server.subject, f"{trial.step}: {clean(trial.text)}", advice_for(trial), quoted)


def advice_for(trial: Trial) -> str:
    """Return the next step after a failure."""
    if trial.step == START_STEP:
        return "correct the command of the entry"
    if "did not answer" in trial.text:
        return "run the command by hand: a server waits for messages, and prints nothing of its own"
    return "correct what the server reports" if trial.written else "run the command by hand to see why"


def run_trial(server: ConfiguredServer, row: str, seconds: float) -> Trial:
    """Start a server with the variables of a row of programs, and ask for its tools."""
    with tempfile.TemporaryFile() as errors:
        step, text, stray = START_STEP, "", ""
        try:
            with started_entry(server, errors, row) as transport:
                client = ServerClient(transport, Deadline(seconds))
                step = INITIALIZE
                client.initialize()
                step = LIST
                tools = sum(1 for _ in client.items("tools/list", "tools"))
                stray = transport.stray
                step, text = "", f"{tools} tool{'' if tools == 1 else 's'}"
        except ConversationError as why:
            text = str(why)
        # The server shares the position of the file, which is the end of what it wrote.
        errors.seek(max(0, errors.tell() - ERROR_BYTES))
        return Trial(step, text, errors.read().decode("utf-8", "replace"), stray)


def started_entry(
    server: ConfiguredServer, errors: IO[bytes], row: str = "server of a client"
) -> AbstractContextManager[ProcessTransport]:
    """Return the connection to the server of an entry, started with the variables of a row of programs."""
    launch = server.launch
    return started_server(launch.words, row, more=launch.variables, cwd=launch.folder, stderr=errors)


CHECKS: dict[str, Callable[[Examination], Iterator[Symptom]]] = {
    "the Pythons of this machine": check_pythons,
    "virtual environments": check_environments,
    "other programs": check_programs,
    "the command mcpc": check_command,
    "the cache": check_cache,
    "temporary files": check_temporary,
    "the built file": check_file,
    "the clients' files": check_clients,
    "the entries of servers": check_entries,
    "the start of servers": check_starts,
}


def examine(examined: Examination, tell: Callable[[str], None]) -> Iterator[Symptom]:
    """Yield what all checks found; one that the system stops is a problem.  `tell`: gets the name of each check."""
    for name, check in CHECKS.items():
        tell(name)
        try:
            yield from check(examined)
        except OSError as why:
            # An error without a file name leaves two colons.
            text = f"the check stopped: {why.filename or ''}: {why.strerror or why}".replace(": : ", ": ")
            yield problem(name, text, "make that file or folder readable, and try again")
