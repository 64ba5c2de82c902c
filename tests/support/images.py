"""Small servers, compiled in memory: for tests of a built server's responses, without a process."""

import io
import json
import zipfile
from functools import cache

from mcpc import pipeline
from mcpc.emit.bytecode import MAGIC
from mcpc.options import Options
from mcpc.pack.packing import BuiltArchive
from mcpc_runtime.protocol.effects import StartHandler
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session
from support.projects import tree

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def archive(files: dict[str, str | bytes], **options: object) -> BuiltArchive:
    """Compile a project given as file texts; the diagnostics of one that does not compile are the failure's text."""
    chosen = Options(**options)
    checked = pipeline.analyse(tree(files), (), chosen)
    assert checked.checked is not None, checked.diagnostics
    return pipeline.compile_server(checked.checked, chosen)


def image_of(data: bytes, *, same_python: bool = True) -> Image:
    """Open a packed server without a file."""
    packed = zipfile.ZipFile(io.BytesIO(data))
    names: dict[str, object] = {}
    exec(packed.read("mcpc_app/index.py"), names)

    def open_entry(name: str):
        data = packed.read(name)
        return lambda at, length: data[at : at + length]

    magic = MAGIC if same_python else b"none"
    return Image(names["INDEX"], open_entry, packed.read, magic)


def project(tools: list[dict], **more: object) -> dict[str, str | bytes]:
    """A Python project with these tools; each returns its arguments."""
    functions = "".join(
        f"def {tool['name'].replace('-', '_').replace('.', '_')}(**given): return given\n" for tool in tools
    )
    server = {"serverInfo": {"name": "small", "version": "1.0"}, **more}
    return {"server.json": json.dumps(server), "tools.json": json.dumps({"tools": tools}), "tools.py": functions}


def tool(name: str, schema: dict | None = None, **more: object) -> dict:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema or {"type": "object"}, **more}


@cache
def small_archive() -> BuiltArchive:
    """A server with an echo tool, a structured one, and two prompts."""
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    files = project(
        [tool("echo", text), tool("measure", text, outputSchema={"type": "object", "required": ["length"]})],
        capabilities={"tools": {}, "logging": {}},
        instructions="Echo, and measure.",
    )
    files["prompts.json"] = json.dumps(
        {
            "prompts": [
                {"name": "greet", "description": "Greet.", "arguments": [{"name": "name", "required": True}, {"name": "mood"}]}
            ]
        }
    )  # fmt: skip
    files["prompts.py"] = "def greet(name, mood='well'): return f'{name} {mood}'\n"
    return archive(files)


def small_session() -> Session:
    return Session(image_of(small_archive().data))


def request(method: str, params: object = None, identifier: object = 1) -> dict:
    body = {"jsonrpc": "2.0", "id": identifier, "method": method}
    return body if params is None else {**body, "params": params}


def ask(session: Session, message: object) -> object:
    """The one reply to a message, decoded; None if there is none; the Start effect if a handler is to run."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    effects = session.receive(data)
    assert len(effects) <= 1, effects
    if not effects:
        return None
    if isinstance(effects[0], StartHandler):
        return effects[0]
    assert isinstance(effects[0], SendResponse)
    line = effects[0].data
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    return json.loads(line)
