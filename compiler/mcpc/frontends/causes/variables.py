"""Causes in what a program gets from outside as values: environment variables, settings, fields of models."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics.suggestions import quoted

if TYPE_CHECKING:
    from mcpc.frontends.causes.model import FailedRun

VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
"""What looks like the name of an environment variable."""
MAX_SHOWN = 8
SETTINGS = "`[[tool.mcpc.settings]]` in `pyproject.toml` asks those who install the server for it"


def variables_text(names: list[str]) -> str:
    """Return names of variables for a message."""
    return f"the variable{'' if len(names) == 1 else 's'} {quoted(names)}"


def give(names: list[str]) -> str:
    """Return how to give variables to a build."""
    options = " ".join(f"--build-env {name}=VALUE" for name in names[:MAX_SHOWN])
    what = "a value" if len(names) == 1 else "values"
    return f"give the build {what}: `{options}`, or `build-environment` in `[tool.mcpc]`"


def absent_text(absent: tuple[str, ...]) -> str:
    """Return which variables the code looked up and did not find, an empty string if there are none."""
    if not absent:
        return ""
    return f"; variables that it looked up and that are not set (`--build-env`): {quoted(absent[-5:])}"


def settings_class(run: FailedRun) -> str:
    """Settings that are made without their variables (pydantic-settings)."""
    names = [*run.raised.variables]
    if not names:
        return ""
    owner = run.raised.owner
    return f"`{owner}` reads {variables_text(names)}: {give(names)}, or make `{owner}()` {run.other_time}; {SETTINGS}"


def absent_key(run: FailedRun) -> str:
    """A variable that is read as `os.environ["NAME"]`."""
    name = run.raised.name
    if not run.has("KeyError") or name not in run.raised.absent:
        return ""
    return f"the variable `{name}` is not set in a build: read it {run.other_time}, or {give([name])}; {SETTINGS}"


def absent_value(run: FailedRun) -> str:
    """A variable that is not set, and whose value is used as if it were."""
    if not run.raised.absent or "None" not in run.raised.message or not run.has("TypeError", "AttributeError"):
        return ""
    name = run.raised.absent[-1]
    return (
        f"the variable `{name}` is not set in a build, so it is None here: {give([name])}, or use it {run.other_time}"
    )


def invalid_fields(run: FailedRun) -> str:
    """Values that a model of pydantic refuses."""
    names = [*dict.fromkeys(run.raised.fields)]
    return f"correct the value of {quoted(names[:MAX_SHOWN])} of `{run.raised.owner}`" if names else ""
