"""The commands of a built file that put it into the configuration of clients."""

from __future__ import annotations

import sys

from mcpc_runtime.protocol.image import Image
from mcpc_runtime.tools.cli.artifact_info import build_info, list_all
from mcpc_runtime.tools.cli.printing import SUCCESS, USAGE
from mcpc_runtime.tools.clients.commands import help_of, read_options, run
from mcpc_runtime.tools.clients.entries import CannotWriteEntryError
from mcpc_runtime.tools.clients.request import InvalidRequestError, artifact_of

HELPS = ("--help", "-h")


def run_client_command(command: str, image: Image, archive: str, arguments: list[str]) -> int:
    """Run one of the commands for this file."""
    if any(word in HELPS for word in arguments):
        sys.stdout.write(help_of(command, archive, takes_words="takes_arguments" in image.index))
        return SUCCESS
    tools = [str(tool["name"]) for tool in list_all(image, "tools")] if command == "install" else []
    try:
        facts = {**build_info(image), "takesArguments": "takes_arguments" in image.index}
        options = read_options(command, arguments)._replace(words=tuple(image.program_arguments or ()))
        return run(command, artifact_of(archive, facts, tools), options)
    except (CannotWriteEntryError, InvalidRequestError) as problem:
        sys.stderr.write(f"error: {problem}\n")
        return USAGE
