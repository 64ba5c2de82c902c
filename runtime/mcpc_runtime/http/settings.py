"""What the person who serves over HTTP may choose: every field has a value, and none changes once serving began.

`words.py` has the words and variables that set them.  No secret is among them: those lie in files that are named here.
"""

from __future__ import annotations

from mcpc_runtime.http.memory_budget import USUAL_LIMIT, MemoryBudget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

MIB = 1 << 20
DEFAULTS: dict[str, Any] = {
    "host": "127.0.0.1",
    "port": 0,
    "listens": False,
    "path": "/mcp",
    "url": "",
    "hosts": (),
    "origins": (),
    "open": False,
    "sse": False,
    "also": (),
    "allowed_ips": (),
    "proxies": (),
    "bx_path": "/~bxmcp/boxlang.bxm",
    "token_file": "",
    "issuer": "",
    "audience": "",
    "jwks": "",
    "algorithms": (),
    "scopes": (),
    "introspect": "",
    "introspect_client_file": "",
    "state_keys_file": "",
    "tasks": "",
    "events": "",
    "has_metrics": False,
    "has_spans": False,
    "authenticator": None,
    "metrics": None,
    "spans": None,
    "memory_limit": USUAL_LIMIT,
    "budget": None,
    "body_limit": 18 * MIB,
    "head_limit": 32 * 1024,
    "max_connections": 0,
    "max_streams": 4096,
    "header_seconds": 10.0,
    "body_seconds": 30.0,
    "write_seconds": 30.0,
    "idle_seconds": 60.0,
    "vanished_seconds": 40.0,
    "grace_seconds": 10.0,
    "decide_seconds": 1.0,
    "comment_seconds": 15.0,
    "retry_ms": 1000,
    "session_seconds": 3600.0,
    "max_sessions": 4096,
    "resume_events": 256,
    "resume_bytes": MIB,
    "resume_seconds": 300.0,
}


class Settings:
    """How one process serves over HTTP.

    Where: `host` and `port` listen (0: any free one; `listens`: they were chosen), `path` is the endpoint's, `url` how
    clients name it if that is not what we see (a proxy), `also` more servers, each (path, file).  Who: `hosts` and
    `origins` are taken beside those of loopback, `open` says that no token is needed off loopback;
    `authenticator.check` decides if it is there.
    `allowed_ips` are the networks that may ask at all, everybody if there is none; `proxies` are those of whose
    X-Forwarded-For is believed who asks.  `sse`: the transport of 2024-11-05 as well, at /sse and /messages; `bx_path`:
    the path of bx-mcp's endpoint, if the server was written for it.

    Limits, in bytes, numbers and seconds: `memory_limit` of all that clients make us keep (`budget` counts it);
    `body_limit`, `head_limit`; `max_connections` (0: what the system's limit of
    descriptors leaves room for); the time for a request's head and its body, for a write to be taken, and that a
    connection may be idle; `vanished_seconds` after which a client whose system acknowledges nothing has gone;
    `grace_seconds` are those that running calls have when the server is stopped;
    `decide_seconds` after which an answer becomes a stream; `comment_seconds` between two signs of life on it.
    `session_seconds`, `max_sessions`: of what is kept of legacy sessions; `resume_…`: of what streams can be resumed.
    """

    __slots__ = tuple(DEFAULTS)
    host: str
    port: int
    listens: bool
    path: str
    url: str
    hosts: tuple[str, ...]
    origins: tuple[str, ...]
    open: bool
    sse: bool
    also: tuple[tuple[str, str], ...]
    allowed_ips: tuple[str, ...]
    proxies: tuple[str, ...]
    bx_path: str
    token_file: str
    issuer: str
    audience: str
    jwks: str
    algorithms: tuple[str, ...]
    scopes: tuple[str, ...]
    introspect: str
    introspect_client_file: str
    state_keys_file: str
    tasks: str
    events: str
    has_metrics: bool
    has_spans: bool
    authenticator: Any
    metrics: Any
    spans: Any
    memory_limit: int
    budget: MemoryBudget
    body_limit: int
    head_limit: int
    max_connections: int
    max_streams: int
    header_seconds: float
    body_seconds: float
    write_seconds: float
    idle_seconds: float
    vanished_seconds: float
    grace_seconds: float
    decide_seconds: float
    comment_seconds: float
    retry_ms: int
    session_seconds: float
    max_sessions: int
    resume_events: int
    resume_bytes: int
    resume_seconds: float

    def __init__(self, **given: Any) -> None:
        unknown = given.keys() - DEFAULTS.keys()
        if unknown:
            raise TypeError(f"no setting is called {sorted(unknown)[0]!r}")
        for name, usual in DEFAULTS.items():
            object.__setattr__(self, name, given.get(name, usual))
        if given.get("budget") is None:
            object.__setattr__(self, "budget", MemoryBudget(self.memory_limit))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} was settled when serving began")

    def but(self, **changed: Any) -> Settings:
        """Return the same settings with some changed."""
        return Settings(**{**{name: getattr(self, name) for name in DEFAULTS}, **changed})

    @property
    def is_loopback(self) -> bool:
        """Tell whether only this machine can connect."""
        if self.host in ("localhost", "::1"):
            return True
        parts = self.host.split(".")  # a name may begin with 127, and be any machine's
        is_address = len(parts) == 4 and all(part.isascii() and part.isdigit() and int(part) < 256 for part in parts)
        return is_address and parts[0] == "127"
