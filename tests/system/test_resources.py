"""Resources and completions of a built server, in every language, over its real pipes and in both eras."""

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.files import write_files
from support.images import MODERN, request
from support.messages import STATELESS, valid
from support.needs import needs
from support.processes import run_program

PNG = bytes(range(256)) * 300
TEMPLATE = "users://{id}/{part}"


def described(uri: str, name: str, **more: Any) -> dict:
    kind = "uriTemplate" if "{" in uri else "uri"
    return {kind: uri, "name": name, "description": "d", **more}


def handled(*words: str, **more: Any) -> dict:
    return {"_meta": {"mcpc/handler": {"command": list(words), **more}}}


FILES: dict[str, str | bytes] = {
    "server.json": json.dumps(
        {"serverInfo": {"name": "shelf", "version": "1"}, "capabilities": {"resources": {"subscribe": True}}}
    ),
    "resources.json": json.dumps(
        {
            "resources": [
                described("test://known", "known", file="known.md"),
                described("test://picture", "picture", file="picture.png"),
                described("bash://text", "bash_text"),
                described("bash://bytes", "bash_bytes", mimeType="image/png"),
                described("bash://wrong", "bash_wrong"),
                described("bash://none", "bash_none"),
                described("python://text", "python_text"),
                described("python://bytes", "python_bytes", mimeType="image/png"),
                described("python://inline", "python_inline", _meta={"mcpc/handler": {"inline": True}}),
                described("python://json", "python_json"),
                described("python://wrong", "python_wrong"),
                described("python://none", "python_none"),
                described("run://text", "run_text", **handled("bin/answer", "text")),
                described("run://bytes", "run_bytes", **handled("bin/answer", "bytes")),
                described("run://none", "run_none", **handled("bin/answer", "none")),
                described("file:///shelf/fixed.txt", "fixed", root={"environment": "SHELF", "path": "fixed.txt"}),
            ],
            "resourceTemplates": [
                described(TEMPLATE, "user"),
                described("shell://{name}{?lang}", "shell"),
                described("told://{name}", "told", **handled("bin/answer", "told")),
                described("file:///shelf/{+path}", "shelf", root={"environment": "SHELF"}),
            ],
        }
    ),
    "resources.bash": (
        'resource_bash_text() { printf "%s at %s\\n" "$1" "$MCPC_URI"; }\n'
        "resource_bash_bytes() { head -c 300 /dev/zero; }\n"
        "resource_bash_wrong() { echo no luck >&2; return 3; }\n"
        "resource_bash_none() { return 66; }\n"
        'resource_shell() { printf "%s" "$1"; env | grep ^MCPC_URI; }\n'
    ),
    "resources.py": (
        "def resource_python_text():\n    return 'text'\n\n\n"
        "def resource_python_bytes():\n    return bytes(range(256)) * 300\n\n\n"
        "def resource_python_inline():\n    return b'\\x00'\n\n\n"
        "def resource_python_json():\n    return {'a': [1, None]}\n\n\n"
        "def resource_python_wrong():\n    raise ValueError('no luck')\n\n\n"
        "def resource_python_none():\n    return None\n\n\n"
        "def resource_user(id, part):\n    return {'contents': [{'text': id}, {'uri': 'part:x', 'text': part}]}\n"
    ),
    "bin/answer": (
        "#!/bin/sh\ncase $1 in\n  text) cat; echo \"$MCPC_URI\" ;;\n  bytes) head -c 300 /dev/zero; printf '\\377' ;;\n"
        "  told) cat ;;\n  none) exit 66 ;;\nesac\n"
    ),
    "known.md": "# Known\n",
    "picture.png": PNG,
    "prompts.json": json.dumps(
        {"prompts": [{"name": "go", "description": "d", "arguments": [{"name": "where"}, {"name": "how"}]}]}
    ),
    "prompts.py": "def go(where='', how=''): return where\n",
    "completions.json": json.dumps(
        {
            "completions": [
                {"ref": {"type": "ref/prompt", "name": "go"}, "argument": "where"},
                {"ref": {"type": "ref/prompt", "name": "go"}, "argument": "how", "values": ["by bus", "on foot"]},
                {"ref": {"type": "ref/resource", "uri": TEMPLATE}, "argument": "id"},
            ]
        }
    ),
    "completions.bash": 'complete_go_where() { printf "%s\\n" here there "$1"; }\n',
    "completions.py": "def complete_user_id(value, context_arguments):\n    return [value + '1', *context_arguments.values()]\n",
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("bash")
    folder = tmp_path_factory.mktemp("shelf")
    project = folder / "project"
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    (project / "bin/answer").chmod(0o755)
    (folder / "files" / "deep").mkdir(parents=True)
    (folder / "files" / "fixed.txt").write_text("fixed")
    (folder / "files" / "deep" / "a b.json").write_text("{}")
    (folder / "files" / "raw").write_bytes(b"\xff")
    (folder / "files" / "out").symlink_to("/etc/passwd")
    return build(project, folder / "shelf.pyz")


def converse(server: Path, *asked: tuple[str, dict]) -> list[dict]:
    """Return the answers to requests, each of which is asked in both eras: all of the first, then all of the other."""
    messages = [request(method, params, number) for number, (method, params) in enumerate(asked)]
    messages += [
        request(method, {**params, "_meta": MODERN}, number + len(asked))
        for number, (method, params) in enumerate(asked)
    ]
    data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    environment = {**os.environ, "SHELF": str(server.parent / "files")}
    done = run_program([sys.executable, "-I", "-S", server], input=data, check=True, env=environment, text=False)
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    assert len(replies) == len(messages), done.stderr
    return [replies[number] for number in range(len(messages))]


def text(uri: str, value: str, mime: str = "text/plain") -> list[dict]:
    return [{"uri": uri, "mimeType": mime, "text": value}]


def blob(uri: str, data: bytes, mime: str = "application/octet-stream") -> list[dict]:
    return [{"uri": uri, "mimeType": mime, "blob": base64.b64encode(data).decode()}]


READ: list[tuple[str, list[dict]]] = [
    ("test://known", text("test://known", "# Known\n", "text/markdown")),
    ("test://picture", blob("test://picture", PNG, "image/png")),
    ("bash://text", text("bash://text", "{} at bash://text")),
    ("bash://bytes", blob("bash://bytes", bytes(300), "image/png")),
    ("python://text", text("python://text", "text")),
    ("python://bytes", blob("python://bytes", PNG, "image/png")),
    ("python://inline", blob("python://inline", b"\0")),
    ("python://json", text("python://json", '{"a":[1,null]}', "application/json")),
    ("run://text", text("run://text", "{}\nrun://text")),
    ("run://bytes", blob("run://bytes", bytes(300) + b"\xff")),
    ("users://a%2Fb/%C3%A9", [{"uri": "users://a%2Fb/%C3%A9", "text": "a/b"}, {"uri": "part:x", "text": "é"}]),
    (
        "shell://x?lang=$(id)",
        text("shell://x?lang=$(id)", '{\n  "name": "x",\n  "lang": "$(id)"\n}MCPC_URI=shell://x?lang=$(id)'),
    ),
    ("told://%22%0A", text("told://%22%0A", '{"name":"\\"\\n"}')),
    ("file:///shelf/fixed.txt", text("file:///shelf/fixed.txt", "fixed")),
    ("file:///shelf/deep/a%20b.json", text("file:///shelf/deep/a%20b.json", "{}", "application/json")),
    ("file:///shelf/raw", blob("file:///shelf/raw", b"\xff")),
]


def test_every_resource_is_read_in_both_eras(shelf: Path) -> None:
    replies = converse(shelf, *[("resources/read", {"uri": uri}) for uri, _ in READ])
    for (uri, contents), legacy, modern in zip(READ, replies[: len(READ)], replies[len(READ) :], strict=True):
        assert legacy.get("result") == {"contents": contents}, (uri, legacy)
        assert modern["result"]["contents"] == contents, uri
        valid("2025-11-25", "ReadResourceResult", legacy["result"])
        valid(STATELESS, "ReadResourceResult", modern["result"])


def test_arguments_are_completed(shelf: Path) -> None:
    prompt, template = {"type": "ref/prompt", "name": "go"}, {"type": "ref/resource", "uri": TEMPLATE}
    chosen = {"context": {"arguments": {"part": "p"}}}
    where, how, user, *_ = converse(
        shelf,
        ("completion/complete", {"ref": prompt, "argument": {"name": "where", "value": "h"}}),
        ("completion/complete", {"ref": prompt, "argument": {"name": "how", "value": "FOOT"}}),
        ("completion/complete", {"ref": template, "argument": {"name": "id", "value": "x"}, **chosen}),
    )
    found = where["result"]["completion"]["values"]
    assert found[:2] == ["here", "there"] and json.loads("".join(found[2:])) == {"value": "h", "arguments": {}}
    assert how["result"]["completion"]["values"] == ["on foot"]
    assert user["result"]["completion"] == {"values": ["x1", "p"], "total": 2, "hasMore": False}


CHANGES = {
    "server.json": json.dumps({"serverInfo": {"name": "changes", "version": "1"}}),
    "tools.json": json.dumps(
        {
            "tools": [
                {"name": name, "description": "d", "inputSchema": {"type": "object"}} for name in ("change", "alter")
            ]
        }
    ),
    "tools.py": (
        "from mcpc import Context\n\n\ndef change(context: Context):\n    context.resource_updated('test://a')\n"
        "    context.resource_updated('test://b')\n    context.list_changed('tools')\n    return 'changed'\n"
    ),
    "tools.bash": "tool_alter() { mcpc_updated test://a; mcpc_changed prompts; echo altered; }\n",
    "resources.json": json.dumps({"resources": [described(f"test://{name}", name, text="") for name in "ab"]}),
}
ID = "io.modelcontextprotocol/subscriptionId"


@pytest.mark.parametrize("tool", ["change", "alter"])
def test_what_handlers_say_of_changes_reaches_who_asked(tool: str, tmp_path: Path) -> None:
    needs("bash")
    project = tmp_path / "project"
    write_files(project, CHANGES)
    server = build(project, tmp_path / "changes.pyz")
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["test://a"]}
    asked = [
        request("initialize", client, "hand"),
        request("resources/subscribe", {"uri": "test://a"}, "watch"),
        request("subscriptions/listen", {"notifications": wanted, "_meta": MODERN}, "stream"),
        request("tools/call", {"name": tool}, "call"),
    ]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in asked)
    done = run_program([sys.executable, "-I", "-S", server], input=lines, check=True, text=False)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["id"]: "result" in one for one in messages if "id" in one} == {
        "hand": True,
        "watch": True,
        "call": True,
        "stream": True,
    }
    assert messages[-1]["id"] == "stream", "a subscription ends with the server, after all else"
    said = [(one["method"], one["params"].get("_meta", {}).get(ID)) for one in messages if "method" in one]
    acknowledged, updated = "notifications/subscriptions/acknowledged", "notifications/resources/updated"
    lists = [("notifications/tools/list_changed", None), ("notifications/tools/list_changed", "stream")]
    assert said == [
        (acknowledged, "stream"),
        (updated, None),
        (updated, "stream"),
        *(lists if tool == "change" else []),
        ("notifications/cancelled", "stream"),
    ]
    for one in messages:
        if "method" in one:
            valid(STATELESS if ID in one["params"].get("_meta", {}) else "2025-11-25", "JSONRPCMessage", one)
