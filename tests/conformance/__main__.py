"""Hold examples/everything against the official conformance suite: `make conformance`.

Every figure is exact: one scenario less is a fault of ours, one more means that the suite is not the one we think.  Of a
server that does not answer at all the suite finds some scenarios passed; no figure here can be met that way.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from conformance import suite
from support.artifact import build
from support.needs import ROOT
from support.serving import served

PROJECT = ROOT / "examples/everything"
FORCED = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-error",
    "tools-call-with-progress",
    "tools-call-with-logging",
    "tools-call-sampling",
    "resources-list",
    "resources-read-text",
    "resources-templates-read",
    "resources-subscribe",
    "prompts-list",
    "prompts-get-with-args",
    "completion-complete",
    "logging-set-level",
)
"""What the suite has for later revisions only, and 2025-03-26 has in the same form."""
TASKS = (
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
)
SKILLS = ("sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the suite: how it is asked for, and how many scenarios it has, all of which have to pass.

    `checks`: how many checks succeed in it; a scenario that only skips would pass, and would be missing here.
    """

    label: str
    runs: tuple[tuple[str, ...], ...]
    scenarios: int
    checks: int


def whole(version: str) -> tuple[tuple[str, ...], ...]:
    """Return how all scenarios of a revision are asked for."""
    return (("--suite", "all", "--spec-version", version),)


def single(names: Sequence[str], *more: str) -> tuple[tuple[str, ...], ...]:
    """Return how some scenarios are asked for, each by itself."""
    return tuple(("--scenario", name, *more) for name in names)


PARTS = (
    Part("2025-03-26", whole("2025-03-26"), 1, 3),
    Part("2025-03-26, of later ones", single(FORCED, "--spec-version", "2025-03-26", "--force"), len(FORCED), 35),
    Part("2025-06-18", whole("2025-06-18"), 27, 56),
    Part("2025-11-25", whole("2025-11-25"), 33, 83),
    Part("2026-07-28", whole("2026-07-28"), 40, 152),
    Part("tasks", single(TASKS), len(TASKS), 44),
    Part("skills", single(SKILLS), len(SKILLS), 45),
)


def main() -> int:
    """Run the suite, print a table, and return 1 unless every figure is what it has to be."""
    options = arguments()
    began = time.monotonic()
    folder = suite.install()
    with tempfile.TemporaryDirectory(prefix="mcpc-everything-") as place, endpoint(options, Path(place)) as url:
        chosen = chosen_parts(options)
        run = partial(suite.run, folder, url)
        met = [report(part, run, bool(options.scenarios)) for part in chosen]
    sys.stdout.write(f"{sum(met)} of {len(met)} parts as expected in {time.monotonic() - began:.0f} s\n")
    return int(not all(met))


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="make conformance", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenarios", nargs="*", help="scenarios; all if none is given")
    parser.add_argument("--part", action="append", help="the beginning of a part's name: a revision, tasks, skills")
    parser.add_argument("--artifact", type=Path, help="a built server, in place of one built now")
    parser.add_argument("--url", help="a running server's endpoint, in place of one started now")
    return parser.parse_args()


def chosen_parts(options: argparse.Namespace) -> Iterator[Part]:
    """Yield the parts to run; of some scenarios alone there are no figures to meet, but that they pass."""
    for part in PARTS:
        if options.part and not part.label.startswith(tuple(options.part)):
            continue
        if not options.scenarios:
            yield part
        elif part.label[:4].isdigit() and "," not in part.label:
            runs = single([name for name in options.scenarios if name not in TASKS + SKILLS], *part.runs[0][2:])
            yield replace(part, runs=runs)
        else:
            yield replace(part, runs=tuple(run for run in part.runs if run[1] in options.scenarios))


@contextmanager
def endpoint(options: argparse.Namespace, place: Path) -> Iterator[str]:
    """Give the endpoint's address while it is served; by the name `localhost`, which one scenario insists on."""
    if options.url:
        yield options.url
        return
    with served(options.artifact or build(PROJECT, place / "everything.pyz", "--http")) as server:
        yield server.localhost


def report(part: Part, run: Callable[[Sequence[str]], tuple[suite.Scenario, ...]], some: bool) -> bool:
    """Run a part, print its line and what failed; return whether its figures are those it has to have."""
    began = time.monotonic()
    found = [scenario for options in part.runs for scenario in run(options)]
    passed = sum(scenario.passed for scenario in found)
    statuses: Counter[str] = Counter()
    for scenario in found:
        statuses.update(scenario.statuses)
    succeeded = statuses.pop("SUCCESS", 0)
    is_met = passed == len(found) if some else (passed, len(found), succeeded) == (part.scenarios,) * 2 + (part.checks,)
    words = [
        f"{'ok    ' if is_met else 'FAILED'} {part.label:26}{passed:3} of {len(found):2} scenarios, {succeeded:3} checks",
        "" if some else f" (expected {part.scenarios} and {part.checks})",
        *(f", {count} {status.lower()}" for status, count in sorted(statuses.items())),
        f", {time.monotonic() - began:.0f} s\n",
        *(f"       {one.name}: {complaint}\n" for one in found for complaint in one.complaints),
    ]
    sys.stdout.write("".join(words))
    sys.stdout.flush()
    return is_met


if __name__ == "__main__":
    sys.exit(main())
