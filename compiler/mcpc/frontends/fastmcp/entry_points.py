"""Find the entry of a project's program: what is run to make and serve its server.

    [project.scripts]                       commands, `name = "package.module:function"`
    [tool.mcpc]
    entry = "server.py:mcp"                 as `--entry`
    build-environment = { API_KEY = "x" }   as `--build-env`
    lists = "static"                        lists are those of the build; "dynamic": made at run time
    framework = "original"                  as `--framework`

`fastmcp.json` names the file and the object of the server (`source`).

In this order: `--entry`, `[tool.mcpc] entry`, `fastmcp.json`; a command of `[project.scripts]` whose package uses the
framework (the one named like the project, else one with `mcp` in its name); a package with `__main__.py`; the file
that makes a server, or runs one that it imports.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.frontends.fastmcp.imports import imported_modules, is_beside, program_files, uses_framework
from mcpc.frontends.installed_metadata import scripts_of
from mcpc.options import WAYS
from mcpc.packages.pep508 import normalised_name
from mcpc.reading.toml import nested_table, toml_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Source, SourceTree

PYPROJECT, FASTMCP_JSON = "pyproject.toml", "fastmcp.json"
ENTRY, ENVIRONMENT, LISTS, FRAMEWORK = "entry", "build-environment", "lists", "framework"
LIST_CHOICES = ("static", "dynamic")
VERSION_LINE = re.compile(r"^__version__\s*(?::\s*\w+\s*)?=\s*[\"']([^\"']+)[\"']", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """The settings; empty where a project does not say them.

    `name` as written, `scripts` by name; `entry`, `environment`, `lists`, `framework`: of `[tool.mcpc]`; `source`: of
    `fastmcp.json`, as an entry.
    """

    name: str = ""
    version: str = ""
    description: str = ""
    scripts: Mapping[str, str] = field(default_factory=dict)
    entry: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    lists: str = ""
    framework: str = ""
    problems: tuple[Diagnostic, ...] = ()


def read_project_settings(tree: SourceTree) -> ProjectSettings:
    """Return the settings of a project; a file that is not valid is reported by what reads it otherwise."""
    table = toml_table(tree.get(PYPROJECT))
    project = nested_table(table, "project")
    poetry, own = nested_table(table, "tool", "poetry"), nested_table(table, "tool", "mcpc")
    name = _text(project, "name") or _text(poetry, "name")
    scripts = {**scripts_of(nested_table(poetry, "scripts")), **scripts_of(nested_table(project, "scripts"))}
    return ProjectSettings(
        name=name,
        version=_text(project, "version") or _text(poetry, "version") or (_dynamic_version(tree, name) if name else ""),
        description=_text(project, "description") or _text(poetry, "description"),
        scripts=scripts,
        entry=_text(own, ENTRY),
        environment=scripts_of(nested_table(own, ENVIRONMENT)),
        source=_source_of_json(tree),
        lists=_text(own, LISTS),
        framework=_text(own, FRAMEWORK),
        problems=tuple(_wrong_settings(own)),
    )


def _text(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    return value if isinstance(value, str) else ""


def _wrong_settings(own: Mapping[str, Any]) -> list[Diagnostic]:
    problems = []
    if not isinstance(own.get(ENTRY, ""), str):
        problems.append(diagnose("MCP282", Span(PYPROJECT), f"`{ENTRY}` is not a text", 'a text such as `"server.py"`'))
    if own.get(LISTS, "static") not in LIST_CHOICES:
        expected = '`"static"` or `"dynamic"`'
        problems.append(diagnose("MCP282", Span(PYPROJECT), f"`{LISTS}` is not a way to make lists", expected))
    if own.get(FRAMEWORK, "auto") not in WAYS:
        expected = ", ".join(f'`"{way}"`' for way in WAYS)
        problems.append(diagnose("MCP282", Span(PYPROJECT), f"`{FRAMEWORK}` does not say what handles calls", expected))
    variables = own.get(ENVIRONMENT, {})
    if not isinstance(variables, dict) or any(not isinstance(value, str) for value in variables.values()):
        message = f"`{ENVIRONMENT}` is not a table of texts"
        problems.append(diagnose("MCP282", Span(PYPROJECT), message, 'a table such as `{ API_KEY = "x" }`'))
    return problems


def _dynamic_version(tree: SourceTree, name: str) -> str:
    """Return the version that a file of the project's package states, as build systems read it."""
    package = normalised_name(name).replace("-", "_")
    for path, source in tree.files.items():
        parts = path.split("/")
        if parts[-1] in ("__init__.py", "_version.py", "version.py", "__about__.py") and package in parts:
            line = VERSION_LINE.search(source.text)
            if line:
                return line[1]
    return ""


def _source_of_json(tree: SourceTree) -> str:
    """Return the file and the object that `fastmcp.json` names, as an entry."""
    source = tree.get(FASTMCP_JSON)
    try:
        value = None if source is None else json.loads(source.text)
    except ValueError:
        return ""
    named = value.get("source", value.get("entrypoint")) if isinstance(value, dict) else None
    if isinstance(named, str):
        return named
    if not isinstance(named, dict):
        return ""
    path, name = _text(named, "path") or _text(named, "file"), _text(named, "entrypoint") or _text(named, "object")
    return f"{path}:{name}" if path and name and ":" not in path else path


# A call of what makes a server, perhaps with a type in brackets, or of one of its class methods.
MAKES_SERVER = re.compile(
    rb"\b(?:FastMCP|FastMCPOpenAPI|FastMCPProxy|MCPServer|Server|LowLevelServer|MCPServerLowLevel|create_proxy)"
    rb"[ \t]*(?:\[[^\]\n]*\])?(?:\.(?:as_proxy|from_client|from_fastapi|from_openapi))?\("
)
# A test of `__name__` at the top level, or a call of something that begins with `run`.
RUNS = re.compile(rb"^if[ \t]+__name__[ \t]*==|^[ \t]*(?:\w+\.)*run\w*\(", re.MULTILINE)
FILE_NAMES = ("server.py", "main.py", "app.py", "run.py", "__main__.py", "mcp_server.py")
"""The usual names of files with a server, the most usual first."""
MAIN = "__main__.py"
MAX_SHOWN = 5
AN_ENTRY = (
    "`FILE`, `FILE:OBJECT`, `MODULE`, `MODULE:OBJECT` or a command of the project, and arguments of its command line"
)


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """How a program is started (`mcpc_runtime.systems.fastmcp.program`); `file`: where it begins, if that is known."""

    kind: str
    target: str
    arguments: tuple[str, ...] = ()
    paths: tuple[str, ...] = ("",)
    file: str = ""


def find_entry(tree: SourceTree, settings: ProjectSettings, named: str) -> tuple[EntryPoint | None, list[Diagnostic]]:
    """Return the entry, or why there is none; `named`: the one that the options name."""
    # The first that says something decides, also if it is wrong.
    for words in filter(None, (named, settings.entry, settings.source)):
        return _named_entry(words, tree, settings)
    entry = _script(tree, settings) or _main_package(tree, settings)
    return (entry, []) if entry is not None else _best_file(tree, settings)


def _named_entry(words: str, tree: SourceTree, settings: ProjectSettings) -> tuple[EntryPoint | None, list[Diagnostic]]:
    try:
        target, *arguments = shlex.split(words)
    except ValueError:
        target, arguments = words, []
    place, _, name = target.partition(":")
    place = place.removeprefix("./")
    if place.endswith(".py"):
        if tree.get(place) is None:
            files = [path for path in tree.files if path.endswith(".py")]
            message = f"`{place}` is not a file of the project"
            return None, [diagnose("MCP282", None, message, AN_ENTRY, did_you_mean(place, files))]
        return _entry_of_file(tree.files[place], name, tuple(arguments), tree), []
    top = place.partition(".")[0]
    folder = folder_of_module(top, tree)
    command = _entry_of_command(target, settings, tree) if folder is None else None
    if command is not None:
        return replace(command, arguments=tuple(arguments)), []
    if folder is None:
        message = f"the module `{top}` of the entry `{target}` is not in the project"
        return None, [diagnose("MCP282", None, message, AN_ENTRY, did_you_mean(top, sorted(_top_modules(tree))))]
    kind = "object" if name else "module"
    target = f"{place}:{name}" if name else place
    return EntryPoint(kind, target, tuple(arguments), _paths(folder), module_file(place, folder, tree)), []


def _entry_of_file(source: Source, name: str, arguments: tuple[str, ...], tree: SourceTree) -> EntryPoint:
    """Return the entry that a file is; one with relative imports is started as a module of its package."""
    folder = source.path.rpartition("/")[0]
    if any(module.startswith(".") for module in imported_modules(source)):
        top = folder
        while top and tree.get(f"{top}/__init__.py") is not None:
            top = top.rpartition("/")[0]
        module = source.path.removeprefix(f"{top}/" if top else "").removesuffix(".py").replace("/", ".")
        module = module.removesuffix(".__init__").removesuffix(".__main__")
        target = f"{module}:{name}" if name else module
        return EntryPoint("object" if name else "module", target, arguments, _paths(top), source.path)
    paths = tuple(dict.fromkeys((folder, *_source_folders(tree), "")))
    target = f"{source.path}:{name}" if name else source.path
    return EntryPoint("object" if name else "file", target, arguments, paths, source.path)


def _source_folders(tree: SourceTree) -> tuple[str, ...]:
    return ("src",) if any(path.startswith("src/") for path in tree.files) else ()


def _paths(folder: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((folder, "")))


def folder_of_module(top: str, tree: SourceTree) -> str | None:
    """Return the folder from which a top-level module is imported; None if the project does not have it."""
    ends = (f"{top}.py", f"{top}/__init__.py")
    paths = [path for path in tree.files if path.endswith(ends) and path.partition(top)[0][-1:] in ("", "/")]
    folders = {path[: -len(end)].rstrip("/") for path in paths for end in ends if path.endswith(end)}
    folders |= {path.partition(f"{top}/")[0].rstrip("/") for path in tree.files if _is_below(path, top)}
    # A folder that is a package itself is not on the search path.
    usable = [folder for folder in folders if tree.get(f"{folder}/__init__.py" if folder else "__init__.py") is None]
    return min(
        usable, key=lambda folder: (is_beside(f"{folder}/x"), folder.count("/"), folder != "", folder), default=None
    )


def _is_below(path: str, top: str) -> bool:
    """Tell whether a Python file is in a folder of this name that is at the top, or in `src`."""
    return path.endswith(".py") and path.startswith((f"{top}/", f"src/{top}/"))


def module_file(module: str, folder: str, tree: SourceTree) -> str:
    """Return the path of a module's file, an empty string if the project does not have it."""
    base = "/".join(filter(None, (folder, *module.split("."))))
    return next((path for path in (f"{base}.py", f"{base}/__init__.py") if tree.get(path) is not None), "")


def _top_modules(tree: SourceTree) -> Iterator[str]:
    for path in tree.files:
        if path.endswith(".py"):
            yield path.removeprefix("src/").partition("/")[0].removesuffix(".py")


def _script(tree: SourceTree, settings: ProjectSettings) -> EntryPoint | None:
    """Return the project's command that starts its server, if one does."""
    scripts = []
    for name, reference in settings.scripts.items():
        top = reference.partition(":")[0].partition(".")[0]
        entry = _entry_of_command(name, settings, tree)
        if entry is not None and _uses_framework(top, entry.paths[0], tree):
            scripts.append((_rank(name, settings), name, entry))
    return min(scripts, key=lambda row: row[:2])[2] if scripts else None


def _entry_of_command(name: str, settings: ProjectSettings, tree: SourceTree) -> EntryPoint | None:
    """Return the entry that a command of the project is, if its function is in the project."""
    module, _, function = settings.scripts.get(name, "").partition(":")
    folder = folder_of_module(module.partition(".")[0], tree) if function else None
    file = "" if folder is None else module_file(module, folder, tree)
    if folder is None or not file:
        return None
    return EntryPoint("script", f"{module}:{function.partition('[')[0].strip()}", (), _paths(folder), file)


def _rank(name: str, settings: ProjectSettings) -> tuple[int, int]:
    """Return how likely a command starts the server, the most likely first; of equal ones the shortest name."""
    if normalised_name(name) == normalised_name(settings.name or "-"):
        return 0, 0
    return next((place for place, word in enumerate(("mcp", "server"), 1) if word in name.lower()), 3), len(name)


def _uses_framework(top: str, folder: str, tree: SourceTree) -> bool:
    """Tell whether a top-level module of the project, or a file of it, uses the framework."""
    base = f"{folder}/{top}" if folder else top
    files = (source for path, source in tree.files.items() if path == f"{base}.py" or path.startswith(f"{base}/"))
    return any(map(uses_framework, files))


def _main_package(tree: SourceTree, settings: ProjectSettings) -> EntryPoint | None:
    """Return the one package that `python -m` runs."""
    entries = []
    for path in tree.files:
        package = path.removesuffix(f"/{MAIN}")
        if package == path or is_beside(path) or tree.get(f"{package}/__init__.py") is None:
            continue
        folder, _, name = package.rpartition("/")
        if tree.get(f"{folder}/__init__.py" if folder else "__init__.py") is None and _uses_framework(
            name, folder, tree
        ):
            entries.append(EntryPoint("module", name, (), _paths(folder), path))
    own = [entry for entry in entries if normalised_name(entry.target) == normalised_name(settings.name or "-")]
    return own[0] if own else entries[0] if len(entries) == 1 else None


def _best_file(tree: SourceTree, settings: ProjectSettings) -> tuple[EntryPoint | None, list[Diagnostic]]:
    files = [source for path, source in tree.files.items() if path.endswith(".py")]
    makers = [source for source in program_files(tree) if MAKES_SERVER.search(source.data)]
    makers = makers or [source for source in files if uses_framework(source) and MAKES_SERVER.search(source.data)]
    modules = {source.path.removesuffix(".py").rpartition("/")[2] for source in makers}
    modules |= {source.path.rpartition("/")[0].rpartition("/")[2] for source in makers}
    starters = [
        source for source in files if source not in makers and _starts(source, modules) and not is_beside(source.path)
    ]
    ranked = sorted(
        ((_file_rank(source, settings, makes=source in makers), source) for source in (*makers, *starters)),
        key=lambda row: (row[0], row[1].path),
    )
    if not ranked:
        message = "no file of the project makes a server"
        hint = "name the file or the function that makes it: `--entry FILE:OBJECT`"
        return None, [diagnose("MCP282", _first_place(tree), message, AN_ENTRY, hint)]
    best = [source for rank, source in ranked if rank == ranked[0][0]]
    if len(best) > 1:
        return None, [_several(best)]
    return _entry_of_file(best[0], "", (), tree), []


def _starts(source: Source, modules: set[str]) -> bool:
    """Tell whether a file runs a server of one of these modules of the project."""
    if source.path.endswith("__init__.py") or not RUNS.search(source.data):
        return False
    return any(not modules.isdisjoint(name.split(".")) for name in imported_modules(source))


def _file_rank(source: Source, settings: ProjectSettings, *, makes: bool) -> tuple[bool, int, int]:
    """Return how likely a file is the entry, the most likely first: it runs its server, is high up, is named so."""
    name = source.path.rpartition("/")[2]
    own = normalised_name(settings.name or "-").replace("-", "_") + ".py"
    names = FILE_NAMES if makes else ("main.py", "run.py", "__main__.py", "app.py", "server.py")
    # A file with the project's name comes after the usual names, and before all others.
    place = names.index(name) if name in names else len(names) - (name == own)
    return not RUNS.search(source.data), source.path.removeprefix("src/").count("/"), place


def _several(best: Sequence[Source]) -> Diagnostic:
    paths = [source.path for source in best]
    shown = quoted(paths[:MAX_SHOWN]) + (" …" if len(paths) > MAX_SHOWN else "")
    message = f"{len(paths)} files make a server: {shown}"
    return diagnose("MCP283", Span(paths[0]), message, "one of them", f"name it: `--entry {paths[0]}`")


def _first_place(tree: SourceTree) -> Span | None:
    return next((Span(source.path) for source in tree.files.values() if uses_framework(source)), None)
