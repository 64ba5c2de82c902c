"""What packages contain and bring: the packages of each requirement, and of each package its modules and its size.

Of files of one kind a few are deflated to learn how much smaller they become; bytecode is stored.

A kind of file stays if the package's own code mentions that it reads it, and tests stay if any package imports them.  A
package that the project wants extracted (`[tool.mcpc] extract`) stays whole.  Licences and metadata always stay.

The packages of several requirements are the union of those of each, so that the packages of only one requirement are a
difference of sets.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from mcpc.model.ir import PackageContents, PackageRequirement
from mcpc.packages.installed_files import packages_in
from mcpc.packages.pep508 import find_closure, normalised_name, valid_requirements
from mcpc.packages.platforms import Target, marker_values
from mcpc.packages.staging import importable_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.model import Distribution, StagedPackages
    from mcpc.packages.native_packages import SplitPackage
    from mcpc.packages.pep508 import Installed


if TYPE_CHECKING:
    Packages = Mapping[str, Installed]

IMPORTED = re.compile(rb"\b(?:import|from|import_module\(|__import__\()[ \t]*[\"']?([A-Za-z_]\w*)")
COMMANDS = frozenset({"console_scripts", "gui_scripts"})
"""Groups of entry points that other packages do not read."""


def packages_of_requirements(
    wanted: Iterable[RequestedPackage], staged: Sequence[StagedPackages]
) -> tuple[PackageRequirement, ...]:
    """Return the packages that each requirement adds on any platform; requirements of one name are merged.

    O(requirements x packages).
    """
    places = [(item, packages_in(item.root)) for item in staged]
    requirements: dict[str, PackageRequirement] = {}
    for entry in wanted:
        names = frozenset(name for stage, packages in places for name in _closure(entry.text, stage, packages))
        before = requirements.get(entry.name, PackageRequirement(entry.name, entry.span, frozenset()))
        requirements[entry.name] = PackageRequirement(entry.name, before.span, before.brings | names)
    return tuple(requirements.values())


def _closure(text: str, stage: StagedPackages, packages: Packages) -> Iterable[str]:
    return find_closure((text,), packages.get, marker_values(Target(stage.platform, stage.python))).found


def package_contents(parts: Sequence[SplitPackage], staged: Sequence[StagedPackages]) -> dict[str, PackageContents]:
    """Return the properties of each package, by its name."""
    modules: dict[str, frozenset[str]] = {}
    for stage in staged:
        for distribution in stage.distributions:
            modules[distribution.name] = modules.get(distribution.name, frozenset()) | importable_names((distribution,))
    notes = {name: package for stage in staged for name, package in packages_in(stage.root).items()}
    known = frozenset(name for names in modules.values() for name in names)
    return {
        name: PackageContents(
            modules[name],
            approximate_size(part),
            frozenset(normalised_name(requirement.name) for requirement in valid_requirements(notes[name])),
            frozenset(item.group for item in notes[name].entry_points) - COMMANDS,
            _imported_modules(part) & known,
        )
        for part in parts
        for name in (part.distribution.name,)
    }


def _imported_modules(part: SplitPackage) -> frozenset[str]:
    """Return the top-level modules that the sources of a package seem to import."""
    texts = (data for path, data in part.files().items() if path.endswith(".py"))
    return frozenset(name.decode() for data in texts for name in set(IMPORTED.findall(data)))


BYTECODE_RATIO = 1.1
"""Bytes of bytecode per byte of source, an average of many packages."""
ENTRY_BYTES = 140
"""Bytes of an archive entry besides its data and three times its name: headers, and a line of the manifest."""
SAMPLED_FILES, SAMPLED_BYTES = 8, 1 << 16


def approximate_size(part: SplitPackage) -> int:
    """Return the approximate bytes of a package in the artifact: its files, and bytecode of what is not extracted."""
    files = [*part.plain.items(), *(row for variant in part.variants for row in variant.files.items())]
    by_kind: dict[str, list[bytes]] = {}
    for path, data in files:
        by_kind.setdefault(PurePosixPath(path).suffix, []).append(data)
    stored = sum(deflated_size(group) for group in by_kind.values())
    stored += sum(ENTRY_BYTES + 3 * len(path) for path, _ in files)
    return stored + int(BYTECODE_RATIO * sum(len(data) for path, data in part.plain.items() if path.endswith(".py")))


def deflated_size(files: Sequence[bytes]) -> int:
    """Return the approximate size of some files of one kind after they were deflated."""
    step = max(len(files) // SAMPLED_FILES, 1)
    # Every n-th file and not the first ones, because neighbours are often alike.
    samples = [data[:SAMPLED_BYTES] for data in files[::step]]
    whole = sum(map(len, samples))
    return int(sum(map(len, files)) * sum(len(zlib.compress(data)) for data in samples) / whole) if whole else 0


def own_paths(files: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the highest folders (`name/`) and the files that only one package has, by package; `files`: its paths."""
    owners: dict[str, str | None] = {}
    for package, paths in files.items():
        for place in {above for path in paths for above in _lineage(path)}:
            # None, once a second package has it, stays None.
            owners[place] = package if owners.get(place, package) == package else None
    return {
        package: tuple(
            sorted({next(place for place in _lineage(path) if owners[place] or place == path) for path in paths})
        )
        for package, paths in files.items()
    }


def _lineage(path: str) -> list[str]:
    """Return the folders that contain a file, the highest first, and the file."""
    parts = path.split("/")
    return [*("/".join(parts[:number]) + "/" for number in range(1, len(parts))), path]


@dataclass(frozen=True, slots=True)
class UnneededKind:
    """A kind of files by their paths; `used`: what a package's code contains that reads them, None if none does."""

    path: re.Pattern[str]
    used: re.Pattern[bytes] | None


KINDS = (
    # Inside of a package only: `tests` at the top may be all that a package is.
    UnneededKind(re.compile(r".*/tests?/.*"), None),
    UnneededKind(re.compile(r".*\.pyi"), re.compile(rb"\battach_stub\b|\.pyi\b")),
    UnneededKind(re.compile(r"(?:.*/)?py\.typed"), None),
    UnneededKind(
        re.compile(r".*\.(?:[ch]|cc|cpp|cxx|hh|hpp|hxx|pyx|pxd|pxi|f90|a|lib|pdb)"),
        re.compile(
            rb"\bget_include\b|\binclude_dirs?\b|[\"']include\b|\.(?:[ch]|cc|cpp|cxx|hh|hpp|hxx|pyx|pxd|a)[\"']"
        ),
    ),
    # Modules stay, because a package may import them.
    UnneededKind(re.compile(r".+/(?:docs?|examples)/.*(?<!\.py)"), re.compile(rb"[\"'/][\w./]*\b(?:docs?|examples)\b")),
    UnneededKind(re.compile(r"(?i:README|CHANGELOG|CHANGES|HISTORY|AUTHORS|CONTRIBUTING)(?:\.\w+)?"), None),
)
TESTS = KINDS[0].path
IMPORT = re.compile(
    rb"^[ \t]*from[ \t]+(?P<from>\.*[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n]*)"
    rb"|^[ \t]*import[ \t]+(?P<modules>[^\n]*)"
    rb"|[\"'](?P<text>(?:[A-Za-z_]\w*\.)+tests?)\b",
    re.MULTILINE,
)
NAME = re.compile(r"[\w.]+")


def names_with_imported_tests(contents: Mapping[str, bytes]) -> frozenset[str]:
    """Return the top-level names whose tests the code of some package imports, outside of tests."""
    folders = {found[0] for path in contents if (found := re.match(r".*?/tests?(?=/)", path))}
    known = {folder.replace("/", ".") for folder in folders}
    return frozenset(
        name.partition(".")[0]
        for path, data in contents.items()
        if path.endswith(".py") and b"test" in data and not TESTS.fullmatch(path)
        for name in imported_names(path, data)
        if not known.isdisjoint(_above(name))
    )


def imported_names(path: str, data: bytes) -> Iterator[str]:
    """Yield the dotted names that a module imports or names, those of relative imports from the top."""
    package = path.split("/")[:-1]
    for found in IMPORT.finditer(data):
        if b"test" not in found[0]:
            continue
        text = {key: (value or b"").decode("utf-8", "replace") for key, value in found.groupdict().items()}
        yield from NAME.findall(text["modules"])
        yield from filter(None, (text["text"],))
        dots = len(text["from"]) - len(text["from"].lstrip("."))
        # One dot is the package itself, each further one the package above.
        base = ".".join((*package[: len(package) - dots + 1], *filter(None, (text["from"].lstrip("."),))))
        start = base if dots else text["from"]
        yield from (f"{start}.{name}" for name in NAME.findall(text["names"]) if start)


def _above(name: str) -> Iterator[str]:
    """Yield a dotted name and those above it."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def needed_files(
    distribution: Distribution, files: Mapping[str, bytes], tested: Iterable[str] = ()
) -> dict[str, bytes]:
    """Return the files of a package without those that no run needs; `tested`: names whose tests are imported."""
    information = f"{distribution.information}/"
    tested = frozenset(tested)
    found = {
        number: paths
        for number, kind in enumerate(KINDS)
        if (paths := {path for path in files if kind.path.fullmatch(path) and not path.startswith(information)})
    }
    code = [data for path, data in files.items() if path.endswith(".py") and not TESTS.fullmatch(path)]
    gone: set[str] = set()
    for number, paths in found.items():
        used = KINDS[number].used
        if used is None or not any(used.search(data) for data in code):
            is_tests = KINDS[number].path is TESTS
            gone |= {path for path in paths if not is_tests or path.partition("/")[0] not in tested}
    return {path: data for path, data in files.items() if path not in gone}
