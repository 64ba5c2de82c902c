"""Pythons in the system's folders, on PATH, and of version managers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

__all__ = ["installed_pythons", "lasting_path"]

FOLDERS = (
    "/usr/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/Library/Frameworks/Python.framework/Versions/{minor}/bin",
    "/opt/local/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/run/current-system/sw/bin",
)
MANAGED = (
    "~/.local/bin",
    "~/.pyenv/versions",
    "~/.local/share/mise/installs/python",
    "~/.asdf/installs/python",
    "~/.local/share/uv/python",
)
"""Folders of version managers: a folder of each Python, with its programs in `bin`."""
CELLAR = re.compile(r"(.*)/Cellar/[^/]+/[^/]+/(?:.*/)?bin/(python3\.\d+)")
"""Homebrew's folder of one version, which the next upgrade removes; the link in `bin` stays."""


def installed_pythons(minor: str) -> Iterator[str]:
    """Yield where a Python of a minor version may be, the ones that stay longest first."""
    name = f"python{minor}"
    for folder in FOLDERS:
        yield os.path.join(folder.format(minor=minor), name)
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder):
            yield os.path.join(folder, name)
    for folder in map(os.path.expanduser, MANAGED):
        yield os.path.join(folder, name)
        for version in sorted(os.listdir(folder), reverse=True) if os.path.isdir(folder) else ():
            yield os.path.join(folder, version, "bin", name)


def lasting_path(path: str) -> str:
    """Return the path by which the same Python is found after an upgrade."""
    found = CELLAR.fullmatch(path)
    link = f"{found[1]}/bin/{found[2]}" if found else ""
    return link if link and os.path.exists(link) else path
