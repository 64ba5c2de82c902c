"""What a project asks for: where it may say so, what is refused there, and what all places mean together."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcpc.diagnostics import Diagnostic
from mcpc.options import Options
from mcpc.packages import include_packages, read_requirements
from mcpc.packages.installed_files import UnfitPackageError
from mcpc.packages.module_packages import handler_files
from mcpc.packages.native_packages import (
    archive_namespaces,
    extension_name,
    module_name,
    namespace_packages,
    reads_own_files,
    split_package,
)
from mcpc.packages.pep508 import find_closure
from mcpc.packages.platforms import Target, accepted_tags, marker_values, parse_target, uv_platform
from mcpc.packages.poetry import python_ranges
from mcpc.reading import SourceTree
from support.needs import ROOT
from support.projects import SERVER_JSON, lowered, tree
from support.whole_projects import print_parsed, read_cases

GOLDEN = ROOT / "tests/golden/packages"


def required(project: SourceTree, options: Options) -> str:
    """Return what a project requires, and the problems: the same with any Python and any version of packaging."""
    named = {name: getattr(options, name) for name in ("extras", "groups")}
    chosen = replace(options, **{name: tuple(value.split(",")) for name, value in named.items() if value})
    project = replace(project, options=chosen)
    script = project.get("tools.py")
    text = print_parsed(*read_requirements(project, [script] if script else []), project)
    text = re.sub(
        r"(this is Python )[\d.]+", r"\g<1>3.N", re.sub(r"(is not a (requirement|valid lock file)): .*", r"\1", text)
    )
    return re.sub(r"(?<=\w)@ ", " @ ", text)


def test_what_projects_require(golden: Callable[[Path, str], None]) -> None:
    cases = read_cases(GOLDEN / "requirements.cases")
    text = "\n".join(f"##### {name}\n{required(*case)}" for name, *case in cases)
    golden(GOLDEN / "requirements.txt", text)
    assert "secret" not in text


def test_whatever_a_handler_is_for_its_file_may_ask_for_packages() -> None:
    template = {"uriTemplate": "x:{a}", "name": "t", "description": "T."}
    files = {
        "server.json": SERVER_JSON,
        "prompts.json": json.dumps({"prompts": [{"name": "p", "description": "P."}]}),
        "prompts.py": "def p(): ...\n",
        "resources.json": json.dumps({"resourceTemplates": [template]}),
        "resources.py": "def t(a): ...\n",
        "completions.json": json.dumps(
            {"completions": [{"ref": {"type": "ref/resource", "uri": "x:{a}"}, "argument": "a"}]}
        ),
        "completions.py": "def t_a(value): ...\n",
        "beside.py": "",
    }
    server, problems = lowered(files)
    assert server is not None, problems
    assert {one.path for one in handler_files(server)} == {"prompts.py", "resources.py", "completions.py"}


PLATFORMS = {
    "manylinux2014_x86_64": ("manylinux2014_x86_64", "3.11"),
    "manylinux_2_28_aarch64": ("manylinux_2_28_aarch64", "3.11"),
    "musllinux_1_2_x86_64-cp312": ("musllinux_1_2_x86_64", "3.12"),
    "macosx_11_0_arm64": ("macosx_11_0_arm64", "3.11"),
    "macosx_13_0_x86_64": ("macosx_13_0_x86_64", "3.11"),
}


@pytest.mark.parametrize("tag", PLATFORMS)
def test_a_platform_is_what_wheels_call_it(tag: str) -> None:
    platform, version = PLATFORMS[tag]
    assert parse_target(tag, "3.11" if "-cp" not in tag else "") == Target(platform, version)


UV_PLATFORMS = {
    "manylinux2014_x86_64": "x86_64-manylinux_2_17", "manylinux_2_16_x86_64": "", "manylinux_2_27_aarch64":
    "aarch64-manylinux_2_17", "manylinux_2_28_x86_64": "x86_64-manylinux_2_28", "manylinux_2_99_x86_64":
    "x86_64-manylinux_2_40", "musllinux_1_2_x86_64": "x86_64-unknown-linux-musl", "musllinux_1_1_x86_64": "",
    "macosx_11_0_universal2": "aarch64-apple-darwin", "macosx_11_0_x86_64": "x86_64-apple-darwin", "win32":
    "i686-pc-windows-msvc", "win_arm64": "aarch64-pc-windows-msvc", "linux_x86_64": "", "manylinux2014_riscv64": "",
}  # fmt: skip


@pytest.mark.parametrize("tag", UV_PLATFORMS)
def test_wheels_are_chosen_for_no_newer_system(tag: str) -> None:
    assert uv_platform(tag) == UV_PLATFORMS[tag]
    assert isinstance(parse_target(tag), Target if UV_PLATFORMS[tag] else Diagnostic)


WRONG_PLATFORMS = ("win_x86_64", "windows", "linux", "x86_64", "manylinux2014", "manylinux2015_x86_64", "darwin_arm64",
                   "manylinux2014_x86_64-cp310", "manylinux2014_x86_64 ", "../x", "win32-cp310")  # fmt: skip


@pytest.mark.parametrize("tag", WRONG_PLATFORMS)
def test_a_platform_that_is_none_is_refused_even_if_nothing_is_carried(tag: str) -> None:
    found = parse_target(tag)
    assert isinstance(found, Diagnostic)
    assert found.code == "MCP406"
    files = {
        "server.json": SERVER_JSON,
        "tools.json": json.dumps({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}),
        "tools.py": "def a(): pass\n",
    }
    server, _ = lowered(files)
    assert server is not None
    assert [problem.code for problem in include_packages(server, tree(files), Options(platforms=(tag,)))[1]] == [
        "MCP406"
    ]


def test_a_platform_takes_the_wheels_of_older_libraries() -> None:
    assert accepted_tags("manylinux2014_x86_64")[:2] == ("manylinux_2_17_x86_64", "manylinux2014_x86_64")
    assert "manylinux2010_x86_64" in accepted_tags("manylinux_2_28_x86_64")
    assert "manylinux_2_28_x86_64" not in accepted_tags("manylinux2014_x86_64")
    assert accepted_tags("musllinux_1_2_aarch64") == tuple(f"musllinux_1_{minor}_aarch64" for minor in (2, 1, 0))
    assert accepted_tags("macosx_11_0_arm64") == ("macosx_11_0_arm64",)


def package(name: str, version: str, *needs: str):
    return SimpleNamespace(metadata={"Name": name}, version=version, requires=list(needs))


def test_a_closure_follows_markers_and_extras_of_the_machine_asked_for() -> None:
    there = {
        "a": package("a", "1", "b>=2", "c; sys_platform == 'darwin'", "d; extra == 'more'", "no requirement at all"),
        "b": package("b", "2.1", "a"),
        "d": package("d", "1"),
    }
    linux, mac = (
        marker_values(Target("manylinux2014_x86_64", "3.11")),
        marker_values(Target("macosx_11_0_arm64", "3.11")),
    )
    assert sorted(find_closure(["a"], there.get, linux).found) == ["a", "b"]
    assert sorted(find_closure(["a[more]"], there.get, linux).found) == ["a", "b", "d"]
    assert find_closure(["a"], there.get, mac).missing == [("a", "c")]
    assert find_closure(["b<2"], there.get, linux).missing == [("", "b<2")]


MODULES = {
    "a.py": "a", "a/__init__.py": "a", "a/b.py": "a.b", "a/b.cpython-311-x86_64-linux-gnu.so": "a.b",
    "a/b.abi3.so": "a.b", "a/__init__.cpython-311-x86_64-linux-gnu.so": "a", "b.so": "b", "a.libs/c.so": "",
    "a/data.txt": "", "a/b.pyi": "", "a-1.dist-info/x.py": "", "6e__mypyc.cpython-311-darwin.so": "6e__mypyc",
}  # fmt: skip


@pytest.mark.parametrize("path", MODULES)
def test_what_a_file_is_imported_as(path: str) -> None:
    assert module_name(path) == MODULES[path]
    if path.endswith(".so"):
        assert extension_name(path) == MODULES[path]


def test_a_folder_with_modules_and_no_init_is_only_a_name() -> None:
    files = ["g/x/__init__.py", "g/x/y.py", "g/z.py", "h/__init__.py", "h/i/j.py", "d/data.txt"]
    assert namespace_packages(files) == {"g", "h.i"}


@pytest.mark.parametrize(("plain", "extracted", "owned", "found"), [
    (["g/x.py"], [], [], {"g"}),
    ([], ["a/__init__.py", "a/b/c.py"], ["a"], set()),
    ([], ["g/a/__init__.py", "g/a/b/c.py"], ["g.a"], {"g"}),
    (["g/y.py"], ["g/a/__init__.py", "g/a/b/c.py"], ["g.a"], {"g"}),
    (["a/b/d.py"], ["a/__init__.py", "a/b/c.py"], ["a"], {"a.b"}),
    (["a/__init__.py"], ["a/b/n.cpython-311-x86_64-linux-gnu.so"], ["a.b.n"], {"a.b"}),
])  # fmt: skip
def test_which_names_are_found_in_the_archive(
    plain: list[str], extracted: list[str], owned: list[str], found: set[str]
) -> None:
    assert archive_namespaces(plain, extracted, owned) == found


@pytest.mark.parametrize(
    ("files", "answer"),
    [
        ({"a/__init__.py": b"__file__", "a/table.csv": b"1"}, True),
        ({"a/__init__.py": b"", "a/table.csv": b"1"}, False),
        ({"a/__init__.py": b"__file__", "a/py.typed": b"", "a/x.pyi": b""}, False),
        ({"a/__init__.py": b"__file__", "a/b.cpython-311-x86_64-linux-gnu.so": b""}, False),
        ({"a/__init__.py": b"__file__", "a/libb.so": b""}, True),
        ({"a/__init__.py": b"__file__", "a.libs/libb.so": b""}, False),
        ({"a/__init__.py": b"import importlib.resources", "a/table.csv": b"1"}, True),
        ({"a/__init__.py": b"from importlib import resources", "a/table.csv": b"1"}, True),
        ({"a/__init__.py": b"from importlib_resources import files", "a/table.csv": b"1"}, True),
        ({"a/__init__.py": b"import pkgutil; pkgutil.get_data(__name__, 'x')", "a/table.csv": b"1"}, True),
        ({"a/__init__.py": b"import pkg_resources", "a/table.csv": b"1"}, True),
        ({"a/__init__.py": b"import pkg_resources", "a/b.py": b""}, False),
        ({"a/_version.py": b"open(__file__ + '/../_static.py')", "a/_static.py": b""}, True),
        ({"a/_version.py": b"x(__file__, '_static.py')", "a/_other.py": b""}, False),
        ({"a/b.py": b"__file__; x('__init__.py')", "a/__init__.py": b""}, False),
    ],
)
def test_a_package_that_reads_files_by_their_place(files: dict[str, bytes], answer: bool) -> None:
    assert reads_own_files(files) is answer


def wheel(name: str, tag: str, files: dict[str, bytes]):
    information = f"{name}-1.dist-info"
    contents = {**files, f"{information}/WHEEL": tag.encode()}
    digests = {path: data.hex() for path, data in contents.items()}
    row = SimpleNamespace(name=name, version="1", information=information, tags=(tag,), files=digests)
    return row, contents


LINUX, MAC = "cp311-cp311-manylinux2014_x86_64", "cp311-cp311-macosx_11_0_arm64"
NATIVE = {LINUX: "a/n.cpython-311-x86_64-linux-gnu.so", MAC: "a/n.cpython-311-darwin.so"}


def test_what_is_the_same_everywhere_is_carried_once() -> None:
    wheels = [wheel("a", tag, {"a/__init__.py": b"1", NATIVE[tag]: tag.encode()}) for tag in (LINUX, MAC)]
    parts = split_package(wheels, extracted=False)
    assert sorted(parts.plain) == ["a-1.dist-info/WHEEL", "a/__init__.py"]
    assert [(one.tags, list(one.files)) for one in parts.variants] == [
        ((MAC,), [NATIVE[MAC]]),
        ((LINUX,), [NATIVE[LINUX]]),
    ]
    assert parts.modules == {"a.n"}


def test_what_differs_between_platforms_is_carried_for_each() -> None:
    wheels = [wheel("a", tag, {"a/__init__.py": tag.encode(), NATIVE[tag]: b""}) for tag in (LINUX, MAC)]
    parts = split_package(wheels, extracted=False)
    assert sorted(parts.plain) == ["a-1.dist-info/WHEEL"]
    assert [sorted(one.files) for one in parts.variants] == [
        ["a/__init__.py", NATIVE[MAC]],
        ["a/__init__.py", NATIVE[LINUX]],
    ]
    assert parts.modules == {"a"}


def test_the_same_wheel_for_two_platforms_is_one() -> None:
    parts = split_package([wheel("a", "py3-none-any", {"a.py": b"1"})] * 2, extracted=False)
    assert parts.variants == ()
    assert parts.plain["a.py"] == b"1"


def test_two_versions_that_nothing_can_tell_apart_are_refused() -> None:
    wheels = [wheel("a", "py3-none-any", {"a.py": data}) for data in (b"1", b"2")]
    with pytest.raises(UnfitPackageError, match="two platforms"):
        split_package(wheels, extracted=False)


RANGES = {"^3.8": ["<4,>=3.8"], ">=3.10,<4": ["<4,>=3.10"], "~3.11 || ^3.12": ["<3.12,>=3.11", "<4,>=3.12"], "*": [""]}


@pytest.mark.parametrize("written", RANGES)
def test_ranges_of_pythons(written: str) -> None:
    assert [str(found) for found in python_ranges(written)] == RANGES[written]
