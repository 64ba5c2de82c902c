"""Which requests a program with the framework itself gets: those that neither the protocol nor the server knows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.protocol.forwarding import MAX_METHOD, forward_request, is_forwarded
from mcpc_runtime.protocol.run_time_lists import KEYS
from mcpc_runtime.protocol.session import METHODS

EXTENSIONS = ("skills/", "tasks/")
CORE = [*(name for name in METHODS if not name.startswith(EXTENSIONS)), *KEYS, "ping", "server/discover"]


def session(*, forwards: bool = True, choice: object = None, allows: object = None) -> Any:
    image = SimpleNamespace(run_time={"forwards": True} if forwards else {}, choice=choice)
    return SimpleNamespace(image=image, allows=allows)


@pytest.mark.parametrize("method", ["skills/list", "skills/get", "tasks/get", "x", "com.example/ask", "m" * MAX_METHOD])
def test_a_method_of_an_extension_is_forwarded(method: str) -> None:
    assert is_forwarded(session(), method)


@pytest.mark.parametrize("method", [*CORE, "tools/nothing", "m" * (MAX_METHOD + 1)])
def test_a_method_of_the_protocol_or_a_very_long_one_is_not(method: str) -> None:
    assert not is_forwarded(session(), method)


def test_nothing_is_forwarded_where_tools_are_narrowed_or_no_program_answers() -> None:
    assert not is_forwarded(session(forwards=False), "skills/list")
    assert not is_forwarded(session(choice=object()), "skills/list")
    assert not is_forwarded(session(allows=lambda _: True), "skills/list")


def test_the_program_gets_the_parameters_without_what_describes_the_client() -> None:
    definition = SimpleNamespace(name="skills/list", seconds=5.0)
    image = SimpleNamespace(run_time_definition=lambda _: definition)
    request: Any = SimpleNamespace(method="skills/list", params={"cursor": "c", "_meta": {"x": 1}})
    call = forward_request(SimpleNamespace(image=image), request)  # type: ignore[arg-type]
    assert (call.arguments, call.definition, call.request, call.is_tool) == (
        {"cursor": "c"},
        definition,
        request,
        False,
    )
