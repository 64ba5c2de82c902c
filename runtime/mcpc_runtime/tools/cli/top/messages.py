"""Help page and messages of `top`, as templates."""

from __future__ import annotations

USAGE = """\
Usage: {program} top ADDRESS [OPTIONS]

Show what a running server does: calls, rates, times, errors, workers and memory.
ADDRESS: PORT, HOST:PORT, or the server's URL. It has to be served with --metrics.

Options:
  --token-file FILE    send the bearer token in this file (mode 0600)
  --interval SECONDS   time between two readings (2)
  --sort COLUMN        order of the rows: {columns} (rate)
  --once               print the measures once, and exit
  --json               the same as JSON

Keys: q quits; r, n, c, e, t order by rate, name, calls, errors, time (p95); space pauses.
"""
KEYS = "q quit  sort: r rate  n name  c calls  e errors  t time  space pause"
BAD_COLUMN = "`{value}` is not a column; expected one of {columns}"
BAD_INTERVAL = "`{value}` is not a time; expected {least:g} to {most:g} seconds"
ADDRESS_MISSING = "top needs the address of a server, such as 8000 or https://host/mcp"
NOT_A_TOKEN = "{path} is not a token: expected one line without spaces"
NO_ADDRESS = "`{text}` is not an address; expected PORT, HOST:PORT, or an http or https URL without a user"
NO_METRICS = "{url} has no metrics: serve with --metrics"
NO_TERMINAL = "this is not a terminal; use --once"
NO_TOKEN = "{path} cannot be read: {why}"
OTHER_STATUS = "{url} answers with status {status}"
SHARED_TOKEN = "{path} can be read by other users (its mode is {mode}); chmod 600 fixes that"
TOKEN_NEEDED = "{url} wants a token: use --token-file FILE"
TOKEN_REFUSED = "{url} refuses: metrics need a token that may call every tool"
UNEXPECTED = "unexpected {words}"
UNREACHABLE = "{url} does not answer: {why}"
UNSAFE = "a token is not sent to {host} without encryption; use an https address, or a tunnel to 127.0.0.1"
VALUE_MISSING = "{option} needs a value"
PAUSED = "paused"
NO_CALLS = "no call yet"
