"""The server script of a project, and the files that it reads.

Nothing is run: files are found by the end of the path that the script writes, after the last expansion in it
(`"$HERE/lib/common.sh"` is a file `lib/common.sh` in the script's folder, or in a folder above it, or anywhere).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.frontends.bash_sdk.core import MAIN, NAME, is_core
from mcpc.languages.bash.forkable import READS, without_comments
from mcpc.languages.bash.lexer import scan_library
from mcpc.reading.source import resolve_relative

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.reading import Source, SourceTree

ENDINGS = (".sh", ".bash")
SHEBANG = re.compile(rb"#![^\n]*\bbash\b")
CALLS_MAIN = re.compile(rf"(?<![\w$-]){MAIN}\b(?![\w-]|[ \t]*\()")
MAX_DEPTH = 1
"""Folders above a server script that is found without being named."""
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
        found: dict[str, ScriptFunction] = {}
        for source in (*self.files, *self.others):
            for word in scan_library(source.text).functions:
                if word.text.startswith(FUNCTION_PREFIX):
                    span = Span(source.path, word.start, word.end)
                    found.setdefault(word.text, ScriptFunction(word.text, span))
        return found

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
    found = [source for source in tree.files.values() if source.path.count("/") <= MAX_DEPTH and _starts(source)]
    depth = min((source.path.count("/") for source in found), default=0)
    return [source for source in found if source.path.count("/") == depth]


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
            for found in find_by_tail(tail, source, tree)[:1] if tail else ():
                if found.path not in files and main_call(found) is None:
                    files[found.path] = found
                    rest += [] if is_core(found) else [found]
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
