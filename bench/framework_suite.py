"""Run FastMCP's own tests of servers as a build would handle their servers, and sort what fails.

    python bench/framework_suite.py [-o FILE] [--paths PATH ...] [VERSION ...]

Each VERSION (4.1.2 and 4.2.3) is installed into `.cache/frameworks`, with the tests of its source distribution. Each
file with tests runs twice, with the framework and with the adapter, neither with the tests' conftest.py. Only what
passes with the framework counts, and of it only what applies: `framework_rule.py` says which tests do, and why others
do not. A test that names what the adapter lacks is handled by the framework itself, as `mcpc build` decides, so it
passes. What the adapter fails is of the first class in `CLASSES` whose pattern the end of its traceback has; `differs`
is what is left, and what matters.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from collections import Counter
from pathlib import Path

import framework_rule
import places

VERSIONS = ("4.1.2", "4.2.3")
PATHS = (
    "tests/tools",
    "tests/resources",
    "tests/prompts",
    "tests/server/mount",
    "tests/server/middleware",
    "tests/server/providers",
    "tests/server/transforms",
    "tests/server/versioning",
    *(
        f"tests/server/test_{name}.py"
        for name in (
            "context",
            "dependencies",
            "dependencies_advanced",
            "icons",
            "import_server",
            "input_validation",
            "logging",
            "mount",
            "pagination",
            "providers",
            "server",
            "server_interactions",
            "server_lifespan",
            "session_visibility",
            "tool_annotations",
            "tool_transformation",
            "completions",
            "call_arguments",
        )
    ),
)
"""The tests that use what a server's author uses; those that a version does not have are left out."""
PASSES, ORIGINAL, BROKEN = "passes with the adapter", "the framework itself", "pytest ends"
CLASSES = {
    "has no stand-in": r"the adapter does not have|UnsupportedFeatureError|placeholders\.py",
    "imports what is not there": r"ModuleNotFoundError|ImportError",
    "uses a name that is not there": r"AttributeError|got an unexpected keyword argument",
    "takes too long": r"Timeout",
    "differs": r"",
}
"""The classes of failures of the adapter, by what the end of the traceback says."""
INI = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\ntimeout = 10\n"
TOOLS = ("pytest", "pytest-asyncio", "pytest-timeout", "inline-snapshot", "dirty-equals")
INDEX = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or "https://pypi.org/simple"
SIMPLE = "application/vnd.pypi.simple.v1+json"
ASKS = (
    "import json, sys; from mcpc_runtime.systems.fastmcp import standins; standins.install(*sys.argv[1:]);"
    "from mcpc_runtime.systems.fastmcp.description import is_there;"  # it prints to standard error from here on
    "print(json.dumps([name for name in json.load(sys.stdin) if not is_there(name)]), file=sys.__stdout__)"
)
"""Prints which of the names on standard input the adapter lacks."""
Outcomes = dict[str, dict[str, str]]


class Suite:
    """The tests of one version of FastMCP, and the Python that has it."""

    def __init__(self, version: str, paths: list[str]) -> None:
        self.version = version
        self.generation = f"fastmcp{version.partition('.')[0]}"
        folder = places.ROOT / ".cache/frameworks"
        self.checkout = folder / f"fastmcp-{version}"
        if not self.checkout.exists():
            fetch_source(version, folder)
        self.python = installed(version)
        self.files = [path for part in paths or PATHS for path in self._below(part)]

    def _below(self, part: str) -> list[str]:
        place = self.checkout / part
        found = sorted(place.rglob("test_*.py")) if place.is_dir() else [place] if place.exists() else []
        return [str(path.relative_to(self.checkout)) for path in found]

    def outcomes(self, generation: str) -> Outcomes:
        """Return the outcomes of all tests, with the adapter of a generation, or with the framework."""
        found: Outcomes = {}
        for file in self.files:
            found |= self._run(file, generation)
        return found

    def _run(self, file: str, generation: str) -> Outcomes:
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "pytest.ini").write_text(INI)
            outcomes = Path(name) / "outcomes.json"
            variables = {
                **os.environ,
                "PYTHONPATH": os.pathsep.join((str(places.ROOT / "bench"), str(places.ROOT / "runtime"))),
                "MCPC_STANDINS": generation,
                "MCPC_VERSION": self.version,
                "MCPC_OUTCOMES": str(outcomes),
                "FASTMCP_TEST_MODE": "1",
                "HOME": name,
            }
            argv = [
                self.python,
                "-m",
                "pytest",
                "-q",
                "--noconftest",
                "-p",
                "framework_plugin",
                "-p",
                "no:cacheprovider",
            ]
            more = ["-c", f"{name}/pytest.ini", f"--rootdir={self.checkout}", "--continue-on-collection-errors", file]
            done = subprocess.run(
                [*argv, *more], cwd=self.checkout, env=variables, capture_output=True, text=True, check=False
            )
            if outcomes.exists():
                found: Outcomes = json.loads(outcomes.read_text())
                return found
            return {file: {"outcome": BROKEN, "said": done.stdout[-2000:] + done.stderr[-2000:]}}

    def lacking(self, tests: list[str]) -> dict[str, str]:
        """Return the first name that the adapter lacks of each test that has one."""
        named = {test: framework_rule.names_of(self.checkout, test) for test in tests}
        every = json.dumps(sorted({name for names in named.values() for name in names}))
        variables = {**os.environ, "PYTHONPATH": str(places.ROOT / "runtime")}
        argv = [self.python, "-c", ASKS, self.generation, self.version]
        said = subprocess.run(argv, input=every, env=variables, stdout=-1, text=True, check=True).stdout
        missing = set(json.loads(said.splitlines()[-1]))
        found = {test: next((name for name in names if name in missing), "") for test, names in named.items()}
        return {test: name for test, name in found.items() if name}

    def rows(self) -> Outcomes:
        """Return each test that passes with the framework, with what becomes of it when it is built."""
        theirs, ours = self.outcomes(""), self.outcomes(self.generation)
        passing = [test for test, row in theirs.items() if row["outcome"] == "passed"]
        missing = self.lacking(passing)
        rows: Outcomes = {}
        for test in passing:
            file = test.partition("::")[0]
            found = ours.get(test) or ours.get(file) or {"outcome": BROKEN, "said": "the test is not collected"}
            passed, said = found["outcome"] == "passed", "" if found["outcome"] == "passed" else found["said"]
            kind = PASSES if passed else BROKEN if found["outcome"] == BROKEN else classified(said)
            kind = ORIGINAL if test in missing else kind
            reason = framework_rule.why_not(self.checkout, test, said)
            rows[test] = {"class": kind, "why not": reason, "said": said, "lacks": missing.get(test, "")}
        return rows


def installed(version: str) -> str:
    """Return a Python with a version of FastMCP, and with what its tests need."""
    environment = places.ROOT / f".cache/frameworks/tests-{version}"
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--allow-existing", "--python", "3.11", str(environment)], check=True)
    python = str(environment / "bin/python")
    subprocess.run([*uv, "pip", "install", "--python", python, f"fastmcp=={version}", *TOOLS], check=True)
    return python


def fetch_source(version: str, folder: Path) -> None:
    """Unpack the source distribution of a version, with its tests, into a folder."""
    asked = urllib.request.Request(f"{INDEX.rstrip('/')}/fastmcp/", headers={"Accept": SIMPLE})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        files = {row["filename"]: row["url"] for row in json.load(answer)["files"]}
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        packed = Path(name) / "source.tar.gz"
        urllib.request.urlretrieve(files[f"fastmcp-{version}.tar.gz"], packed)
        with tarfile.open(packed) as archive:
            archive.extractall(name, filter="data")
        (Path(name) / f"fastmcp-{version}").rename(folder / f"fastmcp-{version}")


def classified(said: str) -> str:
    """Return the class of a failure."""
    end = said[-2500:]
    return next(name for name, pattern in CLASSES.items() if re.search(pattern, end))


def report(version: str, every: Outcomes) -> None:
    """Print the classes, the files with tests that differ, and what the adapter lacks."""
    print(f"FastMCP {version}: {len(every)} tests pass with the framework; do not apply:")
    for name, count in Counter(row["why not"] for row in every.values() if row["why not"]).most_common():
        print(f"  {name:<40}{count:>6}")
    rows = {test: row for test, row in every.items() if not row["why not"] and row["class"] != BROKEN}
    classes = Counter(row["class"] for row in rows.values())
    right = classes[PASSES] + classes[ORIGINAL]
    kept = len(rows) - classes[ORIGINAL]
    broken = sum(not row["why not"] for row in every.values()) - len(rows)
    print(f"{len(rows)} apply, and {broken} in which pytest itself ends:")
    for name in (PASSES, ORIGINAL, *CLASSES):
        print(f"  {name:<40}{classes[name]:>6}{classes[name] / max(1, len(rows)):>8.1%}")
    print(f"as they are built: {right / max(1, len(rows)):.1%}; the adapter, of what it has: ", end="")
    print(f"{classes[PASSES] / max(1, kept):.1%} of {kept}")
    failed = {test: row for test, row in rows.items() if row["class"] in CLASSES}
    print("fail, by file:")
    for name, count in Counter(test.partition("::")[0] for test in failed).most_common(25):
        print(f"  {name:<70}{count:>5}")
    print("lacking:")
    for name, count in Counter(row["lacks"] for row in rows.values() if row["lacks"]).most_common(25):
        print(f"  {name:<70}{count:>5}")


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", default=VERSIONS)
    parser.add_argument("--paths", nargs="+", default=[])
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    os.nice(5)
    results = {}
    for version in given.versions:
        results[version] = Suite(version, given.paths).rows()
        report(version, results[version])
    if given.output:
        given.output.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
