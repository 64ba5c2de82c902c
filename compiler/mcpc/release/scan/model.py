"""What is scanned, and what is found: servers, their texts, and findings.

A text knows where it is by a JSON Pointer into the server's lists (as in `ServerLists.as_json`), or by the path of a
file.  A finding never contains a hidden character or a whole secret.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Risk(StrEnum):
    """How much a finding matters; the order is that of reports."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


RISKS = tuple(Risk)
WORD, VARIABLE, HEADER, ADDRESS = "word", "variable", "header", "address"


class Role(StrEnum):
    """What a text is for: it decides which rules read it."""

    NAME = "name"
    PROSE = "prose"
    VALUE = "value"
    ADDRESS = "address"
    SYNTAX = "syntax"
    CONTENTS = "contents"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a server.

    `kind` and `item`: the definition that has it, or a `file`; `field`: where in it, with dots; `pointer`: the JSON
    Pointer of the value, or of the value that a key belongs to.
    """

    kind: str
    item: str
    field: str
    pointer: str
    role: Role
    text: str

    @property
    def location(self) -> str:
        """The definition and the field, as in reports and in the setting `ignore`."""
        owner = f"{self.kind} {self.item}" if self.item else self.kind
        return f"{owner}: {self.field}" if self.field else owner


class ScannedFile(NamedTuple):
    """A file of a server: contents that clients read, or the source of handlers.

    `kind` and `field`: the definition that has the contents, and where in it, if that is known.
    """

    path: str
    role: Role
    text: str
    kind: str = "file"
    field: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule says: its code, the text, the range of the text that matters, and details for the message."""

    code: str
    text: Text
    start: int = 0
    end: int = 0
    detail: str = ""
    excerpt: str = ""


class Position(NamedTuple):
    """A range of a source file: its path, and lines and columns from 1 of its first character and of the one after."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class EntryText(NamedTuple):
    """A text of an entry: what it is (`word`, `variable`, `header`, `address`), its name, and its JSON Pointer."""

    kind: str
    name: str
    value: str
    pointer: str


@dataclass(frozen=True, slots=True)
class ClientEntry:
    """A server in a client's file.

    `client`: the client's title; `path`: its file; `started`: the command and its arguments with references replaced;
    `replaceable`: files of the command that every user of this machine can replace; `is_shared`: whether others read
    the file, because it belongs to a project or because of its permissions.
    """

    client: str
    path: str
    parts: tuple[EntryText, ...] = ()
    started: tuple[str, ...] = ()
    replaceable: tuple[str, ...] = ()
    is_shared: bool = False

    def of(self, kind: str) -> list[EntryText]:
        """Return the texts of one kind, in order."""
        return [part for part in self.parts if part.kind == kind]


@dataclass(frozen=True, slots=True)
class ScannedServer:
    """One server: its lists in the form of a snapshot, and files where they are known.

    `target`: what the user named; `locate`: the position of a hit in a file; `unread`: what could not be read of a
    running server, and why; `entry`: how a client's file has it.
    """

    name: str
    target: str
    lists: Mapping[str, Any]
    files: tuple[ScannedFile, ...] = ()
    locate: Callable[[Hit], Position | None] | None = field(default=None, compare=False)
    unread: str = ""
    entry: ClientEntry | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A hit as it is reported: `excerpt` shows the place in the text with escapes, cut to some 200 characters."""

    code: str
    risk: Risk
    server: str
    target: str
    text: Text
    message: str
    excerpt: str
    position: Position | None = None

    @property
    def location(self) -> str:
        """The definition and the field."""
        return self.text.location


@dataclass(frozen=True, slots=True)
class ServerTexts:
    """A server and its texts, which are collected once."""

    server: ScannedServer
    texts: tuple[Text, ...]

    def items(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return the definitions of a list."""
        found = self.server.lists.get(kind)
        return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of its tools."""
        return tuple(str(tool.get("name", "")) for tool in self.items("tools"))
