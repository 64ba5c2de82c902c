"""Typed clients: what a type checker and the SDK say of them, for plain and for hostile schemas."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mypy import api

from compiler.stubs.test_clients import generated, nasty_tools
from support.artifact import build, mcpc
from support.needs import ROOT
from support.reference import real_tools


def texts() -> dict[str, str]:
    examples = {name: generated(tools, name) for name, tools in real_tools().items()}
    return {"nasty": generated(nasty_tools()), "empty": generated([], "!"), **examples}


def checked_by_mypy(folder: Path) -> list[str]:
    cache = str(ROOT / ".cache/stubs-mypy")
    words = ["--strict", "--no-error-summary", "--hide-error-context", "--config-file=", "--cache-dir", cache]
    stdout, stderr, _ = api.run([*words, str(folder)])
    assert not stderr
    # An error that is in the cache has the folder of the run that wrote it.
    return [re.sub(r"^[^:]*/", "", line) for line in stdout.splitlines() if ": error: " in line]


def test_python_clients_pass_mypy(tmp_path: Path) -> None:
    for name, text in texts().items():
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
    (tmp_path / "nasty.py").write_text(texts()["nasty"])
    (tmp_path / "usage.py").write_text(SDK_USAGE)
    assert not checked_by_mypy(tmp_path)


SDK_USAGE = """
from mcp import Client, ClientSession
from nasty import NastyServerClient

def use(client: Client, session: ClientSession) -> tuple[NastyServerClient, NastyServerClient]:
    return NastyServerClient(client), NastyServerClient(session)
"""


def test_python_clients_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "nasty.py").write_text(texts()["nasty"])
    (tmp_path / "empty.py").write_text(texts()["empty"])
    code = "import typing, nasty, empty; [typing.get_type_hints(kind) for kind in vars(nasty).values() if isinstance(kind, type)]"
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, check=True, timeout=60)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built server of `mcpc new --template python`: `greet` answers with a text, `count_words` with structured content."""
    return build(ROOT / "templates/new/python", tmp_path_factory.mktemp("server") / "server.pyz")


def test_a_python_client_calls_a_server(server: Path, tmp_path: Path) -> None:
    module = tmp_path / "typed.py"
    assert mcpc("generate", "client", server, "-o", module).returncode == 0
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
    typed = runpy.run_path(str(files_written(tmp_path, "typed.py", texts()["nasty"])))

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


def test_equal_servers_have_equal_clients(server: Path) -> None:
    project = mcpc("generate", "client", ROOT / "templates/new/python")
    assert project.stdout == mcpc("generate", "client", server).stdout != ""
