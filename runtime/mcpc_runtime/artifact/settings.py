"""The settings of a server: their values from the environment or from files, checked once, when the server starts.

A value comes from the setting's variable, unless that is a client's placeholder (`${user_config.name}`); else from the
file that NAME_FILE names, as container secrets do; else from the JSON object in the file that MCPC_SETTINGS_FILE names;
else it is the default.  Handlers get all values as variables.  While a value is missing or invalid, calls end with an
error that names it, and everything else works.  Values are never printed, except for choices of settings that are not
secret.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from json import loads
from os.path import expanduser, isdir, isfile

from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.transports.platforms import system

Row = tuple[str, str, bool, bool, str | None, tuple[str, ...], str]
"""Name, type, whether it is required, whether it is secret, default, choices, and what it is."""
Values = dict[bytes, bytes]


RESERVED_NAMES = frozenset(
    {*("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "LANG", "TZ", "TERM", "TMPDIR", "TEMP", "TMP"),
     *("SYSTEMROOT", "COMSPEC", "PATHEXT", "APPDATA", "USERPROFILE", "BASH_ENV", "ENV", "IFS")}
)  # fmt: skip
RESERVED_PREFIXES = ("MCPC_", "LC_", "LD_", "DYLD_", "PYTHON", "BASH_FUNC", "XDG_", "NODE_OPTIONS")
"""Variables that are not settings: those of systems, interpreters and the server itself."""
READ, DOTENV = "read", ".env"
"""The type of what a program reads: it checks that itself, and may have it from this file in the working folder."""
FILE = "MCPC_SETTINGS_FILE"
FILE_SUFFIX = "_FILE"
MAX_FILE_BYTES = 1 << 20
TRUE = ("true", "1", "yes", "on")
FALSE = ("false", "0", "no", "off")
HOW_TO_SET = (
    "Set it as a variable of this server (`env` in most clients' configuration; "
    "`server.pyz install --client CLIENT --env NAME=VALUE` writes it there), and start the server again."
)


class SettingError(ValueError):
    """The value of a setting is missing or invalid; the message names the setting and not the value."""


def apply_settings(rows: Sequence[Row], environ: Values) -> list[str]:
    """Put the value of each setting into the environment; return what is missing or invalid, one text a setting."""
    problems: list[str] = []
    try:
        known = settings_file(environ)
    except SettingError as problem:
        problems.append(str(problem))
        known = {}
    for row in rows:
        try:
            drop_unset(environ, row[0])
            value = setting_value(row, environ, known)
            if value is not None:
                put_variable(environ, row[0], value)
        except SettingError as problem:
            problems.append(str(problem))
    return problems


def setting_value(row: Row, environ: Mapping[bytes, bytes], known: Mapping[str, object]) -> str | None:
    """Return the value of a setting as the text of a variable, None if it has none; raise SettingError."""
    name, kind, required, _, default, choices, purpose = row
    given = given_value(name, environ, known)
    if not given:
        if required and not (kind == READ and isfile(DOTENV)):
            raise SettingError(f"{name} is not set" + (f" ({purpose})" if purpose else ""))
        return default
    text = canonical_text(name, kind, given)
    if choices and text not in choices:
        raise SettingError(f"{name} has an unknown value; expected one of {', '.join(choices)}")
    return text


def given_value(name: str, environ: Mapping[bytes, bytes], known: Mapping[str, object]) -> str:
    """Return the value that was given for a setting, or an empty text."""
    variable = environ.get(name.encode())
    if variable:
        return variable.decode("utf-8", "surrogateescape")
    path = environ.get((name + FILE_SUFFIX).encode())
    if path:
        # Editors and `echo` end a file with a line end, which is not a part of a secret.
        return read_file(name + FILE_SUFFIX, path).decode("utf-8", "surrogateescape").rstrip("\r\n")
    value = known.get(name)
    return str(value).lower() if type(value) is bool else "" if value is None else str(value)


def settings_file(environ: Mapping[bytes, bytes]) -> dict[str, object]:
    """Return the object in the file that MCPC_SETTINGS_FILE names; raise SettingError."""
    path = environ.get(FILE.encode())
    if not path:
        return {}
    try:
        values = loads(read_file(FILE, path))
    except ValueError as problem:
        if isinstance(problem, SettingError):
            raise
        raise SettingError(f"{FILE}: the file is not JSON") from None
    if type(values) is not dict:
        raise SettingError(f"{FILE}: the file has no JSON object with names and values")
    return values


def read_file(variable: str, path: bytes) -> bytes:
    """Return the content of a file that a variable names; raise SettingError."""
    try:
        with open(expanduser(path), "rb") as file:
            # One byte more than allowed tells that the file is larger.
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise SettingError(f"{variable}: the file that it names cannot be read: {reason}") from None
    if len(content) > MAX_FILE_BYTES:
        raise SettingError(f"{variable}: the file that it names is larger than 1 MiB")
    return content


def canonical_text(name: str, kind: str, text: str) -> str:
    """Return a value as handlers get it; raise SettingError if it does not have the type."""
    if kind in ("file", "directory"):
        path = expanduser(text)
        if not (isdir(path) if kind == "directory" else isfile(path)):
            raise SettingError(f"{name}: there is no {kind} of this name")
        return path
    if kind == "boolean":
        word = text.strip().lower()
        if word not in TRUE and word not in FALSE:
            raise SettingError(f"{name} is neither true nor false")
        return "true" if word in TRUE else "false"
    if kind in ("integer", "number"):
        return number_text(name, kind, text.strip())
    return text


def number_text(name: str, kind: str, text: str) -> str:
    """Return a number as text; raise SettingError."""
    try:
        value = int(text) if kind == "integer" else float(text)
    except ValueError:
        raise SettingError(f"{name} is not {'an integer' if kind == 'integer' else 'a number'}") from None
    if value - value != 0:  # infinite, or not a number
        raise SettingError(f"{name} is not a finite number")
    return str(value) if kind == "integer" else text


def drop_unset(environ: Values, name: str) -> None:
    """Remove a variable that a client set for an input that was left out: to nothing, or to `${user_config.name}`."""
    value = environ.get(name.encode())
    if value == b"" or (value is not None and value.startswith(b"${") and value.find(b"}") == len(value) - 1):
        del environ[name.encode()]
        if "os" in sys.modules:
            sys.modules["os"].environ.pop(name, None)


def put_variable(environ: Values, name: str, value: str) -> None:
    """Set a variable of this process, for handlers in it, too."""
    encoded = value.encode("utf-8", "surrogateescape")
    if b"\0" in encoded:
        raise SettingError(f"{name} contains a zero byte")
    if environ.get(name.encode()) != encoded:
        environ[name.encode()] = encoded
        # `os` copies the variables when it is imported; before that there is no copy to change.
        if "os" in sys.modules:
            sys.modules["os"].environ[name] = value


def refusal_text(problems: Sequence[str], how_to_set: str = "") -> str:
    """Return the error of calls while settings are missing or invalid; an empty text without problems."""
    if not problems:
        return ""
    return f"{'; '.join(problems)}. {how_to_set or HOW_TO_SET}"


def report_settings(image: Image, how_to_set: Callable[[], str]) -> None:
    """Tell the operator at start which settings are missing or invalid, and how to set them in clients."""
    problems = image_problems(image)
    for problem in problems:
        log_line(f"{problem}: calls fail until it is set")
    if problems:
        image.how_to_set = how_to_set()
        log_line(image.how_to_set or HOW_TO_SET)


def image_problems(image: Image) -> list[str]:
    """Apply the settings of a server from the environment of this process, and return the problems."""
    return apply_settings(image.index.get("settings", ()), system.environ)
