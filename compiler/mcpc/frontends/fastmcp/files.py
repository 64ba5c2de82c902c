"""What a project's program gets beside every file of the project, and which of them say what packages it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.frontends.fastmcp.imports import SIDE_FILE, SIDE_FOLDERS
from mcpc.frontends.installed_metadata import InstalledPackage, installed_files, metadata_files, project_entry_points
from mcpc.reading.source import is_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.frontends.fastmcp.project_settings import ProjectSettings
    from mcpc.reading import Source, SourceTree

TESTS = frozenset({"test", "tests"})


def program_scripts(tree: SourceTree, entry_file: str) -> list[Source]:
    """Return the Python files whose imports say which packages a program needs.

    Those of tests, examples and tools beside it do only if it is one of them, or if the program names their folder.
    """
    scripts = [source for path, source in tree.files.items() if path.endswith(".py")]
    folders = {source.path: source.path.partition("/")[0] for source in scripts}
    program = {source.path: source for source in scripts if folders[source.path] not in SIDE_FOLDERS}
    packages = {path.removesuffix("/__init__.py") for path in tree.files}
    named = {
        folder
        for folder in {*folders.values()} & SIDE_FOLDERS - TESTS
        if folder in packages or is_named(folder, program.values())
    }
    known = named | {entry_file.partition("/")[0]}
    return [
        source
        for source in scripts
        if (source.path in program or folders[source.path] in known) and not SIDE_FILE.fullmatch(source.path)
    ]


def project_information(
    tree: SourceTree, settings: ProjectSettings, paths: tuple[str, ...], replaced: Mapping[str, str]
) -> Iterator[Source]:
    """Yield the metadata of the project and of packages that have stand-ins, beside the project's packages.

    `replaced`: the versions of these packages, by name.
    """
    folder = f"{paths[0]}/" if paths and paths[0] else ""
    packages = [InstalledPackage(name, version) for name, version in sorted(replaced.items())]
    if settings.name:
        files = installed_files(tree.files, folder)
        points = project_entry_points(tree)
        packages.append(InstalledPackage(settings.name, settings.version, settings.description, points, files))
    for package in packages:
        yield from metadata_files(package, folder)
