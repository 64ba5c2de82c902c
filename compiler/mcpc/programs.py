"""Every program that the compiler starts: one table of them, one way to start each.

No module of a project is importable in a Python that is started here, no program begins in the caller's working folder,
and each finds the variables that its row names, unless it is what the user asked to run.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EVERYTHING = ("*",)
LOCALE = ("LANG", "LANGUAGE", "LC_*", "TZ")
PERSON = ("HOME", "LOGNAME", "PATH", "TMPDIR", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME")
NETWORK = ("*_PROXY", "*_proxy", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE")
LOADER = ("DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH")
"""Where a Python that was built elsewhere finds its own library."""
KEYRING = ("DBUS_SESSION_BUS_ADDRESS", "NETRC", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
"""How pip finds credentials of registries that are kept outside of its configuration."""
ELSEWHERE = ("PIP_PREFIX", "PIP_PYTHON", "PIP_QUIET", "PIP_REQUIRE_VIRTUALENV", "PIP_ROOT", "PIP_TARGET", "PIP_USER")
"""What would have pip install in another place, or say nothing."""
FILES = re.compile(r"PIP_(?:CERT|CLIENT_CERT|CACHE_DIR|CONFIG_FILE|CONSTRAINT|FIND_LINKS)|.*_CA_BUNDLE|SSL_CERT_\w+")
"""Variables that may name files relative to the caller's working folder."""
NPM_USERCONFIG = "npm_config_userconfig"
NPMRC_NAME = re.compile(r"\$\{(\w+)[^}]*\}")


@dataclass(frozen=True, slots=True)
class Program:
    """One program: whose code it runs, and which variables of the caller it finds (names, with `*` for any text)."""

    runs: str
    finds: tuple[str, ...] = ("PATH",)
    without: tuple[str, ...] = ()


PROGRAMS: dict[str, Program] = {
    "pip": Program("pip of this Python", ("PIP_*", *PERSON, *LOCALE, *NETWORK, *LOADER, *KEYRING), ELSEWHERE),
    "npm": Program(
        "npm, without scripts of packages",
        ("NPM_*", "npm_config_*", "NODE_AUTH_TOKEN", "NODE_EXTRA_CA_CERTS", *PERSON, *LOCALE, *NETWORK),
    ),
    "node": Program("our own programs for Node: esbuild, and what bundles are"),
    "node --version": Program("Node alone"),
    "bash -n": Program("Bash, which only reads", ()),
    "built file": Program("a built file, before it takes its name: no handler", ()),
    "confined": Program("the project's code, by `mcpc.confinement`"),
    "compiler": Program("this compiler, in `mcpc dev`", EVERYTHING),
    "server": Program("a built file with its handlers, because the user asked for that", EVERYTHING),
}


def python(*words: str) -> list[str]:
    """Return the command line of a Python that imports from itself and its own packages only."""
    return [sys.executable, "-I", *words]


def environment(name: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return all that a program finds: the caller's variables of its row, and `more`."""
    program = PROGRAMS[name]
    finds = (*program.finds, *(_named_by_npmrc() if name == "npm" else ()))
    found = {
        variable: _anywhere(variable, value)
        for variable, value in os.environ.items()
        if variable not in program.without and any(fnmatchcase(variable, pattern) for pattern in finds)
    }
    if program.finds == EVERYTHING:
        return {**os.environ, **(more or {})}
    if "PATH" in program.finds:
        found.setdefault("PATH", os.defpath)
    return {**found, **(more or {})}


def run(
    name: str, words: Sequence[str], seconds: float, *, told: bytes = b"", **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end, in a fresh folder if no `cwd` is given; raise TimeoutError after so many seconds."""
    if "cwd" not in options:
        with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
            return run(name, words, seconds, told=told, cwd=made, **options)
    with start(name, words, start_new_session=True, **options) as process:
        try:
            printed, errors = process.communicate(told, seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            raise TimeoutError(f"it took longer than {seconds:g} seconds") from None
        except BaseException:  # an interrupt does not come to the program, which is in a session of its own
            _end(process)
            raise
    return subprocess.CompletedProcess([*words], process.returncode, printed, errors)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def start(
    name: str, words: Sequence[str], *, more: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a program; `options` are those of Popen, pipes for all three streams if nothing is said of them."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(words, env=environment(name, more), **{**streams, **options})


def attend(name: str, words: Sequence[str], more: Mapping[str, str] | None = None) -> int:
    """Run what the user asked for in the foreground, with the user's own streams; return its status."""
    return subprocess.run(words, env=environment(name, more), check=False).returncode


def _anywhere(variable: str, value: str) -> str:
    """Return a value in which files are named so that they are found from another working folder."""
    if FILES.fullmatch(variable) is None:
        return value
    return " ".join(os.path.realpath(word) if _is_relative_file(word) else word for word in value.split(" "))


def _is_relative_file(word: str) -> bool:
    return bool(word) and not os.path.isabs(word) and Path(word).exists()  # noqa: PTH117 - a word, maybe no path


def _named_by_npmrc() -> tuple[str, ...]:
    """Return the variables that the user's own configuration of npm refers to."""
    place = os.environ.get("NPM_CONFIG_USERCONFIG") or os.environ.get(NPM_USERCONFIG) or "~/.npmrc"
    with suppress(OSError, RuntimeError):
        return tuple(NPMRC_NAME.findall(Path(place).expanduser().read_text("utf-8", "replace")))
    return ()
