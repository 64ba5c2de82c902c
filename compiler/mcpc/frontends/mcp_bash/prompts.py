"""Prompts: every file below `prompts/` is the text of a prompt, with its description beside it.

    prompts/greet.txt + prompts/greet.meta.json   {"name": "greet", "arguments": {"properties": {"name": {…}}}}

Arguments may be a JSON Schema, as in mcp-bash, or the list that the protocol uses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.completions import completion_scripts
from mcpc.frontends.mcp_bash.reading import ProjectItem, folder_of, name_of_file, with_icons
from mcpc.frontends.mcp_bash.tools import compact_json
from mcpc.model.definitions import PromptDefinition
from mcpc.model.ir import ExternalHandler
from mcpc.reading.json_tree import array_node, fields_of, implied_member, member_at_value, object_node, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.frontends.mcp_bash.reading import Fields, ProjectReader
    from mcpc.reading import Json, Member, Node, Source

FOLDER = "prompts"
CONTRACT = "mcp_bash_prompt"
LISTED_FIELDS = ("name", "title", "description", "arguments", "icons", "_meta")
MCP_BASH_FIELDS = ("path", "role", "metadata")
KNOWN_FIELDS = (*LISTED_FIELDS, *MCP_BASH_FIELDS)
SCHEMA_FIELDS = ("type", "properties", "required", "additionalProperties", "title", "description")
"""Fields that describe the arguments as a whole."""
PLACEHOLDER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""An argument's name that can be a placeholder in a text."""
ROLES = ("user", "assistant")
SYSTEM = "system"
"""A role that mcp-bash has and the protocol does not."""


def discover_prompts(reader: ProjectReader) -> list[ProjectItem]:
    """Return the prompts in the project's files, by name; completion scripts are not prompts."""
    sources = list(reader.item_files(FOLDER))
    helpers = completion_scripts(sources)
    items = [_found(source, reader) for source in sources if source.path not in helpers]
    return sorted(items, key=lambda item: text_of(item.fields, "name"))


def _found(source: Source, reader: ProjectReader) -> ProjectItem:
    fields = reader.described_fields(source, KNOWN_FIELDS)
    # A name of another type stays, and is reported with the types of all fields.
    if not text_of(fields, "name") and ("name" not in fields or fields["name"].node.kind == "string"):
        fields["name"] = name_of_file(source)
    return ProjectItem(source, fields, Span(source.path), folder_of(source.path))


def prompt_definition(prompt_item: ProjectItem, reader: ProjectReader, role: str = "user") -> PromptDefinition | None:
    """Return the prompt; `role`: its default role."""
    if prompt_item.file is None:
        return None
    text = reader.read_text(prompt_item.file) or ""
    fields = dict(prompt_item.fields)
    if "arguments" in fields:
        fields["arguments"] = _arguments(fields["arguments"], reader)
    if "icons" in fields:
        fields["icons"] = with_icons(fields["icons"], prompt_item.home, reader)
    listing = fields["arguments"].node.items if "arguments" in fields else ()
    names = tuple(str(item.value["name"]) for item in listing if isinstance(item.value, dict) and "name" in item.value)
    _check_names(listing, reader)
    metadata = fields["metadata"].node.value if "metadata" in fields else None
    facts = (text, _role(fields, role, reader), compact_json(metadata), names, text_of(fields, "description"))
    reader.entries[text_of(fields, "name")] = _registry_entry(prompt_item, facts[1])
    own: dict[str, Json] = {"path": prompt_item.path.removeprefix(f"{FOLDER}/"), "role": facts[1], "metadata": metadata}
    besides = reader.dialect_members(own, MCP_BASH_FIELDS, prompt_item.span)
    node = object_node((*(fields[key] for key in LISTED_FIELDS if key in fields), *besides), prompt_item.span)
    return PromptDefinition(
        node, handler=ExternalHandler(prompt_item.path, Span(prompt_item.path), CONTRACT, facts, answers=True)
    )


def _registry_entry(item: ProjectItem, role: str) -> str:
    """Return its entry in mcp-bash's registry."""
    if item.entry is not None:
        return compact_json(item.entry.value)
    fields = item.fields
    said: dict[str, Json] = {key: fields[key].node.value for key in ("arguments", "metadata", "icons") if key in fields}
    usual: dict[str, Json] = {"arguments": {"type": "object", "properties": {}}, "role": role, "metadata": None}
    path = item.path.removeprefix(f"{FOLDER}/")
    texts = {key: text_of(fields, key) for key in ("name", "description")}
    return compact_json({**texts, "path": path, **usual, **said})


def _check_names(listing: Iterable[Node], reader: ProjectReader) -> None:
    """Report arguments that cannot be placeholders in a text."""
    for name in (item.get("name") for item in listing if item.kind == "object"):
        if name is not None and isinstance(name.value, str) and PLACEHOLDER.fullmatch(name.value) is None:
            message = f"invalid argument name `{name.value}`: it cannot be a placeholder in a text"
            reader.report("MCP155", name.span, message, "letters, digits and `_`, not beginning with a digit")


def _arguments(written: Member, reader: ProjectReader) -> Member:
    """Return the arguments as the protocol lists them."""
    node = written.node
    if node.kind != "object":
        return written
    properties, required = node.get("properties"), node.get("required")
    demanded = [item.value for item in required.items] if required is not None else []
    known = [member.key for member in properties.members] if properties is not None else []
    reader.report_unknown_fields(fields_of(node), SCHEMA_FIELDS)
    for item in required.items if required is not None else ():
        if item.value not in known:
            message = f"required argument `{item.value}` is not defined"
            reader.report("MCP155", item.span, message, "the name of one of `properties`")
    items = [_argument(member, member.key in demanded) for member in (properties.members if properties else ())]
    return member_at_value("arguments", array_node(items, node.span))


def _argument(written: Member, is_required: bool) -> Node:
    said = fields_of(written.node)
    name = implied_member("name", written.key, written.key_span)
    required = implied_member("required", is_required, written.key_span)
    return object_node(
        [name, *(said[key] for key in ("title", "description") if key in said), required], written.node.span
    )


def _role(fields: Fields, otherwise: str, reader: ProjectReader) -> str:
    if "role" not in fields:
        return otherwise
    role, span = text_of(fields, "role"), fields["role"].node.span
    if role in ROLES:
        return role
    message = f"unknown role `{fields['role'].node.value}`"
    reader.report("MCP155", span, message, "`user` or `assistant`", "the text is sent with the role `user`")
    return role if role == SYSTEM else otherwise
