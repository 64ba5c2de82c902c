"""`ScanReport`: what every format shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.release.scan.model import RISKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.release.scan.model import Finding, Risk, ScannedServer

LISTS = {"tools": "tool", "prompts": "prompt", "resources": "resource", "resourceTemplates": "template"}


@dataclass(frozen=True, slots=True)
class ScanReport:
    """The servers of a scan and its findings in order.

    `ignored`: how many findings are left out; `base`: the URI of the working folder; `width`: columns of the text.
    """

    servers: Sequence[ScannedServer]
    findings: Sequence[Finding]
    ignored: int = 0
    base: str = ""
    width: int = 80

    def of(self, server: ScannedServer) -> list[Finding]:
        """Return the findings of one server."""
        return [one for one in self.findings if (one.server, one.target) == (server.name, server.target)]

    def counts(self) -> dict[Risk, int]:
        """Return how many findings there are of each risk."""
        return {risk: sum(one.risk is risk for one in self.findings) for risk in RISKS}


def summary_of_counts(report: ScanReport) -> str:
    """Return the numbers of findings in words."""
    counts = [f"{count} {risk}" for risk, count in report.counts().items() if count]
    found = ", ".join(counts) if counts else "no findings"
    return f"{found}; {report.ignored} ignored" if report.ignored else found


def offers_of(server: ScannedServer) -> str:
    """Return the numbers of a server's definitions in words; why there are none of one that was not asked."""
    if server.entry is not None and not server.lists:
        return server.unread
    found = []
    for key, word in LISTS.items():
        items = server.lists.get(key)
        count = len(items) if isinstance(items, list) else 0
        if count:
            found.append(f"{count} {word}{'s' if count > 1 else ''}")
    return ", ".join(found) or "no definitions"
