"""Requirements in the tables of Poetry, written as requirements in PEP 508 form.

`[tool.poetry.dependencies]` holds a range or a table for each package (https://python-poetry.org/docs/dependency-specification/).
`python` is the project's own range; optional packages belong to the extras that name them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from mcpc.diagnostics import diagnose
from mcpc.packages.model import ProjectRequirements, WrittenRequirement
from mcpc.packages.pep508 import normalised_name
from mcpc.reading.toml import nested_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mcpc.diagnostics import Span
    from mcpc.reading.toml import TomlText

TABLE = ("tool", "poetry")
PYTHON = "python"
SOURCES = ("git", "path", "url")
ALTERNATIVES = re.compile(r"\s*\|\|?\s*")
# Commas separate, and so do spaces before an operator or a number: `>=1.2 <2`.
PARTS = re.compile(r"\s*,\s*|\s+(?=[\^~<>=!]|\d)")
OPERATOR = re.compile(r"(?P<operator>\^|~=|~|===|==|!=|<=|>=|<|>|=|)\s*v?(?P<version>\S+)")
EXPECTED = 'a range such as `"^1.2"` or `">=1.2,<2"`'
PLATFORMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}


def poetry_requirements(text: TomlText) -> ProjectRequirements:
    """Return the requirements in Poetry's tables."""
    table = nested_table(text.table, *TABLE)
    required = _written(nested_table(table, "dependencies"), text, (*TABLE, "dependencies"))
    optional = _written(nested_table(table, "dependencies"), text, (*TABLE, "dependencies"), optional=True)
    by_name = {normalised_name(re.split(r"[^\w.-]", item.text, maxsplit=1)[0]): item for item in optional}
    extras = {
        normalised_name(extra): tuple(by_name[key] for name in names if (key := normalised_name(str(name))) in by_name)
        for extra, names in nested_table(table, "extras").items()
        if isinstance(names, list)
    }
    groups = {
        normalised_name(group): _written(
            nested_table(table, "group", group, "dependencies"), text, (*TABLE, "group", group, "dependencies")
        )
        for group in nested_table(table, "group")
    }
    if "dev-dependencies" in table:
        groups["dev"] = _written(nested_table(table, "dev-dependencies"), text, (*TABLE, "dev-dependencies"))
    name = table.get("name")
    own = normalised_name(name) if isinstance(name, str) else ""
    return ProjectRequirements(own, required, extras, groups, declares="dependencies" in table)


def poetry_python(text: TomlText) -> object:
    """Return what Poetry's tables say of the project's Python; None if nothing."""
    return nested_table(text.table, *TABLE, "dependencies").get(PYTHON)


def python_ranges(written: str) -> tuple[SpecifierSet, ...]:
    """Return the alternatives of a range of Pythons; raise ValueError for anything else."""
    return tuple(SpecifierSet(",".join(_specifiers(part))) for part in ALTERNATIVES.split(written.strip()))


def _written(
    packages: dict[str, Any], text: TomlText, section: tuple[str, ...], *, optional: bool = False
) -> tuple[WrittenRequirement, ...]:
    """Return the requirements in a table: the optional ones, or the others."""
    found: list[WrittenRequirement] = []
    for name, value in packages.items():
        if normalised_name(name) == PYTHON:
            continue
        span = text.span_of(name, *section)
        for entry in value if isinstance(value, list) else [value]:
            if bool(isinstance(entry, dict) and entry.get("optional")) is optional:
                found.append(_requirement(name, entry, span))
    return tuple(found)


def _requirement(name: str, entry: object, span: Span) -> WrittenRequirement:
    table = {"version": entry} if isinstance(entry, str) else entry
    if not isinstance(table, dict):
        problem = diagnose("MCP401", span, f"the requirement of `{name}` is neither a text nor a table", EXPECTED)
        return WrittenRequirement(name, span, problem=problem)
    source = next(({key: table[key], **table} for key in SOURCES if key in table), None)
    try:
        version = "" if source else ",".join(_specifiers(str(table.get("version", "*"))))
        extras = ",".join(map(str, table.get("extras", ())))
        marker = " and ".join(f"({part})" for part in _markers(table))
    except (ValueError, TypeError) as problem:
        message = f"the requirement of `{name}` is not understood: {problem}"
        return WrittenRequirement(name, span, problem=diagnose("MCP401", span, message, EXPECTED))
    text = f"{name}[{extras}]{version}" if extras else f"{name}{version}"
    return WrittenRequirement(f"{text}; {marker}" if marker else text, span, source)


def _markers(table: dict[str, Any]) -> Iterator[str]:
    if table.get("markers"):
        yield str(table["markers"])
    if table.get(PYTHON):
        ranges = [
            " and ".join(f'python_version {item.operator} "{_minor(item.version)}"' for item in sorted(found, key=str))
            for found in python_ranges(str(table[PYTHON]))
        ]
        yield " or ".join(filter(None, ranges)) or 'python_version >= "3"'
    if table.get("platform"):
        yield f'sys_platform == "{PLATFORMS.get(str(table["platform"]), table["platform"])}"'


def _minor(version: str) -> str:
    """Return the first two numbers of a version, which are what markers compare."""
    return ".".join((*version.split("."), "0")[:2])


def _specifiers(written: str) -> Iterator[str]:
    """Yield the parts of a range as specifiers of PEP 440; raise ValueError for what has no such form."""
    if ALTERNATIVES.search(written):
        raise ValueError(f"`{written}` names alternatives")
    for part in PARTS.split(written.strip()):
        if part in ("", "*"):
            continue
        found = OPERATOR.fullmatch(part)
        if found is None:
            raise ValueError(f"`{part}` is not a range")
        yield from _specifier(found["operator"], found["version"])


def _specifier(operator: str, version: str) -> Iterator[str]:
    if operator not in ("^", "~"):
        made = f"{'==' if operator in ('', '=') else operator}{version}"
        try:
            SpecifierSet(made)
        except InvalidSpecifier:
            raise ValueError(f"`{operator}{version}` is not a range") from None
        yield made
        return
    try:
        release = Version(version).release
    except InvalidVersion:
        raise ValueError(f"`{version}` is not a version") from None
    yield f">={version}"
    yield f"<{'.'.join(map(str, _next_release(operator, release)))}"


def _next_release(operator: str, release: tuple[int, ...]) -> tuple[int, ...]:
    """Return the first release that a caret or a tilde excludes."""
    if operator == "~":
        # `~1.2.3` and `~1.2` allow 1.2.*, `~1` allows 1.*.
        fixed = min(len(release), 2)
    else:
        # A caret fixes all up to the first number that is not 0: `^1.2` allows 1.*, `^0.2` allows 0.2.*.
        fixed = next((place + 1 for place, number in enumerate(release) if number), len(release))
    return (*release[: fixed - 1], release[fixed - 1] + 1)
