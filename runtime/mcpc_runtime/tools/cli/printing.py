"""Print results on standard output, and progress and log messages on standard error.

A pipe receives the exact bytes of a text; for a terminal, control characters are escaped.

Help pages and messages of the commands of a built file, as templates.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, TextIO

SUCCESS, FINDINGS, USAGE, TOOL_ERROR, NOT_RUNNABLE, INTERRUPTED = 0, 1, 2, 5, 8, 130


class UsageError(Exception):
    """The command line is invalid; the message states why."""


def suggestion(word: str, names: Iterable[str]) -> str:
    """Return a suggestion for an unknown word, or nothing."""
    near: list[str] = get_close_matches(word, names, 1)
    return f"; did you mean {near[0]}?" if near else ""


def wants_json(words: list[str]) -> bool:
    """Tell whether the option is `--json`; raise UsageError for other words."""
    if words not in ([], ["--json"]):
        raise UsageError(UNEXPECTED.format(words=" ".join(words)))
    return bool(words)


class BuildOrigin:
    """The project that `mcpc` built this file from for one command; empty for a file that was built to stay."""

    project = ""


origin = BuildOrigin()


Object = dict[str, Any]


def printable(text: str) -> str:
    """Return a text with all unprintable characters escaped."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def terminal_text(text: str, stream: TextIO) -> str:
    """Return a text for a stream: unchanged, but for a terminal with control characters escaped.

    Line ends and tabs stay.
    """
    if not stream.isatty():
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in lines)


def put_text(text: str) -> None:
    """Write a text of a result to standard output."""
    sys.stdout.write(terminal_text(text, sys.stdout))


def put_json(value: object) -> None:
    """Print a value as JSON; for a terminal, unprintable characters in strings are escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if sys.stdout.isatty() and not text.replace("\n", "").isprintable():
        # Escapes of JSON, so that what is printed is still JSON.
        text = "".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text)
    sys.stdout.write(f"{text}\n")


def put_notification(message: Object) -> None:
    """Print progress or a log message immediately; without a reader it is lost, and the call continues."""
    row = NOTIFICATIONS.get(message["method"])
    if row is not None:
        try:
            sys.stderr.write(f"{printable(row(message.get('params', {})))}\n")
            sys.stderr.flush()
        # Standard error is closed, or nobody reads it.
        except OSError:
            pass


def progress_line(params: Object) -> str:
    """Return `progress 1/3: message`."""
    total = f"/{params['total']:g}" if "total" in params else ""
    message = f": {params['message']}" if params.get("message") else ""
    return f"progress {params['progress']:g}{total}{message}"


def log_line(params: Object) -> str:
    """Return `warning: message`."""
    data = params.get("data")
    return f"{params.get('level')}: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}"


NOTIFICATIONS = {"notifications/progress": progress_line, "notifications/message": log_line}


def put_tool_result(result: Object) -> None:
    """Print the result of a tool: texts unchanged, other blocks as JSON."""
    for block in result["content"]:
        put_text(f"{block_text(block)}\n")
    if not result["content"] and "structuredContent" in result:
        put_json(result["structuredContent"])


def block_text(block: Object) -> str:
    """Return a content block as text."""
    return str(block["text"]) if block.get("type") == "text" else json.dumps(block)


def put_contents(result: Object) -> None:
    """Print resource contents: texts, and the bytes of blobs, which are not written to a terminal."""
    for content in result["contents"]:
        if "blob" not in content:
            end = "\n" if sys.stdout.isatty() and not content["text"].endswith("\n") else ""
            put_text(f"{content['text']}{end}")
            continue
        data = b64decode(content["blob"])
        if sys.stdout.isatty():
            kind = content.get("mimeType", "application/octet-stream")
            sys.stdout.write(f"({len(data)} bytes of {printable(kind)}: redirect standard output into a file)\n")
        else:
            # The bytes bypass the text layer, whose buffer comes first.
            sys.stdout.flush()
            sys.stdout.buffer.write(data)


def put_messages(result: Object) -> None:
    """Print the messages of a prompt, each below its role."""
    texts = (f"{message['role']}:\n{block_text(message['content'])}\n" for message in result["messages"])
    put_text("\n".join(texts))


def put_values(result: Object) -> None:
    """Print the completions of an argument, one per line."""
    sys.stdout.write("".join(f"{printable(value)}\n" for value in result["completion"]["values"]))


HELP = """{name} {version}: a Model Context Protocol server in one file

  {file}                              serve over standard input and output, as clients start it
  {file} info [--json]                print name, version, protocol revisions and build facts
  {file} check [--json]               check that the file is intact and can run on this machine
  {file} list [--json]                list tools, prompts and resources
  {file} call TOOL [NAME=VALUE ...]   call a tool; progress and log messages go to standard error
  {file} call TOOL --json OBJECT      the same, with the arguments as one JSON object ("-": from standard input)
  {file} call TOOL ... --dry-run      print what the call would send or run: a request as a `curl` command
  {file} read URI [--json]            print a resource
  {file} prompt NAME [NAME=VALUE ...]  print the messages of a prompt
  {file} complete NAME ARGUMENT [VALUE]  print completions of a prompt argument or a template variable
  {file} serve --http [HOST:]PORT     serve over HTTP; `serve --help` lists the options
  {file} install --client NAME|all    keep a copy, and add it to the configuration of clients; `install --help`
  {file} uninstall --client NAME|all  remove it again
  {file} update FILE|URL              replace this file by a newer one with a signature; `update --help`
  {file} clients                      list the clients on this machine and the servers that each has
  {file} config --client NAME         print the entry for a client, and where it goes
  {file} completion bash|zsh|fish     print the script by which a shell completes this command
  {file} [COMMAND ...] -- WORDS       give words to the server's program, as its own command line has them
  {file} licenses                     print the licences of what the file contains

Options of serving, alone or after `serve`; each has a variable that means the same, such as MCPC_TOOLS:
{options}
{values}
Entry for a client's configuration:
  {{"mcpServers": {{"{name}": {{"command": {python}, "args": [{words}]}}}}}}
"""
PROJECT_HELP = """{name} {version}: a Model Context Protocol server, built from {project}

  mcpc dev --once {project}                            serve over standard input and output
  mcpc inspect {project}                               list tools, prompts and resources
  mcpc call {project} TOOL [NAME=VALUE ...]            call a tool
  mcpc call {project} TOOL ... --dry-run               print what the call would send or run
  mcpc call {project} --resource URI                   print a resource
  mcpc call {project} --prompt NAME [NAME=VALUE ...]   print the messages of a prompt
  mcpc build {project} -o server.pyz                   build one executable file

{values}
"""
VALUES = """\
A VALUE is a string if the tool's schema allows only strings, and JSON if it does not allow strings. If the schema
allows both, VALUE is read as JSON if the result has an allowed type, otherwise as a string.
"""

COMMAND = "  {{file}} {name} "
"""How the lines of a command begin, which only a file has that can do it."""

WORDS = "  {file} [COMMAND ...] -- "
"""How the line begins that only a file with a program has."""

UNKNOWN_COMMAND = "unknown command {name!r}{hint}"
IS_OFFERED = "; it is a {kind}: `{command}`"
FOR_PROGRAM = "; words for the server's program follow `--`: `{command}`"
SEE = "see `{command} --help`"
NAMES = "; the server has {names}"
OTHERS = " and {count} more"
OFFERS_NONE = "error: the server offers no {kind}\n"
LISTS_NAMES = "; `{command}` prints all names"
TOOL_MISSING = "call needs the name of a tool"
URI_MISSING = "read needs the URI of a resource"
PROMPT_MISSING = "prompt needs the name of a prompt"
COMPLETION_MISSING = "complete needs the name of a prompt or a URI template, and the name of an argument"
JSON_MISSING = '--json needs one JSON object, or "-" for standard input'
NOT_JSON = 'the arguments are not JSON: {problem}; expected an object such as \'{{"name": "Ada"}}\''
TOO_DEEP = "the arguments are nested more deeply than this server reads"
NOT_AN_OBJECT = "the arguments must be a JSON object"
SHELL_MISSING = "completion needs the name of a shell: bash, zsh or fish"
UNEXPECTED = "unexpected words: {words}"
WITHOUT_KEY = "this file names no key of newer ones: its author builds it with `mcpc release --sign KEY`"
WITHOUT_HTTP = "error: this file was built without HTTP support; build it with `mcpc build --http`\n"
