"""Run all rules over servers and return the findings, without those that people have approved.

What is said about one text with one code is one finding: the first, which is the most specific.

Pins of definitions tell when one changes; a file of pins has digests only, so that it is small and shows nothing of a
server.  A snapshot is read as pins, too.  A finding is ignored by its code and its place:

    ignore = ["SCAN501 tool login", "SCAN205"]          # [tool.mcpc.scan] of pyproject.toml

A place is `tool NAME`, `tool NAME: FIELD`, `prompt NAME`, `entry NAME`, `file PATH` or `server`, with `*` for any
characters.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics.formats.visible import visible
from mcpc.reading.toml import parse_toml
from mcpc.release.scan.entries import find_different_entries, find_in_entry
from mcpc.release.scan.hidden_text import find_hidden_text
from mcpc.release.scan.leaks import find_credentials, find_links, masked
from mcpc.release.scan.model import CODES, RISKS, Finding, Hit, Role, ServerTexts, Text
from mcpc.release.scan.orders import find_orders, find_same_names
from mcpc.release.scan.texts import IDENTIFIERS, KINDS, server_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.release.scan.model import ScannedServer

    Pins = Mapping[str, Mapping[str, str]]


FORMAT = "mcpc-pins-1"
MAX_PIN_BYTES = 16 << 20
SETTINGS = frozenset({"ignore"})


class PinError(ValueError):
    """A file has no pins; the message says what was found instead."""


def pins_of(servers: Sequence[ScannedServer]) -> Pins:
    """Return the digests of all definitions by server, and by kind and name."""
    pins: dict[str, dict[str, str]] = {}
    for server in servers:
        pins.setdefault(server.name, {}).update((place, digest) for place, _, digest in _definitions(server.lists))
    return pins


def pins_text(pins: Pins) -> str:
    """Return the text of a file of pins: the same for the same servers."""
    return json.dumps({"format": FORMAT, "servers": pins}, indent=2, sort_keys=True) + "\n"


def parse_pins(data: bytes) -> Pins:
    """Return the pins of a file, or of a snapshot; raise PinError."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise PinError("it is not JSON") from None
    servers = value.get("servers") if isinstance(value, dict) else None
    if isinstance(servers, dict) and value.get("format") == FORMAT:
        rows = [row for row in servers.values() if isinstance(row, dict)]
        if len(rows) == len(servers) and all(isinstance(digest, str) for row in rows for digest in row.values()):
            return servers
        raise PinError("its pins are damaged")
    if isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("tools"), list):
        return {value["name"]: {place: digest for place, _, digest in _definitions(value)}}
    raise PinError("it has neither pins nor a snapshot")


def compare_pins(servers: Sequence[ScannedServer], pins: Pins) -> Iterator[tuple[ScannedServer, Hit]]:
    """Yield what differs: definitions that changed, that are new, and that are gone."""
    for server in servers:
        pinned = pins.get(server.name, {})
        seen: set[str] = set()
        for place, text, digest in _definitions(server.lists):
            seen.add(place)
            if place not in pinned:
                yield server, Hit("SCAN702", text)
            elif pinned[place] != digest:
                yield server, Hit("SCAN701", text)
        for place in sorted(pinned.keys() - seen):
            kind, _, name = place.partition(" ")
            yield server, Hit("SCAN703", Text(kind, name, "", f"/pins/{place}", Role.SYNTAX, ""))


def _definitions(lists: Mapping[str, Any]) -> Iterator[tuple[str, Text, str]]:
    """Yield each definition: its kind and name, its text, and its digest."""
    if lists.get("instructions"):
        text = Text("server", "", "instructions", "/instructions", Role.PROSE, "")
        yield "server instructions", text, digest_of(lists["instructions"])
    for key, kind in KINDS.items():
        items = lists.get(key)
        for number, item in enumerate(items if isinstance(items, list) else ()):
            name = str(item.get(IDENTIFIERS[key], "")) if isinstance(item, dict) else ""
            yield f"{kind} {name}", Text(kind, name, "", f"/{key}/{number}", Role.SYNTAX, ""), digest_of(item)


def digest_of(definition: object) -> str:
    """Return the digest of a definition, whatever the order of its members."""
    # With ASCII only, a lone surrogate can be encoded, too.
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


class IgnoreError(ValueError):
    """An entry of `ignore` cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """One entry: a code, and the places; all places if that is empty."""

    code: str
    place: str = ""

    def matches(self, finding: Finding) -> bool:
        if finding.code != self.code:
            return False
        # An entry for a definition covers its fields, one for a field what is below it.
        return not self.place or any(
            fnmatchcase(finding.location, pattern) for pattern in (self.place, f"{self.place}: *", f"{self.place}.*")
        )

    def __str__(self) -> str:
        """Return the entry as it is written."""
        return f"{self.code} {self.place}".strip()


def parse_ignored(entries: Iterable[str]) -> tuple[Ignored, ...]:
    """Return entries; raise IgnoreError for an unknown code."""
    ignored = []
    for entry in entries:
        code, _, place = entry.strip().partition(" ")
        if code not in CODES:
            raise IgnoreError(f"`{entry}` does not begin with a code of a scan, such as SCAN501")
        ignored.append(Ignored(code, place.strip()))
    return tuple(ignored)


def project_ignored(text: str) -> tuple[Ignored, ...]:
    """Return the entries of a `pyproject.toml`; raise IgnoreError."""
    try:
        # `tomllib` refuses a byte order mark.
        table = parse_toml(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return ()  # a check of the project reports it
    for key in ("tool", "mcpc", "scan"):
        table = table.get(key, {})
        if not isinstance(table, dict):
            raise IgnoreError("`[tool.mcpc.scan]` is not a table")
    unknown = sorted(table.keys() - SETTINGS)
    entries = table.get("ignore", [])
    if unknown:
        raise IgnoreError(f"`[tool.mcpc.scan]` has no setting `{unknown[0]}`; expected `ignore`")
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise IgnoreError('`ignore` of `[tool.mcpc.scan]` is not a list of texts such as "SCAN501 tool login"')
    return parse_ignored(entries)


def without_ignored(
    findings: Sequence[Finding], ignored: Sequence[Ignored]
) -> tuple[tuple[Finding, ...], tuple[Ignored, ...]]:
    """Return the findings that are not ignored, and the entries that match nothing."""
    left = tuple(finding for finding in findings if not any(entry.matches(finding) for entry in ignored))
    unused = tuple(entry for entry in ignored if not any(entry.matches(finding) for finding in findings))
    return left, unused


TEXT_RULES = (find_hidden_text, find_credentials, find_links)
AROUND = 48
"""Characters of a text that are shown before and after what was found."""
MAX_EXCERPT = 200


def scan_servers(servers: Sequence[ScannedServer]) -> tuple[Finding, ...]:
    """Return what the rules find in servers that are used together."""
    return scan_groups([servers])


def scan_groups(groups: Iterable[Sequence[ScannedServer]]) -> tuple[Finding, ...]:
    """Return what the rules find in servers of which those of one group are used together, as by one client."""
    hits: list[tuple[ServerTexts, Hit]] = []
    everything: list[ServerTexts] = []
    for group in groups:
        read = [server_texts(server) for server in group]
        everything += read
        for server in read:
            hits += ((server, hit) for hit in _of_server(server, [other for other in read if other is not server]))
        hits += find_same_names(read)
    return _findings([*hits, *find_different_entries(everything)])


def scan_pins(servers: Sequence[ScannedServer], pins: Pins) -> tuple[Finding, ...]:
    """Return what differs from the pins of a file."""
    return _findings((ServerTexts(server, ()), hit) for server, hit in compare_pins(servers, pins))


def _of_server(server: ServerTexts, others: Sequence[ServerTexts]) -> Iterator[Hit]:
    for text in server.texts:
        for rule in TEXT_RULES:
            yield from rule(text)
    yield from find_orders(server, others)
    yield from find_in_entry(server)


def _findings(hits: Iterable[tuple[ServerTexts, Hit]]) -> tuple[Finding, ...]:
    """Return hits by server, risk, code and place; of those with the same code at the same place the first."""
    first: dict[tuple[str, ...], tuple[ScannedServer, Hit]] = {}
    for texts, hit in hits:
        server = texts.server
        # Files have no pointer.
        first.setdefault((server.target, server.name, hit.code, hit.text.pointer or hit.text.location), (server, hit))
    findings = [_finding(server, hit) for server, hit in first.values()]
    return tuple(
        sorted(
            findings,
            key=lambda one: (one.target, one.server, RISKS.index(one.risk), one.code, one.text.pointer, one.text.item),
        )
    )


def _finding(server: ScannedServer, hit: Hit) -> Finding:
    """Return a hit with its message, its excerpt and its position in a project."""
    row = CODES[hit.code]
    message = visible(f"{row.title}: {masked(hit.detail)}" if hit.detail else row.title)
    position = server.locate(hit) if server.locate else None
    return Finding(hit.code, row.risk, server.name, server.target, hit.text, message, excerpt_of(hit), position)


def excerpt_of(hit: Hit) -> str:
    """Return what was found with some characters around it; what could hide or control something is escaped."""
    if hit.excerpt:
        return visible(" ".join(hit.excerpt.split()), MAX_EXCERPT)
    if hit.start == hit.end:
        return ""
    # It keeps its length, so that the places of the hit remain valid.
    text = masked(hit.text.text)
    start, end = max(0, hit.start - AROUND), min(len(text), hit.end + AROUND, hit.start + MAX_EXCERPT)
    excerpt = visible(text[start:end].replace("\n", " ").strip(" "), MAX_EXCERPT)
    return f"{'…' * (start > 0)}{excerpt}{'…' * (end < len(text))}"
