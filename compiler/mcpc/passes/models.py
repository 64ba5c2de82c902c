"""Check which schemas cannot have a model, and whether the project's models module is up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.languages import is_models_file
from mcpc.schema.models import build_models, digest_line, model_requests, tool_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Server
    from mcpc.reading import Source

HINT = "its class accepts every object; the compiled validator still checks arguments and results"


def check_models(server: Server) -> Diagnostics:
    """Report schemas without a model, and a models module that is out of date."""
    return (*_without(server), *_outdated(server))


def _without(server: Server) -> Iterator[Diagnostic]:
    for model in build_models(server, server.models):
        if model.problem:
            name, span = model.wanted.root, model.wanted.schema.node.span
            message = f"cannot generate a model for this schema of `{model.wanted.tool}`: {model.problem}"
            yield diagnose("MCP213", span, message, "", f"{HINT} (`{name}`)")


def _outdated(server: Server) -> Iterator[Diagnostic]:
    for file in server.files:
        if is_models_file(file.source) and second_line(file.source) != digest_line(
            model_requests(server, tool_names(server))
        ):
            span = Span(file.source.path, 0, file.source.text.find("\n"))
            message = "the file does not match the current tools"
            yield diagnose(
                "MCP215", span, message, "", f"write it again: `mcpc generate models . -o {file.source.path}`"
            )


def second_line(source: Source) -> str:
    """Return the line of a models module that contains the digest of its sources."""
    return source.text.partition("\n")[2].partition("\n")[0]
