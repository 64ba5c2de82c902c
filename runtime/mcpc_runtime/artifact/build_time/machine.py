"""Another machine, as code of a project sees it while it runs during a build: what differs there is no constant.

Only functions that the project's own code calls answer otherwise: packages choose what they load by the real ones.
Variables that tell of a machine are set by what starts the process.

Noted are environment variables that code of the project looks up, and which it does not find (packages look for many
that are never set), and hosts that it tries to reach.
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


PASSED_BY = frozenset({os.__file__, "<frozen os>", "<frozen _collections_abc>", __file__})
"""Code between a program and the mapping of variables."""

_absent: dict[str, None] = {}
_own: set[str] = set()
_read: dict[str, Lookup] = {}


class Lookup:
    """How the project looks up a variable.  `needed`: as `os.environ["NAME"]`, which fails without it."""

    needed = False
    default: object = None


class WatchedVariables(type(os.environ)):  # type: ignore[misc]
    """The variables of the process; what the project looks up, does not find, and sets itself is recorded."""

    folder = ""

    def __getitem__(self, key: Any) -> Any:
        """Return a variable's value; record its name, and whether it has one."""
        try:
            return super().__getitem__(key)
        except KeyError:
            if isinstance(key, str) and self.is_asked():
                # Taken out and put back, so that it comes last.
                _absent.pop(key, None)
                _absent[key] = None
            raise
        finally:
            if isinstance(key, str) and self.is_asked():
                known = _read.setdefault(key, Lookup())
                # Only what the project asks for directly: `get` and `os.getenv` come through other code.
                known.needed |= sys._getframe(1).f_code.co_filename.startswith(self.folder)

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a variable's value or the default; record that."""
        value = super().get(key, default)
        if key in _read and default is not None and self.is_asked():
            _read[key].default = default
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set a variable; record that the project does, without a look at what it was."""
        if isinstance(key, str) and key not in _read and self.is_asked():
            _own.add(key)
        super().__setitem__(key, value)

    def is_asked(self) -> bool:
        """Tell whether code of the project uses the variables."""
        return asking_file().startswith(self.folder)


def watch_variables(folder: str) -> None:
    """Record from now on what code in a folder looks up, and does not find."""
    for records in (_absent, _own, _read):
        records.clear()
    WatchedVariables.folder = f"{folder}/"
    # Not another object: packages may hold the mapping already.
    os.environ.__class__ = WatchedVariables


def read_variables() -> dict[str, Lookup]:
    """Return what was looked up that the project had not set itself, in the order of the first look-ups."""
    return {name: known for name, known in _read.items() if name not in _own}


def absent_variables() -> list[str]:
    """Return the names that were not found, the one that was asked for last at the end."""
    return list(_absent)


def asking_file() -> str:
    """Return the file of the code that asks for a variable."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in PASSED_BY:
        frame = frame.f_back
    return "" if frame is None else str(frame.f_code.co_filename)


MAX_HOSTS = 5
_hosts: dict[str, None] = {}


def watch_connections() -> None:
    """Record from now on what Python looks up, or connects to."""
    _hosts.clear()
    # Python has no way to remove a hook: it stays until the process ends.
    sys.addaudithook(record_connection)


def record_connection(event: str, values: tuple[Any, ...]) -> None:
    """Record the host of an audit event about a connection; a socket of this machine has a path, and no host."""
    address = values[1] if event == "socket.connect" else values if event == "socket.getaddrinfo" else None
    if isinstance(address, tuple) and isinstance(address[0], str | bytes) and len(_hosts) < MAX_HOSTS:
        _hosts[str(address[0], "ascii", "replace") if isinstance(address[0], bytes) else address[0]] = None


def tried_hosts() -> list[str]:
    """Return the hosts, in the order of the first tries."""
    return list(_hosts)
