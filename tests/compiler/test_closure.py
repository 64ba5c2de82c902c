"""The modules of the runtime that a server carries, computed from imports."""

import ast

from mcpc.pack.carried import GATES, START_MODULES, runtime_edges
from mcpc.pack.closure import ADAPTERS, Edges, module_closure, read_edges


def test_every_gate_and_every_module_of_the_start_exists() -> None:
    """A gate that names nothing would close nothing."""
    ours = {name for name in (*GATES, *START_MODULES) if name.startswith("mcpc_runtime")}
    assert ours <= set(runtime_edges())


def test_every_gate_is_needed() -> None:
    """Without its gate, each gated module is reached from the start of any server."""
    everything = module_closure(runtime_edges(), START_MODULES, {}, frozenset())
    assert set(GATES) <= everything


def test_what_a_module_refers_to_is_read_from_its_code() -> None:
    text = """
from __future__ import annotations
from mcpc_runtime.a import b, c
import mcpc_runtime.d
TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.seen import e
else:
    f = lazy("mcpc_runtime.g:f")
ROWS = {"one": "mcpc_runtime.h:i", "two": ("mcpc_runtime.j", ""), 3: "mcpc_runtime.k"}
def l(m: mcpc_runtime.n):
    "mcpc_runtime.o"
    from mcpc_runtime.p import q
    return "import sys; from mcpc_runtime.r import s", f"{ADAPTER}.t:u", f"{x}.mcpc_runtime.v"
"""
    edges = read_edges(ast.parse(text).body, text)
    assert edges.eager == (
        "__future__",
        "__future__.annotations",
        "mcpc_runtime.a",
        "mcpc_runtime.a.b",
        "mcpc_runtime.a.c",
        "mcpc_runtime.d",
    )
    assert edges.rows == {"one": ("mcpc_runtime.h",), "two": ("mcpc_runtime.j",)}
    adapters = tuple(f"{adapter}.t" for adapter in ADAPTERS)
    expected = ("g", "k", "p", "p.q", "r", "r.s", "v")
    assert set(edges.late) == {*(f"mcpc_runtime.{name}" for name in expected), *adapters}


def test_rows_of_a_table_and_closed_modules_depend_on_the_server() -> None:
    modules = {
        "mcpc_runtime": Edges((), (), {}),
        "mcpc_runtime.a": Edges(
            ("mcpc_runtime.b",), ("mcpc_runtime.late",), {"x": ("mcpc_runtime.x",), "y": ("mcpc_runtime.y",)}
        ),
        "mcpc_runtime.b": Edges((), (), {}),
        "mcpc_runtime.late": Edges(("mcpc_runtime.gate",), (), {}),
        "mcpc_runtime.gate": Edges((), (), {}),
        "mcpc_runtime.x": Edges((), (), {}),
        "mcpc_runtime.y": Edges((), (), {}),
    }
    start = ["mcpc_runtime.a"]
    assert module_closure(modules, start, {}, frozenset()) == set(modules)
    used = module_closure(modules, start, {"mcpc_runtime.a": ["y"]}, frozenset({"mcpc_runtime.gate"}))
    assert used == {"mcpc_runtime", "mcpc_runtime.a", "mcpc_runtime.b", "mcpc_runtime.y"}
