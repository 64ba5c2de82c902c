"""The modules of the runtime that a server carries, computed from imports."""

from mcpc.pack.carried import GATES, START_MODULES, runtime_texts
from mcpc.pack.closure import module_closure


def test_every_gate_and_every_module_of_the_start_exists() -> None:
    """A gate that names nothing would close nothing."""
    ours = {name for name in (*GATES, *START_MODULES) if name.startswith("mcpc_runtime")}
    assert ours <= set(runtime_texts())


def test_every_gate_is_needed() -> None:
    """Without its gate, each gated module is reached from the start of any server."""
    texts = runtime_texts()
    everything = module_closure(texts, START_MODULES, {}, frozenset())
    assert set(GATES) <= everything
