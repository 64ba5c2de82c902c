"""Prompt requests before their handler runs, and the results of prompts.

A prompt's arguments are strings: the declared ones, and no others unless a hook of its server allows them.
"""

from __future__ import annotations

from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.constants import INVALID_PARAMS
from mcpc_runtime.protocol.contents import downgrade_content
from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.effects import Call, Failure, PromptOutcome, SessionState
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.protocol.static_results import static_result as known_answer

KNOWN = "known"


def get_prompt(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Return a call of the prompt, or the answer if it has no handler, or the request is wrong."""
    name = request.params.get("name")
    refusals = session.image.refusals
    if type(name) is not str:
        default = INVALID_PARAMS, "Invalid params: `name` must be a string"
        return Failure(*refusals.get("prompt_name_missing", default))
    prompt = session.image.prompt(name)
    if prompt is None:
        code, message = refusals.get("prompt_unknown", (INVALID_PARAMS, "Unknown prompt: {name}"))
        return Failure(code, message.replace("{name}", name))
    arguments = request.params.get("arguments")
    # As for tools: clients send `null` for no arguments.
    if arguments is None:
        arguments = {}
    if type(arguments) is not dict:
        return Failure(INVALID_PARAMS, "Invalid params: arguments must be a JSON object")
    if prompt.contract == KNOWN:
        known: bytes = known_answer(request, prompt)
        return known
    is_known = "prompts" not in session.image.run_time_kinds
    problem = describe_wrong_arguments(prompt, arguments) if is_known else ""
    if problem:
        return Failure(INVALID_PARAMS, f"Invalid params: {problem}")
    return Call(request, prompt, arguments)


def takes_any_arguments(prompt: Definition) -> bool:
    """Return whether a prompt takes undeclared arguments, of any type; required ones are still required."""
    return any(resolve(row)(prompt) for row in prompt.hooks("takes_any_arguments"))


def describe_wrong_arguments(prompt: Definition, arguments: dict[str, Json]) -> str:
    """Return what is wrong with a prompt's arguments, or an empty string."""
    declared = dict(prompt.arguments)
    for name, value in arguments.items() if not takes_any_arguments(prompt) else ():
        if name not in declared:
            return f"unknown argument {name!r}"
        if type(value) is not str:
            return f"argument {name!r} must be a string"
    missing = [name for name, required in prompt.arguments if required and name not in arguments]
    return f"missing required argument {missing[0]!r}" if missing else ""


def prompt_result(call: Call, outcome: PromptOutcome) -> bytes:
    """Return a prompt's messages as a result in the request's revision, as JSON."""
    wire = call.request.wire
    result: dict[str, Json] = {}
    if outcome.description is not None:
        result["description"] = outcome.description
    messages: list[Json] = []
    for message in outcome.messages:
        content = message["content"] if type(message) is dict else None
        is_known = type(content) is dict and content.get("type") in wire.content
        messages.append({**message, "content": content if is_known else downgrade_content(content, wire.content)})  # type: ignore[dict-item]
    result["messages"] = messages
    return wire.seal(result, {})
