"""Texts within the constraints of a branch: lengths, patterns, formats, and texts that are excluded.

Formats are opaque: a proof holds whatever a format accepts, and a text that has one comes from a table of examples.
"""

from __future__ import annotations

import json
import re
import string
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.release.subsumption.patterns import TextSearch, TextSet, UndecidablePatternError
from mcpc.release.subsumption.search import value_key
from mcpc_runtime.protocol.validation.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXAMPLES = {
    "date": ("2024-02-29", "1999-12-31"),
    "date-time": ("2024-02-29T12:30:00Z", "1999-12-31T23:59:59.5+01:00"),
    "duration": ("P1D", "PT1H30M"),
    "email": ("a@example.com", "someone@example.org"),
    "hostname": ("example.com", "a"),
    "idn-email": ("a@example.com", "ü@example.com"),
    "idn-hostname": ("example.com", "bücher.example"),
    "ipv4": ("127.0.0.1", "192.0.2.1"),
    "ipv6": ("::1", "2001:db8::1"),
    "iri": ("https://example.com/ü", "https://example.com/a"),
    "iri-reference": ("a", "/ü", "https://example.com/ü"),
    "json-pointer": ("", "/a"),
    "regex": ("a", "[a-z]+"),
    "relative-json-pointer": ("0", "1/a"),
    "time": ("12:30:00Z", "23:59:59+01:00"),
    "uri": ("https://example.com/a", "urn:a:b"),
    "uri-reference": ("a", "/a", "https://example.com/a"),
    "uri-template": ("a", "https://example.com/{a}"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"),
}
INCLUDED = {
    ("uri", "uri-reference"), ("uri", "iri"), ("uri", "iri-reference"), ("iri", "iri-reference"),
    ("uri-reference", "iri-reference"), ("email", "idn-email"), ("hostname", "idn-hostname"),
}  # fmt: skip
"""Formats, and those that accept all that they accept, by the RFCs that define them."""
PROBES = ("", "a", "0", " ", "~", "a b", "{", "[", "%", "http://[", "http://example.com/ü", "ü", "a@b", "2024-02-30")
LONG = "x" * 300
MAX_PLAIN = 1_000_000
MAX_EXCLUDED = 20
SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|/]")


@dataclass(frozen=True, slots=True)
class StringConstraints:
    """What a branch demands of a text."""

    texts: TextSet
    formats: frozenset[str] = frozenset()
    other_formats: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()  # keys

    def is_contradictory(self) -> bool:
        """Tell whether no text is possible, whatever formats and patterns mean."""
        accepted = self.formats.union(wide for narrow, wide in INCLUDED if narrow in self.formats)
        texts = self.texts
        is_short = texts.most is not None and texts.most < texts.least
        return is_short or bool(accepted & self.other_formats) or bool({*texts.matching} & {*texts.others})

    def fits_formats(self, text: str) -> bool:
        """Tell whether a text has the formats, and has not the others."""
        has = all(FORMATS[name](text) for name in self.formats if name in FORMATS)
        return has and not any(name not in FORMATS or FORMATS[name](text) for name in self.other_formats)


def strings_of(wanted: StringConstraints, count: int, spend: Callable[[int], None]) -> tuple[list[str], bool]:
    """Return up to `count` texts, and whether there are no others."""
    if wanted.is_contradictory():
        return [], True
    has_formats = bool(wanted.formats or wanted.other_formats)
    if not (has_formats or wanted.texts.matching or wanted.texts.others):
        return _plain(wanted, count)
    try:
        search: Iterator[str] = iter(TextSearch(_without_excluded(wanted), spend))
        if not has_formats:
            return _texts(wanted, count, search)
        is_empty = next(search, None) is None
    except UndecidablePatternError:
        return _examples(wanted, count), False
    return ([], True) if is_empty else (_examples(wanted, count), False)


def _without_excluded(wanted: StringConstraints) -> TextSet:
    """Return the texts without those that are excluded, as far as these are few: each is a pattern."""
    values = (json.loads(key) for key in sorted(wanted.excluded)[:MAX_EXCLUDED])
    literals = (f"^{SPECIAL.sub(_escape, value)}$" for value in values if isinstance(value, str))
    return replace(wanted.texts, others=(*wanted.texts.others, *literals))


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _plain(wanted: StringConstraints, count: int) -> tuple[list[str], bool]:
    """Return texts on which there are only bounds of length; there is no end of them, but for the empty text."""
    least, most = wanted.texts.least, wanted.texts.most
    if least > MAX_PLAIN:
        return [], False
    lengths = [length for length in range(least, least + 2) if most is None or length <= most]
    letters = [*string.ascii_lowercase, *map(chr, range(0x400, 0x400 + count + len(wanted.excluded)))]
    candidates = dict.fromkeys(letter * length for letter in letters for length in lengths)
    found = [text for text in candidates if value_key(text) not in wanted.excluded]
    return found[:count], most == 0 and len(found) <= count


def _texts(wanted: StringConstraints, count: int, search: Iterator[str]) -> tuple[list[str], bool]:
    found: list[str] = []
    reached = False
    for text in search:
        reached = True
        if value_key(text) not in wanted.excluded:
            found.append(text)
        if len(found) >= count:
            return found, False
    if not reached:
        return [], True
    return found, False


def _examples(wanted: StringConstraints, count: int) -> list[str]:
    """Return texts of tables that have the formats and lengths; patterns are judged later."""
    candidates = [text for name in sorted(wanted.formats) for text in EXAMPLES.get(name, ())]
    candidates += [*PROBES, LONG]
    most = wanted.texts.most
    return [
        text
        for text in candidates
        if wanted.fits_formats(text)
        and value_key(text) not in wanted.excluded
        and len(text) >= wanted.texts.least
        and (most is None or len(text) <= most)
    ][:count]
