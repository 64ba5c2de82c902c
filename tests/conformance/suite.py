"""The official suite: installed as its lock says, with a Node of its own, and run one part at a time.

What came of a scenario is read from the checks that the suite writes down, never from what it prints.
"""

import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSTALLED = HERE.parents[1] / ".cache/conformance"
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
LONGEST = 600
"""Seconds that one part of the suite may take."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """What came of one scenario: how many checks have each status, and what those that failed say."""

    name: str
    statuses: Mapping[str, int]
    complaints: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether it counts as passed, as the suite itself counts."""
        return not self.statuses.get("FAILURE")


def install() -> Path:
    """Return the folder of the suite and its Node; what the lock says is installed there if it is not yet."""
    wanted = (HERE / "package-lock.json").read_bytes()
    stamp = INSTALLED / "node_modules/.from-lock"
    if not stamp.exists() or stamp.read_bytes() != wanted:
        if shutil.which("npm") is None:
            sys.exit("the conformance suite comes from npm, which is not installed (`make deps` says how to get it)")
        sys.stdout.write(f"Installing the conformance suite and Node from npm into {INSTALLED} (about 200 MB)\n")
        sys.stdout.flush()
        INSTALLED.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, INSTALLED / name)
        argv = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(argv, cwd=INSTALLED, check=True, timeout=LONGEST)
        stamp.write_bytes(wanted)
    return INSTALLED


def node(folder: Path) -> str:
    """Return the Node to run the suite with: the one of the lock, or on other machines the one on PATH."""
    own = folder / f"node_modules/node-linux-{MACHINES.get(platform.machine(), '')}/bin/node"
    return str(own) if own.exists() else "node"


def run(folder: Path, url: str, options: Sequence[str]) -> tuple[Scenario, ...]:
    """Run a part of the suite against the server at `url`, and return its scenarios in the order of their names."""
    with tempfile.TemporaryDirectory(prefix="mcpc-conformance-") as results:
        argv = [node(folder), str(folder / SUITE), "server", "--url", url, *options, "-o", results]
        # Its status says whether all passed; which did is in the results.
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LONGEST)
        found = tuple(sorted(scenarios(Path(results)), key=lambda one: one.name))
    if not found and "is not applicable" not in done.stdout + done.stderr:
        raise RuntimeError(f"the suite ran no scenario: {done.stdout[-500:]}{done.stderr[-1500:]}")
    return found


def scenarios(results: Path) -> Iterator[Scenario]:
    """Yield what the suite wrote down: a folder `server-NAME-TIME` a scenario, with its checks."""
    for written in results.glob("*/checks.json"):
        checks = json.loads(written.read_text())
        name = written.parent.name.removeprefix("server-")[: -len("-2026-01-01T00-00-00-000Z")]
        complaints = tuple(complaint(check) for check in checks if check["status"] in ("FAILURE", "WARNING"))
        yield Scenario(name, Counter(check["status"] for check in checks), complaints)


def complaint(check: Mapping[str, str]) -> str:
    """Return what a check that did not succeed says."""
    return f"{check['status'].lower()} {check['id']}: {check.get('errorMessage') or check['description']}"
