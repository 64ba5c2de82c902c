"""What `mcpc inspect --definitions` says of whole projects: how the compiler understood them, for a person to read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.artifact import mcpc
from support.needs import ROOT, needs

HERE = Path(__file__).parent
PROJECTS = {
    "files": "examples/files",
    "mcp-bash": "tests/golden/mcp_bash",
    "new-bash": "templates/new/bash",
    "new-functions": "templates/new/functions",
    "new-python": "templates/new/python",
}
LIBRARY = "file .mcpc/"
"""Our own library goes along with every project of mcp-bash; how large it is says nothing of this one."""


@pytest.mark.parametrize("name", PROJECTS)
def test_show(name: str, golden: Callable[[Path, str], None]) -> None:
    needs("bash")
    done = mcpc("inspect", ROOT / PROJECTS[name], "--definitions", *(["--allow", "*"] if name == "mcp-bash" else []))
    assert done.returncode == 0, done.stderr
    shown = [line for line in done.stdout.splitlines(keepends=True) if not line.startswith(LIBRARY)]
    golden(HERE / f"show/{name}.txt", "".join(shown))
