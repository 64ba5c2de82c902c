"""The clients: where each has its configuration, and what an entry looks like there.

Everything that differs between clients is in this table; the rest of the package does not name a client.  A path begins
with a root of ROOTS, with `~`, or with a variable (`$NAME`): such a path counts only where the variable is set, and is
then the one that the client uses.  Grade A is the client's own source or documentation, or several tools that agree;
B is one maintained tool or page; entries for clients of grade C are printed and not written.

Which file of a client is meant: by system, scope, variables and what exists.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

Shape = dict[str, object]
"""An entry with placeholders as values; one that ends in `?` is left out where its value is empty."""


NAME, COMMAND, ARGS, PROGRAM, URL = "$name", "$command", "$args", "$program", "$url"
ENV, PASSED, HEADERS, TOKEN, HEADER_NAMES = "$env?", "$passed?", "$headers?", "$token?", "$header_names?"
"""PROGRAM is the command and its arguments as one array; PASSED are names of variables that the client passes on; TOKEN
and HEADER_NAMES are names of variables with the values of headers."""
EMPTY_ENV, EMPTY_PASSED = "$env", "$passed"

PLAIN: Shape = {"command": COMMAND, "args": ARGS, "env": ENV}
TYPED: Shape = {"type": "stdio", **PLAIN}
REMOTE: Shape = {"url": URL, "headers": HEADERS}
TYPED_REMOTE: Shape = {"type": "http", **REMOTE}
OPENCODE: Shape = {"type": "local", "command": PROGRAM, "environment": ENV, "enabled": True}
OPENCODE_REMOTE: Shape = {"type": "remote", **REMOTE, "enabled": True}

ROOTS = {
    "{app}": ("$XDG_CONFIG_HOME", "~/.config", "~/Library/Application Support", "%APPDATA%"),
    "{xdg}": ("$XDG_CONFIG_HOME", "~/.config", "~/.config", "%APPDATA%"),
    "{data}": ("$XDG_DATA_HOME", "~/.local/share", "~/Library/Application Support", "%LOCALAPPDATA%"),
    "{dot}": ("", "~/.config", "~/.config", "%APPDATA%"),
    "{fixed}": ("", "~/.config", "~/Library/Application Support", "%APPDATA%"),
    "{goose}": ("$XDG_CONFIG_HOME/goose", "~/.config/goose", "~/.config/goose", "%APPDATA%/Block/goose/config"),
    "{crush}": ("$XDG_CONFIG_HOME", "~/.config", "~/.config", "~/.config"),
    # Windows gives a program that is installed as an MSIX package this folder in place of %APPDATA%.
    "{msix}": ("", "", "", "%LOCALAPPDATA%/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming"),
}
"""Folders by system: Linux with this variable set, Linux, macOS, Windows; an empty one does not exist there."""


class Client(NamedTuple):
    """One client.  The first path that exists is used, else the first whose folder exists, else the last."""

    title: str
    grade: str
    user: tuple[str, ...]
    project: tuple[str, ...] = ()
    format: str = "json"
    keys: tuple[tuple[str, ...], ...] = (("mcpServers",),)
    """Where the entries are; if several, the first that the file has, else the first."""
    stdio: Shape = PLAIN
    http: Shape | None = REMOTE
    reference: str = ""
    """How a value stands for a variable of the client's environment: `{}` is its name; empty if there is no way."""
    is_list: bool = False
    """The entries are a list of objects with names."""
    project_as: str = ""
    """The client whose format the project's file has."""
    inputs: str = ""
    """The key of the list of values that the client asks its user for."""
    program: str = ""
    """The client's own program, which alone writes its file of the user."""
    keeps_secrets: bool = False
    """What it passes on are secrets, which it asks for and keeps."""
    refuses_spaces: bool = False
    """It starts no command with a space in its path."""
    refusal: str = ""
    """Why no entry is written."""
    note: str = ""
    """What a user should do after a change."""
    condition: str = ""
    """On what it depends whether it starts its servers, and what a user should do about that."""


RESTART = "quit and start it again"
TRUSTED_FOLDERS = "it starts no server in a folder that you do not trust: trust it when asked, or by `/permissions`"
DISCONTINUED = "it was discontinued in May 2026"
UNCONFIRMED = "the path of its file is not confirmed"
CLIENTS: dict[str, Client] = {
    "claude-desktop": Client(
        "Claude Desktop",
        "A",
        ("{msix}/Claude/claude_desktop_config.json", "{fixed}/Claude/claude_desktop_config.json"),
        http=None,
        note=RESTART,
    ),
    "claude-code": Client(
        "Claude Code",
        "A",
        ("$CLAUDE_CONFIG_DIR/.claude.json", "~/.claude.json"),
        (".mcp.json",),
        stdio=TYPED,
        http=TYPED_REMOTE,
        reference="${{{}}}",
        program="claude",
    ),
    "vscode": Client(
        "VS Code",
        "A",
        ("{app}/Code/User/mcp.json",),
        (".vscode/mcp.json",),
        keys=(("servers",),),
        stdio=TYPED,
        http=TYPED_REMOTE,
        reference="${{env:{}}}",
        inputs="inputs",
    ),
    "vscode-insiders": Client(
        "VS Code Insiders",
        "A",
        ("{app}/Code - Insiders/User/mcp.json",),
        (".vscode/mcp.json",),
        keys=(("servers",),),
        stdio=TYPED,
        http=TYPED_REMOTE,
        reference="${{env:{}}}",
        inputs="inputs",
    ),
    "cursor": Client("Cursor", "A", ("~/.cursor/mcp.json",), (".cursor/mcp.json",), reference="${{env:{}}}"),
    "devin-desktop": Client(
        "Devin Desktop",
        "B",
        ("{dot}/devin/mcp_config.json",),
        (".devin/mcp_config.json",),
        http={"url": URL, "transport": "http", "headers": HEADERS},
    ),
    "windsurf": Client(
        "Windsurf",
        "A",
        ("~/.codeium/windsurf/mcp_config.json",),
        http={"serverUrl": URL, "headers": HEADERS},
        reference="${{env:{}}}",
    ),
    "zed": Client(
        "Zed",
        "A",
        ("$FLATPAK_XDG_CONFIG_HOME/zed/settings.json", "{xdg}/zed/settings.json"),
        (".zed/settings.json",),
        keys=(("context_servers",),),
        stdio={"source": "custom", "enabled": True, **PLAIN},
        http={"source": "custom", **REMOTE},
    ),
    "codex": Client(
        "Codex",
        "A",
        ("$CODEX_HOME/config.toml", "~/.codex/config.toml"),
        (".codex/config.toml",),
        format="toml",
        keys=(("mcp_servers",),),
        stdio={**PLAIN, "env_vars": PASSED},
        http={"url": URL, "bearer_token_env_var": TOKEN, "http_headers": HEADERS, "env_http_headers": HEADER_NAMES},
    ),
    "gemini-cli": Client(
        "Gemini CLI",
        "A",
        ("~/.gemini/settings.json",),
        (".gemini/settings.json",),
        http={"httpUrl": URL, "headers": HEADERS},
        reference="${}",
        condition=TRUSTED_FOLDERS,
    ),
    "antigravity": Client(
        "Antigravity",
        "B",
        ("~/.gemini/config/mcp_config.json",),
        http={"serverUrl": URL, "headers": HEADERS},
    ),
    "goose": Client(
        "Goose",
        "A",
        ("{goose}/config.yaml",),
        format="yaml",
        keys=(("extensions",),),
        stdio={
            "type": "stdio",
            "name": NAME,
            "description": "",
            "enabled": True,
            "cmd": COMMAND,
            "args": ARGS,
            "envs": EMPTY_ENV,
            "env_keys": EMPTY_PASSED,
            "timeout": 300,
            "bundled": None,
        },
        http={
            "type": "streamable_http",
            "name": NAME,
            "description": "",
            "enabled": True,
            "uri": URL,
            "headers": HEADERS,
            "timeout": 300,
        },
        keeps_secrets=True,
    ),
    "copilot-cli": Client(
        "GitHub Copilot CLI",
        "A",
        ("$COPILOT_HOME/mcp-config.json", "~/.copilot/mcp-config.json"),
        (".mcp.json", ".github/mcp.json", ".mcp.json"),
        stdio={**TYPED, "tools": ["*"]},
        http={**TYPED_REMOTE, "tools": ["*"]},
        project_as="claude-code",
    ),
    "cline": Client(
        "Cline",
        "A",
        (
            "$CLINE_MCP_SETTINGS_PATH",
            "$CLINE_DATA_DIR/settings/cline_mcp_settings.json",
            "$CLINE_DIR/data/settings/cline_mcp_settings.json",
            "~/.cline/data/settings/cline_mcp_settings.json",
        ),
        stdio={**TYPED, "disabled": False, "autoApprove": [], "timeout": 60},
        http={"type": "streamableHttp", **REMOTE, "disabled": False},
    ),
    "roo-code": Client(
        "Roo Code",
        "A",
        ("{app}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",),
        (".roo/mcp.json",),
        http={"type": "streamable-http", "url": URL},
        refusal=f"{DISCONTINUED}; use Cline or Kilo Code",
    ),
    "kilo-code": Client(
        "Kilo Code",
        "B",
        ("~/.config/kilo/kilo.json",),
        (".kilo/kilo.jsonc", ".kilo/kilo.json", "kilo.jsonc", "kilo.json", ".kilo/kilo.json"),
        keys=(("mcp",),),
        stdio=OPENCODE,
        http=OPENCODE_REMOTE,
    ),
    "continue": Client(
        "Continue",
        "B",
        ("~/.continue/config.yaml",),
        (".continue/mcpServers/mcp.json",),
        format="yaml",
        stdio={"name": NAME, **TYPED},
        http={"name": NAME, "type": "streamable-http", "url": URL},
        is_list=True,
        project_as="cursor",
    ),
    "lm-studio": Client("LM Studio", "A", ("~/.lmstudio/mcp.json",)),
    "kiro": Client(
        "Kiro",
        "A",
        ("~/.kiro/settings/mcp.json",),
        (".kiro/settings/mcp.json",),
        stdio={**PLAIN, "disabled": False, "autoApprove": []},
        reference="${{{}}}",
    ),
    "junie": Client(
        "JetBrains Junie",
        "C",
        ("~/.junie/mcp/mcp.json",),
        (".junie/mcp/mcp.json",),
        http=None,
        refusal=UNCONFIRMED,
    ),
    "jetbrains-air": Client("JetBrains Air", "B", (), (".air/mcp.json", ".mcp.json", ".air/mcp.json"), http=None),
    "opencode": Client(
        "opencode",
        "A",
        ("~/.config/opencode/opencode.jsonc", "~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc"),
        (
            "opencode.jsonc",
            "opencode.json",
            ".opencode/opencode.jsonc",
            ".opencode/opencode.json",
            "opencode.jsonc",
        ),
        keys=(("mcp",),),
        stdio=OPENCODE,
        http=OPENCODE_REMOTE,
        reference="{{env:{}}}",
    ),
    "warp": Client(
        "Warp",
        "B",
        ("~/.warp/.mcp.json",),
        (".warp/.mcp.json",),
        keys=(("mcpServers",), ("mcp_servers",), ("servers",), ("mcp", "servers")),
    ),
    "amp": Client("Amp", "B", ("{dot}/amp/settings.json",), (".amp/settings.json",), keys=(("amp.mcpServers",),)),
    "crush": Client(
        "Crush",
        "A",
        ("$CRUSH_GLOBAL_CONFIG/crush.json", "{crush}/crush/crush.json"),
        (".crush.json", "crush.json", ".crush.json"),
        keys=(("mcp",),),
        stdio=TYPED,
        http=TYPED_REMOTE,
        reference="${}",
    ),
    "trae": Client(
        "Trae", "B", ("{app}/Trae/User/mcp.json",), (".trae/mcp.json",), http={"url": URL}, refuses_spaces=True
    ),
    "qwen-code": Client(
        "Qwen Code",
        "B",
        ("~/.qwen/settings.json",),
        (".qwen/settings.json",),
        http={"httpUrl": URL, "headers": HEADERS},
        reference="${}",
    ),
    "kimi-code": Client(
        "Kimi Code",
        "B",
        ("$KIMI_CODE_HOME/mcp.json", "~/.kimi-code/mcp.json"),
        (".kimi-code/mcp.json",),
        stdio={"transport": "stdio", **PLAIN},
        http={"transport": "http", "url": URL},
    ),
    "factory": Client(
        "Factory Droid",
        "B",
        ("~/.factory/mcp.json",),
        (".factory/mcp.json",),
        stdio=TYPED,
        http={"type": "http", "url": URL},
    ),
    "mistral-vibe": Client(
        "Mistral Vibe",
        "B",
        ("~/.vibe/config.toml",),
        format="toml",
        keys=(("mcp_servers",),),
        stdio={"name": NAME, "transport": "stdio", "command": COMMAND, "args": ARGS},
        http={"name": NAME, "transport": "streamable-http", "url": URL},
        is_list=True,
    ),
    "grok-build": Client(
        "Grok Build",
        "B",
        ("$GROK_HOME/config.toml", "~/.grok/config.toml"),
        (".grok/config.toml",),
        format="toml",
        keys=(("mcp_servers",),),
        http=REMOTE,
    ),
    "inspector": Client(
        "MCP Inspector",
        "A",
        ("$MCP_CATALOG_PATH", "~/.mcp-inspector/mcp.json"),
        stdio=TYPED,
        http={"type": "streamable-http", "url": URL},
    ),
}


USER, PROJECT = "user", "project"
SCOPES = (USER, PROJECT)
SYSTEMS = {"darwin": 2, "win32": 3}
"""The column of ROOTS; any other system has that of Linux."""
LINUX_WITH_VARIABLE, LINUX = 0, 1


def with_root(path: str, system: str, environment: Mapping[str, str]) -> str:
    """Return a path whose root is replaced by its folder; empty if there is none on this system."""
    root, slash, rest = path.partition("/")
    if root not in ROOTS:
        return path
    column = SYSTEMS.get(system, LINUX)
    # The first column begins with the name of the variable, behind a dollar sign.
    if column == LINUX and environment.get(ROOTS[root][LINUX_WITH_VARIABLE].partition("/")[0][1:]):
        column = LINUX_WITH_VARIABLE
    return f"{ROOTS[root][column]}{slash}{rest}" if ROOTS[root][column] else ""


def expanded(path: str, environment: Mapping[str, str], home: str) -> str:
    """Return a path without `~`, `$NAME` and `%NAME%` at its beginning; empty if the variable is not set."""
    root, slash, rest = path.partition("/")
    if root == "~":
        return f"{home}{slash}{rest}"
    if root[:1] in ("$", "%"):
        value = environment.get(root.strip("$%"), "")
        return f"{value}{slash}{rest}" if value else ""
    return path


def user_paths(client: Client, system: str, environment: Mapping[str, str], home: str) -> list[str]:
    """Return the files of a client that belong to the user; the one that a variable names is the only one."""
    paths: list[str] = []
    for path in client.user:
        name = with_root(path, system, environment)
        place = expanded(name, environment, home)
        if not place:
            continue
        # A variable that is set excludes all other places, as it does for the client.
        if path.startswith("$"):
            return [os.path.abspath(place)]
        paths.append(place)
    return [path.replace("/", os.sep) for path in paths]


def servers_folder() -> str:
    """Return the folder of the servers that this user has installed."""
    home = os.path.expanduser("~")
    place = expanded(with_root("{data}/mcp-servers", sys.platform, os.environ), os.environ, home)
    return os.path.abspath(place or os.path.join(home, "mcp-servers"))


def client_file(client: Client, scope: str, folder: str = "") -> str:
    """Return the file of a client, or an empty text; `folder`: the project's, for its scope."""
    if scope == PROJECT:
        return existing([os.path.join(folder, *path.split("/")) for path in client.project])
    return existing(user_paths(client, sys.platform, os.environ, os.path.expanduser("~")))


def existing(paths: list[str]) -> str:
    """Return the first path that exists, else the first whose folder exists, else the last."""
    for path in paths:
        if os.path.lexists(path):
            return path
    if len(paths) > 1 and paths[-1] in paths[:-1]:
        return paths[-1]  # a default that is not the first to look for
    return next((path for path in paths if os.path.isdir(os.path.dirname(path))), paths[-1] if paths else "")


def is_installed(client: Client) -> bool:
    """Tell whether a client is on this machine: its folder is there, or a file that is directly in the user's home."""
    path = client_file(client, USER)
    home = os.path.expanduser("~")
    # A folder that is the user's home says nothing about the client.
    return bool(path) and (
        os.path.lexists(path) or (os.path.dirname(path) != home and os.path.isdir(os.path.dirname(path)))
    )


def format_of(client: Client, scope: str) -> Client:
    """Return the client whose format a file has."""
    return CLIENTS[client.project_as] if scope == PROJECT and client.project_as else client
