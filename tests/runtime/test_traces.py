"""A request's trace reaches the programs that a handler starts, and only what has the form of one."""

import json
from pathlib import Path

from support.artifact import built_fixture, converse
from support.files import write_files
from support.images import MODERN, request

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
STATE = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"
BAGGAGE = "userId=alice,serverNode=DF%2028"


SHOW = 'echo "${TRACEPARENT-none}"; sh -c \'echo "${TRACEPARENT-none} ${TRACESTATE-none} ${BAGGAGE-none}"\''


def project(folder: Path) -> Path:
    schema = {"type": "object"}
    handlers = {"forked": {}, "fresh": {"isolated": True}, "program": {"command": "bin/show"}, "python": {}}
    tools = [
        {
            "name": name,
            "description": "D.",
            "inputSchema": schema,
            **({"_meta": {"mcpc/handler": more}} if more else {}),
        }
        for name, more in handlers.items()
    ]
    files = {
        "server.json": json.dumps({"serverInfo": {"name": "traced", "version": "1"}}),
        "tools.json": json.dumps({"tools": tools}),
        "tools.bash": f"tool_forked() {{ {SHOW}; }}\ntool_fresh() {{ {SHOW}; }}\n",
        "tools.py": "from mcpc import Context\n\ndef python(context: Context): return str(context.meta.get('traceparent'))\n",
        "bin/show": f"#!/bin/sh\n{SHOW}\n",
    }
    write_files(folder, files)
    (folder / "bin/show").chmod(0o755)
    return folder


server = built_fixture(project, programs=("bash",))


def test_every_kind_of_handler_finds_the_trace_of_its_own_call(server: Path) -> None:
    names = ("forked", "fresh", "program", "python")
    trace = {"traceparent": PARENT, "tracestate": STATE, "baggage": BAGGAGE}
    lines = b"".join(
        json.dumps(request("tools/call", {"name": name, "_meta": {**MODERN, **more}}, f"{name} {bool(more)}")).encode()
        + b"\n"
        for more in (trace, {})
        for name in names
    )
    done = converse([server], lines)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    said = {reply["id"]: reply["result"]["content"][0]["text"].strip() for reply in replies if "result" in reply}
    for name in names[:3]:
        assert said[f"{name} True"] == f"{PARENT}\n{PARENT} {STATE} {BAGGAGE}", (said, done.stderr)
        assert said[f"{name} False"] == "none\nnone none none"
    assert (said["python True"], said["python False"]) == (PARENT, "None")
