"""Platforms and Pythons that a build includes machine code for: which they are, what is installed, what is said."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from mcpc.diagnostics import Diagnostics, Severity
from mcpc.model.ir import LayerTarget, Server
from mcpc.options import COMMON_PLATFORMS, Options
from mcpc.packages import include_packages
from mcpc.packages.platforms import HERE, Target
from mcpc.packages.targets import PlatformTargets, build_targets, pythons_in_words, system_name
from support.projects import SERVER_JSON, lowered, tree
from support.wheels import only, wheel

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
OTHERS = tuple(minor for minor in PYTHONS if minor != HERE)
X86, ARM = "manylinux_2_28_x86_64", "manylinux_2_28_aarch64"


def group(platform: str, *others: str, python: str = HERE, is_required: bool = True) -> PlatformTargets:
    return PlatformTargets(Target(platform, python), tuple(Target(platform, each) for each in others), is_required)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(), [group("")]),
        (Options(every_python=True), [group("", *OTHERS)]),
        (Options(every_python=True, python="3.12,3.13"), [group("", python="3.12"), group("", python="3.13")]),
        (Options(every_python=True, python="/usr/bin/python3", platforms=(X86,)), [group(X86)]),
        (
            Options(python="3.11,3.13", platforms=(X86, f"{ARM}-cp312")),
            [group(X86, python="3.11"), group(ARM, python="3.12"), group(X86, python="3.13")],
        ),
        (Options(every_python=True, platforms=(X86, f"{ARM}-cp313")), [group(X86, *OTHERS), group(ARM, python="3.13")]),
        (
            Options(every_python=True, platforms=("common", X86)),
            [group(each, *OTHERS, is_required=each == X86) for each in COMMON_PLATFORMS],
        ),
    ],
)
def test_which_targets_a_build_has(options: Options, expected: Sequence[PlatformTargets]) -> None:
    assert build_targets(options) == (tuple(expected), ())


def test_every_platform_that_is_none_is_reported() -> None:
    _, problems = build_targets(Options(platforms=("amiga", X86, "os2")))
    assert [problem.message.split("`")[1] for problem in problems] == ["amiga", "os2"]


@pytest.mark.parametrize(
    ("minors", "words"),
    [
        (["3.11"], "Python 3.11"),
        (["3.12", "3.11"], "Python 3.11 and 3.12"),
        (["3.11", "3.12", "3.13"], "Python 3.11 to 3.13"),
        (["3.11", "3.12", "3.14"], "Python 3.11 and 3.12 and 3.14"),
    ],
)
def test_pythons_in_words(minors: list[str], words: str) -> None:
    assert pythons_in_words(minors) == words


@pytest.mark.parametrize(
    ("platform", "words"),
    [
        (X86, "Linux x86-64"),
        ("musllinux_1_2_aarch64", "Linux arm64 (musl)"),
        ("macosx_11_0_arm64", "macOS arm64"),
        ("macosx_11_0_x86_64", "macOS x86-64"),
        ("win_amd64", "Windows x86-64"),
        ("win32", "Windows x86"),
    ],
)
def test_platforms_in_words(platform: str, words: str) -> None:
    assert system_name(platform) == words


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, and uv that knows of no other: two packages with machine code, one for the stable ABI."""
    only(tmp_path, monkeypatch)
    wheel(tmp_path, "pure", "1.0", {"pure.py": ""})
    for minor in ("311", "312", "313"):
        for arch in ("x86_64", "aarch64"):
            files = {"nat/__init__.py": "", f"nat/_n.cpython-{minor}-{arch}-linux-gnu.so": f"{minor} {arch}"}
            wheel(
                tmp_path, "nat", "1.0", files, tag=f"cp{minor}-cp{minor}-{X86.replace('x86_64', arch)}", needs=["pure"]
            )
            wheel(tmp_path, "nat", "2.0", files, tag=f"cp{minor}-cp{minor}-{X86.replace('x86_64', arch)}")
    wheel(tmp_path, "stable", "1.0", {"stable.abi3.so": "any"}, tag=f"cp311-abi3-{X86}")
    return tmp_path


def included(requirements: str, options: Options, python: str = ">=3.11") -> tuple[Server, Diagnostics]:
    """Return a server with the packages that a project requires for every Python."""
    files = {
        "server.json": SERVER_JSON,
        "tools.json": json.dumps({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
        "tools.py": "import nat\n\ndef t():\n    return 1\n",
        "pyproject.toml": f'[project]\nname = "p"\nrequires-python = "{python}"\ndependencies = {requirements}\n',
    }
    server, _ = lowered(files)
    assert server is not None
    return include_packages(server, tree(files), options)


EVERY = Options(every_python=True, platforms=(X86,))


def targets_of(server: Server) -> list[tuple[str, str]]:
    assert server.layer is not None
    return [(target.platform, target.python) for target in server.layer.targets]


@pytest.mark.slow
def test_a_python_without_a_wheel_is_left_out_and_named(shop: Path) -> None:
    server, problems = included('["nat"]', EVERY)
    assert targets_of(server) == [(X86, "3.11"), (X86, "3.12"), (X86, "3.13")]
    assert [(each.code, each.severity) for each in problems if each.code != "MCP404"] == [("MCP429", Severity.NOTE)]
    (note,) = [each for each in problems if each.code == "MCP429"]
    assert note.message == (
        f"the built file does not run on {X86} with Python 3.14: because nat==2.0 has no wheels with a matching Python"
        " ABI tag (e.g., `cp314`) and you require nat==2.0"
    )
    assert note.span is not None
    assert note.span.path == "pyproject.toml"
    assert server.runs_on == "Linux x86-64, Python 3.11 to 3.13 (nat)"


@pytest.mark.slow
def test_versions_are_those_of_the_first_python(shop: Path) -> None:
    files = {"nat/__init__.py": "", "nat/_n.cpython-312-x86_64-linux-gnu.so": "new"}
    wheel(shop, "nat", "3.0", files, tag=f"cp312-cp312-{X86}")
    server, _ = included('["nat"]', EVERY, ">=3.11,<3.14")
    assert server.layer is not None
    assert {package.name: package.version for package in server.layer.packages} == {"nat": "2.0"}
    assert len(targets_of(server)) == 3


@pytest.mark.slow
def test_what_the_first_python_has_is_not_installed_again(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, problems = included('["stable==1.0", "pure==1.0"]', EVERY)
    assert problems == ()
    assert len(list((shop / "cache/packages").iterdir())) == 1
    assert server.layer is not None
    assert server.layer.targets == tuple(LayerTarget(X86, minor, ((f"cp311-abi3-{X86}",),)) for minor in PYTHONS)
    assert server.runs_on == "Linux x86-64, Python 3.11 to 3.14 (stable)"


@pytest.mark.slow
def test_another_python_has_what_only_it_needs(shop: Path) -> None:
    wheel(shop, "newer", "1.0", {"newer.py": "value = 1\n"})
    server, problems = included('["nat==2.0", "newer==1.0; python_version >= \'3.13\'"]', EVERY, ">=3.11,<3.14")
    assert problems == ()
    assert server.layer is not None
    assert {package.name for package in server.layer.packages} == {"nat", "newer"}
    server, problems = included('["pure==1.0", "nat==2.0; python_version < \'3.13\'"]', EVERY)
    assert problems == ()
    wheels = {target.python: target.wheels for target in (server.layer.targets if server.layer else ())}
    assert wheels == {
        "3.11": ((f"cp311-cp311-{X86}",),), "3.12": ((f"cp312-cp312-{X86}",),), "3.13": (), "3.14": (),
    }  # fmt: skip


@pytest.mark.slow
def test_a_common_platform_without_a_wheel_is_left_out(shop: Path) -> None:
    server, problems = included('["nat==2.0"]', Options(every_python=True, platforms=("common",)), ">=3.11,<3.13")
    assert targets_of(server) == [(each, minor) for each in (X86, ARM) for minor in ("3.11", "3.12")]
    notes = [each.message.partition(":")[0] for each in problems]
    left_out = [each for each in COMMON_PLATFORMS if each not in (X86, ARM)]
    assert notes == [f"the built file does not run on {each} with Python 3.11 and 3.12" for each in left_out]
    assert server.runs_on == "Linux x86-64, Linux arm64, Python 3.11 and 3.12 (nat)"


@pytest.mark.slow
def test_without_any_common_platform_there_is_no_file(shop: Path) -> None:
    _, problems = included('["absent==2.0"]', Options(every_python=True, platforms=("common",)))
    assert [each.code for each in problems if each.severity is Severity.ERROR] == ["MCP405"]


@pytest.mark.parametrize(
    ("python", "words"), [(">=3.11", "Python 3.11 to 3.14"), (">=3.12,<3.14", "Python 3.12 and 3.13")]
)
def test_a_file_without_machine_code_runs_on_any_system(python: str, words: str) -> None:
    assert included("[]", EVERY, python)[0].runs_on == f"{words}, any system"
