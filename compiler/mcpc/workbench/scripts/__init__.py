"""A folder of scripts as the tools of a server: what each takes is read from it, and written as commands to be edited.

What a script says without being run comes first: argparse and click, getopts, then texts of usage. Only a script that
says nothing so, but mentions its help, is run with `--help`, confined.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mcpc.languages.executable import binary_system, interpreter_of, not_runnable
from mcpc.model.definitions import HANDLER_KEY
from mcpc.pack.manifest import readable_json
from mcpc.reading import Source, SourceTree, is_executable
from mcpc.sandbox import confinement
from mcpc.sandbox.confinement import ConfinedProgram
from mcpc.workbench.scripts.python_options import read_python
from mcpc.workbench.scripts.usage import Option, Usage, read_getopts, read_usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.reading import Json

FOLDER = "bin"
HELP_SECONDS = 5
MAX_HELP = 1 << 16
"""Bytes of a help text that are read."""
HAS_HELP = re.compile(rb"help|usage|typer|docopt|optparse|commander|yargs", re.IGNORECASE)
READS_WORDS = re.compile(r"\$(?:[1-9@*]|\{[1-9@*])|\b(?:argv|ARGV|argparse|click|typer|getopts)\b")
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
ANYTHING = Option("args", "", "string", "Words of the command line.", repeated=True)


@dataclass(frozen=True, slots=True)
class ScriptTool:
    """A script as a tool: its definition, and from what its arguments were read, if they could be."""

    path: str
    definition: dict[str, Any]
    read_from: str = ""

    @property
    def arguments(self) -> list[str]:
        """The names of its arguments."""
        return [*self.definition["inputSchema"]["properties"]]


def script_project(tree: SourceTree, name: str, *, runs: bool) -> tuple[SourceTree, list[ScriptTool], list[str]]:
    """Return a project that has the files and a tool for each script, the tools, and files that cannot be run.

    `runs`: whether scripts may be run for their help.
    """
    files = {f"{FOLDER}/{path}": source for path, source in tree.files.items()}
    scripts = [path for path, source in files.items() if is_script(source)]
    tools = [read_script(path, files[path], tree, runs=runs) for path in scripts]
    names: dict[str, int] = {}
    for tool in tools:
        base = tool_name(tool.path)
        names[base] = names.get(base, 0) + 1
        tool.definition["name"] = base if names[base] == 1 else f"{base}_{names[base]}"
    unfit = [path for path, source in files.items() if path not in scripts and is_executable(source)]
    written = {
        "server.json": {"serverInfo": {"name": name, "version": "0.1.0"}},
        "tools.json": {"tools": [tool.definition for tool in tools]},
    }
    project = {path: Source(path, source.data, source.mode | 0o600) for path, source in files.items()}
    project |= {path: Source(path, readable_json(value), 0o644) for path, value in written.items()}
    return SourceTree(MappingProxyType(dict(sorted(project.items())))), tools, unfit


def is_script(source: Source) -> bool:
    """Tell whether the system can run a file of the folder, by its first line; a library of a shell cannot be run."""
    is_program = source.data.startswith(b"#!") and (is_executable(source) or not source.path.endswith(".py"))
    return not not_runnable(source) and (is_program or bool(binary_system(source)))


def tool_name(path: str) -> str:
    """Return the name of a script's tool."""
    plain = path.removeprefix(f"{FOLDER}/").rpartition(".")[0] or path.removeprefix(f"{FOLDER}/")
    return NOT_IN_NAMES.sub("_", plain).strip("_")[:64] or "script"


def read_script(path: str, source: Source, tree: SourceTree, *, runs: bool) -> ScriptTool:
    """Return the tool of a script."""
    for read_from, usage in usages(path, source, tree, runs=runs):
        # What a script prints without options may be any message, and no help.
        if usage is not None and (usage.options or read_from != "a help text"):
            return ScriptTool(path, definition_of(path, source, usage), read_from)
    reads_words = binary_system(source) or READS_WORDS.search(source.text)
    if reads_words:
        return ScriptTool(path, definition_of(path, source, Usage((ANYTHING,))))
    return ScriptTool(path, definition_of(path, source, Usage(())), "its code")


def usages(path: str, source: Source, tree: SourceTree, *, runs: bool) -> Iterator[tuple[str, Usage | None]]:
    """Yield what a script takes, by the source of that knowledge, the surest first."""
    if not binary_system(source):
        if interpreter_of(source).startswith("python") or path.endswith(".py"):
            yield "argparse or click", read_python(source.text)
        yield "getopts", read_getopts(source.text)
        text = "\n".join(line for line in source.text.splitlines() if "\x1b" not in line)
        yield "its usage", read_usage(text) if re.search(r"^\W*usage:", text, re.IGNORECASE | re.MULTILINE) else None
    if runs and HAS_HELP.search(source.data):
        yield "a help text", read_usage(printed_help(path, tree))


def printed_help(path: str, tree: SourceTree) -> str:
    """Return what a script prints when it is asked for help, confined."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        root = Path(folder).resolve()
        for name, source in tree.files.items():
            place = root / FOLDER / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(source.data)
            place.chmod(0o700)
        words = [str(root / path), "--help"]
        try:
            done = confinement.run_confined(ConfinedProgram(words, root, root / FOLDER, HELP_SECONDS, replies=1))
        except OSError:
            return ""
        finally:
            shutil.rmtree(root / FOLDER, ignore_errors=True)
    return (done.answer or done.output)[:MAX_HELP].decode("utf-8", "replace")


def definition_of(path: str, source: Source, usage: Usage) -> dict[str, Json]:
    """Return the definition of a script's tool."""
    properties: dict[str, Any] = {}
    for option in usage.options:
        properties[option.name] = option.schema()
    command: list[Json] = [path, *(option.command_item() for option in usage.options if option.flag)]
    operands: list[Json] = [option.command_item() for option in usage.options if not option.flag]
    # An operand that begins with a dash would be read as a flag.
    ends = ["--"] if operands and usage.ends_flags else []
    schema: dict[str, Json] = {"type": "object", "properties": properties, "additionalProperties": False}
    required: list[Json] = [option.name for option in usage.options if option.required]
    if required:
        schema["required"] = required
    return {
        "name": "",
        "description": usage.description or first_comment(source) or f"Runs {path}.",
        "inputSchema": schema,
        "_meta": {HANDLER_KEY: {"command": [*command, *ends, *operands], "output": "text"}},
    }


def first_comment(source: Source) -> str:
    """Return the comment at the beginning of a script, up to its first empty line."""
    if binary_system(source):
        return ""
    lines: list[str] = []
    # The first line names the interpreter.
    for line in source.text.splitlines()[1:]:
        text = line.removeprefix("#").strip()
        if not line.startswith("#") or not text:
            if lines or line.strip("# "):
                break
            continue
        lines.append(text)
    return " ".join(lines)[:1000]
