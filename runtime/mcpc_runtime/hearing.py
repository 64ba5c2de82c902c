"""What handlers say while they run, and what becomes of it: progress, log messages, calls, questions, news.

Progress and log messages are throttled here, because nobody needs them as fast as a handler can write them; the rest is
handed on at once.
"""

from __future__ import annotations

from time import monotonic

from mcpc_runtime.errors import tell
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Part, Publish

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.protocol.calls import call_within
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.work import Work
else:
    call_within = lazy("mcpc_runtime.protocol.calls:call_within")

LISTS = ("tools", "prompts", "resources")
PROGRESS_SECONDS = 0.05
"""Progress of one call is told at most so often; of what is told faster only the last is."""
LOGS_A_SECOND = 1000
NEWS_SECONDS = 0.05
"""A change is told at once; the same one within this time only once more, at its end."""
MOST_NEWS = 1000
"""So many different changes are told in that time."""


class Hearing:
    """Hears the handlers of one server."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._second, self._logs = 0.0, 0
        self._news: dict[tuple[str, str], bool] = {}
        self._lost = 0

    def hear(self, work: Work, said: dict[str, Json]) -> None:
        """Take what a handler says while it runs."""
        if work.over:
            return
        kind = next((kind for kind in NOTES if kind in said), "")
        if kind:
            NOTES[kind](self, work, said)
        elif self._may_log():
            self.tell_held(work)
            self._dispatcher.engine.effects += work.call.request.session.note(work.call, said)

    def tell_held(self, work: Work) -> None:
        """Tell the progress that was held back: what is told next came after it."""
        held, work.held = work.held, None
        if held is not None:
            self._dispatcher.engine.effects += work.call.request.session.note(work.call, held)

    def _alive(self, work: Work, said: dict[str, Json]) -> None:
        """Take it that a handler gets on, of which it has nothing to tell."""
        self._dispatcher.progressed(work)

    def _progress(self, work: Work, said: dict[str, Json]) -> None:
        """Tell progress now, or hold the newest until it may be told."""
        self._dispatcher.progressed(work)
        now = monotonic()
        wait = work.told + PROGRESS_SECONDS - now
        if wait <= 0:
            work.told = now
            work.held = said
            self.tell_held(work)
            return
        if work.held is None:
            self._dispatcher.reactor.after(wait, lambda: self._release(work))
        work.held = said

    def _release(self, work: Work) -> None:
        if work.held is not None and not work.over:
            work.told = monotonic()
            self.tell_held(work)

    def _may_log(self) -> bool:
        """Say whether one more log message may go to the client; what may not is lost, and its number told."""
        now = monotonic()
        if now - self._second >= 1:
            if self._logs > LOGS_A_SECOND:
                tell(f"{self._logs - LOGS_A_SECOND} log messages were dropped: more than {LOGS_A_SECOND} in a second")
            self._second, self._logs = now, 0
        self._logs += 1
        return self._logs <= LOGS_A_SECOND and not self._dispatcher.engine.full

    def _call_within(self, work: Work, said: dict[str, Json]) -> None:
        """Run the tool that a handler calls, and hand it the result."""

        def answer(result: dict[str, Json]) -> None:
            if not work.over:
                work.runner.answer(work.job, said.get("reply"), result)

        made = call_within(work.call.request.session, work.call, said["call"], said.get("arguments"))
        if isinstance(made, str):
            answer({"content": [{"type": "text", "text": made}], "isError": True})
        else:
            self._dispatcher.engine.ask(lambda: self._dispatcher.start_within(work, made, answer))

    def _ask_note(self, work: Work, said: dict[str, Json]) -> None:
        """Ask the client what a handler asks of it, and hand that the answer."""
        requests = said["ask"]

        def take(given: dict[str, Json]) -> None:
            if not work.over:
                work.runner.answer(work.job, said.get("reply"), given)

        if type(requests) is dict:
            self._dispatcher.asking.ask(work, requests, take)

    def _withdraw(self, work: Work, said: dict[str, Json]) -> None:
        """Take back what a handler has asked: it waits no longer."""
        if work.questions:
            self._dispatcher.asking.withdraw(work)

    def _publish(self, work: Work, said: dict[str, Json]) -> None:
        """Tell everybody who wants to know that a resource, or a list, is not what it was."""
        uri, kind = said.get("updated"), said.get("changed")
        if type(uri) is not str and kind not in LISTS:
            return
        news = ("resource", uri) if type(uri) is str else (str(kind), "")
        if not self._news:
            self._dispatcher.reactor.after(NEWS_SECONDS, self._publish_held)
        if news in self._news:
            self._news[news] = True
        elif len(self._news) < MOST_NEWS:
            self._news[news] = False
            self._dispatcher.engine.effects.append(Publish(*news))
        else:
            self._lost += 1

    def _publish_held(self) -> None:
        """Tell what was said again meanwhile, once."""
        held = [news for news, again in self._news.items() if again]
        self._news = {}
        self._dispatcher.engine.effects += [Publish(*news) for news in held]
        if self._lost:
            tell(f"{self._lost} changes were not told: more than {MOST_NEWS} in {NEWS_SECONDS} s")
            self._lost = 0

    def _part(self, work: Work, said: dict[str, Json]) -> None:
        """Have the client come back for the answer."""
        seconds = said["part"]
        if (type(seconds) is int or type(seconds) is float) and not work.call.is_task:
            self._dispatcher.engine.effects.append(Part(work.call.request, seconds))


NOTES: dict[str, Callable[[Hearing, Work, dict[str, Json]], None]] = {
    "progress": Hearing._progress,
    "alive": Hearing._alive,
    "call": Hearing._call_within,
    "ask": Hearing._ask_note,
    "updated": Hearing._publish,
    "changed": Hearing._publish,
    "part": Hearing._part,
    "withdraw": Hearing._withdraw,
}
"""What a handler may say beside log messages, by the member that tells it."""
