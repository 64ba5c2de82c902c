"""Three replicas behind nginx with a store; one is killed every second, and nobody gets a wrong answer or loses a task.

TESTS_FLEET_SECONDS: for how long (a minute is what the figure in the README is of).
"""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from fleet.load import KINDS, Tally, load
from fleet.replicas import STORE, Fleet
from support.artifact import build
from support.needs import lacking, needs

SECONDS = float(os.environ.get("TESTS_FLEET_SECONDS", "12"))
WORKERS = 8


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The project of this folder, built for a fleet."""
    needs("nginx")
    if not STORE:
        lacking("neither valkey-server nor redis-server is installed (`make deps` says how to get one)")
    target = tmp_path_factory.mktemp("fleet") / "server.pyz"
    return build(Path(__file__).parent / "project", target, "--http", "--redis")


@pytest.mark.slow
def test_replicas_that_die_lose_nothing(archive, tmp_path):
    with Fleet(archive, tmp_path) as fleet:
        tally, over = Tally(), threading.Event()
        threads = load(fleet.port, tally, WORKERS, over)
        end, number = time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            time.sleep(1)
            fleet.kill(number)
            fleet.start(number)
            number = (number + 1) % len(fleet.ports)
        over.set()
        for thread in threads:
            thread.join()
    sys.stdout.write(f"\n{tally.done}, {tally.retried} tried again\n")
    assert (tally.wrong, tally.lost) == ([], [])
    assert set(tally.done) == {kind.__name__ for kind in KINDS}
    assert tally.retried > 0, "nobody noticed that replicas were killed: the load is too small to show anything"
