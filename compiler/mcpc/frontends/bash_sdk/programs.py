"""mcpc's programs that read a server script, included in a folder that no project can have."""

from __future__ import annotations

from pathlib import Path

from mcpc.reading import Source

HOME = ".mcpc/bash-sdk"
"""Project folders that begin with a dot are never read, so that this folder is free."""
TEMPLATE_FOLDERS = (Path(__file__).parents[2] / "templates", Path(__file__).parents[4] / "templates")
"""In an installed package, and in a checkout."""
NAMES = ("forkserver.bash", "launcher.bash")


def reading_programs() -> tuple[Source, ...]:
    """Return the programs, ordered by path."""
    folder = next(place for place in TEMPLATE_FOLDERS if place.is_dir()) / "bash_sdk"
    return tuple(Source(f"{HOME}/{name}", (folder / name).read_bytes()) for name in NAMES)
