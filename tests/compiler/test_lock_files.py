"""Parts of locks: the tags of targets as pip has them, markers that tell targets apart, files of each place."""

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from pip._internal.cli.cmdoptions import make_target_python
from pip._internal.commands import create_command

from mcpc import packages, pipeline
from mcpc.options import Options
from mcpc.packages import read_requirements
from mcpc.packages.lock_files import LockedFile, LockError, changed_requirement, is_lock_name, read_lock
from mcpc.packages.platforms import HERE, Target, accepted_tags, marker_values, target_environment, wheel_tags
from mcpc.packages.required_python import required_python
from mcpc.pipeline import CheckResult
from mcpc.reading import Source
from mcpc.release.locking.assembly import file_place, lock_text, target_marker
from mcpc.release.locking.request import read_target, target_name
from support import wheels
from support.projects import tree

TARGETS = [
    Target("", HERE),
    Target("", "3.13"),
    Target("manylinux2014_x86_64", "3.11"),
    Target("manylinux_2_28_aarch64", "3.12"),
    Target("musllinux_1_2_x86_64", "3.13"),
    Target("macosx_11_0_arm64", "3.12"),
    Target("macosx_13_0_universal2", "3.12"),
    Target("win_amd64", "3.14"),
]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_tags_are_those_by_which_pip_selects(target: Target) -> None:
    named = [word for tag in accepted_tags(target.platform) if tag for word in ("--platform", tag)]
    options = [] if target.is_here else [*named, "--python-version", target.python, "--implementation", "cp"]
    values, _ = create_command("index").parse_args([*options, "versions", "x"])
    theirs = make_target_python(values).get_sorted_tags()
    assert [str(tag) for tag in wheel_tags(target)] == [str(tag) for tag in theirs]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_target_has_a_name_in_locks(target: Target) -> None:
    assert read_target(target_name(target)) == target


MIXED = [Target(platform, python) for platform in ("manylinux2014_x86_64", "macosx_11_0_arm64", "win_amd64")
         for python in ("3.11", "3.12")]  # fmt: skip


@pytest.mark.parametrize(("picked", "marker"), [
    (range(6), ""), ((0, 1), "sys_platform == 'linux'"), ((0, 1, 4, 5), "sys_platform == 'linux' or sys_platform == 'win32'"),
    ((0, 2, 4), "python_version == '3.11'"),
    ((3,), "(sys_platform == 'darwin' and platform_machine == 'arm64' and python_version == '3.12')"),
])  # fmt: skip
def test_a_marker_is_true_on_its_targets_only(picked: tuple[int, ...], marker: str) -> None:
    some = [MIXED[number] for number in picked]
    assert target_marker(some, MIXED) == marker
    if marker:
        true = [item for item in MIXED if Marker(marker).evaluate({**target_environment(item)})]
        assert true == some


def test_markers_of_a_target_do_not_depend_on_this_machine() -> None:
    assert marker_values(Target("win_amd64", "3.12"))["platform_machine"] == "AMD64"
    assert target_environment(Target("win_amd64", "3.12"))["platform_system"] == "Windows"


def test_the_text_of_a_lock_reads_as_its_table() -> None:
    wheel = {"name": "a-1-py3-none-any.whl", "path": 'we"ird\\é/a.whl', "size": 3, "hashes": {"sha256": "0"}}
    table: dict[str, Any] = {
        "lock-version": "1.0",
        "environments": ["sys_platform == 'linux'"],
        "created-by": "mcpc",
        "packages": [{"name": "a", "version": "1", "dependencies": [{"name": "b"}], "wheels": [wheel]}],
        "tool": {"mcpc": {"targets": ["cp311"]}},
    }
    assert tomllib.loads(lock_text(table)) == table
    assert tomllib.loads(lock_text({**table, "packages": []})) == {**table, "packages": []}


@pytest.mark.parametrize(("file", "place"), [
    ({"address": "https://user:secret@index.example/a/x.whl?q=1#sha256=00"}, {"url": "https://index.example/a/x.whl?q=1"}),
    ({"address": "file:///srv/wheels/x%2B1.whl"}, {"path": "../wheels/x+1.whl"}),
    ({"path": "./vendor/x.whl"}, {"path": "vendor/x.whl"}),
])  # fmt: skip
def test_a_place_has_no_password_and_is_relative(file: dict[str, str], place: dict[str, str]) -> None:
    assert file_place(LockedFile("x", "1", "x.whl", "00", **file), "/srv/project") == place


@pytest.mark.parametrize(("name", "known"), [
    ("pylock.toml", True), ("pylock.ci.toml", True), ("uv.lock", True), ("poetry.lock", False), ("pylock.a.b.toml", False),
])  # fmt: skip
def test_names_of_locks(name: str, known: bool) -> None:
    assert is_lock_name(name) is known


UV = """version = 1
requires-python = ">=3.11"
[[package]]
name = "native"
version = "1.0"
source = { registry = "../wheels" }
wheels = [
  { path = "native-1.0-cp312-cp312-win_amd64.whl", hash = "sha256:aa", size = 5 },
  { path = "native-1.0-cp312-cp312-manylinux_2_17_x86_64.whl", hash = "sha256:bb" },
]
[[package]]
name = "Plain"
version = "2.0"
source = { registry = "https://index.example" }
wheels = [{ url = "https://index.example/plain-2.0-py3-none-any.whl", hash = "sha256:cc" }]
[[package]]
name = "bare"
version = "3.0"
source = { registry = "https://index.example" }
[[package]]
name = "twice"
version = "1.0"
source = { registry = "https://index.example" }
wheels = [{ url = "https://index.example/twice-1.0-py3-none-any.whl", hash = "sha256:dd" }]
[[package]]
name = "twice"
version = "2.0"
source = { registry = "https://index.example" }
wheels = [{ url = "https://index.example/twice-2.0-py3-none-any.whl", hash = "sha256:ee" }]
[[package]]
name = "own"
version = "0.1"
source = { editable = "." }
"""


def test_files_of_uv_s_lock_are_selected_by_target() -> None:
    lock = read_lock(Source("uv.lock", UV.encode()))
    found = [
        lock.file_for("native", target)
        for target in (Target("win_amd64", "3.12"), Target("manylinux2014_x86_64", "3.12"))
    ]
    assert [(file.sha256, file.size, file.path) for file in found if file is not None] == [
        ("aa", 5, "../wheels/native-1.0-cp312-cp312-win_amd64.whl"),
        ("bb", None, "../wheels/native-1.0-cp312-cp312-manylinux_2_17_x86_64.whl"),
    ]
    plain = lock.file_for("plain", Target("", HERE))
    assert plain.address == "https://index.example/plain-2.0-py3-none-any.whl"
    assert lock.file_for("own", Target("", HERE)) is None


@pytest.mark.parametrize(("name", "kind", "words"), [
    ("bare", "unnamed", "names no file of `bare`"), ("twice", "stale", "several versions of `twice`"),
    ("native", "stale", "no wheel of `native 1.0` for macosx_11_0_arm64 with Python 3.12"),
])  # fmt: skip
def test_what_a_lock_does_not_decide(name: str, kind: str, words: str) -> None:
    with pytest.raises(LockError, match=words) as caught:
        read_lock(Source("uv.lock", UV.encode())).file_for(name, Target("macosx_11_0_arm64", "3.12"))
    assert (caught.value.kind, caught.value.package) == (kind, name)


@pytest.mark.parametrize(("written", "minors"), [
    (">=3.12", ("3.12", "3.13", "3.14")), (">=3.10,<3.13", ("3.11", "3.12")), (">=3.11.4", ("3.11", "3.12", "3.13", "3.14")),
    ("==3.13.*", ("3.13",)),
])  # fmt: skip
def test_the_pythons_that_a_project_allows(written: str, minors: tuple[str, ...]) -> None:
    found = required_python(tree({"pyproject.toml": f'[project]\nname = "p"\nrequires-python = "{written}"\n'}))
    assert (found.specifier, found.minors) == (written, minors)
    assert required_python(tree({})) is None


OWN_ROW = """version = 1

[[package]]
name = "demo"
version = "0.1.0"
source = { KIND = "." }

[package.metadata]
requires-dist = [
    { name = "a-b", specifier = ">=1,<2" },
    { name = "c", extras = ["x"], marker = "sys_platform == 'linux'" },
    { name = "d", marker = "extra == 'more'", specifier = "==4" },
    { name = "e", editable = "e" },
]
"""


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        (["A.b < 2, >=1", "c[x]; sys_platform == 'linux'", "d", "e==5", "new"], ""),
        (["a-b>=1", "c"], "a-b>=1"),
        (["a-b<2,>=1", "c==3"], "c==3"),
        (["a-b @ https://example.org/a_b-1-py3-none-any.whl", "not a requirement !"], ""),
    ],
)
@pytest.mark.parametrize("kind", ["editable", "virtual"])
def test_a_lock_of_uv_is_stale_for_other_versions_of_the_project(kind: str, written: list[str], changed: str) -> None:
    locked = read_lock(Source("uv.lock", OWN_ROW.replace("KIND", kind).encode())).requirements
    assert changed_requirement(locked, written) == changed
    assert changed_requirement(None, written) == ""


def test_without_a_lock_the_version_that_was_found_is_named() -> None:
    _, problems = read_requirements(tree({"requirements.txt": "Httpx>=0.27\n"}))
    assert problems[0].hint == "name one: `httpx==…`"
    (told,) = packages.with_versions(problems, {"httpx": "0.28.1", "anyio": "4.0"})
    assert told.hint == "name one: `httpx==0.28.1`"


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
