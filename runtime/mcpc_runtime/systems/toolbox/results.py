"""Requests to ToolBox handlers, and conversion of their results: both are passed on as they are.

No return value is an empty result; a text is a text block.  Any other value that is not a result is an error.
"""

from __future__ import annotations

from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.handlers.results import (
    RESULT_FIELDS,
    has_valid_type,
    is_block,
    outcome_of_result,
    prompt_outcome,
    resource_outcome,
)
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.contents import downgrade_content
from mcpc_runtime.protocol.effects import Call, Ending, Failure, FinishedResult, Outcome, text_outcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, encode

CONTRACTS = ("toolbox", "toolbox_python")
CLIENT = "ai"
"""The client's name in the log."""
EXPECTED = "an object with `content`, a list of content blocks"


def build_request(call: Call) -> dict[str, Json]:
    """Return the request for a tool; a call by another tool has the arguments of that call."""
    if not call.chain:
        return {"method": call.request.method, "params": call.request.params}
    return {"method": "tools/call", "params": {"name": call.definition.name, "arguments": call.arguments}}


def caller_name(call: Call) -> str:
    """Return the caller's name for the log."""
    return call.chain[-1] if call.chain else CLIENT


def is_logged(call: Call, image: Image) -> bool:
    """Tell whether a call is logged by its caller: ToolBox tools log the calls that they make."""
    tool = image.any_tool(call.chain[-1]) if call.chain else None
    return tool is not None and tool.contract in CONTRACTS


def parse_tool_result(call: Call, returned: FunctionResult) -> Ending:
    """Convert what a tool returned to an ending."""
    value = returned.value
    problem = returned.problem if returned.raised is None else str(returned.raised.get("message"))
    if problem:
        return text_outcome(problem, is_error=True)
    if value is None:
        return Outcome([])
    if type(value) is str:
        return text_outcome(value)
    content = value.get("content") if type(value) is dict else None
    blocks: list[Json] = [with_text(block) for block in content] if type(content) is list else [None]
    if type(value) is not dict or not all(map(is_block, blocks)):
        return text_outcome(f"{call.definition.name} returned no result: expected {EXPECTED}", is_error=True)
    value["content"] = blocks
    # A result with further members is passed on whole, unless another tool gets it or its schema has to be checked.
    if value.keys() <= RESULT_FIELDS or call.chain or call.definition.output is not None:
        return outcome_of_result(value)
    value["content"] = [downgrade_content(block, call.request.wire.content) for block in blocks]
    return FinishedResult({key: part for key, part in value.items() if type(part) is MEMBER_TYPES.get(key, type(part))})


MEMBER_TYPES = {"isError": bool, "structuredContent": dict, "_meta": dict, "resultType": None}
"""The types of a result's members; members of another type are left out."""


def with_text(block: Json) -> Json:
    """Return a block with its `text` as a string: tools may pass objects there, but clients require strings."""
    if type(block) is dict and block.get("type") == "text" and type(block.get("text", "")) is not str:
        return {**block, "text": encode(block["text"]).decode()}
    return block


def parse_other_result(call: Call, returned: FunctionResult) -> Ending:
    """Convert what a handler of prompts or resources returned to an ending."""
    if returned.raised is not None:
        return Failure(INTERNAL_ERROR, str(returned.raised.get("message")))
    problem, value = returned.problem, returned.value
    if not problem:
        ending = RESULT_PARSERS[call.request.method](call, value)
        if ending is not None:
            return ending
        problem = "the handler returned an invalid result for this method"
    return Failure(INTERNAL_ERROR, f"Internal error: {problem}")


def parse_resource_list(call: Call, value: Json) -> Ending | None:
    """Return the list of resources: the static ones, then those of the handler."""
    dynamic = value.get("resources") if type(value) is dict else None
    if type(dynamic) is not list or not all(type(item) is dict and type(item.get("uri")) is str for item in dynamic):
        return None
    static = call.arguments.get("known")
    resources: list[Json] = [
        *(static if type(static) is list else []),
        *(resource_entry(item) for item in dynamic if type(item) is dict),
    ]
    result: dict[str, Json] = {"resources": resources}
    if call.request.wire.stateless:
        # The handler may return another list at any time, and to any caller.
        result.update(ttlMs=0, cacheScope="private")
    return FinishedResult(result)


def resource_entry(resource: dict[str, Json]) -> Json:
    """Return a resource for clients: with a name, and without members of an invalid type."""
    named = resource if type(resource.get("name")) is str else {**resource, "name": resource["uri"]}
    return dict(filter(has_valid_type, named.items()))


def parse_prompt(_: Call, value: Json) -> Ending | None:
    """Return the messages of a prompt."""
    return prompt_outcome(value) if type(value) is dict and type(value.get("messages")) is list else None


RESULT_PARSERS = {
    "prompts/get": parse_prompt,
    "resources/list": parse_resource_list,
    "resources/read": resource_outcome,
}
