"""Check that every Python handler can be called with all arguments that its schema accepts.

Arguments are passed as keywords, exactly those that the client sent: an optional property needs a parameter with a
default, and every property needs a parameter that accepts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import did_you_mean
from mcpc.model.ir import Completion, Prompt, PythonFunction, Resource, ResourceTemplate, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.model.ir import FunctionParameter, HasHandler, Server

ELSEWHERE = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependentRequired")
"""Keywords with which a schema may require a property outside its root's `required`."""
OPEN = ("additionalProperties", "patternProperties", "unevaluatedProperties")
MODELS = ("models",)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments that a client may send.

    `names`: each argument with its position; `required`: those that are always present, including defaults. `certain`
    is false if the schema may require more than its root states; `others` is the position that allows unnamed
    arguments. `offered`: a function takes a subset of them.
    """

    subject: str
    names: Mapping[str, Span]
    required: frozenset[str]
    certain: bool = True
    others: Span | None = None
    offered: bool = False


def check_handlers(server: Server) -> Diagnostics:
    """Report Python functions whose signatures do not match."""
    problems: list[Diagnostic] = []
    for definition in server.definitions:
        if isinstance(definition.handler, PythonFunction):
            problems += _unfit(definition.handler, ARGUMENTS[type(definition)](definition), server)
            problems += _inline(definition) if definition.running.inline else ()
    return tuple(problems)


def _of_tool(tool: Tool) -> Arguments:
    schema = tool.input.node
    properties, required = schema.get("properties"), schema.get("required")
    named = {member.key: member.key_span for member in properties.members} if properties else {}
    demanded = {item.value: item.span for item in required.items if isinstance(item.value, str)} if required else {}
    certain = all(schema.get(keyword) is None for keyword in ELSEWHERE)
    others = next((node.span for node in map(schema.get, OPEN) if node is not None and node.value is not False), None)
    # Whether a default beside a `$ref` is filled in depends on the draft.
    filled = [
        member.key
        for member in (properties.members if properties and tool.input.completes else ())
        if member.node.get("default") is not None and member.node.get("$ref") is None
    ]
    return Arguments(f"the tool `{tool.name}`", demanded | named, frozenset((*demanded, *filled)), certain, others)


def _of_prompt(prompt: Prompt) -> Arguments:
    names = {argument.name: argument.span for argument in prompt.arguments}
    required = frozenset(argument.name for argument in prompt.arguments if argument.required)
    return Arguments(f"the prompt `{prompt.name}`", names, required)


def _of_template(template: ResourceTemplate) -> Arguments:
    names = {variable.name: template.span for variable in template.uri.variables}
    required = frozenset(variable.name for variable in template.uri.variables if not variable.optional)
    return Arguments(f"the resource template `{template.name}`", names, required)


def _of_completion(completion: Completion) -> Arguments:
    names = dict.fromkeys(COMPLETING, completion.span)
    subject = f"the completion of `{completion.argument}` of `{completion.ref}`"
    return Arguments(subject, names, frozenset(names), offered=True)


COMPLETING = ("value", "context_arguments")
"""Arguments of a completion function: the text so far, and the values chosen for other arguments."""
ARGUMENTS: dict[type, Callable[[Any], Arguments]] = {
    Tool: _of_tool,
    Prompt: _of_prompt,
    Resource: lambda resource: Arguments(f"the resource `{resource.name}`", {}, frozenset()),
    ResourceTemplate: _of_template,
    Completion: _of_completion,
}


def _unfit(handler: PythonFunction, arguments: Arguments, server: Server) -> Iterator[Diagnostic]:
    if handler.context in arguments.names:
        yield _collision(handler, arguments, server)
    if handler.binding[:1] == MODELS:
        return  # one parameter takes all arguments; it was checked when the model was bound
    for parameter in handler.parameters:
        if parameter.name != handler.context or not parameter.keyword:
            yield from _uncallable(handler, parameter, arguments)
    if handler.accepts_any or arguments.offered:
        return
    takes = {parameter.name for parameter in handler.parameters if parameter.keyword} - {handler.context}
    unwanted = [(span, f"`{name}`") for name, span in arguments.names.items() if name not in takes]
    if arguments.others:
        unwanted.append((arguments.others, "additional properties"))
    for span, what in unwanted:
        message = f"`{handler.function}` has no parameter for {what} in {arguments.subject}"
        hint = f"the function is at {handler.span.place_in(server.sources)}"
        yield diagnose("MCP206", span, message, "a parameter of that name, or `**others`", hint)


def _collision(handler: PythonFunction, arguments: Arguments, server: Server) -> Diagnostic:
    """Return the problem of an argument that has the name of the context parameter, and would be lost."""
    message = f"`{handler.context}` of `{handler.function}` is the call's context, but an argument has the same name"
    hint = f"rename the parameter at {handler.span.place_in(server.sources)}"
    return diagnose("MCP206", arguments.names[handler.context], message, "", hint)


def _uncallable(handler: PythonFunction, parameter: FunctionParameter, arguments: Arguments) -> Iterator[Diagnostic]:
    if not parameter.required:
        return
    name = f"`{parameter.name}`"
    if not parameter.keyword:
        message = f"`{handler.function}` takes {name} only by position, but arguments are passed by name"
        yield diagnose("MCP206", handler.span, message, "", "remove the `/` from the signature")
    elif parameter.name not in arguments.names and arguments.certain:
        message = f"`{handler.function}` needs {name}, which {arguments.subject} does not have"
        hint = did_you_mean(parameter.name, arguments.names, "give it a default, or define it")
        yield diagnose("MCP206", handler.span, message, "", hint)
    elif parameter.name not in arguments.required and arguments.certain:
        message = f"`{handler.function}` needs {name}, which {arguments.subject} does not require"
        yield diagnose("MCP206", handler.span, message, "", f"give {name} a default, or make it required")


def _inline(definition: HasHandler) -> Iterator[Diagnostic]:
    """Yield asynchronous functions that run inline, because the server's own process has no event loop for them."""
    handler = definition.handler
    if isinstance(handler, PythonFunction) and handler.is_async:
        message = f"`{handler.function}` is asynchronous, but `inline` needs a synchronous function"
        yield diagnose("MCP230", handler.span, message, "", "make it a plain `def`, or leave `inline` out")
