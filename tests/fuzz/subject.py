"""What a fuzzer changes: seeds and words, whatever is fed; and the server that all of them are fed to."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from mcpc_runtime.protocol.image import Image
from support.images import archive, image_of
from support.needs import ROOT

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
COMMAND = {"command": "bin/mixed-content"}
WHO = {
    "method": "elicitation/create",
    "params": {"message": "Who, {text}?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}},
}  # fmt: skip
TOOLS = [
    {"name": "echo", "inputSchema": TEXT, "_meta": {"mcpc/handler": COMMAND}},
    {"name": "measure", "inputSchema": TEXT, "outputSchema": {"type": "object", "required": ["length"]}, "_meta": {"mcpc/handler": COMMAND}},
    {"name": "asking", "inputSchema": TEXT, "_meta": {"mcpc/handler": {**COMMAND, "asks": {"who": WHO, "where": {"method": "roots/list", "params": {}}}}}},
    {"name": "long", "inputSchema": TEXT, "_meta": {"mcpc/handler": {**COMMAND, "task": "required", "asks": {"who": WHO}}}},
]  # fmt: skip
RESOURCES = {
    "resources": [{"uri": "test://plain", "name": "plain", "description": "d", "text": "A text."}],
    "resourceTemplates": [
        {"uriTemplate": "files:///{+path}", "name": "below", "description": "d", "root": "/nonexistent"},
        {"uriTemplate": "found://{kind}/items{?page,size}{#part}", "name": "found", "description": "d"},
    ],
}


@dataclass(frozen=True)
class Subject:
    """`run(data)` raises an exception if the server did anything wrong with the data.  `seeds` are good data."""

    run: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...]


@cache
def image() -> Image:
    """Return the example that has everything, and a little more, compiled once."""
    root = ROOT / "examples" / "everything"
    found = [path for path in sorted(root.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    files: dict[str, str | bytes] = {str(path.relative_to(root)): path.read_bytes() for path in found}
    files["tools.d/fuzz.json"] = json.dumps({"tools": [{"description": "d", **tool} for tool in TOOLS]})
    files["resources.d/fuzz.json"] = json.dumps(RESOURCES)
    bash = files["resources.bash"]
    assert isinstance(bash, bytes)
    files["resources.bash"] = bash + b"\nresource_found() { echo; }\nexport -f resource_found\n"
    return image_of(archive(files).data)
