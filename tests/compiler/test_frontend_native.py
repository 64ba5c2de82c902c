"""Tests of the native front end: which directories it knows, what it finds in them, what it says of the rest."""

import pytest

from mcpc.frontends import FRONTENDS, select_frontends
from mcpc.options import Options
from support.projects import tree


@pytest.mark.parametrize("name", ["native", "mcbox"])
def test_a_format_can_be_forced_by_name_or_alias(name: str) -> None:
    found, problems = select_frontends(tree({"README": ""}), Options(format=name))
    assert found == FRONTENDS[:1]
    assert problems == ()


def test_names_of_formats_are_unique() -> None:
    known = [name for frontend in FRONTENDS for name in (frontend.name, *frontend.aliases)]
    assert len(known) == len(set(known))
