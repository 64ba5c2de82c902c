"""Answers that are known: what a tool or a prompt says always goes into the blob, as each revision may show it.

    handler of the contract `known`, as its format made it   (file, JSON of the content blocks, or of the messages)
    and in its record                                        (file, (kinds, offset, length), …), the richest form first

A form is for the revisions that know its `kinds`; the last has none that any of them does not know.  A resource that is
known is `static`, and its record has the place alone.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from mcpc.emit.responses import compact
from mcpc.ir import Foreign
from mcpc.revisions import REVISIONS
from mcpc_runtime.protocol.downgrade import downgrade

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.emit.blob import Blob
    from mcpc.ir import Handler, Server
    from mcpc.sources import Json

KNOWN, STATIC = "known", "static"
COMMON = reduce(frozenset.__and__, (frozenset(revision.content) for revision in REVISIONS))
"""The kinds of content that every revision knows."""


def with_known(server: Server, blob: Blob) -> Server:
    """Return a server whose known answers are places in the blob."""
    if not any(is_known(one.handler) for one in server.definitions):
        return server
    return replace(
        server,
        tools=tuple(replace(tool, handler=_handler(tool.handler, _block, blob)) for tool in server.tools),
        prompts=tuple(replace(one, handler=_handler(one.handler, _message, blob)) for one in server.prompts),
    )


def is_known(handler: Handler | None) -> bool:
    """Tell whether a handler is an answer that is known."""
    return isinstance(handler, Foreign) and handler.contract == KNOWN


def known_contents(handler: Handler | None) -> bytes | None:
    """Return the contents of a resource that its format knows, None if something else has them."""
    if not isinstance(handler, Foreign) or handler.contract != STATIC:
        return None
    contents: bytes = handler.facts[0]
    return contents


def _handler(handler: Handler, shown: Callable[[Json], Json], blob: Blob) -> Handler:
    """Return the handler with the places of its forms; `shown` is what every revision may be shown of a value."""
    if not isinstance(handler, Foreign) or not is_known(handler):
        return handler
    whole: bytes = handler.facts[0]
    value = json.loads(whole)
    kinds = tuple(sorted(kinds_in(value) - COMMON))
    forms = [(kinds, *blob.add(whole))]
    if kinds:
        forms.append(((), *blob.add(compact([shown(item) for item in value]))))
    return replace(handler, facts=tuple(forms))


def kinds_in(value: list[dict[str, Any]]) -> frozenset[str]:
    """Return the kinds of content in a list of blocks, or of messages."""
    return frozenset(str(item["content"]["type"] if "content" in item else item["type"]) for item in value)


def _block(block: Json) -> Json:
    return downgrade(block, tuple(COMMON))


def _message(message: Any) -> Json:
    return {**message, "content": _block(message["content"])}
