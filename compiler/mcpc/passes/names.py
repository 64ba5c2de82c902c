"""Ask whether every name is one that all clients accept, and whether only one definition has it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.ir import Foreign
from mcpc.ir.places import place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Prompt, Resource, ResourceTemplate, Server, Tool

    Named = Tool | Prompt | Resource | ResourceTemplate

ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")
LONGEST = 128
LONGEST_EVERYWHERE = 64
ALLOWED = f"1 to {LONGEST} of `A-Z a-z 0-9 _ . -`"


def names(server: Server) -> Diagnostics:
    """Report names that repeat, that the protocol does not allow, and that some clients refuse."""
    kinds: tuple[tuple[str, tuple[Named, ...]], ...] = (
        ("tool", server.tools),
        ("prompt", server.prompts),
        ("resource", server.resources),
        ("resource template", server.templates),
    )
    problems: list[Diagnostic] = []
    for kind, nodes in kinds:
        problems += _repeated(kind, nodes, server)
        judge = _illegal if kind in CALLED_BY_NAME else _nameless
        problems += (problem for node in nodes for problem in judge(kind, node))
    return tuple(problems)


CALLED_BY_NAME = ("tool", "prompt")
"""A resource is asked for by its uri: its name is for people, unless a function has to be found by it."""


def _nameless(kind: str, node: Named) -> Iterator[Diagnostic]:
    """Yield what a resource's name cannot be."""
    wants_function = node.handler is not None and not isinstance(node.handler, Foreign) and not node.handler.file
    if not node.name.strip():
        yield diagnose("MCP105", node.span, f"the name of a {kind} is empty", "what people call it")
    elif wants_function and ILLEGAL.search(node.name):
        yield from _illegal(kind, node)


def _repeated(kind: str, nodes: tuple[Named, ...], server: Server) -> Iterator[Diagnostic]:
    firsts: dict[str, Named] = {}
    for node in nodes:
        first = firsts.setdefault(node.name, node)
        if first is not node:
            hint = f"the first is at {place(first.span, server.sources)}; rename or remove one of them"
            yield diagnose("MCP104", node.span, f"two {kind}s are called `{node.name}`", "", hint)


def _illegal(kind: str, node: Named) -> Iterator[Diagnostic]:
    subject, length = f"the name of a {kind}", len(node.name)
    wrong = ILLEGAL.search(node.name)
    if not node.name:
        yield diagnose("MCP105", node.span, f"{subject} is empty", ALLOWED)
    elif wrong:
        yield diagnose("MCP105", node.span, f"{subject} contains {_shown(wrong[0])}", ALLOWED, _legal(node.name))
    elif length > LONGEST:
        yield diagnose("MCP105", node.span, f"{subject} has {length} characters", ALLOWED)
    elif length > LONGEST_EVERYWHERE:
        hint = f"some clients refuse names of more than {LONGEST_EVERYWHERE} characters"
        yield diagnose("MCP106", node.span, f"{subject} has {length} characters", "", hint)


def _shown(character: str) -> str:
    return f"`{character}`" if character.isprintable() and character != " " else f"U+{ord(character):04X}"


def _legal(name: str) -> str:
    """Return a hint with the nearest name that is allowed."""
    near = ILLEGAL.sub("_", name).strip("_")
    return f"`{near}` would be allowed" if near else ""
