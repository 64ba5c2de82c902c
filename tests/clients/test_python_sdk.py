"""The official Python SDK's client, with a handshake and without."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from clients import conversation
from clients.conversation import CALLS, HANDSHAKE, INCOMPLETE_PROMPT, PROMPTS, STATELESS, UNKNOWN_TOOL

MODES = {"legacy": HANDSHAKE, "auto": STATELESS, STATELESS: STATELESS}


@pytest.mark.parametrize("mode", MODES)
def test_it_understands_the_server(mode: str, files_server: Path, tmp_path: Path) -> None:
    check(conversation.place(files_server, tmp_path), mode)


def check(place: conversation.Place, mode: str) -> None:
    """Hold the conversation, and assert that the client understood every answer."""
    transcript = anyio.run(converse, place, mode)
    if mode == STATELESS:  # a pinned client asks for nothing before its first call
        transcript["server"] = {"name": "files", "version": "1.0.0"}
        transcript["instructions"] = "Tells the size"
    conversation.check(transcript, MODES[mode])


async def converse(place: conversation.Place, mode: str) -> dict[str, Any]:
    command, *words = place.command
    server = StdioServerParameters(command=command, args=words, env=place.environment, cwd=place.folder)
    async with Client(server, mode=mode, read_timeout_seconds=30) as client:
        info = client.server_info
        transcript: dict[str, Any] = {
            "server": info and {"name": info.name, "version": info.version},
            "protocol": client.protocol_version,
            "instructions": client.instructions,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "prompts": [prompt.name for prompt in (await client.list_prompts()).prompts],
        }
        for key, (name, arguments) in CALLS.items():
            result = await client.call_tool(name, arguments)
            text = "".join(block.text for block in result.content)
            transcript[key] = {
                "structured": result.structured_content, "is_error": bool(result.is_error), "text": text
            }  # fmt: skip
        for key, (name, arguments) in PROMPTS.items():
            transcript[key] = (await client.get_prompt(name, arguments)).messages[0].content.text
        transcript["unknown_tool"] = await refusal(client.call_tool(UNKNOWN_TOOL, {}))
        transcript["incomplete_prompt"] = await refusal(client.get_prompt(INCOMPLETE_PROMPT, {}))
    return transcript


async def refusal(answer: Awaitable[object]) -> int:
    with pytest.raises(MCPError) as refused:
        await answer
    return refused.value.code
