"""A prompt of mcp-bash: a text with the arguments put in its places, as one message.

`{{name}}` is the place of any argument that is given, `${name}` of one that is declared; a place without an argument
stays as it is.  What is put in is not looked through again.
"""

from __future__ import annotations

import re

from mcpc_runtime.mcp_bash.settings import settings_of
from mcpc_runtime.protocol.effects import PromptOutcome, Ready, text
from mcpc_runtime.protocol.jsonrpc import encode, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json

PLACE = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
ROLES = ("user", "assistant")
WORDS = {True: "true", False: "false"}


def prepare(call: Call, image: Image) -> str:
    """Return the text: all that it takes is known."""
    written, _, _, declared, *_ = call.definition.handler[1:]
    return filled(str(written).rstrip("\n"), call.arguments, frozenset(declared))


def filled(written: str, arguments: dict[str, Json], declared: frozenset[str]) -> str:
    """Return a text with the arguments in their places."""
    known = {name: shown(value) for name, value in arguments.items()}

    def put(place: re.Match[str]) -> str:
        value = known.get(place[1]) if place[1] else known.get(place[2]) if place[2] in declared else None
        return place[0] if value is None else value

    return PLACE.sub(put, written)


def shown(value: Json) -> str | None:
    """Return an argument as it stands in a text, None for one that cannot."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return WORDS[value]
    return encode(value).decode() if type(value) is int or type(value) is float else None


def conclude(call: Call, made: str) -> Ending:
    """Return the message; with what the original says beside it, where clients were written for that."""
    _, role, metadata, _, *more = call.definition.handler[1:]
    description = more[0] if more else ""
    message: Json = {"role": role if role in ROLES else "user", "content": text(made)}
    if not settings_of(call.request.session.image).in_dialect:
        return PromptOutcome([message], description or None)
    result: dict[str, Json] = {"text": made, "arguments": call.arguments, "messages": [message]}
    result.update({"description": description} if description else {})
    known = parse(metadata.encode()) if metadata else None
    return Ready({**result, "metadata": known} if known is not None else result)
