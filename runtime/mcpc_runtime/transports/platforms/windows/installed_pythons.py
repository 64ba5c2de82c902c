"""Pythons that are registered (PEP 514): those of python.org and of the Store, and others that register themselves."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import os
import winreg
from collections.abc import Iterator

__all__ = ["installed_pythons", "lasting_path"]

ROOTS = (
    (winreg.HKEY_CURRENT_USER, 0),
    (winreg.HKEY_LOCAL_MACHINE, winreg.KEY_WOW64_64KEY),
    (winreg.HKEY_LOCAL_MACHINE, winreg.KEY_WOW64_32KEY),
)
KEY = r"Software\Python\PythonCore\{minor}{suffix}\InstallPath"


def installed_pythons(minor: str) -> Iterator[str]:
    """Yield where a Python of a minor version is registered."""
    for root, view in ROOTS:
        for suffix in ("", "-32", "-arm64"):
            yield from registered_path(root, KEY.format(minor=minor, suffix=suffix), view)


def registered_path(root: int, key: str, view: int) -> Iterator[str]:
    """Yield the program that a key names, or the one in the folder that it names."""
    try:
        with winreg.OpenKey(root, key, 0, winreg.KEY_READ | view) as opened:
            try:
                yield str(winreg.QueryValueEx(opened, "ExecutablePath")[0])
            except OSError:
                yield os.path.join(str(winreg.QueryValueEx(opened, "")[0]), "python.exe")
    except OSError:
        return


def lasting_path(path: str) -> str:
    """Return the path: an installation is upgraded in its place."""
    return path
