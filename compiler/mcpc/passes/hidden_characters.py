"""Check that no text of a server contains characters that a reader of the project cannot see.

Some characters are invisible or change the displayed order of text. They have been used to hide instructions to a
model, so they are refused everywhere: in names, descriptions and all other strings of a definition, including values
inside schemas; in all files of a skill; in static resources and results. Control characters are allowed in regular
expressions, which may need to match them.

The characters are those of `mcpc.reading.hidden_characters`.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.model.ir import ExternalHandler, StaticContents
from mcpc.reading.hidden_characters import describe_hidden, hidden_characters, remove_characters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Server
    from mcpc.model.ir.nodes import SkillFile
    from mcpc.reading import Node

VALUES, KEYS = "pattern", "patternProperties"
"""Keywords whose value, and whose keys, are regular expressions."""
BYTE_ORDER_MARK = "\ufeff"


def check_hidden_characters(server: Server) -> Diagnostics:
    """Report every text of the server with hidden characters."""
    kinds = (server.tools, server.prompts, server.resources, server.templates, server.completions)
    nodes = [server.node, *(definition.node for kind in kinds for definition in kind)]
    problems = [problem for node in nodes for problem in _hidden(node, "the text", "")]
    problems += (problem for skill in server.skills for file in skill.files for problem in _in_file(file))
    for read in server.readable:
        if isinstance(read.content, StaticContents) and read.content.data not in _written(read.node):
            problems += _in_contents(read.content, read.span)
    for item in server.definitions:
        if isinstance(item.handler, ExternalHandler) and item.handler.answers:
            problems += (problem for text in _strings(item.handler.facts) for problem in _shown(text, item.span))
    return tuple(dict.fromkeys(problems))


def _hidden(node: Node, label: str, owner: str) -> Iterator[Diagnostic]:
    """Yield diagnostics for the strings at and below `node`; `owner` is the key that contains it."""
    if isinstance(node.value, str):
        yield from _problem(node.value, node.span, label, controls=owner != VALUES)
    for item in node.items:
        yield from _hidden(item, f"an item of {label}", "")
    for member in node.members:
        yield from _problem(member.key, member.key_span, "a name", controls=owner != KEYS)
        yield from _hidden(member.node, f"`{member.key}`", member.key)


def _in_file(file: SkillFile) -> Iterator[Diagnostic]:
    """Yield the first hidden character of a skill's file, if it is text."""
    try:
        text = file.source.data.decode("utf-8")
    except UnicodeDecodeError:
        return
    body = text.removeprefix(BYTE_ORDER_MARK)
    # Bytes that are not a text may be valid UTF-8.
    if "\0" in body:
        return
    characters = hidden_characters(body)
    if characters:
        # From behind the byte order mark, which is a hidden character anywhere else.
        start = text.index(characters[0], len(text) - len(body))
        span = Span(file.source.path, start, start + 1)
        yield from _problem(body, span, "the file", controls=True)


def _written(node: Node) -> set[str]:
    """Return the texts that are members of a definition; they are reported at their own positions."""
    return {member.node.value for member in node.members if isinstance(member.node.value, str)}


def _in_contents(content: StaticContents, span: Span) -> Iterator[Diagnostic]:
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
    if text.isascii() and text.isprintable():
        return
    characters = hidden_characters(text, controls=controls)
    if not characters:
        return
    others = f"; also {', '.join(map(_point, characters[1:4]))}" if characters[1:] else ""
    message = f"{remove_characters(label, hidden_characters(label))} contains {_named(characters[0])}{others}"
    yield diagnose("MCP701", span, message, "", "remove it: people must be able to see what a model reads")


def _named(character: str) -> str:
    named = " ".join(filter(None, (_point(character), unicodedata.name(character, ""))))
    return f"{named}, {describe_hidden(character)}"


def _point(character: str) -> str:
    return f"U+{ord(character):04X}"
