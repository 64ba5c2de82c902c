"""`mcpc editor lsp`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from mcpc.cli import command_options


@click.command()
@click.option(
    "--stdio", is_flag=True, help="Talk over standard input and output, which is the only way; for editors that say it."
)
@click.option(
    "--import", "imports", is_flag=True, help="Run code of the project, confined, where definitions depend on it."
)
def command(stdio: bool, imports: bool) -> None:
    r"""Serve an editor: the language server of MCP projects, over standard input and output.

    It shows problems while you type, explains fields and codes, completes names, leads from a definition to its
    handler and back, and corrects what has an obvious correction. It never runs code of the project, unless `--import`
    allows it.

    \b
    Neovim:  vim.lsp.start({name = "mcpc", cmd = {"mcpc", "editor", "lsp"}, root_dir = ...})
    Helix:   [language-server.mcpc] with command = "mcpc", args = ["editor", "lsp"]
    VS Code, Zed, Emacs, JetBrains: see docs/editors.md

    Editors without it can use the JSON Schemas of `mcpc editor schema -o FOLDER`.
    """
    from mcpc.workbench.language_server.server import serve  # noqa: PLC0415 - the protocol's library is large

    options: dict[str, Any] = {}
    serve(replace(command_options.read_options(options), imports=imports))
