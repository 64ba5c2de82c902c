"""The commands of a built file, and the options and variables of its HTTP server."""

from __future__ import annotations

from generation.markdown import block, code, plain, table
from mcpc_runtime.artifact.start_options import OPTIONS as START_OPTIONS
from mcpc_runtime.artifact.start_options import help_lines, help_rows, variable_of
from mcpc_runtime.http.settings import OPTIONS
from mcpc_runtime.tools.cli import printing

EXAMPLE = {
    "name": "weather",
    "version": "1.0.0",
    "file": "./server.pyz",
    "python": '"/usr/bin/python3"',
    "words": '"-I", "/home/ann/server.pyz"',
}


def help_page() -> str:
    """Return what `./server.pyz --help` prints."""
    return block(printing.HELP.format(**EXAMPLE, options=help_lines(), values=printing.VALUES))


def serve_options() -> str:
    """Return the options of `serve`, each with its variable."""
    rows = [
        (code(f"{each.name} {each.value_name}".rstrip()), code(each.variable), plain(each.help_text))
        for each in OPTIONS.values()
    ]
    rows += [
        (code(usage), code(variable_of(name)), plain(meaning))
        for name, (usage, meaning) in zip(START_OPTIONS, help_rows(), strict=True)
    ]
    return table(("option", "variable", "meaning"), rows)
