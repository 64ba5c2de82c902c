"""Build options: what follows from those that are given, and those of the environment."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from mcpc.model.revisions import REVISIONS, VERSIONS
from mcpc.options import DIALECTS, Options, minor_versions, options_from_environment
from support.needs import ROOT


@pytest.mark.parametrize(
    ("python", "minors"),
    [
        ("3.11", ("3.11",)),
        ("3.13,3.11,3.13", ("3.13", "3.11")),
        ("3.9", ("3.9",)),
        ("/usr/bin/python3.11", ()),
        ("3.11,", ()),
        ("3.110", ("3.110",)),
        ("3.1100", ()),
        ("3.", ()),
        ("", ()),
    ],
)
def test_versions_of_python(python: str, minors: tuple[str, ...]) -> None:
    assert minor_versions(python) == Options(python=python).minors == minors


@pytest.mark.parametrize(
    ("chosen", "serving"),
    [
        ({}, ()),
        ({"http"}, ("http",)),
        ({"ui"}, ("http",)),
        ({"oauth"}, ("http", "oauth")),
        ({"otel"}, ("http", "otel")),
        ({"redis"}, ("redis",)),
        ({"redis", "otel", "oauth", "http"}, ("http", "oauth", "otel", "redis")),
    ],
)
def test_what_is_bundled_for_the_server(chosen: set[str], serving: tuple[str, ...]) -> None:
    assert Options(**dict.fromkeys(chosen, True)).serving == serving


def test_options_of_the_environment() -> None:
    environment = {
        "MCBOX_TOOLS_FUNCTION_NAME_PREFIX": "t_",
        "MCBOX_PROMPTS_FUNCTION_NAME_PREFIX": "12",
        "MCBOX_TOOLS_PAGE_SIZE": "12",
        "MCBOX_PROMPTS_PAGE_SIZE": "",
        "OTHER": "x",
    }
    found = options_from_environment(environment)
    assert found == {"tools_prefix": "t_", "prompts_prefix": "12", "tools_page_size": 12}
    assert options_from_environment({}) == {}
    for text in ("-1", "x", "1.5"):
        with pytest.raises(ValueError, match=f"MCBOX_PROMPTS_PAGE_SIZE is '{text}'"):
            options_from_environment({"MCBOX_PROMPTS_PAGE_SIZE": text})


def test_defaults() -> None:
    defaults = {name: value for name, value in asdict(Options()).items() if value not in (False, (), "", 0)}
    assert defaults == {
        "dialect": "mcp",
        "tools_prefix": "tool_",
        "prompts_prefix": "prompt_",
        "defaults": True,
        "imports": True,
    }
    assert defaults["dialect"] in DIALECTS


def test_what_each_revision_has(golden: Callable[[Path, str], None]) -> None:
    assert tuple(revision.version for revision in REVISIONS) == VERSIONS
    lines = (f"{name}: {value}\n" for each in REVISIONS for name, value in asdict(each).items())
    golden(ROOT / "tests/golden/revisions.txt", "".join(lines))
