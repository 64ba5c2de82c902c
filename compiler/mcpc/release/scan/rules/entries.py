"""Entries of servers in clients' files: secrets, downloads, files that others can replace, addresses, and equal names.

Nothing is started or asked for it.  A report never has a secret: it shows where one is and what it is.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcpc.release.scan.client_entries import ADDRESS, WORD, secret_parts, shown_address, shown_command
from mcpc.release.scan.downloads import program_name, unfixed_package, unwrapped
from mcpc.release.scan.model import Hit, Role, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.release.scan.client_entries import ClientEntry
    from mcpc.release.scan.model import ServerTexts

KIND = "entry"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def find_in_entry(server: ServerTexts) -> Iterator[Hit]:
    """Yield what is wrong with the entry of a server."""
    entry, name = server.server.entry, server.server.name
    if entry is not None:
        yield from _secrets(entry, name)
        yield from _downloads(entry, name)
        yield from _replaceable(entry, name)
        yield from _unencrypted(entry, name)


def _secrets(entry: ClientEntry, name: str) -> Iterator[Hit]:
    code = "SCAN802" if entry.is_shared else "SCAN801"
    for part, what in secret_parts(entry):
        yield Hit(code, _text(name, part.pointer), detail=f"{what} ({len(part.value)} characters)")


def _downloads(entry: ClientEntry, name: str) -> Iterator[Hit]:
    package = unfixed_package([part.value for part in entry.of(WORD)])
    if package:
        at = next((part for part in entry.of(WORD) if package in part.value), entry.of(WORD)[0])
        yield Hit("SCAN803", _text(name, at.pointer), detail=shown_command([package]))


def _replaceable(entry: ClientEntry, name: str) -> Iterator[Hit]:
    for path in entry.replaceable:
        at = next((part for part in entry.of(WORD) if part.value == path), entry.of(WORD)[0])
        yield Hit("SCAN804", _text(name, at.pointer), detail=path)


def _unencrypted(entry: ClientEntry, name: str) -> Iterator[Hit]:
    for part in entry.parts:
        if part.kind in (ADDRESS, WORD) and part.value.startswith("http://") and _host(part.value) not in LOOPBACK:
            yield Hit("SCAN805", _text(name, part.pointer), detail=shown_address(part.value))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def find_different_entries(servers: Sequence[ServerTexts]) -> Iterator[tuple[ServerTexts, Hit]]:
    """Yield servers that have the name of one in another client, and are another one."""
    named: dict[str, list[ServerTexts]] = defaultdict(list)
    for server in servers:
        if server.server.entry is not None:
            named[server.server.name].append(server)
    for name, same in named.items():
        first = same[0].server.entry
        for other in same[1:]:
            entry = other.server.entry
            if first is not None and entry is not None and _started(entry) != _started(first):
                yield other, Hit("SCAN806", _text(name, ""), detail=f"in {first.client}: {_shown(first)}")


def _started(entry: ClientEntry) -> tuple[str, ...]:
    """Return what an entry starts or reaches, whatever the folder of the program and the shell around it."""
    words = unwrapped(entry.started)
    return (program_name(words[0]), *words[1:]) if words else tuple(part.value for part in entry.of(ADDRESS))


def _shown(entry: ClientEntry) -> str:
    words = [part.value for part in entry.of(WORD)]
    return shown_command(words) if words else " ".join(shown_address(part.value) for part in entry.of(ADDRESS))


def _text(name: str, pointer: str) -> Text:
    return Text(KIND, name, pointer.strip("/").replace("/", "."), f"/entry{pointer}", Role.SYNTAX, "")
