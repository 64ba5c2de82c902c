"""Which functions make the same list each time, which middleware changes nothing, and what lifespans register."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mcpc_runtime.systems.fastmcp.dynamic_lists import dynamic_lists, passes_on, registering
from mcpc_runtime.systems.fastmcp.project_code import changed_names, why_varying

Load = Callable[[str], ModuleType]

HEAD = """
import json, logging, os, time
from enum import Enum
from pydantic import BaseModel

log = logging.getLogger(__name__)

class Tool(BaseModel):
    name: str
    schema_: dict = {}

class Names(str, Enum):
    FIRST = "first"

NAME = "x"
CONSTANT = [Tool(name="a")]
ADDED = []
NOTED = {}
SECRET = object()

def add(name):
    ADDED.append(name)

def note(name):
    NOTED[name] = 1

def made(name):
    return Tool(name=name, schema_=Tool.model_json_schema())

async def waited():
    return CONSTANT

"""
SAME = {
    "literal": "return [Tool(name='a'), Tool(name=NAME)]",
    "variable": "return CONSTANT",
    "function": "return [made(name) for name in ('a', 'b')]",
    "awaited": "return await waited()",
    "enumeration": "tools = []\n    tools.append(Tool(name=Names.FIRST.value))\n    log.info('%s', len(tools))\n    return tools",
    "loop": "tools = []\n    for name in ('a', 'b'):\n        tools += [Tool(name=name)]\n    return sorted(tools, key=len)",
    "json": "return json.loads('[]')",
}
VARYING = {
    "environment": ("return [Tool(name=os.environ['X'])]", "os.environ"),
    "changed list": ("return [Tool(name=name) for name in ADDED]", "ADDED"),
    "changed dictionary": ("return [Tool(name=name) for name in NOTED]", "NOTED"),
    "parameter": ("return [Tool(name=request.user)]", "request"),
    "time": ("return [Tool(name=str(time.time()))]", "time.time"),
    "state": ("return SECRET.tools", "SECRET"),
    "file": ("return json.load(open('x'))", "open"),
    "attempt": ("try:\n        return []\n    except OSError:\n        return [1]", "try"),
}


@pytest.fixture
def load(tmp_path: Path, request: pytest.FixtureRequest) -> Load:

    def load_text(text: str) -> ModuleType:
        name = f"project_of_{request.node.name.partition('[')[0]}"
        place = tmp_path / f"{name}.py"
        place.write_text(text)
        spec = importlib.util.spec_from_file_location(name, place)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        request.addfinalizer(lambda: sys.modules.pop(name, None))
        spec.loader.exec_module(module)
        return module

    return load_text


@pytest.mark.parametrize("body", SAME.values(), ids=[*SAME])
def test_what_puts_literals_together_is_the_same_each_time(load: Load, tmp_path: Path, body: str) -> None:
    module = load(f"{HEAD}async def lists(request=None):\n    '''List.'''\n    {body}\n")
    assert why_varying(module.lists, str(tmp_path), changed_names(str(tmp_path))) is None


@pytest.mark.parametrize(("body", "reason"), VARYING.values(), ids=[*VARYING])
def test_what_reads_anything_else_may_vary(load: Load, tmp_path: Path, body: str, reason: str) -> None:
    module = load(f"{HEAD}async def lists(request=None):\n    {body}\n")
    why = why_varying(module.lists, str(tmp_path), changed_names(str(tmp_path)))
    assert why is not None and reason in why[0]
    assert why[1] > len(HEAD.splitlines())


PASSING = ("return await call_next(context)", "result = await call_next(context)\n    log.info('x')\n    return result")
CHANGING = (
    "return []",
    "result = await call_next(context)\n    result = result[1:]\n    return result",
    "result = await call_next(context)\n    result.tools = []\n    return result",
    "if context.method == 'tools/list':\n        raise ValueError('no')\n    return await call_next(context)",
    "if context.method == 'tools/list':\n        return []\n    return await call_next(context)",
)


@pytest.mark.parametrize("body", PASSING)
def test_middleware_that_returns_the_result_changes_nothing(load: Load, body: str) -> None:
    assert passes_on(load(f"{HEAD}async def around(self, context, call_next):\n    {body}\n").around)


@pytest.mark.parametrize("body", CHANGING)
def test_other_middleware_may_change_lists(load: Load, body: str) -> None:
    assert not passes_on(load(f"{HEAD}async def around(self, context, call_next):\n    {body}\n").around)


class Part:
    """A server, as far as its lists are concerned."""

    mcpc_given_lifespan: object = None
    mcpc_lists_are_dynamic: object = False

    def __init__(self, *parts: Part) -> None:
        self._parts = [*parts]

    def mcpc_parts(self) -> list[Part]:
        return self._parts


def test_a_lifespan_that_registers_is_found_through_functions(load: Load, tmp_path: Path) -> None:
    module = load(
        "def register(server):\n    server.add_tool(1)\n\nasync def lifespan(server):\n    register(server)\n    yield\n"
    )
    server = Part()
    server.mcpc_given_lifespan = module.lifespan
    found = dynamic_lists(server, str(tmp_path))
    assert [*found] == ["tools"]
    assert "add_tool" in found["tools"].text


def no_lifespan(_: object) -> None:
    """Be a lifespan of the framework."""


class ComposedLifespan:
    """Two lifespans, held as FastMCP holds them."""

    def __init__(self, left: object, right: object) -> None:
        self._left = left
        self._right = right


LIFESPANS = {
    "a decorated function": asynccontextmanager,
    "the second of two of FastMCP": lambda function: ComposedLifespan(no_lifespan, asynccontextmanager(function)),
}


@pytest.mark.parametrize("name", LIFESPANS)
def test_a_lifespan_that_registers_is_found_in_what_is_around_it(name: str, load: Load, tmp_path: Path) -> None:
    module = load("async def lifespan(server):\n    server.add_tool(1)\n    yield\n")
    make: Any = LIFESPANS[name]
    (found,) = registering(make(module.lifespan), str(tmp_path))
    assert (found[0], found[1].line) == ("tools", 1)
