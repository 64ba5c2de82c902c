"""Determine how each Bash function is called, from the text of the libraries.

One shell reads all libraries of a project, so they are analysed together, after every definition has its function.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeVar

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import did_you_mean, quoted
from mcpc.languages.bash.errexit import SETS, places_of_errexit
from mcpc.languages.bash.programs import OURS, misspelt_functions
from mcpc.languages.bash.slices import outline_libraries
from mcpc.languages.bash.temporary_files import names_process, shared_temporary_files
from mcpc.lower.bash_files import relative_files
from mcpc.lower.variables import (
    names_in,
    names_of_prompt,
    names_of_template,
    unknown_variables,
    used_variables,
    variable_pairs,
)
from mcpc.model.ir import BashFunction

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.languages.bash.slices import Outline
    from mcpc.lower.variables import Names, Pairs
    from mcpc.model.definitions import Definition
    from mcpc.model.ir import Completion, Prompt, Resource, ResourceTemplate, Server, Tool

D = TypeVar("D", "Tool", "Prompt", "Resource", "ResourceTemplate", "Completion")
ASKING = ("mcpc_call", "mcpc_ask", "mcpc_elicit")
"""SDK functions that wait for an answer."""
HINT_OF_ERREXIT = "write `command || return` for each command that may fail, or build without the dialect"
BYTE_ORDER_MARK = "\ufeff"


def bind_bash_options(server: Server, definition: Definition) -> tuple[Server, Diagnostics]:
    """Return the server with the options of its Bash functions, and problems of the variables they use."""
    libraries = [library.source for library in definition.libraries if library.language == "bash"]
    if not any(isinstance(item.handler, BashFunction) and item.handler.file for item in server.definitions):
        return server, ()
    places = [places_of_errexit(source) for source in libraries]
    is_suspended = definition.traits.suspends_errexit
    analysis = BashAnalysis(
        outline_libraries([source.text.removeprefix(BYTE_ORDER_MARK) for source in libraries]),
        used_variables(libraries),
        server,
        "" if is_suspended else "e" if any(when_read for when_read, _ in places) else "f",
    )
    whole = replace(
        server,
        tools=tuple(analysis.with_options(tool, "tool") for tool in server.tools),
        prompts=tuple(analysis.with_options(prompt, "prompt") for prompt in server.prompts),
        resources=tuple(analysis.with_options(resource, "resource") for resource in server.resources),
        templates=tuple(analysis.with_options(template, "resource template") for template in server.templates),
        completions=tuple(analysis.with_options(completion, "completion") for completion in server.completions),
    )
    analysis.problems += unknown_variables(analysis.used, analysis.known)
    own = [source for source in libraries if source.path in server.shell]
    paths = {source.path for source in (*definition.beside, *(library.source for library in definition.libraries))}
    analysis.problems += relative_files(own, paths)
    if not definition.traits.serial:
        analysis.problems += shared_temporary_files(own)
    if is_suspended:
        analysis.problems += (_without_effect(span) for spans in places for span in (*spans[0], *spans[1]))
    analysis.problems += starmap(_misspelt, misspelt_functions(libraries).items())
    return whole, tuple(analysis.problems)


def _without_effect(span: Span) -> Diagnostic:
    message = "errexit does not hold in the functions of tools: this dialect tests their status where it calls them"
    return diagnose("MCP269", span, message, "", HINT_OF_ERREXIT)


def _misspelt(name: str, span: Span) -> Diagnostic:
    hint = did_you_mean(name, OURS, "there are " + quoted(OURS))
    return diagnose("MCP257", span, f"unknown function `{name}`", "", hint)


NAMES: dict[str, Callable[[Any], Names]] = {
    "tool": lambda tool: names_in(tool.input.node),
    "prompt": names_of_prompt,
    "resource": lambda _: {},
    "resource template": names_of_template,
    "completion": lambda completion: {"value": completion.span},
}
"""The arguments of a function, by kind of definition."""


class BashAnalysis:
    """The analysed libraries; `known`: the variables that definitions set; `errexit`: that of functions that use it."""

    def __init__(self, text: Outline, used: dict[str, Span], server: Server, errexit: str) -> None:
        self.used = used
        self.known: set[str] = set()
        self.problems: list[Diagnostic] = []
        self._text = text
        self._whole = "".join(part.text for part in text.parts)
        self._mentions_process = names_process(self._whole)
        self._trapping = text.trapping()
        self._calling = frozenset[str]().union(*map(text.mentioning, ASKING))
        self._is_unpacked = server.unpack
        self._is_serial = server.traits.serial
        self._errexit = errexit
        self._setting_errexit = text.matching(SETS)

    def with_options(self, item: D, kind: str) -> D:
        """Return a definition with the options of its function."""
        if not isinstance(item.handler, BashFunction):
            return item
        variables = self._variables(f"the {kind} `{item.name}`", NAMES[kind](item) if self.used else {})
        isolated = item.running.isolated or (not self._is_serial and self._names_process(item.handler.function))
        running = replace(item.running, isolated=isolated)
        return replace(item, handler=self._handler(item.handler, variables, isolated), running=running)

    def _names_process(self, function: str) -> bool:
        """Tell whether a function needs a separate shell, for another `$$` than that of calls that run beside it."""
        return self._mentions_process and names_process(self._text.slice(function) or self._whole)

    def _variables(self, subject: str, names: Names) -> Pairs:
        variables, problems = variable_pairs(subject, names)
        self.known.update(variable for _, variable in variables)
        self.problems += problems
        return variables

    def _handler(self, handler: BashFunction, variables: Pairs, is_isolated: bool) -> BashFunction:
        """Return the function with its options; a library that uses its own path is not sliced."""
        needed = self._text.slice(handler.function) if is_isolated and not self._is_unpacked else ""
        return replace(
            handler,
            variables=variables,
            traps=handler.function in self._trapping,
            errexit=self._errexit if self._errexit == "e" or handler.function in self._setting_errexit else "",
            calls_tools=handler.function in self._calling,
            slice=needed,
        )
