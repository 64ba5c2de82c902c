"""The browser of the tests refuses what no page of mcpc may do."""

import asyncio

import pytest

from support.browser import page


def test_a_page_without_faults_passes() -> None:
    with page() as tab:
        tab.goto("data:text/html,<title>quiet</title>")
        assert tab.title() == "quiet"


def test_a_request_that_leaves_the_machine_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="left the machine"), page(allowed_errors=("ERR_",)) as tab:
        tab.goto("data:text/html,<img src='http://example.invalid/picture.png'>")


def test_an_error_on_the_console_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="on the console"), page() as tab:
        tab.goto("data:text/html,<script>console.error('broken')</script>")


def test_other_tests_of_the_process_can_run_event_loops() -> None:
    async def nothing() -> int:
        return 5

    for _ in range(2):
        with page() as tab:
            tab.goto("data:text/html,<title>quiet</title>")
        assert asyncio.run(nothing()) == 5
        with page() as tab, page() as other:
            tab.goto("data:text/html,<title>one</title>")
            other.goto("data:text/html,<title>two</title>")
            assert tab.title() == "one"
