"""Source of typed clients: golden modules of nasty schemas, and the parts from which they are made."""

import json
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mypy import api

from mcpc.client.model import lists_from_json
from mcpc.workbench.stubs import (
    annotation,
    class_name,
    client_types,
    docstring,
    full_text,
    is_any_object,
    is_docstring,
    is_member_name,
    is_method_name,
    is_sound,
    member_lines,
    member_text,
    method_names,
    python_client,
    required_of,
    takes_nothing,
    used_types,
)
from support.artifact import build, mcpc
from support.needs import ROOT
from support.reference import real_tools

SCHEMAS: dict[str, Any] = json.loads((ROOT / "tests/compiler/stub_schemas.json").read_text())
NAMES = (
    "get-file",
    "get_file",
    "get.file",
    "return",
    "list",
    "str",
    "then",
    "constructor",
    "prototype",
    "__init__",
    "1st",
    "_text",
    "Mapping",
    "__proto__",
)
HOSTILE = '"""\n*/ import os; os.abort() //\\'


def generated(tools: list[dict[str, Any]], name: str = "nasty server") -> str:
    return python_client(client_types(lists_from_json({"name": name, "version": HOSTILE, "tools": tools})))


def nasty_tools() -> list[dict[str, Any]]:
    """Every schema as input and as output, and every name that a method cannot have."""
    of_schemas = [
        {"name": name, "inputSchema": schema, "outputSchema": schema, "description": HOSTILE}
        for name, schema in SCHEMAS.items()
    ]
    return [*of_schemas, *({"name": name, "inputSchema": {"type": "object"}} for name in NAMES)]


def test_clients_are_exactly_these(golden: Callable[[Path, str], None]) -> None:
    golden(ROOT / "tests/golden/stubs/nasty.py.txt", generated(nasty_tools()))
    golden(ROOT / "tests/golden/stubs/empty.py.txt", generated([], "!"))


def test_a_class_has_a_name_of_its_own() -> None:
    names = {"weather": "WeatherClient", "1st": "Server1stClient", "!": "ServerClient", "a b": "ABClient"}
    assert {name: class_name(name, set()) for name in names} == names
    assert class_name("weather", {"WeatherClient", "WeatherClientClass"}) == "WeatherClientClassClass"


def test_a_tool_has_types_or_the_reason_why_not() -> None:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(100):
        deep = {"type": "object", "properties": {"a": deep}}
    odd = {"name": "odd", "description": 3, "inputSchema": 3, "outputSchema": deep}
    lists = lists_from_json(
        {"name": "n", "version": "2", "tools": [odd, {"name": "plain", "inputSchema": {"type": "object"}}]}
    )
    found = client_types(lists)
    assert (found.name, found.version, found.class_name) == ("n", "2", "NClient")
    first, second = found.tools
    assert (first.description, first.input, first.output, bool(first.problem)) == ("", "OddInput", "OddOutput", True)
    assert (second.output, second.problem) == ("", "")
    assert [name for name, _ in used_types(second)] == []
    assert [name for name, _ in used_types(first)] == ["OddOutput"]
    assert "Its types are general, because of a schema: " in python_client(found)


@pytest.mark.parametrize(
    ("text", "indent", "source"),
    [
        ("One line.", "", '"""One line."""'),
        (" a\n  b \n\nc ", "  ", '"""a\n    b\n\n  c\n  """'),
        ('say "x"', "", '"""say "x\\""""'),
        ("a\\b", "", '"""a\\\\b"""'),
        ('a"""b', "", '"""a\\"\\"\\"b"""'),
    ],
)
def test_a_docstring_is_one_string(text: str, indent: str, source: str) -> None:
    assert docstring(text, indent) == source
    assert is_docstring(source, text)
    assert not is_docstring(source + "x", text)
    assert not is_docstring("3", text)
    assert not is_docstring("'other'", text)


def test_members_say_what_their_types_do_not() -> None:
    limited = {"type": "integer", "minimum": 1, "maximum": 2, "default": 1, "description": " a\nb "}
    assert member_text(limited) == "a b (maximum 2, minimum 1, default 1)"
    assert member_text({"minLength": 1}) == "(minLength 1)"
    assert member_text({"description": "x"}) == "x"
    assert [*member_lines({"a": {}, "b": {"description": "w " * 60}})] == [
        "b: " + "w " * 48 + "w",
        "    " + "w " * 10 + "w",
    ]
    shape: Any = {"description": "D.", "additionalProperties": {"type": "string"}}
    assert full_text(shape, {"a": {"description": "A"}}) == "D.\n\na: A\n\nOther members are allowed."
    assert full_text({"additionalProperties": {}}, {}) == full_text({"additionalProperties": True}, {}) == ""


def test_a_method_has_the_name_of_its_tool_where_it_can() -> None:
    found = method_names(["a-b", "a_b", "a.b", "class", "class_", "a_b"])
    assert found == {"a_b": "a_b", "class_": "class_", "a-b": "a_b_2", "a.b": "a_b_3", "class": "class_2"}
    names = ("ok", "é", "_x", "class", "str", "1a", "then", "constructor", "$a", "a-b")
    assert [name for name in names if is_method_name(name)] == ["ok", "then", "constructor"]
    members = ("ok", "_x", "__x", "class", "Any", "Mapping", "ﬁ", "é", "1a")
    assert [name for name in members if is_member_name(name)] == ["ok", "_x", "é"]


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ({}, "object"),
        ({"description": "x", "minLength": 1}, "object"),
        ({"$ref": "#/$defs/A"}, "A"),
        ({"enum": ["a", 1, None, True]}, "Literal['a', 1, None, True]"),
        ({"enum": [2**53 - 1]}, f"Literal[{2**53 - 1}]"),
        ({"enum": [2**53, "a", None]}, "int | str | None"),
        ({"anyOf": [{"type": "string"}, {"type": "string"}, {"type": "null"}]}, "str | None"),
        ({"type": ["integer", "null"]}, "int | None"),
        ({"type": "array"}, "list[Any]"),
        ({"type": "array", "items": {"type": "boolean"}}, "list[bool]"),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "minItems": 1}, "list[str | float]"),
        ({"type": "array", "prefixItems": [{"type": "string"}], "minItems": "x"}, "list[str]"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"type": "object", "additionalProperties": False}, "dict[str, Any]"),
    ],
)  # fmt: skip
def test_a_shape_has_a_type(shape: Any, text: str) -> None:
    assert annotation(shape) == text


def test_shapes_of_objects_are_told_apart() -> None:
    shapes: list[Any] = [
        {"type": "object", "additionalProperties": False},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"type": ["object", "null"], "additionalProperties": False},
        {"type": "object"},
    ]
    assert [takes_nothing(each) for each in shapes] == [True, False, False, False, False]
    assert [is_any_object(each) for each in shapes] == [False, True, False, False, False]
    definitions: Any = {
        "a": {"$ref": "#/$defs/b"},
        "b": {"anyOf": [{"$ref": "#/$defs/a"}, 3]},
        "c": {"$ref": "#/$defs/d"},
        "d": {"type": "array"},
    }
    assert [is_sound(name, definitions) for name in "abcd"] == [False, False, True, True]
    assert is_sound("e", {"e": {"$ref": "#/$defs/gone"}})
    assert required_of({"required": "a"}) == frozenset()


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
