"""Sections H and X: many connections, slow ones, idle ones, and those whose client vanishes without a word.

Limits of time are cut to a second or two; with TESTS_FULL=1 they are what a server usually has, and numbers are full too.
"""

import contextlib
import os
import re
import resource
import socket
import statistics
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from faults import forms
from faults.client import STATELESS, require, resident, until
from faults.forms import PYTHON
from faults.framing import serves
from faults.site import END, Site, bytes_of
from faults.trial import FULL, Case, Lacking, Trial, within
from support.knocks import mirrors, stateless
from support.networks import SERVER, Network, ip, network
from support.slack import slack
from support.talking import answer, connect, everything, head, request, status_of

over_http = partial(Case, forms=(PYTHON,), eras=(STATELESS,), http=True)
LIMITS = ("head", "body", "write", "idle")
SHORT, LONGER = (() if FULL else tuple(f"--{name}-seconds={limit}" for name in LIMITS) for limit in (1, 3))
HALF_HEADS, IDLE = 200, 1000
SLOW = 200 if FULL else 40
CONNECTIONS, DESCRIPTORS = (10_000, 1024) if FULL else (600, 256)
STREAMS = 1000
COMMENT_SECONDS, VANISHED_SECONDS = (15.0, 40.0) if FULL else (0.5, 2.0)
MOST_SECONDS = 60.0
"""After so long, usually, a client that vanished has been noticed."""
MIB = 1 << 20
PROJECT = {
    "server.json": '{"serverInfo": {"name": "streams", "version": "1"}, "capabilities": {"tools": {"listChanged": true}}}',
    "tools.py": """from mcpc import Context, tool


@tool
def echo(text: str) -> str:
    \"\"\"Give the text back.\"\"\"
    return text


@tool
def say(text: str) -> str:
    \"\"\"Give the text back in brackets.\"\"\"
    return f"[{text}]"


@tool
def announce(ctx: Context) -> str:
    \"\"\"Say that the tools have changed.\"\"\"
    ctx.list_changed("tools")
    return "announced"
""",
}


def roomy(count: int) -> None:
    """See to it that this process may have so many descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        raise Lacking(f"it needs {count} descriptors, and the limit is {hard} (ulimit -Hn)")
    if soft != resource.RLIM_INFINITY and soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def descriptors(count: int) -> str:
    """Return what gives a server so many descriptors, before it starts."""
    return f"import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, ({count}, {count}))\n"


def slow_heads(trial: Trial) -> None:
    """200 clients send half a head: others are served, and these are told that they are too slow."""
    site = trial.serve(*SHORT)
    with ExitStack() as stack:
        began = time.monotonic()
        half = [stack.enter_context(closing(connect(site, MOST_SECONDS))) for _ in range(HALF_HEADS)]
        for connection in half:
            connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        took = serves(site)
        require({status_of(everything(connection)) for connection in half} == {408}, "not all had 408")
        trial.note = f"echo {took * 1000:.0f} ms, dropped after {within(site, 15 if FULL else 6, began):.1f} s"


def dripped(trial: Trial) -> None:
    """A head that comes byte by byte has no more time than another."""
    site = trial.serve(*SHORT)
    with connect(site, MOST_SECONDS) as connection:
        began = time.monotonic()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for byte in b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"x" * 1000:
                connection.sendall(bytes((byte,)))
                time.sleep(0.05)
        everything(connection)
        trial.note = f"{within(site, 15 if FULL else 6, began):.1f} s"


def idle_thousand(trial: Trial) -> None:
    roomy(IDLE + 200)
    site = trial.serve(before=descriptors(4096))
    with ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(closing(connect(site)))
        require(until(lambda: site.connections() >= IDLE, 5), site.connections(), "connections")
        trial.note = f"echo {serves(site) * 1000:.0f} ms"


class Drip:
    """Clients that send or take a byte at a time, until the server has ended them."""

    def __init__(self, site: Site, stack: ExitStack) -> None:
        self.site = site
        self.writers = [stack.enter_context(closing(connect(site))) for _ in range(SLOW)]
        self.readers = [stack.enter_context(closing(narrow(site))) for _ in range(SLOW)]
        for connection in self.writers:
            connection.sendall(head("say", 1000))
        for connection in self.readers:
            connection.sendall(request("flood", "Accept: application/json", mib=1, to="stdout"))
        self.most = 0
        for connection in self.readers:
            connection.settimeout(60)
            require(connection.recv(1), "no answer came")
            self.look()
        for connection in (*self.writers, *self.readers):
            connection.setblocking(False)

    def look(self) -> int:
        """Return how many are held; `most` is the most there ever were, because some end while others are answered."""
        found = self.site.connections()
        self.most = max(self.most, found)
        return found

    def tick(self) -> None:
        """Send a byte more, and take one."""
        for connection in self.writers:
            with contextlib.suppress(OSError):
                connection.send(b" ")
        for connection in self.readers:
            with contextlib.suppress(OSError):
                connection.recv(1)


def narrow(site: Site) -> socket.socket:
    """Return a connection whose system holds as little as it can of what comes."""
    where = urlsplit(site.url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((where.hostname, where.port))
    return connection


def slow(trial: Trial) -> None:
    """While bodies come, and answers are taken, a byte at a time, others have theirs at once; then the limits end it."""
    site = trial.serve(*LONGER)
    site.result("flood", mib=1, to="stdout")
    taken: list[float] = []
    with ExitStack() as stack:
        drip = Drip(site, stack)
        taken.append(serves(site))
        began, ticked = time.monotonic(), 0.0
        while (left := drip.look()) and time.monotonic() < began + (120 if FULL else 20):
            if time.monotonic() - ticked > 1:
                ticked = time.monotonic()
                drip.tick()
            taken.append(serves(site))
            time.sleep(0.02)
        require(not left, left, "connections are held")
        ended = time.monotonic() - began
    require(drip.most >= SLOW, "they were no burden:", drip.most)
    taken.sort()
    usual, rare = taken[len(taken) * 9 // 10], taken[len(taken) * 99 // 100]
    trial.note = f"{drip.most} held; {len(taken)} echoes: median {statistics.median(taken) * 1000:.1f}, 90 % {usual * 1000:.0f}, "
    trial.note += f"99 % {rare * 1000:.0f}, slowest {taken[-1] * 1000:.0f} ms; all ended after {ended:.0f} s"
    require(usual <= 0.1 * slack(), trial.note)  # the slowest are the machine's own where it has more to do


def slow_body(trial: Trial) -> None:
    site = trial.serve(*SHORT)
    with connect(site, MOST_SECONDS) as connection:
        connection.sendall(head("say", 1000) + b"{")
        serves(site)
        require(status_of(everything(connection)) == 408, "no 408")


def not_taken(trial: Trial) -> None:
    """A client asks for more than all buffers hold, twice, and reads nothing."""
    site = trial.serve(*SHORT)
    site.result("flood", mib=1, to="stdout")
    with closing(narrow(site)) as connection:
        connection.sendall(request("flood", mib=8, to="stdout") * 2)
        require(until(site.connections, 5), "it was not even there")
        began = time.monotonic()
        while site.connections() and time.monotonic() < began + MOST_SECONDS:
            serves(site)
            time.sleep(0.2)
        trial.note = f"{within(site, 45 if FULL else 6, began):.1f} s"


def idle(trial: Trial) -> None:
    """A connection without a request, and one after it: closed without a word."""
    site = trial.serve(*SHORT)
    with connect(site, 2 * MOST_SECONDS) as silent, connect(site, 2 * MOST_SECONDS) as connection:
        began = time.monotonic()
        connection.sendall(request("say", text="a"))
        require(answer(connection)[0] == 200, "no answer")
        require(everything(silent) == b"" and everything(connection) == b"", "it was told something")
        trial.note = f"{within(site, 62 if FULL else 4, began):.1f} s"
    serves(site)


def processor_time(site: Site) -> float:
    """Return the seconds of processor that the server's process has used."""
    fields = Path(f"/proc/{site.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def refusals(connections: list[socket.socket]) -> int:
    """Return how many connections were told that there is no room."""
    found = 0
    for connection in connections:
        connection.setblocking(False)
        with contextlib.suppress(BlockingIOError, ConnectionResetError):
            found += connection.recv(100).startswith(b"HTTP/1.1 503 ")
    return found


def too_many(trial: Trial) -> None:
    """More connections than descriptors: refused, without a loop that turns for nothing; then all is as before."""
    roomy(CONNECTIONS + 200)
    site = trial.serve(before=descriptors(DESCRIPTORS))
    with ExitStack() as stack:
        many = [stack.enter_context(closing(connect(site, 10))) for _ in range(CONNECTIONS)]
        time.sleep(0.5)
        before = processor_time(site)
        time.sleep(1)
        used = processor_time(site) - before
        require(used < 0.5, f"it spins: {used:.2f} s of a second")
        busy, held = refusals(many), site.connections()
    require(busy + held >= CONNECTIONS * 9 // 10 and 0 < held < DESCRIPTORS, f"{busy} refused, {held} held")
    require(until(lambda: not site.connections(), 3), "connections stay:", site.connections())
    serves(site)
    require(b"Traceback" not in site.errors, site.state())
    trial.note = f"{busy} had 503, {held} were held"


class Listener:
    """A client that listens for changes, and keeps what it hears."""

    def __init__(self, site: Site, number: int) -> None:
        message = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, number)
        self.connection = connect(site, 20)
        self.connection.sendall(bytes_of(message, *mirrors("subscriptions/listen")))
        self.heard = b""
        self.hears(b"acknowledged")

    def hears(self, word: bytes) -> None:
        """Wait until a word is heard."""
        while word not in self.heard:
            part = self.connection.recv(1 << 16)
            require(part, "the stream ended after", self.heard)
            self.heard += part
        self.heard = self.heard.partition(END)[2] if self.heard.startswith(b"HTTP/1.1 200 ") else self.heard

    def close(self) -> None:
        """Go, as clients do."""
        self.connection.close()


def listening(site: Site, stack: ExitStack) -> list[Listener]:
    return [stack.enter_context(closing(Listener(site, number))) for number in range(STREAMS)]


def between(stack: ExitStack) -> Network:
    """Make a network for as long as the stack lasts."""
    if not ip():
        raise Lacking("", "ip")
    try:
        return stack.enter_context(network())
    except (OSError, subprocess.CalledProcessError) as problem:
        said = getattr(problem, "stderr", None) or b""
        raise Lacking(f"no network can be made here, as only root can: {said.decode().strip() or problem}") from None


def apart(run: Callable[[Trial, Site, Callable[[bool], None]], None]) -> Callable[[Trial], None]:
    """Return a case in which the server is in another network, and a router between can stop passing things on."""

    def alone(trial: Trial) -> None:
        roomy(STREAMS + 200)
        artifact = forms.build_project(PROJECT, trial.builds, "streams", "--http")
        words = ["--open", "--allow-host", "127.0.0.1"]
        if not FULL:
            words += ["--comment-seconds", f"{COMMENT_SECONDS}", "--vanished-seconds", f"{VANISHED_SECONDS}"]
        with ExitStack() as stack:
            found = between(stack)
            stack.enter_context(found.inside("client"))
            where = {"address": f"{SERVER}:0", "prefix": found.prefix("server")}
            site = trial.serve(*words, artifact=artifact, before=descriptors(4096), **where)
            run(trial, site, found.passes)
            trial.finish()

    return alone


def flat(trial: Trial, site: Site, _: Callable[[bool], None]) -> None:
    """1,000 streams that say that they live cost nothing more the longer they do, and nothing when they have gone."""
    began = resident(site.pid)
    with ExitStack() as stack:
        streams = listening(site, stack)
        opened = resident(site.pid)
        time.sleep(6 * COMMENT_SECONDS)
        for stream in streams:
            stream.hears(b":\n\n")
        grown = resident(site.pid) - opened
        require(grown <= MIB, f"it grew by {grown / MIB:.1f} MiB while nothing was said")
        site.result("announce")
        for stream in streams:
            stream.hears(b"tools/list_changed")
    require(until(lambda: not site.connections(), 5), "connections stay:", site.connections())
    with ExitStack() as stack:
        listening(site, stack)
        again = resident(site.pid) - opened
    require(again <= 2 * MIB, f"the next {STREAMS} took {again / MIB:.1f} MiB more than the first")
    each = (opened - began) / STREAMS / 1024
    trial.note = f"{each:.0f} KiB a stream, {grown / 1024:+.0f} KiB with time, {again / 1024:+.0f} KiB for as many more"
    require(each <= 64, trial.note)


def vanish(trial: Trial, site: Site, passes: Callable[[bool], None]) -> None:
    """Packets are dropped from one moment on: the server notices by what nobody acknowledges, and forgets them all."""
    with ExitStack() as stack:
        listening(site, stack)
        first = resident(site.pid)
        passes(False)
        began = time.monotonic()
        wanted = MOST_SECONDS if FULL else COMMENT_SECONDS + VANISHED_SECONDS + 1
        require(until(lambda: not site.connections(), wanted), site.connections(), "connections are held")
        took = within(site, wanted, began)
    passes(True)
    serves(site)
    with ExitStack() as stack:
        listening(site, stack)
        again = resident(site.pid) - first
    require(again <= 2 * MIB, f"the next {STREAMS} took {again / MIB:.1f} MiB more than those that vanished")
    trial.note = f"noticed after {took:.1f} s; as many more took {again / 1024:+.0f} KiB"


def usually(trial: Trial) -> None:
    """What the built file says of its own limits adds up."""
    words = [*forms.command(trial.artifact), "serve", "--help"]
    said = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True).stdout
    found = {
        name: float(re.search(rf"--{name}-seconds SECONDS [^(]*\((\d+)\)", said)[1]) for name in ("comment", "vanished")
    }  # type: ignore[index]
    require(sum(found.values()) <= MOST_SECONDS, found)
    trial.note = f"{found['comment']:g} + {found['vanished']:g} s"


SCALE, LONGER_SCALE = ("usual limits",) * 2 if FULL else ("limits of 1 s", "limits of 3 s")
CASES = (
    over_http("H20", f"slowloris: {HALF_HEADS} half-open heads ({SCALE}): echo within 1 s, all dropped", slow_heads),
    over_http("H20b", f"a head byte by byte ({SCALE}): dropped as soon as any other", dripped),
    over_http("H21", f"{IDLE} idle connections: echo within 1 s", idle_thousand),
    over_http("X09", f"{SLOW} bodies at 1 byte/s and {SLOW} readers at 1 byte/s ({LONGER_SCALE}): echo within 100 ms, then closed", slow),
    over_http("X09b", f"a body that does not come ({SCALE}): 408", slow_body),
    over_http("X09c", f"16 MiB of answers that are not taken ({SCALE}): given up", not_taken),
    over_http("X09d", f"an idle connection ({SCALE}): closed", idle),
    over_http("X10", f"{CONNECTIONS} connections with RLIMIT_NOFILE {DESCRIPTORS}: 503, no spinning, recovers", too_many),
    over_http("X11", f"{STREAMS} streams listen (a comment each {COMMENT_SECONDS:g} s): memory flat", apart(flat)),
    over_http(
        "X11b",
        f"{STREAMS} clients vanish, packets dropped (limits {COMMENT_SECONDS:g} + {VANISHED_SECONDS:g} s): noticed, forgotten",
        apart(vanish),
    ),
    over_http("X11c", f"the usual limits add up to at most {MOST_SECONDS:g} s", usually),
)  # fmt: skip
