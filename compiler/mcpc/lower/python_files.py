"""Python handlers that find files of the project, or their own source: they are imported from a folder on disk.

All others are imported from the built file, which has nothing to unpack then.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.languages import loads
from mcpc.model.ir import PythonFunction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.model.ir import Handler, HandlerFile

FINDS_FILES = re.compile(
    rb"\b(?:MCPC_FILES|__file__|__path__|__spec__|pkg_resources|importlib[._](?:resources|metadata)|pkgutil)\b"
    rb"|\bfrom[ \t]+importlib[ \t]+import\b[^\n]*\b(?:resources|metadata)\b"
    rb"|\b(?:getsource\w*|getsourcefile|getfile|getabsfile|findsource|getcomments)\b"
)


def files_on_disk(files: Sequence[HandlerFile], handlers: Sequence[Handler]) -> tuple[str, ...]:
    """Return the Python files that handlers may import, if one of them finds files; else nothing."""
    bound = {handler.file for handler in handlers if isinstance(handler, PythonFunction)}
    owned: dict[str, list[HandlerFile]] = {}
    for file in files:
        if file.source.path.endswith(".py"):
            owned.setdefault(file.source.path.partition("/")[0].removesuffix(".py"), []).append(file)
    waiting = [file for file in files if file.source.path in bound]
    reached = {file.source.path: file.source for file in waiting}
    while waiting:
        for name in loads(waiting.pop().source) or ():
            found = [file for file in owned.pop(name, ()) if file.source.path not in reached]
            reached |= {file.source.path: file.source for file in found}
            waiting += found
    finds = any(FINDS_FILES.search(source.data) for source in reached.values())
    return tuple(sorted(reached)) if finds else ()
