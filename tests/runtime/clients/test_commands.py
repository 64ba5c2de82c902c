"""The commands about clients, in a home of their own: what each prints, returns and leaves in files.

`commands.steps` has the steps: `$ COMMAND`, `: FILE TEXT`, `! PROGRAM SCRIPT`, and `% WORD` for the server and the
terminal.  The golden file has what came of them; `~H` is the home, `~A` the built file, `~P` the Python.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcpc_runtime.tools.clients import request
from mcpc_runtime.tools.clients.commands import ACCEPTED, help_of, read_options, run
from mcpc_runtime.tools.clients.request import Artifact, InvalidRequestError, artifact_of
from mcpc_runtime.transports.platforms import system
from support.client_home import use_home
from support.needs import ROOT

STEPS = ROOT / "tests/golden/clients/commands.steps"
SETTINGS = [
    {"name": "API_KEY", "title": "Key of the API", "description": "d", "required": True, "secret": True},
    {"name": "REGION", "required": True, "description": "Where it is"},
    {"name": "TOKEN"},
    {"name": "TITLED", "description": "What it is"},
    {"name": "ZONE", "required": True, "default": "eu"},
]


class Machine:
    """One user's machine, with a built server."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self.monkeypatch, self.capsys = folder / "home", monkeypatch, capsys
        (self.home / "bin").mkdir(parents=True)
        self.python, self.archive = self.home / "bin/python3", folder / "a folder" / "server.pyz"
        self.archive.parent.mkdir()
        self.python.touch(0o755)
        self.files: dict[str, str] = {}
        use_home(self.home, monkeypatch)
        monkeypatch.setenv("PATH", f"{self.home}/bin:/usr/bin:/bin")
        monkeypatch.setattr(system, "environ", {b"PATH": os.fsencode(self.home / "bin")})
        monkeypatch.setattr(request, "lasting_python", lambda minors: str(self.python))
        (self.home / "work").mkdir()
        monkeypatch.chdir(self.home / "work")
        self.artifact: Artifact | None = self.built("#!/bin/sh\nmcpc_start\n", "my weather")

    def built(self, head: str, name: str, **facts: object) -> Artifact:
        self.archive.write_text(head)
        return artifact_of(str(self.archive), {"name": name, "python": {"bytecode": "3.11.7"}, **facts})

    def use(self, words: str) -> None:
        """Exchange the server, or type on a terminal."""
        kind, _, text = words.partition(" ")
        if kind == "terminal":
            self.monkeypatch.setattr(sys, "stdin", Typed(text))
            self.monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
            self.monkeypatch.setattr(request, "getpass", lambda prompt: f"<{prompt}>")
        elif kind == "settings":
            self.artifact = self.built("#!/bin/sh\nmcpc_start\n", "my weather", settings=SETTINGS)
        elif kind == "arguments":
            self.artifact = self.built("#!/bin/sh\nmcpc_start\n", "my weather", takesArguments=True)
        elif kind == "none":
            self.artifact = None
        else:
            name = {"program": "p", "strange": f"  ünï/{'x' * 70}", "nameless": "…"}[kind]
            artifact = self.built("\x7fELF" if kind == "program" else "PK", name)
            self.artifact = artifact._replace(tools=("t" * 57, "t") if kind == "program" else ("t",))

    def write(self, name: str, text: str, *, is_program: bool = False) -> None:
        place = self.home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(self.real(f"#!/bin/sh\n{text}\n" if is_program else text.replace("\\n", "\n")))
        place.chmod(0o755 if is_program else 0o600)
        list(self.changes())

    def real(self, text: str) -> str:
        return text.replace("~H", str(self.home)).replace("~A", str(self.archive)).replace("~P", str(self.python))

    def marked(self, text: str) -> str:
        return text.replace(str(self.python), "~P").replace(str(self.archive), "~A").replace(str(self.home), "~H")

    def changes(self) -> Iterator[str]:
        """Return what was changed in the home since the last time."""
        now = {
            str(path.relative_to(self.home)): path.read_text()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and ".mcpc-bak" not in path.name
        }
        before, self.files = self.files, now
        yield from (f"  removed {name}\n" for name in before if name not in now)
        for name, text in now.items():
            if before.get(name) != text:
                yield f"  {name}\n" + "".join(f"    |{line}\n" for line in self.marked(text).splitlines())

    def call(self, words: list[str]) -> Iterator[str]:
        """Run a command; return what it printed, its status, and the changed files."""
        command, *options = map(self.real, words)
        try:
            place = options.index("--") if "--" in options else len(options)
            given = read_options(command, options[:place])
            given = given._replace(words=tuple(options[place + 1 :]), in_place=True)
            status: object = run(command, self.artifact, given)
        except InvalidRequestError as problem:
            status = f"refused: {problem}"
        printed = self.capsys.readouterr()
        yield from (f"  {line}\n" for line in self.marked(printed.out).splitlines())
        yield from (f"  ! {line}\n" for line in self.marked(printed.err).splitlines())
        yield f"  = {self.marked(str(status))}\n"
        yield from self.changes()


class Typed:
    """A terminal on which the same line is typed."""

    def __init__(self, line: str) -> None:
        self.line = line

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return f"{self.line}\r\n"


def test_commands_print_and_write_what_they_say(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[Path, str], None],
) -> None:
    found: list[str] = []
    for number, section in enumerate(STEPS.read_text("utf-8").split("# ")[1:]):
        title, *steps = section.splitlines()
        found.append(f"# {title}\n")
        with monkeypatch.context() as patch:
            machine = Machine(tmp_path / str(number), patch, capsys)
            list(machine.changes())
            for step in steps:
                found.append(f"{step}\n")
                kind, words = step[0], step[2:]
                if kind == "$":
                    found += machine.call(shlex.split(words))
                elif kind == "%":
                    machine.use(words)
                else:
                    name, _, text = words.partition(" ")
                    machine.write(name, text, is_program=kind == "!")
    golden(STEPS.with_suffix(".printed"), "".join(found))


def test_help_pages(golden: Callable[[Path, str], None]) -> None:
    golden(STEPS.with_name("help.txt"), "\n".join(help_of(command, "server.pyz") for command in ACCEPTED))
