"""Programs that handlers need: found as the handler would find them, asked for their versions, never waited for long."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers import program_requirements as requirements
from mcpc_runtime.handlers.program_requirements import ProgramRequirements, parse_version, version_numbers
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms.reactor import Reactor
from support.processes import until


@pytest.mark.parametrize(
    ("output", "version"),
    [
        ("jq-1.6", "1.6"),
        ("git version 2.39.2 (Apple Git-143)", "2.39.2"),
        ("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)", "5.2.15"),
        ("less 590 (GNU regular expressions)", "590"),
        ("tool for x86_64, version 3.1.", "3.1"),
        ("v18.19.0\n", "18.19.0"),
        ("OpenSSL 3.0.11 19 Sep 2023", "3.0.11"),
        ("..  . a.b", ""), ("", ""), ("no number", ""), ("1..2 3.4", "3.4"), ("9" * 5000, ""),
        ("1234567890.1 123456789.1", "123456789.1"),
        ("9" * 5000 + ".1 1.2", "1.2"),
        ("\xff\xfe 1.2", "1.2"), ("٣.٤", ""),
    ],
)  # fmt: skip
def test_the_version_in_what_a_program_says(output: str, version: str) -> None:
    assert parse_version(output.encode("utf-8")) == version


@pytest.mark.parametrize(
    ("told", "wanted", "will_do"),
    [("1.6", "1.6", True), ("1.10", "1.9", True), ("1.9", "1.10", False), ("2", "1.9.9", True), ("1.6", "1.6.0", True),
     ("1.6.0", "1.6", True), ("0", "0.0", True), ("1.6", "1.6.1", False)],
)  # fmt: skip
def test_versions_are_compared_number_by_number(told: str, wanted: str, will_do: bool) -> None:
    assert (version_numbers(told) >= version_numbers(wanted)) is will_do


def program(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


class Shop:
    """Requirements with real processes, and definitions that need something."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        environment = {**os.environb, b"PATH": f"{folder}:/usr/bin:/bin".encode()}
        self.host = RunnerContext(Reactor(), SimpleNamespace(hooks=lambda name: (), index={"environments": ()}))  # type: ignore[arg-type]
        self.host._environments[0] = environment
        self.requirements = ProgramRequirements(self.host)
        self.questions: list[Any] = []

    def ask(self, *wanted: tuple[str, str]) -> str:
        answers = self.asked(*wanted)
        while not answers:
            self.host.reactor.turn()
        return answers[0]

    def asked(self, *wanted: tuple[str, str]) -> list[str]:
        answers: list[str] = []
        needing = SimpleNamespace(environment=0, requires=wanted)
        self.questions.append(self.requirements.start(needing, answers.append))
        return answers

    def counting(self, name: str, version: str) -> Path:
        program(self.folder, name, f'echo "$*" >>{self.folder}/{name}.log; echo "{name} {version}"')
        return self.folder / f"{name}.log"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.host.close()


def test_what_is_met_is_asked_for_once(shop: Shop) -> None:
    log = shop.counting("tool", "1.10")
    for _ in range(3):
        assert shop.ask(("sh", ""), ("tool", "1.9"), ("cat", "")) == ""
    assert log.read_text() == "--version\n"


def test_what_is_lacking_is_said_and_asked_for_again(shop: Shop) -> None:
    assert shop.ask(("sh", ""), ("tool", "1.9")) == "tool >= 1.9, which is not installed"
    assert shop.ask(("tool", "")) == "tool, which is not installed"
    shop.counting("tool", "1.5")
    assert shop.ask(("tool", "1.9")) == "tool >= 1.9, which is installed in version 1.5"
    shop.counting("tool", "2.0")
    assert shop.ask(("tool", "1.9")) == ""
    (shop.folder / "tool").unlink()
    assert shop.ask(("tool", "1.9")) == ""  # remembered: it is the handler that now says what happened


def test_an_answer_that_needs_no_process_comes_at_once(shop: Shop) -> None:
    assert shop.asked(("sh", "")) == [""]
    assert shop.asked(("absent", "")) == ["absent, which is not installed"]
    assert shop.host._supervisor is None


def test_programs_tell_their_versions_in_several_ways(shop: Shop) -> None:
    for body, answer in (
        ("echo 'tool 3.1' >&2; exit 2", ""),
        ("cat; echo 4.0", ""),
        ("echo hello", "tool >= 3, which is installed, but prints no version"),
    ):
        name = f"tool{len(body)}"
        program(shop.folder, name, body)
        assert shop.ask((name, "3")) == answer.replace("tool", name)


def test_one_that_never_ends_is_given_up(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "VERSION_SECONDS", 0.2)
    program(shop.folder, "tool", f"echo $$ >{shop.folder}/pid; exec sleep 600")
    assert "did not print its version within 0.2 seconds" in shop.ask(("tool", "1"))
    shop.host.close()
    written = (shop.folder / "pid").read_text() if (shop.folder / "pid").exists() else ""
    until(lambda: not written or not os.path.exists(f"/proc/{written.strip()}"))


def test_nobody_waits_any_more(shop: Shop) -> None:
    program(shop.folder, "tool", "exec sleep 600")
    answers = shop.asked(("tool", "1"))
    shop.requirements.stop(shop.questions[-1])
    assert shop.ask(("sh", "")) == ""
    assert answers == []


def test_no_room_to_ask_is_the_callers_to_know(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.counting("tool", "1.0")

    def refuse(*given: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(shop.requirements, "run", refuse)
    with pytest.raises(OSError, match="Too many"):
        shop.asked(("tool", "1"))
