"""The contract of programs: what one is told, and what each way of ending means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpc_runtime.handlers.executable import contract as executable
from mcpc_runtime.protocol.effects import Call
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.protocol.session import Session
from support.images import archive, image_of
from support.projects import Files

SCRIPT = "#!/bin/sh\ncat\n"
META = {"mcpc/handler": {"command": ["bin/run", "--one", "$two; three"]}}


def files() -> Files:
    tool = {"name": "plain", "description": "D.", "inputSchema": {"type": "object"}, "_meta": META}
    shaped = {**tool, "name": "shaped", "outputSchema": {"type": ["object", "string", "null"]}}
    prompt = {"name": "asks", "description": "D.", "_meta": META}
    return {
        "server.json": json.dumps({"serverInfo": {"name": "s", "version": "1"}}),
        "tools.json": json.dumps({"tools": [tool, shaped]}),
        "prompts.json": json.dumps({"prompts": [prompt]}),
        "bin/run": SCRIPT,
    }


IMAGE = image_of(archive(files()).data)


def call(name: str, **arguments: Any) -> Call:
    definition = IMAGE.tool(name) or IMAGE.prompt(name)
    assert definition is not None
    method = "prompts/get" if name == "asks" else "tools/call"
    request = Request(Session(IMAGE), 1, method, {}, IMAGE.revision("2025-11-25"))  # type: ignore[arg-type]
    return Call(request, definition, arguments)  # type: ignore[arg-type]


def test_arguments_are_told_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable, "extracted_folder", lambda image: "/place")
    command = executable.build_invocation(call("plain", text="sécret\n", deep={"a": [1, None, 1.5]}), IMAGE)
    assert command.stdin == '{"text":"sécret\\n","deep":{"a":[1,null,1.5]}}\n'.encode()
    assert command.argv == ["/place/bin/run", "--one", "$two; three"]
    assert dict(command.extra) == {b"MCPC_TOOL": b"plain", b"MCPC_FILES": b"/place"}
    assert (command.directory, command.merged, command.data) == ("", False, b"")
