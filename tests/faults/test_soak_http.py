"""A short soak over HTTP: every kind of client, most of which leave without a word; and what a soak would notice."""

import os
from pathlib import Path

import pytest

from faults import soak_http
from faults.client import Fault
from faults.soak_http import LONG, MEBIBYTE, Figures
from support.artifact import build
from support.scale import scaled
from support.serving import served

REQUESTS = int(os.environ.get("TESTS_SOAK_HTTP", scaled(4000, 2000)))


@pytest.mark.slow
def test_nothing_is_left_of_clients_that_leave(tmp_path: Path) -> None:
    with served(soak_http.artifact(tmp_path, build), *soak_http.OPTIONS) as server:
        try:
            figures = soak_http.soak(server, REQUESTS)
        except Fault as fault:
            pytest.fail(f"{fault}\n{server.errors.read_text()}", pytrace=False)
        assert not figures.problems(), figures
        assert figures.requests >= REQUESTS


LEAKS = {
    "memory": (LONG, [(50 + 2 * n, 80 + 4 * n) for n in range(9)], (9, 9), (3, 3), {}, 2),
    "memory that is kept for a while": (900, [(50 + n, 80) for n in range(9)], (9, 9), (3, 3), {}, 0),
    "much memory, soon": (900, [(50 + 2 * n, 80) for n in range(9)], (9, 9), (3, 3), {}, 1),
    "descriptors": (900, [(50, 80)] * 9, (9, 10), (3, 3), {}, 1),
    "processes": (900, [(50, 80)] * 9, (9, 9), (3, 4), {}, 1),
    "streams": (900, [(50, 80)] * 9, (9, 9), (3, 3), {"mcpc_streams": 1.0}, 1),
    "blocks": (900, [(50, 80)] * 9, (9, 9), (3, 3), {}, 1),
    "nothing": (LONG, [(50, 80), (60, 90)] * 9, (9, 9), (3, 3), {"mcpc_streams": 0.0}, 0),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_noticed(leak: str) -> None:
    requests, samples, descriptors, processes, gauges, problems = LEAKS[leak]
    figures = Figures()
    figures.requests, figures.seconds = requests, 1.0
    figures.samples = [(server * MEBIBYTE, everything * MEBIBYTE) for server, everything in samples]
    figures.descriptors, figures.processes, figures.gauges = descriptors, processes, gauges
    figures.blocks = (9, 9 + (leak == "blocks"))
    assert len(figures.problems()) == problems, figures.problems()
