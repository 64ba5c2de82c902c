"""The official Python SDK's client over HTTP, with a handshake and without."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp import types as mcp_types

from clients import everything
from clients.everything import FORM, HANDSHAKE, NAME, QUESTION, SAMPLE, STATELESS, WATCHED
from support.serving import Served

MODES = {"legacy": HANDSHAKE, "auto": STATELESS, STATELESS: STATELESS}


@pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")  # and was there before
@pytest.mark.parametrize("mode", MODES)
def test_it_understands_the_server(mode: str, http_server: Served) -> None:
    everything.check(anyio.run(converse, http_server.url, mode), MODES[mode])


async def converse(url: str, mode: str) -> dict[str, Any]:
    updates: list[str] = []

    async def hear(message: object) -> None:
        if isinstance(message, mcp_types.ResourceUpdatedNotification):
            updates.append(str(message.params.uri))

    options: dict[str, Any] = {"elicitation_callback": answer, "sampling_callback": sample, "message_handler": hear}
    async with Client(url, mode=mode, read_timeout_seconds=30, **options) as client:
        transcript = {"protocol": client.protocol_version, **await listed(client), **await called(client)}
        transcript |= await asked(client)
        transcript["updated"] = await (updated(client) if mode != "legacy" else told(client, updates))
        transcript["cancelled"] = await cancelled(client)
    return transcript


async def answer(_: object, params: mcp_types.ElicitRequestParams) -> mcp_types.ElicitResult:
    content = FORM if params.message == QUESTION["message"] else {"name": NAME}
    return mcp_types.ElicitResult(action="accept", content=dict(content))


async def sample(_: object, params: mcp_types.CreateMessageRequestParams) -> mcp_types.CreateMessageResult:
    content = mcp_types.TextContent(type="text", text=SAMPLE)
    return mcp_types.CreateMessageResult(role="assistant", content=content, model="none", stop_reason="endTurn")


async def listed(client: Client) -> dict[str, Any]:
    return {
        "tools": [tool.name for tool in (await client.list_tools()).tools],
        "prompts": [prompt.name for prompt in (await client.list_prompts()).prompts],
        "resources": [str(one.uri) for one in (await client.list_resources()).resources],
        "templates": [one.uri_template for one in (await client.list_resource_templates()).resource_templates],
    }


async def called(client: Client) -> dict[str, Any]:
    steps: list[float] = []

    async def progress(value: float, total: float | None, message: str | None) -> None:
        steps.append(value)

    failed = await client.call_tool("test_error_handling", {})
    assert failed.is_error
    await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
    prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
    reference = mcp_types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    completed = await client.complete(reference, {"name": "arg1", "value": "park"})
    completed_all = await client.complete(reference, {"name": "arg1", "value": "par"})
    assert completed.completion.values == ["park"]
    return {
        "text": text_of(await client.call_tool("test_simple_text", {})),
        "failed": text_of(failed),
        "unknown_tool": await refusal(client.call_tool("no_such_tool", {})),
        "prompt": prompt.messages[0].content.text,
        "read": (await client.read_resource("test://static-text")).contents[0].text,
        "templated": (await client.read_resource("test://template/123/data")).contents[0].text,
        "unknown_resource": await refusal(client.read_resource("test://nothing/here")),
        "completed": [value for value in completed_all.completion.values if value != "paris"],
        "progress": steps,
    }


async def asked(client: Client) -> dict[str, Any]:
    return {
        "elicited": text_of(await client.call_tool("test_elicitation", QUESTION)),
        "greeted": text_of(await client.call_tool("test_input_required_result_elicitation", {})),
        "sampled": text_of(await client.call_tool("test_sampling", {"prompt": "Say something."})),
    }


async def updated(client: Client) -> str:
    async with client.listen(resource_subscriptions=[WATCHED]) as events:
        await client.call_tool("change_watched_resource", {"text": "changed"})
        with anyio.fail_after(20):
            return str((await anext(aiter(events))).uri)


async def told(client: Client, updates: list[str]) -> str:
    await client.subscribe_resource(WATCHED)
    with anyio.fail_after(20):
        while not updates:  # the stream for what belongs to no request may be opened a little later
            await client.call_tool("change_watched_resource", {"text": "changed"})
            await anyio.sleep(0.1)
    await client.unsubscribe_resource(WATCHED)
    return updates[0]


async def cancelled(client: Client) -> bool:
    seconds = everything.duration()
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "slow_compute", {"seconds": float(seconds), "label": "cancelled"})
        await anyio.to_thread.run_sync(everything.begins, seconds)
        group.cancel_scope.cancel()
    is_over = await anyio.to_thread.run_sync(everything.ends, seconds)
    assert text_of(await client.call_tool("test_simple_text", {})).startswith("This is")
    return is_over


def text_of(result: mcp_types.CallToolResult) -> str:
    return "".join(block.text for block in result.content)


async def refusal(answer: Awaitable[object]) -> int:
    with pytest.raises(MCPError) as refused:
        await answer
    return refused.value.code
