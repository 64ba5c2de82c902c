"""Calls of components, completion of arguments, and what a server answers: results on the wire, and errors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, TypeVar

from mcpc_runtime.systems.fastmcp.engine import listing, resource_results, results
from mcpc_runtime.systems.fastmcp.engine.arguments import ArgumentReader, check_required, is_tolerated, prompt_values
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Component, Prompt, Resource, Template, Tool
from mcpc_runtime.systems.fastmcp.engine.contents import text_block
from mcpc_runtime.systems.fastmcp.engine.context import is_raised_on_purpose, protocol_error, sdk_error
from mcpc_runtime.systems.fastmcp.engine.injection import call_function, entered_dependencies, find_dependencies
from mcpc_runtime.systems.fastmcp.engine.mounts import CallingHost, Host
from mcpc_runtime.systems.fastmcp.engine.schema_types import function_name
from mcpc_runtime.systems.fastmcp.engine.server import (
    LISTS,
    UNKNOWN_CURSOR,
    DisabledError,
    FastMCPError,
    NotFoundError,
    PromptError,
    ProtocolError,
    ResourceError,
    ResourceSecurityError,
    ToolError,
    ValidationError,
    raised_as,
)
from mcpc_runtime.systems.fastmcp.engine.uris import INHERITED
from mcpc_runtime.systems.fastmcp.interfaces import Object

Result = TypeVar("Result")


log = logging.getLogger(__name__)
TIMED_OUT = -32000
UNKNOWN_RESOURCE = "Unknown resource: {uri!r}"


class Plan:
    """How a component's function is called: what it is given, and how its arguments are read."""

    def __init__(self, component: Component) -> None:
        self.dependencies = find_dependencies(component.function)
        hidden = frozenset(self.dependencies) | getattr(component, "exclude_args", frozenset())
        self.reader = ArgumentReader(component.function, hidden)


def plan_of(component: Component) -> Plan:
    """Return how a component's function is called."""
    if component.plan is None:
        component.plan = Plan(component)
    plan: Plan = component.plan
    return plan


async def invoke(component: Component, values: Object, dependencies: Object) -> Any:
    """Call a component's function with values and with what it is given."""
    function: Any = component.function
    threaded = behaviour().synchronous_in_threads and component.options.get("run_in_thread") is not False
    collects = component.kind == "tool" and behaviour().reads_generators
    if not dependencies:
        return await call_function(function, values, threaded=threaded, collects=collects)
    async with entered_dependencies(function, dependencies) as given:
        return await call_function(function, {**values, **given}, threaded=threaded, collects=collects)


async def run_tool(tool: Tool, arguments: Object) -> results.ToolResult:
    """Run a tool's function; exceptions are those of the function, or ValidationError."""
    if tool.origin is not None:
        return await tool.origin.call(arguments)  # type: ignore[no-any-return]
    plan = plan_of(tool)
    values = plan.reader.read(arguments)
    running = invoke(tool, values, plan.dependencies)
    result = await (running if tool.seconds is None else limited(tool, running))
    return results.converted(tool, result)


async def limited(tool: Tool, running: Awaitable[Result]) -> Result:
    """Return a result within a tool's time limit."""
    deadline = asyncio.timeout(tool.seconds)
    try:
        async with deadline:
            return await running
    except TimeoutError:
        if not deadline.expired():  # the function's own
            raise
        text = f"Tool '{tool.name}' execution timed out after {tool.seconds}s"
        raise sdk_error(ProtocolError(TIMED_OUT, text)) from None


async def render(prompt: Prompt, arguments: Object | None) -> resource_results.PromptResult:
    """Run a prompt's function."""
    if prompt.origin is not None:
        return await prompt.origin.render(arguments)  # type: ignore[no-any-return]
    plan = plan_of(prompt)
    check_required(prompt, plan.reader, arguments or {})
    version = behaviour()
    try:
        values = prompt_values(plan.reader, arguments or {})
        return resource_results.converted_prompt(prompt, await invoke(prompt, values, plan.dependencies))
    except Exception as problem:
        if version.conversion_errors and isinstance(problem, FastMCPError):
            raise
        log.exception("Error rendering prompt %s", prompt.name)
        raise PromptError(version.raised_prompt_error.format(name=prompt.name, error=problem)) from problem


async def read(resource: Resource) -> resource_results.ResourceResult:
    if resource.origin is not None:
        return await resource.origin.read()  # type: ignore[no-any-return]
    if resource.function is None:
        return resource_results.converted_resource(resource, resource.content)
    return await read_function(resource, {})


async def read_template(template: Template, values: Object) -> resource_results.ResourceResult:
    if template.origin is not None:
        return await template.origin.read_template(values)  # type: ignore[no-any-return]
    return await read_function(template, template_values(template, values))


def template_values(template: Template, values: Object) -> Object:
    """Return the values of an address, as the template's function takes them."""
    reader = plan_of(template).reader
    given = simple_values(reader, values)
    try:
        return given if reader.fits(given) else reader.checked(given)
    except ValidationError as problem:
        function: Any = template.function
        name = function_name(function)
        raise ValidationError(str(problem).replace(f"for call[{name}]", f"for {name}", 1)) from problem.__cause__


async def read_function(component: Resource | Template, values: Object) -> resource_results.ResourceResult:
    """Read a resource by its function; it may return another resource."""
    result = await invoke(component, values, plan_of(component).dependencies)
    if isinstance(result, Resource):
        return await read(result)
    return resource_results.converted_resource(component, result)


BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def flag(name: str, text: str) -> bool:
    """Return a flag of an address; ValueError: it is not a flag, and the version refuses it."""
    if text.lower() not in BOOLEANS and behaviour().converts_strictly:
        raise ValueError(f"Invalid boolean value for {name}: {text!r}")
    return BOOLEANS.get(text.lower(), False)


CONVERSIONS: dict[object, Callable[[str, str], object]] = {
    int: lambda _, text: int(text),
    float: lambda _, text: float(text),
    bool: flag,
}
"""How values of an address become those of simple parameters."""


def simple_values(reader: ArgumentReader, values: Object) -> Object:
    """Return values of an address, those for numbers and flags converted as FastMCP does it before anything else."""
    hints = reader.hints
    return {name: simple_value(hints.get(name), name, value) for name, value in values.items()}


def simple_value(hint: object, name: str, value: Any) -> Any:
    """Return a value of an address as the type of its parameter."""
    convert = CONVERSIONS.get(hint) if isinstance(hint, type) and isinstance(value, str) else None
    if convert is None:
        return value
    try:
        return convert(name, value)
    except ValueError:
        if behaviour().converts_strictly:
            raise
        return value


async def call_tool(server: Host, name: str, arguments: Object) -> results.ToolResult:
    """Call a tool of a server by its name; errors are as the framework's clients see them."""
    tool = await server.mcpc_get("tool", name)
    if tool is None:
        raise NotFoundError(behaviour().unknown_tool.format(name=name))
    rules = behaviour()
    try:
        return await run_tool(tool, arguments)
    except FastMCPError as problem:
        log.log(problem.log_level, "Error calling tool %r", name)
        raise
    except Exception as problem:
        if rules.plain_validation_errors and is_class_of(problem, "pydantic_core", "ValidationError"):
            raise
        log.exception("Error calling tool %r", name)
        raise ToolError(masked(server, "tool", problem, name=name)) from problem


async def render_prompt(server: Host, name: str, arguments: Object | None) -> resource_results.PromptResult:
    prompt = await server.mcpc_get("prompt", name)
    if prompt is None:
        raise NotFoundError(behaviour().unknown_prompt.format(name=name))
    try:
        return await render(prompt, arguments)
    except FastMCPError:
        raise
    except Exception as problem:
        if protocol_error(problem) is not None:
            raise
        log.exception("Error rendering prompt %r", name)
        raise PromptError(masked(server, "prompt", problem, name=name)) from problem


async def read_resource(server: Host, uri: str) -> resource_results.ResourceResult:
    found = await listing.find_address(server, uri)
    if found is None:
        raise NotFoundError(UNKNOWN_RESOURCE.format(uri=uri))
    component = found.component
    check_path(server, component, uri, found.values)
    try:
        is_template = isinstance(component, Template)
        return await (read_template(component, found.values) if is_template else read(component))
    except Exception as problem:
        if is_raised_on_purpose(problem) and not is_invalid(problem):
            raise
        log.exception("Error reading resource %r", uri)
        raise ResourceError(masked(server, component.kind, problem, uri=uri)) from problem


def is_invalid(problem: Exception) -> bool:
    """Tell whether values of an address are not those that a function takes."""
    return isinstance(problem, ValidationError) and problem.__cause__ is not None


def check_path(server: Host, component: Component, uri: str, values: Object) -> None:
    """Raise NotFoundError if a value of an address would leave a folder, and the version minds."""
    policy = component.options.get("security", INHERITED)
    policy = server.mcpc_path_policy if policy is INHERITED else policy
    # A refusal looks like an unknown address: nobody learns which rule it has met.
    if behaviour().path_security and policy is not None and policy.validate(values) is not None:
        raise ResourceSecurityError(UNKNOWN_RESOURCE.format(uri=uri))


def is_class_of(problem: Exception, package: str, name: str) -> bool:
    """Tell whether an exception is of a package's class, without importing it."""
    return type(problem).__name__ == name and type(problem).__module__.startswith(package)


def masked(server: Host, kind: str, problem: BaseException, **names: str) -> str:
    """Return the text of an exception for the client; details are left out where the server masks them."""
    version = behaviour()
    hidden = version.masks_errors if server.mcpc_masked is None else server.mcpc_masked
    text: str = getattr(version, f"{kind}_error")
    return (text.removesuffix(": {error}") if hidden else text).format(error=problem, **names)


async def input_problem(server: Host, name: str, arguments: Object) -> str:
    """Return what is wrong with the arguments of a tool; empty if nothing is, or if the project has no `jsonschema`."""
    if not behaviour().checks_input:
        return ""
    tool = await listing.find(server, "tool", name)
    # What needs no conversion is valid by the schema, too, and `jsonschema` need not be imported.
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


async def tool_reply(server: CallingHost, name: str, arguments: Object) -> Object:
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


async def prompt_reply(server: CallingHost, name: str, arguments: Object) -> Object:
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


async def resource_reply(server: CallingHost, uri: str) -> Object:
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
