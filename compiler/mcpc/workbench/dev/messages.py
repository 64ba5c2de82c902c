"""Messages that the proxy sends itself, and how it parses those of clients and servers.

Only client messages are parsed completely. Of a server line only the beginning is parsed, and its bytes are passed on.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from mcpc.frontends import BuildOutcome, frontends_of
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, SUBSCRIPTION_KEY, VERSION_KEY

if TYPE_CHECKING:
    from pathlib import Path

    from mcpc.frontends import ReloadTool
    from mcpc.workbench.dev.building import BuildFacts, BuildResult

Message = dict[str, Any]
RELOAD = "mcpc_reload"
"""The tool by which a client requests a build."""
RESPONSE_HEAD = re.compile(rb'\{"jsonrpc":"2\.0","id":(-?\d+|"(?:[^"\\]|\\.)*"),"(result|error)":')
LISTS = {"tools": "tools", "prompts": "prompts", "resources": "resources", "resourceTemplates": "resources"}
"""The kind of list-changed notification, by list of a built file."""
FILTERS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


def parse_messages(line: bytes) -> list[Message]:
    """Return the messages of a client's line; none if the server should report what is wrong with it."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def id_key(identifier: object) -> str:
    """Return the key of a request id: `1` and `"1"` differ."""
    return json.dumps(identifier)


def answered_requests(line: bytes) -> list[tuple[str, bool]]:
    """Return the requests that a server's line answers, each with its success."""
    found = RESPONSE_HEAD.match(line)
    if found:
        return [(id_key(json.loads(found[1])), found[2] == b"result")]
    if not line.startswith(b"["):
        return []
    return [
        (id_key(item["id"]), "result" in item) for item in parse_messages(line) if "id" in item and "method" not in item
    ]


def encode_message(message: Message) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def error_response(identifier: object, why: str) -> bytes:
    """Return the error response for a request whose server has ended."""
    return encode_message({"jsonrpc": "2.0", "id": identifier, "error": {"code": INTERNAL_ERROR, "message": why}})


def notification(method: str, params: Message) -> bytes:
    """Return a notification."""
    return encode_message({"jsonrpc": "2.0", "method": method, "params": params})


def list_changed(kind: str, stream: object = None) -> bytes:
    """Return the notification of a changed list; on a stream it names the request that opened it."""
    params = {} if stream is None else {"_meta": {SUBSCRIPTION_KEY: stream}}
    return notification(f"notifications/{kind}/list_changed", params)


def changed_lists(earlier: BuildFacts, later: BuildFacts) -> list[str]:
    """Return the kinds of lists that differ between two builds."""
    changed = {kind for name, kind in LISTS.items() if earlier.lists.get(name) != later.lists.get(name)}
    return sorted(changed)


def added_tools(build: BuildResult) -> list[Message]:
    """Return the tools that are added to the project's own."""
    tool = {
        "description": "Rebuild this server from its sources, and serve the new build if it succeeds.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    }
    return [{"name": name, **tool} for name in reload_tool_names(build) if name not in build.facts.names]


def reload_tool_names(build: BuildResult) -> list[str]:
    """Return the names of tools that request a build; a project's own tool of that kind is not run."""
    own = [] if RELOAD in build.facts.names else [RELOAD]
    theirs = reload_tool(build.facts)
    return own if theirs is None else [*own, theirs.name]


def reload_tool(facts: BuildFacts) -> ReloadTool | None:
    """Return the tool by which projects of a format request a build, or None."""
    return next((item.reload for item in frontends_of(facts.format) if item.reload is not None), None)


def extend_tool_list(line: bytes, build: BuildResult) -> bytes:
    """Return the last page of `tools/list` with the added tools; other pages unchanged."""
    more = added_tools(build)
    message = json.loads(line) if more else {}
    result = message.get("result", {})
    if "nextCursor" in result or not isinstance(result.get("tools"), list):
        return line
    result["tools"] += more
    return encode_message(message)


def reload_result(request: Message, build: BuildResult, project: Path, tool: ReloadTool | None) -> bytes:
    """Return the result of a build request, in the form of the project's own `tool` if it has one."""
    text = build_text(build) if tool is None else tool.answer(project_tool_result(build, project))
    result: Message = {"content": [{"type": "text", "text": text}]}
    if build.path is None:
        result["isError"] = True
    if is_stateless(request):
        result["resultType"] = "complete"
    return encode_message({"jsonrpc": "2.0", "id": request["id"], "result": result})


def build_text(build: BuildResult) -> str:
    """Return the changes and the problems of a build, as text."""
    first = build.summary if build.path is not None else "the build failed; the last successful build keeps serving"
    return "\n\n".join(filter(None, [first, build.output]))


def project_tool_result(build: BuildResult, project: Path) -> BuildOutcome:
    """Return the result of a build in the form of a project's own tool."""
    return BuildOutcome(build.path is not None, build.output, build.status, len(build.facts.names), project)


def is_stateless(request: Message) -> bool:
    """Tell whether a request states its protocol version itself."""
    meta = params_of(request).get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def params_of(message: Message) -> Message:
    """Return the parameters of a message, if they are an object."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}
