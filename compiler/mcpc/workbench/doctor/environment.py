"""The command, variables and working folder that a server gets from its client.

Desktop clients and the SDKs pass on only a few variables of their own; what an entry names is added.  References to
variables and to values that the client asks for are replaced as the client would.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc_runtime.tools.clients.table import PROJECT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc_runtime.tools.clients.installing import Target

COMMANDS = ("command", "cmd")
VARIABLES = ("env", "environment", "envs")
PASSED = ("env_vars", "env_keys")
URLS = ("url", "httpUrl", "serverUrl", "uri")
REFERENCE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]*))?\}|\{env:(\w+)\}|\$(\w+)")
INPUT = re.compile(r"\$\{input:([^}]+)\}")
FOLDERS = {"${userHome}": "~", "${workspaceFolder}": "."}


@dataclass(frozen=True, slots=True)
class Launch:
    """What a client starts.

    `unset`: variables that an entry refers to and that are not set; `asked`: values that the client asks its user for.
    """

    words: tuple[str, ...]
    variables: Mapping[str, str]
    folder: str
    unset: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values of the entry's variables."""
        return tuple(value for value in self.variables.values() if value)


def launch_of(target: Target, entry: Mapping[str, Any], project: Path) -> Launch:
    """Return what a client starts for an entry; without words if the entry has no command."""
    texts = Replaced(project)
    words = tuple(texts.replace(word) for word in command_words(entry))
    variables = {name: texts.replace(value) for name, value in variables_of(entry).items()}
    passed = [name for field in PASSED for name in entry.get(field) or () if isinstance(name, str)]
    unset = [*texts.unset, *(name for name in passed if name not in os.environ)]
    variables |= {name: os.environ[name] for name in passed if name in os.environ}
    given = entry.get("cwd")
    folder = texts.replace(given) if isinstance(given, str) else ""
    default = project if target.scope == PROJECT else Path.home()
    return Launch(words, variables, folder or str(default), tuple(unset), tuple(texts.asked))


def command_words(entry: Mapping[str, Any]) -> list[str]:
    """Return the command and its arguments."""
    found: list[Any] = []
    for value in (*(entry.get(field) for field in COMMANDS), entry.get("args")):
        found += value if isinstance(value, list) else [value] if isinstance(value, str) and value else []
    return [word for word in found if isinstance(word, str)]


def variables_of(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that an entry sets."""
    tables = [entry[field] for field in VARIABLES if isinstance(entry.get(field), dict)]
    return {name: value for table in tables for name, value in table.items() if isinstance(value, str)}


def url_of(entry: Mapping[str, Any]) -> str:
    """Return the address of a remote server, or an empty text."""
    return next((str(entry[field]) for field in URLS if entry.get(field)), "")


class Replaced:
    """Texts in which references are replaced; what could not be is kept."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self.unset: list[str] = []
        self.asked: list[str] = []

    def replace(self, text: str) -> str:
        """Return a text without references."""
        self.asked += INPUT.findall(text)
        for name, folder in FOLDERS.items():
            text = text.replace(name, str(self._project if folder == "." else Path.home()))
        return REFERENCE.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        name = found[1] or found[3] or found[4]
        value: str | None = os.environ.get(name, found[2])
        if value is None:
            self.unset.append(name)
        return value or ""
