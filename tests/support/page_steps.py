"""What a person does on the page of a server, as steps of tests in Chromium."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Locator, Page, expect

from support.browser import page as browser_page

WAIT_MILLISECONDS = 40_000
"""How long a step may take: the machine may be busy with other tests."""


@contextmanager
def opened(address: str, **options: Any) -> Iterator[Page]:
    """Yield a tab with the page at an address, connected."""
    with browser_page(**{"viewport": {"width": 1280, "height": 800}, **options}) as tab:
        tab.set_default_timeout(WAIT_MILLISECONDS)
        tab.goto(address)
        tab.wait_for_selector(".row")
        yield tab


def choose(tab: Page, name: str) -> None:
    """Open a definition by the filter and the keyboard."""
    tab.fill("#filter", name)
    tab.press("#filter", "Enter")
    tab.wait_for_selector(f".heading h2:has-text('{name.split()[-1]}')")


def await_count(elements: Locator, count: int) -> None:
    expect(elements).to_have_count(count, timeout=WAIT_MILLISECONDS)


def call(tab: Page, name: str, **arguments: str) -> None:
    """Open a tool, fill in texts, and call it."""
    choose(tab, name)
    for label, value in arguments.items():
        tab.get_by_label(label, exact=True).first.fill(value)
    tab.keyboard.press("Control+Enter")


def result(tab: Page) -> str:
    return tab.locator(".outcome .result .head").first.inner_text() + tab.locator(".outcome").inner_text()


def use_handshake(tab: Page, version: str = "2025-11-25") -> None:
    """Switch the era."""
    tab.select_option("#revision", version)
    tab.wait_for_selector(f"#state:has-text('handshake {version}')")


def fill_raw(tab: Page, text: str) -> None:
    tab.locator("article .arguments").get_by_role("button", name="JSON").click()
    tab.locator("article .arguments textarea").fill(text)
