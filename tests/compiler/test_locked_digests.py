"""Every digest of a lock is checked, and a file without one takes none from the others."""

import hashlib
from pathlib import Path

import pytest

from mcpc import pipeline
from mcpc.options import Options
from mcpc.pipeline import CheckResult
from support import wheels

TOOLS = """import one, two
from mcpc import Server, tool

mcp = Server("locked", version="1")


@tool
def use() -> int:
    return one.value + two.value
"""
WRONG = "0" * 64


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "requirements.txt").write_text("one\ntwo\n")
    for name in ("one", "two"):
        wheels.wheel(tmp_path / "wheels", name, "1.0", {f"{name}/__init__.py": "value = 1\n"})
    return tmp_path


def digest_of(project: Path, name: str, method: str = "sha256") -> str:
    return hashlib.new(method, (project / f"wheels/{name}-1.0-py3-none-any.whl").read_bytes()).hexdigest()


def analysed(project: Path, one: dict[str, str], two: dict[str, str], **options: bool) -> CheckResult:
    """Return the analysis of the project with a `pylock.toml`, or for `uv` a `uv.lock`, that has these digests."""
    text = 'lock-version = "1.0"\ncreated-by = "a test"\n'
    for name, digests in (("one", one), ("two", two)):
        hashes = ", ".join(f'{method} = "{digest}"' for method, digest in digests.items())
        wheel = f'{{ path = "wheels/{name}-1.0-py3-none-any.whl", hashes = {{ {hashes} }} }}'
        text += f'[[packages]]\nname = "{name}"\nversion = "1.0"\nwheels = [{wheel}]\n'
    (project / "pylock.toml").write_text(text)
    chosen = Options(**options)  # type: ignore[arg-type]
    return pipeline.analyse(*pipeline.read_project(project), chosen)


def told(result: CheckResult) -> list[tuple[str, str]]:
    return [
        (problem.code, problem.span.path if problem.span else "")
        for problem in result.diagnostics
        if problem.code.startswith("MCP4")
    ]


def test_a_lock_with_all_digests_says_nothing(project: Path) -> None:
    result = analysed(project, *({"sha256": digest_of(project, name)} for name in ("one", "two")))
    assert told(result) == []


@pytest.mark.parametrize("method", ["md5", "unknown"])
def test_a_package_without_a_digest_is_told_and_the_others_stay_locked(project: Path, method: str) -> None:
    one = {"sha256": digest_of(project, "one")}
    two = {method: digest_of(project, "two", "md5")}
    result = analysed(project, one, two)
    assert told(result) == [("MCP426", "pylock.toml")]
    assert result.checked is not None
    assert analysed(project, one, two, strict=True).checked is None
    locked = analysed(project, one, two, locked=True)
    assert (told(locked), locked.checked) == ([("MCP422", "pylock.toml")], None)


@pytest.mark.parametrize("wrong", ["sha256", "md5", "sha512"])
def test_any_wrong_digest_ends_the_build_though_another_package_has_none(project: Path, wrong: str) -> None:
    one = {"sha256": digest_of(project, "one"), wrong: WRONG}
    two = {"md5": digest_of(project, "two", "md5")}
    result = analysed(project, one, two)
    assert (told(result), result.checked) == ([("MCP422", "pylock.toml")], None)


def test_an_entry_of_uv_without_a_digest_is_told(project: Path) -> None:
    text = 'version = 1\nrequires-python = ">=3.11"\n'
    for name in ("one", "two"):
        digest = f', hash = "sha256:{digest_of(project, name)}"' if name == "one" else ""
        text += f'[[package]]\nname = "{name}"\nversion = "1.0"\nsource = {{ registry = "wheels" }}\n'
        text += f'wheels = [{{ path = "{name}-1.0-py3-none-any.whl"{digest} }}]\n'
    (project / "uv.lock").write_text(text)
    result = pipeline.analyse(*pipeline.read_project(project), Options())
    assert told(result) == [("MCP426", "uv.lock")]
    (project / "uv.lock").write_text(text.replace(digest_of(project, "one"), WRONG))
    assert told(pipeline.analyse(*pipeline.read_project(project), Options())) == [("MCP422", "uv.lock")]
