"""The settings that a program reads: what its run told, and variables that its functions look up when they are called.

A setting is required if the program does not start without it: a required one that has no value makes every call fail.
Names that systems and interpreters set are not settings. What the run told may be written by the project's code.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.introspection.reach import read_variables
from mcpc.frontends.project import declared_settings
from mcpc.model.ir.project import SETTING_TYPES, VARIABLE_NAME, Setting
from mcpc_runtime.artifact.settings import RESERVED_NAMES, RESERVED_PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import SourceTree

OF_SYSTEMS = frozenset(
    {*("CI", "COLORTERM", "COLUMNS", "DISPLAY", "EDITOR", "FORCE_COLOR", "LINES", "NO_COLOR", "PAGER", "VISUAL"),
     *("CONDA_PREFIX", "HOSTNAME", "SUDO_USER", "VIRTUAL_ENV", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"),
     *("COMPUTERNAME", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE"),
     *("SSL_CERT_DIR", "SSL_CERT_FILE", "USERNAME", "WINDIR")}
)  # fmt: skip
"""More variables that systems set, and terminals."""
SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWD|PASSWORD|PASS|PAT|PWD|CREDENTIAL|COOKIE)S?$")
"""Names of variables that are secrets, where no type says so."""
MAX_SETTINGS, MAX_TEXT, MAX_SHOWN = 200, 500, 20


def settings_read(
    rows: Sequence[Mapping[str, Any]], needed: frozenset[str], files: Sequence[str], main: str, tree: SourceTree
) -> Iterator[Setting]:
    """Yield the settings of a program, each once.

    `rows`: what its run told; `needed`: variables without which it does not start; `files`: those that were imported;
    `main`: the file that a setting is in whose place is not known.
    """
    sources = [source for path in files for source in [tree.get(path)] if source is not None]
    # Reversed, so that of several places in a file the first one stays.
    places = {each.name: each.span for source in sources for each in reversed(read_variables(source))}
    told = {name: row for row in rows if is_setting(name := str(row.get("name", "")))}
    names = [name for name in dict.fromkeys((*told, *sorted(needed), *sorted(places))) if is_setting(name)]
    for name in names[:MAX_SETTINGS]:
        span = places.get(name, Span(main))
        yield setting_of(name, told.get(name, {}), span, is_needed=name in needed)


def is_setting(name: str) -> bool:
    """Tell whether a variable can be a setting."""
    is_reserved = name in RESERVED_NAMES | OF_SYSTEMS or name.startswith(RESERVED_PREFIXES)
    return VARIABLE_NAME.fullmatch(name) is not None and not is_reserved


def setting_of(name: str, row: Mapping[str, Any], span: Span, *, is_needed: bool) -> Setting:
    """Return a setting; a secret shows neither a default nor choices."""
    kind, text = row.get("type"), row.get("description")
    is_secret = row.get("secret") is True or (kind in (None, "string") and SECRET_NAME.search(name) is not None)
    default, choices = row.get("default"), row.get("choices")
    return Setting(
        name,
        kind if isinstance(kind, str) and kind in SETTING_TYPES else "string",
        span,
        description=text[:MAX_TEXT] if isinstance(text, str) else "",
        required=is_needed,
        secret=is_secret,
        default=default if is_plain(default) and default != "" and not (is_secret or is_needed) else None,
        choices=tuple(filter(is_plain, choices)) if isinstance(choices, list) and not is_secret else (),
        is_read=True,
    )


def is_plain(value: object) -> bool:
    """Tell whether a value can be shown as a default or a choice."""
    if isinstance(value, str):
        return len(value) <= MAX_TEXT
    # JSON has no infinity.
    return isinstance(value, int | float) and isfinite(value)


def settings_note(settings: Sequence[Setting], target: str, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the note about the settings that a program reads and the project does not declare, required ones first."""
    known = {str(row.get("name")) for row in declared_settings(tree)}
    others = sorted((each for each in settings if each.name not in known), key=lambda each: not each.required)
    if others:
        shown = [f"`{each.name}`{' (required)' if each.required else ''}" for each in others[:MAX_SHOWN]]
        more = f" and {len(others) - MAX_SHOWN} more" if len(others) > MAX_SHOWN else ""
        message = f"the program `{target}` reads settings: {', '.join(shown)}{more}"
        hint = "`[[tool.mcpc.settings]]` in `pyproject.toml` describes one for those who install the server"
        yield diagnose("MCP307", others[0].span, message, "", hint)
