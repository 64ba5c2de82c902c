"""Which definitions want a handler: all tools and prompts, and what of the rest has no content of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.definitions.handling import command
from mcpc.lower.handlers import Claim
from mcpc.lower.parts import member
from mcpc.lower.resources import ref_of, wants_function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.definitions import Bound, Definition
    from mcpc.ir import Handler
    from mcpc.sources import Node

Written = tuple[str, "Node", "Bound | None", "Handler | None"]
Claimed = tuple[str, "Node", "Claim | None"]


def claimed(definition: Definition) -> tuple[list[Claimed], bool]:
    """Return every definition that can be made, with its claim if it wants a handler; and whether none was left out."""
    found: list[Claimed] = []
    complete = True
    names = dict(_names(definition))
    for kind, node, bound, handler in _written(definition):
        is_handled = bound is not None or handler is not None or command(node) is not None
        if kind in CONTENT and not is_handled and not wants_function(kind, node):
            found.append((kind, node, None))
            continue
        claim = _claim_of_completion(node, bound, names) if kind == "completion" else _claim(kind, node, bound)
        claim = replace(claim, handler=handler) if claim is not None and handler is not None else claim
        complete = complete and claim is not None
        found += [] if claim is None else [(kind, node, claim)]
    return found, complete


NOBODY = " "
"""In the place of a name that is not there, which is reported as such: no function is looked for."""
CONTENT = ("resource", "resource template", "completion")
"""What may be without a handler."""


def _written(definition: Definition) -> Iterator[Written]:
    for kind, written in (
        ("tool", definition.tools),
        ("prompt", definition.prompts),
        ("resource", definition.resources),
        ("resource template", definition.templates),
        ("completion", definition.completions),
    ):
        yield from ((kind, one.node, one.bound, one.handler) for one in written)


def _names(definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield the name of each template by what it matches."""
    for template in definition.templates:
        name, uri = member(template.node, "name", "string"), member(template.node, "uriTemplate", "string")
        if name is not None and uri is not None:
            yield str(uri.value), str(name.value)


def _claim(kind: str, node: Node, bound: Bound | None) -> Claim | None:
    name = member(node, "name", "string")
    return None if name is None else Claim(kind, str(name.value), name.span, bound, command(node))


def _claim_of_completion(node: Node, bound: Bound | None, names: dict[str, str]) -> Claim | None:
    """Return the claim of a completion: its function is called by what it completes, and by the argument."""
    argument, (kind, named) = member(node, "argument", "string"), ref_of(node)
    if argument is None or named is None:
        return None
    owner = str(named.value) if kind == "prompt" else names.get(str(named.value), NOBODY)
    called = f"the completion of `{argument.value}` of the {kind} `{named.value}`"
    return Claim("completion", f"{owner}_{argument.value}", argument.span, bound, command(node), called)
