"""What handlers find of the environment: everything, or what every program needs and what is named."""

import os
import posix
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms import secret_variables
from mcpc_runtime.transports.platforms.environments import MINIMAL, SECRETS, handler_environment

HERE = {
    b"PATH": b"/bin", b"HOME": b"/home/me", b"LC_ALL": b"C", b"XDG_RUNTIME_DIR": b"/run", b"API_KEY": b"secret",
    b"API_KEY_2": b"secret", b"AWS_REGION": b"x", b"AWS": b"x", b"RAW": b"\xff\n", b"HOMEBREW": b"x",
}  # fmt: skip
USUAL = {b"PATH", b"HOME", b"LC_ALL", b"XDG_RUNTIME_DIR"}


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posix, "environ", dict(HERE))


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ((), set()),
        (("API_KEY",), {b"API_KEY"}),
        (("API_KEY*",), {b"API_KEY", b"API_KEY_2"}),
        (("AWS_*", "RAW"), {b"AWS_REGION", b"RAW"}),
        (("MISSING", "GONE_*"), set()),
    ],
)
def test_what_is_named_beside_the_usual(names: tuple[str, ...], found: set[bytes]) -> None:
    made = handler_environment(False, names)
    assert made == {name: HERE[name] for name in USUAL | found}


def test_everything_as_a_copy() -> None:
    made = handler_environment(True, ())
    assert made == HERE
    made[b"NEW"] = b""
    assert b"NEW" not in posix.environ


def test_the_usual_is_no_secret() -> None:
    words = ("KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL")
    assert not [name for name in MINIMAL if any(word in name for word in words)]
    assert os.environ is not posix.environ


@pytest.mark.parametrize(("inherit", "names"), [(True, ()), (False, ("MCPC_*",)), (False, ("MCPC_TOKENS", "*"))])
def test_what_is_for_the_server_alone_reaches_no_handler(
    inherit: bool, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = dict.fromkeys(SECRETS, b"secret")
    monkeypatch.setattr(posix, "environ", {**HERE, **secrets})
    assert not SECRETS & handler_environment(inherit, names).keys()


@pytest.mark.parametrize("inherit", [True, False])
def test_credentials_for_spans_are_nobody_elses(inherit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = (
        b"OTEL_EXPORTER_OTLP_HEADERS",
        b"OTEL_EXPORTER_OTLP_TRACES_HEADERS",
        b"OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    )
    monkeypatch.setattr(posix, "environ", {**HERE, **dict.fromkeys(secret, b"key"), b"OTEL_SERVICE_NAME": b"x"})
    found = handler_environment(inherit, ("OTEL_*", "OTEL_EXPORTER_OTLP_HEADERS"))
    assert not set(secret) & set(found)
    assert found[b"OTEL_SERVICE_NAME"] == b"x"


def test_variables_that_a_project_names_for_tokens_are_nobody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_variables, "declared_secrets", set())
    monkeypatch.setattr(posix, "environ", {**HERE, b"MY_TOKEN": b"key"})
    assert handler_environment(True, ())[b"MY_TOKEN"] == b"key"
    rows = {"secret_variables": ("mcpc_runtime.systems.bx.variables:secret_variables",)}
    hooks = lambda name: rows.get(name, ())  # noqa: E731
    index = {"bx": {"tokens": [("variable", "MY_TOKEN", ()), ("digest", "00", ())]}, "environments": [(True, ())]}
    host = RunnerContext(cast("Any", None), cast("Any", SimpleNamespace(hooks=hooks, index=index)))
    assert b"MY_TOKEN" not in host.environment(0)
