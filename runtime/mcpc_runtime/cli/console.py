"""What a server says to a person: what it is, whether it is whole, what it offers, and what it answers to one request.

Nothing of this is imported by a server that serves.
"""

from __future__ import annotations

import json
import posix
import sys

from mcpc_runtime.cli import messages as console_text
from mcpc_runtime.cli.argument_values import ArgumentValueError, arguments, pairs
from mcpc_runtime.cli.artifact_info import facts, listed
from mcpc_runtime.cli.printing import (
    printable,
    put_contents,
    put_json,
    put_messages,
    put_notification,
    put_tool_result,
    put_values,
    shown,
)
from mcpc_runtime.cli.self_check import HEALTHY, NOTES, checks_of, some, verified
from mcpc_runtime.lazy import lazy, resolve
from mcpc_runtime.protocol.constants import CAPABILITIES_KEY, LOG_LEVEL_KEY, MAX_MESSAGE_BYTES, VERSION_KEY
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.stdio_driver import StdioDriver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from difflib import get_close_matches
    from shlex import quote
    from shutil import get_terminal_size
    from textwrap import wrap
    from typing import Any

    from mcpc_runtime.cli.artifact_info import Object
    from mcpc_runtime.http import serve as http_serve
    from mcpc_runtime.image.image import Image
else:
    get_close_matches = lazy("difflib:get_close_matches")
    get_terminal_size = lazy("shutil:get_terminal_size")
    quote = lazy("shlex:quote")
    wrap = lazy("textwrap:wrap")
    http_serve = lazy("mcpc_runtime.http.serve", "http_serve")

SUCCESS, FINDINGS, USAGE, TOOL_ERROR, NOT_RUNNABLE, INTERRUPTED = 0, 1, 2, 5, 8, 130

WRITTEN = 120
"""The width of the help pages."""
PROJECT = "MCPC_BUILT_FROM"
"""The variable by which `mcpc call DIR` says of what project this file was built, which is gone when the call ends."""


class UsageError(Exception):
    """The words on the command line are off; the message says how."""


def run(image: Image, archive: str, words: list[str]) -> int:
    """Do what the words say; return the exit status."""
    command = show_help if words[1:] and words[-1] in HELPS and words[0] in ONE_PAGE else COMMANDS.get(words[0])
    open_streams()
    origin.project = project_of_environment()
    try:
        if command is None:
            raise UsageError(console_text.UNKNOWN_COMMAND.format(name=words[0], hint=meant(words[0], COMMANDS)))
        status = command(image, archive, words[1:])
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


def meant(word: str, known: Iterable[str]) -> str:
    """Return a question about what was meant by a word that nobody knows, or nothing."""
    near: list[str] = get_close_matches(word, known, 1)
    return f"; did you mean {near[0]}?" if near else ""


def open_streams() -> None:
    """Write UTF-8 whatever the locale says, and nowhere where a stream is missing."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open("/dev/null", "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


class BuildOrigin:
    """The project that this file was built from just now, for which it stands; nothing for a file that a person has."""

    project = ""


origin = BuildOrigin()


def project_of_environment() -> str:
    """Return the project that `mcpc` says it built, quoted for a shell; handlers do not find the variable."""
    found: bytes = posix.environ.pop(PROJECT.encode(), b"")
    return quote(found.decode("utf-8", "replace")) if found else ""


def fitting(text: str) -> str:
    """Return a help text as wide as the terminal, if that is narrower than the text; what is copied stays whole."""
    width: int = get_terminal_size((WRITTEN, 0)).columns
    if width >= WRITTEN or not (sys.stdout.isatty() or sys.stderr.isatty()):
        return text
    lines: list[str] = []
    for line in text.split(console_text.VALUES)[0].splitlines():
        command, _, said = line[2:].partition("  ")
        if len(line) <= width or not line.startswith("  "):
            lines.append(line)
        else:
            lines += [line[:2] + command, *wrap(said.strip(), width, initial_indent=" " * 6, subsequent_indent=" " * 6)]
    return "\n".join([*lines, *wrap(console_text.VALUES, width), *text.split(console_text.VALUES)[1].splitlines(), ""])


def greet(image: Image, archive: str) -> None:
    """Tell a person who started the server by hand what it waits for."""
    open_streams()
    origin.project = project_of_environment()
    sys.stderr.write(f"{usage(image, archive)}\nServing: waiting for a client's messages on standard input.\n")
    sys.stderr.flush()


def usage(image: Image, archive: str) -> str:
    """Return the help page."""
    known = facts(image)
    if origin.project:
        project = printable(origin.project)
        named = {"name": known["name"], "version": known["version"], "project": project}
        return fitting(console_text.PROJECT_HELP.format(**named, values=console_text.VALUES))
    path = archive if archive.startswith("/") else f"{posix.getcwd()}/{archive.removeprefix('./')}"
    python = sys.executable or "python3"
    named = {"name": known["name"], "version": known["version"], "file": archive, "python": python, "path": path}
    return fitting(console_text.HELP.format(**named, values=console_text.VALUES))


def show_help(image: Image, archive: str, words: list[str]) -> int:
    """Print the help page."""
    sys.stdout.write(usage(image, archive))
    return SUCCESS


def show_version(image: Image, archive: str, words: list[str]) -> int:
    """Print what the server is called, and which one it is."""
    known = facts(image)
    sys.stdout.write(f"{known['name']} {known['version']}\n")
    return SUCCESS


def info(image: Image, archive: str, words: list[str]) -> int:
    """Print the facts of the build."""
    known = facts(image)
    if wants_json(words):
        put_json(known)
        return SUCCESS
    rows = [
        ("server", f"{known['name']} {known['version']}"),
        ("revisions", ", ".join(known["revisions"])),
        ("offers", ", ".join(offers(known))),
        ("handlers", ", ".join(known["handlers"]) or "none"),
        ("python", f"{known['python']['requires']}, fastest on {known['python']['bytecode']}"),
        *running_rows(known),
        *carried_rows(known),
        ("built by", f"mcpc {known['mcpc']}"),
        ("sources", known["sourceDigest"]),
    ]
    sys.stdout.write("".join(f"{name:<10}{value}\n" for name, value in rows))
    return SUCCESS


def offers(known: Object) -> list[str]:
    """Return how many there are of each kind of thing, resources only if there are any."""
    others = [(kind, words) for kind, words in OTHERS if known.get(kind)]
    rows = ((known[kind], words) for kind, words in (("tools", "tools"), ("prompts", "prompts"), *others))
    return [f"{count} {words.removesuffix('s') if count == 1 else words}" for count, words in rows]


OTHERS = (("resources", "resources"), ("resourceTemplates", "resource templates"), ("completions", "completions"))


def running_rows(known: Object) -> list[tuple[str, str]]:
    """Return how long calls may take, what handlers find of the environment, and the programs they need."""
    found = [("timeout", "60 s per call, unless listed below")]
    for field, (row, in_words) in SAID.items():
        groups = (group for group in known.get("running", ()) if field in group)
        found += [(row, printable(f"{in_words(group[field])} for {some(group['of'])}")) for group in groups]
    return found


def environment_in_words(environment: Any) -> str:
    """Return what handlers find of the environment."""
    return f"{environment} environment" if type(environment) is str else ", ".join(environment)


SAID: dict[str, tuple[str, Callable[[Any], str]]] = {
    "timeout": ("timeout", lambda seconds: f"{seconds:g} s"),
    "environment": ("variables", environment_in_words),
    "requires": ("requires", ", ".join),
}
"""A field of what is unusual about running handlers: its row, and its value for a person."""


def carried_rows(known: Object) -> list[tuple[str, str]]:
    """Return the packages that a server carries, and for whom it has native modules."""
    rows = (("packages", ", ".join(known.get("packages", ()))), ("native", ", ".join(known.get("platforms", ()))))
    return [row for row in rows if row[1]]


def check(image: Image, archive: str, words: list[str]) -> int:
    """Verify every entry, load every definition, look for what the handlers need, and hold a short conversation."""
    results = [(name, verified(image, verify)) for name, verify in checks_of(image)]
    notes = [(name, verified(image, look)) for name, look in NOTES]
    wrong = [name for name, problems in results if problems]
    status = SUCCESS if not wrong else NOT_RUNNABLE if wrong == [HEALTHY] else FINDINGS
    if wants_json(words):
        checks = [{"name": name, "problems": found} for name, found in results]
        put_json({"ok": not wrong, "checks": checks, "notes": [note for _, found in notes for note in found]})
        return status
    for word, rows in (("failed", results), ("note", [row for row in notes if row[1]])):
        for name, problems in rows:
            sys.stdout.write(f"{word if problems else 'ok':<8}{name}\n")
            sys.stdout.write("".join(f"        {printable(problem)}\n" for problem in problems))
    return status


def list_definitions(image: Image, archive: str, words: list[str]) -> int:
    """Print the tools and prompts, and what can be read."""
    found = {kind: listed(image, kind) for kind in ("tools", "prompts")}
    read = {kind: listed(image, kind) for kind in READ}
    if wants_json(words):
        put_json(found | {kind: items for kind, items in read.items() if items})
        return SUCCESS
    for kind, items in found.items():
        for item in items:
            names = item.get("inputSchema", {}).get("properties", {}) or [a["name"] for a in item.get("arguments", [])]
            summary = printable(item.get("description", "").partition("\n")[0])
            sys.stdout.write(f"{kind[:-1]:<8}{item['name']}({', '.join(map(printable, names))})  {summary}\n")
    for kind, items in read.items():
        word, key = READ[kind]
        for item in items:
            summary = printable((item.get("description") or item["name"]).partition("\n")[0])
            sys.stdout.write(f"{word} {printable(item[key])}  {summary}\n")
    for row in image.hooks("describe_hidden_tools"):
        sys.stdout.flush()
        sys.stderr.write(resolve(row)(image, [tool["name"] for tool in found["tools"]]))
    return SUCCESS


READ = {"resources": ("resource", "uri"), "resourceTemplates": ("template", "uriTemplate")}
"""The lists of what clients read: what one of them is called, and the member by which it is asked for."""


def call_tool(image: Image, archive: str, words: list[str]) -> int:
    """Call a tool as a client would, and print what it answers."""
    if not words:
        raise UsageError(console_text.TOOL_MISSING)
    tools = listed(image, "tools")
    schema: Object = next((tool["inputSchema"] for tool in tools if tool["name"] == words[0]), {})
    params = {"name": words[0], "arguments": arguments_of(words[1:], schema)}
    result = answer(image, archive, "tools/call", params, [tool["name"] for tool in tools])
    if result is None:
        return TOOL_ERROR
    put_tool_result(result)
    return TOOL_ERROR if result.get("isError") else SUCCESS


def answer(image: Image, archive: str, method: str, params: Object, known: list[str]) -> Object | None:
    """Return the result of a request, or print the error, with what of the `known` names may have been meant."""
    output = sys.stdout
    reply = SingleRequestChannel(image).ask(method, params)
    sys.stdout = output  # what inline handlers print goes to standard error, the answer does not
    if "error" not in reply:
        return reply.get("result")
    asked = params.get("name") or params.get("uri")
    lists = f"mcpc inspect {origin.project}" if origin.project else f"{archive} list"
    hint = ""
    if asked is not None and known and asked not in known:
        hint = meant(asked, known) or console_text.LISTS_NAMES.format(command=lists)
    sys.stderr.write(shown(f"error {reply['error']['code']}: {reply['error']['message']}{hint}\n", sys.stderr))
    return None


def arguments_of(words: list[str], schema: Object) -> Object:
    """Return the arguments that the words name, for a schema."""
    if words[:1] == ["--json"]:
        if len(words) != 2:
            raise UsageError(console_text.JSON_MISSING)
        return json_object(sys.stdin.read() if words[1] == "-" else words[1])
    return arguments(words, schema)


def read_resource(image: Image, archive: str, words: list[str]) -> int:
    """Read a resource as a client would, and print its contents."""
    if not words:
        raise UsageError(console_text.URI_MISSING)
    as_json = wants_json(words[1:])
    known = [item["uri"] for item in listed(image, "resources")]
    result = answer(image, archive, "resources/read", {"uri": words[0]}, known)
    return put(result, put_json if as_json else put_contents)


def get_prompt(image: Image, archive: str, words: list[str]) -> int:
    """Get a prompt as a client would, and print its messages; its arguments are strings."""
    if not words:
        raise UsageError(console_text.PROMPT_MISSING)
    known = [item["name"] for item in listed(image, "prompts")]
    params = {"name": words[0], "arguments": dict(pairs(words[1:]))}
    return put(answer(image, archive, "prompts/get", params, known), put_messages)


def complete(image: Image, archive: str, words: list[str]) -> int:
    """Print what may stand for an argument of a prompt, or for a variable of a resource's template."""
    if len(words) not in (2, 3):
        raise UsageError(console_text.COMPLETION_MISSING)
    name, argument = words[:2]
    ref = {"type": "ref/resource", "uri": name} if ":" in name else {"type": "ref/prompt", "name": name}
    params = {"ref": ref, "argument": {"name": argument, "value": words[2] if words[2:] else ""}}
    return put(answer(image, archive, "completion/complete", params, []), put_values)


def put(result: Object | None, printing: Callable[[Object], None]) -> int:
    """Print a result, if there is one; return the exit status."""
    if result is None:
        return TOOL_ERROR
    printing(result)
    return SUCCESS


def json_object(text: str) -> Object:
    """Return the object that `text` is."""
    try:
        value = json.loads(text)
    except ValueError as problem:
        raise UsageError(console_text.NOT_JSON.format(problem=problem)) from None
    if not isinstance(value, dict):
        raise UsageError(console_text.NOT_AN_OBJECT)
    return value


def serve(image: Image, archive: str, words: list[str]) -> int:
    """Serve over HTTP, if what that takes is carried."""
    try:
        command = http_serve.command
    except ModuleNotFoundError:
        sys.stderr.write(console_text.WITHOUT_HTTP)
        return NOT_RUNNABLE
    return command(image, archive, words)


class SingleRequestChannel:
    """A channel with one request in it, and a place for the reply."""

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
        self.descriptor, self._other_end = posix.pipe()  # nothing ever comes through it
        StdioDriver(self._image, Session(self._image), self, MAX_MESSAGE_BYTES).run()
        return self._reply

    def read(self) -> list[bytes]:
        """Hand out the request, once."""
        return [self._requests.pop()] if self._requests else []

    def write(self, data: bytes) -> None:
        """Take the reply, which ends the conversation, or print a notification."""
        message = json.loads(data)
        if "method" in message:
            put_notification(message)
        else:
            self._reply = message
            self.ended = True

    def flush(self) -> bool:
        """Keep nothing back."""
        return True


def wants_json(words: list[str]) -> bool:
    """Tell whether `--json` was asked for; nothing else is understood."""
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
"""The commands whose help is the page that has all of them."""
