"""The commands of a built file for people: information, checks, lists, and single requests.

A server that serves a client does not import this module.
"""

from __future__ import annotations

import json
import sys

from mcpc_runtime.cli import messages as console_text
from mcpc_runtime.cli.argument_values import ArgumentValueError, parse_arguments, split_arguments
from mcpc_runtime.cli.artifact_info import build_info, list_all
from mcpc_runtime.cli.printing import (
    printable,
    put_contents,
    put_json,
    put_messages,
    put_notification,
    put_tool_result,
    put_values,
    terminal_text,
)
from mcpc_runtime.cli.self_check import HEALTHY, NOTES, all_checks, name_some, run_check
from mcpc_runtime.lazy import lazy, resolve
from mcpc_runtime.platforms import system
from mcpc_runtime.platforms.pipes import incoming
from mcpc_runtime.protocol.constants import (
    CAPABILITIES_KEY,
    LOG_LEVEL_KEY,
    MAX_MESSAGE_BYTES,
    METHOD_NOT_FOUND,
    VERSION_KEY,
)
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.stdio_driver import StdioDriver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from difflib import get_close_matches
    from os.path import abspath
    from shlex import quote
    from shutil import get_terminal_size
    from textwrap import wrap
    from typing import Any

    from mcpc_runtime.cli.artifact_info import Object
    from mcpc_runtime.http import serve as http_serve
    from mcpc_runtime.image.image import Image
else:
    abspath = lazy("os.path:abspath")
    get_close_matches = lazy("difflib:get_close_matches")
    get_terminal_size = lazy("shutil:get_terminal_size")
    quote = lazy("shlex:quote")
    wrap = lazy("textwrap:wrap")
    http_serve = lazy("mcpc_runtime.http.serve", "http_serve")

SUCCESS, FINDINGS, USAGE, TOOL_ERROR, NOT_RUNNABLE, INTERRUPTED = 0, 1, 2, 5, 8, 130

HELP_WIDTH = 120
"""The width of the help pages."""
PROJECT = "MCPC_BUILT_FROM"
"""The variable by which `mcpc call DIR` names the project of this file, which is deleted after the call."""


class UsageError(Exception):
    """The command line is invalid; the message states why."""


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
                console_text.UNKNOWN_COMMAND.format(name=arguments[0], hint=suggestion(arguments[0], COMMANDS))
            )
        status = command(image, archive, arguments[1:])
        sys.stdout.flush()
    except (UsageError, ArgumentValueError) as problem:
        sys.stderr.write(f"error: {problem}\n\n{usage(image, archive)}")
        return USAGE
    except BrokenPipeError:
        return SUCCESS
    except OSError as problem:
        sys.stderr.write(f"error: {problem.strerror or problem}\n")
        return FINDINGS
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def suggestion(word: str, names: Iterable[str]) -> str:
    """Return a suggestion for an unknown word, or nothing."""
    near: list[str] = get_close_matches(word, names, 1)
    return f"; did you mean {near[0]}?" if near else ""


def open_streams() -> None:
    """Use UTF-8 in any locale, and /dev/null in place of a missing stream."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open("/dev/null", "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


class BuildOrigin:
    """The project that `mcpc` built this file from for one command; empty for a file that was built to stay."""

    project = ""


origin = BuildOrigin()


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
    """Print to a person who started the server by hand what it waits for."""
    open_streams()
    origin.project = project_of_environment()
    sys.stderr.write(f"{usage(image, archive)}\nServing: waiting for a client's messages on standard input.\n")
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
    named = {"name": build["name"], "version": build["version"], "file": archive, "python": python, "path": path}
    return wrap_help(console_text.HELP.format(**named, values=console_text.VALUES))


def show_help(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the help page."""
    sys.stdout.write(usage(image, archive))
    return SUCCESS


def show_version(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the name and version of the server."""
    build = build_info(image)
    sys.stdout.write(f"{build['name']} {build['version']}\n")
    return SUCCESS


def info(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the build information."""
    build = build_info(image)
    if wants_json(arguments):
        put_json(build)
        return SUCCESS
    rows = [
        ("server", f"{build['name']} {build['version']}"),
        ("revisions", ", ".join(build["revisions"])),
        ("offers", ", ".join(definition_counts(build))),
        ("handlers", ", ".join(build["handlers"]) or "none"),
        ("python", f"{build['python']['requires']}, fastest on {build['python']['bytecode']}"),
        *running_rows(build),
        *package_rows(build),
        ("built by", f"mcpc {build['mcpc']}"),
        ("sources", build["sourceDigest"]),
    ]
    sys.stdout.write("".join(f"{name:<10}{value}\n" for name, value in rows))
    return SUCCESS


def definition_counts(build: Object) -> list[str]:
    """Return the number of definitions of each kind; kinds other than tools and prompts only if there are any."""
    others = [(kind, words) for kind, words in OTHER_KINDS if build.get(kind)]
    rows = ((build[kind], words) for kind, words in (("tools", "tools"), ("prompts", "prompts"), *others))
    return [f"{count} {words.removesuffix('s') if count == 1 else words}" for count, words in rows]


OTHER_KINDS = (("resources", "resources"), ("resourceTemplates", "resource templates"), ("completions", "completions"))


def running_rows(build: Object) -> list[tuple[str, str]]:
    """Return rows about timeouts, variables and required programs of handlers."""
    rows = [("timeout", "60 s per call, unless listed below")]
    for field, (row, in_words) in HANDLER_ROWS.items():
        groups = (group for group in build.get("running", ()) if field in group)
        rows += [(row, printable(f"{in_words(group[field])} for {name_some(group['of'])}")) for group in groups]
    return rows


def environment_text(environment: str | list[str]) -> str:
    """Return the variables of handlers as text."""
    return f"{environment} environment" if type(environment) is str else ", ".join(environment)


HANDLER_ROWS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "timeout": ("timeout", lambda seconds: f"{seconds:g} s"),
    "environment": ("variables", environment_text),
    "requires": ("requires", ", ".join),
}
"""Fields of handler options that differ from the default: the row, and the text of the value."""


def package_rows(build: Object) -> list[tuple[str, str]]:
    """Return rows about bundled packages and the platforms of their native modules."""
    rows = (("packages", ", ".join(build.get("packages", ()))), ("native", ", ".join(build.get("platforms", ()))))
    return [row for row in rows if row[1]]


def check(image: Image, archive: str, arguments: list[str]) -> int:
    """Verify every entry, load every definition, check the requirements of handlers, and try every revision."""
    results = [(name, run_check(image, verify)) for name, verify in all_checks(image)]
    notes = [(name, run_check(image, look)) for name, look in NOTES]
    wrong = [name for name, problems in results if problems]
    status = SUCCESS if not wrong else NOT_RUNNABLE if wrong == [HEALTHY] else FINDINGS
    if wants_json(arguments):
        checks = [{"name": name, "problems": problems} for name, problems in results]
        put_json({"ok": not wrong, "checks": checks, "notes": [note for _, problems in notes for note in problems]})
        return status
    for word, rows in (("failed", results), ("note", [row for row in notes if row[1]])):
        for name, problems in rows:
            sys.stdout.write(f"{word if problems else 'ok':<8}{name}\n")
            sys.stdout.write("".join(f"        {printable(problem)}\n" for problem in problems))
    return status


def list_definitions(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the tools, prompts, resources and templates."""
    lists = {kind: list_all(image, kind, ask_program) for kind in ("tools", "prompts")}
    read = {kind: list_all(image, kind, ask_program) for kind in READABLE_LISTS}
    if wants_json(arguments):
        put_json(lists | {kind: items for kind, items in read.items() if items})
        return SUCCESS
    for kind, items in lists.items():
        for item in items:
            names = item.get("inputSchema", {}).get("properties", {}) or [a["name"] for a in item.get("arguments", [])]
            summary = printable(item.get("description", "").partition("\n")[0])
            sys.stdout.write(f"{kind[:-1]:<8}{item['name']}({', '.join(map(printable, names))})  {summary}\n")
    for kind, items in read.items():
        label, key = READABLE_LISTS[kind]
        for item in items:
            summary = printable((item.get("description") or item["name"]).partition("\n")[0])
            sys.stdout.write(f"{label} {printable(item[key])}  {summary}\n")
    for row in image.hooks("describe_hidden_tools"):
        sys.stdout.flush()
        sys.stderr.write(resolve(row)(image, [tool["name"] for tool in lists["tools"]]))
    return SUCCESS


def ask_program(image: Image, method: str, params: Object) -> Object:
    """Return the reply to a request for a list that is made at run time; an error is printed."""
    output = sys.stdout
    given = {key: value for key, value in params.items() if key != "_meta"}
    reply = SingleRequestChannel(image).ask(method, given)
    sys.stdout = output
    if "error" in reply and reply["error"]["code"] != METHOD_NOT_FOUND:
        text = f"{method}: error {reply['error']['code']}: {reply['error']['message']}\n"
        sys.stderr.write(terminal_text(text, sys.stderr))
    return reply


READABLE_LISTS = {"resources": ("resource", "uri"), "resourceTemplates": ("template", "uriTemplate")}
"""The lists of resources: the word for an item, and the member that identifies it."""


def call_tool(image: Image, archive: str, arguments: list[str]) -> int:
    """Call a tool as a client would, and print its result."""
    if not arguments:
        raise UsageError(console_text.TOOL_MISSING)
    tools = list_all(image, "tools", ask_program)
    schema: Object = next((tool["inputSchema"] for tool in tools if tool["name"] == arguments[0]), {})
    params = {"name": arguments[0], "arguments": tool_arguments(arguments[1:], schema)}
    result = request_result(image, archive, "tools/call", params, [tool["name"] for tool in tools])
    if result is None:
        return TOOL_ERROR
    put_tool_result(result)
    return TOOL_ERROR if result.get("isError") else SUCCESS


def request_result(image: Image, archive: str, method: str, params: Object, names: list[str]) -> Object | None:
    """Return the result of a request, or print the error, with a suggestion from the `known` names."""
    output = sys.stdout
    reply = SingleRequestChannel(image).ask(method, params)
    sys.stdout = output  # output of inline handlers goes to standard error, the result does not
    if "error" not in reply:
        return reply.get("result")
    requested = params.get("name") or params.get("uri")
    lists = f"mcpc inspect {origin.project}" if origin.project else f"{archive} list"
    hint = ""
    if requested is not None and names and requested not in names:
        hint = suggestion(requested, names) or console_text.LISTS_NAMES.format(command=lists)
    sys.stderr.write(terminal_text(f"error {reply['error']['code']}: {reply['error']['message']}{hint}\n", sys.stderr))
    return None


def tool_arguments(arguments: list[str], schema: Object) -> Object:
    """Return the arguments of a command line, by a schema."""
    if arguments[:1] == ["--json"]:
        if len(arguments) != 2:
            raise UsageError(console_text.JSON_MISSING)
        return parse_json_object(sys.stdin.read() if arguments[1] == "-" else arguments[1])
    return parse_arguments(arguments, schema)


def read_resource(image: Image, archive: str, arguments: list[str]) -> int:
    """Read a resource as a client would, and print its contents."""
    if not arguments:
        raise UsageError(console_text.URI_MISSING)
    as_json = wants_json(arguments[1:])
    uris = [item["uri"] for item in list_all(image, "resources", ask_program)]
    result = request_result(image, archive, "resources/read", {"uri": arguments[0]}, uris)
    return print_result(result, put_json if as_json else put_contents)


def get_prompt(image: Image, archive: str, arguments: list[str]) -> int:
    """Get a prompt as a client would, and print its messages; its arguments are strings."""
    if not arguments:
        raise UsageError(console_text.PROMPT_MISSING)
    names = [item["name"] for item in list_all(image, "prompts", ask_program)]
    params = {"name": arguments[0], "arguments": dict(split_arguments(arguments[1:]))}
    return print_result(request_result(image, archive, "prompts/get", params, names), put_messages)


def complete(image: Image, archive: str, arguments: list[str]) -> int:
    """Print completions of a prompt argument or a template variable."""
    if len(arguments) not in (2, 3):
        raise UsageError(console_text.COMPLETION_MISSING)
    name, argument = arguments[:2]
    ref = {"type": "ref/resource", "uri": name} if ":" in name else {"type": "ref/prompt", "name": name}
    params = {"ref": ref, "argument": {"name": argument, "value": arguments[2] if arguments[2:] else ""}}
    return print_result(request_result(image, archive, "completion/complete", params, []), put_values)


def print_result(result: Object | None, printing: Callable[[Object], None]) -> int:
    """Print a result, if there is one; return the exit status."""
    if result is None:
        return TOOL_ERROR
    printing(result)
    return SUCCESS


def parse_json_object(text: str) -> Object:
    """Return the object that `text` is."""
    try:
        value = json.loads(text)
    except ValueError as problem:
        raise UsageError(console_text.NOT_JSON.format(problem=problem)) from None
    if not isinstance(value, dict):
        raise UsageError(console_text.NOT_AN_OBJECT)
    return value


def serve(image: Image, archive: str, arguments: list[str]) -> int:
    """Serve over HTTP, if HTTP support is bundled."""
    try:
        command = http_serve.command
    except ModuleNotFoundError:
        sys.stderr.write(console_text.WITHOUT_HTTP)
        return NOT_RUNNABLE
    return command(image, archive, arguments)


class SingleRequestChannel:
    """A channel that delivers one request and stores the reply."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._reply: Object = {}
        self._requests: list[bytes] = []
        self.ended = self.full = False
        self.unsent = self.bytes_written = 0
        self.descriptor = self.output = self._other_end = -1

    def ask(self, method: str, params: Object) -> Object:
        """Return the reply to a request; progress and log messages are printed as they come."""
        envelope = {VERSION_KEY: self._image.stateless_versions[-1], CAPABILITIES_KEY: {}}
        meta = {**envelope, LOG_LEVEL_KEY: "debug", "progressToken": 1}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        self._requests.append(json.dumps(body).encode())
        self.descriptor, self._other_end = incoming()  # nothing is ever written to it
        StdioDriver(self._image, Session(self._image), self, MAX_MESSAGE_BYTES).run()
        return self._reply

    def read(self) -> list[bytes]:
        """Return the request, once."""
        return [self._requests.pop()] if self._requests else []

    def write(self, data: bytes) -> None:
        """Store the reply, which ends the session, or print a notification."""
        message = json.loads(data)
        if "method" in message:
            put_notification(message)
        else:
            self._reply = message
            self.ended = True

    def flush(self) -> bool:
        """Return True: nothing is buffered."""
        return True


def wants_json(words: list[str]) -> bool:
    """Tell whether the option is `--json`; raise UsageError for other words."""
    if words not in ([], ["--json"]):
        raise UsageError(console_text.UNEXPECTED.format(words=" ".join(words)))
    return bool(words)


COMMANDS: dict[str, Callable[[Image, str, list[str]], int]] = {
    "--help": show_help,
    "-h": show_help,
    "help": show_help,
    "--version": show_version,
    "info": info,
    "check": check,
    "list": list_definitions,
    "call": call_tool,
    "read": read_resource,
    "prompt": get_prompt,
    "complete": complete,
    "serve": serve,
}
HELPS = ("--help", "-h")
ONE_PAGE = ("info", "check", "list", "call", "read", "prompt", "complete")
"""The commands whose help is the page of all commands."""
