"""Lists that are made when they are requested: the program of the server is asked for each, as it was for all at build.

What a list shows depends on the revision as for lists that are built: the index has the fields that each revision does
not define.  Such a list is for the client that requested it, and only now.  It has the program's cursors.

Requests of extensions that only the program knows are forwarded to it as they are.  What the core protocol defines is
never forwarded: the server answers that itself.  Where the operator or a client's token narrows the tools nothing is
forwarded, as it is not known what an extension calls.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any

from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.effects import Call, Ending, Failure, FinishedResult, SessionState
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.requests import Request

Item = dict[str, Any]
Hidden = dict[str, Any]
"""What a revision does not show: names of fields by `tool`, `prompt`, `argument`, `resource` and `template`;
`boolean`: it has no boolean properties; `output`: its output schemas are of objects only."""


KEYS = {
    "tools/list": ("tools", "tool", "name"),
    "prompts/list": ("prompts", "prompt", "name"),
    "resources/list": ("resources", "resource", "uri"),
    "resources/templates/list": ("resourceTemplates", "template", "uriTemplate"),
}
"""By method: the member of the result, the kind of its items, and what identifies one."""
LIST_SECONDS = 120.0
"""Time limit of a list: the first one starts the program."""
MAX_CURSOR = 4096
# What the schemas `true` and `false` mean, as objects.
BOOLEAN_SCHEMAS: dict[bool, dict[str, Json]] = {True: {}, False: {"not": {}}}
UNKNOWN_CURSOR = "Invalid params: unknown cursor"


def list_at_run_time(image: Image, kind: str) -> None:
    """Ask the program for the list of a kind from now on, and let it handle what is in none, if there is a program."""
    if "record" in image.run_time and kind not in image.run_time_kinds:
        image.run_time_kinds |= {kind}
        image.run_time_lists |= {method for method in KEYS if method.startswith(f"{kind}/")}
        image.forget_definitions()


def request_list(session: SessionState, request: Request) -> Call | Failure:
    """Return the call that makes the list which a client requests."""
    cursor = request.params.get("cursor")
    if cursor is not None and (type(cursor) is not str or len(cursor) > MAX_CURSOR):
        return Failure(INVALID_PARAMS, UNKNOWN_CURSOR)
    call = Call(request, session.image.run_time_definition(request.method), {"cursor": cursor})
    call.seconds = LIST_SECONDS
    return call


def list_ending(call: Call, value: object) -> Ending:
    """Return the ending of a list's call from what the program returned: items, and perhaps `nextCursor`."""
    request = call.request
    key, kind, identifier = KEYS[request.method]
    items = value.get(key) if type(value) is dict else None
    if type(value) is not dict or type(items) is not list or not all(is_item(item, identifier) for item in items):
        return Failure(INTERNAL_ERROR, f"Internal error: the program returned no list of {key}")
    visible = visible_items(request, items) if kind == "tool" else items
    hidden = hidden_fields(request.session.image, request.wire.version)
    result: dict[str, Json] = {key: [projected(item, kind, hidden) for item in visible]}
    next_cursor = value.get("nextCursor")
    if type(next_cursor) is str and next_cursor:
        result["nextCursor"] = next_cursor
    if request.wire.stateless:
        result.update(ttlMs=0, cacheScope="private")
    return FinishedResult(result)


def is_item(item: object, identifier: str) -> bool:
    """Tell whether this is an item of a list."""
    return type(item) is dict and type(item.get(identifier)) is str


def visible_items(request: Request, items: list[Item]) -> list[Item]:
    """Return the tools that the client may see."""
    session = request.session
    tests: list[Callable[[str], bool]] = [
        test for test in (session.allows, session.image.shows_tool) if test is not None
    ]
    choice = session.image.choice
    return [
        item for item in items if all(test(item["name"]) for test in tests) and (choice is None or choice.takes(item))
    ]


def hidden_fields(image: Image, version: str) -> Hidden:
    """Return what a revision does not show."""
    fields: Hidden = marshal.loads(image.read(*image.run_time["hidden"]))[version]
    return fields


def projected(item: Item, kind: str, hidden: Hidden) -> Item:
    """Return an item as a revision shows it."""
    fields = {key: value for key, value in item.items() if key not in hidden[kind]}
    if kind == "prompt" and type(fields.get("arguments")) is list:
        fields["arguments"] = [
            projected(each, "argument", hidden) for each in fields["arguments"] if type(each) is dict
        ]
    if kind == "tool":
        project_schemas(fields, hidden)
    return fields


def project_schemas(tool: Item, hidden: Hidden) -> None:
    """Change a tool's schemas to those that a revision can have."""
    output = tool.get("outputSchema")
    if hidden["output"] and output is not None and (type(output) is not dict or output.get("type") != "object"):
        del tool["outputSchema"]
    for field in ("inputSchema", "outputSchema") if hidden["boolean"] else ():
        if type(tool.get(field)) is dict:
            tool[field] = without_boolean_properties(tool[field])


def without_boolean_properties(schema: Item) -> Item:
    """Return a schema whose root's properties are all objects."""
    properties = schema.get("properties")
    if type(properties) is not dict or not any(type(value) is bool for value in properties.values()):
        return schema
    changed = {name: BOOLEAN_SCHEMAS[value] if type(value) is bool else value for name, value in properties.items()}
    return {**schema, "properties": changed}


CORE = frozenset({
    "completion", "elicitation", "initialize", "logging", "notifications", "ping", "prompts", "resources", "roots",
    "sampling", "server", "subscriptions", "tools",
})  # fmt: skip
"""The first words of the methods that the core protocol defines."""
MAX_METHOD = 256


def is_forwarded(session: SessionState, method: str) -> bool:
    """Tell whether the program answers a method that this server does not know."""
    image, is_extension = session.image, method.partition("/")[0] not in CORE and len(method) <= MAX_METHOD
    return is_extension and "forwards" in image.run_time and image.choice is None and session.allows is None


def forward_request(session: SessionState, request: Request) -> Call:
    """Return the call in which the program answers a request."""
    params = {name: value for name, value in request.params.items() if name != "_meta"}
    return Call(request, session.image.run_time_definition(request.method), params)
