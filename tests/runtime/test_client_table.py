"""The table of clients: its names are documented, and it agrees with the data that it was made from."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from mcpc_runtime.tools.clients.entries import CannotWriteEntryError, Header, ServerEntry, Variable, client_entry
from mcpc_runtime.tools.clients.installing import Target, rendered
from mcpc_runtime.tools.clients.table import CLIENTS, PROJECT, USER, user_paths
from support.client_texts import read_json, read_toml, read_yaml
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
