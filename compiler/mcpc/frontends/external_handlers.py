"""Native definitions whose handler belongs to another format of the project, or is a static answer.

    {"contract": "mcp-bash"}     the mcp-bash part of the project defines the handler; this describes it
    {"content": […]}             a tool with this result
    {"messages": […]}            a prompt with these messages
    {"contents": […]}            a resource with these contents

A definition that takes its handler from another one replaces that one, so that nothing is defined twice.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.model.definitions import STATIC_RESULT_KEYS, options_node
from mcpc.model.ir import ExternalHandler
from mcpc.reading import member_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.definitions import Definition
    from mcpc.reading import Node

NATIVE = "native"
KINDS = {
    "tools": ("name",),
    "prompts": ("name",),
    "resources": ("uri",),
    "templates": ("uriTemplate",),
    "completions": ("ref", "argument"),
}
"""The definitions by their field of `Definition`, each with the members that identify one of its kind."""
REQUIRED_MEMBERS = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": ("resource",),
    "resource_link": ("uri", "name"),
}
"""The required members of each kind of content."""


def attach_external_handlers(definitions: Sequence[Definition]) -> tuple[list[Definition], Diagnostics]:
    """Return the front ends' definitions, native ones with handlers of other formats, and the problems of that."""
    others = [definition for definition in definitions if definition.format != NATIVE]
    if len(others) == len(definitions):
        return others, ()
    native = next(definition for definition in definitions if definition.format == NATIVE)
    problems: list[Diagnostic] = []
    for kind in KINDS:
        own, others, wrong = _attach_handlers(kind, getattr(native, kind), others)
        native = _with_items(native, kind, own)
        problems += wrong
    return [native, *others], tuple(problems)


def _attach_handlers(
    kind: str, own: tuple[Any, ...], others: list[Definition]
) -> tuple[tuple[Any, ...], list[Definition], list[Diagnostic]]:
    """Return native definitions of a kind with their handlers, the others' remaining definitions, and problems."""
    known = {
        (definition.format, identity(kind, attached.node)): attached
        for definition in others
        for attached in getattr(definition, kind)
    }
    resolved: list[Any] = []
    taken: set[tuple[str, str]] = set()
    problems: list[Diagnostic] = []
    for item in own:
        options = options_node(item.node)
        contract = member_of(options, "contract", "string")
        if contract is None:
            problems += _incomplete_answers(options)
            resolved.append(replace(item, handler=static_answer_handler(item.node)) if item.handler is None else item)
            continue
        owner = (str(contract.value), identity(kind, item.node))
        if owner in known:
            taken.add(owner)
            resolved.append(replace(known[owner], node=item.node))
        else:
            problems.append(_unknown_contract(contract, others))
    remaining = [_without_taken(other, kind, taken) for other in others] if taken else others
    return tuple(resolved), remaining, problems


def identity(kind: str, node: Node) -> str:
    """Return the key of a definition among others of its kind."""
    members = (node.get(key) for key in KINDS[kind])
    # Sorted: the reference of a completion is an object, and its members may be written in any order.
    return json.dumps([value.value if value is not None else None for value in members], sort_keys=True)


def _without_taken(definition: Definition, kind: str, taken: set[tuple[str, str]]) -> Definition:
    items = getattr(definition, kind)
    resolved = tuple(item for item in items if (definition.format, identity(kind, item.node)) not in taken)
    return _with_items(definition, kind, resolved) if len(resolved) < len(items) else definition


def _with_items(definition: Definition, kind: str, items: tuple[Any, ...]) -> Definition:
    """Return a definition with its items of a kind replaced."""
    fields: dict[str, Any] = {kind: items}
    return replace(definition, **fields)


def _unknown_contract(contract: Node, others: Sequence[Definition]) -> Diagnostic:
    there = ", ".join(f"`{other.format}`" for other in others)
    if contract.value not in {other.format for other in others}:
        message = f"the project has no part written for `{contract.value}`"
        return diagnose("MCP280", contract.span, message, f"one of {there}" if there else "")
    hint = "it is found by its name or its URI, which must be the same in both places"
    return diagnose("MCP280", contract.span, f"`{contract.value}` has no script of this name here", "", hint)


def static_answer_handler(node: Node) -> ExternalHandler | None:
    """Return the handler of a definition with a static answer, or None."""
    options = options_node(node)
    for key in STATIC_RESULT_KEYS:
        answer = member_of(options, key, "array")
        if answer is not None:
            # Encoded below: `backslashreplace` writes a lone surrogate as `\ud800`, which is its escape in JSON, too.
            text = json.dumps(answer.value, ensure_ascii=False, separators=(",", ":"))
            contract = "static" if key == "contents" else "known"
            return ExternalHandler(answer.path, answer.span, contract, (text.encode("utf-8", "backslashreplace"),))
    return None


def _incomplete_answers(options: Node | None) -> Iterator[Diagnostic]:
    """Yield blocks of an answer that lack required members; all other fields are checked later."""
    for key in ("content", "messages"):
        answers = member_of(options, key)
        for item in answers.items if answers is not None else ():
            block = item if key == "content" else item.get("content")
            kind = member_of(block, "type")
            if block is not None and kind is not None:
                yield from _missing_members(block, str(kind.value))


def _missing_members(block: Node, kind: str) -> Iterator[Diagnostic]:
    for needed in REQUIRED_MEMBERS.get(kind, ()):
        if block.get(needed) is None:
            yield diagnose("MCP102", block.span, f"content of the type `{kind}` has no `{needed}`")
