"""What a server answers: results on the wire, and errors as each framework's clients see them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import listing
from mcpc_runtime.systems.fastmcp.engine.arguments import is_tolerated
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.contents import text_block
from mcpc_runtime.systems.fastmcp.engine.context import protocol_error
from mcpc_runtime.systems.fastmcp.engine.errors import (
    DisabledError,
    NotFoundError,
    ProtocolError,
    ValidationError,
    raised_as,
)
from mcpc_runtime.systems.fastmcp.engine.mounts import Host
from mcpc_runtime.systems.fastmcp.engine.running import plan_of
from mcpc_runtime.systems.fastmcp.engine.server import LISTS, UNKNOWN_CURSOR
from mcpc_runtime.systems.fastmcp.interfaces import Object


async def input_problem(server: Host, name: str, arguments: Object) -> str:
    """Return what is wrong with the arguments of a tool; empty if nothing is, or if the project has no `jsonschema`."""
    if not behaviour().checks_input:
        return ""
    tool = await listing.find(server, "tool", name)
    if tool is None or (tool.function is not None and plan_of(tool).reader.fits(arguments)):
        return ""
    try:
        jsonschema: Any = import_module("jsonschema")
    except ImportError:
        return ""
    try:
        jsonschema.validate(instance=arguments, schema=tool.parameters)
    except jsonschema.ValidationError as problem:
        is_corrected = is_tolerated() and tool.function is not None and can_be_read(tool, arguments)
        return "" if is_corrected else f"Input validation error: {problem.message}"
    return ""


def can_be_read(tool: Any, arguments: Object) -> bool:
    """Tell whether the function of a tool takes the arguments, as they are or corrected."""
    try:
        plan_of(tool).reader.checked(arguments)
    except ValidationError:
        return False
    return True


async def tool_reply(server: Host, name: str, arguments: Object) -> Object:
    """Return the protocol's CallToolResult."""
    rules = behaviour()
    try:
        problem_of_input = await input_problem(server, name, arguments)
        if problem_of_input:
            return failure(problem_of_input)
        result = await server.mcpc_tool_result(name, arguments)
        found: Object = result.to_wire()
        return found
    except (NotFoundError, DisabledError):
        return failure(rules.unknown_tool.format(name=name))
    except Exception as problem:
        error = protocol_error(problem)
        if error is not None and (rules.raised_errors or error.code in SERIOUS):
            raise error from problem
        return failure(tool_error_text(problem, name))


SERIOUS = frozenset({-32042, -32021})
"""The codes of errors that are never a tool's result: the client has to do something before it calls again."""


def tool_error_text(problem: Exception, name: str) -> str:
    """Return the text of a tool's exception."""
    rules = behaviour()
    if isinstance(problem, ValidationError) and problem.__cause__ is not None:
        return rules.invalid_arguments.format(name=name, error=problem)
    return str(problem)


def failure(text: str) -> Object:
    """Return a result that says what went wrong."""
    return {"content": [text_block(text)], "isError": True}


def error_of(problem: Exception, code: int) -> ProtocolError:
    """Return the protocol's error of an exception; `code`: that of any other exception."""
    return protocol_error(problem) or ProtocolError(code, str(problem))


async def list_reply(server: Host, method: str, cursor: str | None) -> Object:
    """Return the protocol's result of a list, which has one page."""
    if cursor is not None:
        raise ProtocolError(*UNKNOWN_CURSOR)
    attribute, member = LISTS[method]
    with raised_as(lambda problem: error_of(problem, behaviour().prompt_error_code)):
        entries = await listing.entries_of(server, attribute.removesuffix("s"))
    return {member: [each.entry for each in entries]}


async def prompt_reply(server: Host, name: str, arguments: Object) -> Object:
    """Return the protocol's GetPromptResult."""
    rules = behaviour()

    def error(problem: Exception) -> ProtocolError:
        if isinstance(problem, (NotFoundError, DisabledError)):
            return ProtocolError(rules.unknown_prompt_code, rules.unknown_prompt.format(name=name))
        return error_of(problem, rules.prompt_error_code)

    with raised_as(error):
        result = await server.mcpc_prompt_result(name, arguments)
        found: Object = result.to_wire()
        return found


async def resource_reply(server: Host, uri: str) -> Object:
    """Return the protocol's ReadResourceResult."""
    rules = behaviour()

    def error(problem: Exception) -> ProtocolError:
        if isinstance(problem, (NotFoundError, DisabledError)):
            text = rules.unread_resource.format(uri=uri, error=problem)
            data = {"uri": uri} if rules.unknown_resource_has_data else None
            return ProtocolError(rules.unknown_resource_code, text, data)
        return error_of(problem, rules.resource_error_code)

    with raised_as(error):
        result = await server.mcpc_resource_result(uri)
        found: Object = result.to_wire(uri)
        return found
