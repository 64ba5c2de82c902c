"""Ask whether a person who reads a project can see everything that a model is shown.

Some characters cannot be seen, or make text look as if it stood in another order.  Instructions to a model have been
hidden behind them, so they are refused everywhere (`mcpc.sources.hidden`): in names, descriptions and every other
string of a definition, down to the values inside schemas; in all of a skill; in resources and answers compiled in.
Control characters are allowed in a regular expression: there they are what it refuses, and they can say nothing.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.ir import Contents, Foreign
from mcpc.sources.hidden import hidden, what, without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Server
    from mcpc.ir.skills import SkillFile
    from mcpc.sources import Node

VALUES, KEYS = "pattern", "patternProperties"
"""Whose value, and whose keys, are regular expressions."""
KNOWN = frozenset({"known", "mcp_bash_prompt"})
"""Contracts whose facts are texts that models are shown."""
BYTE_ORDER_MARK = "\ufeff"


def texts(server: Server) -> Diagnostics:
    """Report every text of the server that hides something."""
    kinds = (server.tools, server.prompts, server.resources, server.templates, server.completions)
    nodes = [server.node, *(definition.members for kind in kinds for definition in kind)]
    found = [problem for node in nodes for problem in _hidden(node, "the text", "")]
    found += (problem for skill in server.skills for file in skill.files for problem in _in_file(file))
    for read in server.readable:
        if isinstance(read.content, Contents) and read.content.data not in _written(read.members):
            found += _in_contents(read.content, read.span)
    for one in server.definitions:
        if isinstance(one.handler, Foreign) and one.handler.contract in KNOWN:
            found += (problem for text in _strings(one.handler.facts) for problem in _shown(text, one.span))
    return tuple(dict.fromkeys(found))


def _hidden(node: Node, label: str, owner: str) -> Iterator[Diagnostic]:
    """Yield the strings at and below `node`; `owner` is the key under which it stands."""
    if isinstance(node.value, str):
        yield from _problem(node.value, node.span, label, controls=owner != VALUES)
    for item in node.items:
        yield from _hidden(item, f"an item of {label}", "")
    for member in node.members:
        yield from _problem(member.key, member.key_span, "a name", controls=owner != KEYS)
        yield from _hidden(member.node, f"`{member.key}`", member.key)


def _in_file(file: SkillFile) -> Iterator[Diagnostic]:
    """Yield what a file of a skill hides, at its first place, if it is text."""
    try:
        text = file.source.data.decode("utf-8")
    except UnicodeDecodeError:
        return
    body = text.removeprefix(BYTE_ORDER_MARK)
    if "\0" in body:
        return
    found = hidden(body)
    if found:
        start = text.index(found[0], len(text) - len(body))
        span = Span(file.source.path, start, start + 1)
        yield from _problem(body, span, "the file", controls=True)


def _written(node: Node) -> set[str]:
    """Return the texts that a definition has as its members: those are reported where they stand."""
    return {member.node.value for member in node.members if isinstance(member.node.value, str)}


def _in_contents(content: Contents, span: Span) -> Iterator[Diagnostic]:
    if not content.is_blob:
        yield from _shown(content.data.removeprefix(BYTE_ORDER_MARK), span)


def _shown(text: str, span: Span) -> Iterator[Diagnostic]:
    yield from _problem(text, span, "what it answers", controls=True)


def _strings(value: object) -> Iterator[str]:
    """Yield the texts of plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _problem(text: str, span: Span, label: str, *, controls: bool) -> Iterator[Diagnostic]:
    found = hidden(text, controls=controls)
    if not found:
        return
    others = f"; also {', '.join(map(_point, found[1:4]))}" if found[1:] else ""
    message = f"{without(label, hidden(label))} contains {_named(found[0])}{others}"
    yield diagnose("MCP701", span, message, "", "remove it: what a model reads, a person must be able to see")


def _named(character: str) -> str:
    return " ".join(filter(None, (_point(character), unicodedata.name(character, "")))) + f", {what(character)}"


def _point(character: str) -> str:
    return f"U+{ord(character):04X}"
