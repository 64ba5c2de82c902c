"""Compile every schema of a project and create its models, in a new process; print the seconds.

    python bench/peers/cold_compilation.py PROJECT

Reading the project, packing and other steps of a build are not measured.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

from mcpc import pipeline
from mcpc.frontends import select_frontends
from mcpc.lower import lower
from mcpc.options import Options
from mcpc.schema import compile_of
from mcpc.schema.models import build_models, tool_names


def main() -> None:
    """Measure and print."""
    gc.disable()  # as `mcpc` does
    options = Options()
    tree, found = pipeline.read_project(Path(sys.argv[1]))
    front_end, _ = select_frontends(tree, options)
    assert front_end is not None, found
    definition, _ = front_end.parse(tree, options)
    assert definition is not None
    server, _ = lower(definition, options)
    assert server is not None
    began = time.perf_counter()
    compiled = [compile_of(schema) for tool in server.tools for schema in (tool.input, tool.output) if schema]
    between = time.perf_counter()
    models = build_models(server, tool_names(server))
    ended = time.perf_counter()
    assert all(modules for modules, _ in compiled)
    assert not any(model.problem for model in models)
    print(between - began, ended - between)


if __name__ == "__main__":
    main()
