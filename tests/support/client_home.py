"""A home folder without files of any client but those that a test writes."""

from pathlib import Path

import pytest

from mcpc_runtime.tools.clients.table import CLIENTS


def use_home(place: Path, environment: pytest.MonkeyPatch) -> None:
    """Make a folder the home of this user, in which clients look for their files."""
    place.chmod(0o700)
    for client in CLIENTS.values():
        for path in client.user:
            if path.startswith("$"):
                environment.delenv(path.partition("/")[0][1:], raising=False)
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        environment.delenv(name, raising=False)
    environment.setenv("HOME", str(place))
