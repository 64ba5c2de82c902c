"""The modules of the runtime that a server carries, computed from imports."""

import pytest

from mcpc.pack.carried import GATES, START_MODULES, runtime_texts
from mcpc.pack.closure import edges, module_closure

TABLE = '''"""Rows, as `mcpc_runtime.docs` has them."""

from mcpc_runtime.top import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.types import Row

    from mcpc_runtime.more import Type
else:
    late = lazy("mcpc_runtime.late:late")

ROWS = {
    "first": ("mcpc_runtime.one", "mcpc_runtime.rows.two:Two"),
    "second": "mcpc_runtime.three:three",
}
START = "from mcpc_runtime.process import main;main()"
'''
EDGES = [
    pytest.param("from mcpc_runtime.a import b", {"mcpc_runtime.a", "mcpc_runtime.a.b"}, id="from"),
    pytest.param(
        "from mcpc_runtime import (\n    a,\n    b,\n)", {"mcpc_runtime", "mcpc_runtime.a", "mcpc_runtime.b"}, id="list"
    ),
    pytest.param(
        "try:\n    import x\nexcept ImportError:\n    import mcpc_runtime.a", {"mcpc_runtime.a"}, id="fallback"
    ),
    pytest.param("if TYPE_CHECKING:\n    from mcpc_runtime.a import b\n", set(), id="for-type-checkers"),
    pytest.param('a = lazy("mcpc_runtime.a:b")', {"mcpc_runtime.a"}, id="lazy"),
    pytest.param('def a():\n    """As `mcpc_runtime.a` does."""', set(), id="docstring"),
]
ALWAYS = {"mcpc_runtime", "mcpc_runtime.top", "mcpc_runtime.top.lazy", "mcpc_runtime.late", "mcpc_runtime.process"}


@pytest.mark.parametrize(("source", "expected"), EDGES)
def test_edges_of_a_source(source: str, expected: set[str]) -> None:
    """Imports and names in strings are edges, imports for type checkers and docstrings are not."""
    assert set(edges(source)) - {"mcpc_runtime.process.main"} == expected


def test_only_rows_in_use_are_followed() -> None:
    """A row of a table leads somewhere when its key is in use; the rest of the module always does."""
    followed = set(edges(TABLE, {"first"})) - {"mcpc_runtime.process.main", "mcpc_runtime.process.main;main()"}
    assert followed == ALWAYS - {"mcpc_runtime"} | {"mcpc_runtime.one", "mcpc_runtime.rows.two"}
    assert "mcpc_runtime.three" in set(edges(TABLE, {"second"}))
    assert "mcpc_runtime.three" in set(edges(TABLE))


def test_closed_modules_are_left_out_with_what_imports_them() -> None:
    """A module brings its packages; a closed one is left out, and so is what cannot be imported without it."""
    sources = {
        "mcpc_runtime": "",
        "mcpc_runtime.a": 'b = lazy("mcpc_runtime.b.c:b")',
        "mcpc_runtime.b": "import mcpc_runtime.d",
        "mcpc_runtime.b.c": "import mcpc_runtime.e.f",
        "mcpc_runtime.d": 'a = lazy("mcpc_runtime.a:a")',
        "mcpc_runtime.e": "",
        "mcpc_runtime.e.f": "",
    }
    assert module_closure(sources, ["mcpc_runtime.a"], {}, frozenset()) == set(sources)
    without = module_closure(sources, ["mcpc_runtime.a"], {}, frozenset({"mcpc_runtime.e"}))
    assert without == {"mcpc_runtime", "mcpc_runtime.a"}
    assert module_closure(sources, ["mcpc_runtime.d"], {}, frozenset({"mcpc_runtime.e"})) == {
        *without,
        "mcpc_runtime.d",
    }


def test_every_gate_and_every_module_of_the_start_exists() -> None:
    """A gate that names nothing would close nothing."""
    ours = {name for name in (*GATES, *START_MODULES) if name.startswith("mcpc_runtime")}
    assert ours <= set(runtime_texts())


def test_every_gate_is_needed() -> None:
    """Without its gate, each gated module is reached from the start of any server."""
    texts = runtime_texts()
    everything = module_closure(texts, START_MODULES, {}, frozenset())
    assert set(GATES) <= everything
