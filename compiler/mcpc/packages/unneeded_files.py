"""Files of packages that no run needs, and that are left out: tests, stubs, C sources and documentation.

A kind of file stays if the package's own code mentions that it reads it, and tests stay if any package imports them.  A
package that the project wants extracted (`[tool.mcpc] extract`) stays whole.  Licences and metadata always stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.packages.model import Distribution


@dataclass(frozen=True, slots=True)
class UnneededKind:
    """A kind of files by their paths; `used`: what a package's code contains that reads them, None if none does."""

    path: re.Pattern[str]
    used: re.Pattern[bytes] | None


KINDS = (
    UnneededKind(re.compile(r".*/tests?/.*"), None),
    UnneededKind(re.compile(r".*\.pyi"), re.compile(rb"\battach_stub\b|\.pyi\b")),
    UnneededKind(re.compile(r"(?:.*/)?py\.typed"), None),
    UnneededKind(
        re.compile(r".*\.(?:[ch]|cc|cpp|cxx|hh|hpp|hxx|pyx|pxd|pxi|f90|a|lib|pdb)"),
        re.compile(
            rb"\bget_include\b|\binclude_dirs?\b|[\"']include\b|\.(?:[ch]|cc|cpp|cxx|hh|hpp|hxx|pyx|pxd|a)[\"']"
        ),
    ),
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
