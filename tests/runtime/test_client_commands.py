"""The Python that an entry names, and where the settings of a server are in clients' files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcpc_runtime.tools.clients import request
from mcpc_runtime.tools.clients.entries import CannotWriteEntryError
from mcpc_runtime.tools.clients.installing import how_to_set_in_clients
from mcpc_runtime.tools.clients.request import candidates, lasting_python, version_of, why_temporary
from support.client_home import use_home
from support.files import write_files

HERE = "{}.{}".format(*sys.version_info[:2])


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/home/u/.pyenv/shims/python3.11", "it is in a version manager's script"),
        ("/home/u/.cache/uv/archive-v0/x/bin/python", "it is in a cache"),
        ("/Users/u/Library/Caches/x/bin/python", "it is in a cache"),
        ("C:\\u\\AppData\\Local\\Microsoft\\WindowsApps\\python.exe", "it is in the alias of a store"),
        ("/home/u/p/.tox/py311/bin/python", "it is in a test environment"),
        ("/usr/bin/python3", ""),
        ("/home/u/.pyenv/versions/3.12.4/bin/python3.12", ""),
    ],
)
def test_pythons_that_may_be_gone_tomorrow_are_known(path: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")  # a path of Windows is a relative one here, and this folder may be a temporary one
    assert why_temporary(path) == why


def test_a_python_of_a_temporary_folder_or_a_virtual_environment_may_be_gone(tmp_path: Path) -> None:
    assert why_temporary(str(tmp_path / ".tox/bin/python")) == "it is in a temporary folder"
    (tmp_path / "bin/deep").mkdir(parents=True)
    (tmp_path / "pyvenv.cfg").touch()
    for name, why in (("python", "of a virtual environment"), ("bin/python", "of a virtual environment"), ("bin/deep/python", "in a temporary folder")):  # fmt: skip
        assert why_temporary(str(tmp_path / name)) == f"it is {why}"


def test_pythons_are_tried_in_order_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request, "installed_pythons", lambda minor: [f"/a/{minor}", f"/b/{minor}"])
    monkeypatch.setattr(sys, "_base_executable", "/c/python")
    minors = ["3.99", *[f"3.{minor}" for minor in (15, 14, 13, 12, 11) if f"3.{minor}" != HERE]]
    minors.insert(1, HERE)
    rows = [(minor, f"/{place}/{minor}") for minor in minors for place in "ab"]
    rows.insert(4, (HERE, "/c/python"))
    assert [*candidates(("3.99",))] == rows
    monkeypatch.setattr(sys, "_base_executable", "")
    monkeypatch.setattr(sys, "executable", "x")
    assert (HERE, os.path.abspath("x")) in candidates(())
    monkeypatch.setattr(sys, "executable", None)
    assert [row for row in candidates((HERE,)) if row[0] == HERE] == [(HERE, f"/a/{HERE}"), (HERE, f"/b/{HERE}")]


def test_the_first_python_that_lasts_and_is_of_its_version_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"temporary": "", "old": "", "right": "", "later": ""})
    paths = [str(tmp_path / name) for name in ("gone", "temporary", "old", "right", "later")]
    monkeypatch.setattr(request, "installed_pythons", lambda minor: paths if minor == "3.12" else [])
    monkeypatch.setattr(request, "lasting_path", str)
    monkeypatch.setattr(request, "why_temporary", lambda path: "so" if path.endswith("temporary") else "")
    monkeypatch.setattr(request, "version_of", lambda path: "3.11" if path.endswith("old") else "3.12")
    monkeypatch.setattr(sys, "_base_executable", str(tmp_path / "gone"))
    assert lasting_python(("3.12",)) == str(tmp_path / "right")
    monkeypatch.setattr(request, "version_of", lambda path: "")
    with pytest.raises(CannotWriteEntryError, match="--python"):
        lasting_python(("3.12",))


def test_the_version_is_what_a_python_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert version_of(sys.executable) == HERE
    assert version_of(str(tmp_path / "gone")) == ""
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\nprintf 3.11\nexit 1\n")
    failing.chmod(0o755)
    assert version_of(str(failing)) == ""

    def wait(*_: object, **more: float) -> None:
        raise subprocess.TimeoutExpired("x", more["timeout"])

    monkeypatch.setattr(subprocess, "run", wait)
    assert version_of(sys.executable) == ""


def test_settings_are_set_where_clients_start_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_home(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    file = str(tmp_path / "server.pyz")
    assert how_to_set_in_clients(file) == ""
    (tmp_path / "link.pyz").symlink_to("server.pyz")
    write_files(
        tmp_path,
        {
            ".cursor/mcp.json": f'{{"mcpServers": {{"b": {{"args": ["{file}"]}}, "a": {{"command": "{file}"}}, "c": {{}}}}}}',
            ".codex/config.toml": "half",
            ".config/opencode/opencode.json": f'{{"mcp": {{"d": {{"command": ["x", "{file}"]}}}}}}',
            ".gemini/settings.json": f'{{"mcpServers": {{"e": {{"command": "{tmp_path}/other.pyz"}}}}}}',
        },
    )
    rows = [
        f"Cursor starts this server: set it in `env` of `{name}` in {tmp_path}/.cursor/mcp.json, or run "
        f"`server.pyz install --client cursor --name {name} --env NAME=VALUE`."
        for name in ("a", "b")
    ]
    rows = [*rows, *rows]  # the user's file is the project's, too
    rows.append(
        f"opencode starts this server: set it in `environment` of `d` in {tmp_path}/.config/opencode/opencode.json, "
        "or run `server.pyz install --client opencode --name d --env NAME=VALUE`."
    )
    assert how_to_set_in_clients(str(tmp_path / "link.pyz")) == " ".join([*rows, "Then start the server again."])
    assert how_to_set_in_clients("server.pyz").count("starts this server") == 5
