"""Names, URIs, descriptions, completions and toolsets: what clients and people call the definitions of a server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import did_you_mean
from mcpc.model.ir import ExternalHandler
from mcpc_runtime.protocol.tool_choice import matches
from mcpc_runtime.protocol.uri_matching import MAX_URI_LENGTH
from mcpc_runtime.protocol.validation.formats.uris import is_uri

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.model.ir import Completion, Prompt, Resource, ResourceTemplate, Server, Tool

if TYPE_CHECKING:
    Named = Tool | Prompt | Resource | ResourceTemplate

# What MCP revision 2025-11-25 recommends for names of tools; prompts are held to it, too.
ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")
MAX_LENGTH = 128
MAX_LENGTH_EVERYWHERE = 64
ACCEPTED_EVERYWHERE = re.compile(rf"[A-Za-z0-9_.-]{{1,{MAX_LENGTH_EVERYWHERE}}}")
ALLOWED = f"1 to {MAX_LENGTH} of `A-Z a-z 0-9 _ . -`"


def check_names(server: Server) -> Diagnostics:
    """Report names that are duplicate, that the protocol does not allow, or that some clients refuse."""
    kinds: tuple[tuple[str, tuple[Named, ...]], ...] = (
        ("tool", server.tools),
        ("prompt", server.prompts),
        ("resource", server.resources),
        ("resource template", server.templates),
    )
    problems: list[Diagnostic] = []
    for kind, nodes in kinds:
        problems += _repeated(kind, nodes, server)
        judge = _illegal if kind in CALLED_BY_NAME else _nameless
        unusual = [node for node in nodes if not ACCEPTED_EVERYWHERE.fullmatch(node.name)]
        problems += (problem for node in unusual for problem in judge(kind, node))
    return tuple(problems)


CALLED_BY_NAME = ("tool", "prompt")
"""Kinds whose name identifies them; a resource is identified by its URI, unless a function is found by its name."""


def _nameless(kind: str, node: Named) -> Iterator[Diagnostic]:
    """Yield invalid names of resources."""
    wants_function = (
        node.handler is not None and not isinstance(node.handler, ExternalHandler) and not node.handler.file
    )
    if not node.name.strip():
        yield diagnose("MCP105", node.span, f"the name of a {kind} is empty", "what people call it")
    elif wants_function and ILLEGAL.search(node.name):
        yield from _illegal(kind, node)


def _repeated(kind: str, nodes: tuple[Named, ...], server: Server) -> Iterator[Diagnostic]:
    firsts: dict[str, Named] = {}
    for node in nodes:
        first = firsts.setdefault(node.name, node)
        if first is not node:
            hint = f"the first is at {first.span.place_in(server.sources)}; rename or remove one of them"
            yield diagnose("MCP104", node.span, f"two {kind}s have the name `{node.name}`", "", hint)


def _illegal(kind: str, node: Named) -> Iterator[Diagnostic]:
    subject, length = f"the name of a {kind}", len(node.name)
    wrong = ILLEGAL.search(node.name)
    if not node.name:
        yield diagnose("MCP105", node.span, f"{subject} is empty", ALLOWED)
    elif wrong:
        near = ILLEGAL.sub("_", node.name).strip("_")
        yield diagnose(
            "MCP105",
            node.span,
            f"{subject} contains {_shown(wrong[0])}",
            ALLOWED,
            f"`{near}` would be allowed" if near else "",
        )
    elif length > MAX_LENGTH:
        yield diagnose("MCP105", node.span, f"{subject} has {length} characters", ALLOWED)
    elif length > MAX_LENGTH_EVERYWHERE:
        hint = f"some clients refuse names of more than {MAX_LENGTH_EVERYWHERE} characters"
        yield diagnose("MCP106", node.span, f"{subject} has {length} characters", "", hint)


def _shown(character: str) -> str:
    return f"`{character}`" if character.isprintable() and character != " " else f"U+{ord(character):04X}"


LEGAL = "an absolute URI (RFC 3986): `config://app`, `file:///a%20b.txt`"


def check_uris(server: Server) -> Diagnostics:
    """Report URIs that no client can request, and duplicate ones."""
    uris = [(item.uri, item.node.span_of("uri") or item.span) for item in server.resources]
    templates = [(item.uri.text, item.node.span_of("uriTemplate") or item.span) for item in server.templates]
    return (
        *(problem for item in server.resources for problem in _illegal_uri(item)),
        *_repeated_uris("resources", uris, server),
        *_repeated_uris("resource templates", templates, server),
    )


def _illegal_uri(resource: Resource) -> Iterator[Diagnostic]:
    span = resource.node.span_of("uri") or resource.span
    if len(resource.uri) > MAX_URI_LENGTH:
        yield diagnose("MCP120", span, f"the URI has {len(resource.uri)} characters", f"at most {MAX_URI_LENGTH}")
    elif not is_uri(resource.uri):
        hint = "a URI with `{…}` is a template: move it to `resourceTemplates`" if "{" in resource.uri else ""
        yield diagnose("MCP120", span, f"`{resource.uri}` is not an absolute URI", LEGAL, hint)


def _repeated_uris(what: str, rows: Iterable[tuple[str, Span]], server: Server) -> Iterator[Diagnostic]:
    firsts: dict[str, Span] = {}
    for uri, span in rows:
        first = firsts.setdefault(uri, span)
        if first is not span:
            hint = f"the first is at {first.place_in(server.sources)}; change or remove one of them"
            yield diagnose("MCP104", span, f"two {what} have the URI `{uri}`", "", hint)


HINTS = {
    "tool": "a model chooses its tools by their descriptions",
    "prompt": "people choose a prompt by its description",
    "resource": "people and models choose what to read by its description",
    "resource template": "people and models choose what to read by its description",
}


def check_descriptions(server: Server) -> Diagnostics:
    """Report definitions without a description, or with an empty one."""
    tools = server.tools
    if server.traits.describes_in_schema:
        tools = tuple(tool for tool in tools if not tool.input.description.strip())
    return (
        *_undescribed("tool", tools),
        *_undescribed("prompt", server.prompts),
        *_undescribed("resource", server.resources),
        *_undescribed("resource template", server.templates),
    )


def _undescribed(kind: str, nodes: tuple[Tool | Prompt | Resource | ResourceTemplate, ...]) -> Iterator[Diagnostic]:
    for node in nodes:
        description = node.metadata.description
        if description is None:
            yield diagnose("MCP108", node.span, f"the {kind} `{node.name}` has no description", "", HINTS[kind])
        elif not description.strip():
            message = f"the description of the {kind} `{node.name}` is empty"
            yield diagnose("MCP108", node.node.span_of("description") or node.span, message, "", HINTS[kind])


CALLED = {"prompt": "prompt", "resource": "resource template"}
PARTS = {"prompt": "argument", "resource": "variable"}


def check_completions(server: Server) -> Diagnostics:
    """Report completions without a target, and two for one argument."""
    known: dict[str, dict[str, tuple[str, ...]]] = {
        "prompt": {prompt.name: tuple(item.name for item in prompt.arguments) for prompt in server.prompts},
        "resource": {
            item.uri.text: tuple(variable.name for variable in item.uri.variables) for item in server.templates
        },
    }
    problems: list[Diagnostic] = []
    firsts: dict[str, Completion] = {}
    for completion in server.completions:
        problems += _check_target(completion, known[completion.kind])
        first = firsts.setdefault(completion.key, completion)
        if first is not completion:
            hint = f"the first is at {first.span.place_in(server.sources)}; remove one of them"
            message = f"`{completion.argument}` of `{completion.ref}` is completed twice"
            problems.append(diagnose("MCP104", completion.span, message, "", hint))
    return tuple(problems)


def _check_target(completion: Completion, known: dict[str, tuple[str, ...]]) -> Iterator[Diagnostic]:
    what, part = CALLED[completion.kind], PARTS[completion.kind]
    if completion.ref not in known:
        message = f"the {what} `{completion.ref}` does not exist"
        yield diagnose(
            "MCP126",
            completion.node.span_of("ref") or completion.span,
            message,
            "",
            did_you_mean(completion.ref, known),
        )
    elif completion.argument not in known[completion.ref]:
        message = f"the {what} `{completion.ref}` has no {part} `{completion.argument}`"
        hint = did_you_mean(completion.argument, known[completion.ref])
        yield diagnose("MCP126", completion.span, message, "", hint)
    elif completion.handler is not None and not completion.handler.file and not completion.argument.isidentifier():
        message = f"the {part} `{completion.argument}` is not a valid function name"
        yield diagnose(
            "MCP126", completion.span, message, "", "list its `values`, or decorate a function with `@completion`"
        )


def check_toolsets(server: Server) -> Diagnostics:
    """Report patterns that match no tool, unless only the running program knows its tools."""
    if server.run_time is not None and "tools" in server.run_time.kinds:
        return ()
    names = [tool.name for tool in server.tools]
    return tuple(
        diagnose(
            "MCP162",
            span,
            f"no tool matches `{pattern}` of the toolset `{toolset.name}`",
            "",
            did_you_mean(pattern, names),
        )
        for toolset in server.toolsets
        for pattern, span in toolset.patterns
        if not any(matches(pattern, name) for name in names)
    )
