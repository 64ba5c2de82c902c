"""What a call would send or run, as a command for a shell.  Nothing is run, and no value of a secret is in it.

Before anything is made of the settings, each secret in the environment is replaced by a text of its own, which stands
for it in whatever the contract of the handler makes, and becomes `"$NAME"` in the command.
"""

from __future__ import annotations

import json
import re
import sys
from os import urandom
from shlex import quote

from mcpc_runtime.artifact.settings import image_problems
from mcpc_runtime.handlers.contracts import CONTRACTS
from mcpc_runtime.handlers.shell_words import PIPE, DryRun
from mcpc_runtime.protocol.effects import Call, StartHandler, text
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.tools.cli.artifact_info import Object
from mcpc_runtime.tools.cli.printing import terminal_text
from mcpc_runtime.transports.platforms import system

SECRET = 3
"""The place in a setting's row that says whether it is secret."""
NAMING_FUNCTIONS = ("bash", "python")
"""Contracts whose handlers are a function of a file."""
ASKS = "It would ask the client first"
CONSTANT = "It would run nothing: the answer was made when the server was built"


class StandIns:
    """Texts that stand for values.  They are letters and digits, which no encoding of a request changes."""

    def __init__(self) -> None:
        self._head = f"x{urandom(12).hex()}"
        self._names: list[str] = []

    def of(self, name: str) -> str:
        """Return the text that stands for the value of a name, which is made one that a shell can have."""
        name = re.sub("[^A-Za-z0-9_]", "_", name)
        if name not in self._names:
            self._names.append(name)
        return f"{self._head}{self._names.index(name):04}"

    # `re.split` returns the captured numbers at odd places, between the texts around them.
    def quoted(self, word: str) -> str:
        """Return a word for a shell, which has the values."""
        if word == PIPE:
            return "|"
        pieces = re.split(f"{self._head}([0-9]{{4}})", word)
        named = [f'"${self._names[int(piece)]}"' if at % 2 else piece for at, piece in enumerate(pieces)]
        return "".join(piece if at % 2 else quote(piece) for at, piece in enumerate(named) if piece) or "''"


def dry_run(image: Image, line: bytes) -> Object:
    """Return the reply to a call: what it would run, or what is wrong with it.  Notes go to standard error."""
    stand_ins = StandIns()
    if "settings" in image.index:
        for problem in image_problems(image):
            note(problem)
    for row in image.index.get("settings", ()):
        # The process ends after this command, so the environment is not restored.
        if row[SECRET] and system.environ.get(row[0].encode()):
            system.environ[row[0].encode()] = stand_ins.of(row[0]).encode()
    for effect in Session(image).receive(line):
        if isinstance(effect, StartHandler) and isinstance(effect.call, Call):
            command = described(effect.call, image, stand_ins)
            return {"result": {"content": [text(command)] if command else [], "isError": not command}}
        if isinstance(effect, SendResponse):
            return judged(json.loads(effect.data))
    return {"result": {"content": [text(ASKS)]}}


def judged(reply: Object) -> Object:
    """Return the reply to a call that runs no handler: its error, or why it runs none."""
    result = reply.get("result")
    if result is None or result.get("isError"):
        return reply
    return {"result": {"content": [text(CONSTANT if "content" in result else ASKS)]}}


def described(call: Call, image: Image, stand_ins: StandIns) -> str:
    """Return what a call would run; an empty text if it would be refused, which is noted."""
    definition = call.definition
    module = __import__(CONTRACTS[definition.contract][0], fromlist=["dry_run"])
    if not hasattr(module, "dry_run"):
        file, *more = definition.handler or ("",)
        function = f"`{more[0]}` of " if definition.contract in NAMING_FUNCTIONS else ""
        return f"It would run {function}{file or definition.contract}"
    planned: DryRun | str = module.dry_run(call, image, stand_ins.of)
    if isinstance(planned, str):
        return planned
    lines, notes = planned
    for each in notes:
        note(each)
    return " \\\n  ".join(" ".join(map(stand_ins.quoted, words)) for words in lines)


def note(words: str) -> None:
    """Write a note about a command to standard error."""
    sys.stderr.write(terminal_text(f"note: {words}\n", sys.stderr))
