"""Tools in Python: a function with a mark is a tool, and its type hints and docstring are the tool's description.

`Context` is the call's: with it a tool says how far it has come, asks the user or the client's model, and more.  Asking
reads as if the answer came at once; under the stateless protocol the call ends with the question and is made again with
the answer, so what stands before an `ask` or `elicit` may run twice.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from mcpc import Context, ProtocolError, ToolError, elicitation, sampling, tool

from media import encoded, red_pixel, silence

NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@tool(output_schema=None)
def test_image_content() -> list[dict[str, Any]]:
    """Return an image."""
    return [{"type": "image", "data": encoded(red_pixel()), "mimeType": "image/png"}]


@tool(output_schema=None)
def test_audio_content() -> list[dict[str, Any]]:
    """Return a sound."""
    return [{"type": "audio", "data": encoded(silence()), "mimeType": "audio/wav"}]


@tool(output_schema=None)
def test_embedded_resource() -> list[dict[str, Any]]:
    """Return a resource within the result."""
    text = "This is an embedded resource content."
    resource = {"uri": "test://embedded-resource", "mimeType": "text/plain", "text": text}
    return [{"type": "resource", "resource": resource}]


@tool
async def test_reconnection(context: Context) -> str:
    """Let go of the connection for a moment; a client that comes back finds the answer."""
    context.close_stream(0.1)
    await asyncio.sleep(0.1)
    return "the client came back for this answer"


@tool
async def test_sampling(prompt: str, context: Context) -> str:
    """Ask the client's model."""
    answer = await context.sample(prompt, max_tokens=100)
    return f"LLM response: {answer.text}"


@tool
async def test_elicitation(message: str, context: Context) -> str:
    """Ask the user."""
    schema = {
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "The user's name"},
            "email": {"type": "string", "description": "The user's address", "format": "email"},
        },
        "required": ["username", "email"],
    }
    answer = await context.elicit(message, schema)
    return f"User response: action={answer.action}, content={json.dumps(answer.content or {})}"


@tool
async def test_elicitation_sep1034_defaults(context: Context) -> str:
    """Ask the user with a form that is filled in already."""
    fields = {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "description": "Whether it was verified", "default": True},
    }
    answer = await context.elicit("Please review the form", {"type": "object", "properties": fields})
    return f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content or {})}"


@tool
async def test_elicitation_sep1330_enums(context: Context) -> str:
    """Ask the user to choose, in each way that a form knows."""
    plain = [f"option{number}" for number in (1, 2, 3)]
    words = ("First", "Second", "Third")
    titled = [{"const": f"value{number}", "title": f"{word} choice"} for number, word in enumerate(words, 1)]
    fields = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    answer = await context.elicit("Please choose", {"type": "object", "properties": fields})
    return f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content or {})}"


@tool
async def test_streaming_elicitation(context: Context) -> str:
    """Say how far it has come, then ask."""
    await context.report_progress(50, 100)
    answer = await context.elicit("Shall it go on?", NAMED, key="name")
    return f"Streaming complete: {answer.action}"


@tool
async def test_input_required_result_multi_round(context: Context) -> str:
    """Ask twice, the second time knowing the first answer."""
    color = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}
    first = await context.elicit("Step 1: What is your name?", NAMED, key="step1")
    second = await context.elicit("Step 2: What is your favorite color?", color, key="step2")
    name, liked = (first.content or {}).get("name"), (second.content or {}).get("color")
    return f"Multi-round complete: {name} likes {liked}"


@tool
async def test_input_required_result_capabilities(context: Context) -> str:
    """Ask whom this client has: the user, its model, or nobody."""
    wanted: dict[str, Any] = {}
    if context.supports("elicitation"):
        wanted["name"] = elicitation("What is your name?", NAMED)
    if context.supports("sampling"):
        wanted["greeting"] = sampling("Generate a greeting", max_tokens=50)
    if not wanted:
        return "there is nobody to ask"
    answers = await context.ask(wanted)
    return f"capabilities-ok: {', '.join(sorted(answers))}"


@tool
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello, {name}!"


@tool(task="required")
async def failing_job() -> str:
    """Work for a second in a task, and fail as tools do."""
    await asyncio.sleep(1)
    raise ToolError("the job failed, as it always does")


@tool(task=True)
async def protocol_error_job() -> str:
    """Fail in a task as requests do."""
    await asyncio.sleep(0.1)
    raise ProtocolError(-32603, "the job cannot be done")


@tool(task=True)
async def confirm_delete(filename: str, context: Context) -> str:
    """Ask in a task before a file would be deleted."""
    schema = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
    answer = await context.elicit(f"Delete {filename}?", schema, key="confirm")
    sure = answer.action == "accept" and (answer.content or {}).get("confirm") is True
    return f"{filename} was {'deleted' if sure else 'kept'}"


@tool(task=True)
async def multi_input(context: Context) -> str:
    """Ask two things in a task at once; they may be answered one after the other."""
    questions = {key: elicitation(f"Who is {key}?", NAMED) for key in ("first", "second")}
    answers = await context.ask(questions)
    names = [(answers[key].get("content") or {}).get("name", "nobody") for key in questions]
    return " and ".join(names)
