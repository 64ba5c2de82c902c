"""Where projects declare requirements besides the usual places, and what is chosen of them."""

from dataclasses import replace

import pytest

from mcpc.packages import read_requirements
from mcpc.packages.poetry import python_ranges
from mcpc.reading import SourceTree
from support.projects import marked, places, tree

EXTRAS = """[project]
name = "Own_Pkg"
dependencies = ["a==1"]
[project.optional-dependencies]
Full_Text = ["b==2"]
all = ["own-pkg[full-text,more]", "d==4"]
more = ["c==3"]
circle = ["own.pkg[circle]", "a==1"]
[dependency-groups]
base = ["e==5"]
dev = ["f==6", {include-group = "Base"}]
"""
POETRY = """[tool.poetry]
name = "own"
[tool.poetry.dependencies]
python = ">=3.8,<4"
a = "^1.2.3"
b = "~2.1"
c = "3.0"
d = "*"
e = {version = "^0.4.1", extras = ["x"], markers = "sys_platform == 'linux'"}
f = {version = "1", optional = true}
g = [{version = "1.0", python = "<3.9"}, {version = "2.0", python = "^3.9"}]
h = {path = "libs/h"}
[tool.poetry.extras]
full = ["F"]
[tool.poetry.group.dev.dependencies]
i = ">=1,<2"
"""
LIBRARY = '[project]\nname = "h"\nversion = "1.0"\n'
SETUP_CFG = """[metadata]
name = own
[options]
python_requires = >=3.8
install_requires =
    a==1  # the first
    b>=2; python_version > "3"
[options.extras_require]
more = c==3
"""
SETUP_PY = """from setuptools import setup
needs = ["a==1", "b==2"]
setup(name="own", install_requires=needs, extras_require={"more": ["c==3"]}, python_requires=">=3.8")
"""
WORKSPACE = """[project]
dependencies = ["h", "a==1", "i"]
[[tool.uv.index]]
name = 'mine'
url = 'https://example.org/simple'
explicit = true
[tool.uv.sources]
h = {workspace = true}
I = [{path = "libs/i-1.0-py3-none-any.whl", marker = "sys_platform == 'linux'"}]
a = {index = "mine"}
[tool.uv.workspace]
members = ["libs/*"]
"""
DYNAMIC = """[project]
name = "own"
dynamic = ["dependencies"]
[tool.setuptools.dynamic]
dependencies = {file = ["needs/run.txt"]}
"""
Files = "dict[str, str]"
READ: dict[str, tuple[dict[str, str], dict[str, tuple[str, ...]], list[str]]] = {
    "no extra": ({"pyproject.toml": EXTRAS}, {}, ["a==1"]),
    "an extra": ({"pyproject.toml": EXTRAS}, {"extras": ("full.text",)}, ["a==1", "b==2"]),
    "an extra of extras": ({"pyproject.toml": EXTRAS}, {"extras": ("all",)}, ["a==1", "b==2", "c==3", "d==4"]),
    "an extra in a circle": ({"pyproject.toml": EXTRAS}, {"extras": ("circle",)}, ["a==1"]),
    "a group with another": ({"pyproject.toml": EXTRAS}, {"groups": ("dev",)}, ["a==1", "e==5", "f==6"]),
    "in settings": (
        {"pyproject.toml": f"{EXTRAS}[tool.mcpc]\nextras = ['more']\ngroups = ['base']\n"},
        {},
        ["a==1", "c==3", "e==5"],
    ),
    "the project itself": (
        {"pyproject.toml": EXTRAS, "requirements.txt": "own_pkg==1.0\n-e .[more]\n.\n"},
        {},
        ["a==1", "c==3"],
    ),
    "the project itself by name": (
        {"pyproject.toml": EXTRAS, "requirements.txt": "own_pkg[more]\n"},
        {},
        ["a==1", "c==3"],
    ),
    "a group alone": ({"pyproject.toml": "[dependency-groups]\ndev = ['a==1']\n"}, {"groups": ("dev",)}, ["a==1"]),
    "poetry": (
        {"pyproject.toml": POETRY, "libs/h/pyproject.toml": LIBRARY},
        {},
        [
            *("a<2,>=1.2.3", "b<2.2,>=2.1", "c==3.0", "d"),
            'e[x]<0.5,>=0.4.1; sys_platform == "linux"',
            'g==1.0; python_version < "3.9"',
            'g==2.0; python_version < "4.0" and python_version >= "3.9"',
            "h",
        ],
    ),
    "poetry with an extra and a group": (
        {"pyproject.toml": POETRY.replace('h = {path = "libs/h"}\n', "")},
        {"extras": ("full",), "groups": ("dev",)},
        [
            *("a<2,>=1.2.3", "b<2.2,>=2.1", "c==3.0", "d"),
            'e[x]<0.5,>=0.4.1; sys_platform == "linux"',
            "f==1",
            'g==1.0; python_version < "3.9"',
            'g==2.0; python_version < "4.0" and python_version >= "3.9"',
            "i<2,>=1",
        ],
    ),
    "poetry is not read beside a project's own": (
        {"pyproject.toml": "[project]\ndependencies = ['z==1']\n[tool.poetry.dependencies]\na = '1'\n"},
        {},
        ["z==1"],
    ),
    "setup.cfg": ({"setup.cfg": SETUP_CFG}, {"extras": ("more",)}, ["a==1", 'b>=2; python_version > "3"', "c==3"]),
    "setup.py": ({"setup.py": SETUP_PY}, {"extras": ("more",)}, ["a==1", "b==2", "c==3"]),
    "setup.py beside a project table": (
        {"setup.py": SETUP_PY, "pyproject.toml": "[project]\nname = 'own'\n"},
        {},
        [],
    ),
    "setup.py that computes, and requirements": (
        {"setup.py": "setup(install_requires=read())\n", "requirements.txt": "a==1\n"},
        {},
        ["a==1"],
    ),
    "dynamic": ({"pyproject.toml": DYNAMIC, "needs/run.txt": "a==1\n"}, {}, ["a==1"]),
    "another file": ({"requirements/base.txt": "-r more.txt\na==1\n", "requirements/more.txt": "b==2\n"}, {}, ["a==1", "b==2"]),
    "another file, and one for development": (
        {"requirements/prod.txt": "a==1\n", "requirements/dev.txt": "b==2\n", "requirements-dev.txt": "c==3\n"},
        {},
        ["a==1"],
    ),
    "another file beside the main one": ({"requirements/base.txt": "b==2\n", "requirements.txt": "a==1\n"}, {}, ["a==1"]),
    "a workspace": (
        {
            "pyproject.toml": WORKSPACE,
            "libs/h/pyproject.toml": LIBRARY,
            "libs/i-1.0-py3-none-any.whl": "wheel",
        },
        {},
        ["a==1", "h", "i"],
    ),
    "a folder by its path": ({"requirements.txt": "-e ./libs/h[x]\n", "libs/h/pyproject.toml": LIBRARY}, {}, ["h[x]"]),
    "a folder with a setup.py": ({"requirements.txt": "libs/own\n", "libs/own/setup.py": SETUP_PY}, {}, ["own"]),
    "a folder by its name": ({"requirements.txt": "h @ ./libs/h\n", "libs/h/pyproject.toml": LIBRARY}, {}, ["h"]),
    "a wheel by its path": ({"requirements.txt": "./w/h-1.0-py3-none-any.whl\n", "w/h-1.0-py3-none-any.whl": "x"}, {}, ["h"]),
    "a wheel at an address": (
        {"requirements.txt": f"h @ https://example.org/h-1-py3-none-any.whl#sha256={'0' * 64}\n"},
        {},
        [f"h @ https://example.org/h-1-py3-none-any.whl#sha256={'0' * 64}"],
    ),
}  # fmt: skip


def chosen(files: dict[str, str], options: dict[str, tuple[str, ...]]):
    return read_requirements(replace(tree(files), **options))


@pytest.mark.parametrize("name", READ)
def test_what_is_read(name: str) -> None:
    files, options, expected = READ[name]
    found, problems = chosen(files, options)
    assert [item.text.replace("h@ ", "h @ ") for item in found] == expected  # as the version of packaging writes it
    assert [problem for problem in problems if problem.code != "MCP404"] == []


GIT = "https://user:secret@example.org/x.git"
REFUSED: dict[str, tuple[str, str, dict[str, str], dict[str, tuple[str, ...]]]] = {
    "an unknown extra": ("MCP419", "did you mean `full-text`?", {"pyproject.toml": EXTRAS}, {"extras": ("fulltext",)}),
    "an unknown group": ("MCP419", "it has `base`, `dev`", {"pyproject.toml": EXTRAS}, {"groups": ("nothing",)}),
    "an extra of no project": ("MCP419", "it has no extras", {}, {"extras": ("x",)}),
    "an unknown extra in settings": (
        "MCP419",
        "did you mean `more`?",
        {"pyproject.toml": f"{EXTRAS}[tool.mcpc]\nextras = ['»mor']\n"},
        {},
    ),
    "an unknown group that is included": (
        "MCP419",
        "did you mean `dev`?",
        {"pyproject.toml": "[dependency-groups]\ndev = [{include-group = '»deb'}]\n"},
        {"groups": ("dev",)},
    ),
    "an extra that is no list": ("MCP401", "", {"pyproject.toml": "[project.optional-dependencies]\n»x = 1\n"}, {}),
    "settings": ("MCP401", "", {"pyproject.toml": "[tool.mcpc]\n»allow-sdist = 'yes'\n"}, {}),
    "a date that is none": ("MCP401", "", {"pyproject.toml": "[tool.mcpc]\n»exclude-newer = 'June'\n"}, {}),
    "a repository of uv": (
        "MCP402",
        "put a wheel of it into the project (`x @ ./x.whl`), or name a version in the registry",
        {"pyproject.toml": f"[project]\ndependencies = ['»x']\n[tool.uv.sources]\nx = {{git = '{GIT}'}}\n"},
        {},
    ),
    "a repository": ("MCP402", "put a wheel", {"requirements.txt": f"»x @ git+{GIT}\n"}, {}),
    "sources at an address": ("MCP402", "put a wheel", {"requirements.txt": "»x @ https://example.org/x-1.tar.gz\n"}, {}),
    "a repository of poetry": (
        "MCP402",
        "put a wheel",
        {"pyproject.toml": f"[tool.poetry.dependencies]\n»x = {{git = '{GIT}', rev = '1'}}\n"},
        {},
    ),
    "a member that is not there": (
        "MCP402",
        "build from the folder of the workspace",
        {"pyproject.toml": "[project]\ndependencies = ['»x']\n[tool.uv.sources]\nx = {workspace = true}\n"},
        {},
    ),
    "a folder without a package": ("MCP402", "name a package", {"requirements.txt": "»x @ ./lib\n", "lib/a.py": ""}, {}),
    "a folder without a name": ("MCP402", "name it", {"requirements.txt": "»./lib\n", "lib/setup.py": ""}, {}),
    "a folder outside": ("MCP005", "put a wheel", {"requirements.txt": "»x @ ../x\n"}, {}),
    "alternatives": (
        "MCP401",
        "",
        {"pyproject.toml": "[tool.poetry.dependencies]\n»x = '^1 || ^2'\n"},
        {},
    ),
    "no range": ("MCP401", "", {"pyproject.toml": "[tool.poetry.dependencies]\n»x = '^one'\n»y = true\n"}, {}),
    "a Python of poetry": ("MCP416", "build it", {"pyproject.toml": "[tool.poetry.dependencies]\n»python = '^2.7 || 3.6.*'\n"}, {}),
    "a Python of setuptools": ("MCP416", "build it", {"setup.cfg": "[options]\n»python_requires = <3\n"}, {}),
    "a setup.py that computes": ("MCP420", "list the requirements", {"setup.py": "setup(»install_requires=read())\n"}, {}),
    "a build that computes": (
        "MCP420",
        "list the requirements",
        {"pyproject.toml": "[project]\nname = 'x'\ndynamic = ['»dependencies']\n"},
        {},
    ),
    "two files": (
        "MCP420",
        "write a `requirements.txt` that includes the right one: `-r requirements/base.txt`",
        {"requirements/base.txt": "»a==1\n", "requirements/prod.txt": "b==1\n"},
        {},
    ),
    "an address without a digest": (
        "MCP404",
        "end the address with `#sha256=` and its digest",
        {"requirements.txt": "»h @ https://example.org/h-1-py3-none-any.whl\n"},
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_and_where(name: str) -> None:
    code, hint, written, options = REFUSED[name]
    files, marks = marked(written)
    _, problems = chosen(files, options)
    expected = [(code, *mark) for mark in marks] or [(code, "", 0, 0)]
    assert places(problems, files) == expected, problems
    assert hint in problems[0].hint
    assert "secret" not in problems[0].message


def test_a_folder_is_not_built_where_no_code_is_to_run() -> None:
    files = {"requirements.txt": "h @ ./libs/h\n", "libs/h/pyproject.toml": LIBRARY}
    _, problems = read_requirements(replace(tree(files), imports=False))
    assert [problem.code for problem in problems] == ["MCP418"]


def test_constraints_are_known_of_every_requirement() -> None:
    files = {
        "requirements.txt": "-c limits.txt\na>=1\nb==2\n",
        "limits.txt": "a<3\n-r more.txt\n",
        "more.txt": "c==4\n",
    }
    found, _ = chosen(files, {})
    assert [(item.text, item.constraints) for item in found] == [
        ("a>=1", ("a<3", "c==4")),
        ("b==2", ("a<3", "c==4")),
    ]


def test_a_package_may_be_built_if_the_options_or_the_settings_say_so() -> None:
    files = {"requirements.txt": "a==1\n"}
    assert [item.from_source for item in read_requirements(tree(files))[0]] == [False]
    assert [item.from_source for item in read_requirements(replace(tree(files), allow_sdist=True))[0]] == [True]
    files["pyproject.toml"] = "[tool.mcpc]\nallow-sdist = true\n"
    assert [item.from_source for item in read_requirements(tree(files))[0]] == [True]


def test_versions_count_up_to_the_date_of_the_options_the_settings_or_uv() -> None:
    files = {"requirements.txt": "a\n"}

    def dates(project: SourceTree) -> list[str]:
        found, problems = read_requirements(project)
        assert [problem.code for problem in problems] == ([] if found[0].exclude_newer else ["MCP404"])
        return [item.exclude_newer for item in found]

    assert dates(tree(files)) == [""]
    files["pyproject.toml"] = "[tool.uv]\nexclude-newer = '1 week'\n"
    assert dates(tree(files)) == [""]
    files["pyproject.toml"] = "[tool.uv]\nexclude-newer = '2025-06-30T10:00:00Z'\n"
    assert dates(tree(files)) == ["2025-06-30T10:00:00Z"]
    files["pyproject.toml"] += "[tool.mcpc]\nexclude-newer = '2025-05-01'\n"
    assert dates(tree(files)) == ["2025-05-01"]
    assert dates(replace(tree(files), exclude_newer="2024-01-31")) == ["2024-01-31"]


RANGES = {"^3.8": ["<4,>=3.8"], ">=3.10,<4": ["<4,>=3.10"], "~3.11 || ^3.12": ["<3.12,>=3.11", "<4,>=3.12"], "*": [""]}


@pytest.mark.parametrize("written", RANGES)
def test_ranges_of_pythons(written: str) -> None:
    assert [str(found) for found in python_ranges(written)] == RANGES[written]
