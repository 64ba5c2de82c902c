"""How a server is written in a client's configuration, and how it is shown without its secrets.

Each text of an entry has its place in the file.  What a report shows of a command is what cannot be a secret: programs,
packages, paths and names of options.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from mcpc.release.scan.secret_forms import known_secrets, password_in_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORD, VARIABLE, HEADER, ADDRESS = "word", "variable", "header", "address"
SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE|(?:^|[_-])(?:PAT|PWD)$", re.IGNORECASE)
NOT_SECRET_NAME = re.compile(
    r"(?:TYPE|MODE|URL|URI|FILE|PATH|DIR|NAME|LIMIT|TOKENS|ID|ISSUER|METHOD|PROVIDER|ENABLED|TIMEOUT|HOST|PORT|SCOPES?)$",
    re.IGNORECASE,
)
REFERENCE = re.compile(r"\$|\{env:|%\w{1,64}%|\{\{|<")
IS_PATH = re.compile(r"[~.]{0,2}[/\\]|[A-Za-z]:[/\\]|https?://[^@?]{1,500}$")
ASSIGNMENT = re.compile(r"-{0,2}([A-Za-z][\w.-]{1,80})(?:=|:\s{0,4})(.{1,4096})", re.DOTALL)
OPTION = re.compile(r"-{1,2}[A-Za-z][\w-]{0,60}")
SCHEME = re.compile(r"(?i)(?:bearer|basic|token)\s{1,4}")
PLACEHOLDER = re.compile(r"your|xxxx|\.\.\.|\*\*\*|change_?me|replace|placeholder|example|(.)\1{5}", re.IGNORECASE)
UNCLEAR = re.compile(r"[A-Za-z0-9_-]{16}")
SHORTEST = 8
"""Characters of the shortest secret."""
MAX_SHOWN = 100
HIDDEN = "…"


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


def secret_parts(entry: ClientEntry) -> Iterator[tuple[EntryText, str]]:
    """Yield the texts that are secrets, each with what it is."""
    words = entry.of(WORD)
    names = ["", *(part.value if OPTION.fullmatch(part.value) else "" for part in words)]
    for part in entry.parts:
        option = names[words.index(part)] if part in words else ""
        what = secret_kind(part, option)
        if what:
            yield part, what


def secret_kind(part: EntryText, option: str = "") -> str:
    """Return what secret a text is, or an empty text; `option`: the option before a word."""
    form = next(known_secrets(part.value), None)
    if form:
        return form[0]
    if password_in_address(part.value):
        return "the password of an address"
    return next((f"the value of `{name}`" for name, value in _named(part, option) if is_secret(name, value)), "")


def _named(part: EntryText, option: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a text: a variable has one, a word may be `NAME=VALUE`, an address has a query."""
    if part.kind in (VARIABLE, HEADER):
        yield part.name, part.value
    elif part.kind == ADDRESS:
        yield from _query(part.value)
    else:
        if option:
            yield option.lstrip("-"), part.value
        found = ASSIGNMENT.fullmatch(part.value)
        if found:
            yield found[1], found[2]
        if "?" in part.value:
            yield from _query(part.value)


def _query(address: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(address).query, max_num_fields=100)
    except ValueError:
        return []


def is_secret(name: str, value: str) -> bool:
    """Tell whether a value is a secret by its name, and not a reference, a path or a placeholder."""
    value = SCHEME.sub("", value, count=1).strip()
    if not SECRET_NAME.search(name) or NOT_SECRET_NAME.search(name) or len(value) < SHORTEST:
        return False
    return not (REFERENCE.search(value) or IS_PATH.match(value) or OPTION.fullmatch(value) or PLACEHOLDER.search(value))


def shown_command(words: Sequence[str]) -> str:
    """Return a command without anything that could be a secret."""
    shown = " ".join(_shown(word, words[number - 1] if number else "") for number, word in enumerate(words))
    return shown if len(shown) <= MAX_SHOWN else f"{shown[: MAX_SHOWN - 1]}{HIDDEN}"


def _shown(word: str, before: str) -> str:
    if OPTION.fullmatch(before) and SECRET_NAME.search(before):
        return HIDDEN
    if word.startswith(("http://", "https://")):
        return shown_address(word)
    name, sign, value = word.partition("=")
    if sign and not value.replace(".", "").isdecimal():
        return f"{name if OPTION.fullmatch(name) or name.isidentifier() else HIDDEN}={HIDDEN}"
    has_secret = any(known_secrets(word)) or password_in_address(word) or ":" in word.partition("://")[0] or " " in word
    runs = (found[0] for found in UNCLEAR.finditer(word))
    return HIDDEN if has_secret or any(any(map(str.isdigit, run)) for run in runs) else word


def shown_address(url: str) -> str:
    """Return an address without user, query and fragment, which may have secrets."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return HIDDEN
    path = parts.path if not UNCLEAR.search(parts.path) else f"/{HIDDEN}"
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}{path}"
