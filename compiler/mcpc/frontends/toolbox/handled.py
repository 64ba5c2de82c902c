"""What a project's own handlers of prompts and resources offer.

Its prompts are those that are listed at the build; its resources are read through one template, whose handler lists
them when a client asks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.definitions import PromptDefinition, TemplateDefinition
from mcpc.definitions.handling import HANDLER
from mcpc.diagnostics import Span
from mcpc.frontends.toolbox.faults import not_imported
from mcpc.frontends.toolbox.naming import ENDINGS
from mcpc.frontends.toolbox.shaping import IN_NODE, node_of
from mcpc.ir import Foreign

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.bundling import Description
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.sources import Json, Source, SourceTree

CONTRACT = "toolbox"
LISTED = "What the list of resources shows."
HANDLERS = {"prompts": "src/handler/PromptHandler", "resources": "src/handler/ResourceHandler"}
NEEDED = {
    "prompts": ("listPromptsHandler", "getPromptHandler"),
    "resources": ("listResourcesHandler", "readResourceHandler"),
}
URI = re.compile(r"""[`"']([a-z][a-z0-9+.-]*:/{0,3})[^`"'\s]*\$\{""", re.IGNORECASE)
ANYTHING = "{+uri}"


def existing(tree: SourceTree, stemmed: str) -> str:
    """Return the module of this name, whatever it is written in."""
    return next((stemmed + ending for ending in ENDINGS if tree.get(stemmed + ending)), "")


def handled(
    tree: SourceTree, handlers: Mapping[str, str], offered: Mapping[str, Description]
) -> tuple[tuple[PromptDefinition, ...], tuple[TemplateDefinition, ...], Diagnostics]:
    """Return the prompts that a project's own handler lists, and a template for what its other one reads."""
    problems: list[Diagnostic] = []
    usable = {}
    for kind, path in handlers.items():
        found = offered.get(kind)
        if found is not None and found.failure:
            problems.append(not_imported(tree.files[path], found))
        elif found is not None and set(NEEDED[kind]) <= set(found.exported):
            usable[kind] = found
    prompts = tuple(map_prompts(handlers.get("prompts", ""), usable))
    templates = (template(tree.files[handlers["resources"]]),) if "resources" in usable else ()
    return prompts, templates, tuple(problems)


def map_prompts(path: str, usable: Mapping[str, Description]) -> Iterator[PromptDefinition]:
    """Yield the prompts that were listed."""
    for prompt in usable["prompts"].prompts if "prompts" in usable else ():
        if isinstance(prompt, dict) and isinstance(prompt.get("name"), str):
            span = Span(path, 0, 0)
            handler = Foreign(path, span, CONTRACT, ("prompt", prompt["name"]), unpacks=True)
            meta = prompt.get("_meta")
            running: Json = {**(meta if isinstance(meta, dict) else {}), HANDLER: IN_NODE}
            yield PromptDefinition(node_of({**prompt, "_meta": running}, span), None, handler)


def template(source: Source) -> TemplateDefinition:
    """Return what stands for every resource that a handler reads: what its text shows that their uris begin with."""
    found = URI.search(source.text)
    span = Span(source.path, *(found.span(1) if found else (0, 0)))
    uri = f"{found[1]}{{+path}}" if found else ANYTHING
    handler = Foreign(source.path, span, CONTRACT, ("resource", uri), unpacks=True)
    value: Json = {"uriTemplate": uri, "name": "resources", "description": LISTED, "_meta": {HANDLER: IN_NODE}}
    return TemplateDefinition(node_of(value, span), None, handler)


def probe(template: TemplateDefinition) -> str:
    """Return a uri that a template matches, by which its handler is found to list resources."""
    return str(template.node.value["uriTemplate"]).replace("{+path}", "x").replace(ANYTHING, "x:x")  # type: ignore[index,call-overload]
