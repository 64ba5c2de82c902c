"""Projects for FastMCP and the SDK: recognised, their entry and framework found, before anything is run."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from mcpc.frontends.fastmcp import frameworks
from mcpc.frontends.fastmcp.entry_points import find_entry
from mcpc.frontends.fastmcp.frameworks import version_problems
from mcpc.frontends.fastmcp.packages import program_packages, with_brought_packages
from mcpc.frontends.fastmcp.project_settings import read_project_settings
from mcpc.reading import SourceTree
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
    assert entry is not None
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
    project = replace(tree({"server.py": code, "pyproject.toml": project_of(requirements)}), exclude_newer="2025-06-01")
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
