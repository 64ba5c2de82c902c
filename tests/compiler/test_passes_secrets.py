"""Tests of files that usually hold secrets: what goes along of them is told, and what stays behind is not."""

from __future__ import annotations

import pytest

from support.projects import SMOKETEST, checked

SCRIPT = "#!/bin/sh\necho x\n"
MCP_BASH = {
    "server.d/server.meta.json": '{"name": "demo"}',
    "tools/t/tool.sh": SCRIPT,
    "tools/t/tool.meta.json": '{"name": "t", "description": "d"}',
}


def told(files: dict[str, str]) -> list[str]:
    server, problems = checked(files)
    assert server is not None or any(problem.code == "MCP713" for problem in problems)
    return [problem.span.path for problem in problems if problem.code == "MCP713" and problem.span is not None]


@pytest.mark.parametrize(
    "path", [".env", "tools/t/.env.local", "lib/id_rsa", ".netrc", ".env.example.local", "lib/a.ppk"]
)
def test_a_file_of_secrets_that_goes_along(path: str) -> None:
    assert told({**MCP_BASH, path: "x"}) == [path]


@pytest.mark.parametrize(
    "path", [".env.example", ".env.sample", ".environment", "env", "server.d/env.sh", "id_rsa.pub"]
)
def test_other_files(path: str) -> None:
    assert told({**MCP_BASH, path: "x"}) == []


def test_a_file_that_stays_behind() -> None:
    assert told({**SMOKETEST, ".env": "x"}) == []
