"""Agent Plugins 1.0.0: a folder with the server and its skills that many agents install, and forms of single clients.

    plugin.json  mcp.json  server.pyz  skills/NAME/SKILL.md

Both manifests are closed: they have the members of the specification only.  There is no portable way to ask for a
setting, so that settings come from the environment of the agent; secrets are never written.  A form of a single client
is a row of `FORMS`: its files, which name the same server and skills.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpc.release.carriers.built_server import EXECUTABLE, PLAIN, WINDOWS, CarrierFile, UnusableValueError, json_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.release.carriers.built_server import BuiltServer, DeclaredSetting

    Item = dict[str, Any]
    Form = Callable[[BuiltServer, str], Iterator[CarrierFile]]

SCHEMAS = "https://agent-plugins.org/schemas/1.0.0"
# Lower-case letters, digits, `.` and `-`, the latter two neither at an end nor doubled.
NAME = re.compile(r"(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
ROOT, DATA = "${PLUGIN_ROOT}", "${PLUGIN_DATA}"
CLAUDE_ROOT, GEMINI_ROOT = "${CLAUDE_PLUGIN_ROOT}", "${extensionPath}"
DEFAULT_COMMAND = "python3"


def plugin_files(server: BuiltServer, command: str = "", forms: Sequence[str] = ()) -> tuple[CarrierFile, ...]:
    """Return the files of a plugin; `command`: the program that starts the file, `forms`: names in `FORMS`."""
    if not NAME.fullmatch(server.slug):
        raise UnusableValueError(f"`{server.slug}` cannot be the name of a plugin")
    # Clients expand variables in a command, so that a `$` might become something else than what was asked for.
    if command.startswith("-") or not command.isprintable() or "$" in command or (command and not command.strip()):
        raise UnusableValueError(f"{command!r} cannot start a plugin; expected a program's name, as `python3`")
    environment = {"MCPC_RUNTIME_CACHE": f"{DATA}/native"}
    files = [
        json_file("plugin.json", {"$schema": f"{SCHEMAS}/plugin.schema.json", **description(server)}),
        json_file(
            "mcp.json",
            {
                "$schema": f"{SCHEMAS}/mcp.schema.json",
                "mcpServers": {server.slug: {"type": "stdio", **started(server, command, ROOT), "env": environment}},
            },
        ),
        CarrierFile(file_name(server), EXECUTABLE, server.data),
        *(CarrierFile(f"skills/{path}", PLAIN, data) for skill in server.skills for path, data in skill.files),
    ]
    for form in sorted({*forms}):
        files += FORMS[form](server, command)
    return tuple(sorted(files))


def file_name(server: BuiltServer) -> str:
    if server.target is None:
        return "server.pyz"
    return "server.exe" if server.target.system == WINDOWS else "server"


def started(server: BuiltServer, command: str, root: str) -> Item:
    """Return `command` and `args` of a server; a program is started by its path, which no client expands."""
    if server.target is not None and not command:
        return {"command": f"./{file_name(server)}" if root == ROOT else f"{root}/{file_name(server)}"}
    # With `-I` neither PYTHONPATH nor the folder in which the client runs decides what is imported.
    return {"command": command or DEFAULT_COMMAND, "args": ["-I", f"{root}/{file_name(server)}"]}


def description(server: BuiltServer) -> Item:
    """Return the members that describe a plugin; those without a value are left out."""
    author = next(iter(server.project.authors), None)
    members: Item = {
        "name": server.slug,
        "version": server.version,
        "description": server.summary,
        "author": author.as_json() if author is not None else None,
        "homepage": server.link("homepage"),
        "repository": server.link("repository"),
        "license": server.project.license,
        "keywords": [*server.project.keywords],
    }
    return {name: value for name, value in members.items() if value}


def claude(server: BuiltServer, command: str) -> Iterator[CarrierFile]:
    """Yield the manifest of Claude Code, and its list of servers."""
    yield json_file(".claude-plugin/plugin.json", description(server))
    yield json_file(".mcp.json", {"mcpServers": {server.slug: started(server, command, CLAUDE_ROOT)}})


def codex(server: BuiltServer, _: str) -> Iterator[CarrierFile]:
    """Yield the manifest of Codex, which reads the portable list of servers."""
    skills = {"skills": "./skills/"} if server.skills else {}
    yield json_file(".codex-plugin/plugin.json", {**description(server), **skills, "mcpServers": "./mcp.json"})


def open_plugins(server: BuiltServer, _: str) -> Iterator[CarrierFile]:
    yield json_file(".plugin/plugin.json", {**description(server), "mcpServers": "./mcp.json"})


def gemini(server: BuiltServer, command: str) -> Iterator[CarrierFile]:
    """Yield the manifest of a Gemini extension, which asks for settings and keeps secrets in a keychain."""
    asked = [gemini_setting(setting) for setting in server.settings]
    yield json_file(
        "gemini-extension.json",
        {
            "name": server.slug,
            "version": server.version,
            **({"description": server.summary} if server.summary else {}),
            "mcpServers": {server.slug: started(server, command, GEMINI_ROOT)},
            **({"settings": asked} if asked else {}),
        },
    )


def gemini_setting(setting: DeclaredSetting) -> Item:
    """Return a setting of an extension."""
    return {
        "name": setting.label,
        "description": setting.purpose,
        "envVar": setting.name,
        **({"sensitive": True} if setting.secret else {}),
    }


FORMS: dict[str, Form] = {"claude": claude, "codex": codex, "gemini": gemini, "open": open_plugins}
"""Clients with a form of plugins that is theirs."""
