"""Messages for the client's model, and its answers; tools that the model may call meanwhile."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pydantic

from mcpc_runtime.systems.fastmcp.engine.components import Tool
from mcpc_runtime.systems.fastmcp.engine.contents import block_of, is_content, text_block, typed, typed_block, wire
from mcpc_runtime.systems.fastmcp.engine.context import BaseContext, request_result
from mcpc_runtime.systems.fastmcp.engine.registration import make
from mcpc_runtime.systems.fastmcp.engine.running import run_tool
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object

TOKENS = 512
ROUNDS = 100
FINAL = "final_response"
"""The tool by which the model gives a result with a type."""


@dataclass
class SamplingResult:
    """The model's answer."""

    text: str | None = None
    result: object = None
    history: list[Any] = field(default_factory=list)


@dataclass
class SampleStep:
    """One answer of the model, with the messages up to it."""

    response: object
    history: list[Any]

    @property
    def calls(self) -> list[Object]:
        """The calls of tools in the answer, on the wire."""
        blocks = wire(self.response)["content"]
        return [each for each in (blocks if isinstance(blocks, list) else [blocks]) if each["type"] == "tool_use"]

    @property
    def is_tool_use(self) -> bool:
        """Whether the model wants to call tools."""
        return bool(wire(self.response).get("stopReason") == "toolUse")

    @property
    def tool_calls(self) -> list[object]:
        """The calls of tools in the answer."""
        return [typed("ToolUseContent", each) for each in self.calls]

    @property
    def text(self) -> str | None:
        """The text of the answer."""
        blocks = wire(self.response)["content"]
        texts = [each["text"] for each in (blocks if isinstance(blocks, list) else [blocks]) if each["type"] == "text"]
        return texts[0] if texts else None


class SamplingTool(Tool):
    """A tool that the model may call."""

    @classmethod
    def from_function(cls, fn: Function, **options: Any) -> SamplingTool:
        made: SamplingTool = make(cls, fn, options.pop("name", None), options)
        return made


def messages_of(messages: Any) -> list[Object]:
    """Return messages on the wire: text is the user's."""
    if isinstance(messages, str) or not isinstance(messages, (list, tuple)):
        messages = [messages]
    return [message_of(each) for each in messages]


def message_of(message: object) -> Object:
    """Return a message on the wire."""
    if isinstance(message, str):
        return {"role": "user", "content": text_block(message)}
    if is_content(message):
        return {"role": "user", "content": block_of(message)}
    found: Object = wire(message)
    return found


def preferences_of(given: Any) -> Any:
    """Return the preferences of a model: a name, names, or the SDK's object."""
    if given is None or hasattr(given, "model_dump") or isinstance(given, dict):
        return wire(given)
    names = [given] if isinstance(given, str) else given
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"model_preferences must be one of: ModelPreferences, str, list[str], or None. Got: {given!r}")
    return {"hints": [{"name": name} for name in names]}


def tools_of(tools: Sequence[Any] | None) -> list[SamplingTool]:
    """Return tools, those that are functions as SamplingTool."""
    return [each if isinstance(each, Tool) else SamplingTool.from_function(each) for each in tools or ()]  # type: ignore[misc]


async def sample_step(context: BaseContext, messages: object, options: Object) -> SampleStep:
    """Send messages to the model; run the tools that it calls."""
    tools = tools_of(options.get("tools"))
    history = messages_of(messages)
    params: Object = {
        "messages": list(history),
        "systemPrompt": options.get("system_prompt"),
        "temperature": options.get("temperature"),
        "maxTokens": options.get("max_tokens") or TOKENS,
        "modelPreferences": preferences_of(options.get("model_preferences")),
        "tools": [described(each) for each in tools] or None,
        "toolChoice": {"mode": options["tool_choice"]} if options.get("tool_choice") else None,
    }
    found = await request_result(
        context.mcpc_call.sample({key: value for key, value in params.items() if value is not None})
    )
    response = typed("CreateMessageResultWithTools" if tools else "CreateMessageResult", found)
    step = SampleStep(response, [*history, {"role": "assistant", "content": found["content"]}])
    if step.is_tool_use and options.get("execute_tools", True):
        results = [await tool_result(tools, call) for call in step.calls]
        step.history.append({"role": "user", "content": results})
    return step


def described(tool: Tool) -> Object:
    """Return a tool as the model sees it."""
    about = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **about, "inputSchema": tool.parameters}


async def tool_result(tools: list[SamplingTool], call: Object) -> Object:
    """Run a tool that the model called; errors are results, too."""
    found = next((each for each in tools if each.name == call["name"]), None)
    answer: Object = {"type": "tool_result", "toolUseId": call["id"]}
    if found is None:
        return {**answer, "content": [text_block(f"Error: Unknown tool '{call['name']}'")], "isError": True}
    try:
        result = await run_tool(found, call.get("input") or {})
    except Exception as problem:  # noqa: BLE001 - code of the project; the model is told
        text = f"Error executing tool '{call['name']}': {problem}"
        return {**answer, "content": [text_block(text)], "isError": True}
    return {**answer, "content": result.to_wire()["content"]}


async def sample(context: BaseContext, messages: object, options: Object) -> SamplingResult:
    """Send messages to the model until it answers; `result_type` in the options is the type of the answer."""
    kind = options.pop("result_type", None)
    if kind in (None, str):
        return await plain_sample(context, messages, options)
    reader = pydantic.TypeAdapter(kind)
    options["tools"] = [*tools_of(options.get("tools")), final_tool(reader)]
    for round_ in range(ROUNDS):
        step = await sample_step(context, messages, {**options, **({} if round_ else {"tool_choice": "required"})})
        if not step.is_tool_use:
            raise RuntimeError(
                f"Expected structured output of type {kind.__name__}, but the LLM returned a text response instead of "
                "calling the final_response tool."
            )
        for call in step.calls:
            if call["name"] == FINAL:
                value = reader.validate_python(final_value(reader, call["input"]))
                return SamplingResult(json.dumps(reader.dump_python(value, mode="json")), value, step.history)
        messages = step.history
    raise RuntimeError(f"Sampling exceeded maximum iterations ({ROUNDS})")


async def plain_sample(context: BaseContext, messages: object, options: Object) -> SamplingResult:
    """Send messages to the model until it answers with text."""
    for _ in range(ROUNDS):
        step = await sample_step(context, messages, options)
        if not step.is_tool_use:
            history = [typed("SamplingMessage", wire(each)) for each in step.history]
            return SamplingResult(step.text, step.text or "", history)
        messages = step.history
    raise RuntimeError(f"Sampling exceeded maximum iterations ({ROUNDS})")


def final_tool(reader: Any) -> SamplingTool:
    """Return the tool by which the model gives its result."""
    schema = reader.json_schema()
    if schema.get("type") != "object":
        schema = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
    about = "Call this tool to provide your final response."
    made = SamplingTool(FINAL, description=about, given_parameters=schema, given_output=None)
    made.function = accept
    return made


def accept(**values: object) -> str:
    """Accept a result: it is read from the call."""
    return f"{len(values)} values"


def final_value(reader: Any, given: object) -> object:
    """Return the result in a call of the final tool."""
    is_object = reader.json_schema().get("type") == "object"
    return given if is_object or not isinstance(given, dict) else given.get("value")


def old_result(result: SamplingResult) -> object:
    """Return the content block that older versions return."""
    return typed_block(text_block(result.text or ""))
