"""What a program needs to start and a build does not have: variables and arguments, in place of which it gets others.

A server that ends without its key offers nothing to compile.  So it is run again with values that mean nothing; none
of them is packed: the built server has those of its client.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import quoted
from mcpc.frontends.causes.variables import SETTINGS, VARIABLE, give, variables_text
from mcpc.frontends.fastmcp.failures import raised_of, required_arguments
from mcpc.frontends.fastmcp.program import ProgramFailure

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.frontends.fastmcp.program import ProgramDescription

VALUE = "mcpc-build-value"
VALUES = (
    (re.compile(r"(?:URLS?|URI|ENDPOINT|HOST|SERVER|ADDR|ADDRESS)$"), f"http://{VALUE}.invalid"),
    (re.compile(r"PORT$"), "1024"),
)
"""The values of variables by their names; `VALUE` for others."""
CREDENTIAL = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|USER|USERNAME|EMAIL|ID|URL|HOST|ENDPOINT)$")
"""Names of variables without which servers often refuse to start."""
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
"""An option that an exception names."""
MAX_RUNS = 6
KINDS = ("exited", "no server", "raised")
"""The kinds of failures that may be for want of them."""


@dataclass(frozen=True, slots=True)
class StartNeeds:
    """The variables with their values, and the arguments, that a build gives a program which needs them to start."""

    variables: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()

    def started(self, entry: EntryPoint) -> EntryPoint:
        """Return an entry with the arguments."""
        return replace(entry, arguments=(*entry.arguments, *self.arguments))


NO_NEEDS = StartNeeds()


def more_needs(result: ProgramDescription | ProgramFailure | None, known: StartNeeds) -> StartNeeds | None:
    """Return the needs with those that a failure shows; None if it shows no other one."""
    if not isinstance(result, ProgramFailure) or result.kind not in KINDS:
        return None
    arguments = required_arguments(result)
    names = [] if arguments else [name for name in needed_variables(result) if name not in known.variables]
    if not arguments and not names and result.kind != "no server":
        arguments = [name for name in dict.fromkeys(OPTION.findall(result.message)) if name not in known.arguments]
    variables = {**known.variables, **{name: value_of(name) for name in names}}
    needs = StartNeeds(variables, (*known.arguments, *argument_words(arguments)))
    return None if needs == known else needs


def needed_variables(failure: ProgramFailure) -> list[str]:
    """Return the variables that a failure is about: those of settings, else named ones, else looked-up credentials."""
    raised = raised_of(failure)
    texts = "\n".join((failure.message, failure.output, raised.message, raised.name))
    absent = [*raised.absent]
    named = [name for name in absent if re.search(rf"\b{re.escape(name)}\b", texts)]
    others = [name for name in dict.fromkeys(VARIABLE.findall(texts)) if CREDENTIAL.search(name)]
    return [*raised.variables] or named or others or [name for name in absent if CREDENTIAL.search(name)]


def argument_words(names: list[str]) -> tuple[str, ...]:
    """Return words of a command line for arguments."""
    return tuple(word for name in names for word in ((name, VALUE) if name.startswith("-") else (VALUE,)))


def value_of(name: str) -> str:
    """Return the value of a variable."""
    return next((value for pattern, value in VALUES if pattern.search(name)), VALUE)


def needs_warning(needs: StartNeeds, entry: EntryPoint, place: Span | None) -> Diagnostic:
    """Return the warning that the lists are those which a program offers with other values than its own."""
    names = [*needs.variables]
    options = [word for word in needs.arguments if word != VALUE]
    arguments = f"arguments ({quoted(options)})" if options else "arguments"
    what = " and ".join([*([variables_text(names)] if names else []), *([arguments] if needs.arguments else [])])
    given = "a value" if len(names) + len(options) == 1 else "values"
    message = f"the program `{entry.target}` does not start without {what}: the build gave it {given} without a meaning"
    own = give(names) if names else f"`--entry '{entry.target} ARGUMENTS'`"
    asked = f"; {SETTINGS}" if names else ""
    hint = f"the built server has to get its own; if what it offers depends on a value, {own}{asked}"
    return diagnose("MCP306", place, message, "", hint)
