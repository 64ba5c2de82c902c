"""Compile every schema of a project and make its models, in a process that has done neither; print the seconds.

    python bench/peers/cold_compilation.py PROJECT

Reading the project, packing and everything else a build does comes before the clock is started, or not at all.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

from mcpc import pipeline
from mcpc.frontends import recognise
from mcpc.lower import lower
from mcpc.models import every_tool, made
from mcpc.options import Options
from mcpc.schema import compile_of


def main() -> None:
    """Measure and print."""
    gc.disable()  # as `mcpc` does
    options = Options()
    tree, found = pipeline.read(Path(sys.argv[1]))
    front_end, _ = recognise(tree, options)
    assert front_end is not None, found
    definition, _ = front_end.parse(tree, options)
    assert definition is not None
    server, _ = lower(definition, options)
    assert server is not None
    began = time.perf_counter()
    compiled = [compile_of(schema) for tool in server.tools for schema in (tool.input, tool.output) if schema]
    between = time.perf_counter()
    models = made(server, every_tool(server))
    ended = time.perf_counter()
    assert all(modules for modules, _ in compiled)
    assert not any(model.problem for model in models)
    print(between - began, ended - between)


if __name__ == "__main__":
    main()
