"""The contract of mcp-bash prompts: a template filled with the arguments, as one message.

`{{name}}` is the placeholder of any argument, `${name}` of a declared one; placeholders without an argument stay.
Inserted values are not expanded again.
"""

from __future__ import annotations

import re

from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.effects import Call, Ending, FinishedResult, PromptOutcome, text
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, encode, parse
from mcpc_runtime.systems.mcp_bash.settings import settings_of

PLACEHOLDER = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
ROLES = ("user", "assistant")
BOOLEAN_TEXTS = {True: "true", False: "false"}


def build_invocation(call: Call, image: Image) -> str:
    """Return the filled template."""
    written, _, _, declared, *_ = call.definition.handler[1:]
    # As a shell reads a file: without the line breaks at its end.
    return fill_template(str(written).rstrip("\n"), call.arguments, frozenset(declared))


def fill_template(written: str, arguments: dict[str, Json], declared: frozenset[str]) -> str:
    """Return a template with its placeholders replaced by arguments."""
    known = {name: argument_text(value) for name, value in arguments.items()}

    def put(place: re.Match[str]) -> str:
        value = known.get(place[1]) if place[1] else known.get(place[2]) if place[2] in declared else None
        return place[0] if value is None else value

    return PLACEHOLDER.sub(put, written)


def argument_text(value: Json) -> str | None:
    """Return an argument as text, None for values that have none."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return BOOLEAN_TEXTS[value]
    return encode(value).decode() if type(value) is int or type(value) is float else None


def parse_result(call: Call, made: str) -> Ending:
    """Return the message; in the dialect, with the original server's additional members."""
    _, role, metadata, _, *more = call.definition.handler[1:]
    description = more[0] if more else ""
    message: Json = {"role": role if role in ROLES else "user", "content": text(made)}
    if not settings_of(call.request.session.image).in_dialect:
        return PromptOutcome([message], description or None)
    result: dict[str, Json] = {"text": made, "arguments": call.arguments, "messages": [message]}
    result.update({"description": description} if description else {})
    known = parse(metadata.encode()) if metadata else None
    return FinishedResult({**result, "metadata": known} if known is not None else result)


def takes_any_arguments(prompt: Definition) -> bool:
    """Tell whether a prompt is one of mcp-bash, whose arguments are not checked."""
    return prompt.contract == "mcp_bash_prompt"
