"""The places where a project declares requirements, and which of them count.

A project may require itself with extras (`pkg[all]`): that stands for what these extras require.

The project's metadata counts, and so does the block of every script; `requirements.txt` does, unless `[project]` has
`dependencies`, as for installers.  The metadata is the first of `[project]`, Poetry's tables, `setup.cfg` and
`setup.py` that declares requirements; without any of these and without `requirements.txt` it is another file of
requirements, if there is exactly one.  The project itself is never required.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from mcpc.diagnostics import Diagnostic, Diagnostics, diagnose
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.model.ir.layer import Origins, RequestedPackage
from mcpc.packages.downloads import named_registries
from mcpc.packages.local_packages import read_written
from mcpc.packages.model import ProjectRequirements
from mcpc.packages.pep508 import normalised_name
from mcpc.packages.poetry import poetry_requirements
from mcpc.packages.required_python import judge_python, wrong_python
from mcpc.packages.requirements_txt import MAIN_FILE, other_requirement_file, read_requirement_files
from mcpc.packages.setuptools_files import HOW_TO_DECLARE, setuptools_python, setuptools_requirements
from mcpc.packages.toml_tables import (
    PROJECT,
    REQUIRES_PYTHON,
    SETTINGS,
    PackageSettings,
    package_settings,
    project_tables,
    pyproject_text,
    script_requirements,
    script_text,
    workspace_members,
)
from mcpc.reading.toml import TomlText, is_string_list, nested_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.diagnostics import Span
    from mcpc.packages.model import WrittenRequirement
    from mcpc.packages.requirements_txt import RequirementFiles
    from mcpc.reading import Source, SourceTree

KINDS = {"extra": "extra", "group": "dependency group"}
INCLUDE_GROUP = "include-group"


@dataclass(frozen=True, slots=True)
class ChosenOption:
    """An extra or a group that was chosen, and where; no place is the command line."""

    name: str
    kind: str
    span: Span | None = None


def chosen_requirements(
    project: ProjectRequirements, choices: Iterable[ChosenOption]
) -> tuple[tuple[WrittenRequirement, ...], Diagnostics]:
    """Return the requirements of a project with these extras and groups, without those on itself."""
    found: list[WrittenRequirement] = []
    problems: list[Diagnostic] = []
    seen: set[tuple[str, str]] = set()
    waiting = [*choices]
    found += _without_own(project.required, project.name, waiting)
    while waiting:
        choice = waiting.pop(0)
        known = project.extras if choice.kind == "extra" else project.groups
        key = choice.kind, normalised_name(choice.name)
        # Extras and groups may include each other.
        if key in seen:
            continue
        seen.add(key)
        if key[1] in known:
            found += _without_own(known[key[1]], project.name, waiting)
        else:
            problems.append(_unknown(choice, known))
    return tuple(dict.fromkeys(found)), tuple(problems)


def _without_own(
    items: Iterable[WrittenRequirement], own: str, waiting: list[ChosenOption]
) -> Iterator[WrittenRequirement]:
    """Yield requirements on other packages; extras of the project and included groups are added to `waiting`."""
    for item in items:
        if item.source is not None and INCLUDE_GROUP in item.source:
            waiting.append(ChosenOption(item.source[INCLUDE_GROUP], "group", item.span))
            continue
        parsed = None
        with suppress(InvalidRequirement):
            parsed = Requirement(item.text)
        if parsed is not None and own and normalised_name(parsed.name) == own:
            waiting += [ChosenOption(name, "extra", item.span) for name in sorted(parsed.extras)]
        else:
            yield item


def _unknown(choice: ChosenOption, known: Iterable[str]) -> Diagnostic:
    names = sorted(known)
    kind = KINDS[choice.kind]
    message = f"the project has no {kind} `{choice.name}`"
    there = f"it has {quoted(names)}" if names else f"it has no {kind}s"
    return diagnose("MCP419", choice.span, message, "", did_you_mean(normalised_name(choice.name), names, there))


ADD_TO_PROJECT = "if the server needs it, add it to `[project] dependencies`"
COMPUTED = (
    ("tool", "setuptools", "dynamic", "dependencies", "file"),
    ("tool", "hatch", "metadata", "hooks", "requirements_txt", "files"),
)
"""Settings of build backends that name the files of requirements from which `dependencies` are read."""


@dataclass(frozen=True, slots=True)
class Declarations:
    """What all declarations say together: the packages, and the problems."""

    packages: tuple[RequestedPackage, ...]
    problems: Diagnostics


def read_declarations(tree: SourceTree, scripts: Sequence[Source]) -> Declarations:
    """Return the requirements of a project, and of the blocks of scripts."""
    text = pyproject_text(tree)
    toml = text if isinstance(text, TomlText) else None
    settings, amiss = package_settings(toml) if toml else (PackageSettings(), ())
    allowed = tree.options.allow_sdist or settings.allow_sdist
    # What reads requirements asks the options, so the project's setting is put there.
    tree = replace(tree, options=replace(tree.options, allow_sdist=allowed))
    project = project_requirements(tree, toml)
    files, ignored = _requirement_files(tree, toml)
    problems: list[Diagnostic] = [*files.problems, *ignored, *([text] if isinstance(text, Diagnostic) else [])]
    if not files.seen and not project.declares and not any(map(has_block, scripts)):
        paths, ambiguous = other_requirement_file(tree)
        files = read_requirement_files(tree, paths)
        problems += (*files.problems, *ambiguous)
    unread = (*project.problems, *_unread(toml, project, files))
    # Where there are files of requirements, it does not matter that a build would compute them.
    problems += (*amiss, *(problem for problem in unread if problem.code != "MCP420" or not files.seen))
    blocks = [_read_script(source, tree) for source in scripts]
    others = [*files.packages(), *(item for packages, _ in blocks for item in packages)]
    choices = [*_choices(tree, settings, toml), *_own_extras(project.name, files, others)]
    written, unknown = chosen_requirements(project, choices)
    problems += unknown
    members = workspace_members(tree, toml) if toml else {}
    read = [read_written(item, tree, lambda name: members.get(name, "")) for item in written]
    problems += [item for item in read if isinstance(item, Diagnostic)]
    named = [item for item in read if isinstance(item, RequestedPackage)]
    problems += (*_unknown_extractions(settings, named, others, toml), *_pythons(tree, toml))
    problems += [problem for _, wrong in blocks for problem in wrong]
    marked = (*_marked(named, settings), *_marked(others, PackageSettings(settings.extract)))
    own = {project.name} - {""}
    general = PackageSettings(allow_sdist=allowed, exclude_newer=tree.options.exclude_newer or settings.exclude_newer)
    kept = _with_registries((item for item in marked if item.name not in own), toml)
    return Declarations(tuple(_marked(kept, general)), tuple(problems))


def _requirement_files(tree: SourceTree, toml: TomlText | None) -> tuple[RequirementFiles, Diagnostics]:
    """Return what the files of requirements say that count.

    Installers do not read `requirements.txt` beside `[project] dependencies`: there it counts if it names the project.
    """
    computed = _computed(toml) if toml else ()
    table = nested_table(toml.table, "project") if toml else {}
    every = read_requirement_files(tree, (MAIN_FILE, *computed))
    own = normalised_name(str(table.get("name", "")))
    is_list = every.names_project or any(item.name == own for item in every.requirements)
    if "dependencies" not in table or MAIN_FILE in computed or is_list:
        return every, ()
    counted = read_requirement_files(tree, computed)
    listed = table["dependencies"] if is_string_list(table["dependencies"]) else []
    known = {normalised_name(re.split(r"[^\w.-]", text.strip(), maxsplit=1)[0]) for text in listed}
    known |= {item.name for item in counted.requirements}
    more = [item for item in every.requirements if item.name not in known]
    return counted, ((diagnose("MCP427", more[0].span, _unread_message(more), "", ADD_TO_PROJECT),) if more else ())


def _unread_message(more: Sequence[RequestedPackage]) -> str:
    names = sorted({item.name for item in more})
    others = f" and {len(names) - 1} more are" if len(names) > 1 else " is"
    return f"`{MAIN_FILE}` is not read beside `[project] dependencies`: `{names[0]}`{others} not installed"


def _with_registries(packages: Iterable[RequestedPackage], toml: TomlText | None) -> Iterator[RequestedPackage]:
    """Yield packages with the registries that the project names."""
    origins = Origins(tuple(named_registries(toml)) if toml else ())
    return (replace(item, origins=origins) for item in packages)


def newest_date(tree: SourceTree) -> str:
    """Return the date up to which versions of a project's packages count, an empty text if it names none."""
    text = pyproject_text(tree)
    settings = package_settings(text)[0] if isinstance(text, TomlText) else PackageSettings()
    return tree.options.exclude_newer or settings.exclude_newer


def project_requirements(tree: SourceTree, text: TomlText | None) -> ProjectRequirements:
    """Return what the metadata of the project requires: that of the first form that declares requirements."""
    forms = [*([project_tables(text), poetry_requirements(text)] if text else []), *_setuptools(tree, text)]
    found = next((form for form in forms if form.declares), forms[0])
    # The last one counts: that of the form that declares requirements, else that of the first form.
    extras = {name: items for form in (*reversed(forms), found) for name, items in form.extras.items()}
    groups = {name: items for form in (*reversed(forms), found) for name, items in form.groups.items()}
    name = next((form.name for form in forms if form.name), "")
    read = [forms[0], found] if found.declares else forms
    problems = dict.fromkeys(problem for form in read for problem in form.problems)
    return ProjectRequirements(name, found.required, extras, groups, tuple(problems), found.declares)


def _setuptools(tree: SourceTree, text: TomlText | None) -> list[ProjectRequirements]:
    """Return what setuptools reads: no requirements, if `[project]` does not leave them to the build."""
    table = nested_table(text.table, "project") if text else {}
    read = setuptools_requirements(tree)
    return [read] if not table or "dependencies" in table.get("dynamic", ()) else [ProjectRequirements(read.name)]


def has_block(source: Source) -> bool:
    """Tell whether a script has a block of metadata."""
    return b"# /// script" in source.data


def _computed(text: TomlText) -> tuple[str, ...]:
    """Return the files from which a build backend reads the requirements."""
    found: list[str] = []
    for *place, key in COMPUTED:
        value = nested_table(text.table, *place).get(key)
        found += (
            [value] if isinstance(value, str) else value if isinstance(value, list) and is_string_list(value) else []
        )
    return tuple(found)


def _unread(text: TomlText | None, project: ProjectRequirements, files: RequirementFiles) -> Iterator[Diagnostic]:
    """Yield that a build backend computes the requirements, if nothing else says what they are."""
    if text is None or project.declares or files.seen:
        return
    dynamic = nested_table(text.table, "project").get("dynamic")
    if isinstance(dynamic, list) and "dependencies" in dynamic:
        message = f"the requirements of `{PROJECT}` are computed, and are not read without running its build"
        yield diagnose("MCP420", text.span_of("dependencies", "project"), message, "", HOW_TO_DECLARE)


def _read_script(source: Source, tree: SourceTree) -> tuple[list[RequestedPackage], Diagnostics]:
    """Return the requirements in the block of a script, with its own settings."""
    text = script_text(source)
    if not isinstance(text, TomlText):
        return [], () if text is None else (text,)
    project, (settings, problems) = script_requirements(text), package_settings(text)
    read = [read_written(item, tree) for item in project.required]
    named = [item for item in read if isinstance(item, RequestedPackage)]
    others = (*(item for item in read if isinstance(item, Diagnostic)), *problems, *project.problems)
    unknown = _unknown_extractions(settings, named, (), text)
    return _marked(named, settings), (*others, *unknown, *wrong_python(text, is_script=True))


def _choices(tree: SourceTree, settings: PackageSettings, text: TomlText | None) -> Iterator[ChosenOption]:
    """Yield the extras and groups that the build options and the settings choose."""
    yield from (ChosenOption(name, "extra") for name in tree.options.extras)
    yield from (ChosenOption(name, "group") for name in tree.options.groups)
    if text is not None:
        yield from (ChosenOption(name, "extra", text.span_of(name, *SETTINGS)) for name in settings.extras)
        yield from (ChosenOption(name, "group", text.span_of(name, *SETTINGS)) for name in settings.groups)


def _own_extras(own: str, files: RequirementFiles, others: Iterable[RequestedPackage]) -> Iterator[ChosenOption]:
    """Yield the extras with which the project is required in its own files."""
    yield from (ChosenOption(name, "extra", span) for name, span in files.own)
    for item in others:
        if own and item.name == own:
            yield from (ChosenOption(name, "extra", item.span) for name in sorted(Requirement(item.text).extras))


def _marked(found: Iterable[RequestedPackage], settings: PackageSettings) -> list[RequestedPackage]:
    """Return requirements with the settings that concern them."""
    names = set(map(normalised_name, settings.extract))
    return [
        replace(
            item,
            extracted=item.extracted or item.name in names,
            from_source=item.from_source or settings.allow_sdist,
            exclude_newer=item.exclude_newer or settings.exclude_newer,
        )
        for item in found
    ]


def _unknown_extractions(
    settings: PackageSettings,
    found: Iterable[RequestedPackage],
    others: Iterable[RequestedPackage],
    text: TomlText | None,
) -> Iterator[Diagnostic]:
    """Yield names to extract that are not among the requirements."""
    asked = {item.name for item in (*found, *others)}
    for name in settings.extract if text else ():
        if text is not None and normalised_name(name) not in asked:
            message = f"`{name}` is to be extracted, but is not in `dependencies`"
            span = text.span_of(name, *SETTINGS)
            yield diagnose("MCP401", span, message, "", f"add `{name}` to `dependencies`")


def _pythons(tree: SourceTree, text: TomlText | None) -> Iterator[Diagnostic]:
    """Yield that the Python of the build is not one that the project allows."""
    if text is not None:
        yield from wrong_python(text, is_script=False)
        if REQUIRES_PYTHON in nested_table(text.table, "project"):
            return
    written = setuptools_python(tree)
    if written is not None:
        yield from judge_python(*written, "python_requires")
