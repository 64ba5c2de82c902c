"""The entry of each client for servers of all kinds, and the files of each client on each system, whole."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from mcpc_runtime.tools.clients import installing, table
from mcpc_runtime.tools.clients.entries import (
    CannotWriteEntryError,
    Header,
    ServerEntry,
    Variable,
    client_entry,
    is_same_server,
    other_build,
)
from mcpc_runtime.tools.clients.installing import Target, install_in
from mcpc_runtime.tools.clients.request import Options
from mcpc_runtime.tools.clients.table import (
    CLIENTS,
    PROJECT,
    ROOTS,
    USER,
    client_file,
    existing,
    is_installed,
    user_paths,
)
from support.needs import ROOT

GOLDEN = ROOT / "tests/golden/clients"
LOCAL = ServerEntry("weather", "/usr/bin/python3", ("/srv/server.pyz",))
REMOTE = ServerEntry("weather", url="https://mcp.example.com/mcp")
SERVERS = {
    "local": LOCAL,
    "values": LOCAL._replace(variables=(Variable("CITY", "Oslo"), Variable("API_KEY", "k", True, "Key"))),
    "passed": LOCAL._replace(variables=(Variable("CITY", None), Variable("NONE", None))),
    "secret": LOCAL._replace(variables=(Variable("API_KEY", None, True),)),
    "remote": REMOTE,
    "token": REMOTE._replace(headers=(Header("Authorization", "Bearer ", "API_KEY"),)),
    "header": REMOTE._replace(headers=(Header("X-City", "", "CITY"), Header("X-Team", "t"))),
    "unset": REMOTE._replace(headers=(Header("X-A", "Bearer ", "NONE"),)),
    "secret header": REMOTE._replace(headers=(Header("X-Api-Key", "k"),)),
    "spaces": LOCAL._replace(command="/a b"),
}


def test_entries(golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITY", "Rome")
    monkeypatch.setenv("API_KEY", "now")
    monkeypatch.delenv("NONE", raising=False)
    rows = []
    for label, client in CLIENTS.items():
        for scope in (USER, PROJECT):
            for title, server in SERVERS.items():
                try:
                    entry = client_entry(client, server, scope)
                except CannotWriteEntryError as problem:
                    text = f"refused: {problem}"
                else:
                    text = json.dumps(entry.fields) + "".join(f"\n    {note}" for note in entry.notes)
                    text += f"\n    owned: {' '.join(sorted(entry.owned))}" if title in ("local", "remote") else ""
                    text += "".join(f"\n    {json.dumps(each)}" for each in entry.inputs)
                rows.append(f"{label}, {scope}, {title}:\n  {text}\n")
    golden(GOLDEN / "entries.txt", "".join(rows))


def test_paths(golden: Callable[[Path, str], None]) -> None:
    variables = {name.partition("/")[0][1:] for client in CLIENTS.values() for name in client.user if name[0] == "$"}
    variables |= {row[0].partition("/")[0][1:] for row in ROOTS.values() if row[0]}
    every = {name: f"/{name}" for name in sorted(variables)}
    windows = {"APPDATA": "C:/app", "LOCALAPPDATA": "C:/local"}
    machines = {
        "linux": ("linux", {}),
        "linux, XDG": ("linux", {"XDG_CONFIG_HOME": "/xdg"}),
        "linux, all variables": ("linux", every),
        "darwin": ("darwin", {"XDG_CONFIG_HOME": "/xdg"}),
        "win32": ("win32", windows),
        "freebsd": ("freebsd14", {"XDG_CONFIG_HOME": ""}),
    }
    rows = [
        f"{label}, {title}: {' '.join(user_paths(client, system, environment, '~'))}\n"
        for label, client in CLIENTS.items()
        for title, (system, environment) in machines.items()
    ]
    golden(GOLDEN / "paths.txt", "".join(rows))


@pytest.mark.parametrize(
    ("made", "paths", "found"),
    [
        ("", "", ""),
        ("", "a/x b/y", "b/y"),
        ("a/", "a/x b/y", "a/x"),
        ("b/", "a/x b/y c/z", "b/y"),
        ("a/ b/y", "a/x b/y", "b/y"),
        ("a/ b/", "a/x b/y a/x", "a/x"),
        ("a/", "a/x b/y b/y", "b/y"),
        ("b/y", "b/y a/x a/x", "b/y"),
        ("", "a/x", "a/x"),
    ],
)
def test_the_file_that_is_there_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str, paths: str, found: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in made.split():
        os.makedirs(os.path.dirname(name), exist_ok=True)
        if not name.endswith("/"):
            os.symlink("nowhere", name)
    assert existing(paths.split()) == found


def test_a_client_is_installed_where_its_folder_or_its_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(table, "user_paths", lambda client, system, environment, home: [home + client])
    assert not is_installed("/.x/y.json")  # type: ignore[arg-type]
    assert not is_installed("/.y.json")  # type: ignore[arg-type]
    (tmp_path / ".x").mkdir()
    (tmp_path / ".y.json").touch()
    assert is_installed("/.x/y.json")  # type: ignore[arg-type]
    assert is_installed("/.y.json")  # type: ignore[arg-type]
    assert not is_installed("/.z.json")  # type: ignore[arg-type]
    monkeypatch.setattr(table, "user_paths", lambda *_: [])
    assert not is_installed("")  # type: ignore[arg-type]
    assert client_file(CLIENTS["kilo-code"], PROJECT, "a/b") == "a/b/.kilo/kilo.json"


@pytest.mark.parametrize(
    ("existing", "server", "is_same"),
    [
        ({"url": REMOTE.url}, REMOTE, True),
        ({"url": [{"a": REMOTE.url}]}, REMOTE, True),
        ({"url": REMOTE.url + "/"}, REMOTE, False),
        ({"args": ["-m", "/srv/server.pyz"]}, LOCAL, True),
        ({"command": "/usr/bin/python3", "args": [5, None]}, LOCAL, False),
        ({"command": "/usr/bin/python3"}, LOCAL._replace(arguments=()), True),
        ({"args": ["a"]}, LOCAL._replace(arguments=("a", "b")), False),
    ],
)
def test_an_entry_of_the_same_server_starts_the_same_file(
    existing: dict[str, object], server: ServerEntry, is_same: bool
) -> None:
    assert is_same_server(existing, server) is is_same


def test_an_entry_of_another_build_of_the_server_is_of_the_same_server(tmp_path: Path) -> None:
    def built(name: str, facts: object, entry: str = "META-INF/build.json") -> str:
        with ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(entry, json.dumps(facts))
        return str(tmp_path / name)

    (tmp_path / "text.pyz").write_text("PK")
    server = LOCAL._replace(built_name="weather")
    entries = {
        built("earlier.pyz", {"name": "weather"}): True,
        built("other.pyz", {"name": "Weather"}): False,
        built("list.pyz", ["weather"]): False,
        built("number.pyz", {"name": 1}): False,
        built("large.pyz", {"name": "weather", "x": "a" * (1 << 20)}): False,
        built("elsewhere.pyz", {"name": "weather"}, "build.json"): False,
        str(tmp_path / "text.pyz"): False,
        str(tmp_path / "gone.pyz"): False,
        str(tmp_path): False,
    }
    existing = {path: {"command": "/usr/bin/python3", "args": [path], "env": {"A": "b"}} for path in entries}
    assert {path: is_same_server(existing[path], server) for path in entries} == entries
    assert not any(is_same_server(existing[path], LOCAL) for path in entries)
    earlier = str(tmp_path / "earlier.pyz")
    assert is_same_server({"command": earlier}, server)
    assert {other_build(existing[path], server) for path in entries} == {earlier, ""}
    assert other_build(existing[earlier], server._replace(arguments=(earlier,))) == ""


def test_who_installs_another_build_is_told_what_the_entry_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        with ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("META-INF/build.json", '{"name": "weather"}')
    monkeypatch.setattr(installing, "is_installed", lambda client: True)
    target = Target(CLIENTS["cursor"], "cursor", USER, str(tmp_path / "mcp.json"))
    notes = []
    for name in ("one", "one", "two"):
        server = ServerEntry("weather", "/usr/bin/python3", ("-I", str(tmp_path / name)), built_name="weather")
        notes.append(install_in(target, server, Options(), ()).notes)
    before = f"it started {tmp_path}/one before, which has a server of this name, too"
    assert notes == [(), (), (before,)]
    monkeypatch.setattr(installing, "is_installed", lambda client: False)
    server = ServerEntry("other", "/usr/bin/python3", (), built_name="other")
    waits = "Cursor was not found on this machine; the entry waits for it"
    assert install_in(target, server, Options(), ()).notes == (waits,)


@pytest.mark.parametrize(
    ("name", "variable", "is_secret"),
    [("X-Api-Key", "", True), ("cookie", "", True), ("X-Team", "", False), ("Authorization", "T", False)],
)
def test_a_header_is_a_secret_by_its_name(name: str, variable: str, is_secret: bool) -> None:
    assert Header(name, "x", variable).is_secret is is_secret
