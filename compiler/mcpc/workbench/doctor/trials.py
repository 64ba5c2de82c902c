"""Each server of a client, started as the client starts it: the step that fails is named, with what the server wrote.

Only a few variables are passed on, as desktop clients do.  A command that downloads its program is not started, nor is
one that a project's file names, unless the user trusts the project.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mcpc.client.client import ConversationError, Deadline, ServerClient
from mcpc.client.processes import conversation_with
from mcpc.sandbox import programs
from mcpc.sandbox.platforms.program_groups import GROUP_OPTIONS
from mcpc.workbench.doctor.client_logs import without_secrets
from mcpc.workbench.doctor.entries import configured_servers, is_startable
from mcpc.workbench.doctor.environment import url_of
from mcpc.workbench.doctor.model import fine, note, problem

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from mcpc.workbench.doctor.entries import ConfiguredServer
    from mcpc.workbench.doctor.model import Examination, Symptom

DOWNLOADING = {
    *("npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "bun", "deno", "uvx", "uv", "pipx"),
    *("docker", "podman", "nerdctl"),
}
"""Programs that may download what they start."""
CAUSES = {
    "ModuleNotFoundError": "name the Python that has this package in the entry, or bundle it with `mcpc build`",
    "Cannot find module": "run `npm install` in the server's folder, or correct the path of the file",
    "requires Python": "name a newer Python in the entry",
    "Permission denied": "give yourself access to what the server names",
    "Address already in use": "end the other server that uses this port, or choose another port",
    "is not set": "add the variable to `env` of the entry",
    "No space left on device": "free some space",
}
"""What servers write when they end, and what to do about it."""
QUOTED_LINES, ERROR_BYTES = 5, 64 << 10
START, INITIALIZE, LIST = "start", "initialize", "tools/list"


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a start: the step that failed, none if all went well, and what the server wrote."""

    step: str
    text: str
    written: str = ""
    stray: str = ""
    """A line on standard output that is not of the protocol."""


def check_starts(examined: Examination) -> Iterator[Symptom]:
    """Yield what came of the start of each server."""
    for server in configured_servers(examined):
        if url_of(server.entry) and not server.launch.words:
            yield fine(server.subject, "is a remote server, which is not asked")
        elif not examined.starts or server.is_disabled or not is_startable(server):
            continue
        elif server.is_of_project and not examined.trusts_project:
            text = "not started: a file of the project names the command, and nothing of a project is run unasked"
            yield note(server.subject, text, "read the entry, and then use --trust-project")
        elif Path(server.launch.words[0]).stem in DOWNLOADING:
            text = f"not started: `{server.launch.words[0]}` may download what it starts"
            yield note(server.subject, text, "start it in the client, and look at its log")
        elif server.launch.asked:
            yield note(server.subject, "not started: the client asks its user for values")
        else:
            yield from _symptoms(server, examined.seconds)


def _symptoms(server: ConfiguredServer, seconds: float) -> Iterator[Symptom]:
    trial = run_trial(server, "server of a client", seconds)
    clean = partial(without_secrets, secrets=server.launch.secrets)
    if trial.stray:
        text = f"it writes to standard output what is not of the protocol: {clean(trial.stray)[:60]}"
        yield note(server.subject, text, "print to standard error; strict clients end the connection")
    if not trial.step:
        yield fine(server.subject, f"starts: {trial.text}")
        return
    quoted = tuple(clean(line) for line in trial.written.splitlines()[-QUOTED_LINES:])
    whole = run_trial(server, "server", seconds)
    if not whole.step:
        text = f"{trial.step}: it starts only with variables of this terminal, which clients do not pass on"
        yield problem(server.subject, text, "add the variables that it needs to `env` of the entry", quoted)
        return
    yield problem(server.subject, f"{trial.step}: {clean(trial.text)}", advice_for(trial), quoted)


def advice_for(trial: Trial) -> str:
    """Return the next step after a failure."""
    if trial.step == START:
        return "correct the command of the entry"
    if "did not answer" in trial.text:
        return "run the command by hand: a server waits for messages, and prints nothing of its own"
    cause = next((advice for text, advice in CAUSES.items() if text in trial.written), "")
    return cause or ("correct what the server reports" if trial.written else "run the command by hand to see why")


def run_trial(server: ConfiguredServer, row: str, seconds: float) -> Trial:
    """Start a server with the variables of a row of programs, and ask for its tools."""
    with tempfile.TemporaryFile() as errors:
        step, text, stray = START, "", ""
        try:
            process = start_entry(server, row, errors)
            with conversation_with(process) as transport:
                client = ServerClient(transport, Deadline(seconds))
                step = INITIALIZE
                client.initialize()
                step = LIST
                tools = sum(1 for _ in client.items("tools/list", "tools"))
                stray = transport.stray
                step, text = "", f"{tools} tool{'' if tools == 1 else 's'}"
        except OSError as why:
            text = f"it cannot be started: {why.strerror or why}"
        except ConversationError as why:
            text = str(why)
        errors.seek(max(0, errors.tell() - ERROR_BYTES))
        return Trial(step, text, errors.read().decode("utf-8", "replace"), stray)


def start_entry(server: ConfiguredServer, row: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the server of an entry with the variables of a row of programs; raise OSError."""
    launch = server.launch
    options: dict[str, Any] = {"more": launch.variables, "cwd": launch.folder, "stderr": errors, **GROUP_OPTIONS}
    if row == "server":
        return programs.start_program("server", launch.words, **options)
    return programs.start_program("server of a client", launch.words, **options)
