"""Build examples/files, then talk to the built file as an agent's client would: `make demo`.

The client is the official Python SDK's.  It connects twice: with the handshake that every client of today knows, and
without one, as the stateless protocol of 2026-07-28 has it.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import Client, StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import Awaitable

ROOT = Path(__file__).resolve().parents[1]
SERVER = ROOT / "build/files.pyz"
PROJECT = "examples/files"
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
"""This environment's Python comes first, so that the first line of the built file finds it."""
ERAS = {"legacy": "With a handshake (initialize)", "auto": "Without one (server/discover, 2026-07-28)"}
CALLS = (
    ("file_size", {"path": "README.md"}),
    ("file_hash", {"path": "README.md"}),
    ("file_hash", {"path": "README.md", "algorithm": "crc32"}),
    ("file_size", {"path": "no/such/file"}),
)
PROMPTS: tuple[tuple[str, dict[str, str]], ...] = (("code-review", {}), ("summarize-file", {"path": "README.md"}))
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "demo", "version": "1"}}
WIDTH = 100
LABEL = 14


def title(text: str) -> None:
    """Begin a part of the demonstration."""
    print(f"\n{text}\n{'─' * len(text)}")


def wrapped(line: str) -> list[str]:
    """Return a line as lines that fit, with its own indentation."""
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, WIDTH - LABEL, subsequent_indent=indent, break_on_hyphens=False)


def say(label: str, text: str) -> None:
    """Print a text behind its label, wrapped below itself."""
    margin = " " * LABEL
    lines = [part for line in text.splitlines() for part in wrapped(line) or [""]]
    print(f"{label:<{LABEL}}" + f"\n{margin}".join(lines))


def compact(value: Any) -> str:
    """Return JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def readable(value: Any) -> str:
    """Return JSON on one line if there is room for it, else indented."""
    line = compact(value)
    return line if len(line) <= WIDTH - LABEL else json.dumps(value, indent=2, ensure_ascii=False)


def build() -> None:
    """Build the project with the command a person would type, and show what it says."""
    title("Build")
    SERVER.parent.mkdir(exist_ok=True)
    target = str(SERVER.relative_to(ROOT))
    print(f"$ mcpc build {PROJECT} -o {target}", flush=True)
    argv = [sys.executable, "-m", "mcpc", "build", PROJECT, "-o", target]
    if subprocess.run(argv, cwd=ROOT, env=ENVIRONMENT, check=False).returncode:
        sys.exit("the build failed")


async def timed(answer: Awaitable[Any]) -> tuple[Any, str]:
    """Return an answer and, in words, how long it took."""
    started = time.perf_counter()
    result = await answer
    return result, f"{(time.perf_counter() - started) * 1000:.0f} ms"


def signature(tool: Any) -> str:
    """Return a tool's name and arguments; those that may be left out with a question mark."""
    schema = tool.input_schema
    names = [name if name in schema.get("required", ()) else f"{name}?" for name in schema.get("properties", {})]
    return f"{tool.name}({', '.join(names)})"


async def call_tools(client: Client) -> None:
    """Call the tools: calls that succeed, one the schema rejects, one that fails."""
    for name, arguments in CALLS:
        result, took = await timed(client.call_tool(name, arguments))
        say("tools/call", f"{name} {compact(arguments)}  ({took})")
        if result.is_error:
            say("  error", "and the model reads:")
            say("", "\n".join(block.text for block in result.content))
        else:
            say("  answer", readable(result.structured_content))


async def get_prompts(client: Client) -> None:
    """List the prompts and get each."""
    for prompt in (await client.list_prompts()).prompts:
        names = ", ".join(argument.name for argument in prompt.arguments or ())
        say("prompts/list", f"{prompt.name}({names})  {prompt.description}")
    for name, arguments in PROMPTS:
        result, took = await timed(client.get_prompt(name, arguments))
        say("prompts/get", f"{name} {compact(arguments)}  ({took})")
        for message in result.messages:
            say(f"  {message.role}", message.content.text)


async def converse(mode: str) -> None:
    """Connect in one way and hold the whole conversation."""
    title(ERAS[mode])
    server = StdioServerParameters(command=str(SERVER), env=ENVIRONMENT, cwd=ROOT)
    started = time.perf_counter()
    async with Client(server, mode=mode) as client:
        took = (time.perf_counter() - started) * 1000
        info = client.server_info
        name = f"{info.name} {info.version}" if info else "a server without a name"
        say("connected", f"{name}, protocol {client.protocol_version} ({took:.0f} ms)")
        say("instructions", client.instructions or "none")
        for tool in (await client.list_tools()).tools:
            say("tools/list", f"{signature(tool)}  {tool.description}")
        await call_tools(client)
        await get_prompts(client)


def first_answer() -> float:
    """Return the seconds from starting the server to its answer to `initialize`."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    started = time.perf_counter()
    server = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
    with server, server.stdin as requests, server.stdout as answers:  # type: ignore[union-attr]
        requests.write(json.dumps(request).encode() + b"\n")
        requests.flush()
        answers.readline()
        return time.perf_counter() - started


def bare_python() -> float:
    """Return the seconds of an interpreter that does nothing, from its start to its end."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", "pass"], env=ENVIRONMENT, check=True)
    return time.perf_counter() - started


def measure() -> None:
    """Show the built file's size, and how fast it starts beside an interpreter that does nothing."""
    title("Size and time")
    rounds = [(first_answer(), bare_python()) for _ in range(15)]
    server, python = (statistics.median(times) * 1000 for times in zip(*rounds, strict=True))
    say("size", f"{SERVER.stat().st_size / 1024:.0f} KiB, all of it: {SERVER.relative_to(ROOT)}")
    say("start", f"{server:.0f} ms from its start to its first answer; `python3 -I -c pass` takes {python:.0f} ms here")
    name = SERVER.relative_to(ROOT)
    print(f"\nTry it yourself:\n  {name} list\n  {name} call file_size path=README.md")


def main() -> None:
    """Run the whole demonstration."""
    if shutil.which("jq") is None:
        sys.exit("the tools of examples/files are written with jq, which is not installed: see `make deps`")
    build()
    for mode in ERAS:
        asyncio.run(converse(mode))
    measure()


if __name__ == "__main__":
    main()
