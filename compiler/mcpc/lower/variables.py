"""Arguments as shell variables: `mcpc_arg_` and the property's name, `-` and `.` become `_`.

They are made only for libraries in whose text a variable is named so: every other function reads its one JSON text.
What a schema lets through without naming it has no variable.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Prompt, ResourceTemplate, Tool
    from mcpc.sources import Node, Source

PREFIX = "mcpc_arg_"
UNDERSCORES = str.maketrans("-.", "__")
IDENTIFIER = re.compile(r"[A-Za-z0-9_]+")
USE = re.compile(rf"\b{PREFIX}[A-Za-z0-9_]*")
IN_PLACE = ("allOf", "anyOf", "oneOf", "if", "then", "else")
"""Keywords whose schemas say something about the same object."""
BY_NAME = ("dependentSchemas",)
DEFINITIONS = ("$defs", "definitions")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
DEEPEST = 32

Names = dict[str, Span]
"""The arguments of a definition, each with its place."""
Pairs = tuple[tuple[str, str], ...]


def uses(libraries: Sequence[Source]) -> dict[str, Span]:
    """Return the variables that libraries name, each where it is named first."""
    found: dict[str, Span] = {}
    for source in libraries:
        for match in USE.finditer(source.text):
            found.setdefault(match[0], Span(source.path, *match.span()))
    return found


def names_of_tool(tool: Tool) -> Names:
    """Return the arguments that a tool's schema names."""
    return names_in(tool.input.node)


def names_in(schema: Node) -> Names:
    """Return the arguments that a schema names."""
    found: Names = {}
    _collect(schema, found, 0)
    return found


def names_of_prompt(prompt: Prompt) -> Names:
    """Return the arguments of a prompt."""
    return {argument.name: argument.span for argument in prompt.arguments}


def names_of_template(template: ResourceTemplate) -> Names:
    """Return the variables of a resource template; one whose name a shell cannot have is for the JSON text alone."""
    names = (variable.name for variable in template.uri.variables)
    return {name: template.span for name in names if IDENTIFIER.fullmatch(name.translate(UNDERSCORES))}


def _collect(schema: Node, found: Names, depth: int) -> None:
    if schema.kind != "object" or depth > DEEPEST:
        return
    properties = schema.get("properties")
    for member in properties.members if properties is not None and properties.kind == "object" else ():
        found.setdefault(member.key, member.key_span)
    for keyword in IN_PLACE:
        node = schema.get(keyword)
        for item in (node, *_items(node)) if node is not None else ():
            _collect(item, found, depth + 1)
    refers = depth == 0 and any(_refers(schema, keyword) for keyword in REFERENCES)
    for keyword in (*BY_NAME, *DEFINITIONS) if refers else BY_NAME:
        node = schema.get(keyword)
        for member in node.members if node is not None and node.kind == "object" else ():
            _collect(member.node, found, depth + 1)


def _refers(schema: Node, keyword: str) -> bool:
    """Tell whether the object itself is described elsewhere: by a reference at the root, or in a place that is one."""
    places = (schema, *(item for name in ("allOf", "anyOf", "oneOf") for item in _items(schema.get(name))))
    return any(place.kind == "object" and place.get(keyword) is not None for place in places)


def _items(node: Node | None) -> Iterable[Node]:
    return node.items if node is not None and node.kind == "array" else ()


def pairs(subject: str, names: Names) -> tuple[Pairs, Diagnostics]:
    """Return the arguments that have a variable, each with it, and those that cannot have one."""
    holders: dict[str, list[str]] = {}
    problems: list[Diagnostic] = []
    for name, span in names.items():
        if IDENTIFIER.fullmatch(name.translate(UNDERSCORES)) is None:
            message = f"`{name}` of {subject} cannot be the name of a shell variable"
            hint = "call it by letters, digits and `_`, or read it from the JSON text in `$1`"
            problems.append(diagnose("MCP225", span, message, "", hint))
        else:
            holders.setdefault(PREFIX + name.translate(UNDERSCORES), []).append(name)
    for variable, owners in holders.items():
        if len(owners) > 1:
            both = " and ".join(f"`{name}`" for name in owners)
            message = f"{both} of {subject} would both be `{variable}`, so neither is"
            problems.append(diagnose("MCP225", names[owners[1]], message, "", "rename one of them"))
    return tuple((owners[0], variable) for variable, owners in holders.items() if len(owners) == 1), tuple(problems)


def unknown(used: Mapping[str, Span], known: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield the variables that libraries name and no definition fills."""
    there = sorted(set(known))
    for variable, span in used.items():
        if variable != PREFIX and variable not in there:
            near = difflib.get_close_matches(variable, there, n=1, cutoff=0.7)
            hint = f"did you mean `{near[0]}`?" if near else "an argument has a variable if its schema names it"
            yield diagnose("MCP226", span, f"no argument of any tool or prompt is in `{variable}`", "", hint)
