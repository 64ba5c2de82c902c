"""Complete and quick checks of an open project, both by the compiler's pipeline.

The quick check runs it on a copy of the project in which everything is blank but what changed, and what has its name;
what it finds there replaces what was known of these places. Nothing of the project is run unless the user asks for it,
and no package is installed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcpc.packages import declare_packages
from mcpc.pipeline import CheckResult, analyse
from mcpc.reading import parse_json
from mcpc.reading.source import source_of_text
from mcpc.workbench.language_server.file_groups import groups_in, words_in
from mcpc.workbench.language_server.open_project import by_path
from mcpc.workbench.language_server.reduction import keys_of, slicer_of
from mcpc.workbench.testing.case_files import FOLDER, SUFFIXES, read_cases, unknown_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Server
    from mcpc.options import Options
    from mcpc.reading import Source, SourceTree
    from mcpc.workbench.language_server.file_groups import FileGroup
    from mcpc.workbench.language_server.open_project import OpenProject
    from mcpc.workbench.language_server.reduction import PartialText, Slices
    from mcpc.workbench.language_server.text_buffer import BufferEdit

NOT_SHOWN = frozenset({"MCP285", "MCP716"})
"""Diagnostics that only say that nothing of the project is run."""
SCRIPTS = (".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx")
CASE_FILE = re.compile(rf"{FOLDER}/[^/.][^/]*(?:{'|'.join(map(re.escape, SUFFIXES))})")
Region = tuple[str, int, int]
"""A path, and the offsets of a part of that file."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What changed in one file: numbers of slices, None for the whole file; `touched`: names that it had before."""

    path: str
    numbers: set[int] | None
    touched: frozenset[str]

    def keys_in(self, slices: Slices | None, text: str, group: FileGroup | None) -> frozenset[str]:
        """Return the names of the definitions that changed, as they were and as they are."""
        if slices is not None and self.numbers is not None:
            return self.touched.union(*(slices.keys[number] for number in self.numbers))
        if group is None:
            return self.touched
        return self.touched | group.keys | (keys_of(text, True) if self.path.endswith(".json") else frozenset())

    def text_in(self, slices: Slices | None, text: str) -> str:
        """Return what changed, as it is, with what is around the slices of its file, such as imports."""
        if slices is None or self.numbers is None:
            return text
        changed = (text[slices.starts[number] : slices.ends[number]] for number in self.numbers)
        return "\n".join((*changed, slices.blanked))


class StaleError(Exception):
    """The project has changed: the result of a check would not be used."""


def check_completely(
    tree: SourceTree, found: Diagnostics, options: Options, is_stale: Callable[[], bool] = lambda: False
) -> CheckResult:
    """Return the result of the whole pipeline up to its checks; raise StaleError as soon as it is not needed."""

    def at_stage(_stage: str) -> None:
        if is_stale():
            raise StaleError

    result = analyse(tree, found, options, at_stage, declare_packages)
    shown = tuple(problem for problem in result.diagnostics if problem.code not in NOT_SHOWN)
    return replace(result, diagnostics=shown)


def case_problems(tree: SourceTree, result: CheckResult) -> Diagnostics:
    """Return what is wrong with the files of test cases, and with the names of what they call."""
    sources = {path: source for path, source in tree.files.items() if CASE_FILE.fullmatch(path)}
    cases, problems = read_cases(sources)
    if result.server is None or not cases:
        return problems
    offered = {
        "tool": [tool.name for tool in result.server.tools],
        "prompt": [prompt.name for prompt in result.server.prompts],
        "complete": completed_names(result.server),
    }
    return (*problems, *unknown_targets(cases, offered))


def completed_names(server: Server) -> list[str]:
    """Return the arguments of prompts and templates that a case can complete, by its names of them."""
    names = [f"{prompt.name} {each.name}" for prompt in server.prompts for each in prompt.arguments]
    names += [f"{template.uri.text} {each.name}" for template in server.templates for each in template.uri.variables]
    return [*dict.fromkeys([*(completion.name for completion in server.completions), *names])]


@dataclass(frozen=True, slots=True)
class ReducedProject:
    """A project that is blank but for some parts; `regions`: what a check of it decides. `partial`: files by path."""

    tree: SourceTree
    regions: tuple[Region, ...]
    partial: Mapping[str, PartialText]

    def original(self, problem: Diagnostic) -> Diagnostic:
        """Return a problem of this project with its place in the whole one."""
        file = self.partial.get(problem.span.path) if problem.span is not None else None
        return (
            problem if file is None or problem.span is None else replace(problem, span=file.original_span(problem.span))
        )


def check_quickly(project: OpenProject) -> set[str]:
    """Check what has changed since the last check; return the paths whose diagnostics may differ now.

    What waits for the complete check: cases, since they call definitions of the whole project; scripts, which a bundler
    has to read; and a project whose code is run to know its definitions.
    """
    dirty, project.dirty = project.dirty, {}
    outside, project.outside = project.outside, {}
    touched, project.touched = frozenset(project.touched), set()
    changed: set[str] = set()
    for path in outside:
        slices = project.slices.get(path)
        changed |= _check_syntax(project, path) if slices is None or not slices.is_loose else set()
    for path, numbers in dirty.items():
        if project.text(path) is None:
            changed |= _replace(project, ((path, 0, 0),), ())
        elif CASE_FILE.fullmatch(path) or path.endswith(SCRIPTS) or project.options.imports:
            changed.add(path)
        elif numbers is not None or slicer_of(path) is None or project.slices_of(path) is None:
            changed |= _check_part(project, FileChange(path, numbers, touched), outside.get(path))
    return changed


def _check_part(project: OpenProject, change: FileChange, outside: BufferEdit | None) -> set[str]:
    reduced = reduce_project(project, change)
    slices = project.slices_of(change.path)
    gap = () if outside is None or slices is None else ((change.path, *slices.gap(outside.start)),)
    found = check_completely(reduced.tree, (), project.options).diagnostics
    return _replace(project, (*reduced.regions, *gap), map(reduced.original, found))


def _check_syntax(project: OpenProject, path: str) -> set[str]:
    """Check the syntax of a JSON file that changed as a whole; its other diagnostics wait for the complete check."""
    source = project.source(path)
    if source is None or not path.endswith(".json"):
        return {path}
    _, problems = parse_json(source)
    codes = {"MCP001", "MCP002", "MCP003", "MCP007", "MCP008", "MCP010"}
    kept = [problem for problem in project.found.get(path, ()) if problem.code not in codes]
    project.found[path] = [*kept, *problems]
    return {path}


def _replace(project: OpenProject, regions: tuple[Region, ...], found: Iterable[Diagnostic]) -> set[str]:
    """Replace the diagnostics of regions; return the paths that have some."""
    new = by_path(problem for problem in found if _is_in(problem, regions))
    for path in {region[0] for region in regions}:
        own = tuple(region for region in regions if region[0] == path)
        kept = [problem for problem in project.found.get(path, ()) if not _is_in(problem, own)]
        project.found[path] = [*kept, *new.get(path, ())]
    return {region[0] for region in regions}


def _is_in(problem: Diagnostic, regions: tuple[Region, ...]) -> bool:
    span = problem.span
    return span is not None and any(
        span.path == path and (start == end == 0 or start <= span.start <= end) for path, start, end in regions
    )


def reduce_project(project: OpenProject, change: FileChange) -> ReducedProject:
    """Return a project with the changed part of one file, and what has the same names in the others."""
    tree = project.tree()
    groups = groups_in(tuple(tree.files))
    slices = project.slices_of(change.path) if change.numbers is not None else None
    text = project.text(change.path) or ""
    keys = change.keys_in(slices, text, groups.get(change.path))
    linked = keys_of_definitions(project, tree, keys)
    concerned = {group for path, group in groups.items() if keys & (group.keys | file_keys(tree.files[path]))}
    mentioned = words_in(change.text_in(slices, text))
    names = definition_names(project, tree)
    files: dict[str, Source] = {}
    partial: dict[str, PartialText] = {}
    regions: list[Region] = [] if slices is not None else [(change.path, 0, 0)]
    for path, source in tree.files.items():
        own, group = project.slices_of(path), groups.get(path)
        if own is not None:
            chosen = {
                *own.with_keys(keys if own.separated else linked),
                *((change.numbers or ()) if path == change.path else ()),
            }
            if group is not None and not chosen and group.name not in mentioned and path != change.path:
                continue
            regions += [(path, own.starts[number], own.ends[number]) for number in sorted(chosen)]
            kept = chosen | (set() if own.separated else unnamed(own, names)) or {0}
            partial[path] = own.with_only(sorted(kept))
            files[path] = source_of_text(path, partial[path].text, source.mode)
        elif group in concerned:
            files[path] = source
            regions.append((path, 0, 0))
        elif path == change.path or group is None or group.name in mentioned:
            files[path] = source
    return ReducedProject(replace(tree, files=MappingProxyType(files)), tuple(regions), partial)


def keys_of_definitions(project: OpenProject, tree: SourceTree, keys: frozenset[str]) -> frozenset[str]:
    """Return keys, and all of the definitions in lists that have one of them: their functions are needed, too."""
    sliced = [own for own in map(project.slices_of, tree.files) if own is not None and own.separated]
    return keys.union(*(own.keys[number] for own in sliced for number in own.with_keys(keys)))


def definition_names(project: OpenProject, tree: SourceTree) -> frozenset[str]:
    """Return the keys of all definitions in JSON files."""
    found: set[str] = set()
    groups = groups_in(tuple(tree.files))
    for path, source in tree.files.items():
        slices = project.slices_of(path)
        if slices is not None and slices.separated:
            found.update(*slices.keys)
        elif path in groups:
            found |= file_keys(source)
    return frozenset(found)


def unnamed(slices: Slices, names: frozenset[str]) -> set[int]:
    """Return the functions that belong to no definition: others may call them."""
    pairs = enumerate(zip(slices.starts, slices.keys, strict=True))
    return {number for number, (start, keys) in pairs if not keys & names and slices.text[start] != "@"}


KEYS_OF_FILES: dict[bytes, frozenset[str]] = {}
MAX_KEYS, MAX_KEPT_BYTES = 20_000, 1 << 14


def file_keys(source: Source) -> frozenset[str]:
    """Return the keys of a file in a folder of definitions, if it is JSON, remembered by its content."""
    if not source.path.endswith(".json"):
        return frozenset()
    found = KEYS_OF_FILES.get(source.data)
    if found is None and len(source.data) > MAX_KEPT_BYTES:
        return keys_of(source.text, True)
    if found is None:
        if len(KEYS_OF_FILES) >= MAX_KEYS:
            KEYS_OF_FILES.clear()
        found = KEYS_OF_FILES[source.data] = keys_of(source.text, True)
    return found
