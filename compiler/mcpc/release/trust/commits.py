"""The commit of a project's folder, if all that is in it is committed.

git runs with settings that start no program of the repository.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.sandbox import programs

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")
VARIABLES = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
SECONDS = 60


class NoCommitError(Exception):
    """A folder has no commit that describes it; the message says why."""


def commit_of(project: Path) -> str:
    """Return the commit of a project; raise NoCommitError if it is not committed as it is."""
    commit = run_git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", folder=project).strip()
    changed = run_git("status", "--porcelain", "--untracked-files=normal", "--", ".", folder=project)
    if changed:
        raise NoCommitError(f"it differs from commit {commit[:12]}: {changed.splitlines()[0].strip()}")
    return commit


def run_git(*words: str, folder: Path) -> str:
    """Return what git prints; raise NoCommitError if it fails."""
    try:
        done = programs.run_program("git", ["git", *SETTINGS, *words], SECONDS, cwd=folder, more=VARIABLES)
    except (OSError, TimeoutError) as problem:
        raise NoCommitError(f"git does not run: {problem}") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise NoCommitError(lines[-1] if lines else "it is not in a git repository with a commit")
    return done.stdout.decode(errors="replace")
