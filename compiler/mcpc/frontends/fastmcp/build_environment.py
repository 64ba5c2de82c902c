"""Variables that a program gets during the build: what it needs to start, and in place of those in its answers.

The framework computes a default or a description at each start, on the operator's machine; a build does it once, and
its file is given to others.

A server that ends without its key offers nothing to compile.  So it is run again with values that mean nothing; none
of them is packed: the built server has those of its client.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import quoted
from mcpc.frontends.causes.surroundings import VARIABLE, give, variables_text
from mcpc.frontends.fastmcp.failures import raised_of, required_arguments
from mcpc.frontends.fastmcp.program import Offered, ProgramFailure
from mcpc.frontends.project import declared_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.frontends.fastmcp.program import ProgramDescription
    from mcpc.reading import SourceTree


VALUE = "mcpc-build-value"
# No name below `.invalid` is ever resolved (RFC 2606).
VALUES = (
    (re.compile(r"(?:URLS?|URI|ENDPOINT|HOST|SERVER|ADDR|ADDRESS)$"), f"http://{VALUE}.invalid"),
    (re.compile(r"PORT$"), "1024"),
)
"""The values of variables by their names; `VALUE` for others."""
CREDENTIAL = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|USER|USERNAME|EMAIL|ID|URL|HOST|ENDPOINT)$")
"""Names of variables without which servers often refuse to start."""
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
"""An option that an exception names."""
OF_TYPES = {
    "array": "[]",
    "boolean": "false",
    "integer": "1024",
    "number": "1024",
    "object": "{}",
    "uri": f"http://{VALUE}.invalid",
}
"""The values of settings by their types."""
# A program names what it lacks one after the other, in a run each.
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


def declared_needs(tree: SourceTree) -> StartNeeds:
    """Return the required settings that the project declares, each with a value that it may have."""
    rows = (row for row in declared_settings(tree) if row.get("required") is True)
    return StartNeeds({name: typed_value(name, row) for row in rows if isinstance(name := row.get("name"), str)})


def typed_value(name: str, row: Mapping[str, object]) -> str:
    """Return a value that a setting may have."""
    choices = row.get("choices")
    if isinstance(choices, list) and choices:
        return str(choices[0])
    return OF_TYPES.get(str(row.get("type")), value_of(name))


def more_needs(result: ProgramDescription | ProgramFailure | None, known: StartNeeds) -> StartNeeds | None:
    """Return the needs with those that a failure shows; None if it shows no other one."""
    if not isinstance(result, ProgramFailure) or result.kind not in KINDS:
        return None
    arguments = required_arguments(result)
    names = [] if arguments else [name for name in needed_variables(result) if name not in known.variables]
    if not arguments and not names and result.kind != "no server":
        arguments = [name for name in dict.fromkeys(OPTION.findall(result.message)) if name not in known.arguments]
    rows = {row.get("name"): row for row in result.settings}
    variables = {**known.variables, **{name: typed_value(name, rows.get(name, {})) for name in names}}
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


def needs_note(needs: StartNeeds, declared: StartNeeds, entry: EntryPoint, place: Span | None) -> Iterator[Diagnostic]:
    """Yield the note that the lists are those which a program offers with other values than its own."""
    names = [name for name in needs.variables if name not in declared.variables]
    options = [word for word in needs.arguments if word != VALUE]
    arguments = f"arguments ({quoted(options)})" if options else "arguments"
    what = " and ".join([*([variables_text(names)] if names else []), *([arguments] if needs.arguments else [])])
    given = "a value" if len(names) + len(options) == 1 else "values"
    message = f"the program `{entry.target}` does not start without {what}: the build gave it {given} without a meaning"
    own = give(names) if names else f"`--entry '{entry.target} ARGUMENTS'`"
    hint = f"the built server has to get its own; if what it offers depends on a value, {own}"
    if what:
        yield diagnose("MCP306", place, message, "", hint)


SHORTEST = 6
"""The length of the values that are looked for: shorter ones stand in many texts by chance."""
HINT = (
    "read it in the handler when it is called, or give it no default; a value that everyone may know stands in "
    "`build-environment` of `[tool.mcpc]`"
)


def baked_values(description: object, environment: Mapping[str, str], entry: str) -> Iterator[Diagnostic]:
    """Yield the values of variables that are in a description of a program, each once, with the place."""
    texts = [*texts_of(description, "")]
    for name, value in sorted(environment.items()):
        wanted = spellings(value) if len(value) >= SHORTEST else ()
        place = next((place for place, text in texts if any(each in text for each in wanted)), "")
        if place:
            message = f"the value of `{name}`, given by `--build-env`, would be in the built file: in {place}"
            yield diagnose("MCP714", Span(entry), message, "", HINT)


def texts_of(value: object, place: str) -> Iterator[tuple[str, str]]:
    """Yield the texts in a value, each with its place."""
    if isinstance(value, str | bytes):
        # In Latin-1 each byte is a character, so that bytes can be searched like texts.
        yield place, value if isinstance(value, str) else value.decode("latin-1")
    for name, item in children(value):
        below = f"{place}.{name}" if place else name
        yield below, name
        yield from texts_of(item, below)


def children(value: object) -> Iterator[tuple[str, object]]:
    """Yield the parts of a value with their names: those of the items of a list are their own, if they have one."""
    if isinstance(value, Mapping):
        yield from ((str(key), item) for key, item in value.items())
    elif is_dataclass(value):
        yield from ((field.name, getattr(value, field.name)) for field in fields(value))
    elif isinstance(value, list | tuple | set | frozenset):
        for number, item in enumerate(value):
            entry = item.entry if isinstance(item, Offered) else item
            name = entry.get("name") if isinstance(entry, dict) else None
            yield (name if isinstance(name, str) else str(number)), entry


def spellings(value: str) -> frozenset[str]:
    """Return how a value may be written: as it is, escaped in JSON, Python or an address, in base64 or hexadecimal."""
    raw = value.encode("utf-8", "surrogateescape")
    written = {value, repr(value)[1:-1], raw.hex(), raw.hex().upper()}
    written |= {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    written |= {quote(raw), quote(raw, safe=""), quote_plus(raw)}
    for before in range(3):  # a longer text may begin anywhere in a group of three bytes
        first, last = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        written |= {encode(bytes(before) + raw).decode()[first:last] for encode in (b64encode, urlsafe_b64encode)}
    return frozenset(written)
