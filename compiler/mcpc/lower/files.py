"""Which files go along with the handlers.

A library goes along if a handler is in it; Bash libraries go along together, because one shell reads them all, and a
function of one may use those of another.  A Python handler or a program may import any module of the project and read
any file beside it, and nobody can tell which: if there is one, everything that is not a definition goes along.  So it
does if a Bash library asks for its own place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.ir import Executable, Foreign, HandlerFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.definitions import Definition
    from mcpc.ir import Handler


def handler_files(definition: Definition, handlers: Sequence[Handler], unpack: bool) -> tuple[HandlerFile, ...]:
    """Return the files, in the order of their paths; `unpack`: a Bash library looks for files beside it."""
    programs = [handler for handler in handlers if isinstance(handler, (Executable, Foreign)) and wants_files(handler)]
    used = {handler.file for handler in handlers if not isinstance(handler, Executable)}
    languages = {library.language for library in definition.libraries if library.source.path in used}
    files = [
        HandlerFile(library.source, library.language)
        for library in definition.libraries
        if library.language in languages or programs
    ]
    if "python" in languages or programs or unpack:
        files += [HandlerFile(source, _language(source.path)) for source in definition.beside]
    return tuple(sorted(files, key=_path))


def wants_files(handler: Executable | Foreign) -> bool:
    """Tell whether a handler may read any file of the project."""
    return isinstance(handler, Executable) or handler.unpacks


def shell_libraries(definition: Definition) -> tuple[str, ...]:
    """Return the paths of the Bash libraries in the order in which a shell reads them."""
    return tuple(library.source.path for library in definition.libraries if library.language == "bash")


def _language(path: str) -> str:
    return "python" if path.endswith(".py") else ""


def _path(file: HandlerFile) -> str:
    return file.source.path
