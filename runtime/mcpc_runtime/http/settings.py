"""The settings of the HTTP server: one table of fields, each with its type, default, option and help text.

Command line, environment variables and the help page are derived from it (`options.py`).  Settings do not change while
the server runs.  None of them is a secret: secrets are in files that settings name.

Environment variables that begin with MCPC_: the known ones, and warnings about any others at the start.

A misspelt variable has no effect.  If it is the one that names the tokens, the server is open, so that is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import NoReturn

from mcpc_runtime.artifact.start_options import OPTIONS as START_OPTIONS
from mcpc_runtime.artifact.start_options import StartOptions, read_start_options, variable_of
from mcpc_runtime.http import options
from mcpc_runtime.http.interfaces import Authenticator, CallObserver
from mcpc_runtime.http.memory_budget import MemoryBudget
from mcpc_runtime.http.options import DEFAULT_HOST, Option, Quota, flag, option
from mcpc_runtime.transports.platforms.system_features import most_descriptors

MIB = 1 << 20


class HttpSettings:
    """How one process serves over HTTP.

    Fields without an option are set by the server itself.  `listens`: an address was chosen; `port`: 0 for any free
    one; `vanished_seconds`: how long a client's system may acknowledge nothing; `decide_seconds`: when a response that
    is not ready becomes a stream; `resume_…`: limits of the events that are kept for clients that reconnect.
    """

    host: str = DEFAULT_HOST
    port: int = 0
    listens: bool = option(
        False,
        "--http [HOST:]PORT",
        options.parse_address,
        "where to listen; without a host, only this machine can connect",
    )
    path: str = option("/mcp", "--path PATH", options.parse_path, "the endpoint (/mcp)")
    url: str = option(
        "", "--url URL", options.parse_url, "how clients name the endpoint, if that is not what is seen here (a proxy)"
    )
    hosts: tuple[str, ...] = option(
        (), "--allow-host HOST", options.parse_host, "a Host that is answered, beside this machine's own names"
    )
    origins: tuple[str, ...] = option(
        (), "--allow-origin ORIGIN", options.parse_origin, "an Origin whose pages may call"
    )
    allowed_ips: tuple[str, ...] = option(
        (), "--allow-ip NETWORK", options.parse_network, "an address or a network that may ask (all may)"
    )
    proxies: tuple[str, ...] = option(
        (), "--trust-proxy NETWORK", options.parse_network, "a proxy whose X-Forwarded-For says who asks"
    )
    bx_path: str = option(
        "/~bxmcp/boxlang.bxm", "--bx-path PATH", options.parse_path, "bx-mcp's endpoint (/~bxmcp/boxlang.bxm)"
    )
    also: tuple[tuple[str, str], ...] = option(
        (), "--also PATH=FILE", options.parse_served_file, "another built server, under another path"
    )
    sse: bool = flag("--sse", "the HTTP+SSE transport of 2024-11-05 as well: /sse and /messages")
    token_file: str = option("", "--token-file FILE", options.parse_file, "who may call: bearer tokens")
    open: bool = flag("--open", "anybody may call, also from other machines")
    issuer: str = option("", "--issuer URL", options.parse_url, "the OAuth authorization server whose tokens are taken")
    audience: str = option(
        "", "--audience URL", options.parse_text, "what those tokens must be for (the endpoint's --url)"
    )
    jwks: str = option("", "--jwks URL|FILE", options.parse_text, "the keys that sign them")
    algorithms: tuple[str, ...] = option(
        (), "--algorithm NAME", options.parse_text, "how they may be signed (RS256, ES256, EdDSA)"
    )
    scopes: tuple[str, ...] = option(
        (), "--scope SCOPE", options.parse_text, "what each must grant; TOOLS=SCOPE: for these tools; SCOPE>IMPLIED"
    )
    introspect: str = option(
        "", "--introspect URL", options.parse_url, "where tokens are asked about (RFC 7662), instead of keys"
    )
    introspect_client_file: str = option(
        "", "--introspect-client FILE", options.parse_file, "a file with this server's ID:SECRET there"
    )
    state_keys_file: str = option(
        "", "--state-keys-file FILE", options.parse_file, "keys that all replicas share, one a line"
    )
    tasks: str = option(
        "", "--tasks URL", options.parse_text, "where tasks are kept: sqlite:FILE, redis://HOST, memory:"
    )
    events: str = option("", "--events URL", options.parse_text, "what carries changes between replicas: redis://HOST")
    has_page: bool = flag("--ui", "a page at /ui/ on which people call this server")
    has_metrics: bool = flag("--metrics", "Prometheus metrics at /metrics")
    has_spans: bool = flag("--otel", "OpenTelemetry spans, as OTEL_… variables say")
    body_limit: int = option(18 * MIB, "--body-limit BYTES", options.parse_number, "the longest request (18 MiB)")
    budget: MemoryBudget = option(
        MemoryBudget(),
        "--memory-limit SIZE",
        options.parse_budget,
        "what clients may make the server keep, in all (512M)",
    )
    quotas: tuple[Quota, ...] = option(
        (), "--quota [TOOL=]N/PERIOD", options.parse_quota, "tool calls of one caller, such as 60/min or search=10/h"
    )
    max_connections: int = option(
        0, "--max-connections NUMBER", options.parse_number, "connections at once (as ulimit -n has room)"
    )
    grace_seconds: float = option(
        10.0, "--grace SECONDS", options.parse_seconds, "what running calls have when the server is stopped (10)"
    )
    session_seconds: float = option(
        3600.0, "--session-ttl SECONDS", options.parse_seconds, "after which an idle session is forgotten (3600)"
    )
    header_seconds: float = option(
        10.0, "--head-seconds SECONDS", options.parse_seconds, "for the head of a request (10)"
    )
    body_seconds: float = option(
        30.0, "--body-seconds SECONDS", options.parse_seconds, "for the body of a request (30)"
    )
    write_seconds: float = option(
        30.0, "--write-seconds SECONDS", options.parse_seconds, "for a client to take what was sent (30)"
    )
    idle_seconds: float = option(
        60.0, "--idle-seconds SECONDS", options.parse_seconds, "that a connection may be idle (60)"
    )
    comment_seconds: float = option(
        15.0, "--comment-seconds SECONDS", options.parse_seconds, "between two signs of life on a stream (15)"
    )
    vanished_seconds: float = option(
        40.0,
        "--vanished-seconds SECONDS",
        options.parse_seconds,
        "after which a client that acknowledges nothing has gone (40)",
    )
    head_limit: int = 32 * 1024
    max_streams: int = 4096
    max_sessions: int = 4096
    decide_seconds: float = 1.0
    retry_ms: int = 1000
    resume_events: int = 256
    resume_bytes: int = MIB
    resume_seconds: float = 300.0
    authenticator: Authenticator | None = None
    spans: CallObserver | None = None
    start: StartOptions = StartOptions()

    @property
    def is_loopback(self) -> bool:
        """Tell whether only this machine can connect."""
        if self.host in ("localhost", "::1"):
            return True
        parts = self.host.split(".")  # a name may begin with 127, and be any machine's
        is_address = len(parts) == 4 and all(part.isascii() and part.isdigit() and int(part) < 256 for part in parts)
        return is_address and parts[0] == "127"

    def __init__(self, **values: object) -> None:
        unknown = values.keys() - DEFAULTS.keys()
        if unknown:
            raise TypeError(f"no setting is called {sorted(unknown)[0]!r}")
        self.__dict__.update({**DEFAULTS, "budget": MemoryBudget(), **values})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} cannot be changed: settings are constant")

    def but(self, **changed: object) -> HttpSettings:
        """Return the same settings with some changed."""
        return HttpSettings(**{**vars(self), **changed})


OPTIONS = {value.name: value for value in vars(HttpSettings).values() if isinstance(value, Option)}
"""The options by their names, in the order of the help page."""
DEFAULTS: dict[str, object] = {
    name: value.default if isinstance(value, Option) else value
    for name, value in vars(HttpSettings).items()
    if not name.startswith("_") and not callable(value) and not isinstance(value, property)
}


def settings_from(arguments: list[str], environment: Mapping[str, str]) -> HttpSettings:
    """Return the settings that arguments and environment variables give; an argument overrides a variable."""
    start, others = read_start_options(arguments, environment)
    values = {**options.parse_environment(OPTIONS, environment), **options.parse_arguments(OPTIONS, others)}
    return HttpSettings(**values, start=start)


PREFIX = "MCPC_"
READ = frozenset(
    (
        "MCPC_BUILT_FROM",
        "MCPC_CALL_LOG",
        "MCPC_CALL_LOG_VALUES",
        "MCPC_INTROSPECT_CREDENTIALS",
        "MCPC_LOG_REQUESTS",
        "MCPC_RUNTIME_CACHE",
        "MCPC_SETTINGS_FILE",
        "MCPC_STARTED_BY_UV",
        "MCPC_STATE_KEYS",
        "MCPC_TASKS_LEASE",
        "MCPC_TOKENS",
        "MCPC_TOOLBOX_HOME",
        "MCPC_TOOLBOX_LOG",
        "MCPC_USE_UV",
        "MCPC_WITHOUT",
    )
)
"""Variables that the runtime reads, besides those of options."""
GIVEN = frozenset(
    (
        "MCPC_ADDRESSES",
        "MCPC_ANSWERS",
        "MCPC_CALL",
        "MCPC_CHILDREN",
        "MCPC_FILES",
        "MCPC_NOTES",
        "MCPC_NOTE_PREFIX",
        "MCPC_PYTHON",
        "MCPC_TOOL",
        "MCPC_URI",
    )
)
"""Variables of handlers: a server that a handler starts inherits them."""
COMPILER = frozenset(("MCPC_CACHE_DIR", "MCPC_TRACEBACK"))
GUARDS = frozenset(("MCPC_ISSUER", "MCPC_TOKENS", "MCPC_TOKEN_FILE"))
"""Variables that configure tokens; without any of them no token is needed."""


def known_variables() -> frozenset[str]:
    """Return the names of known variables."""
    options = (*(option.variable for option in OPTIONS.values()), *map(variable_of, START_OPTIONS))
    return READ | GIVEN | COMPILER | frozenset(options)


def unknown_variables(environment: Iterable[str], *, guarded: bool) -> Iterator[str]:
    """Yield warnings about unknown variables; `guarded`: tokens are configured."""
    names = known_variables()
    for name in sorted(name for name in environment if name.startswith(PREFIX) and name not in names):
        # Variables of handlers are known, but nobody means to set them.
        near: list[str] = get_close_matches(name, sorted(names - GIVEN), 1)
        printable = "".join(letter if letter.isprintable() else "?" for letter in name)
        yield f"the variable {printable} means nothing to this server{f'; did you mean {near[0]}?' if near else ''}"
        if not guarded and near and near[0] in GUARDS:
            yield f"so no token is asked for: everybody who can connect may call (meant to be closed? set {near[0]})"


RESERVED = 64
"""Descriptors for the server itself; another quarter of all is for calls."""
UNLIMITED = 1 << 20


def most_connections(settings: HttpSettings) -> int:
    """Return how many connections there may be at once."""
    if settings.max_connections:
        return settings.max_connections
    most = most_descriptors()
    return max(16, most - most // 4 - RESERVED) if most else UNLIMITED
