"""Ask of which schemas there can be no model, and whether the file of models in the project is still theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.languages import is_models_file
from mcpc.models import every_tool, made, summary, wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Server
    from mcpc.sources import Source

HINT = "its class takes every object; the compiled validator checks arguments and results all the same"


def models(server: Server) -> Diagnostics:
    """Report schemas without a model, and a file of models that is out of date."""
    return (*_without(server), *_outdated(server))


def _without(server: Server) -> Iterator[Diagnostic]:
    for model in made(server, server.models):
        if model.problem:
            name, span = model.wanted.root, model.wanted.schema.node.span
            message = f"no model can be made of this schema of `{model.wanted.tool}`: {model.problem}"
            yield diagnose("MCP213", span, message, "", f"{HINT} (`{name}`)")


def _outdated(server: Server) -> Iterator[Diagnostic]:
    for file in server.files:
        if is_models_file(file.source) and second_line(file.source) != summary(wanted(server, every_tool(server))):
            span = Span(file.source.path, 0, file.source.text.find("\n"))
            message = "the file is not that of the tools as they are now"
            yield diagnose("MCP215", span, message, "", f"write it again: `mcpc models . -o {file.source.path}`")


def second_line(source: Source) -> str:
    """Return the line by which a file of models says what it was made of."""
    return source.text.partition("\n")[2].partition("\n")[0]
