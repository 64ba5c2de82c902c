"""Section H: one request over HTTP at a time, who sends it and what it says, and calls whose client goes away."""

import json
import signal
import time
from functools import partial
from typing import Any

from faults import documents, handlers
from faults.client import HANDSHAKE, STATELESS, good, require, text, until
from faults.conversation import sleeping
from faults.forms import APART, FORMS, PYTHON
from faults.handlers import still_serving, stubborn
from faults.site import Answer, Site
from faults.trial import FULL, Case, Trial, within
from support.knocks import ACCEPTED, HOSTS, LEGACY, ORIGINS, TYPES, mirrors, request, stateless

over_http = partial(Case, http=True)
SESSIONS = 64
BITS_OF_A_CHARACTER = 6
INITIALIZE = request(
    "initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "faults", "version": "1"}}
)


def conversation(trial: Trial) -> None:
    """A client of either era lists and calls, and what comes is right."""
    site = trial.start()
    require([tool["name"] for tool in good(site.ask("tools/list"))["tools"]], "no tools")
    require(text(site.result("say", text="hello")) == "[hello]", "say")
    still_serving(site)
    require(site.status is None, site.state())


def names(wanted: tuple[int, ...], *hosts: str) -> Any:
    """Return a case: requests under a name are answered with the status of the table; `hosts`: those alone."""

    def run(trial: Trial) -> None:
        site = trial.shared()
        port = site.root.rpartition(":")[2]
        rows = [(host, status) for chosen, host, status in HOSTS if not chosen and (not hosts or host in hosts)]
        rows += [(f"{host}:{port}", status) for host, status in rows if host and ":" not in host]
        for host, status in rows:
            if status in wanted:
                answer = site.ordinary(("host", host))
                require(answer.status == (status or 200), host, "was", answer.status)
                require(bool(status) != (b'"tools"' in answer.body), host, answer.body)
        trial.note = f"{len(rows)} names"

    return run


def origins(trial: Trial) -> None:
    """Pages of others are refused before anything else, whatever they ask."""
    site = trial.shared()
    for _, host, origin, status in [row for row in ORIGINS if not row[0] and row[3]]:
        for method in ("POST", "GET", "OPTIONS", "DELETE"):
            answer = site.ordinary(("host", host), ("origin", origin), method=method)
            require(answer.status == status, method, origin, "was", answer.status)
            require(not [name for name in answer.headers if name.startswith("access-control")], answer.headers)


def own_origins(trial: Trial) -> None:
    site = trial.shared()
    for _, host, origin, _status in [row for row in ORIGINS if not row[0] and not row[3]]:
        require(site.ordinary(("host", host), ("origin", origin)).status == 200, origin)


def types(trial: Trial) -> None:
    """What a page could send without being asked for leave is not taken, and begins no session."""
    site = trial.shared()
    for kind, status in TYPES:
        answer = site.knock(INITIALIZE, ("content-type", kind))
        require(answer.status == status, kind, "was", answer.status)
        require(("mcp-session-id" in answer.headers) is (status == 200), kind, answer.headers)


def accepted(trial: Trial) -> None:
    site = trial.shared()
    for kinds, found in ACCEPTED:
        answer = site.ordinary(("accept", kinds))
        require((answer.status, answer.headers["content-type"]) == (200, found), kinds, "was", answer.headers)
        require(answer.message["result"]["tools"], kinds)


def say(site: Site, body: Any, *headers: tuple[str, str]) -> Answer:
    """Post a body as a client of the server's era does."""
    return site.knock(body, *(site.names if site.era == HANDSHAKE else mirrors("tools/list")), *headers)


def bad_json(trial: Trial) -> None:
    site = trial.shared()
    for document in documents.REFUSED:
        answer = say(site, document)
        require((answer.status, answer.code) == (400, -32700), document, "was", answer.status, answer.body)
    trial.note = f"{len(documents.REFUSED)} bodies"


def batch(trial: Trial) -> None:
    site = trial.shared()
    one = request("ping") if site.era == HANDSHAKE else stateless("tools/list")
    for body in ([one], [one, one], []):
        answer = say(site, body)
        require((answer.status, answer.code) == (400, -32600), answer.status, answer.body)


def made_up_sessions(trial: Trial) -> None:
    """Nothing that was not given out is a session: made up, or a good one with a character changed."""
    site = trial.shared()
    good_one = site.session
    changed = [good_one[:place] + ("A" if good_one[place] != "A" else "B") + good_one[place + 1 :]
               for place in range(len(good_one))]  # fmt: skip
    for token in (
        "made-up",
        "",
        "A" * 5000,
        "../..",
        "1",
        good_one[:-1],
        good_one + "A",
        good_one.swapcase(),
        *changed,
    ):
        answer = site.knock(request("ping"), ("mcp-session-id", token))
        require(answer.status == 404, token, "was", answer.status)
    for method, statuses in (("GET", (404, 405)), ("DELETE", (404,))):
        require(site.knock(b"", ("mcp-session-id", "made-up"), method=method).status in statuses, method)
        require(site.knock(b"", method=method).status in (400, 405), method)
    require(site.knock(request("ping")).status == 400, "no session")
    require(say(site, request("ping")).status == 200, "its own session has gone")


def random_sessions(trial: Trial) -> None:
    """An id is never what a client says, never the same twice, and differs in more places than 128 bits need."""
    site = trial.shared()
    found = []
    for number in range(SESSIONS):
        chosen = f"chosen-{number}" if number % 2 else site.session
        answer = site.knock(INITIALIZE, ("mcp-session-id", chosen))
        require(answer.status == 200, answer.status)
        found.append(answer.headers["mcp-session-id"])
        require(found[-1] not in (chosen, site.session), "it was chosen by the client")
    require(all(token.isascii() and token.isprintable() and " " not in token for token in found), found[0])
    require(len(set(found)) == SESSIONS, "one was given twice")
    varied = sum(len(set(column)) > SESSIONS // 4 for column in zip(*found, strict=True))
    require(varied * BITS_OF_A_CHARACTER >= 128, f"only {varied} characters differ")
    trial.note = f"{varied} characters differ"


def goes_away(trial: Trial) -> None:
    """The client of the stateless era that disconnects has cancelled; that of the handshake era says so."""
    site = trial.start(warm=True)
    require(isinstance(site.ask("tools/list"), dict), "no tools")
    for tool, there in (("child", sleeping), ("stubborn", stubborn)):
        identifier = site.start_call(tool)
        require(until(lambda there=there: there(site), 10), "its child never came", site.state())
        began = time.monotonic()
        if site.era == HANDSHAKE:
            site.notify("notifications/cancelled", {"requestId": identifier})
        else:
            site.leave(identifier)  # type: ignore[attr-defined]
        require(until(lambda there=there: not there(site), 12), "its child runs on")
        trial.note += f"{tool} {within(site, 12, began):.2f} s  "
        require(site.wait_if(identifier, 0) is None, "a cancelled call was answered")
    still_serving(site)


def versions(trial: Trial) -> None:
    """A version that nobody knows, in the header: in a session, and without one."""
    site = trial.shared()
    for version in ("2099-01-01", "x", "1", "2025-11-25 ", "9" * 4000):
        answer = say(site, request("ping"), ("mcp-protocol-version", version))
        expected = 200 if site.era == HANDSHAKE and version.strip() == LEGACY else 400
        require(answer.status == expected, version, "was", answer.status)
        require(site.ordinary(("mcp-protocol-version", version)).status == 400, version)
    unknown = stateless("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}})
    answer = site.knock(unknown, *mirrors("tools/list"), ("mcp-protocol-version", "2099-01-01"))
    require((answer.status, answer.code) == (400, -32022), answer.status, answer.body)


def noise(trial: Trial) -> None:
    """What an inline handler prints is for whoever started the server: here it is no part of an answer."""
    handlers.noise(trial)
    for server in trial.servers:
        server.may_print = True


METHODS = ("GET", "PUT", "DELETE", "TRACE", "PATCH", "BREW")
PATHS = ("/", "/mcp", "//", "/%2e%2e/", "/mcp/../x", "/%ff", "/mcp%00", "*", "/" + "a" * 5000)


def odd_methods(trial: Trial) -> None:
    site = trial.shared()
    for method in METHODS:
        for path in PATHS:
            status = site.knock(b"", method=method, path=path).status
            require(400 <= status < 500, method, path, "was", status)


def told_to_stop(trial: Trial) -> None:
    """SIGTERM while calls run, one of which ignores every signal it can: their grace, then the end of all of them."""
    site = trial.serve(*(() if FULL else ("--grace", "1")))
    calls = [site.start_call("stubborn"), site.start_call("child")]
    require(until(lambda: stubborn(site) and sleeping(site), 10), "its children never came", site.state())
    began = time.monotonic()
    site.signal(signal.SIGTERM)
    require(site.ends(12) == 0, f"it ended with {site.status}")
    trial.note = f"{within(site, 12 if FULL else 5, began):.2f} s"
    require(not site.left(1), "an orphan")
    answers = [site.wait_if(identifier, 1) for identifier in calls]
    require(all(answer is None or "error" in answer for answer in answers), json.dumps(answers))


ALONE, OLD, NEW = (PYTHON,), (HANDSHAKE,), (STATELESS,)
STRANGE = tuple(host for chosen, host, status in HOSTS if not chosen and status and host != "evil.example")
CASES = (
    over_http("H01", "initialize or discover, and calls", conversation, FORMS),
    over_http("H02", "Host: evil.example: 421", names((421,), "evil.example"), ALONE, NEW),
    over_http("H03", "other names, with our port, almost ours, malformed: 421 or 400", names((400, 421), *STRANGE), ALONE, NEW),
    over_http("H03b", "our own names: 200", names((0,)), ALONE, NEW),
    over_http("H04", "Origin of another page: 403", origins, ALONE, NEW),
    over_http("H06", "same-origin Origin accepted", own_origins, ALONE, NEW),
    over_http("H07", "Content-Type text/plain, a form, another charset: 415", types, ALONE, OLD),
    over_http("H08", "Accept lacks one type or both: served", accepted, ALONE, NEW),
    over_http("H09", "invalid JSON body: 400 and -32700", bad_json, ALONE),
    over_http("H10", "batch body: 400", batch, ALONE),
    over_http("H22", "made-up session id: 404", made_up_sessions, ALONE, OLD),
    over_http("H23", "session ids: random, and never the client's", random_sessions, ALONE, OLD),
    over_http("H25", "client disconnects mid-call: child gone within 12 s", goes_away, APART),
    over_http("H26", "unknown MCP-Protocol-Version header: 400", versions, ALONE),
    over_http("H27", "GET, PUT, DELETE, TRACE … on odd paths: 4xx", odd_methods, ALONE, NEW),
    over_http("H28", "tool prints to stdout: reply right", noise, FORMS),
    over_http("H29", f"SIGTERM with calls running (grace: {10 if FULL else 1} s): exit, no orphan", told_to_stop, APART, NEW),
)  # fmt: skip
