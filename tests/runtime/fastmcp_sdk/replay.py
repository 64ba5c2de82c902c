"""Runs a demo under the stand-ins and prints what its server answers, as `record.py` prints what the real one does.

`replay.py DEMO GENERATION VERSION`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "runtime")]

from record import ANSWERS, CLIENT, requests  # noqa: E402

from mcpc_runtime.systems.fastmcp import program, standins  # noqa: E402
from mcpc_runtime.systems.fastmcp.engine.server import ProtocolError  # noqa: E402


class RecordingCall:
    """A call of the recorder's client that keeps what the server sends."""

    request_id, session_id, client_id = "1", "s", None
    protocol_version, transport = CLIENT["protocolVersion"], "stdio"
    client_capabilities, client_info = CLIENT["capabilities"], CLIENT["clientInfo"]

    def __init__(self, meta: dict[str, Any]) -> None:
        self.meta = meta
        self.headers: dict[str, str] = {}
        self.sent: list[Any] = []

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        self.sent.append(["notifications/message", present(level=level, logger=logger, data=data)])

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if "progressToken" in self.meta:
            told = present(progressToken="token", progress=progress, total=total, message=message)
            self.sent.append(["notifications/progress", told])

    async def elicit(self, message: str, schema: dict[str, Any], url: str = "") -> dict[str, Any]:
        self.sent.append(["elicitation/create", {"mode": "form", "message": message, "requestedSchema": schema}])
        return ANSWERS["elicitation/create"]

    async def sample(self, params: dict[str, Any]) -> dict[str, Any]:
        self.sent.append(["sampling/createMessage", params])
        return ANSWERS["sampling/createMessage"]

    async def list_roots(self) -> list[dict[str, Any]]:
        self.sent.append(["roots/list", None])
        return ANSWERS["roots/list"]["roots"]

    async def resource_updated(self, uri: str) -> None:
        self.sent.append(["notifications/resources/updated", {"uri": uri}])

    async def list_changed(self, kind: str) -> None:
        self.sent.append([f"notifications/{kind}/list_changed", None])


def present(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def run(server: Any, method: str, params: dict[str, Any], call: RecordingCall) -> Any:
    """The coroutine that answers a request."""
    if method == "tools/call":
        return server.mcpc_call_tool(params["name"], params.get("arguments") or {}, call)
    if method == "prompts/get":
        return server.mcpc_get_prompt(params["name"], params.get("arguments"), call)
    if method == "resources/read":
        return server.mcpc_read_resource(params["uri"], call)
    return completed(server, params, call)


async def completed(server: Any, params: dict[str, Any], call: RecordingCall) -> Any:
    return {
        "completion": await server.mcpc_complete(params["ref"], params["argument"], params.get("context") or {}, call)
    }


async def answer(server: Any, method: str, params: dict[str, Any]) -> dict[str, Any]:
    call = RecordingCall({"progressToken": "token"} if method == "tools/call" else {})
    try:
        found = {"result": await run(server, method, params, call)}
    except ProtocolError as problem:
        found = {"error": present(code=problem.code, message=problem.message, data=problem.data)}
    return {"method": method, "params": params, **found, "sent": call.sent}


async def replay(server: Any, demo: str) -> dict[str, Any]:
    lists = await server.mcpc_lists()
    kinds = {
        "tools/list": lists.tools,
        "prompts/list": lists.prompts,
        "resources/list": lists.resources,
        "resources/templates/list": lists.templates,
    }
    async with server.mcpc_lifespan():
        calls = [await answer(server, method, params) for method, params in requests(demo)]
    return {
        "information": server.mcpc_information(),
        "lists": {method: [each.entry for each in entries] for method, entries in kinds.items()},
        "completions": lists.completions,
        "calls": calls,
    }


class Host:
    """What runs the demo: it answers the requests as soon as the server is served."""

    def __init__(self, demo: str) -> None:
        self.servers: list[Any] = []
        self.demo = demo

    async def serve(self, server: Any) -> None:
        print(json.dumps(await replay(server, self.demo)))  # noqa: T201 - its result


if __name__ == "__main__":
    demo, generation, version = sys.argv[1:]
    standins.install(generation, version)
    host = Host(demo)
    program.current_program.host = host
    program.start_file(f"{demo}.py", str(HERE), [])
