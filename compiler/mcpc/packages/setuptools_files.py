"""Requirements in `setup.cfg` and `setup.py`, as far as they are written there: neither file is run.

In `setup.py` the keywords of `setup(…)` are read if they are literals, or names that are assigned one literal.
"""

from __future__ import annotations

import ast
import configparser
import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.packages.model import ProjectRequirements, WrittenRequirement
from mcpc.packages.pep508 import normalised_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.reading import Source, SourceTree

SETUP_CFG, SETUP_PY = "setup.cfg", "setup.py"
SETUP = "setup"
ENTRY_POINTS = "entry_points"
REQUIRED, EXTRAS, PYTHON = "install_requires", "extras_require", "python_requires"
HOW_TO_DECLARE = "list the requirements in `requirements.txt`, or in `[project] dependencies` of `pyproject.toml`"


def setuptools_requirements(tree: SourceTree, folder: str = "") -> ProjectRequirements:
    """Return the requirements in `setup.cfg`, else those in `setup.py`; `folder` is empty, or ends with a slash."""
    by_file = [_setup_cfg(tree.get(f"{folder}{SETUP_CFG}")), _setup_py(tree.get(f"{folder}{SETUP_PY}"))]
    found = next((item for item in by_file if item.declares), by_file[0])
    name = next((item.name for item in by_file if item.name), "")
    problems = found.problems if found.declares else tuple(problem for item in by_file for problem in item.problems)
    return ProjectRequirements(name, found.required, found.extras, {}, problems, found.declares)


def setuptools_python(tree: SourceTree) -> tuple[str, Span] | None:
    """Return what the files say of the project's Python; None if nothing."""
    source = tree.get(SETUP_CFG)
    written = _sections(source).get("options", {}).get(PYTHON) if source is not None else None
    if source is not None and written:
        return written, _span(source, PYTHON)
    source = tree.get(SETUP_PY)
    value = _keywords(source).get(PYTHON) if source is not None else None
    return (value, _span(source, PYTHON)) if source is not None and isinstance(value, str) else None


def setuptools_entry_points(tree: SourceTree) -> dict[str, dict[str, str]]:
    """Return the entry points in `setup.cfg`, else those in `setup.py`, by group and name."""
    source = tree.get(SETUP_CFG)
    found = _sections(source).get(f"options.{ENTRY_POINTS}", {}) if source is not None else {}
    groups: dict[str, object] = {**found}
    source = tree.get(SETUP_PY)
    if not groups and source is not None:
        value = _keywords(source).get(ENTRY_POINTS)
        groups = value if isinstance(value, dict) else {}
    lines = {str(group): rows.splitlines() if isinstance(rows, str) else rows for group, rows in groups.items()}
    return {group: dict(_entry_points(rows)) for group, rows in lines.items() if isinstance(rows, list | tuple)}


def _entry_points(lines: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Yield the name and the object of each line that has both."""
    for line in lines:
        name, sign, target = str(line).partition("=")
        if sign and name.strip() and not name.lstrip().startswith("#"):
            yield name.strip(), target.strip()


def _sections(source: Source) -> Mapping[str, Mapping[str, str]]:
    # `%` in a value is taken as it is, and of a key that is there twice the last one counts, instead of an error.
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(source.text.removeprefix("\ufeff"))
    except configparser.Error:
        return {}
    return {name: dict(parser[name]) for name in parser.sections()}


def _setup_cfg(source: Source | None) -> ProjectRequirements:
    if source is None:
        return ProjectRequirements()
    sections = _sections(source)
    options = sections.get("options", {})
    name = sections.get("metadata", {}).get("name", "")
    extras = {
        normalised_name(extra): _lines(value, source) for extra, value in sections.get(f"options.{EXTRAS}", {}).items()
    }
    required = options.get(REQUIRED, "")
    return ProjectRequirements(
        normalised_name(name), _lines(required, source), extras, declares=REQUIRED in options or bool(extras)
    )


def _lines(written: str, source: Source) -> tuple[WrittenRequirement, ...]:
    """Return the requirements in a value of `setup.cfg`, one a line."""
    lines = (re.split(r"(?:^|\s)#", line)[0].strip() for line in written.splitlines())
    return tuple(WrittenRequirement(line, _span(source, line)) for line in lines if line)


def _setup_py(source: Source | None) -> ProjectRequirements:
    if source is None:
        return ProjectRequirements()
    keywords = _keywords(source)
    name = keywords.get("name")
    required, extras = keywords.get(REQUIRED, []), keywords.get(EXTRAS, {})
    extras = extras if isinstance(extras, dict) else {}
    written = [required] if isinstance(required, str) else required
    unread = REQUIRED in keywords and not _are_texts(written)
    problem = diagnose(
        "MCP420",
        _span(source, REQUIRED),
        f"the requirements in `{source.path}` are computed, and are not read without running it",
        "a list of texts",
        HOW_TO_DECLARE,
    )
    return ProjectRequirements(
        normalised_name(name) if isinstance(name, str) else "",
        () if unread else _texts(written, source),
        {normalised_name(str(key)): _texts(value, source) for key, value in extras.items() if _are_texts(value)},
        problems=(problem,) if unread else (),
        declares=REQUIRED in keywords and not unread,
    )


def _are_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _texts(written: object, source: Source) -> tuple[WrittenRequirement, ...]:
    items = written if isinstance(written, list | tuple) else ()
    return tuple(WrittenRequirement(item, _span(source, item)) for item in items)


def _keywords(source: Source) -> dict[str, object]:
    """Return the keywords of the call of `setup`: literals as values, others as None."""
    try:
        module = ast.parse(source.data)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    assigned: dict[str, list[ast.expr]] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(statement.value)
    calls = (node for node in ast.walk(module) if isinstance(node, ast.Call))
    called = next((call for call in calls if _name_of(call.func) == SETUP), None)
    if called is None:
        return {}
    return {item.arg: _literal(item.value, assigned) for item in called.keywords if item.arg is not None}


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _literal(value: ast.expr, assigned: Mapping[str, list[ast.expr]]) -> object:
    # A name that is assigned twice may have either value.
    if isinstance(value, ast.Name) and len(assigned.get(value.id, ())) == 1:
        value = assigned[value.id][0]
    try:
        found: object = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None
    return found


def _span(source: Source, words: str) -> Span:
    start = max(source.text.find(words), 0)
    return Span(source.path, start, start + len(words))
