"""Ask whether a person who reads the definitions can see everything that a model is shown.

Some characters cannot be seen, or make text look as if it stood in another order.  Instructions to a model have been
hidden behind them, so they are refused everywhere: in names, descriptions and every other string of a definition, down
to the values inside schemas.  Joiners (U+200C, U+200D) are allowed, because scripts and emoji need them.  So are
control characters in a regular expression: there they are what it refuses, and they can say nothing.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.ir import Server
    from mcpc.sources import Node

HIDDEN = (
    ("\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f", "a control character"),
    ("\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f", "which reorders text"),
    ("\\u200b\\u2060\\ufeff", "which is invisible"),
    ("\\U000e0000-\\U000e007f", "an invisible tag"),
    ("\\ud800-\\udfff", "half a surrogate pair"),
)
WHAT = tuple((re.compile(f"[{characters}]"), what) for characters, what in HIDDEN)
IN_TEXT = re.compile("[" + "".join(characters for characters, _ in HIDDEN) + "]")
IN_PATTERN = re.compile("[" + "".join(characters for characters, _ in HIDDEN[1:]) + "]")
VALUES = {"pattern": IN_PATTERN}
KEYS = {"patternProperties": IN_PATTERN}


def texts(server: Server) -> Diagnostics:
    """Report every string of the server that hides something."""
    kinds = (server.tools, server.prompts, server.resources, server.templates, server.completions)
    nodes = [server.node, *(definition.members for kind in kinds for definition in kind)]
    return tuple(problem for node in nodes for problem in _hidden(node, "the text", ""))


def _hidden(node: Node, label: str, owner: str) -> Iterator[Diagnostic]:
    """Yield the strings at and below `node`; `owner` is the key under which it stands."""
    if isinstance(node.value, str):
        yield from _problem(node.value, node.span, label, VALUES.get(owner, IN_TEXT))
    for item in node.items:
        yield from _hidden(item, f"an item of {label}", "")
    for member in node.members:
        yield from _problem(member.key, member.key_span, "a name", KEYS.get(owner, IN_TEXT))
        yield from _hidden(member.node, f"`{member.key}`", member.key)


def _problem(text: str, span: Span, label: str, hidden: re.Pattern[str]) -> Iterator[Diagnostic]:
    # One search answers for nearly every string there is; only a bad one is looked at closely.
    if hidden.search(text) is None:
        return
    found = list(dict.fromkeys(hidden.findall(text)))
    others = f"; also {', '.join(map(_point, found[1:4]))}" if found[1:] else ""
    message = f"{IN_TEXT.sub('', label)} contains {_named(found[0])}{others}"
    yield diagnose("MCP701", span, message, "", "remove it: what a model reads, a person must be able to see")


def _named(character: str) -> str:
    what = next(what for characters, what in WHAT if characters.match(character))
    return " ".join(filter(None, (_point(character), unicodedata.name(character, "")))) + f", {what}"


def _point(character: str) -> str:
    return f"U+{ord(character):04X}"
