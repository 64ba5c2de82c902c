"""What a ToolBox tool is asked, and what its answer means: the request as it came, and the result as it was returned.

Nothing that was returned is an empty answer; a text is a text.  What is no result is an error that says so.
"""

from __future__ import annotations

from mcpc_runtime.protocol.downgrade import downgrade
from mcpc_runtime.protocol.effects import Failure, Outcome, Ready, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR
from mcpc_runtime.protocol.jsonrpc import encode
from mcpc_runtime.results import RESULT_FIELDS, fits, is_block, prompt_outcome, resource_outcome, whole_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.commands import Returned
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json

CONTRACTS = ("toolbox", "toolbox_python")
CLIENT = "ai"
"""What the log calls the client."""
SHAPE = "an object with `content`, a list of content blocks"


def request_of(call: Call) -> dict[str, Json]:
    """Return the request as a tool gets it; one that another tool makes has that tool's arguments."""
    if not call.chain:
        return {"method": call.request.method, "params": call.request.params}
    return {"method": "tools/call", "params": {"name": call.definition.name, "arguments": call.arguments}}


def caller_of(call: Call) -> str:
    """Return who calls, as the log says it."""
    return call.chain[-1] if call.chain else CLIENT


def is_logged(call: Call, image: Image) -> bool:
    """Tell whether a call is in the log already: a tool of this system writes its own calls there."""
    tool = image.tool(call.chain[-1]) if call.chain else None
    return tool is not None and tool.contract in CONTRACTS


def tool_ending(call: Call, returned: Returned) -> Ending:
    """Return what a tool's answer means."""
    value = returned.value
    problem = returned.problem if returned.raised is None else str(returned.raised.get("message"))
    if problem:
        return text_outcome(problem, is_error=True)
    if value is None:
        return Outcome([])
    if type(value) is str:
        return text_outcome(value)
    content = value.get("content") if type(value) is dict else None
    blocks: list[Json] = [written(block) for block in content] if type(content) is list else [None]
    if type(value) is not dict or not all(map(is_block, blocks)):
        return text_outcome(f"{call.definition.name} returned no result: expected {SHAPE}", is_error=True)
    value["content"] = blocks
    if value.keys() <= RESULT_FIELDS or call.chain or call.definition.output is not None:
        return whole_result(value)
    value["content"] = [downgrade(block, call.request.wire.content) for block in blocks]
    return Ready({key: part for key, part in value.items() if type(part) is KINDS.get(key, type(part))})


KINDS = {"isError": bool, "structuredContent": dict, "_meta": dict, "resultType": None}
"""What members of a result have to be; those that are anything else are left out."""


def written(block: Json) -> Json:
    """Return a block whose text is one: tools hand each other objects there, and clients want texts."""
    if type(block) is dict and block.get("type") == "text" and type(block.get("text", "")) is not str:
        return {**block, "text": encode(block["text"]).decode()}
    return block


def other_ending(call: Call, returned: Returned) -> Ending:
    """Return what the answer of a project's handler of prompts or resources means."""
    if returned.raised is not None:
        return Failure(INTERNAL_ERROR, str(returned.raised.get("message")))
    problem, value = returned.problem, returned.value
    if not problem:
        ending = READ[call.request.method](call, value)
        if ending is not None:
            return ending
        problem = "what its handler returned is no result of this method"
    return Failure(INTERNAL_ERROR, f"Internal error: {problem}")


def listed(call: Call, value: Json) -> Ending | None:
    """Return the list of resources: those that were built in, then those that the handler lists."""
    found = value.get("resources") if type(value) is dict else None
    if type(found) is not list or not all(type(one) is dict and type(one.get("uri")) is str for one in found):
        return None
    known = call.arguments.get("known")
    whole: list[Json] = [*(known if type(known) is list else []), *(shown(one) for one in found)]  # type: ignore[arg-type]
    result: dict[str, Json] = {"resources": whole}
    if call.request.wire.stateless:
        result.update(ttlMs=0, cacheScope="private")
    return Ready(result)


def shown(resource: dict[str, Json]) -> Json:
    """Return a resource as clients are shown it: with a name, and without what is not what it is called."""
    named = resource if type(resource.get("name")) is str else {**resource, "name": resource["uri"]}
    return dict(filter(fits, named.items()))


def prompted(_: Call, value: Json) -> Ending | None:
    """Return a prompt's messages."""
    return prompt_outcome(value) if type(value) is dict and type(value.get("messages")) is list else None


READ = {"prompts/get": prompted, "resources/list": listed, "resources/read": resource_outcome}
