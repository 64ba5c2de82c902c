"""Ask whether what is completed is there: the prompt and its argument, the template and its variable, each once."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.ir.places import place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.ir import Completion, Server

CALLED = {"prompt": "prompt", "resource": "resource template"}
PARTS = {"prompt": "argument", "resource": "variable"}


def completions(server: Server) -> Diagnostics:
    """Report completions of what there is not, and two of one argument."""
    known: dict[str, dict[str, tuple[str, ...]]] = {
        "prompt": {prompt.name: tuple(one.name for one in prompt.arguments) for prompt in server.prompts},
        "resource": {one.uri.text: tuple(variable.name for variable in one.uri.variables) for one in server.templates},
    }
    problems: list[Diagnostic] = []
    firsts: dict[str, Completion] = {}
    for completion in server.completions:
        problems += _lost(completion, known[completion.kind])
        first = firsts.setdefault(completion.key, completion)
        if first is not completion:
            hint = f"the first is at {place(first.span, server.sources)}; remove one of them"
            message = f"`{completion.argument}` of `{completion.ref}` is completed twice"
            problems.append(diagnose("MCP104", completion.span, message, "", hint))
    return tuple(problems)


def _lost(completion: Completion, known: dict[str, tuple[str, ...]]) -> Iterator[Diagnostic]:
    what, part = CALLED[completion.kind], PARTS[completion.kind]
    if completion.ref not in known:
        message = f"there is no {what} `{completion.ref}` to complete"
        yield diagnose("MCP126", _ref(completion), message, "", _nearest(completion.ref, known))
    elif completion.argument not in known[completion.ref]:
        message = f"the {what} `{completion.ref}` has no {part} `{completion.argument}`"
        hint = _nearest(completion.argument, known[completion.ref])
        yield diagnose("MCP126", completion.span, message, "", hint)
    elif completion.handler is not None and not completion.handler.file and not completion.argument.isidentifier():
        message = f"no function can be named after the {part} `{completion.argument}`"
        yield diagnose("MCP126", completion.span, message, "", "say its `values`, or mark a function `@completion`")


def _ref(completion: Completion) -> Span:
    ref = completion.members.get("ref")
    return completion.span if ref is None else ref.span


def _nearest(wanted: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(wanted, known, n=1)
    return f"did you mean `{near[0]}`?" if near else ""
