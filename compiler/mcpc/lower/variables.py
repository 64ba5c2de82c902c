"""Arguments as shell variables: `mcpc_arg_` and the property's name, with `-` and `.` replaced by `_`.

They are set only for libraries whose text uses such a variable: other functions read the JSON text. Arguments that a
schema allows without naming them have no variable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.suggestions import did_you_mean, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Prompt, ResourceTemplate
    from mcpc.reading import Node, Source

PREFIX = "mcpc_arg_"
UNDERSCORES = str.maketrans("-.", "__")
IDENTIFIER = re.compile(r"[A-Za-z0-9_]+")
USE = re.compile(rf"\b{PREFIX}[A-Za-z0-9_]*")
IN_PLACE = ("allOf", "anyOf", "oneOf", "if", "then", "else")
"""Keywords whose subschemas apply to the same object."""
BY_NAME = ("dependentSchemas",)
DEFINITIONS = ("$defs", "definitions")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
MAX_DEPTH = 32

Names = dict[str, Span]
"""The arguments of a definition, each with its position."""
Pairs = tuple[tuple[str, str], ...]


def used_variables(libraries: Sequence[Source]) -> dict[str, Span]:
    """Return the variables that libraries use, each with its first position."""
    found: dict[str, Span] = {}
    for source in libraries:
        for match in USE.finditer(source.text):
            found.setdefault(match[0], Span(source.path, *match.span()))
    return found


def names_in(schema: Node) -> Names:
    """Return the arguments that a schema names."""
    found: Names = {}
    _collect(schema, found, 0)
    return found


def names_of_prompt(prompt: Prompt) -> Names:
    """Return the arguments of a prompt."""
    return {argument.name: argument.span for argument in prompt.arguments}


def names_of_template(template: ResourceTemplate) -> Names:
    """Return the variables of a template; one whose name is not a shell identifier is only in the JSON text."""
    names = (variable.name for variable in template.uri.variables)
    return {name: template.span for name in names if IDENTIFIER.fullmatch(name.translate(UNDERSCORES))}


def _collect(schema: Node, found: Names, depth: int) -> None:
    if schema.kind != "object" or depth > MAX_DEPTH:
        return
    properties = schema.get("properties")
    for member in properties.members if properties is not None else ():
        found.setdefault(member.key, member.key_span)
    for keyword in IN_PLACE:
        node = schema.get(keyword)
        for item in (node, *node.items) if node is not None else ():
            _collect(item, found, depth + 1)
    refers = depth == 0 and any(_refers(schema, keyword) for keyword in REFERENCES)
    for keyword in (*BY_NAME, *DEFINITIONS) if refers else BY_NAME:
        node = schema.get(keyword)
        for member in node.members if node is not None else ():
            _collect(member.node, found, depth + 1)


def _refers(schema: Node, keyword: str) -> bool:
    """Tell whether the object is described elsewhere: by a reference at the root or in an in-place subschema."""
    choices = [found for name in ("allOf", "anyOf", "oneOf") if (found := schema.get(name)) is not None]
    places = (schema, *(item for choice in choices for item in choice.items))
    return any(place.get(keyword) is not None for place in places)


def variable_pairs(subject: str, names: Names) -> tuple[Pairs, Diagnostics]:
    """Return the arguments with their variables, and the arguments that cannot have one."""
    holders: dict[str, list[str]] = {}
    problems: list[Diagnostic] = []
    for name, span in names.items():
        if IDENTIFIER.fullmatch(name.translate(UNDERSCORES)) is None:
            message = f"`{name}` of {subject} cannot be the name of a shell variable"
            hint = "use letters, digits and `_` in its name, or read it from the JSON text in `$1`"
            problems.append(diagnose("MCP225", span, message, "", hint))
        else:
            holders.setdefault(PREFIX + name.translate(UNDERSCORES), []).append(name)
    for variable, owners in holders.items():
        if len(owners) > 1:
            message = f"{quoted(owners, ' and ')} of {subject} would both be `{variable}`, so neither is set"
            problems.append(diagnose("MCP225", names[owners[1]], message, "", "rename one of them"))
    return tuple((owners[0], variable) for variable, owners in holders.items() if len(owners) == 1), tuple(problems)


def unknown_variables(used: Mapping[str, Span], known: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield the variables that libraries use and no definition sets."""
    there = sorted(set(known))
    for variable, span in used.items():
        if variable != PREFIX and variable not in there:
            hint = did_you_mean(variable, there, "an argument has a variable if its schema names it", 0.7)
            yield diagnose("MCP226", span, f"`{variable}` does not match an argument of any tool or prompt", "", hint)
