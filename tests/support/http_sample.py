"""A small server for tests over HTTP, built once: quick tools, slow ones, and those that log, ask and publish."""

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from zipimport import zipimporter

from mcpc_runtime.artifact.image import open_image
from mcpc_runtime.protocol.image import Image
from support.artifact import build

SERVER = {
    "serverInfo": {"name": "sample", "version": "1.0"},
    "capabilities": {"tools": {"listChanged": True}, "prompts": {}, "resources": {"subscribe": True}, "logging": {}},
}
QUIET = {"serverInfo": {"name": "quiet", "version": "1.0"}, "capabilities": {"tools": {}}}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NONE = {"type": "object", "additionalProperties": False}
SECONDS = {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}
REGION = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "sure": {"type": "boolean", "x-mcp-header": "Sure"},
        "where": {"type": "object", "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}},
    },
}
INLINE = {"mcpc/handler": {"inline": True}}
TOOLS = {
    "echo": (TEXT, {}), "quick": (TEXT, INLINE), "held": (TEXT, INLINE), "where_inline": (NONE, INLINE),
    "where_loop": (NONE, {"mcpc/handler": {"inline": "loop"}}),
    "late": (SECONDS, {}), "tell": (NONE, {}), "steps": (TEXT, {}), "elicit": (NONE, {}), "part": (NONE, {}),
    "change": (TEXT, {}), "place": (REGION, {}), "raised": (TEXT, {}), "marked": (TEXT, {}),
}  # fmt: skip
CODE = """
import gc, pathlib, sys, threading, time
from mcpc import Context, ProtocolError

def echo(text): return text
def blocks(): gc.collect(); return str(sys.getallocatedblocks())
def where_inline(): return str(threading.get_ident())
def where_loop(): return str(threading.get_ident())
def quick(text): return text
def held(text): return marked(text)
def late(seconds): time.sleep(seconds); return "late"
def tell(ctx: Context):
    for step in range(3):
        ctx.report_progress(step, 3)
        time.sleep(0.06)
    return "told"
def steps(text, ctx: Context):
    ctx.report_progress(1, 2)
    marked(text)
    ctx.report_progress(2, 2)
    return "stepped"
def elicit(ctx: Context):
    found = ctx.elicit("Who?", {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
    return f"{found.action} {found.data}"
def part(ctx: Context):
    ctx.report_progress(1, 2)
    ctx.close_stream(0.05)
    time.sleep(0.3)
    ctx.report_progress(2, 2)
    return "whole"
def change(text, ctx: Context):
    ctx.list_changed("tools") if text == "tools" else ctx.resource_updated(text)
    return "changed"
def place(**given): return str(given)
def raised(text): raise ProtocolError(int(text), "as asked")
def marked(text):
    try:
        pathlib.Path(f"{text}.begun").touch()
        while not pathlib.Path(f"{text}.go").exists():
            time.sleep(0.01)
    finally:
        pathlib.Path(text).write_text("ended")
    return "late"
"""


def image_of(file: Path) -> Image:
    """Open a built server in this process."""
    loader = zipimporter(str(file))
    names: dict = {}
    exec(loader.get_data(f"{file}/mcpc_app/index.py"), names)
    return open_image(loader, names["INDEX"])


def project(folder: Path, server: dict, tools: dict) -> Path:
    folder.mkdir()
    listed = [
        {"name": name, "description": f"The tool {name}.", "inputSchema": schema, **({"_meta": meta} if meta else {})}
        for name, (schema, meta) in tools.items()
    ]
    (folder / "server.json").write_text(json.dumps(server))
    (folder / "tools.json").write_text(json.dumps({"tools": listed}))
    (folder / "tools.py").write_text(CODE if len(tools) > 1 else "def echo(text): return text\n")
    if "resources" in server["capabilities"]:
        resources = [
            {"uri": "sample://text", "name": "text", "description": "A text.", "text": "A text.", "mimeType": "text/plain"}
        ]  # fmt: skip
        (folder / "resources.json").write_text(json.dumps({"resources": resources}))
        prompts = [{"name": "greet", "description": "Greet.", "arguments": [{"name": "who", "description": "Who."}]}]
        (folder / "prompts.json").write_text(json.dumps({"prompts": prompts}))
        (folder / "prompts.py").write_text("def greet(who='you'): return f'Hello, {who}'\n")
    return folder


@cache
def built(name: str) -> Path:
    place = Path(tempfile.mkdtemp(prefix="mcpc-http-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    server, tools = (SERVER, TOOLS) if name == "sample" else (QUIET, {"echo": TOOLS["echo"]})
    return build(project(place / name, server, tools), place / f"{name}.pyz")


@cache
def sample() -> Image:
    return image_of(built("sample"))


@cache
def quiet() -> Image:
    """Return a server that sends no messages over GET."""
    return image_of(built("quiet"))
