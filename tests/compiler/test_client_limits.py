"""Sizes of the list of tools that clients warn of, at the limit and above it."""

import json

import pytest

from mcpc.passes.clients import CLAUDE_CODE_TOKENS, VS_CODE_TOOLS, check_client_limits
from support.projects import SERVER_JSON, lowered


def told(count: int, description: str = "d") -> list[str]:
    tools = [{"name": f"t{n}", "description": description, "inputSchema": {"type": "object"}} for n in range(count)]
    handlers = "".join(f"def t{n}(): ...\n" for n in range(count))
    server, _ = lowered({"server.json": SERVER_JSON, "tools.json": json.dumps({"tools": tools}), "tools.py": handlers})
    assert server is not None
    return [problem.message for problem in check_client_limits(server)]


@pytest.mark.parametrize("more", [0, 1])
def test_so_many_tools_that_vs_code_does_not_send_all(more: int) -> None:
    expected = [f"the server has {VS_CODE_TOOLS + 1} tools: VS Code sends at most {VS_CODE_TOOLS} of all servers"]
    assert told(VS_CODE_TOOLS + more) == expected * more


def test_a_list_of_so_many_tokens_that_claude_code_warns() -> None:
    rest = len(json.dumps(["t0", "", {"type": "object"}]))
    assert told(1, "d" * (CLAUDE_CODE_TOKENS * 4 + 3 - rest)) == []
    assert told(1, "d" * (CLAUDE_CODE_TOKENS * 4 + 4 - rest)) == [
        f"the list of tools has about {CLAUDE_CODE_TOKENS + 1} tokens: Claude Code warns of more than {CLAUDE_CODE_TOKENS}"
    ]
