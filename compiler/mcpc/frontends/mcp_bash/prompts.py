"""Prompts: every file below `prompts/` is the text of one, with what is written beside it.

    prompts/greet.txt + prompts/greet.meta.json   {"name": "greet", "arguments": {"properties": {"name": {…}}}}

Arguments may be a JSON Schema, as mcp-bash has them, or the list that clients are shown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.definitions import PromptDefinition
from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.completing import siblings
from mcpc.frontends.mcp_bash.icons import with_icons
from mcpc.frontends.mcp_bash.nodes import given, listed, made, named, text, whole
from mcpc.frontends.mcp_bash.reading import Found, base, folder_of, stem
from mcpc.frontends.mcp_bash.tools import compact
from mcpc.ir import Foreign
from mcpc.sources import judge_encoding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.frontends.mcp_bash.reading import Fields, Reading
    from mcpc.sources import Json, Member, Node, Source

FOLDER = "prompts"
CONTRACT = "mcp_bash_prompt"
SHOWN = ("name", "title", "description", "arguments", "icons", "_meta")
OURS = ("path", "role", "metadata")
KNOWN = (*SHOWN, *OURS)
SCHEMA = ("type", "properties", "required", "additionalProperties", "title", "description")
"""What is said of arguments as a whole."""
PLACED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of an argument that a text may have a place for."""
ROLES = ("user", "assistant")
SYSTEM = "system"
"""A role that mcp-bash knows and the protocol does not."""


def discovered(reading: Reading) -> list[Found]:
    """Return the prompts that lie in the project, by name; a script that completes one of them is none."""
    sources = list(reading.files(FOLDER))
    helpers = siblings(sources)
    found = [_found(source, reading) for source in sources if source.path not in helpers]
    return sorted(found, key=lambda one: text(one.fields, "name"))


def _found(source: Source, reading: Reading) -> Found:
    fields = reading.written(source, KNOWN)
    if not text(fields, "name") and ("name" not in fields or fields["name"].node.kind == "string"):
        fields["name"] = named("name", made(stem(base(source.path)), Span(source.path)))
    return Found(source, fields, Span(source.path), folder_of(source.path))


def definition(found: Found, reading: Reading, role: str = "user") -> PromptDefinition | None:
    """Return the prompt; `role`: whose it is, if nothing is said of that."""
    if found.file is None:
        return None
    problems, is_text = judge_encoding(found.file)
    reading.problems += problems
    fields = dict(found.fields)
    if "arguments" in fields:
        fields["arguments"] = _arguments(fields["arguments"], reading)
    if "icons" in fields:
        fields["icons"] = with_icons(fields["icons"], found.home, reading)
    listing = fields["arguments"].node.items if "arguments" in fields else ()
    names = tuple(str(item.value["name"]) for item in listing if isinstance(item.value, dict) and "name" in item.value)
    _judge_names(listing, reading)
    metadata = fields["metadata"].node.value if "metadata" in fields else None
    words = found.file.text.removeprefix("\ufeff") if is_text else ""
    facts = (words, _role(fields, role, reading), compact(metadata), names, text(fields, "description"))
    reading.entries[text(fields, "name")] = _entry(found, facts[1])
    own: dict[str, Json] = {"path": found.path.removeprefix(f"{FOLDER}/"), "role": facts[1], "metadata": metadata}
    besides = reading.shown_besides(own, OURS, found.span)
    node = whole((*(fields[key] for key in SHOWN if key in fields), *besides), found.span)
    return PromptDefinition(node, handler=Foreign(found.path, Span(found.path), CONTRACT, facts))


def _entry(found: Found, role: str) -> str:
    """Return the entry that mcp-bash's registry would have."""
    if found.entry is not None:
        return compact(found.entry.value)
    fields = found.fields
    said: dict[str, Json] = {key: fields[key].node.value for key in ("arguments", "metadata", "icons") if key in fields}
    usual: dict[str, Json] = {"arguments": {"type": "object", "properties": {}}, "role": role, "metadata": None}
    path = found.path.removeprefix(f"{FOLDER}/")
    named_so: dict[str, Json] = {"name": text(fields, "name"), "description": text(fields, "description"), "path": path}
    return compact({**named_so, **usual, **said})


def _judge_names(listing: Iterable[Node], reading: Reading) -> None:
    """Report arguments that have no place in any text."""
    for name in (item.get("name") for item in listing if item.kind == "object"):
        if name is not None and isinstance(name.value, str) and PLACED.fullmatch(name.value) is None:
            message = f"no text can have a place for an argument called `{name.value}`"
            reading.tell("MCP155", name.span, message, "letters, digits and `_`, and no digit first")


def _arguments(written: Member, reading: Reading) -> Member:
    """Return the arguments as the protocol lists them."""
    node = written.node
    if node.kind != "object":
        return written
    properties, required = node.get("properties"), node.get("required")
    demanded = [item.value for item in required.items] if required is not None else []
    known = [member.key for member in properties.members] if properties is not None else []
    reading.strangers(given(node), SCHEMA)
    for item in required.items if required is not None else ():
        if item.value not in known:
            message = f"`{item.value}` is required, and no argument is called so"
            reading.tell("MCP155", item.span, message, "the name of one of `properties`")
    items = [_argument(member, member.key in demanded) for member in (properties.members if properties else ())]
    return named("arguments", listed(items, node.span))


def _argument(written: Member, is_required: bool) -> Node:
    said = given(written.node)
    name = named("name", made(written.key, written.key_span))
    required = named("required", made(is_required, written.key_span))
    return whole([name, *(said[key] for key in ("title", "description") if key in said), required], written.node.span)


def _role(fields: Fields, otherwise: str, reading: Reading) -> str:
    if "role" not in fields:
        return otherwise
    role, span = text(fields, "role"), fields["role"].node.span
    if role in ROLES:
        return role
    message = f"the protocol has no role `{fields['role'].node.value}`"
    reading.tell("MCP155", span, message, "`user` or `assistant`", "clients are given the text as the user's")
    return role if role == SYSTEM else otherwise
