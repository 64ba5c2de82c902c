"""Ask whether every Python handler can be called with whatever its schema lets through.

Arguments arrive as keywords, exactly those that the client sent: a parameter that may be left out needs a default, and
every property needs a parameter that takes it.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.ir import Completion, Prompt, PythonFunction, Resource, ResourceTemplate, Tool
from mcpc.ir.places import place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.ir import Handled, Parameter, Server
    from mcpc.sources import Node

ELSEWHERE = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependentRequired")
"""Keywords by which a schema may require a property without saying so at its root."""
OPEN = ("additionalProperties", "patternProperties", "unevaluatedProperties")
MODELS = ("models",)


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a client may send.

    `names`: each argument with its place; `required`: those that always come, defaults among them.  `certain` is false
    if the schema may require more than its root says; `others` is the place that lets arguments through that have no
    name here.  `offered`: a function takes of them what it wants.
    """

    subject: str
    names: Mapping[str, Span]
    required: frozenset[str]
    certain: bool = True
    others: Span | None = None
    offered: bool = False


def handlers(server: Server) -> Diagnostics:
    """Report Python functions whose signatures do not fit."""
    problems: list[Diagnostic] = []
    for one in server.definitions:
        if isinstance(one.handler, PythonFunction):
            problems += _unfit(one.handler, ARGUMENTS[type(one)](one), server)
            problems += _inline(one)
    return tuple(problems)


def _of_tool(tool: Tool) -> Arguments:
    schema = tool.input.node
    properties, required = schema.get("properties"), schema.get("required")
    named = {member.key: member.key_span for member in properties.members} if properties else {}
    demanded = {item.value: item.span for item in required.items if isinstance(item.value, str)} if required else {}
    certain = all(schema.get(keyword) is None for keyword in ELSEWHERE)
    others = next((node.span for node in map(schema.get, OPEN) if node is not None and node.value is not False), None)
    filled = _filled(properties) if properties and tool.input.completes else ()
    return Arguments(f"the tool `{tool.name}`", demanded | named, frozenset((*demanded, *filled)), certain, others)


def _filled(properties: Node) -> tuple[str, ...]:
    """Return the properties that a default is put in for; beside a `$ref`, whether one is depends on the draft."""
    schemas = ((member.key, member.node) for member in properties.members if member.node.kind == "object")
    return tuple(key for key, schema in schemas if schema.get("default") is not None and schema.get("$ref") is None)


def _of_prompt(prompt: Prompt) -> Arguments:
    names = {argument.name: argument.span for argument in prompt.arguments}
    required = frozenset(argument.name for argument in prompt.arguments if argument.required)
    return Arguments(f"the prompt `{prompt.name}`", names, required)


def _of_resource(resource: Resource) -> Arguments:
    return Arguments(f"the resource `{resource.name}`", {}, frozenset())


def _of_template(template: ResourceTemplate) -> Arguments:
    names = {variable.name: template.span for variable in template.uri.variables}
    required = frozenset(variable.name for variable in template.uri.variables if not variable.optional)
    return Arguments(f"the resource template `{template.name}`", names, required)


def _of_completion(completion: Completion) -> Arguments:
    names = dict.fromkeys(COMPLETING, completion.span)
    subject = f"the completion of `{completion.argument}` of `{completion.ref}`"
    return Arguments(subject, names, frozenset(names), offered=True)


COMPLETING = ("value", "context_arguments")
"""What a function that completes may take: the text so far, and what was chosen for other arguments."""
ARGUMENTS: dict[type, Callable[[Any], Arguments]] = {
    Tool: _of_tool,
    Prompt: _of_prompt,
    Resource: _of_resource,
    ResourceTemplate: _of_template,
    Completion: _of_completion,
}


def _unfit(handler: PythonFunction, arguments: Arguments, server: Server) -> Iterator[Diagnostic]:
    yield from _collides(handler, arguments, server)
    if handler.binding[:1] == MODELS:
        return  # one parameter takes them all; whether it is the right one was asked when it was bound
    for parameter in handler.parameters:
        if parameter.name != handler.context or not parameter.keyword:
            yield from _uncallable(handler, parameter, arguments)
    if handler.accepts_any or arguments.offered:
        return
    takes = {parameter.name for parameter in handler.parameters if parameter.keyword} - {handler.context}
    unwanted = [(span, f"`{name}`") for name, span in arguments.names.items() if name not in takes]
    if arguments.others:
        unwanted.append((arguments.others, "what else is let through"))
    for span, what in unwanted:
        message = f"`{handler.function}` has no parameter for {what} in {arguments.subject}"
        hint = f"the function is at {place(handler.span, server.sources)}"
        yield diagnose("MCP206", span, message, "a parameter of that name, or `**others`", hint)


def _collides(handler: PythonFunction, arguments: Arguments, server: Server) -> Iterator[Diagnostic]:
    """Yield the argument that has the name of the parameter for the context, and could only be lost."""
    span = arguments.names.get(handler.context)
    if span is not None:
        message = f"`{handler.context}` of `{handler.function}` is the call's context, and an argument has that name"
        yield diagnose("MCP206", span, message, "", f"rename the parameter at {place(handler.span, server.sources)}")


def _uncallable(handler: PythonFunction, parameter: Parameter, arguments: Arguments) -> Iterator[Diagnostic]:
    if not parameter.required:
        return
    name = f"`{parameter.name}`"
    if not parameter.keyword:
        message = f"`{handler.function}` takes {name} only by position, and arguments are passed by name"
        yield diagnose("MCP206", handler.span, message, "", "take the `/` out of the signature")
    elif parameter.name not in arguments.names and arguments.certain:
        message = f"`{handler.function}` needs {name}, which {arguments.subject} does not have"
        yield diagnose("MCP206", handler.span, message, "", _nearest(parameter.name, arguments))
    elif parameter.name not in arguments.required and arguments.certain:
        message = f"`{handler.function}` needs {name}, which {arguments.subject} does not require"
        yield diagnose("MCP206", handler.span, message, "", f"give {name} a default, or make it required")


def _inline(one: Handled) -> Iterator[Diagnostic]:
    """Yield an asynchronous function that is to run in the server's own process, which has no loop for it."""
    handler = one.handler
    if isinstance(handler, PythonFunction) and handler.is_async and one.running.inline:
        message = f"`{handler.function}` is asynchronous, and `inline` runs a function to its end where it is called"
        yield diagnose("MCP230", handler.span, message, "", "make it a plain `def`, or leave `inline` out")


def _nearest(name: str, arguments: Arguments) -> str:
    near = difflib.get_close_matches(name, arguments.names, n=1)
    return f"did you mean `{near[0]}`?" if near else "give it a default, or define it"
