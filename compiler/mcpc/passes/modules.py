"""Ask whether every module that a Python handler imports will be there.

It is in the standard library, in the project, or in a package that the project asks for.

Files that a handler's own file leads to must be Python, too; a script that nothing leads to may be what it likes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcpc.dependencies.missing import advice
from mcpc.diagnostics import diagnose
from mcpc.ir import PythonFunction
from mcpc.languages import LANGUAGES, imports

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Server
    from mcpc.sources import Source

MODULES = (".py", ".so", ".pyd")
OURS = "mcpc"
"""Every server has what its files import of mcpc."""


def modules(server: Server) -> Diagnostics:
    """Report imports that would fail when the server runs."""
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
        if source.path not in bound:  # the handlers' own files were read when they were bound
            problems += broken(source)
        for name, span in imports(source) if source.path.endswith(".py") else ():
            if name in owned:
                waiting += (found for found in owned[name] if found.path not in seen)
                seen.update(found.path for found in owned[name])
            elif is_known and name not in carried and name not in sys.stdlib_module_names and name != OURS:
                hint = advice(name, (*owned, *sorted(carried), *sorted(sys.stdlib_module_names)))
                problems.append(diagnose("MCP209", span, f"the module `{name}` will not be there", "", hint))
    return tuple(problems)


def broken(source: Source) -> Diagnostics:
    """Return why a module of the project's cannot be imported."""
    return LANGUAGES["python"](source)[1] if source.path.endswith(".py") else ()


def _owned(server: Server) -> dict[str, list[Source]]:
    """Return the project's own modules: the files of each, a package's being all that lie in it."""
    owned: dict[str, list[Source]] = {}
    for file in server.files:
        if file.source.path.endswith(MODULES):
            owned.setdefault(file.source.path.partition("/")[0].partition(".")[0], []).append(file.source)
    return owned
