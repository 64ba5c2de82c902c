"""Check that every name is accepted by all clients, and that no two definitions share a name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.model.ir import ExternalHandler

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Prompt, Resource, ResourceTemplate, Server, Tool

    Named = Tool | Prompt | Resource | ResourceTemplate

ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")
MAX_LENGTH = 128
MAX_LENGTH_EVERYWHERE = 64
ACCEPTED_EVERYWHERE = re.compile(rf"[A-Za-z0-9_.-]{{1,{MAX_LENGTH_EVERYWHERE}}}")
ALLOWED = f"1 to {MAX_LENGTH} of `A-Z a-z 0-9 _ . -`"


def check_names(server: Server) -> Diagnostics:
    """Report names that are duplicate, that the protocol does not allow, or that some clients refuse."""
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
        unusual = [node for node in nodes if not ACCEPTED_EVERYWHERE.fullmatch(node.name)]
        problems += (problem for node in unusual for problem in judge(kind, node))
    return tuple(problems)


CALLED_BY_NAME = ("tool", "prompt")
"""Kinds whose name identifies them; a resource is identified by its URI, unless a function is found by its name."""


def _nameless(kind: str, node: Named) -> Iterator[Diagnostic]:
    """Yield invalid names of resources."""
    wants_function = (
        node.handler is not None and not isinstance(node.handler, ExternalHandler) and not node.handler.file
    )
    if not node.name.strip():
        yield diagnose("MCP105", node.span, f"the name of a {kind} is empty", "what people call it")
    elif wants_function and ILLEGAL.search(node.name):
        yield from _illegal(kind, node)


def _repeated(kind: str, nodes: tuple[Named, ...], server: Server) -> Iterator[Diagnostic]:
    firsts: dict[str, Named] = {}
    for node in nodes:
        first = firsts.setdefault(node.name, node)
        if first is not node:
            hint = f"the first is at {first.span.place_in(server.sources)}; rename or remove one of them"
            yield diagnose("MCP104", node.span, f"two {kind}s have the name `{node.name}`", "", hint)


def _illegal(kind: str, node: Named) -> Iterator[Diagnostic]:
    subject, length = f"the name of a {kind}", len(node.name)
    wrong = ILLEGAL.search(node.name)
    if not node.name:
        yield diagnose("MCP105", node.span, f"{subject} is empty", ALLOWED)
    elif wrong:
        yield diagnose(
            "MCP105", node.span, f"{subject} contains {_shown(wrong[0])}", ALLOWED, _nearest_allowed(node.name)
        )
    elif length > MAX_LENGTH:
        yield diagnose("MCP105", node.span, f"{subject} has {length} characters", ALLOWED)
    elif length > MAX_LENGTH_EVERYWHERE:
        hint = f"some clients refuse names of more than {MAX_LENGTH_EVERYWHERE} characters"
        yield diagnose("MCP106", node.span, f"{subject} has {length} characters", "", hint)


def _shown(character: str) -> str:
    return f"`{character}`" if character.isprintable() and character != " " else f"U+{ord(character):04X}"


def _nearest_allowed(name: str) -> str:
    """Return a hint with the nearest name that is allowed."""
    near = ILLEGAL.sub("_", name).strip("_")
    return f"`{near}` would be allowed" if near else ""
