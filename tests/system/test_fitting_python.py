"""A project that requires another Python than that of mcpc is built with one that is on this machine."""

import sys
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from mcpc.cli.fitting_python import fitting_python, required_python
from support.artifact import mcpc
from support.needs import lacking
from support.processes import run_program

HERE = ".".join(map(str, sys.version_info[:2]))
TOOLS = """import sys
from mcpc import Server

mcp = Server("other", version="1")


@mcp.tool
def version(wanted: int = 1) -> str:
    "Name the version."
    return sys.version.split()[0]
"""


@pytest.mark.slow
def test_a_project_is_built_with_a_python_that_it_allows(tmp_path: Path) -> None:
    found = fitting_python(SpecifierSet(f"!={HERE}.*"))
    if found is None:
        lacking("there is no other Python")
    python, version = found
    project = tmp_path / "project"
    project.mkdir()
    (project / "tools.py").write_text(TOOLS)
    text = f'[project]\nname = "other"\nversion = "1"\nrequires-python = "=={version}"\n'
    (project / "pyproject.toml").write_text(text)
    done = mcpc("build", project, "-q", "-o", tmp_path / "server.pyz", status=0)
    assert done.stderr.strip() == f"mcpc: the project requires Python =={version}; running with Python {version}"
    called = run_program([python, str(tmp_path / "server.pyz"), "call", "version"], check=True)
    assert called.stdout.strip() == version


@pytest.mark.parametrize(
    ("text", "required"),
    [
        ('[project]\nrequires-python = ">=3.13"\n', ">=3.13"),
        ('\ufeff[project]\nrequires-python = "==3.12.*"\n', "==3.12.*"),
        ("[project]\nrequires-python = 3\n", None),
        ('[project]\nrequires-python = "new"\n', None),
        ("[project\n", None),
        (f'{".".join(["a"] * 101)} = 1\n[project]\nrequires-python = ">=3.13"\n', None),  # tomllib takes long for these
        ("project = 1\n", None),
        ("", None),
    ],
)
def test_what_a_project_requires(tmp_path: Path, text: str, required: str | None) -> None:
    assert required_python(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text(text, "utf-8")
    assert required_python(tmp_path) == (None if required is None else SpecifierSet(required))


def test_no_python_is_none() -> None:
    assert fitting_python(SpecifierSet("<3.11")) is None
