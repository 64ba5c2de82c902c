"""bx-mcp's projects as definitions: marks, settings, and what of both is wrong, at exact places."""

import json
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mcpc.frontends import select_frontends
from mcpc.frontends.bx import is_boxlang, untranslated
from mcpc.frontends.bx.settings import MAX_TOKEN_LENGTH, MIN_TOKEN_LENGTH, parse_networks, parse_origin, read_settings
from support.images import archive, image_of
from support.projects import PLAIN, SERVER_JSON, Files, checked, places, tree
from support.whole_projects import print_cases

pytestmark = pytest.mark.sampled(2)

GOLDEN = Path(__file__).parents[1] / "golden/frontends"
TOKEN = "a-token-nobody-guesses-0123"
TOOL = "from mcpc import mcp_tool\n@mcp_tool('Says hello')\ndef hello(name: str): return name\n"


def boxlang(**settings: Any) -> str:
    return json.dumps({"modules": {"bxmcp": {"settings": settings}}})


def server_of(files: Files) -> Any:
    found, problems = checked(files)
    assert found is not None, problems
    return found.server


def test_whole_projects(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "bx.txt", print_cases(GOLDEN / "bx.cases"))


def test_the_settings_and_boxlang_code_stay_at_home() -> None:
    files: Files = {"t.py": TOOL, "boxlang.json": boxlang(authToken=TOKEN), "data.txt": "d"}
    server = server_of(files)
    assert [file.source.path for file in server.files] == ["data.txt", "t.py"]
    assert TOKEN.encode() not in archive(files).data
    with_native = {**files, "server.json": SERVER_JSON, "tools.py": "from mcpc import tool\n@tool\ndef b():\n 'B.'\n"}
    assert TOKEN.encode() not in archive(with_native).data


def test_what_settings_leave_out_is_not_built() -> None:
    more = TOOL + "@mcp_tool\ndef debug_all():\n    'All.'\n"
    files: Files = {"t.py": more, "boxlang.json": boxlang(excludedTools=["debug_*"])}
    found, problems = checked(files)
    assert [tool.name for tool in found.server.tools] == ["hello"]
    assert places(problems, files) == [("MCP264", "t.py", 5, 5)]
    assert image_of(archive(files).data).tool("debug_all") is None


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("*", "*"),
        ("HTTPS://A.example/", "https://a.example"),
        ("*.a.example:1", "*.a.example:1"),
        ("http://[::1]:65535", "http://[::1]:65535"),
        ("http://a:65536", ""),
        ("http://a:0", ""),
        ("a.example", ""),
        ("https://a//", ""),
    ],
)
def test_origins(text: str, origin: str) -> None:
    assert parse_origin(text) == origin


def test_networks() -> None:
    assert parse_networks("LocalHost") == ["127.0.0.1/32", "::1/128"]
    assert [parse_networks(text) for text in ("10.1.2.3/8", "::1", "10.0.0", "")] == [
        ["10.0.0.0/8"],
        ["::1/128"],
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("length", "codes"),
    [
        (MIN_TOKEN_LENGTH - 1, ["MCP708"]),
        (MIN_TOKEN_LENGTH, ["MCP707"]),
        (MAX_TOKEN_LENGTH, ["MCP707"]),
        (MAX_TOKEN_LENGTH + 1, ["MCP708"]),
    ],
)
def test_a_token_is_neither_short_nor_long(length: int, codes: list[str]) -> None:
    text = ("abcdefgh" * length)[:length]
    settings, problems = read_settings(tree({"boxlang.json": boxlang(authToken=text)}))
    assert [problem.code for problem in problems] == codes
    assert [token.value for token in settings.tokens] == [sha256(text.encode()).hexdigest()] * (codes == ["MCP707"])


@pytest.mark.parametrize(("count", "reported"), [(50, 50), (51, 50)])
def test_so_many_decorators_in_boxlang_are_reported(count: int, reported: int) -> None:
    project = tree({"A.BX": "@mcpTool function a() {}\n" * count, "b.bxm": "mcpserver()", "c.txt": "@mcpTool"})
    assert [is_boxlang(source) for source in project.files.values()] == [True, True, False]
    found = [problem.span.path for problem in untranslated(project) if problem.span]
    assert found == ["A.BX"] * reported + ["b.bxm"]


def test_hostile_boxlang_code_takes_no_time() -> None:
    text = "/*" * 200_000 + "@mcpTool function f(" + "(" * 200_000
    begun = time.process_time()
    select_frontends(tree({"A.bx": text, "B.bxs": "@mcpTool " * 50_000}), PLAIN)
    checked({"B.bxs": "@mcpTool function a( " * 40_000})
    assert time.process_time() - begun < 20  # it is well below one; what is not linear takes minutes
