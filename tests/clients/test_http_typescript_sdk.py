"""The official TypeScript SDK's clients over HTTP: version 1, and version 2 in each of its modes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from clients import everything
from clients.everything import FORM, HANDSHAKE, NAME, QUESTION, SAMPLE, STATELESS, UNKNOWN_RESOURCE, WATCHED
from support.serving import Served

pytestmark = pytest.mark.sampled(2)

MODES = {"v1": HANDSHAKE, "legacy": HANDSHAKE, "auto": STATELESS, STATELESS: STATELESS}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.sampled(4)
def test_it_understands_the_server(mode: str, typescript: Path, http_server: Served) -> None:
    seconds = everything.duration()
    say = {
        "question": QUESTION, "form": FORM, "name": NAME, "sample": SAMPLE, "watched": WATCHED, "seconds": seconds,
    }  # fmt: skip
    argv = ["node", typescript / "everything.mjs", mode, http_server.url, json.dumps(say)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
        said, complained = heard(client, seconds)
    assert client.returncode == 0, complained
    assert everything.ends(seconds)
    transcript = json.loads(said)
    if mode == "legacy":  # this client tells of what is not there by its new code in either era
        assert transcript["unknown_resource"] == UNKNOWN_RESOURCE[STATELESS]
        transcript["unknown_resource"] = UNKNOWN_RESOURCE[HANDSHAKE]
    everything.check(transcript, MODES[mode])


def heard(client: subprocess.Popen[str], seconds: str) -> tuple[str, str]:
    """Return what a client said until it ended; its call that is cancelled has to begin before that."""
    try:
        everything.begins(seconds)
    except AssertionError:
        client.kill()
        pytest.fail(f"the call that is to be cancelled did not begin: {client.communicate()[1]}")
    return client.communicate(timeout=60)
