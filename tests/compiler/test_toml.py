"""TOML that is nested more deeply than Python reads is a mistake of the file, as any other that is no TOML."""

import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest

from mcpc.reading.toml import parse_toml
from mcpc.release.scan.scanning import project_ignored
from mcpc_runtime.tools.clients.toml_text import has_long_key
from support.artifact import mcpc
from support.files import write_files
from support.projects import SMOKETEST

DEEP = f"x = {'[' * 3_000}{']' * 3_000}\n"
PROGRAM = {"server.py": "from fastmcp import FastMCP\nmcp = FastMCP('x')\n"}


def test_what_is_too_deep_is_an_error_of_toml(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(partial(sys.setrecursionlimit, sys.getrecursionlimit()))
    sys.setrecursionlimit(1_000)  # Python's default: libraries raise it in a process that runs other tests, too
    with pytest.raises(tomllib.TOMLDecodeError, match="nested too deeply"):
        parse_toml(DEEP)
    assert parse_toml("x = [[1]]") == {"x": [[1]]}
    assert project_ignored(DEEP) == ()


@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "[[ {} ]]", "x = {{{} = 1}}", "x = {{b = 1, {} = 1}}", "\t{} = 1"])
@pytest.mark.parametrize("part", ["a", '"a.b"', "'='", "a "])
def test_a_key_has_at_most_a_hundred_parts(form: str, part: str) -> None:
    text = "y = 1.5\n" + form.format(".".join([part] * 100))
    assert not has_long_key(text)
    parse_toml(text)
    with pytest.raises(tomllib.TOMLDecodeError, match="nested too deeply"):
        parse_toml("y = 1.5\n" + form.format(".".join([part] * 101)))
    assert not has_long_key("x = '" + ".".join(["a"] * 1000) + "'")


@pytest.mark.parametrize("files", [SMOKETEST, PROGRAM], ids=["native", "a program"])
def test_a_project_file_that_is_too_deep_is_reported(files: dict[str, str], tmp_path: Path) -> None:
    done = mcpc("check", write_files(tmp_path / "project", {**files, "pyproject.toml": DEEP}))
    assert done.returncode == 1
    assert "error[MCP401]: this is not TOML: it is nested too deeply" in done.stderr


@pytest.mark.parametrize("lock", [DEEP, "nonsense"], ids=["too deep", "no TOML"])
def test_a_lock_that_cannot_be_read_is_reported_once(lock: str, tmp_path: Path) -> None:
    project = '[project]\nname = "x"\nversion = "1"\ndependencies = ["a>=1"]\n'
    server = "from mcpc import Server\nmcp = Server('x')\n@mcp.tool\ndef a(): ...\n"
    files = {"server.py": server, "pyproject.toml": project, "uv.lock": lock}
    done = mcpc("check", write_files(tmp_path / "project", files))
    assert done.stderr.count("error[MCP414]: `uv.lock` is not a valid lock file: ") == 1, done.stderr
