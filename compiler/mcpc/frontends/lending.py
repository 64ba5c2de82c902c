"""Definitions of our own format without a function or a program of their own: what their handler says of it.

    {"contract": "mcp-bash"}     the other system's part of the project knows how it is run; this says what it is
    {"content": […]}             a tool that always says this
    {"messages": […]}            a prompt that always says this
    {"contents": […]}            a resource that always has this

A definition that is lent a handler takes the place of the one that it has it from, so that nothing is there twice.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpc.definitions.handling import KNOWN_CONTENT, handling
from mcpc.diagnostics import diagnose
from mcpc.ir import Foreign

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.sources import Node

NATIVE = "native"
KINDS = {
    "tools": ("name",),
    "prompts": ("name",),
    "resources": ("uri",),
    "templates": ("uriTemplate",),
    "completions": ("ref", "argument"),
}
"""The definitions, by the field of `Definition` that has them: the members by which one is the same as another."""
NEEDED = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": ("resource",),
    "resource_link": ("uri", "name"),
}
"""What each kind of content has."""


def lent(definitions: Sequence[Definition]) -> tuple[list[Definition], Diagnostics]:
    """Return what front ends found, with a handler for what our own format says of others, and what is wrong there."""
    others = [one for one in definitions if one.format != NATIVE]
    if len(others) == len(definitions):
        return others, ()
    native = next(one for one in definitions if one.format == NATIVE)
    problems: list[Diagnostic] = []
    for kind in KINDS:
        own, others, wrong = _of_kind(kind, getattr(native, kind), others)
        native = _with(native, kind, own)
        problems += wrong
    return [native, *others], tuple(problems)


def _of_kind(
    kind: str, own: tuple[Any, ...], others: list[Definition]
) -> tuple[tuple[Any, ...], list[Definition], list[Diagnostic]]:
    """Return our own definitions of a kind with their handlers, what is left to others, and what is wrong."""
    known = {(one.format, identity(kind, found.node)): found for one in others for found in getattr(one, kind)}
    kept: list[Any] = []
    taken: set[tuple[str, str]] = set()
    problems: list[Diagnostic] = []
    for one in own:
        said = handling(one.node) if one.node.kind == "object" else None
        contract = said.get("contract") if said is not None else None
        if contract is None or contract.kind != "string":
            problems += _misshapen(said)
            kept.append(replace(one, handler=known_answer(one.node)) if one.handler is None else one)
            continue
        owner = (str(contract.value), identity(kind, one.node))
        if owner in known:
            taken.add(owner)
            kept.append(replace(known[owner], node=one.node))
        else:
            problems.append(_unknown(contract, others))
    remaining = [_without(one, kind, taken) for one in others] if taken else others
    return tuple(kept), remaining, problems


def identity(kind: str, node: Node) -> str:
    """Return what a definition is found by among others of its kind."""
    members = (node.get(key) for key in KINDS[kind])
    return json.dumps([found.value if found is not None else None for found in members], sort_keys=True)


def _without(definition: Definition, kind: str, taken: set[tuple[str, str]]) -> Definition:
    found = getattr(definition, kind)
    kept = tuple(one for one in found if (definition.format, identity(kind, one.node)) not in taken)
    return _with(definition, kind, kept) if len(kept) < len(found) else definition


def _with(definition: Definition, kind: str, found: tuple[Any, ...]) -> Definition:
    """Return a definition with other ones of a kind."""
    fields: dict[str, Any] = {kind: found}
    return replace(definition, **fields)


def _unknown(contract: Node, others: Sequence[Definition]) -> Diagnostic:
    there = ", ".join(f"`{one.format}`" for one in others)
    if contract.value not in {one.format for one in others}:
        message = f"nothing here was written for `{contract.value}`"
        return diagnose("MCP280", contract.span, message, f"one of {there}" if there else "")
    hint = "it is found by its name, or by its uri: that has to be the same in both places"
    return diagnose("MCP280", contract.span, f"`{contract.value}` has nothing of this name here", "", hint)


def known_answer(node: Node) -> Foreign | None:
    """Return the handler of a definition that says its answer, None if it does not."""
    said = handling(node) if node.kind == "object" else None
    for key in KNOWN_CONTENT:
        found = said.get(key) if said is not None else None
        if found is not None and found.kind == "array":
            text = json.dumps(found.value, ensure_ascii=False, separators=(",", ":"))
            contract = "static" if key == "contents" else "known"
            return Foreign(found.path, found.span, contract, (text.encode("utf-8", "backslashreplace"),))
    return None


def _misshapen(said: Node | None) -> Iterator[Diagnostic]:
    """Yield the blocks of an answer that lack what their kind has; the rest is judged with all other fields."""
    for key in ("content", "messages"):
        found = said.get(key) if said is not None else None
        for item in found.items if found is not None else ():
            block = item if key == "content" else item.get("content")
            kind = block.get("type") if block is not None else None
            if block is not None and kind is not None:
                yield from _lacking(block, str(kind.value))


def _lacking(block: Node, kind: str) -> Iterator[Diagnostic]:
    for needed in NEEDED.get(kind, ()):
        if block.get(needed) is None:
            yield diagnose("MCP102", block.span, f"content of the type `{kind}` has no `{needed}`")
