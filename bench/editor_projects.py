"""Projects of N tools in every format, for bench/language_server.py: each form returns the file that is edited."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SERVER = '{"serverInfo": {"name": "x", "version": "1"}}'
PROPERTIES = {
    "path": {"type": "string", "minLength": 1, "description": "Where it is"},
    "mode": {"enum": ["a", "b"]},
    "count": {"type": "integer", "minimum": 0, "default": 3},
    "tags": {"type": "array", "items": {"type": "string"}},
}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["path"], "additionalProperties": False}
TOOL_SH = '#!/usr/bin/env bash\nsource "$MCP_SDK/tool-sdk.sh"\nmcp_emit_text "Does it: $(mcp_args_get .path)"\n'


def tool(number: int) -> dict[str, Any]:
    """Return a tool of the usual size."""
    return {"name": f"tool_{number}", "description": f"Does thing {number}.", "inputSchema": SCHEMA}


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files."""
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def listed(count: int) -> str:
    """Return a file with a list of tools."""
    return json.dumps({"tools": [tool(number) for number in range(count)]}, indent=2)


def functions(count: int) -> str:
    """Return a Python file with a function a tool."""
    return "".join(
        f"def tool_{number}(path, mode='a', count=3, tags=()):\n    return path\n\n\n" for number in range(count)
    )


def one_file(folder: Path, count: int) -> Path:
    """Native: `tools.json`, edited, and Python functions."""
    write(folder, {"server.json": SERVER, "tools.py": functions(count), "tools.json": listed(count)})
    return folder / "tools.json"


def function_file(folder: Path, count: int) -> Path:
    """Native: the Python functions are edited."""
    one_file(folder, count)
    return folder / "tools.py"


def file_each(folder: Path, count: int) -> Path:
    """Native: a file of `tools.d` a tool."""
    files = {f"tools.d/tool_{number}.json": json.dumps(tool(number), indent=2) for number in range(count)}
    write(folder, {"server.json": SERVER, "tools.py": functions(count), **files})
    return folder / "tools.d" / f"tool_{count // 2}.json"


def mcbox(folder: Path, count: int) -> Path:
    """Return the JSON file of an mcbox folder, whose functions are in Bash."""
    bash = "".join(f'tool_tool_{number}() {{\n  jq -r .path <<<"$1"\n}}\n' for number in range(count))
    write(folder, {"server.json": SERVER, "tools.bash": bash, "tools.json": listed(count)})
    return folder / "tools.json"


def mcp_bash_meta(folder: Path, count: int) -> Path:
    """Return the description of a tool of mcp-bash."""
    files = {"server.d/server.meta.json": '{"name": "x", "title": "X"}'}
    for number in range(count):
        files[f"tools/tool-{number}/tool.meta.json"] = json.dumps({**tool(number), "name": f"tool-{number}"}, indent=2)
        files[f"tools/tool-{number}/tool.sh"] = TOOL_SH
    write(folder, files)
    for script in folder.glob("tools/*/tool.sh"):
        script.chmod(0o755)
    return folder / f"tools/tool-{count // 2}/tool.meta.json"


def mcp_bash_script(folder: Path, count: int) -> Path:
    """Return the script of a tool of mcp-bash."""
    return mcp_bash_meta(folder, count).with_name("tool.sh")


def toolbox(folder: Path, count: int) -> Path:
    """Return a module of ToolBox in TypeScript."""
    text = (
        "export const schema = {schema};\n\nexport default async function (request: any) {{\n"
        '  return {{ content: [{{ type: "text", text: "Does it: " + request.params.arguments.path }}] }};\n}}\n'
    )
    files = {
        f"src/tools/tool_{number}.ts": text.format(
            schema=json.dumps({"description": f"Does it {number}.", **SCHEMA}, indent=2)
        )
        for number in range(count)
    }
    write(folder, {"package.json": '{"name": "x", "version": "1.0.0", "type": "module"}', **files})
    return folder / f"src/tools/tool_{count // 2}.ts"


def toolbox_python(folder: Path, count: int) -> Path:
    """Return a module of ToolBox in Python."""
    text = 'schema = {schema!r}\n\n\ndef default(request):\n    return {{"content": []}}\n'
    files = {
        f"src/tools/tool_{number}.py": text.format(schema={"description": f"Does it {number}.", **SCHEMA})
        for number in range(count)
    }
    write(folder, files)
    return folder / f"src/tools/tool_{count // 2}.py"


def decorated(heading: str, decorator: str) -> Callable[[int], str]:
    """Return the function that makes a program of N decorated functions."""

    def program(count: int) -> str:
        tools = (
            f"@{decorator}\ndef tool_{number}(path: str, count: int = 3) -> str:\n"
            f'    """Does it {number}."""\n    return path\n\n\n'
            for number in range(count)
        )
        return heading + "".join(tools)

    return program


bx_program = decorated('from mcpc import Server, mcp_tool\n\nmcp = Server("x", version="1")\n\n\n', "mcp_tool")
native_program = decorated('from mcpc import Server\n\nmcp = Server("x", version="1")\n\n\n', "mcp.tool")
fastmcp_program = decorated('from fastmcp import FastMCP\n\nmcp = FastMCP("x")\n\n\n', "mcp.tool")


def bx(folder: Path, count: int) -> Path:
    """Return the program of a bx-mcp project."""
    write(folder, {"boxlang.json": '{"modules": {"bxmcp": {"enabled": true}}}', "server.py": bx_program(count)})
    return folder / "server.py"


def bx_files(folder: Path, count: int) -> Path:
    """Return one of the modules of a bx-mcp project, with ten tools each."""
    files = {
        f"tools/part_{number}.py": bx_program(10).replace("tool_", f"tool_{number}_").split("\n\n\n", 1)[1]
        for number in range(count // 10)
    }
    head = "from mcpc import mcp_tool\n\n\n"
    write(
        folder,
        {
            "boxlang.json": '{"modules": {"bxmcp": {"enabled": true}}}',
            **{path: head + text for path, text in files.items()},
        },
    )
    return folder / f"tools/part_{count // 20}.py"


def python(folder: Path, count: int) -> Path:
    """Return a program with decorated functions of our own."""
    write(folder, {"server.py": native_program(count)})
    return folder / "server.py"


def fastmcp(folder: Path, count: int) -> Path:
    """Return a program for FastMCP, which is read only with `--import`."""
    write(folder, {"server.py": fastmcp_program(count)})
    return folder / "server.py"


def blueprints(folder: Path, count: int) -> Path:
    """Return a feature file of a knowledge base, of fifty tools."""
    files = {}
    for part in range(0, count, 50):
        tools = [
            {
                "id": f"tool_{number}",
                "title": f"Tool {number}",
                "description": f"Does it {number}.",
                "content": [{"type": "text", "text": "Yes."}],
            }
            for number in range(part, part + 50)
        ]
        files[f"features/part_{part}.json"] = json.dumps({"tools": tools}, indent=2)
    servers = [{"name": "x", "path": "x", "features": [*files]}]
    write(folder, {"servers.json": json.dumps(servers), **files})
    return folder / f"features/part_{count // 100 * 50}.json"


def bash_sdk(folder: Path, count: int) -> Path:
    """Return the script of a server of the Bash SDK."""
    heading = (
        '#!/usr/bin/env bash\nHERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\n'
        'MCP_CONFIG_FILE="$HERE/assets/config.json"\nMCP_TOOLS_LIST_FILE="$HERE/assets/tools.json"\n'
        'MCP_LOG_FILE="$HERE/logs/x.log"\nsource "$HERE/mcpserver_core.sh"\n'
    )
    bash = "".join(f'tool_tool_{number}() {{\n  echo "Does it"\n}}\n' for number in range(count))
    config = {
        "protocolVersion": "2025-03-26",
        "serverInfo": {"name": "x", "version": "1"},
        "capabilities": {"tools": {}},
        "instructions": "",
    }
    write(
        folder,
        {
            "server.sh": heading + bash + 'run_mcp_server "$@"\n',
            "mcpserver_core.sh": "# the SDK\n",
            "assets/config.json": json.dumps(config),
            "assets/tools.json": listed(count),
        },
    )
    return folder / "server.sh"


FORMS: dict[str, tuple[Callable[[Path, int], Path], str]] = {
    "one file": (one_file, "Does"),
    "folder": (file_each, "Does"),
    "functions": (function_file, "return pa"),
    "python": (python, "Does"),
    "mcbox": (mcbox, "Does"),
    "mcp-bash": (mcp_bash_meta, "Does"),
    "mcp-bash .sh": (mcp_bash_script, "Does"),
    "toolbox": (toolbox, "Does"),
    "toolbox .py": (toolbox_python, "Does"),
    "bx-mcp": (bx, "Does"),
    "bx-mcp files": (bx_files, "Does"),
    "blueprints": (blueprints, "Does"),
    "bash-sdk": (bash_sdk, "Does"),
    "fastmcp": (fastmcp, "Does"),
}
"""Each form: what writes it and returns the edited file, and the text behind which is typed, in the middle."""
