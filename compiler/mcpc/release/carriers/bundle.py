"""MCP Bundles (`.mcpb`): a manifest and the built file, as an archive that desktop clients install with a double click.

    python (manifest 0.3)   `server.pyz`, started by the machine's `python3`; on Windows by `python`, or `server.exe`
    uv (manifest 0.4)       the same behind `src/server.py`, started by the client's own uv, which brings a Python
    binary (0.3 and 0.4)    self-contained files and programs for Windows, one a system: the machine needs nothing

Prompts are not listed: a manifest would need their texts, which only the server has.
"""

from __future__ import annotations

import base64
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.model.revisions import REVISIONS
from mcpc.release.carriers.built_server import (
    EXECUTABLE,
    LINUX,
    MACOS,
    PLAIN,
    WHERE,
    WINDOWS,
    CarrierFile,
    UnusableValueError,
    archive_bytes,
    json_file,
    program_target,
    required_author,
    required_description,
    text_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.release.carriers.built_server import BuiltServer, DeclaredSetting

    Item = dict[str, Any]

VERSIONS = ("0.3", "0.4")
SYSTEMS = (MACOS, LINUX, WINDOWS)
FILE, HERE = "server.pyz", "${__dirname}"
WINDOWS_REGISTRY = "com.microsoft.windows"
HANDSHAKE = next(revision.version for revision in reversed(REVISIONS) if not revision.stateless)
MANIFEST = "manifest.json"
TYPES = {"integer": "number", "number": "number", "boolean": "boolean", "file": "file", "directory": "directory"}
"""Types of settings that are not strings, as a bundle has them."""
PLATFORMS = {"win": WINDOWS, "macosx": MACOS, "linux": LINUX, "manylinux": LINUX, "musllinux": LINUX}
"""Systems of the tags of packages, by how the tag of a platform begins."""
EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
PNG, SIGNATURE = "data:image/png;base64,", b"\x89PNG\r\n\x1a\n"
UV_START = '''"""Start the server that this bundle contains."""

import runpy
import sys
from pathlib import Path

SERVER = str(Path(__file__).resolve().parents[1] / "server.pyz")
sys.argv[0] = SERVER
runpy.run_path(SERVER, run_name="__main__")
'''


@dataclass(frozen=True, slots=True)
class BundleForm:
    """What starts the server: files, the object `server` of the manifest, systems, and whether Python is needed."""

    files: tuple[CarrierFile, ...]
    server: Item
    systems: tuple[str, ...]
    needs_python: bool = True


def bundle_archive(server: BuiltServer, version: str = "0.3", programs: tuple[bytes, ...] = ()) -> bytes:
    """Return the bundle of a server; `programs`: further files of it, each for one system.

    Raises UnusableValueError if the manifest needs what the project does not have.
    """
    form = bundle_form(server, version, programs)
    icon = png_icon(server)
    icons = (CarrierFile("icon.png", PLAIN, icon),) if icon else ()
    manifest = json_file(MANIFEST, bundle_manifest(server, version, form))
    return archive_bytes((manifest, *form.files, *icons))


def bundle_form(server: BuiltServer, version: str, programs: tuple[bytes, ...]) -> BundleForm:
    """Return how the server of a bundle is started."""
    environment = {setting.name: f"${{user_config.{input_key(setting)}}}" for setting in server.settings}
    everything = (server.data, *programs) if server.target is not None else programs
    by_system = programs_by_system(everything)
    if version == "0.4" and not by_system:
        return uv_form(server, environment)
    only_windows = [*by_system] == [WINDOWS] and server.target is None
    return (
        python_form(server, environment, by_system)
        if not by_system or only_windows
        else binary_form(by_system, environment)
    )


def programs_by_system(programs: tuple[bytes, ...]) -> dict[str, bytes]:
    """Return programs by their system; raise UnusableValueError for a file of another kind, or two for one system."""
    found: dict[str, bytes] = {}
    for data in programs:
        target = program_target(data)
        if target is None:
            raise UnusableValueError("a program of a bundle must be a self-contained file or a program for Windows")
        if found.setdefault(target.system, data) is not data:
            raise UnusableValueError(f"a bundle has one program for {target.system}, found two: clients cannot choose")
    return {system: found[system] for system in SYSTEMS if system in found}


def python_form(server: BuiltServer, environment: Item, by_system: Mapping[str, bytes]) -> BundleForm:
    """Return the form in which the machine's Python starts the file, and on Windows a program if there is one."""
    # The installer of Python for Windows brings no `python3`.
    windows: Item = {"command": f"{HERE}/server.exe", "args": []} if WINDOWS in by_system else {"command": "python"}
    # Isolated, so that neither the working folder nor the user's variables change what is imported.
    config = {"command": "python3", "args": ["-I", f"{HERE}/{FILE}"], "env": environment}
    config["platform_overrides"] = {WINDOWS: windows}
    program = tuple(CarrierFile("server.exe", EXECUTABLE, data) for data in by_system.values())
    files = (CarrierFile(FILE, EXECUTABLE, server.data), *program)
    return BundleForm(files, {"type": "python", "entry_point": FILE, "mcp_config": config}, systems_of(server))


def uv_form(server: BuiltServer, environment: Item) -> BundleForm:
    """Return the form in which the client's uv starts the file, with a Python that it finds or fetches."""
    start = "src/server.py"
    project = (
        f'[project]\nname = {toml_text(server.slug)}\nversion = "0"\n'
        f"requires-python = {toml_text(python_requirement(server, ','))}\ndependencies = []\n"
    )
    config = {"command": "uv", "args": ["run", "--directory", HERE, start], "env": environment}
    files = (
        CarrierFile(FILE, EXECUTABLE, server.data),
        text_file(start, UV_START),
        text_file("pyproject.toml", project),
    )
    return BundleForm(files, {"type": "uv", "entry_point": start, "mcp_config": config}, systems_of(server))


def binary_form(by_system: Mapping[str, bytes], environment: Item) -> BundleForm:
    """Return the form of programs, which need nothing on the machine."""
    places = {system: f"{system}/server{'.exe' if system == WINDOWS else ''}" for system in by_system}
    commands = {system: {"command": f"{HERE}/{place}", "args": []} for system, place in places.items()}
    first, *others = commands
    config: Item = {**commands[first], "env": environment}
    if others:
        config["platform_overrides"] = {system: commands[system] for system in others}
    files = tuple(CarrierFile(places[system], EXECUTABLE, data) for system, data in by_system.items())
    targets = map(program_target, by_system.values())
    needs_python = any(target is not None and target.needs_python for target in targets)
    return BundleForm(
        files, {"type": "binary", "entry_point": places[first], "mcp_config": config}, (*by_system,), needs_python
    )


def systems_of(server: BuiltServer) -> tuple[str, ...]:
    """Return the systems that have the native packages of a server; all of them if it has none."""
    places = {tag.rpartition("-")[2] for tag in server.platforms}
    systems = {system for place in places for beginning, system in PLATFORMS.items() if place.startswith(beginning)}
    return tuple(system for system in SYSTEMS if not places or system in systems)


def python_requirement(server: BuiltServer, separator: str = " ") -> str:
    """Return the versions of Python that a server runs on, as a range."""
    oldest, end = server.python
    bounds = [f">={oldest[0]}.{oldest[1]}.0", *([f"<{end[0]}.{end[1]}.0"] if end else [])]
    return separator.join(bounds)


def bundle_manifest(server: BuiltServer, version: str, form: BundleForm) -> Item:
    """Return the manifest; members without a value are left out."""
    missing = [text for text in (required_author(server), required_description(server)) if text]
    if missing:
        raise UnusableValueError(f"a bundle needs {' and '.join(missing)} {WHERE}")
    compatibility: Item = {"platforms": [*form.systems]}
    if form.needs_python:
        compatibility["runtimes"] = {"python": python_requirement(server)}
    repository = server.link("repository")
    manifest: Item = {
        "manifest_version": version,
        "name": server.slug,
        "display_name": server.display if server.display != server.slug else "",
        "version": server.version,
        "description": server.summary,
        "author": author_of(server),
        "repository": {"type": "git", "url": repository} if repository else None,
        "homepage": server.link("homepage"),
        "documentation": server.link("documentation"),
        "support": server.link("issues"),
        "icon": "icon.png" if png_icon(server) else "",
        "server": form.server,
        "tools": [{key: tool[key] for key in ("name", "description") if tool.get(key)} for tool in server.tools],
        "prompts_generated": bool(server.prompts),
        "keywords": [*server.project.keywords],
        "license": server.project.license,
        "compatibility": compatibility,
        "user_config": {input_key(setting): user_input(setting) for setting in server.settings},
        "_meta": {WINDOWS_REGISTRY: {"static_responses": static_responses(server)}} if WINDOWS in form.systems else {},
    }
    return {name: value for name, value in manifest.items() if value}


def static_responses(server: BuiltServer) -> Item:
    """Return the results by which Windows registers a server without starting it: those of the newest handshake."""
    capabilities = {
        name: value for name, value in server.introduction.get("capabilities", {}).items() if name != "extensions"
    }
    initialized = {"protocolVersion": HANDSHAKE, **server.introduction, "capabilities": capabilities}
    return {"initialize": initialized, **({"tools/list": {"tools": [*server.tools]}} if server.tools else {})}


def author_of(server: BuiltServer) -> Item:
    """Return the first author that has a name."""
    author = next(author for author in server.project.authors if author.name)
    return {"name": author.name, **({"email": author.email} if EMAIL.fullmatch(author.email) else {})}


def input_key(setting: DeclaredSetting) -> str:
    return setting.name.lower()


def user_input(setting: DeclaredSetting) -> Item:
    """Return the input of a setting.

    Clients keep `${user_config.KEY}` as it is where an input has neither a value nor a default.  So one that may stay
    empty has an empty text as its default, which the server takes as not set, and is a text whatever its type is.
    """
    option: Item = {"type": TYPES.get(setting.type, "string"), "title": setting.label, "description": setting.purpose}
    if setting.required:
        option["required"] = True
    if setting.secret:
        option["sensitive"] = True
    if setting.default is not None:
        option["default"] = setting.default
    elif not setting.required:
        option["default"] = ""
        if option["type"] in ("number", "boolean"):
            option["type"] = "string"
            option["description"] += f" ({setting.type}, or nothing)"
    return option


def png_icon(server: BuiltServer) -> bytes:
    """Return the first icon that is a PNG and part of the server, or nothing: clients load no other."""
    return next(_png_icons(server), b"")


def _png_icons(server: BuiltServer) -> Iterator[bytes]:
    for icon in server.icons:
        source = str(icon.get("src", ""))
        if source.startswith(PNG):
            with suppress(ValueError):
                data = base64.b64decode(source.removeprefix(PNG), validate=True)
                yield from (data,) if data.startswith(SIGNATURE) else ()


def toml_text(text: str) -> str:
    """Return a string of TOML; `slug` and ranges have no character that needs an escape."""
    if not re.fullmatch(r"[A-Za-z0-9 .,<>=-]+", text):
        raise UnusableValueError(f"{text!r} cannot be used in `pyproject.toml`")
    return f'"{text}"'
