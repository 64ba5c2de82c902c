"""The contract of static tools and prompts: the result was computed at build time, and nothing is run.

Requests of clients are answered by `mcpc_runtime.protocol.static_results`; this contract serves calls of other tools.
"""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Call, Ending, Outcome, PromptOutcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, parse


def build_invocation(call: Call, image: Image) -> list[Json]:
    """Return the stored content, in its richest form."""
    _, offset, length = call.definition.handler[1]
    content = parse(image.read(offset, length))
    return content if type(content) is list else []


def parse_result(call: Call, result: list[Json]) -> Ending:
    """Return the content as a result."""
    return PromptOutcome(result) if call.is_prompt else Outcome(result)
