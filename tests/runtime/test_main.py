"""What a built server does when it is started: a command, or to serve, and the status it ends with."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime import main
from mcpc_runtime.artifact import start_options


class Ended(BaseException):
    """The process has ended; its status is the argument."""


def end(status: int) -> None:
    raise Ended(status)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Start a server; return its status, what happened, and the arguments of its program."""

    def start(*arguments: str, is_terminal: bool = False, **index: Any) -> tuple[Any, list[Any], Any]:
        happened: list[Any] = []
        image = SimpleNamespace(program_arguments=None)
        monkeypatch.setattr(main, "list_at_run_time", lambda image, kind: happened.append(kind))
        monkeypatch.setattr(main, "open_image", lambda loader, index: image)
        monkeypatch.setattr(main.system, "isatty", lambda number: is_terminal and number == 0)
        monkeypatch.setattr(main.system, "_exit", end)
        monkeypatch.setattr(main, "greet", lambda image, archive: happened.append(("greet", archive)))
        monkeypatch.setattr(
            main, "serve", lambda image, archive, options: happened.append(("serve", archive, options)) or 5
        )
        monkeypatch.setattr(main, "run_command", lambda image, archive, given: happened.append((archive, given)) or 6)
        with pytest.raises(Ended) as ended:
            main.main("a.pyz", list(arguments), None, index)  # type: ignore[arg-type]
        return ended.value.args[0], happened, image.program_arguments

    return start


def test_a_server_serves_or_runs_a_command(started: Callable[..., Any]) -> None:
    assert started() == (5, [("serve", "a.pyz", [])], None)
    assert started(is_terminal=True) == (5, [("greet", "a.pyz"), ("serve", "a.pyz", [])], None)
    assert started("call", "x", is_terminal=True) == (6, [("a.pyz", ["call", "x"])], None)
    assert started("call", "--", "x") == (6, [("a.pyz", ["call", "--", "x"])], None)


def test_what_follows_the_dashes_is_the_program_s(started: Callable[..., Any]) -> None:
    assert started("--", "x", "--", "y", takes_arguments=True) == (5, [("serve", "a.pyz", [])], ["x", "--", "y"])
    assert started("call", "--", takes_arguments=True) == (6, [("a.pyz", ["call"])], [])
    assert started("call", takes_arguments=True) == (6, [("a.pyz", ["call"])], None)
    lists = {"takes_arguments": True, "run_time": {"by_arguments": ("prompts", "tools")}}
    assert started("--", "x", **lists) == (5, ["prompts", "tools", ("serve", "a.pyz", [])], ["x"])
    assert started("--read-only", "--", "x", **lists)[1][-1] == ("serve", "a.pyz", ["--read-only"])
    assert started(**lists) == (5, [("serve", "a.pyz", [])], None)


def test_serving_ends_with_the_driver_s_status_or_that_of_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Driver:
        status = 7
        session = SimpleNamespace()

        def __init__(self, *given: object) -> None:
            made.append(given[1:])

        def run(self) -> None:
            made.append(("run", self.leave))  # type: ignore[attr-defined]
            if Driver.status == 8:
                raise KeyboardInterrupt

    image: Any = SimpleNamespace(index={}, hooks=lambda name: [name])
    monkeypatch.setattr(main, "StdioDriver", Driver)
    monkeypatch.setattr(main, "Session", lambda image: "session")
    monkeypatch.setattr(main, "Channel", lambda limit: ("channel", limit))
    monkeypatch.setattr(main, "call_rows", lambda rows, image: made.append(rows))
    monkeypatch.setattr(main, "how_to_set_in_clients", lambda archive: f"how to set it in {archive}")
    monkeypatch.setattr(main, "report_settings", lambda image, how_to_set: made.append(how_to_set()))
    limit = 18 << 20
    served = [["start"], ("session", ("channel", limit), limit), ("run", main.system._exit)]
    assert (main.serve(image, "a.pyz", []), made) == (7, served)
    made.clear()
    image.index = {"settings": ()}
    Driver.status = 8
    assert (main.serve(image, "a.pyz", []), made) == (130, ["how to set it in a.pyz", *served])


def test_options_of_serving_need_no_command(started: Callable[..., Any]) -> None:
    assert tuple(start_options.OPTIONS) == main.OPTIONS
    assert tuple(start_options.variable_of(name).encode() for name in main.OPTIONS) == main.VARIABLES
    for words in (["--tools", "x"], ["--tools=x"], ["--read-only"], ["--tolerant=auto"]):
        assert started(*words) == (5, [("serve", "a.pyz", words)], None)
    assert started("--tool", "x") == (6, [("a.pyz", ["--tool", "x"])], None)
    assert started("--read-only", "--", "y", takes_arguments=True) == (5, [("serve", "a.pyz", ["--read-only"])], ["y"])
