"""A served file under `--memory-limit`: one principal at its worst, another that is answered, and nothing kept after."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import memory_limit as bench

pytestmark = pytest.mark.slow

LIMIT = 48 << 20
SCALE = 0.1
MOST_REFUSED = {
    "unfinished bodies": "503",
    "waiting calls": "503",
    "written output": "200",
    "values within bounds": "503",
    "watched uris": "refused",
}
"""What the attacker is told where the limit is met; elsewhere its streams end."""
SHARE = LIMIT * 3 // 8
"""What one of two principals may hold: half of what is not kept free."""
ANSWER = 8 << 20
COPIES = 7
"""Of one answer at a time there are so many copies, two in each, while it is read from a worker and becomes an event."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return bench.prepare(tmp_path_factory.mktemp("memory"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc/PID/status")
@pytest.mark.parametrize("name", bench.CASES)
def test_a_server_keeps_less_than_its_limit(
    prepared: tuple[Path, Path], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "SETTLE_SECONDS", 2.0)
    found = bench.run(*prepared, LIMIT, bench.CASES[name], SCALE)
    assert found.peak < LIMIT + bench.MARGIN
    assert found.most_charged <= LIMIT
    if name == "streams not read":
        assert found.peak - found.base < SHARE + COPIES * ANSWER, "an answer is copied too often"
    assert found.left <= found.quiet, "every charge is released"
    assert not found.polite.failed, "another principal is answered"
    if name in MOST_REFUSED:
        assert any(MOST_REFUSED[name] in one for one in found.answered), found.answered
