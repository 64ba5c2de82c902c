"""Servers in memory for golden dialogues: one has a definition of every kind, others change its index."""

import json
import marshal
from functools import cache
from typing import Any

from mcpc.emit.bytecode import MAGIC
from mcpc.emit.records import hidden_fields
from mcpc.model.revisions import REVISIONS
from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.effects import Call, CompletionOutcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.requests import Request
from support.images import archive, image_of, project, tool

TELLS = """
from mcpc import Context
def _tells(context: Context):
    context.list_changed("tools")
    context.list_changed("resources")
"""
"""A server promises changes of a list only if something in it can announce them."""
HOOKS = "support.protocol_servers"
TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "count": {"type": "integer", "default": 2}},
    "required": ["text"],
    "additionalProperties": False,
}
ANY = {"type": "object"}
IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "u:1", "name": "link"}
TASK = {"_meta": {"mcpc/handler": {"task": "required"}}}
WHO = {"method": "elicitation/create", "params": {"message": "{text}?", "mode": "url", "url": "https://x/{text}"}}


def handler(**options: Any) -> dict[str, Any]:
    """Return the member of a definition with its handler's options."""
    return {"_meta": {"mcpc/handler": options}}


@cache
def whole(**options: Any) -> Image:
    """Return a server with tools, prompts, resources, templates, completions and tasks."""
    tools = [
        tool("echo", TEXT),
        tool("measure", TEXT, outputSchema={"type": "object", "required": ["length"]}),
        tool("list", ANY, outputSchema={"type": "array"}),
        tool("long", ANY, **TASK),
        tool("perhaps", ANY, **handler(task="optional"), annotations={"readOnlyHint": True}),
        tool("asks", TEXT, **handler(asks={"who": WHO})),
        tool("fixed", ANY, **handler(content=[{"type": "text", "text": "é"}])),
        tool("needs", ANY, **handler(requires=["jq"])),
        tool("linked", ANY, **handler(content=[{"type": "text", "text": "a"}, LINK])),
    ]
    arguments = [{"name": "name", "required": True}, {"name": "mood"}, {"name": "way"}]
    prompts = [
        {"name": "greet", "description": "d", "arguments": arguments},
        {"name": "fixed", "description": "d", **handler(messages=[{"role": "user", "content": LINK}])},
    ]
    completed = {"type": "ref/prompt", "name": "greet"}
    resources = {
        "resources": [
            {"uri": "test://a", "name": "a", "description": "d", "text": "é"},
            {"uri": "test://b", "name": "b", "description": "d"},
            {"uri": "test://c", "name": "c", "description": "d", "root": {"folder": "/r", "path": "c.md"}},
        ],
        "resourceTemplates": [
            {"uriTemplate": "user://{id}", "name": "user", "description": "d"},
            {"uriTemplate": "file:///{+path}", "name": "file", "description": "d", "root": "/r"},
        ],
    }
    files = project(
        tools,
        capabilities={
            "tools": {"listChanged": True},
            "prompts": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "logging": {},
            "completions": {},
        },
    )
    files["tools.py"] = f"{files['tools.py']}{TELLS}"
    files |= {
        "prompts.json": json.dumps({"prompts": prompts}),
        "prompts.py": "def greet(name, mood='', way=''): return name\n",
        "resources.json": json.dumps(resources),
        "resources.py": "def resource_b(): return ''\ndef resource_user(id): return id\n",
        "completions.json": json.dumps(
            {
                "completions": [
                    {"ref": completed, "argument": "mood", "values": ["Well", "swell", "bad", "WELL"]},
                    {"ref": completed, "argument": "way"},
                    {"ref": {"type": "ref/resource", "uri": "user://{id}"}, "argument": "id", "values": ["1", "12"]},
                ]
            }
        ),
        "completions.py": "def complete_greet_way(value): return [value]\n",
    }
    return image_of(archive(files, **options).data)


def changed(**index: Any) -> Image:
    return whole().with_index({**whole().index, **index})


def hooked(*names: str, **index: Any) -> Image:
    return changed(hooks={name: (f"{HOOKS}:{name}",) for name in names}, **index)


def listed_late(*kinds: str) -> Image:
    """Return the server as if only its program knew the definitions of these kinds."""
    image = whole()
    record = marshal.dumps(("late", ("program.py",), (), None, None, None, None))
    hidden = marshal.dumps({revision.version: hidden_fields(revision) for revision in REVISIONS})
    lists = tuple(method for method in image.revision("2025-11-25").lists if method.partition("/")[0] in kinds)
    start = 1 << 40
    row = {"kinds": kinds, "lists": lists, "record": (start, len(record)), "hidden": (2 * start, len(hidden))}

    def read(at: int, length: int) -> bytes:
        return (record if at == start else hidden)[:length] if at >= start else image.read(at, length)

    blob = "mcpc_app/blob"
    return Image(
        {**image.index, "run_time": row},
        lambda name: read if name == blob else image.open_entry(name),
        image.entry,
        MAGIC,
    )


def takes_any_arguments(prompt: Definition) -> bool:
    """The hook of systems whose prompts take more than they declare: here one of two does."""
    return prompt.name == "greet"


def is_polled(definition: Definition) -> bool:
    """The hook of systems that compare contents: here one of two resources is."""
    return definition.name == "test://b"


def poll_resources(_: object) -> None:
    """The hook that starts to poll."""


def names_subscriptions(_: object) -> bool:
    """The hook of systems whose clients expect a name for each subscription."""
    return True


def name_resource(request: Request) -> str | None:
    """The hook of systems that read resources by name, too."""
    name = request.params.get("name")
    return f"test://{name}" if type(name) is str else None


def find_resource(image: Image, uri: str) -> tuple[Definition, dict[str, Any]] | None:
    """The hook of systems with resources that no list has."""
    definition = image.resource("test://b")
    return (definition, {"uri": uri}) if definition and uri.startswith("found:") else None


def complete(request: Request, name: str, value: str, context: dict[str, Any]) -> Call | CompletionOutcome:
    """The hook of systems that complete anything."""
    return CompletionOutcome([name, value, *context])
