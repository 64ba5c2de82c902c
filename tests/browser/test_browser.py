"""The browser of the tests refuses what no page of mcpc may do."""

from __future__ import annotations

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
