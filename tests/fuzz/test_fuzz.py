"""A short run of what `make fuzz` does for longer: nothing that a client sends is more than an answer."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.mutation import STARTS, fuzz
from fuzz.subject import Subject
from fuzz.target import STDIO
from fuzz.web import WEB
from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.http.sessions import Sessions
from mcpc_runtime.protocol import calls
from mcpc_runtime.protocol.client_requests import eras, handler_requests

SECONDS = float(os.environ.get("MCPC_FUZZ", "7"))
SUBJECTS = {"stdio": STDIO, "web": WEB}
HABITS = st.integers(0, 255)


def pieces(subject: Subject, most: int) -> st.SearchStrategy[bytes]:
    """Data made of seeds, of words, and of anything."""
    piece = st.one_of(st.sampled_from(subject.seeds), st.sampled_from(subject.words), st.binary(max_size=8))
    return st.lists(piece, max_size=most).map(b"".join)


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
def test_good_data_is_taken_in_every_way(name: str) -> None:
    for seed in SUBJECTS[name].seeds:
        assert sum(SUBJECTS[name].run(bytes([start]) + seed) > 0 for start in STARTS)  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_short_run_led_by_coverage_finds_no_crash(name: str) -> None:
    subject = SUBJECTS[name]
    tried, kept, lines = fuzz(subject, SECONDS, 1)
    assert tried > len(subject.seeds) * len(STARTS), "there was no time to change anything"
    assert kept > len(subject.seeds) and lines > 1000


@pytest.mark.slow
@given(HABITS, pieces(STDIO, 20))
@settings(max_examples=300, deadline=None)
def test_no_message_made_of_pieces_is_a_crash(how: int, data: bytes) -> None:
    STDIO.run(bytes([how]) + data)


@pytest.mark.slow
@given(HABITS, pieces(WEB, 6))
@settings(max_examples=100, deadline=None)
def test_no_request_made_of_pieces_is_a_crash(how: int, data: bytes) -> None:
    WEB.run(bytes([how]) + data)


FAULTS = {
    "somebody is asked who cannot answer": (
        "stdio",
        handler_requests,
        "missing_capabilities",
        lambda call, questions: None,
    ),
    "a question is not withdrawn": ("stdio", eras, "cancel_round", lambda session, round_: []),
    "a batch is never answered": ("stdio", calls, "close_batch", lambda call, line: []),
    "a client that has left is waited for": ("web", HttpDriver, "_stop", lambda self, call: None),
    "a session is kept that does not matter": (
        "web",
        Sessions,
        "retain",
        lambda self, one: self.live.setdefault("", one),
    ),
    "what is told would break a header": ("web", Sessions, "mint", lambda self, session: "\r\n"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who watches must be seen to notice."""
    name, holder, member, broken = FAULTS[fault]
    monkeypatch.setattr(holder, member, broken)
    subject = SUBJECTS[name]
    with pytest.raises(AssertionError):
        for seed in subject.seeds:
            for start in STARTS:
                subject.run(bytes([start]) + seed)
