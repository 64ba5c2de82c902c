"""Check that every completion refers to an existing prompt argument or template variable, each only once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Completion, Server

CALLED = {"prompt": "prompt", "resource": "resource template"}
PARTS = {"prompt": "argument", "resource": "variable"}


def check_completions(server: Server) -> Diagnostics:
    """Report completions without a target, and two for one argument."""
    known: dict[str, dict[str, tuple[str, ...]]] = {
        "prompt": {prompt.name: tuple(item.name for item in prompt.arguments) for prompt in server.prompts},
        "resource": {
            item.uri.text: tuple(variable.name for variable in item.uri.variables) for item in server.templates
        },
    }
    problems: list[Diagnostic] = []
    firsts: dict[str, Completion] = {}
    for completion in server.completions:
        problems += _check_target(completion, known[completion.kind])
        first = firsts.setdefault(completion.key, completion)
        if first is not completion:
            hint = f"the first is at {first.span.place_in(server.sources)}; remove one of them"
            message = f"`{completion.argument}` of `{completion.ref}` is completed twice"
            problems.append(diagnose("MCP104", completion.span, message, "", hint))
    return tuple(problems)


def _check_target(completion: Completion, known: dict[str, tuple[str, ...]]) -> Iterator[Diagnostic]:
    what, part = CALLED[completion.kind], PARTS[completion.kind]
    if completion.ref not in known:
        message = f"the {what} `{completion.ref}` does not exist"
        yield diagnose(
            "MCP126",
            completion.node.span_of("ref") or completion.span,
            message,
            "",
            did_you_mean(completion.ref, known),
        )
    elif completion.argument not in known[completion.ref]:
        message = f"the {what} `{completion.ref}` has no {part} `{completion.argument}`"
        hint = did_you_mean(completion.argument, known[completion.ref])
        yield diagnose("MCP126", completion.span, message, "", hint)
    elif completion.handler is not None and not completion.handler.file and not completion.argument.isidentifier():
        message = f"the {part} `{completion.argument}` is not a valid function name"
        yield diagnose(
            "MCP126", completion.span, message, "", "list its `values`, or decorate a function with `@completion`"
        )
