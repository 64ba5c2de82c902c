"""Section H: one request over HTTP at a time, who sends it and what it says, and calls whose client goes away."""

from __future__ import annotations

import json
import signal
import time
from functools import partial
from typing import TYPE_CHECKING

from faults import handlers
from faults.client import HANDSHAKE, STATELESS, good, require, text, until
from faults.forms import APART, FORMS
from faults.handlers import sleeping, still_serving, stubborn
from faults.trial import FULL, Case, within

if TYPE_CHECKING:
    from faults.trial import Trial

over_http = partial(Case, http=True)


def conversation(trial: Trial) -> None:
    """A client of either era lists and calls, and what comes is right."""
    site = trial.start()
    require([tool["name"] for tool in good(site.ask("tools/list"))["tools"]], "no tools")
    require(text(site.result("say", text="hello")) == "[hello]", "say")
    still_serving(site)
    require(site.status is None, site.state())


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


def noise(trial: Trial) -> None:
    """What an inline handler prints is for whoever started the server: here it is no part of an answer."""
    handlers.noise(trial)
    for server in trial.servers:
        server.may_print = True


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


CASES = (
    over_http("H01", "initialize or discover, and calls", conversation, FORMS),
    over_http("H25", "client disconnects mid-call: child gone within 12 s", goes_away, APART),
    over_http("H28", "tool prints to stdout: reply right", noise, FORMS),
    over_http(
        "H29",
        f"SIGTERM with calls running (grace: {10 if FULL else 1} s): exit, no orphan",
        told_to_stop,
        APART,
        (STATELESS,),
    ),
)
