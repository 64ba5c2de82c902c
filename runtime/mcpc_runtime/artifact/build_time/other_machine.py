"""Another machine, as code of a project sees it while it runs during a build: what differs there is no constant.

Only functions that the project's own code calls answer otherwise: packages choose what they load by the real ones.
Variables that tell of a machine are set by what starts the process.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

HOST, USER, MACHINE, RELEASE = "another-host", "another-user", "another-machine", "0.0.1"
SYSTEM = "Linux" if platform.system() == "Darwin" else "Darwin"
FACTS = (SYSTEM, HOST, RELEASE, RELEASE, MACHINE)
ACCOUNT = (USER, "x", 54321, 54321, "", f"/home/{USER}", "/bin/another-shell")
ANSWERS: dict[str, tuple[str, object]] = {
    "os.cpu_count": ("", 97),
    "os.getlogin": ("", USER),
    "os.uname": ("uname_result", FACTS),
    "platform.machine": ("", MACHINE),
    "platform.node": ("", HOST),
    "platform.platform": ("", f"{SYSTEM}-{RELEASE}-{MACHINE}"),
    "platform.processor": ("", MACHINE),
    "platform.python_version": ("", "3.99.0"),
    "platform.release": ("", RELEASE),
    "platform.system": ("", SYSTEM),
    "platform.uname": ("uname_result", FACTS),
    "platform.version": ("", RELEASE),
    "pwd.getpwnam": ("struct_passwd", ACCOUNT),
    "pwd.getpwuid": ("struct_passwd", ACCOUNT),
    "locale.getdefaultlocale": ("", ("de_DE", "ISO8859-1")),
    "locale.getlocale": ("", ("de_DE", "ISO8859-1")),
    "locale.getpreferredencoding": ("", "ISO8859-1"),
    "socket.getfqdn": ("", HOST),
    "socket.gethostname": ("", HOST),
    "uuid.getnode": ("", 1),
}
"""What functions answer, and the class of their module that the answer is of."""


def pretend_another_machine(folder: str) -> None:
    """Let functions answer code in a folder as on another machine from now on; a system may lack some of them."""
    for place, (kind, answer) in ANSWERS.items():
        name, _, function = place.partition(".")
        with suppress(ModuleNotFoundError, AttributeError):
            module: Any = import_module(name)
            value = of_class(getattr(module, kind), answer) if kind else answer
            setattr(module, function, answering(getattr(module, function), value, folder + os.sep))


def of_class(kind: Any, values: object) -> object:
    """Return values as an object of a class of tuples, whose constructor takes one tuple or each of them."""
    try:
        return kind(values)
    except TypeError:
        return kind(*values)  # type: ignore[misc]


def answering(function: Callable[..., Any], value: object, folder: str) -> Callable[..., Any]:
    """Return a function that returns a value to code in a folder, and answers all other code as before."""

    def answer(*words: Any, **named: Any) -> Any:
        is_of_project = sys._getframe(1).f_code.co_filename.startswith(folder)
        return value if is_of_project else function(*words, **named)

    return answer
