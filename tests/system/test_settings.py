"""Settings of built files: handlers of every kind get them, and calls tell what is missing while the server lives on."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build, converse

SERVER = '''"""Weather."""

from pathlib import Path
from typing import Literal

from mcpc import Field, Secret, Server, Settings


class WeatherSettings(Settings, prefix="WEATHER_"):
    """What the person who installs the server sets."""

    api_key: Secret = Field(description="Key of the weather service")
    units: Literal["metric", "imperial"] = "metric"
    retries: int = Field(3, ge=0)
    cache: Path | None = None
    verbose: bool = False


server = Server("weather", version="1.0.0", settings=WeatherSettings)
settings = WeatherSettings()


@server.tool
def typed() -> str:
    """Tell the values."""
    return repr((settings, settings.api_key.get_secret_value(), f"{settings.api_key}"))


@server.tool(inline=True)
def inside() -> str:
    """Tell the values in the server's own process."""
    return repr((settings, settings.api_key.get_secret_value()))
'''
BASH = 'tool_shell() { echo "$WEATHER_API_KEY $WEATHER_UNITS ${HIDDEN:-}"; }\nexport -f tool_shell\n'
TOOLS = """{"tools": [
 {"name": "shell", "description": "D.", "inputSchema": {"type": "object"}, "_meta": {"mcpc/handler": {"environment": "minimal"}}},
 {"name": "program", "description": "D.", "inputSchema": {"type": "object"}, "_meta": {"mcpc/handler": {"command": "env.sh"}}}
]}"""
VALUES = "WeatherSettings(api_key=Secret('**********'), units='metric', retries=3, cache=None, verbose=False)"


@pytest.fixture(scope="module")
def weather(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("settings")
    project = folder / "weather"
    project.mkdir()
    (project / "server.py").write_text(SERVER)
    (project / "tools.json").write_text(TOOLS)
    (project / "tools.bash").write_text(BASH)
    (project / "env.sh").write_text('#!/bin/sh\necho "$WEATHER_API_KEY $WEATHER_UNITS $WEATHER_RETRIES"\n')
    (project / "env.sh").chmod(0o755)
    return build(project, folder / "weather.pyz")


def call(server: Path, names: list[str], **environ: str) -> tuple[dict[str, Any], str]:
    """Return the result of each tool, and standard error."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    lines = [
        {"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": {"name": name, "arguments": {}, "_meta": meta}}
        for name in names
    ]
    sent = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    done = converse([sys.executable, server], sent, env={**os.environ, **environ})
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    return {reply["id"]: reply["result"] for reply in replies}, done.stderr.decode()


def test_handlers_of_every_kind_get_the_values(weather: Path) -> None:
    found, errors = call(
        weather, ["typed", "inside", "shell", "program"], WEATHER_API_KEY="sk-1", WEATHER_RETRIES=" 3 ", HIDDEN="no"
    )
    texts = {name: result["content"][0]["text"] for name, result in found.items()}
    assert texts["typed"] == f"({VALUES}, 'sk-1', '**********')"
    assert texts["inside"] == f"({VALUES}, 'sk-1')"
    assert texts["shell"].split() == ["sk-1", "metric"]
    assert texts["program"].split() == ["sk-1", "metric", "3"]
    assert errors == ""


def test_calls_tell_what_is_missing_and_the_server_lives_on(weather: Path) -> None:
    found, errors = call(weather, ["typed", "inside", "shell"], WEATHER_UNITS="kelvin")
    for result in found.values():
        assert result["isError"]
        text = result["content"][0]["text"]
        assert "WEATHER_API_KEY is not set (Key of the weather service)" in text
        assert "WEATHER_UNITS has an unknown value; expected one of metric, imperial" in text
        assert "kelvin" not in text
    assert "WEATHER_API_KEY is not set" in errors


def test_what_is_missing_is_named_with_the_place_in_each_client_that_starts_the_server(
    weather: Path, tmp_path: Path
) -> None:
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "APPDATA": str(tmp_path), "XDG_CONFIG_HOME": ""}
    entry = {"command": "/usr/bin/python3", "args": [str(weather)]}
    files = {
        ".cursor/mcp.json": {"mcpServers": {"weather": entry, "other": {"command": "/bin/true"}}},
        ".config/opencode/opencode.json": {"mcp": {"rain": {"type": "local", "command": ["python3", str(weather)]}}},
        ".codeium/windsurf/mcp_config.json": {"mcpServers": {"other": {"command": "/bin/true"}}},
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/settings.json").write_text("{ broken")
    found, errors = call(weather, ["shell"], **home)
    text = found["shell"]["content"][0]["text"]
    for place in (
        f"Cursor starts this server: set it in `env` of `weather` in {tmp_path}/.cursor/mcp.json",
        f"set it in `environment` of `rain` in {tmp_path}/.config/opencode/opencode.json",
        "install --client cursor --name weather --env NAME=VALUE`",
    ):
        assert place in text and place in errors
    assert "Windsurf" not in text
    found, errors = call(weather, ["shell"], **{**home, "HOME": str(tmp_path / "nobody")})
    assert "`env` in most clients' configuration" in found["shell"]["content"][0]["text"]
    assert "`env` in most clients' configuration" in errors
