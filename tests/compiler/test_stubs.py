"""Typed clients: what type checkers and both SDKs say of them, for plain and for hostile schemas."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mypy import api

from clients.conftest import SOURCES
from compiler.stubs.test_clients import generated, nasty_tools
from mcpc.workbench.stubs import LANGUAGES
from support.artifact import build, mcpc
from support.needs import ROOT
from support.npm import installed_packages
from support.reference import real_tools

if TYPE_CHECKING:
    from pathlib import Path


def texts(lang: str) -> dict[str, str]:
    """The clients that are checked: of nasty schemas, of the examples, and of public servers."""
    examples = {name: generated(tools, lang, name) for name, tools in real_tools().items()}
    return {"nasty": generated(nasty_tools(), lang), "empty": generated([], lang, "!"), **examples}


def checked_by_mypy(folder: Path) -> list[str]:
    """The errors that mypy reports in a folder."""
    cache = str(ROOT / ".cache/stubs-mypy")
    words = ["--strict", "--no-error-summary", "--hide-error-context", "--config-file=", "--cache-dir", cache]
    stdout, stderr, _ = api.run([*words, str(folder)])
    assert not stderr
    # An error that is in the cache has the folder of the run that wrote it.
    return [re.sub(r"^[^:]*/", "", line) for line in stdout.splitlines() if ": error: " in line]


def test_python_clients_pass_mypy(tmp_path: Path) -> None:
    for name, text in texts("python").items():
        (tmp_path / f"{re.sub('[^a-z]', '_', name)}.py").write_text(text)
    (tmp_path / "usage.py").write_text(PYTHON_USAGE)
    found = checked_by_mypy(tmp_path)
    marked = [number for number, line in enumerate(PYTHON_USAGE.splitlines(), 1) if line.endswith("# wrong")]
    assert {line.split(": ")[0] for line in found} == {f"usage.py:{number}" for number in marked}, found


PYTHON_USAGE = """
from typing import assert_type
from nasty import NastyServerClient, PlainOutput

async def use(server: NastyServerClient) -> None:
    found = await server.plain(a="x")
    assert_type(found, PlainOutput)
    found["a"].upper()
    await server.tree(label="a", children=[{"label": "b", "children": [{"label": "c"}]}])
    await server.tuples(pair=["a", 1])
    await server.nothing()
    await server.json(value={"a": [{"b": "c"}]})
    await server.class_({"class": "a", "self": "b"})
    await server.not_identifiers({"a-b": "c"})
    await server.nullable(text=None, items=None)
    assert_type(await server.list(), str)
    await server.plain(b=1)  # wrong
    await server.nothing(a=1)  # wrong
    await server.union(one={"kind": "c"})  # wrong
    await server.tree(label="a", children=[{"label": 1}])  # wrong
    await server.json(value={"a": 1})  # wrong
    await server.enums(texts="other")  # wrong
    await server.maps(counts={"a": "b"})  # wrong
    await server.not_identifiers({"1st": 1})  # wrong
"""


@pytest.mark.slow
def test_python_clients_take_the_clients_of_the_sdk(tmp_path: Path) -> None:
    (tmp_path / "nasty.py").write_text(texts("python")["nasty"])
    (tmp_path / "usage.py").write_text(SDK_USAGE)
    assert not checked_by_mypy(tmp_path)


SDK_USAGE = """
from mcp import Client, ClientSession
from nasty import NastyServerClient

def use(client: Client, session: ClientSession) -> tuple[NastyServerClient, NastyServerClient]:
    return NastyServerClient(client), NastyServerClient(session)
"""


def test_python_clients_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "nasty.py").write_text(texts("python")["nasty"])
    (tmp_path / "empty.py").write_text(texts("python")["empty"])
    code = "import typing, nasty, empty; [typing.get_type_hints(kind) for kind in vars(nasty).values() if isinstance(kind, type)]"
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, check=True, timeout=60)


def compiled_by_tsc(folder: Path, *words: str) -> list[str]:
    """The lines in which the TypeScript compiler found errors; the packages of the clients are beside the folder."""
    packages = installed_packages(SOURCES)
    (folder / "node_modules").symlink_to(packages / "node_modules")
    (folder / "package.json").write_text('{"type": "module"}')
    options = [
        "--strict",
        "--noUncheckedIndexedAccess",
        "--exactOptionalPropertyTypes",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--skipLibCheck",
        *words,
    ]
    command = ["node", packages / "node_modules/typescript/bin/tsc", *options, *sorted(folder.glob("*.ts"))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_typescript_clients_pass_the_compiler(tmp_path: Path) -> None:
    for name, text in texts("typescript").items():
        (tmp_path / f"{re.sub('[^a-z]', '_', name)}.ts").write_text(text)
    (tmp_path / "usage.ts").write_text(TYPESCRIPT_USAGE)
    found = compiled_by_tsc(tmp_path, "--noEmit")
    marked = [number for number, line in enumerate(TYPESCRIPT_USAGE.splitlines(), 1) if line.endswith("// wrong")]
    places = [re.match(r"(\w+\.ts)\((\d+),", line) for line in found]
    assert {(place[1], int(place[2])) for place in places if place} == {("usage.ts", number) for number in marked}, (
        found
    )


TYPESCRIPT_USAGE = """
import { Client } from '@modelcontextprotocol/client';
import { Client as First } from '@modelcontextprotocol/sdk/client/index.js';
import { NastyServerClient } from './nasty.js';

export async function use(client: Client, first: First): Promise<void> {
  const server = new NastyServerClient(client);
  new NastyServerClient(first);
  const found = await server.plain({ a: 'x' });
  found.a.toUpperCase();
  await server.tree({ label: 'a', children: [{ label: 'b', children: [{ label: 'c' }] }] });
  await server.tuples({ pair: ['a', 1] });
  await server.nothing();
  await server.json({ value: { a: [{ b: 'c' }] } });
  await server.class({ class: 'a', self: 'b' });
  await server.not_identifiers({ 'a-b': 'c' });
  await server.nullable({ text: null, items: null });
  const text: string = await server.list();
  text.trim();
  await server.plain({ b: 1 }); // wrong
  await server.union({ one: { kind: 'c' } }); // wrong
  await server.tree({ label: 'a', children: [{ label: 1 }] }); // wrong
  await server.json({ value: { a: 1 } }); // wrong
  await server.enums({ texts: 'other' }); // wrong
  await server.maps({ counts: { a: 'b' } }); // wrong
  await server.tuples({ pair: ['a'] }); // wrong
  await server.plain({ a: 'x', unknown: 1 }); // wrong
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built server of `mcpc new --template python`: `greet` answers with a text, `count_words` with structured content."""
    return build(ROOT / "templates/new/python", tmp_path_factory.mktemp("server") / "server.pyz")


def test_a_python_client_calls_a_server(server: Path, tmp_path: Path) -> None:
    module = tmp_path / "typed.py"
    assert mcpc("stubs", server, "--lang", "python", "-o", module).returncode == 0
    typed: Any = runpy.run_path(str(module))

    async def use() -> None:
        async with Client(StdioServerParameters(command=sys.executable, args=[str(server)])) as client:
            found = typed["MyServerClient"](client)
            assert await found.greet(name="Ada", language="fr") == "Bonjour, Ada!"
            assert await found.count_words(text="a b") == {"words": 2, "characters": 3}
            with pytest.raises(typed["ToolCallError"], match="language"):
                await found.greet(name="Ada", language="la")

    anyio.run(use)


def test_a_python_client_calls_through_version_1_of_the_sdk(tmp_path: Path) -> None:
    typed = runpy.run_path(str(files_written(tmp_path, "typed.py", texts("python")["nasty"])))

    class FirstSession:
        async def call_tool(self, name: str, arguments: dict[str, Any]) -> SimpleNamespace:
            return SimpleNamespace(content=[], structuredContent=arguments, isError="error" in arguments.values())

    async def use() -> None:
        found = typed["NastyServerClient"](FirstSession())
        assert await found.plain(a="x") == {"a": "x"}
        with pytest.raises(typed["ToolCallError"]):
            await found.plain(a="error")

    anyio.run(use)


def files_written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_a_typescript_client_calls_a_server(server: Path, tmp_path: Path) -> None:
    assert mcpc("stubs", server, "--lang", "typescript", "-o", tmp_path / "typed.ts").returncode == 0
    (tmp_path / "calls.ts").write_text(TYPESCRIPT_CALLS)
    assert not compiled_by_tsc(tmp_path)
    done = subprocess.run(
        ["node", "calls.js", sys.executable, server],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    expected = ["Bonjour, Ada!", {"words": 2, "characters": 3}, "ToolCallError"]
    assert [json.loads(line) for line in done.stdout.splitlines()] == [expected, expected]


TYPESCRIPT_CALLS = """
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { MyServerClient, ToolCallError, type ToolCaller } from './typed.js';

declare const process: { argv: string[] };
declare const console: { log(text: string): void };
const [, , command = '', file = ''] = process.argv;
const identity = { name: 'calls', version: '1' };

async function use(client: ToolCaller): Promise<void> {
  const server = new MyServerClient(client);
  const greeting: string = await server.greet({ name: 'Ada', language: 'fr' });
  const count: { words: number; characters: number } = await server.count_words({ text: 'a b' });
  const refused = await server.greet({ name: '' }).catch((problem: unknown) => (problem instanceof ToolCallError ? problem.name : 'none'));
  console.log(JSON.stringify([greeting, count, refused]));
}

const client = new Client(identity);
await client.connect(new StdioClientTransport({ command, args: [file] }));
await use(client);
await client.close();
const first = new FirstClient(identity);
await first.connect(new FirstTransport({ command, args: [file] }));
await use(first);
await first.close();
"""


def test_equal_servers_have_equal_clients(server: Path) -> None:
    for lang in LANGUAGES:
        project = mcpc("stubs", ROOT / "templates/new/python", "--lang", lang)
        assert project.stdout == mcpc("stubs", server, "--lang", lang).stdout != ""
