"""The command line of a built file for people: its table of commands, and its help page.

A server that serves a client does not import this module.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from os.path import abspath
from shlex import join, quote
from shutil import get_terminal_size
from textwrap import wrap

from mcpc_runtime.artifact.start_options import OPTIONS, help_lines
from mcpc_runtime.http import serve as http_serve
from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.tools.cli import printing as console_text
from mcpc_runtime.tools.cli.artifact_info import build_info, list_all, opening_reply
from mcpc_runtime.tools.cli.client_files import run_client_command
from mcpc_runtime.tools.cli.completion import complete_command_line
from mcpc_runtime.tools.cli.inspection import check, info, list_definitions, show_licences
from mcpc_runtime.tools.cli.overview import overview
from mcpc_runtime.tools.cli.printing import (
    FINDINGS,
    INTERRUPTED,
    NOT_RUNNABLE,
    SUCCESS,
    USAGE,
    UsageError,
    origin,
    printable,
    suggestion,
)
from mcpc_runtime.tools.cli.requests import ArgumentValueError, call_tool, complete, get_prompt, read_resource
from mcpc_runtime.transports.platforms import system

HELP_WIDTH = 120
"""The width of the help pages."""
PROJECT = "MCPC_BUILT_FROM"
"""The variable by which `mcpc call DIR` names the project of this file, which is deleted after the call."""


def run_command(image: Image, archive: str, arguments: list[str]) -> int:
    """Run a command line; return the exit status."""
    command = (
        show_help
        if arguments[1:] and arguments[-1] in HELPS and arguments[0] in ONE_PAGE
        else COMMANDS.get(arguments[0])
    )
    open_streams()
    origin.project = project_of_environment()
    try:
        if command is None:
            raise UsageError(
                console_text.UNKNOWN_COMMAND.format(name=arguments[0], hint=meant_command(image, archive, arguments))
            )
        status = command(image, archive, arguments[1:])
        sys.stdout.flush()
    except (UsageError, ArgumentValueError) as problem:
        helped = "mcpc call" if origin.project else archive
        sys.stderr.write(f"error: {problem}\n{console_text.SEE.format(command=printable(helped))}\n")
        return USAGE
    # Who reads the output, as `head`, has seen enough.
    except BrokenPipeError:
        return SUCCESS
    except OSError as problem:
        sys.stderr.write(f"error: {problem.strerror or problem}\n")
        return FINDINGS
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def own_commands(image: Image) -> list[str]:
    """Return the commands for what this file has and offers."""
    offered = opening_reply(image).get("capabilities", {})
    lacking = {command for command, capability in OFFERING.items() if capability not in offered}
    lacking |= set() if serves_http(image) else {"serve"}
    lacking |= set() if image.hooks("update") else {"update"}
    return [name for name in COMMANDS if name not in lacking]


def serves_http(image: Image) -> bool:
    """Tell whether the HTTP server is in the file."""
    return any(str(package).startswith("uvicorn ") for package in build_info(image).get("serving", ()))


def meant_command(image: Image, archive: str, arguments: list[str]) -> str:
    """Return what an unknown command may be: something that is offered, a misspelt command, or for the program."""
    for kind, (key, command) in OFFERED.items():
        if any(item[key] == arguments[0] for item in list_all(image, f"{kind}s")):
            words = printable(f"{archive} {command} {join(arguments)}")
            return console_text.IS_OFFERED.format(kind=kind, command=words)
    meant = suggestion(arguments[0], [*own_commands(image), *OPTIONS])
    if meant or "takes_arguments" not in image.index:
        return meant
    return console_text.FOR_PROGRAM.format(command=printable(f"{archive} -- {join(arguments)}"))


def open_streams() -> None:
    """Use UTF-8 in any locale, and /dev/null in place of a missing stream."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # A program without a console, or one whose streams were closed, has None here.
            setattr(sys, name, open("/dev/null", "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def project_of_environment() -> str:
    """Return the project that `mcpc` built, quoted for a shell; the variable is removed for handlers."""
    project: bytes = system.environ.pop(PROJECT.encode(), b"")
    return quote(project.decode("utf-8", "replace")) if project else ""


def wrap_help(text: str) -> str:
    """Wrap a help text to a narrow terminal; lines that are copied, such as JSON, stay whole."""
    width: int = get_terminal_size((HELP_WIDTH, 0)).columns
    if width >= HELP_WIDTH or not (sys.stdout.isatty() or sys.stderr.isatty()):
        return text
    lines: list[str] = []
    for line in text.split(console_text.VALUES)[0].splitlines():
        command, _, meaning = line[2:].partition("  ")
        if len(line) <= width or not line.startswith("  "):
            lines.append(line)
        else:
            lines += [
                line[:2] + command,
                *wrap(meaning.strip(), width, initial_indent=" " * 6, subsequent_indent=" " * 6),
            ]
    return "\n".join([*lines, *wrap(console_text.VALUES, width), *text.split(console_text.VALUES)[1].splitlines(), ""])


def greet(image: Image, archive: str) -> None:
    """Print to a person who started the server by hand what it is, and what it waits for."""
    open_streams()
    origin.project = project_of_environment()
    page = usage(image, archive) if origin.project else overview(image, archive, own_commands(image))
    sys.stderr.write(f"{page}\nServing: waiting for a client's messages on standard input.\n")
    sys.stderr.flush()


def usage(image: Image, archive: str) -> str:
    """Return the help page."""
    build = build_info(image)
    if origin.project:
        project = printable(origin.project)
        named = {"name": build["name"], "version": build["version"], "project": project}
        return wrap_help(console_text.PROJECT_HELP.format(**named, values=console_text.VALUES))
    path = json.dumps(abspath(archive), ensure_ascii=False)
    python = json.dumps(sys.executable or "python3", ensure_ascii=False)
    # A self-contained file is its own interpreter, and starts as a server without any argument.
    words = "" if python == path else f'"-I", {path}'
    named = {"name": build["name"], "version": build["version"], "file": archive, "python": python, "words": words}
    lacking = {*COMMANDS}.difference(own_commands(image))
    left_out = tuple(console_text.COMMAND.format(name=name) for name in lacking)
    left_out += () if "takes_arguments" in image.index else (console_text.WORDS,)
    page = "".join(line for line in console_text.HELP.splitlines(keepends=True) if not line.startswith(left_out))
    return wrap_help(page.format(**named, options=help_lines(), values=console_text.VALUES))


def show_help(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the help page."""
    sys.stdout.write(usage(image, archive))
    return SUCCESS


def show_version(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the name and version of the server."""
    build = build_info(image)
    sys.stdout.write(f"{build['name']} {build['version']}\n")
    return SUCCESS


def serve(image: Image, archive: str, arguments: list[str]) -> int:
    """Serve over HTTP, if HTTP support is bundled."""
    try:
        command = http_serve.command
    except ModuleNotFoundError:
        sys.stderr.write(console_text.WITHOUT_HTTP)
        return NOT_RUNNABLE
    return command(image, archive, arguments)


def update(image: Image, archive: str, arguments: list[str]) -> int:
    """Replace the file by a newer one, if it names the key of those."""
    for row in image.hooks("update"):
        return int(resolve(row)(image, archive, arguments))
    raise UsageError(console_text.WITHOUT_KEY)


def licences(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the licences of what the file contains."""
    return show_licences(image, archive, arguments)


def install(image: Image, archive: str, arguments: list[str]) -> int:
    """Add the server to clients."""
    return run_client_command("install", image, archive, arguments)


def uninstall(image: Image, archive: str, arguments: list[str]) -> int:
    """Remove the server from clients."""
    return run_client_command("uninstall", image, archive, arguments)


def clients(image: Image, archive: str, arguments: list[str]) -> int:
    """List the clients of this machine and their servers."""
    return run_client_command("clients", image, archive, arguments)


def config(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the entry for a client."""
    return run_client_command("config", image, archive, arguments)


def completion(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the script of a shell, or what may follow a line."""
    return complete_command_line(image, archive, arguments, own_commands(image))


COMMANDS: dict[str, Callable[[Image, str, list[str]], int]] = {
    "--help": show_help,
    "-h": show_help,
    "help": show_help,
    "--version": show_version,
    "info": info,
    "check": check,
    "list": list_definitions,
    "licenses": licences,
    "call": call_tool,
    "read": read_resource,
    "prompt": get_prompt,
    "complete": complete,
    "serve": serve,
    "install": install,
    "uninstall": uninstall,
    "update": update,
    "clients": clients,
    "config": config,
    "completion": completion,
}
OFFERED = {"tool": ("name", "call"), "prompt": ("name", "prompt"), "resource": ("uri", "read")}
"""What a server offers: the key that names it, and the command that uses it."""
HELPS = ("--help", "-h")
OFFERING = {"call": "tools", "read": "resources", "prompt": "prompts", "complete": "completions"}
"""The commands that need something which not every server offers: a capability."""
ONE_PAGE = ("info", "check", "list", "licenses", "call", "read", "prompt", "complete", "completion")
"""The commands whose help is the page of all commands."""
