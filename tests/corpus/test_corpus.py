"""The same messages through pipes and through HTTP: equal answers, and every message what its revision's schema says."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from corpus.cases import INITIALIZED, REVISIONS, STATELESS, Case, cases, initialize
from corpus.channels import Pipes, Posts, is_question, rounds, steady
from corpus.validity import judge
from support.serving import Served

pytestmark = pytest.mark.sampled(3)

STATUS = {-32700: 400, -32600: 400, -32602: 400, -32020: 400, -32021: 400, -32022: 400, -32601: 404}
"""The HTTP status of each error in the stateless era."""
WRONG = (AssertionError, jsonschema.ValidationError, OSError, LookupError, ValueError)
"""What a wrong answer raises here."""


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.sampled(5)
def test_pipes_and_http_give_equal_and_valid_answers(
    revision: str, everything_server: Path, http_server: Served
) -> None:
    pipes, posts = Pipes(everything_server, revision), Posts(http_server, revision)
    try:
        if revision != STATELESS:
            judge_greeting(revision, pipes.greeting, posts.greeting)
        wrong = [text for case in cases(revision) if (text := problem(revision, case, pipes, posts))]
    finally:
        pipes.close()
        posts.close()
    assert not wrong, "\n".join(wrong)


def judge_greeting(revision: str, piped: list[dict[str, Any]], posted: list[dict[str, Any]]) -> None:
    assert piped == posted and piped[-1]["result"]["protocolVersion"] == revision
    judge(revision, piped[-1], "initialize")
    judge(revision, initialize(revision))
    judge(revision, INITIALIZED)


def problem(revision: str, case: Case, pipes: Pipes, posts: Posts) -> str:
    try:
        if not case.is_bad and case.message:
            judge(revision, case.message)
        piped, posted = rounds(case, pipes), rounds(case, posts)
        for message in (*piped, *posted):
            judge(revision, message, case.message["method"] if case.message and not case.is_bad else "")
        for sent in (*pipes.sent, *posts.sent):
            judge(revision, sent)
        compare(revision, case, piped, posted, posts.status)
    except WRONG as found:
        return f"{revision} {case.name}: {type(found).__name__}: {str(found)[:600]}"
    finally:
        pipes.sent.clear()
        posts.sent.clear()
    return ""


def compare(revision: str, case: Case, piped: list[dict[str, Any]], posted: list[dict[str, Any]], status: int) -> None:
    """Assert that both ways gave the same, and the kind of answer that the corpus says."""
    if case.message is not None:  # of what cannot be read each says where it could not
        assert list(map(steady, piped)) == list(map(steady, posted)), f"\npipes {piped}\nhttp  {posted}"
    code = piped[-1].get("error", {}).get("code")
    assert code == posted[-1].get("error", {}).get("code") == case.code, (piped[-1], posted[-1])
    notes = [one["method"] for one in piped if "method" in one and not is_question(one)]
    assert notes == list(case.notes), piped
    if revision == STATELESS and len(posted) == 1:
        assert status == STATUS.get(code, 200), (status, piped[-1])
