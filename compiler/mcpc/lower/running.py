"""What a definition says of how its handler is run, and what it means beside what the server says for all.

A policy is the definition's own, else the server's, else its contract's: what was written for mcbox finds the server's
whole environment, anything else what every program needs and what is declared.  Lists of names and of programs add up.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from mcpc.definitions.kinds import WORDS
from mcpc.diagnostics import diagnose
from mcpc.ir import Environment, Requirement, Running
from mcpc.ir.usual import USUAL, usual_environment
from mcpc.lower.asking import asks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

    from mcpc.diagnostics import Diagnostic
    from mcpc.ir import Handler
    from mcpc.sources import Node

LONGEST = 86_400
"""Seconds: a day."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")
POLICIES = ("inherit", "minimal")
NAMES = 'names like `"API_KEY"` or `"AWS_*"`'
PROGRAM = re.compile(
    r"(?P<command>[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}) *(?:>= *(?P<version>[0-9]{1,9}(?:\.[0-9]{1,9}){0,7}))?"
)
LOOP = "loop"
"""What `inline` may be beside true and false."""
A_PROGRAM = "the name of a program, and if need be its oldest version: `jq`, `git >= 2.30`"


def said_wrong(said: Node | None) -> Iterator[Diagnostic]:
    """Yield what cannot be meant by an object of which every field is known; their kinds are judged before."""
    for member in said.members if said is not None else ():
        if member.key in JUDGES:
            yield from JUDGES[member.key](member.node)


def running(handler: Handler | None, own: Node | None, general: Node | None) -> Running:
    """Return how a handler is run; `own` is what its definition says, `general` what the server does."""
    if handler is None:
        return USUAL
    return Running(
        timeout=next((time for time in map(_timeout, (own, general)) if time is not None), USUAL.timeout),
        inline=_inline(own),
        isolated=_says(own, "isolated"),
        environment=_environment(handler, own, general),
        requires=tuple({one.command: one for said in (general, own) for one in _requires(said)}.values()),
        task=next((task for task in map(_task, (own, general)) if task is not None), ""),
        asks=asks(own),
    )


def _inline(said: Node | None) -> bool | Literal["loop"]:
    found = _member(said, "inline")
    return "loop" if found is not None and found.value == LOOP else _says(said, "inline")


def _task(said: Node | None) -> str | None:
    """Return what is said of tasks; `forbidden` is what nothing else says."""
    found = _member(said, "task")
    if found is None or found.kind != "string":
        return None
    return "" if found.value == "forbidden" else str(found.value)


def _member(said: Node | None, key: str) -> Node | None:
    return None if said is None else said.get(key)


def _says(said: Node | None, key: str) -> bool:
    found = _member(said, key)
    return found is not None and found.value is True


def _timeout(said: Node | None) -> float | None:
    found = _member(said, "timeout")
    return float(str(found.value)) if found is not None and _can_be_time(found) else None


def _can_be_time(node: Node) -> bool:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value <= LONGEST and math.isfinite(value)


def _environment(handler: Handler, own: Node | None, general: Node | None) -> Environment:
    policies = [found.value for said in (own, general) if (found := _member(said, "environment")) is not None]
    if not policies:
        return usual_environment(handler)
    if not isinstance(policies[0], list):
        return Environment(inherit=policies[0] == "inherit")
    named = [name for names in reversed(policies) if isinstance(names, list) for name in names]
    return Environment(names=tuple(dict.fromkeys(name for name in named if isinstance(name, str))))


def _requires(said: Node | None) -> Iterator[Requirement]:
    found = _member(said, "requires")
    for item in found.items if found is not None else ():
        match = PROGRAM.fullmatch(item.value.strip()) if isinstance(item.value, str) else None
        if match:
            yield Requirement(match["command"], match["version"] or "", item.span)


def _wrong_time(node: Node) -> Iterator[Diagnostic]:
    if node.kind == "number" and not _can_be_time(node):
        message = f"a time limit of {node.value} seconds"
        yield diagnose("MCP238", node.span, message, f"more than 0 and at most {LONGEST} seconds")


def _wrong_environment(node: Node) -> Iterator[Diagnostic]:
    if node.kind == "string" and node.value not in POLICIES:
        hint = f'`["{node.value}"]` is a list of one name' if NAME.fullmatch(str(node.value)) else ""
        yield diagnose("MCP239", node.span, f"an environment `{_shown(node)}`", f"{EITHER}, or a list of {NAMES}", hint)
    elif node.kind not in ("string", "array"):
        message = f"`environment` cannot be {WORDS[node.kind]}"
        yield diagnose("MCP239", node.span, message, f"{EITHER}, or a list of {NAMES}")
    for item in node.items:
        yield from _wrong_name(item)


EITHER = " or ".join(f'`"{policy}"`' for policy in POLICIES)


def _shown(node: Node) -> str:
    """Return a text without the value that it may assign: that one is nobody's business."""
    return str(node.value).partition("=")[0]


def _wrong_name(item: Node) -> Iterator[Diagnostic]:
    value = item.value
    if not isinstance(value, str):
        yield diagnose("MCP239", item.span, f"a variable's name cannot be {WORDS[item.kind]}", NAMES)
    elif "=" in value:
        message = f"`{_shown(item)}` is given a value, and values are never built in"
        hint = f'write `"{_shown(item)}"` alone; the server takes its value from the environment it is started in'
        yield diagnose("MCP239", item.span, message, NAMES, hint)
    elif not NAME.fullmatch(value):
        hint = '`"environment": "inherit"` gives a handler all there is' if value == "*" else ""
        yield diagnose("MCP239", item.span, f"no variable is called `{value}`", NAMES, hint)


def _wrong_requirements(node: Node) -> Iterator[Diagnostic]:
    for item in node.items:
        if isinstance(item.value, str) and not PROGRAM.fullmatch(item.value.strip()):
            yield diagnose("MCP240", item.span, f"`{item.value}` names no program", A_PROGRAM, _mended(item.value))


def _mended(written: str) -> str:
    if "/" in written:
        return "a program is looked for on PATH; a file of the project needs no `requires`"
    return "only `>=` can be asked for" if re.search(r"[<>=~!^]", written) else ""


def _wrong_inline(node: Node) -> Iterator[Diagnostic]:
    if node.kind != "boolean" and node.value != LOOP:
        yield diagnose("MCP237", node.span, f"`inline` cannot be {_shown_word(node)}", f'`true`, `false` or `"{LOOP}"`')


def _shown_word(node: Node) -> str:
    return f"`{node.value}`" if node.kind == "string" else WORDS[node.kind]


JUDGES: dict[str, Callable[[Node], Iterator[Diagnostic]]] = {
    "inline": _wrong_inline,
    "timeout": _wrong_time,
    "environment": _wrong_environment,
    "requires": _wrong_requirements,
}
