"""What the text of Bash libraries says about how each of their functions is to be called.

The libraries of a project are read by one shell, so this is asked of all of them together, after every definition has
its function.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.ir import BashFunction
from mcpc.languages.bash_slices import outline
from mcpc.lower.variables import names_of_prompt, names_of_tool, pairs, unknown, uses

if TYPE_CHECKING:
    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.ir import Prompt, Server, Tool
    from mcpc.languages.bash_slices import Outline
    from mcpc.lower.variables import Names, Pairs

CALL = "mcpc_call"
BYTE_ORDER_MARK = "\ufeff"


def with_shells(server: Server, definition: Definition) -> tuple[Server, Diagnostics]:
    """Return the server with what its Bash functions need, and what is wrong with the variables they use."""
    libraries = [library.source for library in definition.libraries if library.language == "bash"]
    if not any(isinstance(one.handler, BashFunction) and one.handler.file for one in server.definitions):
        return server, ()
    reading = Reading(
        outline([source.text.removeprefix(BYTE_ORDER_MARK) for source in libraries]), uses(libraries), server.unpack
    )
    tools = tuple(reading.tool(tool) for tool in server.tools)
    prompts = tuple(reading.prompt(prompt) for prompt in server.prompts)
    reading.problems += unknown(reading.used, reading.known)
    return replace(server, tools=tools, prompts=prompts), tuple(reading.problems)


class Reading:
    """The libraries as they were read; `known` are the variables that definitions fill."""

    def __init__(self, text: Outline, used: dict[str, Span], is_unpacked: bool) -> None:
        self.used = used
        self.known: set[str] = set()
        self.problems: list[Diagnostic] = []
        self._text = text
        self._trapping = text.trapping()
        self._calling = text.mentioning(CALL)
        self._is_unpacked = is_unpacked

    def tool(self, tool: Tool) -> Tool:
        """Return a tool with what its function needs."""
        if not isinstance(tool.handler, BashFunction):
            return tool
        variables = self._variables(f"the tool `{tool.name}`", names_of_tool(tool) if self.used else {})
        return replace(tool, handler=self._handler(tool.handler, variables, tool.running.isolated))

    def prompt(self, prompt: Prompt) -> Prompt:
        """Return a prompt with what its function needs."""
        if not isinstance(prompt.handler, BashFunction):
            return prompt
        variables = self._variables(f"the prompt `{prompt.name}`", names_of_prompt(prompt) if self.used else {})
        return replace(prompt, handler=self._handler(prompt.handler, variables, prompt.running.isolated))

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
