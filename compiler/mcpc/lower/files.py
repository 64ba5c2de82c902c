"""Which files go along with the handlers.

A library goes along if a handler is in it; Bash libraries go along together, because one shell reads them all, and a
function of one may use those of another.  A Python handler may import any module of the project and read any file
beside it, and nobody can tell which: if there is one, everything that is not a definition goes along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.ir import HandlerFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.definitions import Definition
    from mcpc.ir import Handler


def handler_files(definition: Definition, handlers: Sequence[Handler]) -> tuple[HandlerFile, ...]:
    """Return the files, in the order of their paths."""
    used = {handler.file for handler in handlers}
    languages = {library.language for library in definition.libraries if library.source.path in used}
    files = [
        HandlerFile(library.source, library.language)
        for library in definition.libraries
        if library.language in languages
    ]
    if "python" in languages:
        files += [HandlerFile(source, _language(source.path)) for source in definition.beside]
    return tuple(sorted(files, key=_path))


def shell_libraries(definition: Definition) -> tuple[str, ...]:
    """Return the paths of the Bash libraries in the order in which a shell reads them."""
    return tuple(library.source.path for library in definition.libraries if library.language == "bash")


def _language(path: str) -> str:
    return "python" if path.endswith(".py") else ""


def _path(file: HandlerFile) -> str:
    return file.source.path
