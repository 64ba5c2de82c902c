"""Which test files a change reaches: those whose imports, followed to the end, have a changed file.

A server that a test builds counts as all of the runtime and all that `mcpc build` imports; a command that it runs, as that
command's module.  What is imported by a name in a string counts as imported.  Where a file cannot be placed, all is reached.
O(files), half a second: imports are read by expressions, not by a parser.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from support.needs import ROOT

SOURCES = ("compiler", "runtime", "tests", "docs")
"""The folders that modules are imported from."""
FROM = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n(]+)", re.MULTILINE)
IMPORT = re.compile(r"^import ([\w.]+)", re.MULTILINE)
STRING = re.compile(r"""["'](mcp_compiler|(?:mcpc|mcpc_runtime)(?:\.\w+)+)[:"']""")
TYPES_ONLY = re.compile(r"^if TYPE_CHECKING:\n(?:(?: .*)?\n)+", re.MULTILINE)
ALIAS = re.compile(r"(\w+)(?: as \w+)?")
WORD = re.compile(r"""["']([a-z]+)["']""")
RUNS_COMMANDS = re.compile(r"""\bmcpc\(|["']-m["'], ["']mcpc["']|command_server""")
ARTIFACT = "tests/support/artifact.py"
SHARED_SERVERS = re.compile(r"\b(?:files|everything|http)_server\b")
"""The fixtures of tests/conftest.py that are built servers."""
PACKED = ("runtime/mcpc_runtime/", "templates/")
"""What `mcpc build` puts into every file, and no module imports."""
ADAPTERS = {
    "runtime/mcpc_runtime/transports/platforms/": "runtime/mcpc_runtime/transports/platforms/posix/",
    "compiler/mcpc/sandbox/platforms/": "compiler/mcpc/sandbox/platforms/posix",
    "compiler/mcpc/sandbox/confinement/": "compiler/mcpc/sandbox/confinement/posix/",
}
"""The folders of ports, and the beginnings of the paths of the adapters that they import by a name they put together."""
NAMED = ("examples/", "bench/", "docs/", "templates/", "stubs/", ".ci/")
"""Folders whose files reach the tests that name the folder."""
OF_NO_TEST = re.compile(
    r"[^/]+\.md|LICENSE|\.gitignore|\.github/.*|\.pre-commit-config\.yaml|tests/lint/.*|compiler/mcpc/diagnostics/pages/.*"
)
"""What `make lint` checks, and tests do not."""
OF_ALL = re.compile(r"pyproject\.toml|requirements.*\.lock|Makefile|tests/conftest\.py")


class Imports:
    """The imports of all modules and tests: paths from the root, with slashes."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        folders = [root / name for name in SOURCES]
        files = sorted(path for folder in folders for path in folder.rglob("*.py"))
        self.texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in files}
        self.tests = [path for path in self.texts if re.fullmatch(r"tests/(.*/)?test_\w+\.py", path)]
        self.edges = {path: {*self._edges(path)} for path in self.texts}

    @cache  # noqa: B019 - one object a process
    def module(self, name: str) -> str | None:
        for folder in SOURCES:
            for path in (f"{folder}/{name.replace('.', '/')}{end}" for end in (".py", "/__init__.py")):
                if path in self.texts:
                    return path
        return None

    def _named(self, text: str) -> Iterator[str]:
        """Yield the dotted names of what a text imports, also of what may be no module."""
        for package, names in FROM.findall(TYPES_ONLY.sub("", text)):
            yield package
            yield from (f"{package}.{name}" for name in ALIAS.findall(re.sub("#.*", "", names)))
        yield from IMPORT.findall(text)
        yield from STRING.findall(text)

    def _edges(self, path: str) -> Iterator[str]:
        text = self.texts[path]
        for name in self._named(text):
            parts = name.split(".")
            dotted = (".".join(parts[: count + 1]) for count in range(len(parts)))
            yield from (file for each in dotted if (file := self.module(each)))
        if path.startswith("tests/"):
            if path != ARTIFACT and RUNS_COMMANDS.search(text):
                words = {"import_" if word == "import" else word for word in WORD.findall(text)}
                yield from (file for word in words if (file := self.module(f"mcpc.cli.{word}")))
            folders = path.split("/")[:-1]
            conftests = ("/".join([*folders[: count + 1], "conftest.py"]) for count in range(1, len(folders)))
            yield from (file for file in conftests if file in self.texts)
            if SHARED_SERVERS.search(text):
                yield ARTIFACT
        if path == ARTIFACT:
            yield from (file for file in self.texts if file.startswith(PACKED))
        for ports, adapter in ADAPTERS.items():
            if path.startswith(ports) and not path.startswith(adapter):
                yield from (file for file in self.texts if file.startswith(adapter))

    def dependents(self, changed: Iterable[str]) -> set[str]:
        """Return the files that import one of these, directly or not, and these."""
        importers: dict[str, list[str]] = {}
        for path, targets in self.edges.items():
            for target in targets:
                importers.setdefault(target, []).append(path)
        reached, waiting = set[str](), list(changed)
        while waiting:
            path = waiting.pop()
            if path not in reached:
                reached.add(path)
                waiting += importers.get(path, ())
        return reached

    def tests_of(self, changed: Iterable[str]) -> list[str] | None:
        """Return the test files that these changed files reach, sorted; None if that is all of them."""
        modules: set[str] = set()
        for path in changed:
            if OF_ALL.fullmatch(path):
                return None
            if not OF_NO_TEST.fullmatch(path):
                placed = self._placed(path)
                if not placed:
                    return None
                modules |= placed
        return sorted(self.dependents(modules).intersection(self.tests))

    def _placed(self, path: str) -> set[str]:
        """Return the modules that a changed file counts as; none if it cannot be placed."""
        if path.startswith(("tests/", *NAMED)) and not path.endswith(".py"):
            named = path.split("/")
            words = {named[0]} if path.startswith(NAMED) else {named[-1], named[-2]} - {"tests", "golden"}
            found = {test for test, text in self.texts.items() if any(word in text for word in words)}
            return {test for test in found if test.startswith("tests/") or path.startswith("templates/")}
        folder = path
        while "/" in folder and path not in self.texts:  # deleted, or data beside modules
            folder = folder.rpartition("/")[0]
            beside = {file for file in self.texts if file.startswith(f"{folder}/")}
            if beside:
                return beside
        return {path} if path in self.texts else set()


def changed_files(base: str) -> list[str]:
    """Return the files that differ from a commit, and those git does not know yet."""
    commands = (["diff", "--name-only", "--no-renames", base, "--"], ["ls-files", "--others", "--exclude-standard"])
    said = [subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True) for words in commands]
    return sorted({line for one in said for line in one.stdout.splitlines()})
