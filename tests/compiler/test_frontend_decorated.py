"""Marked functions are definitions as JSON is: merged with it, bound to themselves, and wrong at exact places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mcpc
from mcpc import Context
from mcpc.ir import PythonFunction
from mcpc.ir.printer import print_server
from support.projects import SERVER_JSON, Files, checked, lowered, marked, parsed, places
from support.whole_projects import print_cases

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parents[1] / "golden/frontends"
pytestmark = pytest.mark.sampled(2)

DEMO = '''"""Handlers."""
from typing import Annotated
from mcpc import Server, prompt, tool

mcp = Server("demo", "Be kind.", title="Demo", website_url="https://example.org")


@tool(title="Add")
def add(a: int, b: Annotated[int, "second"] = 2) -> int:
    """Add."""
    return a + b


@mcp.prompt
def ask(topic: str) -> str:
    """Ask."""
    return topic
'''
JSON_TOOL = '{"tools": [{"name": "old", "description": "Old.", "inputSchema": {"type": "object"}}]}'


def test_whole_projects(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "decorated.txt", print_cases(GOLDEN / "decorated.cases"))


def test_a_file_of_functions_is_a_whole_project() -> None:
    server, problems = checked({"server.py": DEMO})
    assert problems == ()
    assert server is not None
    assert server.server.node.value == {
        "serverInfo": {"name": "demo", "title": "Demo", "websiteUrl": "https://example.org", "version": "0.1.0"},
        "instructions": "Be kind.",
    }
    (tool,) = server.server.tools
    assert isinstance(tool.handler, PythonFunction)
    assert (tool.handler.file, tool.handler.function, tool.handler.binding) == ("server.py", "add", ("hints", "wrap"))
    assert [prompt.name for prompt in server.server.prompts] == ["ask"]
    assert [file.source.path for file in server.server.files] == ["server.py"]


@pytest.mark.parametrize("path", ["server.py", "tools.py", "prompts.py"])
def test_functions_may_be_in_any_of_three_files(path: str) -> None:
    server, problems = lowered({path: DEMO})
    assert problems == ()
    assert server is not None
    assert [tool.handler.file for tool in server.tools] == [path]


def test_json_and_functions_are_one_server() -> None:
    files: Files = {
        "server.json": SERVER_JSON,
        "tools.json": JSON_TOOL,
        "tools.py": "from mcpc import tool\ndef old(): ...\n@tool\ndef new():\n    'New.'\n",
        "prompts.py": "from mcpc import prompt\n@prompt\ndef ask():\n    'Ask.'\n",
    }
    server, problems = checked(files)
    assert problems == ()
    assert server is not None
    assert [tool.name for tool in server.server.tools] == ["old", "new"]
    assert [prompt.handler.file for prompt in server.server.prompts] == ["prompts.py"]


def test_places_are_exact_behind_other_letters_and_a_mark_of_order() -> None:
    text = "\ufefffrom mcpc import tool\n@tool\ndef a(é: int, ü: complex): ...\n"
    _, problems = parsed({"server.json": SERVER_JSON, "tools.py": text})
    (problem,) = [problem for problem in problems if problem.code == "MCP217"]
    assert problem.span is not None
    assert text[problem.span.start : problem.span.end] == "complex"


def test_a_definition_is_its_own_function_whatever_it_is_called() -> None:
    files: Files = {
        "server.json": SERVER_JSON,
        "tools.py": """from mcpc import tool
from helpers import double
@tool(name="b")
def a(): "A."
@tool(name="a")
def b(): "B."
tool(double, description="Twice.")
""",
        "helpers.py": "def double(x: int) -> int: return 2 * x\n",
    }
    server, problems = checked(files)
    assert problems == ()
    assert server is not None
    assert {tool.name: tool.handler.function for tool in server.server.tools} == {
        "b": "a",
        "a": "b",
        "double": "double",
    }


def test_a_server_py_without_marks_is_a_file_beside_the_handlers() -> None:
    files: Files = {
        "server.json": SERVER_JSON,
        "tools.json": JSON_TOOL,
        "tools.py": "import server\ndef old(): ...\n",
        "server.py": "def old(): ...\n",
    }
    server, problems = checked(files)
    assert problems == ()
    assert server is not None
    assert [tool.handler.file for tool in server.server.tools] == ["tools.py"]


def test_the_same_definition_in_both_is_told() -> None:
    files: Files = {
        "server.json": SERVER_JSON,
        "tools.json": JSON_TOOL,
        "tools.py": "from mcpc import tool\n@tool\ndef old(): 'Old.'\n",
    }
    server, problems = checked(files)
    assert server is None
    assert [problem.code for problem in problems] == ["MCP104"]


def test_a_server_nobody_described_is_told_both_ways() -> None:
    _, problems = parsed({"tools.py": "from mcpc import tool\n@tool\ndef a(): 'A.'\n"})
    assert [(problem.code, "Server(" in problem.hint) for problem in problems] == [("MCP004", True)]


def test_a_server_without_a_name_is_told_at_its_place() -> None:
    files, marks = marked({"server.py": "from mcpc import Server\nm = »Server()\n@m.tool\ndef a(): 'A.'\n"})
    _, problems = checked(files)
    assert places(problems, files)[0][1:] == marks[0]
    assert {problem.code for problem in problems} == {"MCP102"}


FAULTS = {
    "MCP216": "from mcpc import tool\n@tool\ndef a(): 'A.'\n»1 / 0\n",
    "MCP209 at the top": "import »requests\nfrom mcpc import tool\n@tool\ndef a(): 'A.'\n",
    "MCP209 from": "from mcpc import tool\nfrom »yaml.nodes import Node\n@tool\ndef a(): 'A.'\n",
    "MCP216 a module of a package": "»import json.nothing\nfrom mcpc import tool\n@tool\ndef a(): 'A.'\n",
    "MCP217 parameter": "from mcpc import tool\n@tool\ndef a(x: »complex): 'A.'\n",
    "MCP217 result": "from mcpc import tool\n@tool\ndef a() -> »complex: 'A.'\n",
    "MCP218 *": "from mcpc import tool\n@tool\ndef a(*»args): 'A.'\n",
    "MCP218 **": "from mcpc import tool\n@tool\ndef a(**»more): 'A.'\n",
    "MCP218 contexts": "from mcpc import Context, tool\n@tool\ndef a(b: Context, c: »Context): 'A.'\n",
    "MCP219 import": "from mcpc import tool, »Contexts\n@tool\ndef a(): 'A.'\n",
    "MCP219 module": "import »mcpc.schema\nfrom mcpc import tool\n@tool\ndef a(): 'A.'\n",
    "MCP219 method": "from mcpc import Server\nm = Server('x')\n@m.»custom_route('/')\ndef a(): 'A.'\n",
    "MCP220 method": "from mcpc import tool\nclass K:\n    @»tool\n    def a(self): 'A.'\n",
    "MCP220 class": "from mcpc import tool\n@»tool\nclass K: ...\n",
    "MCP220 nested": "from mcpc import tool\ndef f():\n    @»tool()\n    def a(): 'A.'\n",
    "MCP220 lambda": "from mcpc import tool\ntool(»lambda: 1)\n",
    "MCP220 loop": "from mcpc import tool\ndef a(): 'A.'\nfor f in [a]:\n    tool(»f)\n",
    "MCP220 bound method": "from mcpc import tool\ntool(»str().upper)\n",
    "MCP220 twice": "from mcpc import tool\n@tool\ndef »a(): 'A.'\n@tool(name='b')\ndef a(): 'B.'\n",
    "MCP220 generator": "from mcpc import tool\n@tool\ndef »a(): yield 1\n",
    "MCP220 hidden": "from mcpc import Server\nm = Server('x')\ndef f(s):\n    »@s.tool\n    def a(): 'A.'\nf(m)\n",
    "MCP220 second server": "from mcpc import Server\nm = Server('x')\nn = »Server('y')\n@m.tool\ndef a(): 'A.'\n",
    "MCP220 nameless server": "from mcpc import Server\ndef f(): return »Server('x')\n",
    "MCP221 keyword": "from mcpc import tool\n@tool(»nmae='b')\ndef a(): 'A.'\n",
    "MCP221 auth": "from mcpc import tool\n@tool(»auth=None)\ndef a(): 'A.'\n",
    "MCP221 value": "from mcpc import tool\n@tool(meta=»{'o': object()})\ndef a(): 'A.'\n",
    "MCP222 keyword": "from mcpc import tool\n@tool(»version=1)\ndef a(): 'A.'\n",
    "MCP107 task": "from mcpc import tool\n@tool(task=»'often')\ndef a(): 'A.'\n",
    "MCP237 task": "from mcpc import prompt\n@prompt(meta=»{'mcpc/handler': {'task': 'optional'}})\ndef a(): 'A.'\n",
    "MCP221 task of a prompt": "from mcpc import prompt\n@prompt(»task=True)\ndef a(): 'A.'\n",
    "MCP220 resource": "from mcpc import resource\n@»resource\ndef r(): 'R.'\n",
    "MCP220 resource()": "from mcpc import resource\n@»resource()\ndef r(): 'R.'\n",
    "MCP220 resource of a server": "from mcpc import Server\nm = Server('x')\n@»m.resource(name='r')\ndef r(): 'R.'\n",
    "MCP220 completion": "from mcpc import completion\n@»completion('p')\ndef c(value): ...\n",
    "MCP220 nested resource": "from mcpc import resource\ndef f():\n    @»resource('x:r')\n    def r(): 'R.'\n",
    "MCP221 resource": "from mcpc import resource\n@resource('x:r', »mimetype='a/b')\ndef r(): 'R.'\n",
    "MCP221 uri": "from mcpc import resource\n@resource(»3)\ndef r(): 'R.'\n",
    "MCP221 ref": "from mcpc import completion, tool\n@completion(»3, 'a')\ndef r(value): ...\n@tool\ndef t(): 'T.'\n",
    "MCP221 auth of a resource": "from mcpc import resource\n@resource('x:r', »auth=None)\ndef r(): 'R.'\n",
    "MCP222 host": "from mcpc import Server\nm = Server('x', »host='0.0.0.0')\n@m.tool\ndef a(): 'A.'\n",
    "MCP222 port": "from mcpc import Server\nm = Server('x', »port=8000)\n@m.tool\ndef a(): 'A.'\n",
    "MCP222 dependencies": "from mcpc import Server\nm = Server('x', »dependencies=['y'])\n@m.tool\ndef a(): 'A.'\n",
    "MCP248 misspelt": (
        "from mcpc import Context, tool\n@tool\nasync def a(ctx: Context):\n    'A.'\n    await ctx.»report_progres(1)\n"
    ),
    "MCP248 of others": (
        "import mcpc\n@mcpc.tool\ndef a(c: mcpc.Context | None = None):\n    'A.'\n    return c.»session\n"
    ),
    "MCP249": "from mcpc import Field, tool\n@tool\ndef a(x: int = Field(3, »gee=3)): 'A.'\n",
    "MCP222 resource": "from mcpc import resource\n@resource('x:r', »version='2')\ndef r(): 'R.'\n",
    "MCP227 no variable": "from mcpc import resource\n@resource('x:r')\ndef r(a: »str): 'R.'\n",
    "MCP227 another variable": "from mcpc import resource\n@resource('x:{a}')\ndef r(a: str, b: »int): 'R.'\n",
    "MCP227 no parameter": "from mcpc import resource\n@resource(»'x:{a}')\ndef r(): 'R.'\n",
    "MCP227 may be absent": "from mcpc import resource\n@resource('x:{a}{?b}')\ndef r(a: str, b: »int): 'R.'\n",
    "MCP217 resource": "from mcpc import resource\n@resource('x:{a}')\ndef r(a: »object()): 'R.'\n",
    "MCP218 resource": "from mcpc import resource\n@resource('x:{a}')\ndef r(*»a): 'R.'\n",
    "MCP120": "from mcpc import resource\n@resource(»'x')\ndef r(): 'R.'\n",
    "MCP124": "from mcpc import resource\n@resource(»'x:{a}{b}')\ndef r(a, b): 'R.'\n",
    "MCP104 resource": "from mcpc import resource\n@resource('x:a')\ndef r(): 'R.'\n@resource(»'x:a')\ndef s(): 'S.'\n",
    "MCP108 resource": "from mcpc import resource\n@resource('x:a')\ndef »r(): ...\n",
    "MCP126 prompt": "from mcpc import completion, tool\n@completion(»'p', 'a')\ndef c(value): ...\n@tool\ndef t(): 'T.'\n",
    "MCP126 argument": (
        "from mcpc import completion, prompt\n@completion('p', »'b')\ndef c(value): ...\n@prompt\ndef p(a): 'P.'\n"
    ),
    "MCP206 completion": (
        "from mcpc import completion, prompt\n@completion('p', 'a')\ndef »c(text): ...\n@prompt\ndef p(a): 'P.'\n"
    ),
    "MCP230 resource": "from mcpc import resource\n@resource('x:a', inline=True)\nasync def »a(): 'A.'\n",
    "MCP223 folder": "import pathlib\nfrom mcpc import tool\n@tool\ndef a(p: »str = str(pathlib.Path(__file__))): 'A.'\n",
    "MCP205": "from mcpc import tool\n@tool\ndef a(»:\n",
    "MCP101": "from mcpc import tool\n@tool(title=»3)\ndef a(): 'A.'\n",
    "MCP105": "from mcpc import tool\n@tool(name=»'no spaces')\ndef a(): 'A.'\n",
    "MCP108": "from mcpc import tool\n@tool\ndef »a(): ...\n",
    "MCP230": "from mcpc import tool\n@tool(inline=True)\nasync def »a(): 'A.'\n",
    "MCP231": "import os\nfrom mcpc import tool\n@tool(environment=['A'])\ndef a(): os.environ['A'], os.getenv(»'B')\n",
    "MCP238": "from mcpc import tool\n@tool(timeout=»-1)\ndef a(): 'A.'\n",
    "MCP240": "from mcpc import tool\n@tool(requires=»['no program'])\ndef a(): 'A.'\n",
    "MCP218 /": "from mcpc import tool\n@tool\ndef a(»x: int, /): 'A.'\n",
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.sampled(5)
def test_faults(name: str) -> None:
    files, marks = marked({"server.json": SERVER_JSON, "tools.py": FAULTS[name]})
    _, problems = checked(files)
    found = places(problems, files)
    assert [(code, *place) for code, *place in found if code == name[:6]] == [(name[:6], *marks[0])], problems
    others = {code for code, *_ in found} - {name[:6], "MCP004", "MCP108", "MCP302"}
    assert not others, problems


def test_everything_that_a_context_has_may_be_used() -> None:
    uses = "\n".join(f"    ctx.{name}" for name in dir(Context) if not name.startswith("_"))
    text = f"from mcpc import Context, tool\n@tool\ndef a(ctx: Context) -> None:\n    'A.'\n{uses}\n"
    assert checked({"server.json": SERVER_JSON, "tools.py": text})[1] == ()


def test_a_syntax_error_is_told_as_one_where_no_import_can_be_seen() -> None:
    files, marks = marked({"server.py": "form »mcpc import Server\nmcp = Server('x')\n"})
    _, problems = checked(files)
    assert places(problems, files)[0] == ("MCP205", *marks[0])


def test_the_public_names_are_listed() -> None:
    assert {"Server", "Context", "ToolError", "tool"} <= set(dir(mcpc))


def test_a_missing_package_has_the_hint_that_it_has_in_a_function() -> None:
    hints = []
    for text in ("import requests\n@tool\ndef a(): 'A.'\n", "@tool\ndef a():\n    'A.'\n    import requests\n"):
        _, problems = checked({"server.json": SERVER_JSON, "tools.py": f"from mcpc import tool\n{text}"})
        assert [problem.code for problem in problems] == ["MCP209"]
        hints.append(problems[0].hint)
    assert hints[0] == hints[1]
    assert "`requirements.txt`" in hints[0]


def test_a_misspelt_module_is_told_what_was_meant() -> None:
    _, problems = checked(
        {"server.json": SERVER_JSON, "tools.py": "import dataclases\nfrom mcpc import tool\n@tool\ndef a(): 'A.'\n"}
    )
    assert [(problem.code, problem.hint) for problem in problems] == [("MCP209", "did you mean `dataclasses`?")]


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ("x: str = None", {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}),
        ("x: str | None = None", {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}),
        (
            "x: str = Field(None, min_length=2)",
            {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}], "default": None},
        ),
        (
            "x: Annotated[str | None, Field(description='d')] = None",
            {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d", "default": None},
        ),
        ("x=None", {"default": None}),
        ("x: Any = None", {"default": None}),
    ],
)
def test_a_default_of_none_says_that_none_is_allowed(written: str, schema: dict[str, object]) -> None:
    head = "from typing import Annotated, Any\nfrom mcpc import Field, tool\n"
    server, problems = checked({"server.json": SERVER_JSON, "tools.py": f"{head}@tool\ndef a({written}):\n    'A.'\n"})
    assert problems == ()
    assert server is not None
    (tool,) = server.server.tools
    assert tool.input.node.value["properties"]["x"] == schema


def test_how_functions_are_run_is_said_in_marks_and_for_all() -> None:
    text = """
from mcpc import Context, Server, prompt, tool
mcp = Server("demo", timeout=5, environment=["ALL"], requires=["sh"])
@mcp.tool(timeout=30, inline=True, environment=["KEY"])
def a(x: int, ctx: Context): "A."
@mcp.tool(environment="inherit")
async def b(x: int): "B."
@mcp.prompt
def c(context: Context, topic: str): "C."
"""
    server, problems = checked({"server.py": text})
    assert server is not None, problems
    a, b, c = server.server.definitions
    assert (a.running.timeout, a.running.inline, a.running.environment.names) == (30, True, ("ALL", "KEY"))
    assert (b.running.timeout, b.running.inline, b.running.environment.inherit) == (5, False, True)
    assert [one.command for one in c.running.requires] == ["sh"]
    handlers = [one.handler for one in (a, b, c)]
    assert [one.context for one in handlers if isinstance(one, PythonFunction)] == ["ctx", "", "context"]


def test_a_plain_function_of_a_tool_in_json_has_a_context_too() -> None:
    tool = '{"tools": [{"name": "old", "description": "Old.", "inputSchema": {"type": "object", "properties": {"x": {}}}}]}'
    files: Files = {"server.json": SERVER_JSON, "tools.json": tool}
    for annotation in ("Context", "Context | None", "'Context'", "Optional[Context]", "mcpc.Context"):
        imports = "from typing import Optional\nimport mcpc\nfrom mcpc import Context\n"
        server, problems = checked({**files, "tools.py": f"{imports}def old(me: {annotation}, x=1): ...\n"})
        assert server is not None, problems
        (found,) = server.server.tools
        assert isinstance(found.handler, PythonFunction)
        assert found.handler.context == "me", annotation
    server, problems = checked({**files, "tools.py": "class Context: ...\ndef old(me: Context, x=1): ...\n"})
    assert [problem.code for problem in problems] == ["MCP206"]
    server, problems = checked({**files, "tools.py": "from mcpc import Context\ndef old(x: Context): ...\n"})
    assert [problem.code for problem in problems] == ["MCP206"] * 2, problems


def test_a_server_of_another_file_marks_too() -> None:
    files: Files = {
        "server.json": SERVER_JSON,
        "app.py": "from mcpc import Server\nmcp = Server('x')\n",
        "tools.py": "from app import mcp\n@mcp.tool\ndef a(): 'A.'\n",
    }
    server, problems = checked(files)
    assert problems == ()
    assert server is not None
    assert [tool.name for tool in server.server.tools] == ["a"]


READ = """
from mcpc import Context, Server, completion, resource, tool
mcp = Server("reads", version="1")

@mcp.resource("config://app", mime_type="application/json", title="App", annotations={"audience": ["user"]}, tags={"a"})
def config() -> dict:
    "The configuration."
    return {"debug": False}

@resource("users://{id}/posts{?page}", name="posts", description="Posts.", timeout=5)
async def posts_of(id: int, ctx: Context, page: int = 1) -> str:
    return f"{id} {page}"

def plain(name: str) -> bytes:
    "Plain."
    return name.encode()

URI = "plain://{name}"
mcp.resource(URI)(plain)

@completion("users://{id}/posts{?page}", "id")
def ids(value: str) -> list[str]:
    return []

@mcp.completion(ref="greet", argument="who")
def whom(value, context_arguments):
    return []

@mcp.prompt
def greet(who: str) -> str:
    "Greet."
    return who

@tool(task=True)
def slow() -> None: "Slow."

@tool(task="required")
def slower() -> None: "Slower."

@tool(task=False)
def quick() -> None: "Quick."
"""


def test_resources_templates_and_completions_are_marked() -> None:
    server, problems = checked({"server.py": READ})
    assert server is not None, problems
    assert problems == ()
    text = print_server(server.server)
    assert (
        text[text.index("resource config") : text.index("file server.py")]
        == """\
resource config "config://app"
  type application/json
  handler python config() in server.py, contract python
  description "The configuration."
  title "App"
  annotations {"audience": ["user"]}
  _meta {"fastmcp": {"tags": ["a"]}}
resource template posts "users://{id}/posts{?page}"
  handler async python posts_of(id, ctx, page?) in server.py, contract python
  timeout 5 s
  variable id
  variable page?
  description "Posts."
resource template plain "plain://{name}"
  handler python plain(name) in server.py, contract python
  variable name
  description "Plain."
completion of id of the resource "users://{id}/posts{?page}"
  handler python ids(value) in server.py, contract python
completion of who of the prompt greet
  handler python whom(value, context_arguments) in server.py, contract python
"""
    )
    found = {one.name: one.handler for one in server.server.readable}
    assert [found[name].binding for name in ("config", "posts", "plain")] == [
        ("hints", "resource"),
        ("hints", "resource"),
        (),
    ]
    assert found["posts"].context == "ctx"
    assert [tool.running.task for tool in server.server.tools] == ["optional", "required", ""]


def test_marks_and_files_define_together() -> None:
    files = {
        "server.json": SERVER_JSON,
        "resources.json": '{"resources": [{"name": "a", "uri": "x:a", "description": "d", "text": "a"}]}',
        "resources.py": "from mcpc import resource\n@resource('x:b')\ndef b(): 'B.'\n",
        "completions.py": "from mcpc import completion\n@completion('x:{c}', 'c')\ndef c(value): return []\n",
        "server.py": "from mcpc import resource\n@resource('x:{c}')\ndef d(c): 'D.'\n",
    }
    server, problems = checked(files)
    assert server is not None, problems
    assert [one.name for one in server.server.readable] == ["a", "b", "d"]
    assert [one.handler.file for one in server.server.definitions] == ["resources.py", "server.py", "completions.py"]


WRONG_FIELDS = '''from typing import Annotated
from mcpc import Field, Server
mcp = Server("s")


@mcp.tool
def a(x: str = »Field(pattern="(")) -> str:
    """A."""
    return x


@mcp.tool
def b(x: int = »Field(ge="a"), y: str = »Field(min_length="3")) -> str:
    """B."""
    return ""


@mcp.tool
def c(x: »Annotated[str, Field(min_length="3")]) -> str:
    """C."""
    return ""


@mcp.tool
def d(x: »complex) -> str:
    """D."""
    return ""
'''


def test_constraints_that_no_schema_can_have_are_told_of_each_where_they_are() -> None:
    unmarked, marks = marked({"server.py": WRONG_FIELDS})
    _, problems = checked(unmarked)
    assert places(problems, unmarked) == [("MCP217", *mark) for mark in marks]
    assert [problem.message for problem in problems][:2] == [
        "cannot generate a schema for `x`: unclosed group",
        "cannot generate a schema for `x`: ValueError: 'ge' must be coercible to an integer",
    ]


def test_whatever_a_type_raises_is_told_of_its_function_alone() -> None:
    text = """from mcpc import tool


class Odd:
    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> object:
        raise Exception("odd")


@tool
def »a(x: Odd) -> str:
    return ""


@tool
def b(x: »complex) -> str:
    return ""
"""
    unmarked, marks = marked({"server.json": SERVER_JSON, "tools.py": text})
    _, problems = checked(unmarked)
    assert places([one for one in problems if one.code == "MCP217"], unmarked) == [("MCP217", *mark) for mark in marks]
