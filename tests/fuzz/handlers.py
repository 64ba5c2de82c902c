"""Handlers that do what they are told: they stand in the place of every process, and nothing else is exchanged.

A handler is told by a word: how it ends, or what it says meanwhile.  What it asked for comes back to it once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from mcpc_runtime import log
from mcpc_runtime.protocol.effects import (
    Call,
    CompletionOutcome,
    Ending,
    Failure,
    Outcome,
    PromptOutcome,
    ResourceOutcome,
    text,
)
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.server import dispatcher
from mcpc_runtime.server.tasks import manager, store
from mcpc_runtime.server.tasks.store import MemoryStore

MOST_ASKED = 8
"""So often does one handler ask, and call another: then it only ends."""
FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer"}},
    "required": ["name"],
}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "\ud800"}}], "maxTokens": 5}
QUESTIONS: dict[str, dict[str, Any]] = {
    "form": {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": FORM}},
    "link": {"method": "elicitation/create", "params": {"mode": "url", "message": "Go", "url": "https://example.com/"}},
    "model": {"method": "sampling/createMessage", "params": SAMPLE},
    "tools": {"method": "sampling/createMessage", "params": {**SAMPLE, "tools": [], "includeContext": "thisServer"}},
    "roots": {"method": "roots/list"},
    "wrong": {"method": "elicitation/create", "params": {"message": 5}},
    "other": {"method": "no/such"},
}
NOTES: dict[str, dict[str, Any]] = {
    "progress": {"progress": 1, "total": 2, "message": "half"},
    "less": {"progress": 0.5},
    "odd": {"progress": "much", "total": []},
    "log": {"log": "error", "data": {"x": "\ud800"}},
    "strange": {"log": ["?"], "logger": 5},
    "updated": {"updated": "test://plain"},
    "changed": {"changed": "tools"},
    "prompts": {"changed": "prompts"},
    "part": {"part": 0.01},
    "nothing": {"part": "soon"},
    "garbage": {"what": 1},
}


def endings(call: Call) -> dict[str, Ending]:
    good: dict[str, Ending] = {
        "completion": CompletionOutcome(["a", "\ud800"] * 80, 999),
        "prompt": PromptOutcome([{"role": "user", "content": text("\ud800\u2028")}]),
        "resource": ResourceOutcome([{"uri": "test://x", "mimeType": "text/plain", "text": "\udfff"}]),
    }
    usual = Outcome([text("\udfff\n")], {"length": 1})
    usual.log = "it wrote this as well"
    failure = Failure(-32603, "no\ud800", {"why": None})
    kinds = [
        {"type": "audio", "data": "", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "x:y", "name": "n"},
    ]
    return {
        "end": good.get(call.kind, usual),
        "fail": failure,
        "error": Outcome([text("no")], is_error=True) if call.is_tool else failure,
        "many": Outcome(kinds) if call.is_tool else failure,  # type: ignore[arg-type]
        "plain": Outcome([text("x" * 3000)]) if call.is_tool else failure,
    }


class Job:
    def __init__(self, call: Call, done: Callable[[Any], None], note: Callable[[Any], None]) -> None:
        self.call = call
        self.done = done
        self.note = note
        self.is_over = False
        self.waits: set[int] = set()
        self.numbers = 0

    def ask(self, kind: str, member: dict[str, Any]) -> None:
        """Say what it wants an answer to."""
        if self.numbers < MOST_ASKED:
            self.numbers += 1
            self.waits.add(self.numbers)
            self.note({**member, "reply": self.numbers})
            if kind in ("wrong", "other"):
                assert self.is_over or self.numbers not in self.waits, "what cannot be asked is said at once"

    def obey(self, word: str) -> bool:
        """Do what the word says; False if it says nothing."""
        if word in NOTES:
            self.note(NOTES[word])
        elif word in QUESTIONS:
            self.ask(word, {"ask": {word: QUESTIONS[word]}})
        elif word == "several":
            self.ask(word, {"ask": {"a": QUESTIONS["form"], "b": QUESTIONS["roots"]}})
        elif word == "call":
            self.ask(word, {"call": "echo", "arguments": {"text": "x"}})
        elif word == "miscall":
            self.ask(word, {"call": "echo", "arguments": 5})
        elif word in (known := endings(self.call)):
            self.is_over = True
            self.done(known[word])
        else:
            return False
        return True


class Stage:
    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def obey(self, word: str) -> bool:
        """Have the newest do what the word says, which may be to let the oldest have its turn."""
        self.jobs = [job for job in self.jobs if not job.is_over]
        if word == "turn":
            self.jobs.append(self.jobs.pop(0)) if self.jobs else None
            return True
        return bool(self.jobs) and self.jobs[-1].obey(word)


STAGE = Stage()


class Runner:
    """Starts handlers, and starts nothing."""

    def __init__(self, *_: object) -> None:
        pass

    def start(self, call: Call, done: Callable[[Any], None], note: Callable[[Any], None]) -> Job:
        job = Job(call, done, note)
        STAGE.jobs.append(job)
        return job

    def stop(self, job: Job) -> None:
        assert not job.is_over, "what has ended is not stopped"
        job.is_over = True

    def answer(self, job: Job, reply: int, value: dict[str, Any]) -> None:
        """Take what a handler asked for."""
        assert not job.is_over, "what has ended is told nothing"
        job.waits.remove(reply)
        assert ("answers" in value) + ("error" in value) + ("content" in value) == 1, value

    def close(self) -> None:
        """Have nothing to close."""


class Requirements(Runner):
    def start(self, call: Any, done: Callable[[Any], None], note: object) -> Any:
        done("")
        return None


class Clerk:
    """A clerk that does at once what it is told, and says so a moment later."""

    def __init__(self, reactor: Any, open_store: object, *, is_shared: bool = False) -> None:
        self._reactor = reactor
        self._store = MemoryStore()

    def submit(self, order: Any, done: Callable[[Any], None], principal: str | None = None) -> None:
        self._reactor.after(0, partial(done, store.run_operation(order, self._store)))

    def warn(self, problem: object) -> None:
        """Log nothing."""

    def close(self, last: Any, seconds: float) -> None:
        store.run_operation(last, self._store)


def build_invocation(call: Call, image: Image) -> Call:
    return call


def parse_result(call: Call, ending: Ending) -> Ending:
    return ending


@contextmanager
def playing() -> Iterator[Stage]:
    """Have these handlers in the place of all others; what goes wrong in the dispatcher is an exception here."""
    STAGE.jobs = []
    before = dispatcher.CONTRACTS, dispatcher.REQUIREMENTS, manager.StoreThread, log.failure_of
    row = ("fuzz.handlers", "fuzz.handlers:Runner")
    dispatcher.CONTRACTS = dict.fromkeys(dispatcher.CONTRACTS, row)
    dispatcher.REQUIREMENTS = "fuzz.handlers:Requirements"
    manager.StoreThread = Clerk  # type: ignore[misc,assignment]
    log.failure_of = fault
    try:
        yield STAGE
    finally:
        dispatcher.CONTRACTS, dispatcher.REQUIREMENTS, manager.StoreThread, log.failure_of = before  # type: ignore[misc]


def fault(problem: Any) -> Failure:
    """Raise what the dispatcher would answer with."""
    if isinstance(problem, BaseException):
        raise problem
    raise AssertionError(problem)
