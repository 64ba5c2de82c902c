"""Answers the demo server's requests with the stand-ins: `python replay.py GENERATION VERSION` prints them."""

import asyncio
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "runtime")]
from demo_requests import requests  # noqa: E402
from record import CLIENT, VERSION, cleaned, labelled  # noqa: E402

from mcpc_runtime.systems.fastmcp import standins  # noqa: E402
from mcpc_runtime.systems.fastmcp.engine.server import ProtocolError  # noqa: E402


class RecordingCall:
    """A call whose messages to the client are recorded in the protocol's form."""

    request_id = "1"
    session_id = "s"
    client_id = None
    protocol_version = VERSION
    transport = "stdio"

    def __init__(self, meta, answer):
        self.meta, self.answer, self.messages = meta, answer, []
        self.client_capabilities, self.client_info = CLIENT["capabilities"], CLIENT["clientInfo"]
        self.headers = {}

    def record(self, method, params):
        self.messages.append({"method": method, "params": params})

    async def log(self, level, data, logger=None):
        self.record("notifications/message", {"level": level, **({"logger": logger} if logger else {}), "data": data})

    async def progress(self, progress, total=None, message=None):
        given = {"progressToken": self.meta["progressToken"], "progress": progress, "total": total, "message": message}
        self.record("notifications/progress", {key: value for key, value in given.items() if value is not None})

    async def elicit(self, message, schema, url=""):
        self.record("elicitation/create", {"message": message, "requestedSchema": schema})
        return self.answer

    async def sample(self, params):
        self.record("sampling/createMessage", params)
        return self.answer

    async def list_roots(self):
        self.record("roots/list", {})
        return self.answer["roots"]

    async def list_changed(self, kind):
        self.record(f"notifications/{kind}/list_changed", {})

    async def resource_updated(self, uri):
        self.record("notifications/resources/updated", {"uri": uri})


async def answered(server, method, params, answer):
    call = RecordingCall(params.get("_meta", {}), answer)
    try:
        if method == "tools/call":
            result = await server.mcpc_call_tool(params["name"], params["arguments"], call)
        elif method == "prompts/get":
            result = await server.mcpc_get_prompt(params["name"], params["arguments"], call)
        else:
            result = await server.mcpc_read_resource(params["uri"], call)
        found = {"result": result}
    except ProtocolError as problem:
        data = {} if problem.data is None else {"data": problem.data}
        found = {"error": {"code": problem.code, "message": problem.message, **data}}
    return labelled((method, params), cleaned({**found, "messages": call.messages}))


async def main(server):
    async with server.mcpc_lifespan():
        return [await answered(server, *each) for each in requests()]


if __name__ == "__main__":
    standins.install(*sys.argv[1:])
    demo = __import__("demo_server")
    sys.stdout.write(json.dumps(asyncio.run(main(demo.mcp))))
