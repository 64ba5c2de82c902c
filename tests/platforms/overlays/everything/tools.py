# Added to tools.py: the tools of tools.json and tools.d/asks.json in Python, with the answers of the Bash functions that
# they replace.

import asyncio
import json
from typing import Any

from mcpc import Context, ToolError


def test_simple_text() -> str:
    return "This is a simple text response for testing."


def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(context: Context) -> str:
    for step in (0, 50, 100):
        await context.report_progress(step, 100, f"completed step {step} of 100")
        await asyncio.sleep(0.05)
    return "all steps are completed"


async def test_tool_with_logging(context: Context) -> str:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.info(text)
        await asyncio.sleep(0.05)
    return "three messages were logged"


async def test_logging_tool(context: Context) -> str:
    await context.info("somebody wanted to hear this")
    return "one message was logged"


def json_schema_2020_12_tool(name: str = "without a name", phone: str = "", email: str = "", **_: Any) -> str:
    return f"contact {name} by {phone or email}"


def test_x_mcp_header(region: str) -> str:
    return f"looking in {region}"


def test_trigger_tool_change(context: Context) -> str:
    context.list_changed("tools")
    return "clients that listen were told"


def test_trigger_prompt_change(context: Context) -> str:
    context.list_changed("prompts")
    return "clients that listen were told"


async def slow_compute(seconds: float, label: str = "the result") -> str:
    await asyncio.sleep(seconds)
    return f"{label} took {seconds} seconds"


def show_clock() -> str:
    return "12:00"


def content_of(context: Context, key: str) -> dict[str, Any]:
    """Return the content of an answer to the definition's question."""
    content = context.answers[key].get("content") or {}
    return content[0] if isinstance(content, list) else content


def test_input_required_result_elicitation(context: Context) -> str:
    return f"Hello, {content_of(context, 'user_name').get('name', 'stranger')}!"


def test_input_required_result_sampling(context: Context) -> str:
    return content_of(context, "capital_question")["text"]


def test_input_required_result_list_roots(context: Context) -> str:
    roots = context.answers["client_roots"]["roots"]
    return f"the client has {len(roots)} roots: {', '.join(root['uri'] for root in roots)}"


def test_input_required_result_request_state(context: Context) -> str:
    return f"state-ok: confirmed {json.dumps(content_of(context, 'confirm').get('ok', 'nothing'))}"


def test_input_required_result_tampered_state(context: Context) -> str:
    return f"integrity-ok: confirmed {json.dumps(content_of(context, 'confirm').get('ok', 'nothing'))}"


def test_input_required_result_multiple_inputs(context: Context) -> str:
    name = content_of(context, "user_name").get("name", "somebody")
    greeting = json.dumps(content_of(context, "greeting")["text"])
    return f"{name} heard {greeting} about {len(context.answers['client_roots']['roots'])} roots"


def test_missing_capability(context: Context) -> str:
    return content_of(context, "question")["text"]


async def test_tool_with_task(context: Context) -> str:
    await asyncio.sleep(0.2)
    return f"the task was done for {content_of(context, 'user_name').get('name', 'somebody')}"
