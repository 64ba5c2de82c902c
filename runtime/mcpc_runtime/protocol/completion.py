"""Completion: suggest values for an argument of a prompt, or for a variable of a resource template.

Values that are fixed at build time are selected here: those that begin with the typed text, then those that contain it.
A handler selects its values itself. A result has at most a hundred values, and their total number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.constants import INVALID_PARAMS
from mcpc_runtime.protocol.effects import Call, CompletionOutcome, Failure, SessionState
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.requests import Request

# The maximum of the protocol.
MAX_VALUES = 100
CONTEXT_SINCE = "2025-06-18"
"""The first revision in which a client sends the values it has chosen for other arguments."""


def complete(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Return the values that match the typed text, or the call of the handler that finds them."""
    try:
        kind, name, argument, value = parse_params(request.params)
        context = chosen_arguments(request)
        definition = session.image.completion(f"{kind}\n{name}\n{argument}")
        row = None if definition else next(iter(session.image.hooks("complete")), None)
        if row is not None:
            completion = resolve(row)(request, name, value, context)
            return completion if isinstance(completion, Call) else completion_result(request, completion)
        if argument not in ARGUMENT_NAMES[kind](session.image, name):
            raise ValueError(f"unknown argument {argument!r} of {name}")
    except ValueError as problem:
        return Failure(INVALID_PARAMS, f"Invalid params: {problem}")
    if definition is None:
        return completion_result(request, CompletionOutcome([]))
    if definition.contract == "values":
        return completion_result(request, CompletionOutcome(matching_values(definition.handler, value)))
    return Call(request, definition, {"value": value, "arguments": context})


def parse_params(params: dict[str, Json]) -> tuple[str, str, str, str]:
    """Return the kind and name of what is completed, the argument, and the typed text; raise ValueError."""
    ref, argument = params.get("ref"), params.get("argument")
    if type(ref) is not dict or type(argument) is not dict:
        raise ValueError("`ref` and `argument` must be objects")
    reference = ref.get("type")
    row = REFERENCES.get(reference) if type(reference) is str else None
    if row is None:
        raise ValueError(f"`ref.type` must be one of {', '.join(REFERENCES)}")
    kind, member = row
    name, argument_name, typed = ref.get(member), argument.get("name"), argument.get("value")
    if type(name) is not str or type(argument_name) is not str or type(typed) is not str:
        raise ValueError(f"`ref.{member}`, `argument.name` and `argument.value` must be strings")
    return kind, name, argument_name, typed


def chosen_arguments(request: Request) -> dict[str, Json]:
    """Return the values chosen for other arguments, in revisions that have them; raise ValueError."""
    context = request.params.get("context")
    if context is None or request.wire.version < CONTEXT_SINCE:
        return {}
    arguments = context.get("arguments", {}) if type(context) is dict else None
    if type(arguments) is not dict or any(type(value) is not str for value in arguments.values()):
        raise ValueError("`context.arguments` must be an object of strings")
    return arguments


def prompt_arguments(image: Image, name: str) -> Iterable[str]:
    """Return the names of a prompt's arguments; raise ValueError if there is no such prompt."""
    prompt = image.prompt(name)
    if prompt is None:
        raise ValueError(f"unknown prompt: {name}")
    return [argument for argument, _ in prompt.arguments]


def template_variables(image: Image, uri: str) -> Iterable[str]:
    """Return the names of a template's variables, none for a resource; raise ValueError if there is neither."""
    for template, _, variables, _ in image.templates:
        if template == uri:
            return [name for name, _ in variables]
    if image.resource(uri) is None:
        raise ValueError(f"unknown resource template: {uri}")
    return ()


def matching_values(values: Iterable[str], typed: str) -> list[str]:
    """Return the values that begin with the typed text, then those that contain it; case is ignored."""
    folded = typed.casefold()
    beginning = [value for value in values if value.casefold().startswith(folded)]
    containing = [value for value in values if folded in value.casefold()] if folded else []
    # The values of the first list are in the second one, too.
    return list(dict.fromkeys([*beginning, *containing]))


def finish(call: Call, outcome: CompletionOutcome) -> bytes:
    """Return the result with the values that a handler found."""
    return completion_result(call.request, outcome)


def completion_result(request: Request, outcome: CompletionOutcome) -> bytes:
    """Return values as a result."""
    total = max(outcome.total or 0, len(outcome.values))
    values: list[Json] = [*outcome.values[:MAX_VALUES]]
    more = outcome.more or total > len(values)
    return request.wire.seal({"completion": {"values": values, "total": total, "hasMore": more}}, {})


REFERENCES = {"ref/prompt": ("prompt", "name"), "ref/resource": ("resource", "uri")}
"""By the type of a reference: what it refers to, and the member that names it."""
ARGUMENT_NAMES: dict[str, Callable[[Image, str], Iterable[str]]] = {
    "prompt": prompt_arguments,
    "resource": template_variables,
}
