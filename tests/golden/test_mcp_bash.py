"""What `mcpc inspect --definitions` says of a project of mcp-bash that has something of everything."""

from collections.abc import Callable
from pathlib import Path

from support.artifact import mcpc
from support.needs import needs

HERE = Path(__file__).parent
LIBRARY = "file .mcpc/"
"""Our own library goes along with every such project; how large it is says nothing of this one."""


def test_show(golden: Callable[[Path, str], None]) -> None:
    needs("bash")
    done = mcpc("inspect", HERE / "mcp_bash", "--definitions", "--allow", "*")
    assert done.returncode == 0, done.stderr
    shown = [line for line in done.stdout.splitlines(keepends=True) if not line.startswith(LIBRARY)]
    golden(HERE / "show/mcp-bash.txt", "".join(shown))
