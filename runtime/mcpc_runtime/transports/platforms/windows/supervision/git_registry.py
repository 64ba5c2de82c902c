"""Where Git for Windows is installed, by what its installer writes into the registry."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import winreg

KEY, VALUE = "SOFTWARE\\GitForWindows", "InstallPath"


def git_folders() -> list[str]:
    """Return the folders of the machine's Git and of the user's, as far as they are installed."""
    folders = []
    for root in (winreg.HKEY_LOCAL_MACHINE, winreg.HKEY_CURRENT_USER):
        for view in (winreg.KEY_WOW64_64KEY, winreg.KEY_WOW64_32KEY):
            try:
                with winreg.OpenKey(root, KEY, 0, winreg.KEY_READ | view) as key:
                    folder = winreg.QueryValueEx(key, VALUE)[0]
            except OSError:
                continue
            if type(folder) is str and folder not in folders:
                folders.append(folder)
    return folders
