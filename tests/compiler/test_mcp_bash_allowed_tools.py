"""Tests of what is said of tools that nobody may call: once, by name; and of patterns that mean none of them."""

import json

import pytest

from mcpc.options import Options
from support.projects import SMOKETEST, Files, checked

NAMES = ("read-one", "read-two", "wipe", "write")
PLAIN: Files = {
    "server.d/server.meta.json": '{"name": "demo"}',
    **{f"tools/{name}/tool.sh": "#!/bin/sh\necho ran\n" for name in NAMES},
    **{f"tools/{name}/tool.meta.json": json.dumps({"name": name, "description": "d"}) for name in NAMES},
}
DENIED = "clients will not see the tools of mcp-bash (`read-one`, `read-two`, `wipe` and 1 more): "


def told(files: Files, *allow: str) -> list[tuple[str, str]]:
    server, problems = checked(files, Options(allow=allow))
    assert server is not None
    return [(problem.code, problem.message) for problem in problems if problem.code in ("MCP712", "MCP265")]


def test_that_nothing_is_allowed_is_said_once() -> None:
    assert told(PLAIN) == [("MCP712", DENIED + "they are not allowed yet")]


def test_a_policy_of_the_project_decides_and_nothing_is_said() -> None:
    assert told({**PLAIN, "server.d/policy.sh": "true\n"}) == []


def test_other_projects_know_nothing_of_it() -> None:
    assert told(SMOKETEST) == []
    assert told({path: text for path, text in PLAIN.items() if not path.startswith("tools")}) == []


@pytest.mark.parametrize("pattern", ["*", "all", "write", "read-*", "*-one", "r*d-*", "w*e"])
def test_what_allows_something(pattern: str) -> None:
    assert told(PLAIN, pattern) == []


@pytest.mark.parametrize("pattern", ["nope", "Write", "read", "read-?", "[rw]*", "writes*", ".*"])
def test_what_allows_nothing(pattern: str) -> None:
    assert told(PLAIN, "write", pattern) == [("MCP265", f"`--allow {pattern}` allows no tool")]
