"""Projects for FastMCP and the SDK: recognised, their entry and framework found, before anything is run."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any
from urllib.parse import quote_plus

import pytest
from packaging.specifiers import SpecifierSet

from mcpc.frontends.fastmcp import frameworks
from mcpc.frontends.fastmcp.build_environment import baked_values
from mcpc.frontends.fastmcp.entry_points import EntryPoint, find_entry, read_project_settings
from mcpc.frontends.fastmcp.frameworks import version_problems
from mcpc.frontends.fastmcp.late_imports import framework_names, http_uses
from mcpc.frontends.fastmcp.packages import ProgramPackages, program_packages, with_brought_packages, with_late_packages
from mcpc.frontends.fastmcp.program import Offered, ProgramDescription
from mcpc.model.ir.layer import RequestedPackage
from mcpc.options import Options
from mcpc.reading import Source, SourceTree
from support.files import write_files
from support.needs import ROOT
from support.projects import Files, tree
from support.whole_projects import print_parsed, read_cases

SERVER = 'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("x")\n\nif __name__ == "__main__":\n    mcp.run()\n'
FAST = "from fastmcp import FastMCP\n\nmcp = FastMCP()\n"
PACKAGE: Files = {
    "pyproject.toml": '[project]\nname = "my-tool"\nversion = "1.2"\n[project.scripts]\nmy-tool = "my_tool:main"\n',
    "src/my_tool/__init__.py": "from .server import mcp\n\ndef main():\n    mcp.run()\n",
    "src/my_tool/server.py": FAST,
}


@pytest.mark.parametrize(
    ("files", "words", "expected"),
    [
        ({"server.py": SERVER}, "server.py --transport 'stdio and more'", ("file", "server.py")),
        (PACKAGE, "my-tool --transport 'stdio and more'", ("script", "my_tool:main")),
    ],
)
def test_an_entry_has_arguments(files: Files, words: str, expected: tuple[str, str]) -> None:
    project = tree(files)
    entry, _ = find_entry(project, read_project_settings(project), words)
    assert (entry.kind, entry.target, entry.arguments) == (*expected, ("--transport", "stdio and more"))


def project_of(requirements: str) -> str:
    return f'[project]\nname = "x"\nversion = "1"\ndependencies = [{requirements}]\n'


ON_A_DATE: dict[str, tuple[str, str, tuple[str, str]]] = {
    "the newest of that date": (FAST, '"fastmcp"', ("fastmcp2", "2.5.2")),
    "the newest that is allowed": (FAST, '"fastmcp<2.5"', ("fastmcp2", "2.4.0")),
    "what only SDK 1 has": (SERVER, '"mcp>=1.2"', ("sdk1", "1.9.2")),
    "an exact version": (FAST, '"fastmcp==3.0.2"', ("fastmcp3", "3.0.2")),
}


@pytest.mark.parametrize("name", ON_A_DATE)
def test_the_framework_on_a_date_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, requirements, expected = ON_A_DATE[name]
    known = {"fastmcp": ("2.5.2", "2.5.1", "2.4.0"), "mcp": ("2.0.0", "1.9.2", "1.9.1")}

    def newest(name: str, allowed: SpecifierSet, date: str) -> str:
        assert date == "2025-06-01"
        return next(version for version in known[name] if version in allowed)

    monkeypatch.setattr(frameworks, "newest_version", newest)
    project = replace(
        tree({"server.py": code, "pyproject.toml": project_of(requirements)}),
        options=Options(exclude_newer="2025-06-01"),
    )
    found, problems = program_packages(
        project, read_project_settings(project), [project.files["server.py"]], "server.py"
    )
    assert (found.framework.generation, found.framework.version) == expected
    assert {item.exclude_newer for item in found.requirements} == {"2025-06-01"}
    assert problems == ()


def packages_of(project: SourceTree, *, with_framework: bool) -> str:
    sources = [file for path, file in project.files.items() if path.endswith(".py")]
    settings = read_project_settings(project)
    found, problems = program_packages(project, settings, sources, "server.py", with_framework=with_framework)
    problems = (*problems, *(() if with_framework else version_problems(found.framework)))
    brought = with_brought_packages(found).requirements if found.has_framework else found.requirements
    rows = "".join(f"  {item.text} {' '.join(item.constraints)}".rstrip() + "\n" for item in brought)
    return f"{found.framework}, {found.has_framework}, {found.web}\n{rows}{print_parsed(None, problems, project).partition(chr(10))[2]}"


def test_the_packages_of_a_program(golden: Callable[[Path, str], None]) -> None:
    folder = ROOT / "tests/golden/frontends"
    printed = (
        f"##### {name}\n{packages_of(project, with_framework=False)}{packages_of(project, with_framework=True)}"
        for name, project, _ in read_cases(folder / "fastmcp_packages.cases")
    )
    golden(folder / "fastmcp_packages.txt", "\n".join(printed))


FILES = {
    "server.py": "import helper\nfrom fastmcp import Client, FastMCP\nimport mcp.types as types\n\n\n"
    "def call():\n    from mcp import ClientSession\n    return types.Tool, ClientSession, FastMCP.as_proxy\n",
    "helper.py": "import fastmcp\nimport requests\n\n\ndef ask():\n    return fastmcp.client.Client, requests.get\n",
    "unused.py": "from fastmcp import Skill\n",
}
NAMES = [
    ["fastmcp", "helper.py", 1],
    ["fastmcp.client", "helper.py", 6],
    ["fastmcp.client.Client", "helper.py", 6],
    ["fastmcp.Client", "server.py", 2],
    ["fastmcp.FastMCP", "server.py", 2],
    ["fastmcp.FastMCP.as_proxy", "server.py", 8],
    ["mcp.ClientSession", "server.py", 7],
    ["mcp.types", "server.py", 3],
    ["mcp.types.Tool", "server.py", 8],
]
ONE = {
    "ready to fail": ("try:\n    from fastmcp import Skill\nexcept ImportError:\n    Skill = None\n", []),
    "for type checkers": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from fastmcp import Skill\n", []),
    "a parameter of the name": ("import mcp\n\n\ndef register(mcp):\n    mcp.tool()\n", ["mcp"]),
    "a variable of the name": ("import mcp.server\nmcp = make()\nmcp.tool()\n", ["mcp.server"]),
    "all names": ("from mcp.types import *\n", ["mcp.types"]),
    "a relative import": ("from .mcp import Tool\n", []),
    "another package": ("import mcps\nmcps.tool()\n", []),
    "not Python": ("from mcp import\n", []),
    "what tools ask of a model": (
        "import fastmcp as f\nctx.sample('a', tools=[f])\nctx.sample('a', **{})\nctx.sample('a', b=1)\nctx.sample_step('a')\n",
        ["fastmcp", "fastmcp.Context.sample(**)", "fastmcp.Context.sample(tools)", "fastmcp.Context.sample_step"],
    ),
    "the low-level server": (
        "import fastmcp\nm._mcp_server.run()\nm._mcp_server.version = '1'\n",
        ["fastmcp", "fastmcp.FastMCP._mcp_server"],
    ),
}


def test_the_names_of_all_files_that_are_reached() -> None:
    assert framework_names(tree(FILES), EntryPoint("file", "server.py", file="server.py")) == NAMES


@pytest.mark.parametrize("name", ONE)
def test_what_counts_as_a_name(name: str) -> None:
    text, names = ONE[name]
    found = framework_names(tree({"server.py": text}), EntryPoint("file", "server.py", file="server.py"))
    assert [row[0] for row in found] == names


def test_what_is_used_of_http() -> None:
    text = "from fastmcp import FastMCP\nfrom fastmcp.server.dependencies import get_http_headers as headers\n"
    text += "FastMCP('a').custom_route('/a', ['GET'])\n"
    files = {"server.py": f"import other\n{text}", "other.py": "import web\nweb.custom_route('/')\n"}
    found = http_uses(tree(files), EntryPoint("file", "server.py", file="server.py"))
    assert [(name, line) for name, _, line in found] == [("get_http_headers", 3), ("custom_route", 4)]


INSTALLED = {
    "starlette/__init__.py": "",
    "starlette/requests.py": "from starlette import formparsers\n",
    "starlette/formparsers.py": """from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import watchfiles
else:
    try:
        from python_multipart.multipart import parse
    except ModuleNotFoundError:
        parse = None
        import not_brought
def late():
    import requests
""",
    "starlette/testclient.py": "import httpx\n",
    "jwt/__init__.py": "from .algorithms import x\ntry:\n    from . import command\nexcept ImportError:\n    pass\n",
    "jwt/algorithms.py": "try:\n    import cryptography.hazmat\nexcept ImportError:\n    x = 1\n",
    "jwt/command.py": "import rich\n",
    "pydantic/__init__.py": "try:\n    import email_validator\nexcept ImportError:\n    pass\n",
}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import json\n", []),
        ("from starlette.requests import Request\n", ["python-multipart"]),
        ("from starlette.testclient import TestClient\n", ["httpx"]),
        ("import jwt\n", ["cryptography"]),
        ("def f():\n    import jwt\n    import starlette.requests\n", ["cryptography", "python-multipart"]),
        ("from pydantic import BaseModel\n", []),
        ("from pydantic import EmailStr\n", ["email-validator"]),
    ],
)
def test_what_is_added(code: str, expected: list[str], tmp_path: Path) -> None:
    write_files(tmp_path, INSTALLED)
    distributions = tuple(SimpleNamespace(name=name) for name in ("starlette", "pyjwt", "pydantic"))
    staged: Any = SimpleNamespace(root=tmp_path, distributions=distributions)
    packages = ProgramPackages(SimpleNamespace(), (RequestedPackage("pyjwt", "pyjwt"),))  # type: ignore[arg-type]
    found = with_late_packages(packages, [Source("server.py", code.encode())], staged)
    assert [item.name for item in found.requirements[1:]] == expected
    assert (found is packages) is not bool(expected)


SECRET = 'p"ss w\u00f6rd/+1'
PLAIN = "abcdef"
WRITTEN = {
    "as it is": SECRET,
    "within a text": f"use {SECRET} here",
    "JSON": json.dumps({"a": SECRET}),
    "JSON with all letters": json.dumps({"a": SECRET}, ensure_ascii=False),
    "Python": repr([SECRET]),
    "an address": f"https://example.org/?key={quote_plus(SECRET)}",
    "hexadecimal": SECRET.encode().hex(),
    **{
        f"base64 after {before} bytes": base64.b64encode(b"-" * before + SECRET.encode() + b"--").decode()
        for before in range(4)
    },
    "base64 for addresses": base64.urlsafe_b64encode(SECRET.encode()).decode(),
}


def described(text: str) -> ProgramDescription:
    tool = Offered({"name": "find", "inputSchema": {"properties": {"key": {"default": text}}}}, "server.py", 3)
    return ProgramDescription({"name": "s"}, MappingProxyType({"tools": (Offered({"name": "other"}), tool)}))


def found(description: object, **environment: str) -> list[tuple[str, str]]:
    rows = [*baked_values(description, environment, "server.py")]
    assert {(row.code, row.span.path if row.span else "") for row in rows} <= {("MCP714", "server.py")}
    return [(row.message.split("`")[1], row.message.rpartition(" in ")[2]) for row in rows]


@pytest.mark.parametrize("how", WRITTEN)
def test_a_value_is_found_however_it_is_written(how: str) -> None:
    place = "lists.tools.find.inputSchema.properties.key.default"
    assert found(described(WRITTEN[how]), KEY=SECRET, OTHER="another value") == [("KEY", place)]


@pytest.mark.parametrize(
    ("description", "place"),
    [
        (ProgramDescription({"instructions": PLAIN}, {}), "server.instructions"),
        (ProgramDescription({}, {"tools": (Offered({PLAIN: 1}),)}), f"lists.tools.0.{PLAIN}"),
        (ProgramDescription({}, {"tools": (Offered({"name": PLAIN}),)}), f"lists.tools.{PLAIN}"),
        (ProgramDescription({}, {}, routes=("/", f"/{PLAIN}")), "routes.1"),
        (ProgramDescription({}, {"resources": (Offered({"uri": f"x://{PLAIN}"}),)}), "lists.resources.0.uri"),
        (ProgramDescription({}, {"tools": (Offered({"data": PLAIN.encode()}),)}), "lists.tools.0.data"),
    ],
)
def test_a_value_is_found_wherever_it_is(description: object, place: str) -> None:
    assert found(description, B=PLAIN, A=PLAIN) == [("A", place), ("B", place)]


def test_a_value_with_another_end_is_not_found() -> None:
    for before in range(3):
        written = base64.b64encode(b"-" * before + b"abcdefghijkX").decode()
        assert found(described(written), KEY="abcdefghijkl") == []


def test_a_short_value_may_stand_anywhere() -> None:
    assert found(described("abcde"), KEY="abcde") == []
    assert found(described("abcdef"), KEY="abcdef") != []
    assert found(None, KEY=PLAIN) == []


def test_which_version_excludes_all_that_are_known() -> None:
    package = "fastmcp"
    newest = frameworks.LATEST[frameworks.FAMILIES[package][0]]
    later = ".".join(map(str, (*newest[:2], 99)))  # of the newest minor version, so that it is known
    for text, bound in ((f">{later},<99", "99"), ("==0.1.*,!=0.2", "0.2"), (f"=={later}", later), ("", "")):
        assert frameworks.bound_of(package, SpecifierSet(text)) == bound
