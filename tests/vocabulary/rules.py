"""The table "Replaced words" of `docs/glossary.md` as rules for names and for text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = "docs/glossary.md"
HEADING = "## Replaced words"
TERM = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Rules:
    """Names that are refused as a whole, and an expression that finds refused phrases in text."""

    names: frozenset[str]
    phrases: re.Pattern[str]
    excepted: re.Pattern[str]

    def refused_phrases(self, text: str) -> list[str]:
        """Return the refused phrases of a text, in lower case and in their order."""
        rest = self.excepted.sub(" ", " ".join(text.split()))
        return [" ".join(found[0].lower().split()) for found in self.phrases.finditer(rest)]


def read_rules(text: str) -> Rules:
    """Parse the table of a glossary; raise ValueError if a row has another shape."""
    names: set[str] = set()
    phrases: set[str] = set()
    excepted: set[str] = set()
    for row in table(text):
        refused = TERM.findall(row["not"])
        if row["in"] not in ("names", "text") or not refused or not row["but"]:
            raise ValueError(f"{GLOSSARY}: unreadable row: {row}")
        (names if row["in"] == "names" else phrases).update(refused)
        excepted.update(TERM.findall(row["except"]))
    return Rules(frozenset(names), expression(phrases), expression(excepted))


def table(text: str) -> list[dict[str, str]]:
    """Return the rows of the table, by the titles of the columns."""
    lines = [line for line in text.partition(f"{HEADING}\n")[2].splitlines() if line.startswith("|")]
    titles, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(titles, row, strict=True)) for row in rows if set("".join(row)) - set("-")]


def expression(phrases: set[str]) -> re.Pattern[str]:
    """Return what finds any of these phrases as whole words; `X` is any word."""
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    written = (re.escape(phrase).replace("X", r"[\w`]+") for phrase in longest_first)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(written) or '(?!)'})(?![\w-])", re.IGNORECASE)
