"""Tests of a process that answers several calls at a time: each message reaches the call that it is for."""

from queue import SimpleQueue
from threading import Thread
from typing import Any

import pytest

from mcpc.client.client import STATELESS, ConversationError, Deadline
from mcpc.client.processes import SharedProcess

SECONDS = 60
DECLINED = {"id": 7, "result": "declined"}


class Pipes:
    """A process that says what a test puts into `said`; None ends it."""

    def __init__(self) -> None:
        self.said: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self.written: SimpleQueue[dict[str, Any]] = SimpleQueue()

    def notify(self, message: dict[str, Any], _deadline: Deadline) -> None:
        self.written.put(message)

    def receive(self, _deadline: Deadline) -> dict[str, Any]:
        found = self.said.get()
        if found is None:
            raise ConversationError("it ended")
        return found


class Calls:
    """Calls of a process, each made by a thread."""

    def __init__(self, count: int) -> None:
        self.pipes = Pipes()
        process = SharedProcess(self.pipes, lambda _question: DECLINED)
        self.transports = [process.conversation() for _ in range(count)]
        self.replies: list[Any] = [None] * count
        self.threads = [Thread(target=self._call, args=(number,)) for number in range(count)]
        self.numbers = []
        for number, transport in enumerate(self.transports):
            transport.answer = lambda question, number=number: {"id": question["id"], "result": number}
            self.threads[number].start()
            self.numbers.append(self.pipes.written.get(timeout=SECONDS)["id"])

    def _call(self, number: int) -> None:
        try:
            self.replies[number] = self.transports[number].request({"id": 1, "method": "x"}, Deadline(SECONDS))
        except ConversationError as problem:
            self.replies[number] = str(problem)

    def end(self) -> list[Any]:
        for thread in self.threads:
            thread.join(SECONDS)
        return self.replies


def test_each_reply_reaches_its_call_in_any_order() -> None:
    calls = Calls(3)
    for number in reversed(calls.numbers):
        calls.pipes.said.put({"id": number, "result": number})
    assert calls.end() == [{"id": 1, "result": number} for number in calls.numbers]


def test_a_question_belongs_to_the_only_call_that_it_can_be_for() -> None:
    calls = Calls(2)
    calls.transports[0].use_revision(STATELESS)
    calls.pipes.said.put({"id": 7, "method": "elicitation/create"})
    assert calls.pipes.written.get(timeout=SECONDS) == {"id": 7, "result": 1}
    calls.pipes.said.put(None)
    calls.end()
    assert [each.is_undecided for each in calls.transports] == [False, False]


@pytest.mark.parametrize("method", ["elicitation/create", "ping"])
def test_a_question_that_can_be_for_several_calls_is_declined(method: str) -> None:
    calls = Calls(2)
    calls.pipes.said.put({"id": 7, "method": method})
    assert calls.pipes.written.get(timeout=SECONDS) == DECLINED
    calls.pipes.said.put(None)
    calls.end()
    assert {each.is_undecided for each in calls.transports} == {method != "ping"}


def test_a_pipe_that_another_call_has_closed_is_an_error_of_the_conversation() -> None:
    pipes = Pipes()
    transport = SharedProcess(pipes).conversation()

    def notify(*_: object) -> None:
        raise ValueError("write to closed file")

    pipes.notify = notify
    with pytest.raises(ConversationError, match="it was ended"):
        transport.request({"id": 1, "method": "x"}, Deadline(SECONDS))
    pipes.said.put(None)


def test_all_calls_learn_that_the_process_has_ended() -> None:
    calls = Calls(2)
    calls.pipes.said.put(None)
    assert calls.end() == ["it ended", "it ended"]
    with pytest.raises(ConversationError, match="it ended"):
        calls.transports[0].request({"id": 1, "method": "x"}, Deadline(SECONDS))
