"""The settings of the HTTP server: constant, with known names, and for this machine only where the address says so."""

from __future__ import annotations

import pytest

from mcpc_runtime.http.memory_budget import MemoryBudget
from mcpc_runtime.http.settings import DEFAULTS, OPTIONS, HttpSettings, settings_from


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        *((host, True) for host in ("127.0.0.1", "127.255.0.1", "localhost", "[::1]", "127.0.0.255")),
        *((host, False) for host in ("127.evil.example", "127.0.0.1.example.com", "127.0.0.256", "127.1", "0.0.0.0")),
        *((host, False) for host in ("126.0.0.1", "127.0.0.x", "[::2]", "127.0.0.٣")),
    ],
)
def test_only_this_machine_connects_to_its_loopback(host: str, is_loopback: bool) -> None:
    assert settings_from(["--http", f"{host}:8000"], {}).is_loopback is is_loopback


def test_settings_are_constant_and_have_names() -> None:
    settings = HttpSettings(port=5)
    with pytest.raises(AttributeError, match="port cannot be changed"):
        settings.port = 6
    with pytest.raises(TypeError, match="'x'"):
        HttpSettings(y=1, x=2)
    other = settings.but(path="/a")
    assert (other.port, other.path, settings.path, other.budget is settings.budget) == (5, "/a", "/mcp", True)
    assert HttpSettings().budget is not HttpSettings().budget and isinstance(settings.budget, MemoryBudget)


def test_what_is_usual() -> None:
    plain = {
        name: value for name, value in DEFAULTS.items() if name not in {option.field for option in OPTIONS.values()}
    }
    assert not plain.pop("start").chooses
    assert plain == {
        "host": "127.0.0.1", "port": 0, "head_limit": 32768, "max_streams": 4096, "max_sessions": 4096,
        "decide_seconds": 1.0, "retry_ms": 1000, "resume_events": 256, "resume_bytes": 1048576, "resume_seconds": 300.0,
        "authenticator": None, "spans": None,
    }  # fmt: skip
    assert DEFAULTS["body_limit"] == 18 * 1048576 and DEFAULTS.keys() == vars(HttpSettings()).keys()
