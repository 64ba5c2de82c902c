"""The table of clients against its page and its data; the Python that an entry names, and where clients keep settings."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.tools.clients import request
from mcpc_runtime.tools.clients.entries import CannotWriteEntryError, Header, ServerEntry, Variable, client_entry
from mcpc_runtime.tools.clients.installing import Target, how_to_set_in_clients, rendered
from mcpc_runtime.tools.clients.request import candidates, lasting_python, version_of, why_temporary
from mcpc_runtime.tools.clients.table import CLIENTS, PROJECT, USER, user_paths
from support.client_home import use_home
from support.client_texts import read_json, read_toml, read_yaml
from support.files import write_files
from support.needs import ROOT
from support.reference import read_data

SERVER = ServerEntry("weather", "/usr/bin/python3", ("/srv/server.pyz",), (Variable("CITY", "Oslo"),))
REMOTE = ServerEntry("weather", url="https://mcp.example.com/mcp")
READERS = {"json": read_json, "toml": read_toml, "yaml": read_yaml}
PAGE = ROOT / "docs/clients.md"


def entry_of(label: str, server: ServerEntry, scope: str = USER) -> Any:
    """Return an entry as a reader of its format reads what is written."""
    target = Target(CLIENTS[label], label, scope, "")
    value = READERS[target.form.format](rendered(target, server.name, client_entry(CLIENTS[label], server, scope)))
    for key in target.form.keys[0]:
        value = value[key]
    return value[0] if target.form.is_list else value[server.name]


def test_the_page_names_every_client() -> None:
    line = re.search(r"^Clients: (.*?)\.", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert line
    assert re.findall(r"`([\w-]+)`", line[1]) == list(CLIENTS)


def documented() -> dict[str, Any]:
    """Return the entries of the data about clients."""
    return {row["id"]: row for row in read_data("clients.json")["clients"]}


LEFT_OUT = {"timeout": 600000, "trust": False, "cwd": None, "working_directory": None}
"""Fields of the data that only repeat a client's default."""


@pytest.mark.parametrize("label", CLIENTS)
def test_entries_are_those_of_the_data(label: str) -> None:
    rows = documented()
    if label not in rows:
        assert label == "vscode-insiders"
        return
    for shape, server in ((rows[label]["stdio"], SERVER._replace(variables=())), (rows[label]["http"], REMOTE)):
        if shape is None:
            with pytest.raises(CannotWriteEntryError):
                entry_of(label, server)
            continue
        values = {"$PY": "/usr/bin/python3", "$PYZ": "/srv/server.pyz", "$URL": REMOTE.url, "NAME": "weather"}
        expected = json.loads(json.dumps(shape), object_hook=dict)
        expected = {key: filled(value, values) for key, value in expected.items() if LEFT_OUT.get(key, "") != value}
        entry = entry_of(label, server)
        optional = ("env", "environment", "headers", "envs", "env_keys", "env_http_headers", "http_headers")
        for fields in (entry, expected):
            for name in (*optional, "bearer_token_env_var", "description"):
                fields.pop(name, None)
        assert entry == expected


def filled(value: Any, values: dict[str, str]) -> Any:
    """Return a value of the data without its placeholders."""
    if isinstance(value, list):
        return [filled(each, values) for each in value]
    return values.get(value, value) if isinstance(value, str) else value


@pytest.mark.parametrize("label", CLIENTS)
def test_files_are_those_of_the_data(label: str) -> None:
    rows = documented()
    if label not in rows or not rows[label]["user_file"]:
        return
    home, environment = "~", {"APPDATA": "%APPDATA%", "USERPROFILE": "%USERPROFILE%"}
    for system, path in rows[label]["user_file"].items():
        if system in ("linux", "darwin", "win32") and "…" not in path:
            found = user_paths(CLIENTS[label], system, environment, home)[-1]
            expected = path.replace("\\", "/").replace("%USERPROFILE%", "~").partition(" ")[0]
            expected = path if "Application Support" in path else expected.replace("$XDG_CONFIG_HOME", "~/.config")
            assert found.lower() == expected.lower() if system == "win32" else found == expected, system


SECRET = Variable("API_KEY", "s3cret", is_secret=True)


PASSED = Variable("API_KEY", None, is_secret=True)


def test_no_secret_is_written_into_a_file_of_a_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "s3cret")
    header = Header("Authorization", "Bearer ", "API_KEY")
    written = 0
    for label, client in CLIENTS.items():
        for server in (
            SERVER._replace(variables=(SECRET,)),
            SERVER._replace(variables=(PASSED,)),
            REMOTE._replace(headers=(header,)),
            REMOTE._replace(headers=(Header("X-Api-Key", "s3cret"),)),
        ):
            try:
                entry = client_entry(client, server, PROJECT)
            except CannotWriteEntryError:
                continue
            assert "s3cret" not in json.dumps(entry.fields), label
            written += 1
    assert entry_of("claude-code", SERVER._replace(variables=(PASSED,)), PROJECT)["env"] == {"API_KEY": "${API_KEY}"}
    assert written


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
