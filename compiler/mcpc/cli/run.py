"""`mcpc run`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, report
from mcpc.cli.artifact import artifact_environment, built_artifact, start_command
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from pathlib import Path


@command_options.command(command_options.WordsCommand)
@command_options.TARGET_ARGUMENT
@command_options.build_options
def command(target: Path, words: tuple[str, ...], **given: Any) -> None:
    """Serve TARGET, a project's folder (this one by default) or a built file, over standard input and output.

    WORDS are for the program of a server for FastMCP or the SDK.
    """
    with built_artifact(target, given) as path:
        told = (
            artifact_environment(target) if sys.stdin.isatty() else {}
        )  # for people, to whom the server prints a hint
        status = programs.run_in_foreground("server", start_command(path, *(("--", *words) if words else ())), told)
    raise click.exceptions.Exit(report.UNREACHABLE if status < 0 else status)
