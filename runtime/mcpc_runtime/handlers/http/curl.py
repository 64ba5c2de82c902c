"""A request as the words of a `curl` command, which sends what the runner would send.  Nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpc_runtime.handlers.http.credentials import FETCHED, Credentials
from mcpc_runtime.handlers.http.parameters import escape_by
from mcpc_runtime.handlers.http.request import OutgoingRequest, RequestBuilder, RequestRefused
from mcpc_runtime.handlers.http.secrets import SecretTexts
from mcpc_runtime.handlers.http.wire import ENCODINGS, WITH_LENGTH
from mcpc_runtime.handlers.shell_words import DryRun, piped, text_in
from mcpc_runtime.protocol.effects import Call

StandIn = Callable[[str], str]


def curl_command(call: Call, settings: dict[str, str], agent: str, stand_in: StandIn) -> DryRun:
    """Return the command of a call; raise RequestRefused.

    `stand_in`: returns a text for the value of a name, which the shell has.
    """
    plan = call.definition.handler[1]
    base = plan["base"][0]
    place = settings.get(base, "")
    if place == stand_in(base):  # an address that is secret as a whole
        settings = {**settings, base: f"https://{place}"}
    request = RequestBuilder(plan, call.arguments, settings).build()
    words, notes = authenticated(request, plan.get("security", ()), settings, stand_in)
    address = f"{request.origin}{request.target}"
    address = address.replace(f"https://{place}", place, 1) if place else address
    method = [["--head"]] if request.method == "HEAD" else [["--request", request.method]]
    head = [["curl"], *method, ["--compressed", "--header", f"Accept-Encoding: {ENCODINGS}"]]
    if "user-agent" not in map(str.lower, request.headers):
        head.append(["--user-agent", agent])
    # A semicolon is how curl is asked to send a header without a value.
    head += [["--header", f"{name}: {value}" if value else f"{name};"] for name, value in request.headers.items()]
    head += [["--header", f"Cookie: {'; '.join(request.cookies)}"]] if request.cookies else []
    if request.body is not None:
        body = text_in(request.body)
        if body is not None:
            # Not `--data`, which reads a file if the text begins with `@`.
            return [*head, *words, ["--data-raw", body], [address]], notes
        return [piped(request.body), *head, *words, ["--data-binary", "@-"], [address]], notes
    if request.method in WITH_LENGTH:
        head.append(["--header", "Content-Length: 0"])
    return [*head, *words, [address]], notes


def authenticated(request: OutgoingRequest, security: Any, settings: dict[str, str], stand_in: StandIn) -> DryRun:
    """Add credentials to a request, by their names; return those that are options of curl."""

    def client_header(name: str) -> str:
        return stand_in(name.upper())

    words: list[list[str]] = []
    notes: list[str] = []
    chosen = Credentials(settings)
    try:
        schemes = chosen.choose(security, client_header) if security else ()
    except RequestRefused as refused:  # it is shown nevertheless, for what it would be
        notes.append(f"it would not be sent now: {refused}")
        schemes = security[0]
        wanting = {name: stand_in(name) for scheme in schemes for name in scheme[2]}
        chosen = Credentials({**wanting, **settings})
    for scheme in schemes:
        kind, place, names = scheme[:3]
        values = [settings.get(name) or stand_in(name) for name in names]
        if kind == "basic":
            words.append(["--user", ":".join(values)])
        elif kind == "certificate":
            words.append(["--cert", values[0], "--key", values[1]])
        elif kind in FETCHED:
            request.set_header("Authorization", f"Bearer {stand_in('ACCESS_TOKEN')}")
            notes.append(f"ACCESS_TOKEN is fetched from {place} before")
        elif kind == "query":
            # The shell has the value as it is, and curl encodes it.
            words.append(["--url-query", f"{escape_by('')(place)}={values[0]}"])
        else:
            chosen.add(request, scheme, client_header, SecretTexts(()))
    return words, notes
