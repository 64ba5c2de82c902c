"""One call under way, as the dispatcher knows it: what runs for it, until when, what it waits for; and its place."""

from __future__ import annotations

from time import monotonic

from mcpc_runtime.protocol.effects import Failure, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, TIMEOUT_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.protocol.accounts import Account
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json

MOST_RUNNING = 256
"""So many calls run at once; more wait for their turn."""
MOST_WAITING = 4096
BUSY = f"the server is busy: {MOST_RUNNING} calls run and {MOST_WAITING} wait; call again later"


class Work:
    """One call under way.

    `answer`: for a call that another one made (`parent`), what takes its result.  `questions`: what takes the answers
    to what it asks the client, by number; `open`: how many of those wait, with those of calls that it made; `asked`:
    what its definition asks before it is run is answered.  `seconds` are its own limit, `limit` the one that holds now:
    while it waits for a person, that is a longer one.  `account`: what is charged for what its handler writes.
    """

    __slots__ = ("account", "answer", "asked", "began", "call", "children", "held", "job", "limit", "open", "over",
                 "parent", "questions", "runner", "seconds", "told", "way")  # fmt: skip

    def __init__(
        self, call: Call, answer: Callable[[dict[str, Json]], None] | None = None, parent: Work | None = None
    ) -> None:
        self.account: Account | None = None
        self.call = call
        self.answer = answer
        self.parent = parent
        self.began = monotonic()
        self.seconds = self.limit = limit(call)
        self.asked = False
        self.open = 0
        self.questions: dict[int, Callable[[dict[str, Json]], None]] = {}
        self.over = False
        self.way: Any = None
        self.runner: Any = None
        self.job: Any = None
        self.told = 0.0
        self.held: dict[str, Json] | None = None
        self.children: list[Work] = []


class Places:
    """Where calls run or wait for their turn, first come first served: all that one principal needs.

    `is_roomy`: whether an inline call may begin without asking for a place.  Its length is how many calls wait.
    """

    __slots__ = ("_waiting", "running")
    is_roomy = True

    def __init__(self) -> None:
        self.running = 0
        self._waiting: dict[Work, None] = {}

    def __len__(self) -> int:
        """Return how many calls wait."""
        return len(self._waiting)

    def admits(self, work: Work) -> bool:
        """Tell whether a call may begin now."""
        return self.running < MOST_RUNNING and not self._waiting

    def refusal(self, principal: str) -> str:
        """Return why no more calls of a principal may wait, or nothing."""
        return BUSY if len(self._waiting) >= MOST_WAITING else ""

    def wait(self, work: Work) -> None:
        """Have a call wait."""
        self._waiting[work] = None

    def enter(self, work: Work) -> None:
        """Give a call a place, whether there is room or not."""
        self.running += 1

    def put_back(self, work: Work) -> None:
        """Have a call that has a place wait to be the next one."""
        self.running -= 1
        self._waiting = {work: None, **self._waiting}

    def leave(self, work: Work) -> bool:
        """Free what a call has; return whether it had a place."""
        if work in self._waiting:
            del self._waiting[work]
            return False
        self.running -= 1
        return True

    def next(self) -> Work | None:
        """Return the call to be begun now, which does not wait any more; None if there is none, or no room."""
        if not self._waiting or self.running >= MOST_RUNNING:
            return None
        work = next(iter(self._waiting))
        del self._waiting[work]
        return work


def limit(call: Call) -> float:
    """Return how many seconds a call may take: its tool's limit, or less if the request says so."""
    meta = call.request.params.get("_meta")
    asked = meta.get(TIMEOUT_KEY) if type(meta) is dict else None
    seconds: float = call.definition.seconds
    return min(seconds, asked) if (type(asked) is int or type(asked) is float) and asked > 0 else seconds


def goes_straight(call: Call) -> bool:
    """Tell whether an inline handler wants nothing but its arguments."""
    definition = call.definition
    plain = not definition.requires and not definition.handler[2] and call.is_tool
    return plain and not definition.asks and not definition.task


def refusal(call: Call, words: str) -> Ending:
    """Return a tool's own error, which a model can read; nothing else has one, so it is the request's."""
    return text_outcome(words, is_error=True) if call.is_tool else Failure(INTERNAL_ERROR, f"Internal error: {words}")
