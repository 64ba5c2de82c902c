"""The command `top`: its options, one frame for pipes and programs, and the terminal.

`mcpc top` is the same command; both read their options here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from time import time
from typing import NamedTuple

from mcpc_runtime.tools.cli.command_line import SUCCESS, USAGE
from mcpc_runtime.tools.cli.printing import put_json
from mcpc_runtime.tools.cli.top import messages
from mcpc_runtime.tools.cli.top.connection import (
    Address,
    MetricsConnection,
    UnreachableError,
    UnusableAddressError,
    address_of,
    read_token,
)
from mcpc_runtime.tools.cli.top.display import Choices, Display, read_metrics
from mcpc_runtime.tools.cli.top.frame import SORTS, View, frame, painted
from mcpc_runtime.tools.cli.top.measures import Overview, Reading, overview
from mcpc_runtime.transports.platforms.terminals import terminal_size

NO_ANSWER = 4
HELPS = ("--help", "-h")
FLAGS = {"--once": "once", "--json": "is_json"}
VALUES = {"--token-file": "token_file", "--interval": "interval", "--sort": "sort"}
LEAST_INTERVAL, MOST_INTERVAL = 0.2, 3600.0


class TopOptions(NamedTuple):
    """The options of the command."""

    address: str = ""
    token_file: str = ""
    interval: str = "2"
    sort: str = "rate"
    once: bool = False
    is_json: bool = False


class InvalidOptionError(Exception):
    """The command line is invalid; the message says what was expected."""


def command(program: str, words: Sequence[str]) -> int:
    """Run the command with its words; return the exit status."""
    if any(word in HELPS for word in words):
        sys.stdout.write(messages.USAGE.format(program=program, columns=", ".join(SORTS)))
        return SUCCESS
    try:
        return run(read_options(words))
    except (InvalidOptionError, UnusableAddressError) as problem:
        sys.stderr.write(f"error: {problem}\n")
        return USAGE
    except UnreachableError as problem:
        sys.stderr.write(f"error: {problem}\n")
        return NO_ANSWER


def read_options(words: Sequence[str]) -> TopOptions:
    """Return the options of a command line; raise InvalidOptionError."""
    found: dict[str, object] = {}
    todo = list(words)
    while todo:
        name, equals, value = todo.pop(0).partition("=")
        if name in FLAGS and not equals:
            found[FLAGS[name]] = True
        elif name in VALUES:
            if not equals and not todo:
                raise InvalidOptionError(messages.VALUE_MISSING.format(option=name))
            found[VALUES[name]] = value if equals else todo.pop(0)
        elif name.startswith("-") or "address" in found:
            raise InvalidOptionError(messages.UNEXPECTED.format(words=name))
        else:
            found["address"] = f"{name}{equals}{value}"
    return TopOptions(**found)  # type: ignore[arg-type]


def run(options: TopOptions) -> int:
    """Show a server once, or until a key ends it; raise what the messages are made of."""
    if not options.address:
        raise InvalidOptionError(messages.ADDRESS_MISSING)
    interval = interval_of(options.interval)
    if options.sort not in SORTS:
        raise InvalidOptionError(messages.BAD_COLUMN.format(value=options.sort, columns=", ".join(SORTS)))
    is_once = options.once or options.is_json
    if not is_once and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidOptionError(messages.NO_TERMINAL)
    address = address_of(options.address)
    connection = MetricsConnection(address, read_token(options.token_file) if options.token_file else "")
    try:
        first = read_metrics(connection)
        if is_once:
            put_once(first, address, options)
        else:
            Display(connection, Choices(address.url, interval, options.sort, has_colours()), first).run()
    finally:
        connection.close()
    return SUCCESS


def put_once(reading: Reading, address: Address, options: TopOptions) -> None:
    """Print one frame, or its values as JSON."""
    seen = overview(reading, None, time())
    if options.is_json:
        put_json(as_json(seen, address))
        return
    columns = terminal_size()[0]
    view = View(seen, address.url, options.sort, is_interactive=False)
    lines = (painted(line, has_colours=has_colours()) for line in frame(view, columns, 0))
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))


def as_json(seen: Overview, address: Address) -> dict[str, object]:
    """Return the measures as JSON: times in seconds, sizes in bytes, rates a second."""
    values = seen._asdict()
    values["url"] = address.url
    values["rows"] = [row._asdict() for row in seen.rows]
    return values


def interval_of(value: str) -> float:
    """Return the seconds between two readings; raise InvalidOptionError."""
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not LEAST_INTERVAL <= seconds <= MOST_INTERVAL:
        raise InvalidOptionError(messages.BAD_INTERVAL.format(value=value, least=LEAST_INTERVAL, most=MOST_INTERVAL))
    return seconds


def has_colours() -> bool:
    """Tell whether standard output shows colours (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
