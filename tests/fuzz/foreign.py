"""Projects of other systems whose handlers answer with whatever they are told: bytes, values, and ends of every kind.

What a handler is to answer is an argument of the call, so that one server and one process answer with thousands.
"""

import base64
import json
import random
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from system.hostile_formats import Maker, changed, written

Json = Any

BLOCKS: list[Json] = [
    {"type": "text", "text": "x", "annotations": {"audience": ["user"], "priority": 0.5}, "_meta": {"a": 1}},
    {"type": "image", "data": "AA==", "mimeType": "image/png"},
    {"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "x:y", "name": "n", "title": "t", "description": "d", "mimeType": "a/b", "size": 3},
    {"type": "resource", "resource": {"uri": "x:y", "mimeType": "text/plain", "text": "t"}},
    {"type": "resource", "resource": {"uri": "x:y", "mimeType": "a/b", "blob": "AA=="}},
]  # fmt: skip
RESULTS: list[Json] = [
    {"content": BLOCKS, "structuredContent": {"a": [1, {"b": None}]}, "isError": False, "_meta": {"x/y": {"z": 1}}},
    {"content": BLOCKS[:1], "isError": True, "more": {"a": 1}, "name": "n"},
    {"content": [], "isError": False},
    {"contents": [{"uri": "x:y", "mimeType": "a/b", "text": "t"}, {"uri": "x:z", "blob": "AA=="}], "_meta": {}},
    {"messages": [{"role": "user", "content": BLOCKS[0]}, {"role": "assistant", "content": BLOCKS[4]}], "description": "d"},
    {"code": -32001, "message": "no", "data": {"a": 1}},
    {"suggestions": ["a", "b"], "hasMore": True, "next": 2},
    {"resources": [{"uri": "x:y", "name": "n", "mimeType": "a/b", "size": 1, "annotations": {"priority": 1}}]},
    ["a", "b"],
    [{"path": "tools/answers/run.py", "mimeType": "text/plain", "uri": "x:y"}, "/etc/passwd", "../x"],
    "text",
    5,
    None,
]  # fmt: skip
NOTES: list[Json] = [
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "p", "progress": 1, "total": 2, "message": "m"}},
    {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "logger": "l", "data": {"a": 1}}},
    {"elicit": True},
]  # fmt: skip
QUESTIONS: list[Json] = [
    {"message": "Who?", "schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    {"message": "Go", "mode": "url", "url": "https://example.com/"},
]
STAINS = (b"\xff\xfe", b"\0", b"\r", b"\n", b"\xed\xa0\x80", b"\x1b[31m", b"{", b"]", b'"')


def a_value(chance: random.Random, rows: list[Json] = RESULTS) -> Json:
    """Return one of the rows, something in it changed; no number that JSON does not have."""
    return json.loads(a_text(chance, rows))


def a_text(chance: random.Random, rows: list[Json] = RESULTS) -> str:
    maker = Maker(chance, refused=False)
    value = chance.choice(rows)
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        value = json.loads(written(changed(value, maker), maker))
    return json.dumps(value)


def some_bytes(chance: random.Random, rows: list[Json] = RESULTS) -> bytes:
    """Return what a program may write: JSON that is well meant, or not whole, or no JSON at all."""
    data = b"\n".join(a_text(chance, rows).encode() for _ in range(chance.choice((1, 1, 1, 2))))
    kind = chance.randrange(6)
    if kind == 0:
        return chance.randbytes(chance.choice((0, 1, 10, 5000)))
    if kind == 1:
        at = chance.randrange(len(data) + 1)
        return data[:at] + chance.choice(STAINS) + data[at:]
    return data[: chance.randrange(len(data) + 1)] if kind == 2 else data + chance.choice((b"", b"\n", b"\n\n"))


PROGRAM = """#!/usr/bin/env python3
import base64, json, os, signal, sys, time
said = os.environ["MCP_TOOL_ARGS_JSON"] or open(os.environ["MCP_TOOL_ARGS_FILE"]).read()
said = json.loads(said)
def write(variable, data):
    place = os.environ.get(variable)
    if place and data:
        with open(place, "ab", buffering=0) as file:
            file.write(base64.b64decode(data))
write("MCP_ELICIT_REQUEST_FILE", said.get("question"))
write("MCP_PROGRESS_STREAM", said.get("stream"))
write("MCP_TOOL_ERROR_FILE", said.get("error"))
write("MCP_TOOL_RESOURCES_FILE", said.get("resources"))
if said.get("question"):
    time.sleep(0.03)
os.write(1, base64.b64decode(said.get("output", "")))
os.write(2, base64.b64decode(said.get("errors", "")))
status = said.get("status", 0)
if status < 0:
    os.kill(os.getpid(), -status)
os._exit(status)
"""
PROVIDER = '#!/usr/bin/env bash\nprintf %s "${1#told://}" | tr _- /+ | base64 -d\nexit "${TOLD_STATUS:-0}"\n'
COMPLETION = """#!/usr/bin/env python3
import base64, json, os, sys
os.write(1, base64.b64decode(json.loads(os.environ["MCP_COMPLETION_ARGS_JSON"])["query"]))
"""
ANY = {"type": "object", "properties": {}}
MCP_BASH = {
    "server.d/server.meta.json": json.dumps({"name": "told", "version": "1.0.0"}),
    "tools/answers/run.py": PROGRAM,
    "tools/answers/run.meta.json": json.dumps({"name": "answers", "description": "d", "inputSchema": ANY, "timeoutSecs": 10}),
    "tools/shaped/run.py": PROGRAM,
    "tools/shaped/run.meta.json": json.dumps({"name": "shaped", "description": "d", "inputSchema": ANY, "outputSchema": {"type": "object", "properties": {"a": {"type": "array"}}}}),
    "providers/told.sh": PROVIDER,
    "resources/told.meta.json": json.dumps({"name": "told", "uriTemplate": "told://{data}", "provider": "told"}),
    "prompts/p/p.txt": "{{a}}\n",
    "prompts/p/p.meta.json": json.dumps({"name": "p", "description": "d", "arguments": [{"name": "a"}]}),
    "prompts/p/p.completion.sh": COMPLETION,
}  # fmt: skip


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def bash_request(chance: random.Random) -> tuple[str, Json]:
    """Return a request that has a program of mcp-bash write something."""
    kind = chance.randrange(8)
    if kind == 0:
        return "resources/read", {"uri": "told://" + base64.urlsafe_b64encode(some_bytes(chance)).decode()[:4000]}
    if kind == 1:
        argument = {"name": "a", "value": coded(some_bytes(chance))}
        return "completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": argument}
    status = chance.choice((0, 0, 0, 1, 2, 66, 124, 137, 143, 255, -6, -9, -15))
    said: dict[str, Json] = {"status": status}
    rows = {"output": RESULTS, "errors": RESULTS, "error": RESULTS[5:6], "resources": RESULTS[8:10], "stream": NOTES, "question": QUESTIONS}  # fmt: skip
    for stream, kinds in rows.items():
        if chance.random() < (0.9 if stream == "output" else 0.25):
            said[stream] = coded(some_bytes(chance, kinds))
    token = chance.choice(("p", 1, None))
    meta = {"_meta": {"progressToken": token}} if token is not None else {}
    return "tools/call", {"name": chance.choice(("answers", "shaped")), "arguments": said, **meta}


SCHEMA = 'export const schema = {description: "d", type: "object", properties: {}};\n'
ENDS: dict[str, str] = {
    "cycle": "const a = {content: []}; a._meta = {a}; return a;",
    "big": "return {content: [], structuredContent: {a: 10n}};",
    "functions": "return {content: [() => 1], isError: Symbol('x')};",
    "function": "return () => ({content: []});",
    "symbol": "return Symbol('x');",
    "huge": "return {content: [{type: 'text', text: 'x'.repeat(30 << 20)}]};",
    "longest": "return {content: [{type: 'text', text: 'x'.repeat(2 ** 29 - 30)}]};",
    "surrogate": "return {content: [{type: 'text', text: '\\ud800'}]};",
    "proxy": "return new Proxy({}, {get() { throw new Error('get'); }, ownKeys() { throw new Error('keys'); }});",
    "thrown proxy": "throw new Proxy({}, {get() { throw new Error('get'); }, getPrototypeOf() { throw 1; }});",
    "thrown nothing": "throw undefined;",
    "thrown null": "throw null;",
    "thrown object": "throw Object.create(null);",
    "thrown symbol": "throw Symbol('x');",
    "thrown message": "throw {get message() { throw new Error('again'); }};",
    "thrown stack": "const e = new Error('x'); Object.defineProperty(e, 'stack', {get() { throw 1; }}); throw e;",
    "thrown cycle": "const e = new Error('x'); e.cause = e; throw e;",
    "to json": "return {toJSON() { throw new Error('toJSON'); }};",
    "to undefined": "return {toJSON() { return undefined; }};",
    "getter": "return {get content() { throw new Error('content'); }};",
    "then": "return {then() { throw new Error('then'); }};",
    "then twice": "return {then(a, b) { a({content: []}); a(1); b(2); }};",
    "never": "return new Promise(() => {});",
    "never then": "return {then() {}};",
    "exit": "process.exit(0);",
    "exit in a moment": "setTimeout(() => process.exit(3), 1); return {content: []};",
    "abort": "process.abort();",
    "kill": "process.kill(process.pid, 'SIGKILL'); return {content: []};",
    "spin": "for (;;);",
    "spin in microtasks": "const f = () => Promise.resolve().then(f); return f();",
    "recursion": "const f = () => f() + 1; return f();",
    "memory": "const a = []; for (;;) a.push(new Array(1e6).fill(a.length));",
    "writes": "process.stdout.write('{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}\\n'); return {content: []};",
    "writes much": "process.stdout.write('x'.repeat(5e6)); process.stderr.write('y'.repeat(1e5)); return {content: []};",
    "closes": "process.stdout.destroy(); process.stdin.destroy(); return {content: []};",
    "rejects": "Promise.reject(new Error('lost')); Promise.reject(undefined); return {content: []};",
    "throws later": "setTimeout(() => { throw Object.create(null); }, 0); return {content: []};",
    "emits": "process.emit('uncaughtException', new Error('x')); return {content: []};",
    "disconnects": "process.removeAllListeners(); return {content: []};",
    "no JSON": "delete globalThis.JSON; return {content: []};",
    "no Promise": "delete globalThis.Promise; delete globalThis.Map; delete globalThis.Error; return {content: []};",
    "no process": "delete globalThis.process; delete globalThis.console; delete globalThis.setTimeout; return {content: []};",
    "other JSON": "JSON.stringify = () => 'nonsense'; return {content: []};",
    "other parse": "JSON.parse = () => { throw new Error('parse'); }; return {content: []};",
    "other Map": "Map.prototype.get = () => { throw new Error('get'); }; return {content: []};",
    "other objects": "Object.prototype.toJSON = () => 5; return {content: []};",
    "polluted": "Object.prototype.isError = true; Object.prototype.call = 7; return {content: []};",
    "other strings": "String.prototype.split = () => []; return {content: []};",
    "other lists": "Array.prototype[Symbol.iterator] = null; return {content: []};",
    "other promises": "Promise.prototype.then = () => { throw 1; }; return {content: []};",
    "frozen": "Object.freeze(Object.prototype); Object.freeze(globalThis); return {content: []};",
    "chdir": "process.chdir('/'); process.umask(0o777); return {content: []};",
    "request": "request.params = null; Object.setPrototypeOf(request, null); return request;",
}  # fmt: skip
"""Ends of a call in JavaScript; `request` is what the tool was given."""
PYTHON_ENDS: dict[str, str] = {
    "cycle": "a = {'content': []}; a['_meta'] = a; return a",
    "function": "return lambda: 1",
    "bytes": "return {'content': [{'type': 'text', 'text': b'x'}]}",
    "set": "return {'content': [], 'structuredContent': {'a': {1}}}",
    "nan": "return {'content': [], 'structuredContent': {'a': float('nan'), 'b': float('inf')}}",
    "keys": "return {'content': [], 'structuredContent': {1: 2, None: 3, (1,): 4}}",
    "surrogate": "return {'content': [{'type': 'text', 'text': chr(0xd800)}]}",
    "huge": "return {'content': [{'type': 'text', 'text': 'x' * (30 << 20)}]}",
    "number": "return {'content': [], 'structuredContent': {'a': 10 ** 5000}}",
    "deep": "a = []\n    for _ in range(100000): a = [a]\n    return {'content': [], 'structuredContent': {'a': a}}",
    "generator": "return (x for x in [1])",
    "exit": "raise SystemExit(3)",
    "interrupt": "raise KeyboardInterrupt",
    "leaves": "import os; os._exit(0)",
    "kill": "import os; os.kill(os.getpid(), 9)",
    "spin": "while True: pass",
    "sleep": "import time; time.sleep(1000)",
    "recursion": "return default(request)",
    "raises odd": "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0, '__repr__': lambda self: 1 / 0})()",
    "raises base": "raise type('E', (BaseException,), {})('x')",
    "raises group": "raise ExceptionGroup('g', [ValueError(chr(0xd800))])",
    "writes": "print('{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}', flush=True); return {'content': []}",
    "closes": "import os; os.close(0); os.close(1); return {'content': []}",
    "closes all": "import os; os.closerange(3, 300); return {'content': []}",
    "builtins": "import builtins; del builtins.len, builtins.type, builtins.map; return {'content': []}",
    "modules": "import sys; sys.modules.clear(); sys.path.clear(); return {'content': []}",
    "streams": "import sys; sys.stdout = sys.stderr = None; return {'content': []}",
    "thread": "import threading, time; threading.Thread(target=time.sleep, args=(1000,)).start(); return {'content': []}",
    "child": "import os, time\n    if os.fork() == 0: time.sleep(1000)\n    return {'content': []}",
    "child returns": "import os; os.fork(); return {'content': []}",
    "awaitable": "return type('A', (), {'__await__': lambda self: 5})()",
    "dictionary": "return type('D', (dict,), {'items': lambda self: 1 / 0, 'get': lambda *a: 1 / 0})(content=[])",
    "text": "return type('S', (str,), {'__str__': lambda self: 5, 'encode': lambda *a: 1 / 0})('x')",
    "request": "request.clear(); return request",
    "limit": "import sys; sys.setrecursionlimit(10 ** 6); f = lambda: f(); return f()",
}  # fmt: skip


SPOILING = frozenset({"js_other_promises", "js_other_strings", "js_other_objects", "js_frozen"})
"""What leaves a process in which nothing can be promised of the next call, except that it is answered."""


def script(body: str) -> str:
    return f"{SCHEMA}export default async function (request) {{\n{body}\n}}\n"


def module(body: str) -> str:
    return f'schema = {{"description": "d", "type": "object", "properties": {{}}}}\n\n\ndef default(request):\n    {body}\n'


def file_name(kind: str, end: str) -> str:
    return f"{kind}_{end.replace(' ', '_')}"


TOOLBOX = {
    "package.json": json.dumps({"name": "told", "version": "1.0.0", "type": "module"}),
    "src/tools/answers.mjs": SCHEMA + "export default ({params}) => params.arguments.value;\n",
    "src/tools/lists.mjs": SCHEMA + "export default ({params}) => { globalThis.listed = params.arguments.value; return {content: []}; };\n",
    "src/tools/says.py": module('return request["params"]["arguments"]["value"]'),
    "src/handler/PromptHandler.js": "export const listPromptsHandler = async () => ({prompts: [{name: 'p', description: 'd', arguments: [{name: 'value'}]}]});\n"
    "export const getPromptHandler = async ({params}) => JSON.parse(params.arguments.value);\n",
    "src/handler/ResourceHandler.js": "const made = (x) => `told:///${x}`;\nexport const listResourcesHandler = async () => globalThis.listed ?? {resources: []};\n"
    "export const readResourceHandler = async ({params}) => JSON.parse(decodeURIComponent(params.uri.slice(8)));\n",
    **{f"src/tools/{file_name('js', end)}.mjs": script(body) for end, body in ENDS.items()},
    **{f"src/tools/{file_name('py', end)}.py": module(body) for end, body in PYTHON_ENDS.items()},
}  # fmt: skip


def toolbox_request(chance: random.Random) -> tuple[str, Json]:
    """Return a request that has a handler of ToolBox return something."""
    value, kind = a_value(chance), chance.randrange(8)
    if kind == 0:
        return "prompts/get", {"name": "p", "arguments": {"value": a_text(chance, RESULTS[4:5])}}
    if kind == 1:
        return "resources/read", {"uri": "told:///" + quote(a_text(chance, RESULTS[3:4]), safe="")[:4000]}
    if kind == 2:
        return "resources/list", {}
    if kind == 3:
        return "tools/call", {"name": "lists", "arguments": {"value": a_value(chance, RESULTS[7:8])}}
    return "tools/call", {"name": chance.choice(("answers", "says")), "arguments": {"value": value}}


REQUESTS: dict[str, tuple[dict[str, str], Callable[[random.Random], tuple[str, Json]]]] = {
    "mcp-bash": (MCP_BASH, bash_request),
    "toolbox": (TOOLBOX, toolbox_request),
}
