"""The page by keyboard, at 400 pixels, dark and light, and by axe's rules."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from support.page_steps import call, choose

NARROW = {"width": 400, "height": 800}
WIDE = {"width": 1280, "height": 800}
SERIOUS = ("serious", "critical")


def findings(tab) -> list[str]:
    found = Axe().run(tab).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}" for each in found if each["impact"] in SERIOUS for node in each["nodes"]
    ]


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        (NARROW, "dark"),
        pytest.param(WIDE, "light", marks=pytest.mark.slow),
        pytest.param(NARROW, "light", marks=pytest.mark.slow),
        pytest.param(WIDE, "dark", marks=pytest.mark.slow),
    ],
    ids=["narrow-dark", "wide-light", "narrow-light", "wide-dark"],
)
def test_axe_finds_nothing_serious(page, scheme, size):
    with page(viewport=size, color_scheme=scheme) as tab:
        assert findings(tab) == []
        call(tab, "json_schema_2020_12_tool")
        tab.wait_for_selector(".outcome .result")
        tab.get_by_role("button", name="Conversation", exact=False).click()
        tab.locator(".exchanges summary").first.click()
        assert findings(tab) == []
        tab.keyboard.press("Escape")  # closes the conversation
        tab.keyboard.press("/")
        call(tab, "test_input_required_result_elicitation")
        tab.wait_for_selector(".question")
        assert findings(tab) == []


def test_nothing_is_wider_than_a_narrow_screen(page):
    with page(viewport=NARROW) as tab:
        for name in ("test_simple_text", "json_schema_2020_12_tool", "test://template/{id}/data"):
            choose(tab, name)
            assert tab.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
            assert tab.evaluate("document.querySelector('main').scrollWidth") <= NARROW["width"]
            tab.locator(".back").click()


SMALL = """() => [...document.querySelectorAll('button, select, input, textarea, summary, [role=option]')]
  .filter((each) => each.checkVisibility({visibilityProperty: true}))
  .map((each) => [each.outerHTML.slice(0, 120), each.getBoundingClientRect()])
  .filter(([, {width, height}]) => width > 1 && Math.min(width, height) < 44)
  .map(([html, {width, height}]) => `${width} x ${height}: ${html}`)"""
"""What a person can press or fill in, and which is smaller than a finger."""


def test_targets_are_as_large_as_a_finger_on_a_narrow_screen(page):
    with page(viewport=NARROW) as tab:
        assert tab.evaluate(SMALL) == []
        call(tab, "json_schema_2020_12_tool")
        tab.wait_for_selector(".outcome .result")
        tab.get_by_role("button", name="Conversation", exact=False).click()
        tab.wait_for_selector(".exchanges summary")
        assert tab.evaluate(SMALL) == []


def test_the_first_tool_is_open_at_the_start_with_nothing_wrong(page):
    with page() as tab:
        first = tab.locator(".row[data-kind=tool] .name").first.inner_text()
        tab.wait_for_selector(f".heading h2:has-text('{first}')")
        assert tab.locator("[aria-invalid], .arg-problem:visible").count() == 0
        tab.get_by_role("button", name="Everything", exact=False).first.click()
        tab.wait_for_selector(".heading .kind-word >> text=server")
    with page(viewport=NARROW) as tab:
        assert tab.locator(".row").first.is_visible()
        assert not tab.locator("main").is_visible()


def test_everything_is_reached_by_keyboard(page):
    with page() as tab:
        tab.keyboard.press("/")
        tab.keyboard.type("test_simple_text")
        tab.keyboard.press("ArrowDown")
        tab.keyboard.press("Enter")
        tab.wait_for_selector(".heading h2:has-text('test_simple_text')")
        tab.keyboard.press("Control+Enter")
        tab.wait_for_selector(".outcome >> text=This is a simple text")
        names = set()
        for _ in range(60):
            tab.keyboard.press("Tab")
            names.add(tab.evaluate("document.activeElement.textContent.trim().slice(0, 20)"))
            outline = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none" or tab.evaluate(
                "['BODY', 'MAIN', 'HTML'].includes(document.activeElement.tagName)"
            )
        assert {"mcpc", "curl", "Python"} <= names
        tab.keyboard.press("Escape")
        tab.wait_for_selector(".heading h2:has-text('Everything')")
        assert tab.evaluate("document.activeElement.id") == "filter"


@pytest.mark.slow
def test_colours_are_switched_and_kept(page):
    with page(color_scheme="light") as tab:
        light = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        tab.click("#theme")
        tab.click("#theme")
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != light
        tab.reload()
        tab.wait_for_selector(".row")
        assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.slow
def test_a_reload_and_the_back_button_find_what_was_open(page):
    with page() as tab:
        choose(tab, "greet")
        choose(tab, "test_simple_text")
        tab.reload()
        tab.wait_for_selector(".heading h2:has-text('test_simple_text')")
        tab.go_back()
        tab.wait_for_selector(".heading h2:has-text('greet')")
