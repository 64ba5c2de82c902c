"""Run all rules over servers and return the findings, sorted and without duplicates.

What is said about one text with one code is one finding: the first, which is the most specific.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.visible import visible
from mcpc.release.scan.codes import CODES
from mcpc.release.scan.model import RISKS, Finding, ServerTexts
from mcpc.release.scan.pins import compare_pins
from mcpc.release.scan.rules import GROUP_RULES, MACHINE_RULES, NEIGHBOUR_RULES, SERVER_RULES, TEXT_RULES
from mcpc.release.scan.rules.credentials import masked
from mcpc.release.scan.texts import server_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.release.scan.model import Hit, ScannedServer
    from mcpc.release.scan.pins import Pins

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
        for group_rule in GROUP_RULES:
            found += group_rule(read)
    for machine_rule in MACHINE_RULES:
        found += machine_rule(everything)
    return in_order_of_risk(findings(found))


def scan_pins(servers: Sequence[ScannedServer], pins: Pins) -> tuple[Finding, ...]:
    """Return what differs from the pins of a file."""
    found = ((ServerTexts(server, ()), hit) for server, hit in compare_pins(servers, pins))
    return in_order_of_risk(findings(found))


def _of_server(server: ServerTexts, others: Sequence[ServerTexts]) -> Iterator[Hit]:
    for text in server.texts:
        for text_rule in TEXT_RULES:
            yield from text_rule(text)
    for server_rule in SERVER_RULES:
        yield from server_rule(server)
    for neighbour_rule in NEIGHBOUR_RULES:
        yield from neighbour_rule(server, others)


def findings(hits: Iterable[tuple[ServerTexts, Hit]]) -> Iterator[Finding]:
    """Yield hits as findings; of those with the same code at the same place the first."""
    seen: set[tuple[str, str, str]] = set()
    for server, hit in hits:
        key = (f"{server.server.target}\n{server.server.name}", hit.code, hit.text.pointer or hit.text.location)
        if key not in seen:
            seen.add(key)
            yield finding_of(server.server, hit)


def finding_of(server: ScannedServer, hit: Hit) -> Finding:
    """Return a hit with its message, its excerpt and its position in a project."""
    row = CODES[hit.code]
    message = f"{row.title}: {masked(hit.detail)}" if hit.detail else row.title
    position = server.locate(hit) if server.locate else None
    return Finding(
        hit.code, row.risk, server.name, server.target, hit.text, visible(message), excerpt_of(hit), position
    )


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


def in_order_of_risk(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings sorted by server, risk, code and place."""
    return tuple(
        sorted(
            found,
            key=lambda one: (one.target, one.server, RISKS.index(one.risk), one.code, one.text.pointer, one.text.item),
        )
    )
