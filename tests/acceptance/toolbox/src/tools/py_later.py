"""The same contract in Python, asynchronous, with calls side by side."""

import asyncio

from mcpc import call_tool_handler

schema = {"description": "Greet many.", "type": "object", "properties": {"names": {"type": "array"}}}


async def greeted(name):
    await asyncio.sleep(0)
    found = await call_tool_handler(
        {"params": {"name": "hello_world", "arguments": {"name": name}}}, f"py_later_{name}"
    )
    return found["content"][0]


async def default(request):
    return {"content": await asyncio.gather(*map(greeted, request["params"]["arguments"]["names"]))}
