"""Completion: what may stand for an argument of a prompt, or for a variable of a resource's template.

Values that are known since the build are chosen here: those that begin with what was typed, then those that have it
anywhere; a handler chooses itself.  At most a hundred are shown, and how many there are is said.
"""

from __future__ import annotations

from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.effects import Call, CompletionOutcome, Failure
from mcpc_runtime.protocol.facts import INVALID_PARAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcpc_runtime.protocol.effects import Request
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.ports import Image
    from mcpc_runtime.protocol.session_state import SessionState

MOST_VALUES = 100
OTHERWISE = {"mcp_bash": "mcpc_runtime.contracts.mcp_bash_completion:otherwise"}
"""By what the index says of a format: what completes what no definition does."""
CONTEXT_SINCE = "2025-06-18"
"""The first revision in which a client says what it has chosen for other arguments."""


def complete(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Return the values that fit what was typed, or the handler that knows them."""
    try:
        kind, name, argument, value = asked(request.params)
        context = chosen(request)
        definition = session.image.completion(f"{kind}\n{name}\n{argument}")
        row = None if definition else next((row for key, row in OTHERWISE.items() if key in session.image.index), None)
        if row is not None:
            found = resolve(row)(request, name, value, context)
            return found if isinstance(found, Call) else shown(request, found)
        if argument not in KNOWN[kind](session.image, name):
            raise ValueError(f"{name} has no argument {argument!r}")
    except ValueError as problem:
        return Failure(INVALID_PARAMS, f"Invalid params: {problem}")
    if definition is None:
        return shown(request, CompletionOutcome([]))
    if definition.contract == "values":
        return shown(request, CompletionOutcome(fitting(definition.handler, value)))
    return Call(request, definition, {"value": value, "arguments": context})


def asked(params: dict[str, Json]) -> tuple[str, str, str, str]:
    """Return the kind and the name of what is completed, the argument, and what was typed; raise ValueError."""
    ref, argument = params.get("ref"), params.get("argument")
    if type(ref) is not dict or type(argument) is not dict:
        raise ValueError("`ref` and `argument` must be objects")
    row = REFERENCES.get(ref["type"]) if type(ref.get("type")) is str else None  # type: ignore[arg-type]
    if row is None:
        raise ValueError(f"`ref.type` must be one of {', '.join(REFERENCES)}")
    kind, member = row
    found = ref.get(member), argument.get("name"), argument.get("value")
    if any(type(text) is not str for text in found):
        raise ValueError(f"`ref.{member}`, `argument.name` and `argument.value` must be strings")
    return kind, *found  # type: ignore[return-value]


def chosen(request: Request) -> dict[str, Json]:
    """Return what the client has chosen for other arguments, where its revision lets it say that; raise ValueError."""
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
    """Return the names of a template's variables, a resource has none; raise ValueError if there is neither."""
    for template, _, variables, _ in image.templates:
        if template == uri:
            return [name for name, _ in variables]
    if image.resource(uri) is None:
        raise ValueError(f"unknown resource template: {uri}")
    return ()


def fitting(values: Iterable[str], typed: str) -> list[str]:
    """Return the values that begin with what was typed, then those that have it anywhere, whatever the case."""
    wanted = typed.casefold()
    begin = [value for value in values if value.casefold().startswith(wanted)]
    have = [value for value in values if wanted in value.casefold()] if wanted else []
    return list(dict.fromkeys([*begin, *have]))


def finish(call: Call, outcome: CompletionOutcome) -> bytes:
    """Return the values that a handler found."""
    return shown(call.request, outcome)


def shown(request: Request, outcome: CompletionOutcome) -> bytes:
    """Return values as a result."""
    total = max(outcome.total or 0, len(outcome.values))
    values: Json = outcome.values[:MOST_VALUES]  # type: ignore[assignment]
    more = outcome.more or total > MOST_VALUES
    return request.wire.seal({"completion": {"values": values, "total": total, "hasMore": more}}, {})


REFERENCES = {"ref/prompt": ("prompt", "name"), "ref/resource": ("resource", "uri")}
"""By the type of a reference: what it refers to, and the member that says which."""
KNOWN: dict[str, Callable[[Image, str], Iterable[str]]] = {"prompt": prompt_arguments, "resource": template_variables}
