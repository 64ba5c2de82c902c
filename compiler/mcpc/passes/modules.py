"""Check that every module that a Python handler imports will be available.

It must be in the standard library, in the project, or in a required package. Files that a handler's file imports must
be valid Python; other scripts are ignored.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.languages import LANGUAGES, imports
from mcpc.model.ir import PythonFunction
from mcpc.packages import missing_module_hint

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Server
    from mcpc.reading import Source

MODULES = (".py", ".so", ".pyd")
MCPC_MODULES = "mcpc"
"""Modules of mcpc that every server has."""


def check_modules(server: Server) -> Diagnostics:
    """Report imports that would fail at run time."""
    owned = _owned(server)
    carried = server.layer.modules if server.layer else frozenset()
    is_known = server.layer is None or server.layer.complete
    files = {file.source.path: file.source for file in server.files}
    handlers = [definition.handler for definition in server.definitions]
    bound = dict.fromkeys(handler.file for handler in handlers if isinstance(handler, PythonFunction))
    waiting = [files[path] for path in bound]
    seen = set(bound)
    problems: list[Diagnostic] = []
    while waiting:
        source = waiting.pop()
        if source.path not in bound:  # the handlers' own files are checked when they are bound
            problems += LANGUAGES["python"](source)[1] if source.path.endswith(".py") else ()
        for name, span in imports(source) if source.path.endswith(".py") else ():
            if name in owned:
                waiting += (found for found in owned[name] if found.path not in seen)
                seen.update(found.path for found in owned[name])
            elif is_known and name not in carried and name not in sys.stdlib_module_names and name != MCPC_MODULES:
                hint = missing_module_hint(name, (*owned, *sorted(carried), *sorted(sys.stdlib_module_names)))
                problems.append(diagnose("MCP209", span, f"the module `{name}` will not be available", "", hint))
    return tuple(problems)


def _owned(server: Server) -> dict[str, list[Source]]:
    """Return the project's own modules with their files; a package has all files below its folder."""
    owned: dict[str, list[Source]] = {}
    for file in server.files:
        if file.source.path.endswith(MODULES):
            owned.setdefault(file.source.path.partition("/")[0].partition(".")[0], []).append(file.source)
    return owned
