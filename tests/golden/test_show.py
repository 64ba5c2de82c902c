"""What `mcpc inspect --definitions` says of whole projects: how the compiler understood them, for a person to read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.artifact import mcpc
from support.needs import ROOT, needs

HERE = Path(__file__).parent
PROJECTS = {
    "files": "examples/files",
    "new-bash": "templates/new/bash",
    "new-functions": "templates/new/functions",
    "new-python": "templates/new/python",
}


@pytest.mark.parametrize("name", PROJECTS)
def test_show(name: str, golden: Callable[[Path, str], None]) -> None:
    needs("bash")
    done = mcpc("inspect", ROOT / PROJECTS[name], "--definitions")
    assert done.returncode == 0, done.stderr
    golden(HERE / f"show/{name}.txt", done.stdout)
