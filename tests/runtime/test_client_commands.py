"""The commands about clients, in this process and with a home of their own."""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from mcpc_runtime.clients import interpreters, request
from mcpc_runtime.clients.commands import read_options, run
from mcpc_runtime.clients.entries import CannotWriteEntryError
from mcpc_runtime.clients.interpreters import lasting_python, why_temporary
from mcpc_runtime.clients.request import Artifact, InvalidRequestError, artifact_of
from support.files import write_files

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

KEY = {"name": "API_KEY", "type": "string", "title": "Key of the API", "required": True, "secret": True}
REGION = {"name": "REGION", "type": "string", "default": "eu"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home; no variable of the machine names another place."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in [name for name in os.environ if name.endswith(("_HOME", "_DIR", "_PATH")) and name != "PYTHONPATH"]:
        monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(request, "lasting_python", lambda minors: "/usr/bin/python3")
    return folder


@pytest.fixture
def artifact(tmp_path: Path) -> Artifact:
    path = tmp_path / "a folder" / "server.pyz"
    path.parent.mkdir()
    path.write_bytes(b"#!/bin/sh -\nmcpc_start\nPK")
    return artifact_of(str(path), {"name": "my weather", "python": {"bytecode": "3.11.7"}})


def call(artifact: Artifact | None, *words: str) -> int:
    return run(words[0], artifact, read_options(words[0], words[1:]))


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_an_installation_is_repeated_without_a_change(home: Path, artifact: Artifact, capsys: Capture) -> None:
    assert call(artifact, "install", "--client", "cursor") == 0
    entry = read(home / ".cursor/mcp.json")["mcpServers"]["my-weather"]
    assert entry == {"command": "/usr/bin/python3", "args": [artifact.path]}
    before = (home / ".cursor/mcp.json").read_bytes()
    capsys.readouterr()
    assert call(artifact, "install", "--client", "cursor") == 0
    assert capsys.readouterr().out.startswith("Cursor: unchanged")
    assert (home / ".cursor/mcp.json").read_bytes() == before
    assert call(artifact, "uninstall", "--client", "cursor") == 0
    assert os.listdir(home / ".cursor") == []
    assert call(artifact, "uninstall", "--client", "cursor") == 1


def test_all_clients_of_the_machine_are_changed_and_no_others(home: Path, artifact: Artifact) -> None:
    for folder in (".cursor", ".codex", ".config/goose", ".junie/mcp"):
        (home / folder).mkdir(parents=True)
    assert call(artifact, "install", "--client", "all") == 0
    changed = sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())
    assert changed == [".codex/config.toml", ".config/goose/config.yaml", ".cursor/mcp.json"]


def test_a_dry_run_writes_nothing_and_prints_the_entry(home: Path, artifact: Artifact, capsys: Capture) -> None:
    assert call(artifact, "install", "--client", "cursor", "--dry-run") == 0
    printed = capsys.readouterr().out
    assert "would be added" in printed and artifact.path in printed
    assert not (home / ".cursor").exists()


def test_another_server_of_the_same_name_stays(home: Path, artifact: Artifact, capsys: Capture) -> None:
    other = {"mcpServers": {"my-weather": {"command": "npx", "args": ["weather"]}}}
    path = write_files(home, {".cursor/mcp.json": json.dumps(other)}) / ".cursor/mcp.json"
    assert call(artifact, "install", "--client", "cursor") == 2
    assert "--replace" in capsys.readouterr().err
    assert read(path) == other
    assert call(artifact, "install", "--client", "cursor", "--replace") == 0
    assert read(path)["mcpServers"]["my-weather"]["args"] == [artifact.path]
    assert call(artifact, "install", "--client", "cursor", "--name", "w2") == 0
    assert [*read(path)["mcpServers"]] == ["my-weather", "w2"]


def test_one_client_that_fails_does_not_stop_the_others(home: Path, artifact: Artifact, capsys: Capture) -> None:
    write_files(home, {".cursor/mcp.json": "{ half"})
    assert call(artifact, "install", "--client", "cursor", "--client", "codex") == 6
    said = capsys.readouterr()
    assert "add it by hand" in said.err and artifact.path in said.err and "Codex: added" in said.out
    assert (home / ".cursor/mcp.json").read_text() == "{ half"


def test_a_client_that_is_not_confirmed_is_printed(home: Path, artifact: Artifact, capsys: Capture) -> None:
    assert call(artifact, "install", "--client", "junie", "--client", "roo-code") == 0
    assert capsys.readouterr().out.count("add it by hand to") == 2
    assert not (home / ".junie").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("install",), "--client"),
        (("install", "--client", "cursr"), "did you mean cursor"),
        (("install", "--client", "cursor", "--name", "a b"), "letters"),
        (("install", "--client", "cursor", "--name", "x" * 65), "at most 64"),
        (("install", "--client", "cursor", "--scope", "local"), "project"),
        (("install", "--client", "cursor", "--env", "=x"), "NAME=VALUE"),
        (("install", "--client", "cursor", "--url", "ftp://x"), "https"),
        (("install", "--client", "cursor", "--url", "https://x", "--header", "secret"), "NAME: VALUE"),
        (("install", "--client", "all"), "no client was found"),
        (("install", "--clients", "x"), "unknown option"),
        (("install", "--client"), "needs a value"),
        (("config", "--client", "cursor", "--link", "cursor"), "same everywhere"),
        (("config", "--url", "https://x", "--link", "zed"), "no links"),
        (("config", "--url", "https://x", "--link", "goose"), "no links"),
    ],
)
def test_wrong_usage_says_what_was_expected(home: Path, artifact: Artifact, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        call(artifact, *words)
    assert os.listdir(home) == []


def test_a_required_setting_is_named_where_it_cannot_be_asked_for(home: Path, artifact: Artifact) -> None:
    artifact = artifact._replace(settings=(KEY, REGION))
    with pytest.raises(InvalidRequestError, match="--env NAME=VALUE"):
        call(artifact, "install", "--client", "cursor")
    assert call(artifact, "install", "--client", "cursor", "--env", "API_KEY=k") == 0
    assert read(home / ".cursor/mcp.json")["mcpServers"]["my-weather"]["env"] == {"API_KEY": "k"}
    assert call(artifact, "install", "--client", "cursor") == 0, "the entry has it"
    assert call(artifact, "install", "--client", "vscode", "--client", "goose") == 0, "they ask for it themselves"
    code = read(home / ".config/Code/User/mcp.json")
    assert code["servers"]["my-weather"]["env"] == {"API_KEY": "${input:my-weather-api-key}"}
    assert code["inputs"][0]["description"] == "Key of the API"
    assert call(artifact, "uninstall", "--client", "vscode") == 0
    assert not (home / ".config/Code/User/mcp.json").exists()


def test_a_secret_is_asked_for_on_a_terminal_and_not_printed(
    home: Path, artifact: Artifact, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(request, "getpass", lambda prompt: "t0ps3cret" if "API_KEY" in prompt else "")
    assert call(artifact._replace(settings=(KEY,)), "install", "--client", "cursor") == 0
    assert read(home / ".cursor/mcp.json")["mcpServers"]["my-weather"]["env"] == {"API_KEY": "t0ps3cret"}
    said = capsys.readouterr()
    assert "t0ps3cret" not in said.out + said.err


def test_the_clients_and_what_they_lack_are_listed(home: Path, artifact: Artifact, capsys: Capture) -> None:
    assert (
        call(artifact, "install", "--client", "cursor", "--client", "goose", "--client", "codex", "--env", "K=s3") == 0
    )
    os.unlink(artifact.path)
    write_files(home, {".vscode/mcp.json": "[]", ".mcp.json": '{"mcpServers": {"r": {"url": "https://x/mcp?key=s3"}}}'})
    capsys.readouterr()
    assert call(None, "clients", "--json") == 0
    printed = capsys.readouterr().out
    assert "s3" not in printed
    rows = {(row["client"], row["scope"]): row for row in json.loads(printed)}
    for label in ("cursor", "goose", "codex"):
        assert rows[label, "user"]["servers"][0]["missing"] in (artifact.path, "/usr/bin/python3")
    assert rows["vscode", "project"]["problem"]
    assert rows["claude-code", "project"]["servers"][0]["url"] == "https://x/mcp"
    assert call(None, "clients") == 0
    assert "missing: " in capsys.readouterr().out


def test_a_client_with_its_own_command_is_changed_by_it(
    home: Path, artifact: Artifact, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (home / ".claude.json").write_text("{}")
    monkeypatch.setitem(os.environ, "PATH", str(home))
    environment = {os.fsencode(name): os.fsencode(value) for name, value in os.environ.items()}
    monkeypatch.setattr("mcpc_runtime.clients.installing.system.environ", environment)
    assert call(artifact, "install", "--client", "claude-code") == 8
    assert "claude mcp add-json my-weather" in capsys.readouterr().out
    program = home / "claude"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{home}/called"\nexit ${{FAILS:-0}}\n')
    program.chmod(0o755)
    assert call(artifact, "install", "--client", "claude-code") == 0
    *words, scope, user = (home / "called").read_text().splitlines()
    assert words[:3] == ["mcp", "add-json", "my-weather"] and (scope, user) == ("--scope", "user")
    entry = json.loads(words[3])
    assert entry == {"type": "stdio", "command": "/usr/bin/python3", "args": [artifact.path]}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"my-weather": entry}}))
    (home / "called").unlink()
    assert call(artifact, "install", "--client", "claude-code") == 0
    assert not (home / "called").exists(), "it has the entry"
    assert call(artifact, "uninstall", "--client", "claude-code") == 0
    assert (home / "called").read_text().split() == ["mcp", "remove", "my-weather", "--scope", "user"]
    monkeypatch.setenv("FAILS", "3")
    assert call(artifact, "install", "--client", "claude-code", "--env", "A=b") == 6
    assert call(artifact, "install", "--client", "claude-code", "--scope", "project") == 0
    assert read(home / ".mcp.json")["mcpServers"]["my-weather"] == entry


def test_links_have_the_entry_that_is_installed(home: Path, capsys: Capture) -> None:
    words = ("config", "--url", "https://mcp.example.com/mcp?a=1&b=ü", "--name", "w")
    expected = {"url": words[2]}
    assert call(None, *words, "--link", "cursor") == 0
    query = parse_qs(urlsplit(capsys.readouterr().out.strip()).query)
    assert query["name"] == ["w"] and json.loads(base64.b64decode(query["config"][0])) == expected
    assert call(None, *words, "--link", "kiro") == 0
    assert json.loads(parse_qs(urlsplit(capsys.readouterr().out.strip()).query)["config"][0]) == expected
    assert call(None, *words, "--token-env", "T", "--link", "vscode") == 0
    link = json.loads(unquote(capsys.readouterr().out.strip().removeprefix("vscode:mcp/install?")))
    assert link["name"] == "w" and link["headers"] == {"Authorization": "Bearer ${input:w-t}"}
    assert link["inputs"][0]["id"] == "w-t"
    assert call(None, "config", "--command", "uvx my-server --x", "--link", "goose") == 0
    assert capsys.readouterr().out.startswith("goose://extension?cmd=uvx&arg=my-server&arg=--x&id=")
    assert call(None, *words, "--badge", "vscode") == 0
    assert "](https://insiders.vscode.dev/redirect/mcp/install?name=w&config=%7B" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/home/u/.pyenv/shims/python3.11", "script"),
        ("/home/u/.cache/uv/archive-v0/x/bin/python", "cache"),
        ("/home/u/AppData/Local/Microsoft/WindowsApps/python.exe", "store"),
        ("/usr/bin/python3", ""),
        ("/home/u/.pyenv/versions/3.12.4/bin/python3.12", ""),
    ],
)
def test_pythons_that_may_be_gone_tomorrow_are_known(path: str, why: str) -> None:
    assert why in why_temporary(path)
    assert bool(why) == bool(why_temporary(path))


def test_a_virtual_environment_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "pyvenv.cfg").write_text("")
    python = tmp_path / "bin/python3.11"
    python.symlink_to(sys.executable)
    assert "virtual environment" in why_temporary(str(python))
    monkeypatch.setattr(interpreters, "installed_pythons", lambda minor: [str(python)])
    monkeypatch.setattr(sys, "_base_executable", str(python))
    with pytest.raises(CannotWriteEntryError, match="--python"):
        lasting_python(("3.11",))


def test_the_python_of_an_entry_runs_and_is_of_the_right_version() -> None:
    minor = "{}.{}".format(*sys.version_info[:2])
    found = lasting_python((minor,))
    assert os.path.isabs(found) and not why_temporary(found)
    assert interpreters.version_of(found) == minor


def test_a_program_is_its_own_command(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "server"
    path.write_bytes(b"\x7fELF")
    assert call(artifact_of(str(path), {"name": "p"}), "install", "--client", "cursor") == 0
    assert read(home / ".cursor/mcp.json")["mcpServers"]["p"] == {"command": str(path), "args": []}


def test_names_of_tools_that_become_too_long_are_reported(home: Path, artifact: Artifact, capsys: Capture) -> None:
    assert call(artifact._replace(tools=("t" * 60,)), "install", "--client", "cursor") == 0
    assert "shorter --name" in capsys.readouterr().out
