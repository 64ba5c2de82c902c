"""Print results on standard output, and progress and log messages on standard error.

A pipe receives the exact bytes of a text; for a terminal, control characters are escaped.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from typing import Any, TextIO

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
        text = "".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text)
    sys.stdout.write(f"{text}\n")


def put_notification(message: Object) -> None:
    """Print progress or a log message immediately; without a reader it is lost, and the call continues."""
    row = NOTIFICATIONS.get(message["method"])
    if row is not None:
        try:
            sys.stderr.write(f"{printable(row(message.get('params', {})))}\n")
            sys.stderr.flush()
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
            sys.stdout.flush()
            sys.stdout.buffer.write(data)


def put_messages(result: Object) -> None:
    """Print the messages of a prompt, each below its role."""
    texts = (f"{message['role']}:\n{block_text(message['content'])}\n" for message in result["messages"])
    put_text("\n".join(texts))


def put_values(result: Object) -> None:
    """Print the completions of an argument, one per line."""
    sys.stdout.write("".join(f"{printable(value)}\n" for value in result["completion"]["values"]))
