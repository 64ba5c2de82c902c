"""Starts a built server: without a command it serves standard input and output, else it runs a console command.

What follows `--` are arguments of the project's program, for servers that are one: it makes its lists then.
"""

from __future__ import annotations

from typing import Any, NoReturn
from zipimport import zipimporter

from mcpc_runtime.artifact.image import open_image
from mcpc_runtime.artifact.settings import report_settings
from mcpc_runtime.artifact.start_options import use_start_options
from mcpc_runtime.artifact.wheel_tags import runs_here
from mcpc_runtime.lazy import call_rows
from mcpc_runtime.protocol.constants import MAX_MESSAGE_BYTES
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.run_time_lists import list_at_run_time
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.stdio_driver import StdioDriver
from mcpc_runtime.tools.cli.console import greet, run_command
from mcpc_runtime.tools.cli.other_machine import refuse_machine
from mcpc_runtime.tools.clients.installing import how_to_set_in_clients
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.stdio import Channel

OPTIONS = ("--tools", "--toolsets", "--read-only", "--tolerant", "--max-result")
"""Options of serving, which begin a command line without a command; `start_options` reads them."""
RUNNING = ("--", "serve", "call", "read", "prompt", "complete")
"""Commands that run handlers, and what comes before the arguments of a program that is served."""
VARIABLES = (b"MCPC_TOOLS", b"MCPC_TOOLSETS", b"MCPC_READ_ONLY", b"MCPC_TOLERANT", b"MCPC_MAX_RESULT")


def main(archive: str, arguments: list[str], loader: zipimporter, index: dict[str, Any]) -> NoReturn:
    """Run the server in `archive`, and exit without the interpreter's own shutdown, which takes long."""
    image = open_image(loader, index)
    # Before the program of a project runs to make its lists.
    if "natives" in index and runs_handlers(arguments) and not runs_here(index):
        system._exit(refuse_machine(image, archive, arguments))
    if "--" in arguments and "takes_arguments" in index:
        place = arguments.index("--")
        arguments, image.program_arguments = arguments[:place], arguments[place + 1 :]
        for kind in index.get("run_time", {}).get("by_arguments", ()):
            list_at_run_time(image, kind)
    if arguments and arguments[0].partition("=")[0] not in OPTIONS:
        status = run_command(image, archive, arguments)
    else:
        if system.isatty(0):
            greet(image, archive)
        status = serve(image, archive, arguments)
    system._exit(status)


def runs_handlers(arguments: list[str]) -> bool:
    """Tell whether a command line serves, or runs a handler itself."""
    return not arguments or arguments[0].partition("=")[0] in (*OPTIONS, *RUNNING)


def serve(image: Image, archive: str, options: list[str]) -> int:
    """Serve standard input and output until the client ends; return the exit status, 130 after Ctrl-C."""
    try:
        if options or not system.environ.keys().isdisjoint(VARIABLES):
            refused: int = use_start_options(image, options, system.environ)
            if refused:
                return refused
        if "settings" in image.index:
            report_settings(image, lambda: how_to_set_in_clients(archive))
        call_rows(image.hooks("start"), image)
        driver = StdioDriver(image, Session(image), Channel(MAX_MESSAGE_BYTES), MAX_MESSAGE_BYTES)
        # Over pipes there is one client, whose requests belong together.
        driver.session.conversation = ""
        driver.leave = system._exit
        driver.run()
    except KeyboardInterrupt:
        return 130
    return driver.status
