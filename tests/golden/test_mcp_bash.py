"""What `mcpc inspect --definitions` says of a project of mcp-bash that has something of everything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from support.artifact import mcpc
from support.needs import needs

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
LIBRARY = "file .mcpc/"
"""Our own library goes along with every such project; how large it is says nothing of this one."""


def test_show(golden: Callable[[Path, str], None]) -> None:
    needs("bash")
    done = mcpc("inspect", HERE / "mcp_bash", "--definitions", "--allow", "*")
    assert done.returncode == 0, done.stderr
    shown = [line for line in done.stdout.splitlines(keepends=True) if not line.startswith(LIBRARY)]
    golden(HERE / "show/mcp-bash.txt", "".join(shown))
