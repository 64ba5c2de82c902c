"""Check how Bash libraries test booleans, the texts `true` and `false`: `-n` and `${…:+…}` are true of both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.languages.bash.lexer import scan_library
from mcpc.model.ir import BashFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Server
    from mcpc.reading import Source

SET_TEST = re.compile(
    r"\$\{(?P<plus>mcpc_arg_\w+):?\+|(?:-n|\[\[?)\s+\"?\$\{?(?P<text>mcpc_arg_\w+)\}?\"?(?=\s*(?:\]|&&|\|\||-[ao]\b))"
)
COMPARED = re.compile(r"==?\s*[\"']?(?:true|false)\b|!=\s*[\"']?(?:true|false)\b")


def check_bash_booleans(server: Server) -> Diagnostics:
    """Report tests of a boolean that are true for `false`, too."""
    libraries = [file.source for file in server.files if file.source.path in server.shell]
    booleans = boolean_variables(server) if libraries else frozenset()
    return tuple(problem for source in libraries for problem in _tests(source, booleans))


def boolean_variables(server: Server) -> frozenset[str]:
    """Return the variables that have a boolean in every definition that sets them."""
    kinds: dict[str, set[bool]] = {}
    for item in server.definitions:
        pairs = item.handler.variables if isinstance(item.handler, BashFunction) else ()
        schema = item.node.get("inputSchema")
        properties = schema.get("properties") if schema is not None else None
        for name, variable in pairs:
            member = properties.get(name) if properties is not None else None
            kind = member.get("type") if member is not None else None
            kinds.setdefault(variable, set()).add(kind is not None and kind.value == "boolean")
    return frozenset(variable for variable, found in kinds.items() if found == {True})


def _tests(source: Source, booleans: frozenset[str]) -> Iterator[Diagnostic]:
    literal = scan_library(source.text).literal
    for found in SET_TEST.finditer(source.text):
        variable, start = found["plus"] or found["text"], found.start()
        line = source.text[source.text.rfind("\n", 0, start) + 1 :].partition("\n")[0]
        if variable not in booleans or COMPARED.search(line) or any(begin <= start < end for begin, end in literal):
            continue
        message = f"this is true for `false`, too: `${variable}` is the text `true` or `false`, and unset if left out"
        yield diagnose("MCP258", Span(source.path, *found.span()), message, "", f"write `[[ ${variable} == true ]]`")
