"""What can be written at a cursor: keys and values by schemas, arguments as shell variables, names of functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.lower.variables import PREFIX, UNDERSCORES, names_in
from mcpc.reading import member_of
from mcpc.workbench.language_server.definitions import definitions_in
from mcpc.workbench.language_server.field_completion import proposed_fields
from mcpc.workbench.language_server.proposal import Proposal
from mcpc.workbench.language_server.reduction import definition_key
from mcpc.workbench.language_server.syntaxes import SYNTAXES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.workbench.language_server.open_project import OpenProject

SHELL_WORD = re.compile(r"\$\{?(\w*)$")
NAME_BEFORE = re.compile(r"(?:^|\n)(?:(async[ ]+)?(def)[ ]+|function[ ]+)?(\w*)$")


def proposals_at(project: OpenProject, path: str, offset: int) -> list[Proposal]:
    """Return what can be written at a place."""
    text = project.text(path)
    if text is None:
        return []
    ending = path.rpartition(".")[2]
    return [*COMPLETERS.get(ending, _nothing)(project, path, text, offset)]


def _nothing(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    return iter(())


def _in_bash(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    variable = SHELL_WORD.search(line)
    if variable is not None:
        start = offset - len(variable[1])
        for name in _argument_variables(project, path, offset):
            yield Proposal(name[0], name[0], start, offset, "variable", name[1])
    else:
        yield from _functions(project, line, offset, "{kind}_{name}() {{\n  \n}}", "def" not in line)


def _argument_variables(project: OpenProject, path: str, offset: int) -> list[tuple[str, str]]:
    """Return the variables of the arguments of the function that the cursor is in; without one, of all functions."""
    slices = project.slices_of(path)
    number = -1 if slices is None else slices.at(offset, offset)
    keys = frozenset[str]() if slices is None or number < 0 else slices.keys[number]
    everything = [*definitions_in(project)]
    chosen = [each for each in everything if definition_key(each.name) in keys] or everything
    found: dict[str, str] = {}
    for each in chosen:
        schema = member_of(each.item.node, "inputSchema", "object")
        for name in names_in(schema) if schema is not None else ():
            found.setdefault(PREFIX + name.translate(UNDERSCORES), f"The argument `{name}` of `{each.name}`.")
    return [*found.items()]


def _in_python(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    yield from _functions(project, line, offset, "def {name}():\n    ", True)


def _functions(project: OpenProject, line: str, offset: int, form: str, allowed: bool) -> Iterator[Proposal]:
    """Yield functions for definitions without one, at the beginning of a line."""
    begun = NAME_BEFORE.fullmatch(line)
    if begun is None or not allowed:
        return
    for problem in (each for found in project.found.values() for each in found if each.code == "MCP201"):
        match = MISSING.search(problem.message)
        if match is not None:
            new = form.format(kind=match[1], name=definition_key(match[2]))
            yield Proposal(
                new.split("\n")[0], new, offset - len(line), offset, "function", f"Handles the {match[1]} `{match[2]}`."
            )


MISSING = re.compile(r"the (tool|prompt) `([^`]+)`")
COMPLETERS: dict[str, Callable[[OpenProject, str, str, int], Iterator[Proposal]]] = {
    **dict.fromkeys(SYNTAXES, proposed_fields),
    "bash": _in_bash,
    "py": _in_python,
}
"""What completes in a file, by the ending of its name."""
