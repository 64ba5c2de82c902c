"""Variables that Python handlers read and do not find: told once a file, where they are read."""

from __future__ import annotations

import pytest

from projects import SERVER_JSON, checked, marked, places

TOOL = """{"name": "%s", "description": "D.", "inputSchema": {"type": "object"}, "_meta": {"mcpc/handler": %s}}"""


def tools(**handlers: str) -> str:
    return f'{{"tools": [{", ".join(TOOL % row for row in handlers.items())}]}}'


KNOWN = '{"environment": ["KEY", "APP_*"]}'
CASES = {
    "subscript": ("import os\ndef a(): return os.environ[»'X']\n", "{}"),
    "get": ("import os as o\ndef a(): return o.environ.get(»'X', 1)\n", "{}"),
    "getenv": ("import os\ndef a(): return os.getenv(»'X')\n", "{}"),
    "imported": ("from os import environ as e, getenv as g\ndef a(): return g(»'X'), e[»'Y']\n", "{}"),
    "once": ("import os\ndef a(): return os.getenv(»'X'), os.getenv('X')\n", "{}"),
    "at the top": ("import os\nX = os.getenv(»'X')\ndef a(): return X\n", "{}"),
    "default": ("import os\ndef a(x=os.getenv(»'X')): return x\n", "{}"),
    "helper": ("import os\ndef a(): return helper()\ndef helper(): return os.getenv(»'X')\n", "{}"),
    "declared": ("import os\ndef a(): return os.environ['KEY'], os.getenv('APP_HOME'), os.getenv(»'APP')\n", KNOWN),
    "inherited": ("import os\ndef a(): return os.environ['X']\n", '{"environment": "inherit"}'),
    "minimal": (
        "import os\ndef a(): return os.environ['PATH'], os.environ['LC_ALL'], os.environ['XDG_CACHE_HOME']\n",
        "{}",
    ),
    "set here": (
        "import os\nos.environ.setdefault('X', '1')\ndef a(): os.environ['Y'] = '2'; return os.environ['X'], os.environ['Y']\n",
        "{}",
    ),
    "computed": ("import os\ndef a(name='X'): return os.environ[name], os.getenv(name + 'Y')\n", "{}"),
    "another environ": ("import other as os\nenviron = {}\ndef a(): return environ['X'], os.getenv('X')\n", "{}"),
    "another module": ("from other import environ\ndef a(): return environ['X']\n", "{}"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_read_and_not_found(case: str) -> None:
    text, handler = CASES[case]
    given = {
        "server.json": SERVER_JSON,
        "tools.json": tools(a=handler),
        "tools.py": text,
        "other.py": "def getenv(x): ...\nenviron = {}\n",
    }
    files, marks = marked(given)
    server, problems = checked(files)
    assert server is not None, problems
    assert places(problems, files) == [("MCP231", *mark) for mark in marks]


def told(text: str, more: dict[str, str] | None = None, **handlers: str) -> list[str]:
    _, problems = checked(
        {"server.json": SERVER_JSON, "tools.json": tools(**handlers), "tools.py": text, **(more or {})}
    )
    assert {problem.code for problem in problems} <= {"MCP231"}
    return [problem.message.partition(":")[0] + " | " + problem.hint for problem in problems]


IN_JSON = 'say `"environment": ["KEY"]` in its `"_meta": {"mcpc/handler": {…}}`'


def test_it_is_the_handlers_own_environment_that_counts() -> None:
    own = "import os\ndef a(): return os.environ['KEY']\ndef b(): ...\n"
    assert told(own, a=KNOWN, b="{}") == []
    assert told(own, a="{}", b=KNOWN) == [f"`a` does not find the variable `KEY` | {IN_JSON}"]


def test_what_runs_with_the_file_every_handler_needs() -> None:
    top = "import os\nKEY = os.getenv('KEY')\ndef a(): ...\ndef b(): ...\n"
    assert told(top, a=KNOWN, b=KNOWN) == []
    assert told(top, a=KNOWN, b="{}") == [f"`b` does not find the variable `KEY` | {IN_JSON}"]


def test_what_another_function_reads_one_of_them_needs() -> None:
    helper = "import helper\ndef a(): ...\ndef b(): ...\n"
    beside = {"helper.py": "import os\ndef key(): return os.getenv('KEY')\n"}
    assert told(helper, beside, a=KNOWN, b="{}") == []
    assert told(helper, beside, a="{}", b="{}") == [f"`a` does not find the variable `KEY` | {IN_JSON}"]


def test_what_no_handler_leads_to_is_nobodys_business() -> None:
    assert told("def a(): ...\n", {"script.py": "import os\nos.environ['KEY']\n"}, a="{}") == []


def test_a_mark_is_told_what_to_say() -> None:
    text = "import os\nfrom mcpc import tool\n@tool\ndef a():\n    'A.'\n    return os.getenv('KEY')\n"
    _, problems = checked({"server.json": SERVER_JSON, "tools.py": text})
    assert [problem.hint for problem in problems] == ['say `environment=["KEY"]` in its mark']
