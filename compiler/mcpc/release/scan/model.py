"""What is scanned, and what is found: servers, their texts, findings, and the table of codes.

A text knows where it is by a JSON Pointer into the server's lists (as in `ServerLists.as_json`), or by the path of a
file.  A finding never contains a hidden character or a whole secret.  A code never changes its meaning.

Families: 1xx orders to the model, 2xx tools of other servers, 3xx hidden text, 4xx secrets, 5xx addresses, 7xx
differences from a pin, 8xx entries in the configuration of clients.
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
    # Two readings of one server have different functions.
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
        items = self.server.lists.get(kind)
        return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []

    @property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(str(tool.get("name", "")) for tool in self.items("tools"))


H, M, L = Risk.HIGH, Risk.MEDIUM, Risk.LOW


class RiskCode(NamedTuple):
    """A row: how much it matters, what was found, why that matters, and what to do."""

    risk: Risk
    title: str
    why: str
    advice: str


DESCRIBE = "let the text describe what the definition does; leave decisions to the person and the client"
SEE = "remove it: people must be able to see what a model reads"
WITHDRAW = "remove it, withdraw the secret where it was issued, and pass secrets in settings"
READ_BY_ALL = "Every client of the server reads it, and logs keep it."

CODES: dict[str, RiskCode] = {
    "SCAN101": RiskCode(H, "text asks the model to keep something from the person",
        "An honest server has nothing to hide from the person whose model uses it; attacks need the silence.",
        DESCRIBE),
    "SCAN102": RiskCode(M, "text asks the model to act without asking the person",
        "Whether a call needs approval is decided by the person and the client, not by a server.", DESCRIBE),
    "SCAN103": RiskCode(H, "text asks the model to ignore its instructions",
        "This is how injected text takes over a model. No description needs it.", DESCRIBE),
    "SCAN104": RiskCode(H, "text asks the model to read private files",
        "Keys and configuration files reach a model through another tool, and the server through an argument.",
        "do not use this server before its author explains the text; " + DESCRIBE),
    "SCAN105": RiskCode(H, "text asks the model to pass on the conversation or secrets",
        "The server receives what a person said to the model, or what the model was told, in an argument.",
        "ask for the data that the tool needs, by an argument that says so"),
    "SCAN106": RiskCode(M, "text demands to be used before all other tools",
        "A tool that is always called first sees all that a person does, and can steer what follows.", DESCRIBE),
    "SCAN107": RiskCode(H, "text imitates a message of the system",
        "Tags and tokens of chat templates make a model take a description for an order of its operator.", DESCRIBE),
    "SCAN108": RiskCode(H, "text asks the model to send data to an address",
        "Data leaves by a tool of another server, which is trusted and works as it should.", DESCRIBE),
    "SCAN109": RiskCode(M, "text has a command that runs what it downloads",
        "A model with a shell may run it, and the address can serve anything later.",
        "describe what has to be installed, with a version and a digest"),
    "SCAN110": RiskCode(L, "text presses the model",
        "Threats and emphasis raise the chance that a model obeys. Honest servers use them too.", DESCRIBE),
    "SCAN111": RiskCode(M, "text claims consent or authority",
        "A description cannot know who has agreed or ordered something; the claim makes a model skip questions.",
        DESCRIBE),
    "SCAN112": RiskCode(M, "text waits for a condition to do something else",
        "What happens only on some day or word is not seen by the person who tries the tool.", DESCRIBE),
    "SCAN113": RiskCode(M, "text tells the model what to claim about the server",
        "A person who asks the model gets the answer of the server's author.", DESCRIBE),
    "SCAN201": RiskCode(H, "text changes how a tool of another server is used",
        "Descriptions of all servers are in one context, so that one can redirect the calls of another (shadowing).",
        "describe only the tools of this server"),
    "SCAN202": RiskCode(M, "text displaces tools of other servers",
        "A server that claims to be the only right one receives calls that were meant for another.",
        "describe what the tool is good for, and let the model compare"),
    "SCAN203": RiskCode(M, "two servers have a tool of the same name",
        "Some clients call the one that they read last; a model cannot tell them apart.",
        "use one of the two servers at a time, or a client that adds the server's name"),
    "SCAN204": RiskCode(H, "name looks like that of another server's tool",
        "A model or a person takes one for the other.", "find out which server is the real one, and remove the other"),
    "SCAN205": RiskCode(L, "text names a tool of another server",
        "It may be a hint for people who use both, or prepare a redirection.", "read the text"),
    "SCAN301": RiskCode(H, "text has invisible tags of Unicode",
        "They are invisible copies of ASCII that models read (ASCII smuggling).", SEE),
    "SCAN302": RiskCode(H, "text has characters that change its displayed order",
        "What is displayed is not what a model reads.", SEE),
    "SCAN303": RiskCode(M, "text has invisible characters",
        "They hide text, or split words so that a search does not find them.", SEE),
    "SCAN304": RiskCode(H, "text has bytes in variation selectors",
        "Any bytes can be hidden after one visible character.", SEE),
    "SCAN305": RiskCode(H, "text has control characters of terminals",
        "They erase or recolour what a terminal shows, so that a person approves something else.", SEE),
    "SCAN306": RiskCode(H, "name mixes look-alike letters of two scripts",
        "It looks like another name and is not the same.", "write the name in one script"),
    "SCAN307": RiskCode(M, "text has a comment that is not displayed",
        "A client that shows Markdown hides it; a model reads it.", SEE),
    "SCAN308": RiskCode(M, "text continues far out of view", "A person sees the beginning, a model all of it.", SEE),
    "SCAN309": RiskCode(M, "text has an encoded text", "Models decode it; people and filters do not.",
        "write it as it is"),
    "SCAN310": RiskCode(M, "word mixes look-alike letters of two scripts",
        "It evades a search for the word that it looks like.", "write the word in one script"),
    "SCAN401": RiskCode(H, "text has a secret", READ_BY_ALL, WITHDRAW),
    "SCAN402": RiskCode(M, "value looks like a secret", READ_BY_ALL, WITHDRAW),
    "SCAN403": RiskCode(H, "text has a private key", READ_BY_ALL, WITHDRAW),
    "SCAN404": RiskCode(H, "address has a password", READ_BY_ALL, WITHDRAW),
    "SCAN501": RiskCode(L, "address is not encrypted", "Anyone on the way can read and change what is behind it.",
        "use https"),
    "SCAN502": RiskCode(M, "icon can do more than show a picture",
        "SVG may have scripts; other schemes reach files of the person's machine.",
        "embed a PNG, or name one by https"),
    "SCAN503": RiskCode(L, "icon is loaded from a remote machine",
        "That machine learns who uses the server and when, and can change the picture.", "embed a small PNG"),
    "SCAN504": RiskCode(M, "text loads a picture from a remote machine",
        "A client that shows Markdown sends a request, and a model can be led to put data into its address.",
        "name the page of the picture instead"),
    "SCAN701": RiskCode(H, "definition has changed since it was pinned",
        "A server that was approved can change what it says later (rug pull).",
        "read the difference with `mcpc diff`, scan it, and pin it again"),
    "SCAN702": RiskCode(M, "definition is new since the server was pinned", "No person has approved it.",
        "read it, and pin it again"),
    "SCAN703": RiskCode(L, "pinned definition does not exist any more", "Another server may take its name.",
        "pin the server again"),
    "SCAN801": RiskCode(M, "entry has a secret in plain text",
        "Backups, synchronised settings and every program of this user have it; arguments are shown to all users of "
        "the machine, in the list of processes.",
        "refer to a variable, or let the client ask for it; give the server a new secret"),
    "SCAN802": RiskCode(H, "entry has a secret in plain text, in a file that others read",
        "It belongs to a project, or its permissions let other users of the machine read it.",
        "refer to a variable; withdraw the secret where it was issued"),
    "SCAN803": RiskCode(M, "entry starts a program that is downloaded in no fixed version",
        "Whoever publishes the next version runs it with the rights of this user, at the next start.",
        "name an exact version: `package@1.2.3`, `package==1.2.3`, `image@sha256:…`"),
    "SCAN804": RiskCode(H, "entry starts a file that every user of this machine can replace",
        "Whoever replaces it runs programs with the rights of this user.",
        "move it to a folder that only its owner can change, and correct the permissions"),
    "SCAN805": RiskCode(M, "entry reaches another machine without encryption",
        "Anyone on the way reads the calls and the token, and can answer in place of the server.", "use https"),
    "SCAN806": RiskCode(M, "servers of the same name are different in two clients",
        "What was approved in one client is not what the other starts.",
        "find out which is the right one, and give them different names if both are"),
}  # fmt: skip
"""The codes, by family."""


def explain_risk(code: str) -> str:
    """Return the page of a code; raise KeyError if it is unknown."""
    row = CODES[code]
    return f"{code} ({row.risk}): {row.title}\n\n{row.why}\n\nWhat to do: {row.advice}.\n"
