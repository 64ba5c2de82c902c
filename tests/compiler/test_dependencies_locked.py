"""The versions of a lock beside the project: taken where a requirement names none, and named where nothing else does."""

import pytest

from mcpc import packages
from mcpc.packages import read_requirements
from support.projects import tree

UV = """version = 1
requires-python = ">=3.11"

[[package]]
name = "demo"
version = "0.1.0"
source = { virtual = "." }

[[package]]
name = "httpx"
version = "0.28.1"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "numpy"
version = "1.26.0"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "numpy"
version = "2.0.0"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "from-git"
version = "1.0"
source = { git = "https://example.org/x" }
"""
PYLOCK = """lock-version = "1.0"
created-by = "a test"

[[packages]]
name = "httpx"
version = "0.27.0"
wheels = [{ name = "httpx-0.27.0-py3-none-any.whl", url = "https://example.org/x.whl", hashes = { sha256 = "00" } }]
"""


def asked(**files: str) -> tuple[list[str], list[str]]:
    project = tree({name.replace("__", "."): text for name, text in files.items()})
    found, problems = read_requirements(project)
    return [one.text for one in found], [problem.code for problem in problems]


@pytest.mark.parametrize(("wanted", "text"), [
    ("httpx", "httpx==0.28.1"), ("httpx>=0.27", "httpx==0.28.1,>=0.27"), ("HTTPX[http2]", "HTTPX[http2]==0.28.1"),
    ("httpx; python_version > '3'", 'httpx==0.28.1; python_version > "3"'),
])  # fmt: skip
def test_uv_lock_gives_the_version(wanted: str, text: str) -> None:
    assert asked(requirements__txt=f"{wanted}\n", uv__lock=UV) == ([text], [])


@pytest.mark.parametrize("wanted", ["httpx<0.28", "numpy", "from-git", "demo", "other"])
def test_what_the_lock_does_not_decide(wanted: str) -> None:
    assert asked(requirements__txt=f"{wanted}\n", uv__lock=UV) == ([wanted], ["MCP404"])


def test_a_version_that_is_named_stays() -> None:
    assert asked(requirements__txt="httpx==0.26.0\n", uv__lock=UV) == (["httpx==0.26.0"], [])


POETRY = """[[package]]
name = "httpx"
version = "0.26.0"

[[package]]
name = "numpy"
version = "1.0"
[package.source]
type = "git"
"""


def test_poetry_lock_gives_the_version_of_what_the_registry_has() -> None:
    found, problems = asked(requirements__txt="httpx\nnumpy\n", poetry__lock=POETRY)
    assert (found, problems) == (["httpx==0.26.0", "numpy"], ["MCP404"])
    assert asked(requirements__txt="httpx\n", poetry__lock=POETRY, uv__lock=UV)[0] == ["httpx==0.28.1"]


def test_pylock_comes_first() -> None:
    assert asked(requirements__txt="httpx\n", uv__lock=UV, pylock__toml=PYLOCK) == (["httpx==0.27.0"], [])


@pytest.mark.parametrize(("name", "text"), [
    ("uv__lock", "["), ("uv__lock", "package = 1\n"), ("uv__lock", "[[package]]\nname = 'x'\n"),
    ("pylock__toml", "["), ("pylock__toml", "lock-version = '9.0'\n"),
    ("pylock__toml", PYLOCK.replace('"httpx"', "1")),
    ("uv__lock", UV.replace('"1.26.0"', '"1.0 # no version"')),
])  # fmt: skip
def test_a_lock_that_cannot_be_read(name: str, text: str) -> None:
    assert asked(requirements__txt="httpx\n", **{name: text})[1] == ["MCP414", "MCP404"]


def test_without_a_lock_the_version_that_was_found_is_named() -> None:
    _, problems = read_requirements(tree({"requirements.txt": "Httpx>=0.27\n"}))
    assert problems[0].hint == "name one: `httpx==…`"
    (told,) = packages.with_versions(problems, {"httpx": "0.28.1", "anyio": "4.0"})
    assert told.hint == "name one: `httpx==0.28.1`"


FORKS = """version = 1
resolution-markers = ["python_full_version >= '3.11'", "python_full_version < '3.11'"]

[[package]]
name = "numpy"
version = "1.26.0"
source = { registry = "https://pypi.org/simple" }
resolution-markers = ["python_full_version < '3.11'", "sys_platform == 'an-other'"]

[[package]]
name = "numpy"
version = "2.0.0"
source = { registry = "https://pypi.org/simple" }
resolution-markers = ["python_full_version >= '3.11'"]
"""


def test_of_several_versions_in_uv_lock_that_for_this_python_counts() -> None:
    assert asked(requirements__txt="numpy\n", uv__lock=FORKS) == (["numpy==2.0.0"], [])


def test_a_marker_in_uv_lock_that_cannot_be_read_is_told() -> None:
    broken = FORKS.replace("sys_platform == 'an-other'", "sys_platform is")
    assert asked(requirements__txt="numpy\n", uv__lock=broken)[1] == ["MCP414", "MCP404"]
