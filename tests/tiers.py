"""Run one tier of the tests: `python tests/tiers.py test|check|nightly [option of pytest ...]`.

test      what guards daily work: tests in one process, and a few from end to end.  After a change only what it reaches
          runs; `ALL=1` runs all, and so does a tree without changes.  A change is what differs from the upstream branch,
          or from the last commit where there is none; `SINCE=COMMIT` names another.
check     every folder.  Of tests that are `slow` only those that the change since the last nightly run reaches, of a
          product of cases (`sampled`) enough to have each pair of values, and what is `nightly` not at all.
nightly   everything, with random seeds that no run had before.

`python tests/tiers.py wine` succeeds if the check has tests under Wine.
"""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

from support.needs import ROOT
from support.reach import Imports, changed_files
from support.scale import REACHED, ROTATION, SEED, TIER

IN_PROCESS = tuple(f"tests/{name}" for name in ("lint", "compiler", "runtime", "http", "language_server", "corpus"))
SMOKE = (
    "tests/test_examples.py",
    "tests/test_start.py::test_the_answers_are_right",
    "tests/test_start.py::test_every_supported_python_answers_the_same",
    "tests/test_wire.py::test_every_malformed_line_has_one_answer_and_the_server_lives",
    "tests/acceptance/test_bash_sdk.py::test_what_is_built_answers_like_what_it_was_built_from",
    "tests/acceptance/test_blueprints.py::test_case_1_mixed_content_in_its_order_and_byte_for_byte",
    "tests/acceptance/test_bx_mcp.py::test_case_2_an_object_is_json_in_a_text",
    "tests/acceptance/test_mcbox.py::test_case_3_a_text",
    "tests/acceptance/test_mcp_bash.py::test_case_2_an_envelope",
    "tests/acceptance/test_toolbox.py::test_case_1_greetings",
    "tests/carriers/test_plugin.py::test_both_manifests_are_valid",
    "tests/carriers/test_registry.py::test_it_is_valid_and_complete",
    "tests/clients/test_fastmcp.py",
    "tests/clients/test_http_python_sdk.py",
    "tests/clients/test_python_sdk.py",
    "tests/system/test_asking.py::test_what_the_user_does_is_what_the_handler_finds",
    "tests/system/test_bash_calls.py::test_arguments_as_variables",
    "tests/system/test_commands.py::test_problems_name_files_from_where_the_command_runs",
    "tests/system/test_layer.py::test_a_moved_file_serves_a_typed_call_and_extracts_once",
    "tests/system/test_programs.py::test_calls",
    "tests/system/test_rejections.py::test_a_rejection_tells_a_model_what_to_write",
    "tests/system/test_reproducible.py::test_a_changed_source_is_not_taken_from_the_cache",
    "tests/system/test_resources.py::test_every_resource_is_read_in_both_eras",
    "tests/system/test_secrets.py::test_a_python_handler_sees_nothing_of_the_server",
    "tests/system/test_settings.py::test_handlers_of_every_kind_get_the_values",
    "tests/system/test_typed_handlers.py::test_a_handler_gets_a_model_and_gives_one_back",
    "tests/system/test_verify.py::test_an_unchanged_project_is_the_source",
)
"""One case of each system, era, carrier and kind of handler, from end to end."""
OTHER_SYSTEMS = "tests/platforms"
OF_OTHER_SYSTEMS = re.compile(
    r"(?:.*/)?(?:platforms/(?!posix\b)|launchers/|windows/|selfcontained/)|tests/support/windows_|\.ci/wine"
)
"""The changed files for which tests under Wine are in a check."""
REACHED_TESTS = ROOT / ".cache/reached-tests"
LAST_NIGHTLY = ROOT / "tests/last_nightly"
"""Holds the commit at which a nightly run passed last."""


def main(tier: str, options: list[str]) -> None:
    """Become pytest."""
    os.environ.setdefault(TIER, tier)
    os.environ.setdefault(ROTATION, git("rev-list", "--count", "HEAD") or "0")
    if tier == "nightly":
        os.environ.setdefault(SEED, str(random.SystemRandom().randrange(1, 10**9)))
    if tier == "wine":
        sys.exit(OTHER_SYSTEMS not in of_check())
    paths = {"test": of_test, "check": of_check, "nightly": lambda: ["tests"]}[tier]()
    if not paths:
        print("The change reaches no test of this tier.\n0 passed, 0 failed")
        return
    print(*(f"{name}={os.environ[name]}" for name in (ROTATION, SEED) if name in os.environ))
    words = ["-q", "-n", "auto", "--dist", "worksteal", *options, *paths]
    if tier == "test":
        words = ["-m", "not slow", *words]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *words])


def of_test() -> list[str]:
    """Return what `make test` runs."""
    base = os.environ.get("SINCE") or upstream() or "HEAD"
    changed = [] if os.environ.get("ALL") else changed_files(base)
    whole = [*IN_PROCESS, *SMOKE]
    reached = Imports().tests_of(changed) if changed else None
    if reached is None:
        print(f"{'All' if changed else 'No file differs: all'} tests of `make test` run.")
        return whole
    run = [path for path in reached if path.startswith(tuple(f"{folder}/" for folder in IN_PROCESS))]
    run += [name for name in SMOKE if name.partition("::")[0] in reached]
    print(f"{len(changed)} files differ from {base[:12]}; they reach {len(run)} files of tests (ALL=1 runs all):")
    print("".join(f"  {path}\n" for path in changed[:20]), end="")
    return run


def of_check() -> list[str]:
    """Return the folders that `make check` runs, and leave a note of the test files whose slow tests it runs."""
    base = os.environ.get("SINCE") or (LAST_NIGHTLY.read_text().strip() if LAST_NIGHTLY.exists() else "")
    changed = changed_files(base) if git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}") else None
    reached = None if changed is None else Imports().tests_of(changed)
    if changed is None:
        print("The commit of the last nightly run is not here: every slow test runs.")
    elif reached is not None:
        print(f"{len(changed)} files differ from {base[:12]}; slow tests run in the {len(reached)} files they reach.")
        REACHED_TESTS.parent.mkdir(exist_ok=True)
        REACHED_TESTS.write_text("".join(f"{path}\n" for path in reached))
        os.environ[REACHED] = str(REACHED_TESTS)
    paths = [
        path for path in sorted(Path(ROOT / "tests").iterdir()) if list(path.rglob("test_*.py")) or path.suffix == ".py"
    ]
    names = [path.relative_to(ROOT).as_posix() for path in paths if path.is_dir() or path.name.startswith("test_")]
    if changed is not None and not any(map(OF_OTHER_SYSTEMS.match, changed)) and not os.environ.get("WINE"):
        print(
            f"Nothing of other operating systems differs: {OTHER_SYSTEMS} is left to the nightly run (WINE=1 runs it)."
        )
        names.remove(OTHER_SYSTEMS)
    return names


def upstream() -> str:
    """Return the commit where this branch left its upstream one, if it has one and has left it."""
    base = git("merge-base", "HEAD", "@{upstream}")
    return base if base != git("rev-parse", "HEAD") else ""


def git(*words: str) -> str:
    """Return what git says, or nothing if it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
