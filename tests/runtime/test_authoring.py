"""What a project's files import: marks leave functions as they are, and importing them costs next to nothing."""

import subprocess
import sys

import pytest

import mcpc
from mcpc_runtime.handlers.python import authoring
from mcpc_runtime.handlers.python.authoring import MARK, Field, Server, completion, prompt, resource, tool
from support.needs import ROOT
from support.packed_runtime import packed_runtime
from support.processes import run_program


def test_a_mark_leaves_the_function_as_it_is() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    assert tool(add) is add
    assert tool()(add) is add
    assert tool("plus")(add) is add
    assert prompt(title="Add")(add) is add
    assert add(1, 2) == 3
    assert getattr(add, MARK) == (("tool", {}), ("tool", {}), ("tool", {"name": "plus"}), ("prompt", {"title": "Add"}))


def test_a_server_knows_what_it_marked() -> None:
    mcp = Server("demo", "Be kind.", version="2", auth=None)

    @mcp.tool
    def one() -> None: ...

    @mcp.tool(name="second", tags={"x"})
    async def two() -> None: ...

    def three() -> None: ...

    mcp.add_tool(three)
    mcp.prompt(three, name="ask")
    assert mcp.marked == [one, two, three, three]
    assert (mcp.name, mcp.instructions, mcp.options) == ("demo", "Be kind.", {"version": "2", "auth": None})
    assert getattr(three, MARK) == (("tool", {}), ("prompt", {"name": "ask"}))


def test_a_resource_and_a_completion_say_what_they_are_for() -> None:
    def read() -> str:
        return ""

    mcp = Server("demo")
    assert resource("demo://x", name="x")(read) is read
    assert mcp.resource(uri="demo://y")(read) is read
    assert completion("ask", "who")(read) is read
    assert mcp.completion("demo://{a}", argument="a", timeout=1)(read) is read
    assert mcp.marked == [read, read]
    assert getattr(read, MARK) == (
        ("resource", {"uri": "demo://x", "name": "x"}),
        ("resource", {"uri": "demo://y"}),
        ("completion", {"ref": "ask", "argument": "who"}),
        ("completion", {"ref": "demo://{a}", "argument": "a", "timeout": 1}),
    )


@pytest.mark.parametrize("given", [(), (print,), ("x:a", "b")])
def test_a_resource_is_told_its_uri_and_nothing_else_by_position(given: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="uri"):
        resource(*given)
    with pytest.raises(TypeError, match="ref and argument"):
        completion("p")


def test_a_stated_default_is_found_by_a_call() -> None:
    assert Field(3, ge=1, description="how many").get_default() == 3
    first = Field(default_factory=list)
    assert first.get_default() == []
    assert first.get_default() is not first.get_default()


def test_the_compilers_package_has_the_names_and_loads_them_late() -> None:
    assert [getattr(mcpc, name) for name in authoring.PUBLIC] == [getattr(authoring, name) for name in authoring.PUBLIC]
    code = "import mcpc, sys; print('mcpc_runtime' in sys.modules); from mcpc import tool; print(tool.__module__)"
    paths = f"{ROOT / 'compiler'}:{ROOT / 'runtime'}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": paths})
    assert done.stdout.split() == ["False", "mcpc_runtime.handlers.python.authoring"], done.stderr


def test_a_file_that_is_run_says_how_it_is_served(tmp_path) -> None:
    file = tmp_path / "server.py"
    file.write_text("from mcpc import Server\nmcp = Server('x')\nmcp.run(transport='stdio')\n")
    paths = f"{ROOT / 'compiler'}:{ROOT / 'runtime'}"
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, env={"PYTHONPATH": paths})
    assert done.returncode == 1
    assert "mcpc dev --once" in done.stderr


def test_marks_import_next_to_nothing() -> None:
    code = "import sys; before = set(sys.modules); import mcpc_runtime.handlers.python.authoring; print(set(sys.modules) - before)"
    done = run_program([sys.executable, "-ISc", f"import sys; sys.path.insert(0, {str(packed_runtime())!r}); {code}"])
    ours = ("mcpc_runtime", "mcpc_runtime.handlers.python.authoring", "mcpc_runtime.handlers.python.context")
    found = {
        "__future__", "mcpc_runtime.handlers", "mcpc_runtime.handlers.python", "mcpc_runtime.handlers.python.bindings",
        *ours, "mcpc_runtime.handlers.python.errors", "mcpc_runtime.handlers.python.settings", "mcpc_runtime.lazy",
    }  # fmt: skip
    assert eval(done.stdout) == found, done.stderr
