"""What the text of Bash libraries says about how each of their functions is to be called.

The libraries of a project are read by one shell, so this is asked of all of them together, after every definition has
its function.
"""

from __future__ import annotations

import difflib
from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeVar

from mcpc.diagnostics import diagnose
from mcpc.ir import BashFunction
from mcpc.languages.bash_programs import OURS, misspelt
from mcpc.languages.bash_slices import outline
from mcpc.lower.variables import names_of_prompt, names_of_template, names_of_tool, pairs, unknown, uses

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.ir import Completion, Prompt, Resource, ResourceTemplate, Server, Tool
    from mcpc.languages.bash_slices import Outline
    from mcpc.lower.variables import Names, Pairs

D = TypeVar("D", "Tool", "Prompt", "Resource", "ResourceTemplate", "Completion")
ASKING = ("mcpc_call", "mcpc_ask", "mcpc_elicit")
"""Commands that wait for an answer."""
BYTE_ORDER_MARK = "\ufeff"


def with_shells(server: Server, definition: Definition) -> tuple[Server, Diagnostics]:
    """Return the server with what its Bash functions need, and what is wrong with the variables they use."""
    libraries = [library.source for library in definition.libraries if library.language == "bash"]
    if not any(isinstance(one.handler, BashFunction) and one.handler.file for one in server.definitions):
        return server, ()
    reading = Reading(
        outline([source.text.removeprefix(BYTE_ORDER_MARK) for source in libraries]), uses(libraries), server.unpack
    )
    whole = replace(
        server,
        tools=tuple(reading.bound(tool, "tool") for tool in server.tools),
        prompts=tuple(reading.bound(prompt, "prompt") for prompt in server.prompts),
        resources=tuple(reading.bound(resource, "resource") for resource in server.resources),
        templates=tuple(reading.bound(template, "resource template") for template in server.templates),
        completions=tuple(reading.bound(completion, "completion") for completion in server.completions),
    )
    reading.problems += unknown(reading.used, reading.known)
    reading.problems += starmap(_misspelt, misspelt(libraries).items())
    return whole, tuple(reading.problems)


def _misspelt(name: str, span: Span) -> Diagnostic:
    near = difflib.get_close_matches(name, OURS, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "there are " + ", ".join(f"`{known}`" for known in OURS)
    return diagnose("MCP257", span, f"no function is called `{name}`", "", hint)


NAMES: dict[str, Callable[[Any], Names]] = {
    "tool": names_of_tool,
    "prompt": names_of_prompt,
    "resource": lambda _: {},
    "resource template": names_of_template,
    "completion": lambda completion: {"value": completion.span},
}
"""What a function of each kind of definition is given by name."""


class Reading:
    """The libraries as they were read; `known` are the variables that definitions fill."""

    def __init__(self, text: Outline, used: dict[str, Span], is_unpacked: bool) -> None:
        self.used = used
        self.known: set[str] = set()
        self.problems: list[Diagnostic] = []
        self._text = text
        self._trapping = text.trapping()
        self._calling = frozenset[str]().union(*map(text.mentioning, ASKING))
        self._is_unpacked = is_unpacked

    def bound(self, one: D, kind: str) -> D:
        """Return a definition with what its function needs."""
        if not isinstance(one.handler, BashFunction):
            return one
        variables = self._variables(f"the {kind} `{one.name}`", NAMES[kind](one) if self.used else {})
        return replace(one, handler=self._handler(one.handler, variables, one.running.isolated))

    def _variables(self, subject: str, names: Names) -> Pairs:
        variables, problems = pairs(subject, names)
        self.known.update(variable for _, variable in variables)
        self.problems += problems
        return variables

    def _handler(self, handler: BashFunction, variables: Pairs, is_isolated: bool) -> BashFunction:
        """Return the function with its needs; a slice would lie elsewhere than a library that asks for its place."""
        needed = self._text.slice(handler.function) if is_isolated and not self._is_unpacked else ""
        return replace(
            handler,
            variables=variables,
            traps=handler.function in self._trapping,
            calls_tools=handler.function in self._calling,
            slice=needed,
        )
