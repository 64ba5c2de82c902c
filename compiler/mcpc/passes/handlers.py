"""Check that every Python handler can be called with all arguments that its schema accepts.

Arguments are passed as keywords, exactly those that the client sent: an optional property needs a parameter with a
default, and every property needs a parameter that accepts it.

It must be in the standard library, in the project, or in a required package. Files that a handler's file imports must
be valid Python; other scripts are ignored.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import did_you_mean
from mcpc.languages import LANGUAGES, imports
from mcpc.languages.bash.lexer import scan_library
from mcpc.model.definitions import HANDLER_KEY
from mcpc.model.ir import (
    BashFunction,
    Completion,
    Executable,
    ExternalHandler,
    HttpHandler,
    PipelineHandler,
    Prompt,
    PythonFunction,
    Resource,
    ResourceTemplate,
    Tool,
)
from mcpc.packages import missing_module_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import FunctionParameter, HasHandler, Server
    from mcpc.reading import Source

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


def check_requests(server: Server) -> Diagnostics:
    """Report settings of requests that the server does not declare."""
    declared = {setting.name for setting in server.settings}
    requests = [item.handler for item in server.definitions if isinstance(item.handler, HttpHandler)]
    uses = [use for request in requests for use in request.settings]
    return tuple(
        diagnose(
            "MCP166",
            use.span,
            f"the setting `{use.name}` is not declared",
            "",
            did_you_mean(use.name, declared, f'add `{{"name": "{use.name}"}}` to `settings` of `server.json`'),
        )
        for use in uses
        if use.name not in declared
    )


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


KINDS = {
    BashFunction: "a Bash function",
    Executable: "a program",
    ExternalHandler: "neither of Python nor of Bash",
    HttpHandler: "a request",
    PipelineHandler: "a pipeline",
    PythonFunction: "a Python function",
}
OPTION_FIELDS: dict[str, tuple[type, str]] = {
    "inline": (PythonFunction, "calls a Python function in the server's own process"),
    "isolated": (BashFunction, "runs a Bash function in a separate shell"),
}
"""A field, the kind of handler that supports it, and what it does."""


def check_handler_options(server: Server) -> Diagnostics:
    """Report fields that the handler's kind does not support."""
    chosen = [item for item in server.definitions if item.running.inline or item.running.isolated]
    return tuple(problem for item in chosen for problem in (*_unfit_options(item), *_waiting(item)))


def _unfit_options(definition: HasHandler) -> Iterator[Diagnostic]:
    if not definition.handler.file and not isinstance(definition.handler, ExternalHandler):
        return  # a stand-in for a missing handler, which is reported anyway
    requested = {"inline": bool(definition.running.inline), "isolated": definition.running.isolated}
    for field, (wanted, meaning) in OPTION_FIELDS.items():
        if requested[field] and not isinstance(definition.handler, wanted):
            message = f"`{definition.name}` is {KINDS[type(definition.handler)]}, but `{field}` {meaning}"
            yield diagnose("MCP242", _place(definition, field), message, "", f"remove `{field}`")


def _waiting(definition: HasHandler) -> Iterator[Diagnostic]:
    """Yield inline functions that would wait for the client or another tool and block the server."""
    handler = definition.handler
    if definition.running.inline == "loop" and isinstance(handler, PythonFunction) and handler.context:
        message = f"`{definition.name}` takes a context, and may wait for the client"
        hint = 'use `"inline": true`: then it runs in a separate thread'
        yield diagnose("MCP242", _place(definition, "inline"), message, "", hint)


def _place(definition: HasHandler, field: str) -> Span:
    """Return the position of a definition's handler options."""
    return definition.node.span_of("_meta", HANDLER_KEY, field) or definition.span


MODULES = (".py", ".so", ".pyd")
MCPC_MODULES = "mcpc"
"""Modules of mcpc that every server has."""


def check_modules(server: Server) -> Diagnostics:
    """Report imports that would fail at run time."""
    owned = _owned(server)
    carried = server.layer.modules if server.layer else frozenset()
    is_known = server.layer is None or server.layer.complete
    files = {file.source.path: file.source for file in server.files}
    handlers = [definition.handler for definition in server.definitions]
    bound = dict.fromkeys(handler.file for handler in handlers if isinstance(handler, PythonFunction))
    waiting = [files[path] for path in bound]
    seen = set(bound)
    problems: list[Diagnostic] = []
    while waiting:
        source = waiting.pop()
        if source.path not in bound:  # the handlers' own files are checked when they are bound
            problems += LANGUAGES["python"](source)[1] if source.path.endswith(".py") else ()
        for name, span in imports(source) if source.path.endswith(".py") else ():
            if name in owned:
                waiting += (library for library in owned[name] if library.path not in seen)
                seen.update(library.path for library in owned[name])
            elif is_known and name not in carried and name not in sys.stdlib_module_names and name != MCPC_MODULES:
                hint = missing_module_hint(name, (*owned, *sorted(carried), *sorted(sys.stdlib_module_names)))
                problems.append(diagnose("MCP209", span, f"the module `{name}` will not be available", "", hint))
    return tuple(problems)


def _owned(server: Server) -> dict[str, list[Source]]:
    """Return the project's own modules with their files; a package has all files below its folder."""
    owned: dict[str, list[Source]] = {}
    for file in server.files:
        if file.source.path.endswith(MODULES):
            owned.setdefault(file.source.path.partition("/")[0].partition(".")[0], []).append(file.source)
    return owned


# `${v+…}` and `${v:+…}`, and `-n $v` or `[[ $v` up to the end of the test or another operator.
SET_TEST = re.compile(
    r"\$\{(?P<plus>mcpc_arg_\w+):?\+|(?:-n|\[\[?)\s+\"?\$\{?(?P<text>mcpc_arg_\w+)\}?\"?(?=\s*(?:\]|&&|\|\||-[ao]\b))"
)
COMPARED = re.compile(r"==?\s*[\"']?(?:true|false)\b|!=\s*[\"']?(?:true|false)\b")


def check_bash_booleans(server: Server) -> Diagnostics:
    """Report tests of a boolean that are true for `false`, too."""
    libraries = [file.source for file in server.files if file.source.path in server.shell]
    booleans = boolean_variables(server) if libraries else frozenset()
    return tuple(problem for source in libraries for problem in _tests(source, booleans))


def boolean_variables(server: Server) -> frozenset[str]:
    """Return the variables that have a boolean in every definition that sets them."""
    kinds: dict[str, set[bool]] = {}
    for item in server.definitions:
        pairs = item.handler.variables if isinstance(item.handler, BashFunction) else ()
        schema = item.node.get("inputSchema")
        properties = schema.get("properties") if schema is not None else None
        for name, variable in pairs:
            member = properties.get(name) if properties is not None else None
            kind = member.get("type") if member is not None else None
            kinds.setdefault(variable, set()).add(kind is not None and kind.value == "boolean")
    return frozenset(variable for variable, values in kinds.items() if values == {True})


def _tests(source: Source, booleans: frozenset[str]) -> Iterator[Diagnostic]:
    literal = scan_library(source.text).literal
    for match in SET_TEST.finditer(source.text):
        variable, start = match["plus"] or match["text"], match.start()
        line = source.text[source.text.rfind("\n", 0, start) + 1 :].partition("\n")[0]
        if variable not in booleans or COMPARED.search(line) or any(begin <= start < end for begin, end in literal):
            continue
        message = f"this is true for `false`, too: `${variable}` is the text `true` or `false`, and unset if left out"
        yield diagnose("MCP258", Span(source.path, *match.span()), message, "", f"write `[[ ${variable} == true ]]`")
