"""All programs that the compiler starts: one table, and the functions that start them.

No module of a project is importable in a Python that is started here, no program starts in the caller's working folder,
and each gets the environment variables of its row, unless it is the program that the user asked to run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc.sandbox.platforms import GROUP_OPTIONS, NEEDED_VARIABLES, USER_VARIABLES, ProgramGroup
from mcpc_runtime.transports.platforms.program_search import find_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALL_VARIABLES = ("*",)
LOCALE = ("LANG", "LANGUAGE", "LC_*", "TZ")
NETWORK = ("*_PROXY", "*_proxy", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE")
LOADER = ("DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH")
"""Variables by which a Python built elsewhere finds its standard library."""
KEYRING = ("DBUS_SESSION_BUS_ADDRESS", "NETRC", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
"""Variables by which uv finds credentials that are stored outside its configuration."""
PIP_REGISTRIES = ("PIP_CERT", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_NO_INDEX")
UV_EXCLUDED = (
    *("UV_BUILD_CONSTRAINT", "UV_COMPILE_BYTECODE", "UV_CONSTRAINT", "UV_EXCLUDE", "UV_NO_BINARY", "UV_NO_SOURCES"),
    *("UV_NO_VERIFY_HASHES", "UV_OVERRIDE", "UV_PROJECT", "UV_PYTHON", "UV_REQUIRE_HASHES", "UV_SYSTEM_PYTHON"),
    *("UV_TARGET", "UV_WORKING_DIR"),
)
"""Variables that would make uv choose or install something else, or without a check."""
CLIENT_VARIABLES = USER_VARIABLES if sys.platform == "win32" else ()
"""More variables that clients pass on, on systems where no program runs without them."""
FILES = re.compile(r"PIP_(?:CERT|FIND_LINKS)|UV_(?:CACHE_DIR|CONFIG_FILE|FIND_LINKS)|.*_CA_BUNDLE|SSL_CERT_\w+")
"""Variables that may name files relative to the caller's working folder."""
NPM_USERCONFIG = "npm_config_userconfig"
NPMRC_NAME = re.compile(r"\$\{(\w+)[^}]*\}")


@dataclass(frozen=True, slots=True)
class ProgramEnvironment:
    """One program: whose code it runs, and which variables of the caller it gets (names; `*` matches any text)."""

    runs: str
    finds: tuple[str, ...] = ("PATH",)
    without: tuple[str, ...] = ()


PROGRAMS: dict[str, ProgramEnvironment] = {
    "uv": ProgramEnvironment(
        "uv, which builds nothing",
        ("PATH", "UV_*", *PIP_REGISTRIES, *USER_VARIABLES, *LOCALE, *NETWORK, *LOADER, *KEYRING),
        UV_EXCLUDED,
    ),
    "git": ProgramEnvironment(
        "git, without hooks", ("GIT_ASKPASS", "GIT_SSH*", "SSH_*", *USER_VARIABLES, *LOCALE, *NETWORK)
    ),
    "npm": ProgramEnvironment(
        "npm, without scripts of packages",
        ("NPM_*", "npm_config_*", "NODE_AUTH_TOKEN", "NODE_EXTRA_CA_CERTS", *USER_VARIABLES, *LOCALE, *NETWORK),
    ),
    "node": ProgramEnvironment("our own programs for Node: esbuild, and what bundles are"),
    "node --version": ProgramEnvironment("Node alone"),
    "compiling Python": ProgramEnvironment(
        "another Python, which only compiles", ("PATH", "PYENV_ROOT", "HOME", *LOADER)
    ),
    "bash -n": ProgramEnvironment("Bash, which only reads", ()),
    "linker": ProgramEnvironment("the C compiler, binutils and `ldd`, for executables", ("PATH", "TMPDIR", *LOADER)),
    "built file": ProgramEnvironment("a built file, before it takes its name: no handler", ()),
    "ssh-keygen": ProgramEnvironment(
        "ssh-keygen, which signs with a key of the user's, or of an agent",
        ("PATH", "SSH_*", "DISPLAY", *USER_VARIABLES),
    ),
    "confined": ProgramEnvironment("the project's code and builds of packages, by `mcpc.sandbox.confinement`"),
    "compiler": ProgramEnvironment("this compiler, in `mcpc dev`", ALL_VARIABLES),
    "second build": ProgramEnvironment("this compiler, in another environment (`build --verify`)", ALL_VARIABLES),
    "version of a program": ProgramEnvironment("a program that prints its version, for `mcpc doctor`"),
    "server of a client": ProgramEnvironment(
        "a server in a client's configuration, with the variables that clients pass on (doctor, scan)",
        ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", *CLIENT_VARIABLES),
    ),
    "server": ProgramEnvironment("a built file with its handlers, because the user asked for that", ALL_VARIABLES),
}


def python_command(*words: str) -> list[str]:
    """Return the command line of a Python that imports only its own modules and packages."""
    # With `-I`, neither the working folder, nor variables of Python, nor packages of the user are used.
    return [sys.executable, "-I", *words]


def program_environment(name: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a program: the caller's variables of its row, and `more`."""
    program = PROGRAMS[name]
    finds = (*NEEDED_VARIABLES, *program.finds, *(_npmrc_variables() if name == "npm" else ()))
    variables = {
        variable: _absolute_paths(variable, value)
        for variable, value in variables_like(finds).items()
        if variable not in program.without
    }
    if program.finds == ALL_VARIABLES:
        return {**os.environ, **(more or {})}
    if "PATH" in program.finds:
        variables.setdefault("PATH", os.defpath)
    return {**variables, **(more or {})}


def find_bash() -> str:
    """Return the path of Bash, or an empty string; on Windows that of Git Bash, never the one of another system."""
    return find_program("bash", {os.fsencode(name): os.fsencode(value) for name, value in os.environ.items()})


def variables_like(patterns: Sequence[str]) -> dict[str, str]:
    """Return the caller's variables whose names match one of the patterns."""
    return {
        variable: value
        for variable, value in os.environ.items()
        if any(fnmatchcase(variable, pattern) for pattern in patterns)
    }


def run_program(
    name: str, words: Sequence[str], seconds: float, *, told: bytes = b"", **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end, in a temporary folder unless `cwd` is given; raise TimeoutError after `seconds`."""
    if "cwd" not in options:
        with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
            return run_program(name, words, seconds, told=told, cwd=made, **options)
    with start_program(name, words, **GROUP_OPTIONS, **options) as process, closing(ProgramGroup(process)) as group:
        try:
            printed, errors = process.communicate(told, seconds)
        except subprocess.TimeoutExpired:
            group.end()
            raise TimeoutError(f"it took longer than {seconds:g} seconds") from None
        except BaseException:  # an interrupt does not reach the program, which is in a separate session
            group.end()
            raise
    return subprocess.CompletedProcess([*words], process.returncode, printed, errors)


def start_program(
    name: str, words: Sequence[str], *, more: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a program; `options` are those of Popen, with pipes for all three streams by default."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(words, env=program_environment(name, more), **{**streams, **options})


def end_program(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Ask a program to end, and kill it after `seconds`."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    # It does nothing to a program that has ended.
    process.kill()
    process.wait()


def run_in_foreground(
    name: str, words: Sequence[str], more: Mapping[str, str] | None = None, folder: Path | None = None
) -> int:
    """Run a program with the user's own streams, in this folder by default, and return its exit status."""
    return subprocess.run(words, env=program_environment(name, more), cwd=folder, check=False).returncode


def _absolute_paths(variable: str, value: str) -> str:
    """Return a value whose relative file names are replaced by absolute ones."""
    if FILES.fullmatch(variable) is None:
        return value
    # In a variable of pip, spaces separate several places.
    return " ".join(os.path.realpath(word) if _is_relative_file(word) else word for word in value.split(" "))


def _is_relative_file(word: str) -> bool:
    return bool(word) and not os.path.isabs(word) and Path(word).exists()  # noqa: PTH117 - a word, maybe no path


def _npmrc_variables() -> tuple[str, ...]:
    """Return the variables that the user's npm configuration refers to."""
    place = os.environ.get("NPM_CONFIG_USERCONFIG") or os.environ.get(NPM_USERCONFIG) or "~/.npmrc"
    with suppress(OSError, RuntimeError):
        return tuple(NPMRC_NAME.findall(Path(place).expanduser().read_text("utf-8", "replace")))
    return ()
