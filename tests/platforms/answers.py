"""What a server answers to the corpus: for each revision and case its messages, without what is another each time.

Of what cannot be parsed only the code of the answer is compared: its text is the Python's, and HTTP may leave out its id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.cases import REVISIONS, STATELESS, cases
from corpus.channels import Pipes, Posts, rounds, steady

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from platforms.conftest import Site
    from support.machines import Machine

    Answers = dict[str, dict[str, list[str]]]


def over_pipes(machine: Machine, artifact: Path, revisions: Sequence[str] = REVISIONS) -> Answers:
    """Return the answers of a server on pipes, which ends well after each revision."""
    found: Answers = {}
    for revision in revisions:
        channel = Pipes(machine.command(artifact), revision, machine.environment({"MCPC_TASKS": "memory:"}))
        try:
            found[revision] = said(channel, revision)
        finally:
            channel.close()
    return found


def over_http(site: Site, revisions: Sequence[str] = REVISIONS) -> Answers:
    return {revision: said(Posts(site, revision), revision) for revision in revisions}


def said(channel: Pipes | Posts, revision: str) -> dict[str, list[str]]:
    """Return what comes of every case, and of the handshake."""
    found = {} if revision == STATELESS else {"initialize": [*map(steady, channel.greeting)]}
    for case in cases(revision):
        messages = rounds(case, channel)
        if case.message is None:
            found[case.name] = [str(message["error"]["code"]) for message in messages]
        else:
            found[case.name] = [*map(steady, messages)]
    return found


def differences(expected: Answers, found: Answers) -> list[str]:
    """Return a line for each case whose answers differ."""
    return [
        f"{revision} {name}: {found[revision].get(name)} instead of {expected[revision][name]}"
        for revision in found
        for name in expected[revision]
        if found[revision].get(name) != expected[revision][name]
    ]
