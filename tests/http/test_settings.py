"""What is usual is what the help page says, and adds up to what is promised."""

import re

from mcpc_runtime.http.embedded.parts import prepare
from mcpc_runtime.http.settings import DEFAULTS, MIB
from mcpc_runtime.http.words import OPTIONS

prepare()
from mcpc_runtime.http.embedded.server import ALIVE_AFTER, ALIVE_EVERY, ALIVE_TRIES  # noqa: E402


def test_the_help_page_says_what_is_usual():
    numbers = {}
    for field, _, _, _, says in OPTIONS.values():
        if found := re.search(r"\((\d+)( MiB)?\)$", says):
            numbers[field] = int(found[1]) * (MIB if found[2] else 1)
    assert numbers == {field: DEFAULTS[field] for field in numbers}
    assert {field for field in DEFAULTS if field.endswith("_seconds")} - numbers.keys() == {
        "decide_seconds",
        "resume_seconds",
    }


def test_a_client_that_vanishes_is_noticed_within_a_minute():
    """X11: by what is said on its stream, or, where nothing is said, by asking its system."""
    assert DEFAULTS["comment_seconds"] + DEFAULTS["vanished_seconds"] <= 60
    assert ALIVE_AFTER + ALIVE_EVERY * ALIVE_TRIES <= 60
