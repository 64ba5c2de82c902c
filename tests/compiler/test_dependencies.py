"""What a project asks for: where it may say so, what is refused there, and what all places mean together."""

import json
from types import SimpleNamespace

import pytest

from mcpc.diagnostics import Diagnostic
from mcpc.options import Options
from mcpc.packages import include_packages, read_requirements
from mcpc.packages.installed_files import UnfitPackageError
from mcpc.packages.native_packages import (
    archive_namespaces,
    extension_name,
    module_name,
    namespace_packages,
    reads_own_files,
    split_package,
)
from mcpc.packages.needs import handler_files
from mcpc.packages.pep508 import find_closure
from mcpc.packages.platforms import Target, accepted_tags, marker_values, parse_target, uv_platform
from support.projects import SERVER_JSON, lowered, marked, places, tree

SCRIPT = "# /// script\n# dependencies = [\n#   {0},\n# ]\n# ///\nimport sys\n"


def asked(files: dict[str, str | bytes], *handler_files: str):
    project = tree(files)
    found, problems = read_requirements(project, [project.files[path] for path in handler_files])
    return [(one.text, one.hashes) for one in found], places(problems, files), problems


DIGEST = "sha256:" + "0a" * 32
UNDERSTOOD = {
    "nothing": ({}, []),
    "a line": ({"requirements.txt": "a==1\n"}, [("a==1", ())]),
    "what a built file brings itself": (
        {"requirements.txt": "mcp-compiler\nMCP_compiler>=0.1\na==1\n"},
        [("a==1", ())],
    ),
    "no line end": ({"requirements.txt": "a==1"}, [("a==1", ())]),
    "windows line ends": ({"requirements.txt": "a==1\r\nb==2\r\n"}, [("a==1", ()), ("b==2", ())]),
    "a byte order mark": ({"requirements.txt": "\ufeffa==1\n"}, [("a==1", ())]),
    "comments": ({"requirements.txt": "# all\n\na==1 # one\n  # none\nb==2;python_version>'3' #x\n"}, None),
    "continued": ({"requirements.txt": f"a==1 \\\n    --hash={DIGEST} \\\n  --hash {DIGEST}\n"}, [("a==1", (DIGEST,))]),
    "extras and markers": (
        {"requirements.txt": 'A_b[z,y]==1 ; python_version >= "3.8"\n'},
        [('A_b[y,z]==1; python_version >= "3.8"', ())],
    ),
    "included": (
        {"requirements.txt": "-r more/all.txt\n", "more/all.txt": "--requirement=../b.txt\nc==3", "b.txt": "b==2\n"},
        [("b==2", ()), ("c==3", ())],
    ),
    "included in a circle": ({"requirements.txt": "-rb.txt\na==1\n", "b.txt": "-r requirements.txt\n"}, [("a==1", ())]),
    "pyproject": ({"pyproject.toml": "[project]\nname='x'\ndependencies = ['a==1', \"b==2\"]\n"}, None),
    "pyproject without any": ({"pyproject.toml": "[tool.x]\ny=1\n"}, []),
    "a range and a version": (
        {"pyproject.toml": "[project]\ndependencies=['a>=1']\n", "requirements.txt": "-e .\na==1.2\n"},
        [("a==1.2", ())],
    ),
    "a range and a version with its digest": (
        {
            "pyproject.toml": "[project]\ndependencies=['a[x]>=1']\n",
            "requirements.txt": f"-e .\na==1.2 --hash={DIGEST}\n",
        },
        [("a[x]==1.2", (DIGEST,))],
    ),
    "one package by two spellings": ({"requirements.txt": "A.b==1\na-b[x]==1\n"}, [("A.b[x]==1", ())]),
    "two versions for two machines": (
        {"requirements.txt": "a==1; sys_platform=='linux'\na==2; sys_platform=='darwin'\n"},
        [('a==1; sys_platform == "linux"', ()), ('a==2; sys_platform == "darwin"', ())],
    ),
}


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_what_a_project_asks_for(name: str) -> None:
    files, expected = UNDERSTOOD[name]
    found, problems, said = asked(files)
    assert problems == [], said
    if expected is not None:
        assert sorted(found) == sorted(expected)
    else:
        assert [text.partition(";")[0] for text, _ in found] == ["a==1", "b==2"]


@pytest.mark.parametrize("line", ['"a==1"', "'a==1'", '"a == 1"'])
def test_a_handler_s_file_may_say_it_itself(line: str) -> None:
    files = {"tools.py": SCRIPT.format(line), "other.py": SCRIPT.format('"b==2"')}
    found, problems, _ = asked(files, "tools.py")
    assert problems == []
    assert [text for text, _ in found] == ["a==1"]


REFUSED = {
    "no requirement": ("MCP401", {"requirements.txt": "a==1\n  »a==\n"}),
    "not a digest": ("MCP401", {"requirements.txt": "»a==1 --hash=sha256:xyz\n"}),
    "an editable repository": ("MCP402", {"requirements.txt": "»-e git+https://example.org/a.git#egg=a\n"}),
    "an index": ("MCP402", {"requirements.txt": "»--index-url https://example.org/simple\na==1\n"}),
    "constraints that are not there": ("MCP004", {"requirements.txt": "»-c c.txt\n"}),
    "an option of a line": ("MCP402", {"requirements.txt": "»a==1 --config-settings x=y\n"}),
    "an address": ("MCP402", {"requirements.txt": "»git+https://example.org/a.git\n"}),
    "a wheel that is not there": ("MCP004", {"requirements.txt": "»./a-1-py3-none-any.whl\n"}),
    "a name with an address": ("MCP402", {"requirements.txt": "»a @ https://example.org/a.zip\n"}),
    "a file that is not there": ("MCP004", {"requirements.txt": "»-r missing.txt\n"}),
    "a file outside": ("MCP005", {"requirements.txt": "»-r ../other.txt\n"}),
    "a file of the machine": ("MCP005", {"requirements.txt": "»-r /etc/passwd\n"}),
    "no toml": ("MCP401", {"pyproject.toml": "[project]\ndependencies = »nonsense\n"}),
    "no list": ("MCP401", {"pyproject.toml": "[project]\n»dependencies = 'a'\n"}),
    "no texts": ("MCP401", {"pyproject.toml": "[project]\n»dependencies = [1]\n"}),
    "no requirement in pyproject": ("MCP401", {"pyproject.toml": "[project]\ndependencies = ['a==1', '»b==']\n"}),
    "to extract what is not asked for": (
        "MCP401",
        {"pyproject.toml": "[project]\ndependencies=['a==1']\n[tool.mcpc]\nextract = ['a', '»b']\n"},
    ),
    "two versions": ("MCP403", {"requirements.txt": "»a==1\n»a==2\n"}),
    "a version out of the range": (
        "MCP403",
        {"pyproject.toml": "[project]\ndependencies=['»a>=2']\n", "requirements.txt": "-e .\na==1\n"},
    ),
    "the other project": ("MCP415", {"requirements.txt": "»mcpc==0.2.6\n"}),
    "no version": ("MCP404", {"requirements.txt": "»a\n"}),
    "a range": ("MCP404", {"requirements.txt": "»a>=1,<2\n"}),
    "any patch": ("MCP404", {"requirements.txt": "»a==1.*\n"}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_and_where(name: str) -> None:
    code, written = REFUSED[name]
    files, marks = marked(written)
    _, problems, said = asked(files)
    assert problems == [(code, *mark) for mark in marks], said


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


def test_a_script_s_mistakes_are_where_they_are() -> None:
    text = "import os\n# /// script\n# dependencies = »[\n# ///\n"
    files, marks = marked({"tools.py": SCRIPT.format('"»a=="'), "b.py": text})
    found = [place for path in files for place in asked(files, path)[1]]
    assert sorted(found) == sorted(("MCP401", *mark) for mark in marks)


def test_two_blocks_of_metadata_are_one_too_many() -> None:
    _, problems, _ = asked({"tools.py": SCRIPT.format('"a==1"') * 2}, "tools.py")
    assert [(code, line) for code, _, line, _ in problems] == [("MCP401", 7)]


def test_what_is_to_be_extracted_is_known_of_the_requirement() -> None:
    table = "[project]\ndependencies = ['A.b==1', 'c==1']\n[tool.mcpc]\nextract = ['a-b']\n"
    found, problems = read_requirements(tree({"pyproject.toml": table}))
    assert problems == ()
    assert [(one.name, one.extracted) for one in found] == [("a-b", True), ("c", False)]


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


REQUIRED_PYTHONS = {
    "allowed": (">=3.11", []),
    "a later one": (">=3.40", [("MCP416", "the project requires Python >=3.40, and this is Python ")]),
    "an earlier one": ("<3.10,>=3.8", [("MCP416", "the project requires Python <3.10,>=3.8, and this is Python ")]),
    "not a specifier": ("newest", [("MCP401", "`requires-python` is not a version specifier")]),
}


@pytest.mark.parametrize("name", REQUIRED_PYTHONS)
@pytest.mark.parametrize("place", ["pyproject.toml", "tools.py"])
def test_the_python_that_a_project_requires_is_compared_with_that_of_the_build(name: str, place: str) -> None:
    written, wanted = REQUIRED_PYTHONS[name]
    texts = {
        "pyproject.toml": f'[project]\nname = "x"\nrequires-python = "{written}"\n',
        "tools.py": f'# /// script\n# requires-python = "{written}"\n# ///\n',
    }
    project = tree({place: texts[place]})
    _, problems = read_requirements(project, [project.files["tools.py"]] if place == "tools.py" else [])
    assert [
        (problem.code, problem.message[: len(text)]) for problem, (_, text) in zip(problems, wanted, strict=True)
    ] == wanted
    for problem in problems:
        assert texts[place][problem.span.start : problem.span.end] == "requires-python"
