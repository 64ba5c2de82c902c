"""Marked functions are definitions as JSON is: merged with it, bound to themselves, and wrong at exact places."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc import Context
from mcpc.model.ir import PythonFunction
from support.projects import SERVER_JSON, Files, checked, marked, parsed, places
from support.whole_projects import print_cases

GOLDEN = Path(__file__).parents[1] / "golden/frontends"
pytestmark = pytest.mark.sampled(2)

JSON_TOOL = '{"tools": [{"name": "old", "description": "Old.", "inputSchema": {"type": "object"}}]}'


def test_whole_projects(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "decorated.txt", print_cases(GOLDEN / "decorated.cases"))


def test_places_are_exact_behind_other_letters_and_a_mark_of_order() -> None:
    text = "\ufefffrom mcpc import tool\n@tool\ndef a(é: int, ü: complex): ...\n"
    _, problems = parsed({"server.json": SERVER_JSON, "tools.py": text})
    (problem,) = [problem for problem in problems if problem.code == "MCP217"]
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
    assert [tool.handler.file for tool in server.server.tools] == ["tools.py"]


def test_everything_that_a_context_has_may_be_used() -> None:
    uses = "\n".join(f"    ctx.{name}" for name in dir(Context) if not name.startswith("_"))
    text = f"from mcpc import Context, tool\n@tool\ndef a(ctx: Context) -> None:\n    'A.'\n{uses}\n"
    assert checked({"server.json": SERVER_JSON, "tools.py": text})[1] == ()


def test_a_syntax_error_is_told_as_one_where_no_import_can_be_seen() -> None:
    files, marks = marked({"server.py": "form »mcpc import Server\nmcp = Server('x')\n"})
    _, problems = checked(files)
    assert places(problems, files)[0] == ("MCP205", *marks[0])


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
