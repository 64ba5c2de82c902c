"""The measures as lines of text for a screen of any size: a function of values, without a terminal.

A line is a list of pieces, each with a style; names of a server are escaped, so that they cannot move the cursor.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mcpc_runtime.tools.cli.printing import printable
from mcpc_runtime.tools.cli.top import messages
from mcpc_runtime.tools.cli.top.measures import CallRow, Overview

Line = list[tuple[str, str]]
"""Pieces: text and style."""


STYLES = {"bold": "1", "faint": "2", "bad": "31", "good": "32"}
PLAIN = ""
MIN_NAME, MIN_COLUMNS = 12, 40
KIND_WIDTH = 11
COLUMNS = (("calls", 9), ("/s", 8), ("run", 5), ("errors", 7), ("p50", 7), ("p95", 7), ("p99", 7))
LEAST_NEEDED = ("p99", "p50", "run", "/s", "p95")
"""Columns that a narrow screen does not have, in this order."""
WIDE = ("W", "F")
MINUTE, HOUR, DAY = 60, 3600, 86400
THOUSAND, MILLION = 1e3, 1e6
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SORTS: dict[str, Callable[[CallRow], tuple[object, ...]]] = {
    "rate": lambda row: (-row.rate, -row.calls, row.name),
    "name": lambda row: (row.name, row.kind),
    "calls": lambda row: (-row.calls, row.name),
    "errors": lambda row: (-row.errors, -row.calls, row.name),
    "time": lambda row: (-(row.p95 or 0.0), -row.calls, row.name),
}
"""The orders of the rows, by the name of the column."""


class View(NamedTuple):
    """What is drawn: the measures, where they come from, the order, and a remark such as an error."""

    overview: Overview
    url: str
    sort: str
    remark: str = ""
    is_interactive: bool = True


def frame(view: View, columns: int, lines: int) -> list[Line]:
    """Return the lines of a screen; `lines` 0: as many as there are rows."""
    columns = max(columns, MIN_COLUMNS)
    top = [*head(view, columns), []]
    rows = sorted(view.overview.rows, key=SORTS[view.sort])
    footer: list[Line] = [[(messages.KEYS, "faint")]] if view.is_interactive else []
    if view.remark:
        footer.insert(0, [(printable(view.remark), "bad")])
    room = max(0, lines - len(top) - len(footer) - 1) if lines else len(rows)
    body = [row_line(row, columns) for row in rows[:room]] or [[(messages.NO_CALLS, "faint")]]
    table = [header(columns), *body]
    blank: list[Line] = [[]] * max(0, lines - len(top) - len(table) - len(footer))
    return [cut(line, columns) for line in (*top, *table, *blank, *footer)][: lines or None]


def head(view: View, columns: int) -> Iterator[Line]:
    """Yield the lines about the process."""
    seen, gauges = view.overview, view.overview.gauges
    uptime = "" if seen.uptime is None else f"up {duration(seen.uptime)}"
    title = [(printable(seen.server or "server"), "bold"), (f"  {view.url}", PLAIN)]
    yield [*title, (uptime.rjust(columns - line_width(title)), PLAIN)]
    yield [
        (f"requests {count(seen.requests)}  {rate(seen.request_rate)}/s", PLAIN),
        gauge(gauges, "mcpc_requests_in_flight", "  {} in flight"),
        (f"  {count(seen.refused)} refused", "bad" if seen.refused else PLAIN),
        gauge(gauges, "mcpc_sessions", "  sessions {}"),
        gauge(gauges, "mcpc_streams", "  streams {}"),
    ]
    running = sum(row.running for row in seen.rows)
    yield [
        (f"calls {count(seen.calls)}  {rate(seen.call_rate)}/s  {count(running)} running", PLAIN),
        gauge(gauges, "mcpc_calls_waiting", "  {} waiting"),
        (f"  {count(seen.errors)} errors", "bad" if seen.errors else PLAIN),
    ]
    yield [
        gauge(gauges, "process_resident_memory_bytes", "memory {}  ", size),
        gauge(gauges, "mcpc_handler_processes", "workers {}"),
        gauge(gauges, "mcpc_handler_memory_bytes", " ({})", size),
        gauge(gauges, "mcpc_memory_charged_bytes", "  budget {}", size),
        gauge(gauges, "mcpc_memory_limit_bytes", " of {}", size),
    ]


def header(columns: int) -> Line:
    """Return the names of the columns."""
    name = "name".ljust(name_width(columns))
    titles = "".join(f"{title:>{width}}" for title, width in fitting_columns(columns))
    return [(f"{'kind':<{KIND_WIDTH}}{name}{titles}", "bold")]


def row_line(row: CallRow, columns: int) -> Line:
    """Return a row of the table."""
    width = name_width(columns)
    name = cut([(printable(row.name), PLAIN)], width - 1)[0][0] if row.name else ""
    texts = {
        "calls": count(row.calls),
        "/s": rate(row.rate),
        "run": count(row.running),
        "errors": count(row.errors),
        "p50": seconds(row.p50),
        "p95": seconds(row.p95),
        "p99": seconds(row.p99),
    }
    pieces: Line = [(f"{row.kind:<{KIND_WIDTH}}{name}{' ' * (width - width_of(name))}", PLAIN)]
    for title, room in fitting_columns(columns):
        pieces.append((texts[title].rjust(room), "bad" if title == "errors" and row.errors else PLAIN))
    return pieces


def fitting_columns(columns: int) -> list[tuple[str, int]]:
    """Return the columns that a screen has room for, each with its width."""
    found = list(COLUMNS)
    for title in LEAST_NEEDED:
        if KIND_WIDTH + MIN_NAME + sum(width for _, width in found) <= columns:
            break
        found = [column for column in found if column[0] != title]
    return found


def name_width(columns: int) -> int:
    """Return the room for names."""
    return max(MIN_NAME, columns - KIND_WIDTH - sum(width for _, width in fitting_columns(columns)))


def gauge(gauges: object, name: str, template: str, text: Callable[[float], str] | None = None) -> tuple[str, str]:
    """Return a gauge as a piece, an empty one if the server does not tell it."""
    value = gauges.get(name) if isinstance(gauges, dict) else None
    return ("" if value is None else template.format((text or count)(value)), PLAIN)


def cut(line: Line, columns: int) -> Line:
    """Return a line that is not wider than some columns."""
    found: Line = []
    left = columns
    for text, style in line:
        if width_of(text) > left:
            text = shortened(text, left)
        found.append((text, style))
        left -= width_of(text)
    return found


def shortened(text: str, columns: int) -> str:
    """Return the beginning of a text, with a sign at its end."""
    while text and width_of(text) > columns - 1:
        text = text[: min(len(text) - 1, max(columns, 1))]
    return f"{text}~" if columns > 0 else ""


def width_of(text: str) -> int:
    """Return the columns of a text on a terminal."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(each) in WIDE else not unicodedata.combining(each) for each in text)


def line_width(line: Line) -> int:
    """Return the columns of a line."""
    return sum(width_of(text) for text, _ in line)


def painted(line: Line, *, has_colours: bool) -> str:
    """Return a line as text, with escape sequences for its styles."""
    if not has_colours:
        return "".join(text for text, _ in line)
    return "".join(f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style and text else text for text, style in line)


def count(value: float) -> str:
    """Return a number of things: with commas, and with a letter for millions."""
    return f"{int(value):,}" if value < 10 * MILLION else f"{value / MILLION:,.0f}M"


def rate(value: float) -> str:
    """Return a number a second."""
    return f"{value:.1f}" if value < THOUSAND else f"{value:,.0f}"


def seconds(value: float | None) -> str:
    """Return a time, of three digits or so."""
    if value is None:
        return "-"
    if value < 0.1:
        return f"{value * THOUSAND:.1f}ms"
    if value < 1:
        return f"{value * THOUSAND:.0f}ms"
    return f"{value:.1f}s" if value < 100 else f"{value:.0f}s"


def size(value: float) -> str:
    """Return a number of bytes, with the letters that `--memory-limit` takes."""
    if value < MIB:
        return f"{value / KIB:.0f}K"
    return f"{value / MIB:.0f}M" if value < GIB else f"{value / GIB:.1f}G"


def duration(value: float) -> str:
    """Return how long something has lasted, in its two largest units."""
    if value < MINUTE:
        return f"{value:.0f}s"
    if value < HOUR:
        return f"{value // MINUTE:.0f}m {value % MINUTE:.0f}s"
    if value < DAY:
        return f"{value // HOUR:.0f}h {value % HOUR // MINUTE:.0f}m"
    return f"{value // DAY:.0f}d {value % DAY // HOUR:.0f}h"
