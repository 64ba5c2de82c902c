"""The corpus of messages is answered on every machine as on the one that built the file, over pipes and over HTTP."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from corpus.cases import REVISIONS, cases
from platforms import answers, projects
from platforms.conftest import serving
from support import machines

if TYPE_CHECKING:
    from collections.abc import Callable

    from platforms.answers import Answers
    from support.machines import Machine


@cache
def expected(artifact: Path) -> Answers:
    """Return the answers of the machine that built the file: those that came with it, or those of this machine."""
    elsewhere = os.environ.get(projects.BUILT)
    if elsewhere:
        found: Answers = json.loads((Path(elsewhere) / projects.ANSWERS).read_text("utf-8"))
        return found
    return answers.over_pipes(machines.machine(machines.NATIVE), artifact)


@pytest.mark.parametrize("revision", REVISIONS)
def test_pipes_give_the_same_answers(machine: Machine, file_of: Callable[[str], Path], revision: str) -> None:
    found = answers.over_pipes(machine, file_of("everything"), [revision])
    assert len(found[revision]) >= len({case.name for case in cases(revision)})
    assert not answers.differences(expected(file_of("everything")), found)


def test_http_gives_the_same_answers(machine: Machine, file_of: Callable[[str], Path]) -> None:
    with serving(machine, file_of("everything")) as site:
        found = answers.over_http(site)
    assert not answers.differences(expected(file_of("everything")), found)
