"""Run all rules over servers and return the findings, sorted and without duplicates.

What is said about one text with one code is one finding: the first, which is the most specific.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.visible import visible
from mcpc.release.scan.approved import compare_pins
from mcpc.release.scan.codes import CODES
from mcpc.release.scan.entries import find_different_entries, find_in_entry
from mcpc.release.scan.hidden_text import find_hidden_text
from mcpc.release.scan.leaks import find_credentials, find_links, masked
from mcpc.release.scan.model import RISKS, Finding, ServerTexts
from mcpc.release.scan.orders import find_orders, find_same_names
from mcpc.release.scan.texts import server_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.release.scan.approved import Pins
    from mcpc.release.scan.model import Hit, ScannedServer

TEXT_RULES = (find_hidden_text, find_credentials, find_links)
AROUND = 48
"""Characters of a text that are shown before and after what was found."""
MAX_EXCERPT = 200


def scan_servers(servers: Sequence[ScannedServer]) -> tuple[Finding, ...]:
    """Return what the rules find in servers that are used together."""
    return scan_groups([servers])


def scan_groups(groups: Iterable[Sequence[ScannedServer]]) -> tuple[Finding, ...]:
    """Return what the rules find in servers of which those of one group are used together, as by one client."""
    found: list[tuple[ServerTexts, Hit]] = []
    everything: list[ServerTexts] = []
    for group in groups:
        read = [server_texts(server) for server in group]
        everything += read
        for server in read:
            found += ((server, hit) for hit in _of_server(server, [other for other in read if other is not server]))
        found += find_same_names(read)
    return _findings([*found, *find_different_entries(everything)])


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
        first.setdefault((server.target, server.name, hit.code, hit.text.pointer or hit.text.location), (server, hit))
    found = [_finding(server, hit) for server, hit in first.values()]
    return tuple(
        sorted(
            found,
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
    text = masked(hit.text.text)
    start, end = max(0, hit.start - AROUND), min(len(text), hit.end + AROUND, hit.start + MAX_EXCERPT)
    shown = visible(text[start:end].replace("\n", " ").strip(" "), MAX_EXCERPT)
    return f"{'…' * (start > 0)}{shown}{'…' * (end < len(text))}"
