"""Projects for FastMCP and the SDK: recognised, their entry and framework found, before anything is run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcpc.frontends.fastmcp import packages
from mcpc.frontends.fastmcp.entry_points import find_entry
from mcpc.frontends.fastmcp.packages import Framework, program_packages, with_brought_packages
from mcpc.frontends.fastmcp.project_settings import read_project_settings
from support.projects import Files, tree

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
    assert entry is not None
    assert (entry.kind, entry.target, entry.arguments) == (*expected, ("--transport", "stdio and more"))


def project_of(requirements: str) -> str:
    return f'[project]\nname = "x"\nversion = "1"\ndependencies = [{requirements}]\n'


LOW_LEVEL = "from mcp.server import Server\nserver = Server('x')\n"
FRAMEWORKS: dict[str, tuple[str, str, str, tuple[str, str, str]]] = {
    "the newest without a requirement": (FAST, "", "", ("fastmcp4", "4.1.2", "newest")),
    "the newest that is allowed": (FAST, '"fastmcp>=2,<4"', "", ("fastmcp3", "3.4.10", "newest")),
    "an exact version": (FAST, '"fastmcp==2.8.1"', "", ("fastmcp2", "2.8.1", "required")),
    "a compatible release": (FAST, '"fastmcp~=2.3"', "", ("fastmcp2", "2.3", "required")),
    "the locked version": (FAST, '"fastmcp>=2"', "3.0.2", ("fastmcp3", "3.0.2", "locked")),
    "an old one by its range": (FAST, '"fastmcp>=2.3,<2.9"', "", ("fastmcp2", "2.9", "newest")),
    "what only SDK 1 has": (SERVER, '"mcp>=1.2"', "", ("sdk1", "1.30.0", "newest")),
    "what only SDK 2 has": ("from mcp.server.mcpserver import MCPServer\n", '"mcp"', "", ("sdk2", "2.3.0", "newest")),
    "an older one beside SDK 1": (FAST + SERVER, '"fastmcp>=2"', "", ("fastmcp3", "3.4.10", "newest")),
    "low-level decorators": (
        LOW_LEVEL + "@server.list_tools()\ndef a(): ...\n",
        '"mcp>=1"',
        "",
        ("sdk1", "1.30.0", "newest"),
    ),
    "a low-level server": (LOW_LEVEL, '"mcp>=1"', "", ("sdk2", "2.3.0", "newest")),
    "a low-level server of SDK 1": (LOW_LEVEL, '"mcp<2"', "", ("sdk1", "1.30.0", "newest")),
    "a prefix": (FAST, '"fastmcp==3.1.*"', "", ("fastmcp3", "3.1", "required")),
    "a range of a prefix": (FAST, '"fastmcp!=2.*,!=3.*,!=4.*"', "", ("fastmcp2", "2", "newest")),
    "a version before all known": (FAST, '"fastmcp==0.4.1"', "", ("fastmcp2", "0.4.1", "required")),
    "a locked one that is required": (FAST, '"fastmcp==3.0.2"', "3.0.2", ("fastmcp3", "3.0.2", "locked")),
    "the lock of the other framework": (SERVER, '"mcp==1.9.2"', "3.0.2", ("sdk1", "1.9.2", "required")),
    "a version without what is imported": (SERVER, '"mcp==2.0.0"', "", ("sdk1", "1.30.0", "newest")),
    "decorators beside FastMCP": (FAST + "x.call_tool()\n", "", "", ("fastmcp4", "4.1.2", "newest")),
    "the exact version of the other framework": (FAST, '"mcp==1.9.2"', "", ("fastmcp4", "4.1.2", "newest")),
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_framework_is(name: str) -> None:
    code, requirements, locked, expected = FRAMEWORKS[name]
    files = {"server.py": code, "pyproject.toml": project_of(requirements)}
    if locked:
        package = 'name = "fastmcp"\nversion = "{}"\nsource = {{ registry = "https://pypi.org/simple" }}\n'
        files["uv.lock"] = "version = 1\n[[package]]\n" + package.format(locked)
    project = tree(files)
    found, _ = program_packages(project, read_project_settings(project), [project.files["server.py"]], "server.py")
    assert found.framework == Framework(*expected)


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
    monkeypatch.setattr(packages, "versions_before", lambda name, date: known[name] if date == "2025-06-01" else ())
    project = replace(tree({"server.py": code, "pyproject.toml": project_of(requirements)}), exclude_newer="2025-06-01")
    found, problems = program_packages(
        project, read_project_settings(project), [project.files["server.py"]], "server.py"
    )
    assert (found.framework.generation, found.framework.version) == expected
    assert {item.exclude_newer for item in found.requirements} == {"2025-06-01"}
    assert problems == ()


def test_requirements_of_other_scripts_do_not_count() -> None:
    block = "# /// script\n# dependencies = ['{}==1']\n# ///\n"
    files: Files = {"server.py": block.format("a") + SERVER, "hooks/start.py": block.format("b")}
    project = tree(files)
    found, _ = program_packages(project, read_project_settings(project), [*project.files.values()], "server.py")
    assert [item.name for item in found.requirements] == ["a", "pydantic", "typing-extensions"]


def test_packages_of_the_framework_are_replaced_and_others_added() -> None:
    code = "import httpx, yaml\nfrom dotenv import load_dotenv\n" + SERVER
    project = tree({"server.py": code, "pyproject.toml": project_of('"mcp[cli]>=1", "uvicorn", "requests==2.1"')})
    found, problems = program_packages(
        project, read_project_settings(project), [project.files["server.py"]], "server.py"
    )
    names = ["httpx", "pydantic", "python-dotenv", "pyyaml", "requests", "typing-extensions"]
    assert [item.name for item in found.requirements] == names
    assert problems == ()


def test_what_is_locked_holds_for_all_packages() -> None:
    row = '[[package]]\nname = "{}"\nversion = "{}"\nsource = {{ registry = "https://pypi.org/simple" }}\n'
    wheel = 'wheels = [{ url = "https://x.org/a-1-py3-none-any.whl", hash = "sha256:00" }]\n'
    locked = {"a": "2.0", "pydantic": "2.9", "fastmcp": "3.0.2", "x": "1", "zlib-ng": "1.1"}
    files = {"server.py": FAST + "import mcp\n", "pyproject.toml": project_of('"fastmcp", "a>1", "pathlib", "x"')}
    files["uv.lock"] = "version = 1\n" + "".join(row.format(*item) + wheel for item in locked.items())
    files["uv.lock"] += row.format("without-wheel", "1")
    project = tree(files)
    brought = ["anyio", "email-validator", "httpx", "jsonschema", "pydantic-settings", "python-dotenv", "starlette"]
    own = ["a==2.0,>1", "pydantic==2.9", "typing-extensions"]
    pinned = ("pydantic==2.9", "zlib-ng==1.1")
    for with_framework, framework, constraints in (
        (False, [], ("a==2.0", *pinned)),
        (True, ["fastmcp==3.0.2"], ("a==2.0", "fastmcp==3.0.2", *pinned, "mcp<2")),
    ):
        said, _ = program_packages(
            project,
            read_project_settings(project),
            [project.files["server.py"]],
            "server.py",
            with_framework=with_framework,
        )
        assert (said.has_framework, said.web) == (with_framework, False)
        found = with_brought_packages(said).requirements
        assert [item.text for item in found] == [*own[:1], *framework, *own[1:], *brought]
        assert [item.constraints for item in found if item.constraints] == [constraints]


CLIENT_PROGRAMS: dict[str, tuple[str, str, set[str]]] = {
    "a client": (FAST + "from fastmcp import Client\n", '"fastmcp==4.1.2"', {"httpx2"}),
    "a transport": (FAST + "from fastmcp.client.transports import SSETransport\n", '"fastmcp==2.14.7"', {"httpx"}),
    "a proxy": (FAST + "FastMCP.as_proxy('http://x')\n", '"fastmcp==2.14.7"', {"httpx"}),
    "a proxy of version 3": (FAST + "from fastmcp.server import create_proxy\n", '"fastmcp==3.4.10"', {"httpx"}),
    "the SDK's transport": (SERVER + "from mcp.client.streamable_http import x\n", '"mcp"', {"httpx"}),
    "a server of a document": (FAST + "FastMCP.from_openapi({}, None)\n", '"fastmcp==4.1.2"', {"httpx2"}),
    "a session over standard input": (SERVER + "from mcp.client.stdio import stdio_client\n", '"mcp"', set()),
    "no client": (FAST, '"fastmcp==4.1.2"', set()),
}


@pytest.mark.parametrize("name", CLIENT_PROGRAMS)
def test_programs_with_clients_get_a_package_for_http(name: str) -> None:
    code, requirements, expected = CLIENT_PROGRAMS[name]
    project = tree({"server.py": code, "pyproject.toml": project_of(requirements)})
    found, _ = program_packages(project, read_project_settings(project), [project.files["server.py"]], "server.py")
    assert {item.name for item in found.requirements} & {"httpx", "httpx2"} == expected


CODE_MODE = FAST + "from fastmcp.experimental.transforms.code_mode import CodeMode, MontySandboxProvider\n"
SANDBOXES: dict[str, tuple[str, str, str]] = {
    "the default": (FAST + "from fastmcp.experimental.transforms.code_mode import CodeMode\n", "", "==0.0.18"),
    "declared": (CODE_MODE, ', "pydantic-monty==0.0.17"', "==0.0.17"),
    "configured": (CODE_MODE + "CodeMode(sandbox_provider=MontySandboxProvider())\n", "", "==0.0.18"),
    "the project's own": (
        FAST + "from fastmcp.experimental.transforms import code_mode as m\nm.CodeMode(sandbox_provider=Own())\n",
        "",
        "",
    ),
    "no code mode": (FAST, "", ""),
}


@pytest.mark.parametrize("name", SANDBOXES)
def test_programs_with_the_code_mode_get_its_sandbox(name: str) -> None:
    code, more, expected = SANDBOXES[name]
    project = tree({"server.py": code, "pyproject.toml": project_of('"fastmcp==4.1.2"' + more)})
    found, _ = program_packages(project, read_project_settings(project), [project.files["server.py"]], "server.py")
    assert [item.text for item in found.requirements if "monty" in item.name] == (
        [f"pydantic-monty{expected}"] if expected else []
    )
