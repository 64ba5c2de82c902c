"""Small projects of the MCP Server Bash SDK, with files of their own that answer as the versions of the SDK's file do.

`CORES` are scripts that work: `bash server.sh` serves a project with each of them, so that what is built can be compared
with what it was built from.
"""

import json
from pathlib import Path
from typing import Any

from support.needs import ROOT
from support.projects import Files

RESULT = (ROOT / "examples/bash-sdk/mcpserver_core.sh").read_text(encoding="utf-8")
"""A failure is an error result, as since version 0.3."""
_CALL = RESULT.partition('  output="$("tool_$name" "$arguments")"\n')
_REST = _CALL[2].partition("process_request() {")
_HEAD, _TAIL = _CALL[0], "".join(_REST[1:])
_FAILS = """  output="$("tool_$name" "$arguments")"
  if (($? != 0)); then
    if [[ -n $output && $output != null ]]; then output=" : $output"; else output=; fi
    jq -n --arg text "Tool execution error$output" '{code: -32603, message: $text}' | respond "$id" error
    return
  fi
"""
_ECHOES = """  echo "$output" | jq -Rs '{content: [{type: "text", text: .}]}' | respond "$id" result
}

"""
_INDENTED = _TAIL.replace("jq -c '.params.arguments // {}'", "jq '.params.arguments // {}'")
LINES = _HEAD + _FAILS + _ECHOES + _INDENTED
"""A failure is a JSON-RPC error; the text ends with the line break of `echo`."""
ONE_LINE = _HEAD + _FAILS + """  output=$(echo "$output" | tr '\\n' ' ')\n""" + _ECHOES + _INDENTED
"""The same, with spaces for line breaks, as until version 0.2."""
MERGED = (
    _HEAD
    + """  status=0
  output="$("tool_$name" "$arguments" 2>&1)" || status=$?
  if ((status != 0)); then
    local tool_name=$name
    printf '%s' "Error executing $tool_name: $output" |
      jq -Rs '{content: [{type: "text", text: .}], isError: true}' | respond "$id" result
    return
  fi
  printf '%s' "$output" | jq -Rs '{content: [{type: "text", text: .}], isError: false}' | respond "$id" result
}

"""
    + _TAIL
)
"""A failure is an error result that names the tool; standard error is part of the output."""
CORES = {"result": RESULT, "lines": LINES, "one_line": ONE_LINE, "merged": MERGED}

ANY_OBJECT = {"type": "object", "properties": {}}
BEGIN = """#!/bin/bash
MCP_CONFIG_FILE="$(dirname "${BASH_SOURCE[0]}")/assets/demo_config.json"
MCP_TOOLS_LIST_FILE="$(dirname "${BASH_SOURCE[0]}")/assets/demo_tools.json"
MCP_LOG_FILE="$(dirname "${BASH_SOURCE[0]}")/logs/demo.log"
source "$(dirname "${BASH_SOURCE[0]}")/mcpserver_core.sh"
"""
END = '\nrun_mcp_server "$@"\n'
CONFIG = json.dumps(
    {
        "protocolVersion": "2024-11-05",
        "serverInfo": {"name": "demo", "version": "0.1.0"},
        "capabilities": {"tools": {"listChanged": True}},
        "instructions": "Be brief.",
    }
)


def tools_json(*names: str, **schemas: dict[str, Any]) -> str:
    every = {**dict.fromkeys(names, ANY_OBJECT), **schemas}
    tools = [{"name": name, "description": f"Does {name}.", "inputSchema": schema} for name, schema in every.items()]
    return json.dumps({"tools": tools}, indent=2)


def project(functions: str, *names: str, core: str = RESULT, **more: str) -> Files:
    return {
        "server.sh": BEGIN + functions + END,
        "mcpserver_core.sh": core,
        "assets/demo_config.json": CONFIG,
        "assets/demo_tools.json": tools_json(*names),
        **more,
    }


def written(folder: Path, files: Files) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder
