"""Requirements in TOML: `pyproject.toml`, and the inline metadata of a script.

`[tool.mcpc]` has the settings of packages: `extract` lists those whose files must be in a folder at run time, because
they read them there; `extras` and `groups` choose optional requirements; `allow-sdist` allows building wheels;
`exclude-newer` is the date up to which versions count, also as uv's setting.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, Diagnostics, Span, diagnose
from mcpc.packages.downloads import IS_KNOWN, named_registries, upload_limit
from mcpc.packages.model import ProjectRequirements, WrittenRequirement
from mcpc.packages.pep508 import normalised_name
from mcpc.reading.toml import TomlText, is_string_list, nested_table, read_toml

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping
    from typing import Any

    from mcpc.reading import Source, SourceTree

PROJECT = "pyproject.toml"
BLOCK = re.compile(r"^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$", re.MULTILINE)
"""The regular expression in the specification of inline script metadata."""
SCRIPT = "script"
STRING_ARRAY = "an array of strings"
REQUIRES_PYTHON = "requires-python"
DEPENDENCIES, OPTIONAL, GROUPS = "dependencies", "optional-dependencies", "dependency-groups"
SETTINGS = ("tool", "mcpc")
LISTED_SETTINGS = ("extract", "extras", "groups", "platforms")
ALLOW_SDIST, EXCLUDE_NEWER = "allow-sdist", "exclude-newer"


@dataclass(frozen=True, slots=True)
class PackageSettings:
    """The settings of packages in one file."""

    extract: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    allow_sdist: bool = False
    exclude_newer: str = ""


def pyproject_text(tree: SourceTree) -> TomlText | Diagnostic | None:
    """Return the project's `pyproject.toml`, or what is wrong with it; None if there is none."""
    source = tree.get(PROJECT)
    return None if source is None else read_toml(source)


def script_text(source: Source) -> TomlText | Diagnostic | None:
    """Return the `# /// script` block of a Python file, or what is wrong with it; None if there is none."""
    blocks = [found for found in BLOCK.finditer(source.text) if found["type"] == SCRIPT]
    if len(blocks) > 1:
        span = Span(source.path, *blocks[1].span())
        return diagnose("MCP401", span, "the file has two `script` blocks", "one `# /// script`")
    # Each line of a block begins with `# `.
    return read_toml(source, *blocks[0].span("content"), indent=2) if blocks else None


def package_settings(text: TomlText) -> tuple[PackageSettings, Diagnostics]:
    """Return the settings of packages in `[tool.mcpc]`."""
    table = nested_table(text.table, *SETTINGS)
    problems = [
        diagnose("MCP401", text.span_of(name, *SETTINGS), f"`{name}` is not a list of names", STRING_ARRAY)
        for name in LISTED_SETTINGS
        if not is_string_list(table.get(name, []))
    ]
    allowed = table.get(ALLOW_SDIST, False)
    if not isinstance(allowed, bool):
        span = text.span_of(ALLOW_SDIST, *SETTINGS)
        problems.append(diagnose("MCP401", span, f"`{ALLOW_SDIST}` is neither true nor false", "`true` or `false`"))
    date = table.get(EXCLUDE_NEWER, "")
    if date and not (isinstance(date, str) and upload_limit(date)):
        span = text.span_of(EXCLUDE_NEWER, *SETTINGS)
        problems.append(diagnose("MCP401", span, f"`{EXCLUDE_NEWER}` is not a date", 'a date such as `"2025-06-30"`'))
    if problems:
        return PackageSettings(), tuple(problems)
    extract, extras, groups, platforms = (tuple(table.get(name, ())) for name in LISTED_SETTINGS)
    date = date or _date_of_uv(text)
    return PackageSettings(extract, extras, groups, platforms, allow_sdist=allowed is True, exclude_newer=date), ()


def declared_platforms(source: Source | None) -> tuple[str, ...]:
    """Return the platforms that a project's `pyproject.toml` names, as for `--platform`; none if it is invalid."""
    text = None if source is None else read_toml(source)
    return package_settings(text)[0].platforms if isinstance(text, TomlText) else ()


def _date_of_uv(text: TomlText) -> str:
    """Return the date in uv's setting; a duration, which is another date each day, does not count."""
    date = nested_table(text.table, "tool", "uv").get(EXCLUDE_NEWER, "")
    return date if isinstance(date, str) and upload_limit(date) else ""


def project_tables(text: TomlText) -> ProjectRequirements:
    """Return the requirements in `[project]` and `[dependency-groups]`."""
    project = nested_table(text.table, "project")
    name = project.get("name")
    required, problems = _listed(project.get(DEPENDENCIES, []), DEPENDENCIES, text, "project")
    extras: dict[str, tuple[WrittenRequirement, ...]] = {}
    for extra, written in nested_table(project, OPTIONAL).items():
        extras[normalised_name(extra)], wrong = _listed(written, extra, text, "project", OPTIONAL)
        problems += wrong
    groups: dict[str, tuple[WrittenRequirement, ...]] = {}
    # A standard group takes the place of uv's with the same name.
    for group, written in {**uv_groups(text), **nested_table(text.table, GROUPS)}.items():
        plain = [item for item in written if not isinstance(item, dict)] if isinstance(written, list) else written
        listed, wrong = _listed(plain, group, text, GROUPS)
        problems += wrong
        groups[normalised_name(group)] = (*listed, *_included(written, text))
    own = normalised_name(name) if isinstance(name, str) else ""
    return ProjectRequirements(own, required, extras, groups, problems, DEPENDENCIES in project)


def uv_groups(text: TomlText) -> dict[str, object]:
    """Return the group in uv's earlier table of requirements for development."""
    written = nested_table(text.table, "tool", "uv").get("dev-dependencies")
    return {} if written is None else {"dev": written}


GROUP = "include-group"


def _included(written: object, text: TomlText) -> Iterator[WrittenRequirement]:
    """Yield the groups that a group includes, each as `{"include-group": name}` without a text."""
    for item in written if isinstance(written, list) else ():
        if isinstance(item, dict) and isinstance(item.get(GROUP), str):
            yield WrittenRequirement("", text.span_of(item[GROUP], GROUPS), item)


def written_dependencies(tree: SourceTree) -> tuple[str, ...]:
    """Return `[project] dependencies` as they are written; none if they are not a list of texts."""
    text = pyproject_text(tree)
    listed = nested_table(text.table, "project").get(DEPENDENCIES) if isinstance(text, TomlText) else None
    return tuple(listed) if isinstance(listed, list) and is_string_list(listed) else ()


def script_requirements(text: TomlText) -> ProjectRequirements:
    """Return the requirements in the block of a script."""
    required, problems = _listed(text.table.get(DEPENDENCIES, []), DEPENDENCIES, text)
    return ProjectRequirements("", required, problems=problems)


def _listed(
    written: object, name: str, text: TomlText, *section: str
) -> tuple[tuple[WrittenRequirement, ...], Diagnostics]:
    """Return the requirements in a list; what is not a list of texts is reported."""
    if not isinstance(written, list) or not is_string_list(written):
        span = text.span_of(name, *section)
        return (), (diagnose("MCP401", span, f"`{name}` is not a list of names", STRING_ARRAY),)
    sources = {normalised_name(key): value for key, value in nested_table(text.table, "tool", "uv", "sources").items()}
    known = {registry.name for registry in named_registries(text)}
    return tuple(
        WrittenRequirement(item, text.span_of(item, *section), _source(sources.get(_name_of(item)), known))
        for item in written
    ), ()


def _name_of(requirement: str) -> str:
    return normalised_name(re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0])


def _source(value: object, registries: Container[str]) -> Mapping[str, Any] | None:
    """Return where uv takes a package from: the first of several places, and whether its registry is known."""
    if isinstance(value, list):
        value = next(iter(value), None)
    if not isinstance(value, dict):
        return None
    return {**value, IS_KNOWN: value["index"] in registries} if isinstance(value.get("index"), str) else value


def workspace_members(tree: SourceTree, text: TomlText) -> dict[str, str]:
    """Return the folders of the workspace's packages, by name."""
    patterns = nested_table(text.table, "tool", "uv", "workspace").get("members", [])
    found: dict[str, str] = {}
    for path in tree.files if is_string_list(patterns) and patterns else ():
        folder, _, file = path.rpartition("/")
        if folder and file == PROJECT and any(_matches(folder, pattern) for pattern in patterns):
            found[folder_name(tree, folder)] = folder
    return found


def _matches(folder: str, pattern: str) -> bool:
    """Tell whether a folder matches a pattern in which `*` is one name."""
    translated = "".join(
        "[^/]*" if part == "*" else re.escape(part) for part in re.split(r"(\*)", posixpath.normpath(pattern))
    )
    return re.fullmatch(translated, folder) is not None


def folder_name(tree: SourceTree, folder: str) -> str:
    """Return the normalised name of the project in a folder by its `pyproject.toml`; empty if it has none."""
    source = tree.get(f"{folder}/{PROJECT}")
    text = read_toml(source) if source is not None else None
    if not isinstance(text, TomlText):
        return ""
    names = (nested_table(text.table, *place).get("name") for place in (("project",), ("tool", "poetry")))
    return next((normalised_name(name) for name in names if isinstance(name, str)), "")
