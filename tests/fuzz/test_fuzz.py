"""A short run of what `make fuzz` does for longer: nothing that a client sends is more than an answer."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.mutation import fuzz
from fuzz.target import SEEDS, TOKENS, converse

SECONDS = float(os.environ.get("MCPC_FUZZ", "10"))
PIECES = st.lists(st.one_of(st.sampled_from(SEEDS), st.sampled_from(TOKENS), st.binary(max_size=8)), max_size=30).map(
    b"".join
)


@pytest.mark.parametrize("seed", [1])
def test_a_short_run_led_by_coverage_finds_no_crash(seed: int) -> None:
    tried, kept, lines = fuzz(converse, SECONDS, seed)
    assert tried > 200
    assert kept > len(SEEDS) and lines > 200


@given(st.integers(0, 255), PIECES)
@settings(max_examples=500, deadline=None)
def test_no_message_made_of_pieces_is_a_crash(how: int, data: bytes) -> None:
    converse(bytes([how]) + data)
