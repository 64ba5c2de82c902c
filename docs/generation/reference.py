"""What the site generates from code: sections of pages, by the name of their marker, and whole pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from generation import built_file, clients, commands, diagnostics, figures, files, protocol

if TYPE_CHECKING:
    from collections.abc import Callable

SECTIONS: dict[str, Callable[[], str]] = {
    "commands": commands.all_commands,
    "exit-codes": commands.exit_codes,
    "built-file-commands": built_file.help_page,
    "serve-options": built_file.serve_options,
    "files": files.all_files,
    "clients": clients.clients,
    "revisions": protocol.revisions,
    "server-figures": figures.server_figures,
    "validation-figures": figures.validation_figures,
    "provenance": figures.provenance,
    "diagnostic-families": diagnostics.families,
    "scan-codes": diagnostics.scan_codes,
    "diff-rules": diagnostics.diff_rules,
}
GENERATED_PAGES: dict[str, Callable[[], str]] = {
    f"reference/{diagnostics.page_name(family)}": partial(diagnostics.family_page, family)
    for family in diagnostics.FAMILIES
}
