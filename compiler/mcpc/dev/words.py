"""The messages that the proxy says itself, and how it reads those of others: a line stays the bytes it came as.

Only what a client says is parsed.  What a built server says begins with what it is about, and is not read further.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

from mcpc_runtime.protocol.facts import INTERNAL_ERROR, SUBSCRIPTION_KEY, VERSION_KEY

if TYPE_CHECKING:
    from pathlib import Path

    from mcpc.dev.building import Facts, Made

Message = dict[str, Any]
RELOAD, TOOLBOX_RELOAD = "mcpc_reload", "buildReload_tool"
"""The tool by which a client asks for the next build; the second is what ToolBox calls it."""
ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":(-?\d+|"(?:[^"\\]|\\.)*"),"(result|error)":')
LISTS = {"tools": "tools", "prompts": "prompts", "resources": "resources", "resourceTemplates": "resources"}
"""By the list of a built file: which change of lists clients are told of."""
FILTERS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


def messages(line: bytes) -> list[Message]:
    """Return the messages of a client's line; none if the server is to say what is wrong with it."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def key(identifier: object) -> str:
    """Return what an id is known by: `1` is not `"1"`."""
    return json.dumps(identifier)


def answered(line: bytes) -> list[tuple[str, bool]]:
    """Return the requests that a server's line answers, each with whether it was done."""
    found = ANSWER.match(line)
    if found:
        return [(key(json.loads(found[1])), found[2] == b"result")]
    if not line.startswith(b"["):
        return []
    return [(key(one["id"]), "result" in one) for one in messages(line) if "id" in one and "method" not in one]


def encode(message: Message) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def refusal(identifier: object, why: str) -> bytes:
    """Return the answer to a request that nobody will answer any more."""
    return encode({"jsonrpc": "2.0", "id": identifier, "error": {"code": INTERNAL_ERROR, "message": why}})


def notification(method: str, params: Message) -> bytes:
    """Return a notification."""
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def list_changed(kind: str, stream: object = None) -> bytes:
    """Return what tells of another list; on a stream it names the request that opened that."""
    params = {} if stream is None else {"_meta": {SUBSCRIPTION_KEY: stream}}
    return notification(f"notifications/{kind}/list_changed", params)


def differing(earlier: Facts, later: Facts) -> list[str]:
    """Return the kinds of lists that are others than before."""
    changed = {kind for name, kind in LISTS.items() if earlier.lists.get(name) != later.lists.get(name)}
    return sorted(changed)


def offered(made: Made) -> list[Message]:
    """Return the tools that a client finds beside the project's own."""
    tool = {
        "description": "Builds this server from its sources again, and serves the new one if that succeeds.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    }
    return [{"name": name, **tool} for name in reloads(made) if name not in made.facts.names]


def reloads(made: Made) -> list[str]:
    """Return the names of the tools that ask for the next build; ToolBox's own, which builds elsewhere, never runs."""
    own = [] if RELOAD in made.facts.names else [RELOAD]
    return [*own, TOOLBOX_RELOAD] if is_toolbox(made.facts) else own


def is_toolbox(facts: Facts) -> bool:
    """Tell whether a project has tools of ToolBox."""
    return "toolbox" in facts.format.split("+")


def extended(line: bytes, made: Made) -> bytes:
    """Return the last page of `tools/list` with the tools beside the project's; any other page as it is."""
    more = offered(made)
    message = json.loads(line) if more else {}
    result = message.get("result", {})
    if "nextCursor" in result or not isinstance(result.get("tools"), list):
        return line
    result["tools"] += more
    return encode(message)


def reloaded(request: Message, made: Made, toolbox: Path | None) -> bytes:
    """Return the answer to a call for the next build; `toolbox`: the folder of a project that has tools of ToolBox."""
    text = in_plain_words(made) if toolbox is None else in_words_of_toolbox(made, toolbox)
    result: Message = {"content": [{"type": "text", "text": text}]}
    if made.path is None:
        result["isError"] = True
    if is_stateless(request):
        result["resultType"] = "complete"
    return encode({"jsonrpc": "2.0", "id": request["id"], "result": result})


def in_plain_words(made: Made) -> str:
    """Return what a build changed and what is wrong with the project, as text."""
    first = made.summary if made.path is not None else "the project cannot be built; the last build serves on"
    return "\n\n".join(filter(None, [first, made.said]))


def in_words_of_toolbox(made: Made, project: Path) -> str:
    """Return what became of a build as ToolBox's tool of this kind says it."""
    if made.path is not None:
        build = {"success": True, "output": made.said, "directory": str(project)}
        value: Message = {"build": build, "reload": {"success": True, "tools": len(made.facts.names)}}
    else:
        told = {"stack": "", "directory": str(project), "system": sys.platform, "exitCode": made.status}
        details = {"message": "the project cannot be built", **told, "stdout": "", "stderr": made.said}
        value = {"error": "BuildReload_FAILED", "details": details}
    return json.dumps(value, indent=2, ensure_ascii=False)


def is_stateless(request: Message) -> bool:
    """Tell whether a request says its protocol version itself."""
    meta = parameters(request).get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def parameters(message: Message) -> Message:
    """Return the parameters of a message, if they are an object."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}
