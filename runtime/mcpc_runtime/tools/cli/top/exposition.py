"""Reads Prometheus' text format, as far as `/metrics` of a server has it.

A line that is not of the format is left out; the text is bounded by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Labels = dict[str, str]
Samples = dict[str, list[tuple[Labels, float]]]
"""The samples by name: labels and value."""


SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)(?: \d+)?")
LABEL = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)",?')
ESCAPE = re.compile(r"\\(.)")
ESCAPES = {"n": "\n"}


def read_samples(text: str) -> Samples:
    """Return all samples of a text.  O(its length)."""
    found: Samples = {}
    for name, labels, value in _lines(text):
        found.setdefault(name, []).append((labels, value))
    return found


def _lines(text: str) -> Iterator[tuple[str, Labels, float]]:
    for line in text.split("\n"):
        if line.startswith("#"):
            continue
        sample = SAMPLE.fullmatch(line)
        if sample is None:
            continue
        try:
            value = float(sample[3])
        except ValueError:
            continue
        yield sample[1], {name: _unescaped(label) for name, label in LABEL.findall(sample[2] or "")}, value


def _unescaped(text: str) -> str:
    return ESCAPE.sub(lambda found: ESCAPES.get(found[1], found[1]), text)
