"""A folder that is no project is answered by what is in it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mcpc import Context
from mcpc.frontends import FRONTENDS, build_inputs, frontends_of, select_frontends, tree_for
from mcpc.options import Options
from support.artifact import SOURCES
from support.projects import SERVER_JSON, Files, checked, parsed, tree
from support.whole_projects import print_cases, read_cases

GOLDEN = Path(__file__).parents[1] / "golden/frontends"


@pytest.mark.parametrize("name", ["native", "decorated"])
def test_whole_projects(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / f"{name}.txt", print_cases(GOLDEN / f"{name}.cases"))


def test_which_formats_recognise_a_project(golden: Callable[[Path, str], None]) -> None:
    lines, said = [], {""}
    for name, project, options in read_cases(GOLDEN / "recognised.cases"):
        found, problems = select_frontends(project, options)
        lines.append(f"{name}: {', '.join(frontend.name for frontend in found) or 'none'}\n")
        for problem in problems:
            place = problem.span.path if problem.span else "-"
            lines.append(f"    {problem.code} {place}: {problem.message}; {problem.hint}\n")
            lines += [] if problem.expected in said else [f"{problem.expected}\n"]
            said.add(problem.expected)
    golden(GOLDEN / "recognised.txt", "".join(lines))


def test_a_file_that_one_format_owns_is_read_by_no_other() -> None:
    project = tree({"a": "", "b": ""})
    first, second = FRONTENDS[:2]
    owner = replace(first, owned=lambda _: frozenset({"a"}))
    assert [*tree_for(second, project, (owner, second)).files] == ["b"]
    for frontend, others in ((owner, (owner, second)), (second, (second, first))):
        assert tree_for(frontend, project, others).files == project.files


def test_what_several_formats_say_of_a_project() -> None:
    assert [frontend.name for frontend in frontends_of("toolbox+native+gone")] == ["native", "toolbox"]
    project = replace(tree({"server.json": "{}", "server.d/register.json": "{}", "a.bx": "MCPServer()"}), name="folder")
    assert build_inputs(project) == [(), ("folder",), ("folder",)]
    assert build_inputs(tree({"README": ""})) == []
    with_all = [frontend.dialect for frontend in FRONTENDS if frontend.dialect]
    assert (with_all, len({*with_all})) == (["mcbox", "fastmcp", "mcp-bash", "toolbox"], 4)


def test_who_runs_a_marked_file_is_told_how_it_is_served(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("from mcpc import Server\nmcp = Server('x')\n")
    (tmp_path / "importer.py").write_text("import server\n")
    said = {}
    for name in ("server.py", "importer.py"):
        done = subprocess.run(
            [sys.executable, name],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": SOURCES},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        said[name] = done.stderr
    assert said["server.py"].endswith(
        "server.py only defines a server: run `mcpc dev --once` in its folder to serve it\n"
    )
    assert said["importer.py"] == ""


@pytest.mark.parametrize("name", ["native", "mcbox"])
def test_a_format_can_be_forced_by_name_or_alias(name: str) -> None:
    found, problems = select_frontends(tree({"README": ""}), Options(format=name))
    assert found == FRONTENDS[:1]
    assert problems == ()


def test_names_of_formats_are_unique() -> None:
    known = [name for frontend in FRONTENDS for name in (frontend.name, *frontend.aliases)]
    assert len(known) == len(set(known))


SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
PUBLISHED = {"name": "io.github.someone/weather", "description": "Weather", "version": "1.2.0"}
MANIFESTS = {
    "with its schema": {"$schema": SCHEMA, **PUBLISHED},
    "with packages": {**PUBLISHED, "packages": [{"registryType": "pypi", "identifier": "weather"}]},
    "with a repository": {**PUBLISHED, "repository": {"url": "https://example.org/weather", "source": "github"}},
}
DECORATED = 'from mcpc import Server\n\nserver = Server("weather")\n\n\n@server.tool\ndef now(city: str) -> str:\n    """Return it."""\n    return city\n'


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_beside_a_server_changes_nothing(name: str) -> None:
    plain: Files = {"server.py": DECORATED}
    alone, problems = parsed(plain)
    beside, more = parsed({**plain, "server.json": json.dumps(MANIFESTS[name])})
    assert problems == more == ()
    assert beside.server.node.value == alone.server.node.value
    assert [tool.node.value for tool in beside.tools] == [tool.node.value for tool in alone.tools]


@pytest.mark.parametrize("text", ["{", '{"name": "a", "packages": ' + "[" * 100_000, ""])
def test_a_file_that_cannot_be_read_is_reported_by_the_format(text: str) -> None:
    found, _ = select_frontends(tree({"server.json": text}), Options())
    assert [frontend.name for frontend in found] == ["native"]


def test_everything_that_a_context_has_may_be_used() -> None:
    uses = "\n".join(f"    ctx.{name}" for name in dir(Context) if not name.startswith("_"))
    text = f"from mcpc import Context, tool\n@tool\ndef a(ctx: Context) -> None:\n    'A.'\n{uses}\n"
    assert checked({"server.json": SERVER_JSON, "tools.py": text})[1] == ()


def test_only_the_class_of_that_name_is_a_context_and_one_argument_may_be_it() -> None:
    tool = '{"tools": [{"name": "old", "description": "Old.", "inputSchema": {"type": "object", "properties": {"x": {}}}}]}'
    files: Files = {"server.json": SERVER_JSON, "tools.json": tool}
    for code, count in (
        ("class Context: ...\ndef old(me: Context, x=1): ...\n", 1),
        ("from mcpc import Context\ndef old(x: Context): ...\n", 2),
    ):
        assert [problem.code for problem in checked({**files, "tools.py": code})[1]] == ["MCP206"] * count
