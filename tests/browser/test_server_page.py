"""The documentation of a server in Chromium: no request, no error, readable for all, on paper and on a phone."""

from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Page

from compiler.documentation.test_pages import FACTS
from mcpc.cli.built_contents import artifact_contents
from mcpc.workbench.documentation import FORMATS, page_of
from support.artifact import build
from support.browser import page
from support.needs import ROOT
from support.scale import scaled

ADDRESS = "http://127.0.0.1/server.html"
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
PHONE, DESK = {"width": 400, "height": 800}, {"width": 1280, "height": 900}


def shown(tab: Page, facts: dict[str, Any]) -> None:
    text = FORMATS["html"](page_of(facts, {}))
    tab.route(ADDRESS, lambda route: route.fulfill(body=text, content_type="text/html"))
    tab.goto(ADDRESS)


def serious(tab: Page) -> list[str]:
    """What axe finds that is serious; its script is run from outside, because the page's policy refuses it."""
    tab.evaluate(AXE.read_text())
    found = tab.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{row['id']}: {row['nodes'][0]['html']}"
        for row in found["violations"]
        if row["impact"] in ("serious", "critical")
    ]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return artifact_contents(build(ROOT / "examples/everything", tmp_path_factory.mktemp("built") / "server.pyz"))


@pytest.mark.parametrize(("viewport", "scheme"), [(PHONE, "dark"), (DESK, "light")])
def test_the_page_is_usable(everything: dict[str, Any], viewport: dict[str, int], scheme: str) -> None:
    with page(viewport=viewport, color_scheme=scheme) as tab:
        shown(tab, everything)
        assert not serious(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        box = tab.get_by_label("Filter tools")
        box.fill("json schema")
        assert tab.locator("article:visible h3").first.text_content() == "json_schema_2020_12_tool"
        assert tab.locator("#index li:visible").count() == 1
        assert tab.get_by_role("status").inner_text() == f"1 of {len(everything['tools'])} tools"
        box.fill("")
        tab.get_by_role("link", name="slow_compute").press("Enter")
        tab.locator("#tool-slow_compute:target").wait_for()
        tab.locator("summary", has_text="Cursor").press("Enter")
        tab.locator("details[open] pre", has_text="mcpServers").wait_for()


def test_a_hostile_page_does_nothing() -> None:
    with page(viewport=PHONE) as tab:
        shown(tab, FACTS)
        assert tab.evaluate("document.scripts.length") == 1
        assert not serious(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_policy_refuses_other_scripts_and_requests() -> None:
    with page(allowed_errors=("Content Security Policy", "Content-Security-Policy")) as tab:
        shown(tab, {"name": "n", "version": "1"})
        tab.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))"
        )
        assert tab.evaluate("window.ran") is None
        assert tab.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')") == "refused"


def test_many_tools_can_be_filtered() -> None:
    tools = [
        {"name": f"tool_{at}", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
        for at in range(scaled(10_000, 2_000))
    ]
    with page(viewport=DESK) as tab:
        shown(tab, {"name": "many", "version": "1", "tools": tools})
        assert tab.locator("details[open]").count() == 0
        tab.get_by_label("Filter tools").fill("tool_1999")
        assert tab.locator("#index li:not([hidden])").count() == 1
        assert tab.locator("article:visible h3").all_text_contents() == ["tool_1999"]
