"""The server script of a project, and the files that it reads.

A project contains the version of the file that it was written with, often changed.  Versions differ in how a function
is called and what becomes of its output; the runtime answers as the project's version would
(`mcpc_runtime.systems.bash_sdk.contract`).

Nothing is run: files are found by the end of the path that the script writes, after the last expansion in it
(`"$HERE/lib/common.sh"` is a file `lib/common.sh` in the script's folder, or in a folder above it, or anywhere).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.languages.bash.forkable import READS, without_comments
from mcpc.languages.bash.lexer import scan_library
from mcpc.reading import Source
from mcpc.reading.source import resolve_relative
from mcpc.reading.tree import template_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.reading import SourceTree


NAME = "mcpserver_core.sh"
"""The usual name of the file."""
MAIN = "run_mcp_server"
"""The function that a server script calls last."""
DEFINES_MAIN = re.compile(rf"^[ \t]*(?:function[ \t]+{MAIN}\b|{MAIN}[ \t]*\(\))", re.MULTILINE)
HOOK = b"\nif declare -F __mcpc_core >/dev/null; then __mcpc_core; fi\n"
"""Follows the file: the program that reads the script replaces the functions that would read standard input."""


@dataclass(frozen=True, slots=True)
class CoreVersion:
    """A version of the file.

    `marks`: all of these texts are in the file.  `style`: the name of the version in the runtime.
    """

    style: str
    marks: tuple[str, ...]


VERSIONS = (
    CoreVersion("merged", ('"Error executing $tool_name: $output"',)),
    CoreVersion("result", ("failed with exit status", "isError: true")),
    CoreVersion("one_line", ("Tool execution error", "tr '\\n' ' '")),
    CoreVersion("lines", ("Tool execution error",)),
)
"""The first one whose marks are in the file is its version."""
NEWEST = "result"
VALIDATES = "validate_tool_arguments"
"""The function of versions that validate arguments."""


def is_core(source: Source) -> bool:
    """Tell whether a file is the SDK's: it defines the main function."""
    return DEFINES_MAIN.search(source.text) is not None


def answer_style(core: Source) -> str:
    """Return the version of the SDK's file by its name in the runtime, an empty string for an unknown one."""
    return next((known.style for known in VERSIONS if all(mark in core.text for mark in known.marks)), "")


def validates(core: Source) -> bool:
    """Tell whether this version validates arguments before it calls a function."""
    return VALIDATES in core.text


def with_hook(source: Source) -> Source:
    """Return the file as it is packed: all lines keep their numbers."""
    return replace(source, data=source.data + HOOK)


ENDINGS = (".sh", ".bash")
SHEBANG = re.compile(rb"#![^\n]*\bbash\b")
# The name as a whole word: not that of a variable, not a part of a longer name, and not followed by `()`.
CALLS_MAIN = re.compile(rf"(?<![\w$-]){MAIN}\b(?![\w-]|[ \t]*\()")
MAX_DEPTH = 1
"""Folders above a server script that is found without being named."""
# A path at the end of what is written, perhaps before quotes, that does not begin within a word or a variable.
TAIL = re.compile(r"""(?<![\w$])[\w.@+,-]+(?:/[\w.@+,-]+)*(?=["']*[ \t]*\Z)""")
VARIABLE = re.compile(r"\$\w+")
FUNCTION_PREFIX = "tool_"


@dataclass(frozen=True, slots=True)
class ScriptFunction:
    """A function, and the place of its name."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class ServerScript:
    """A server script.

    `files`: it and the files that it reads, without the SDK's; `cores`: the SDK's; `others`: files that it may read,
    with paths that are only known when it runs.
    """

    source: Source
    files: tuple[Source, ...]
    cores: tuple[Source, ...]
    others: tuple[Source, ...]

    def functions(self) -> dict[str, ScriptFunction]:
        """Return the functions of tools by name."""
        functions: dict[str, ScriptFunction] = {}
        for source in (*self.files, *self.others):
            for word in scan_library(source.text).functions:
                if word.text.startswith(FUNCTION_PREFIX):
                    span = Span(source.path, word.start, word.end)
                    functions.setdefault(word.text, ScriptFunction(word.text, span))
        return functions

    @property
    def main_call(self) -> Span:
        """The place where the script calls the main function."""
        return main_call(self.source) or Span(self.source.path)


def is_shell(source: Source) -> bool:
    """Tell whether a file is one of Bash, by its name or its first line."""
    return source.path.endswith(ENDINGS) or SHEBANG.match(source.data) is not None


def main_call(source: Source) -> Span | None:
    """Return the place where a script calls the SDK's main function, None if it does not, or defines it itself."""
    if MAIN.encode() not in source.data or not is_shell(source) or is_core(source):
        return None
    begun = scan_library(source.text).begun
    calls = (match for match in CALLS_MAIN.finditer(source.text) if match.start() in begun)
    return next((Span(source.path, *match.span()) for match in calls), None)


def server_scripts(tree: SourceTree) -> list[Source]:
    """Return the scripts that start a server and read the SDK, those nearest to the project's folder only."""
    scripts = [source for source in tree.files.values() if source.path.count("/") <= MAX_DEPTH and _starts(source)]
    depth = min((source.path.count("/") for source in scripts), default=0)
    return [source for source in scripts if source.path.count("/") == depth]


def _starts(source: Source) -> bool:
    return NAME.encode() in source.data and main_call(source) is not None


def read_script(source: Source, tree: SourceTree) -> ServerScript:
    """Return a server script with all files that it reads."""
    files: dict[str, Source] = {source.path: source}
    is_open = False
    rest = [source]
    while rest:
        for tail in paths_read_by(rest.pop()):
            is_open |= not tail
            # The most probable file alone: a path means one.
            for read_file in find_by_tail(tail, source, tree)[:1] if tail else ():
                if read_file.path not in files and main_call(read_file) is None:
                    files[read_file.path] = read_file
                    rest += [] if is_core(read_file) else [read_file]
    others = (file for path, file in tree.files.items() if is_open and path not in files and _may_be_read(file))
    read = files.values()
    return ServerScript(
        source,
        tuple(file for file in read if not is_core(file)),
        tuple(file for file in read if is_core(file)),
        tuple(others),
    )


def _may_be_read(source: Source) -> bool:
    """Tell whether a script may read a file without naming it."""
    return "/" in source.path and is_shell(source) and not is_core(source) and main_call(source) is None


def paths_read_by(source: Source) -> Iterator[str]:
    """Yield the ends of the paths that a file reads, an empty one for a path that is only known when it runs."""
    for match in READS.finditer(without_comments(source.text, scan_library(source.text))):
        yield path_tail(match[1])


def path_tail(written: str) -> str:
    """Return the end of a written path after its last expansion, an empty string if it ends with one."""
    match = TAIL.search(VARIABLE.sub(_blank, written))
    return match[0] if match is not None else ""


def _blank(match: re.Match[str]) -> str:
    """Return the placeholder of a variable, in the same length, because its name must not be taken for a path."""
    return "$" * len(match[0])


def paths_in(written: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the paths in a text, without the variables that they begin with."""
    return list(pattern.finditer(VARIABLE.sub(_blank, written)))


def find_by_tail(tail: str, script: Source, tree: SourceTree) -> list[Source]:
    """Return the files that a path may mean, the most probable one first."""
    folder = script.path.rpartition("/")[0]
    places = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        places.append(folder)
    paths = dict.fromkeys(filter(None, (resolve_relative(place, tail) for place in places)))
    near = [tree.files[path] for path in paths if path in tree.files]
    named = tail.removeprefix("./").split("../")[-1]
    anywhere = (file for path, file in tree.files.items() if path.endswith(f"/{named}"))
    return list(dict.fromkeys([*near, *anywhere]))


HOME = ".mcpc/bash-sdk"
"""Project folders that begin with a dot are never read, so that this folder is free."""
NAMES = ("forkserver.bash", "launcher.bash")


def reading_programs() -> tuple[Source, ...]:
    """Return the programs, ordered by path."""
    folder = template_folder() / "bash_sdk"
    return tuple(Source(f"{HOME}/{name}", (folder / name).read_bytes()) for name in NAMES)
