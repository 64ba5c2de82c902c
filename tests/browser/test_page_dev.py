"""`mcpc dev --ui`: the page is open before the first build succeeds, and shows builds, changes and errors as they come."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from support.artifact import SOURCES
from support.browser import page as browser_page
from support.needs import needs
from support.page_steps import WAIT_MILLISECONDS, call
from support.processes import run_program

BROKEN = "from mcpc import tool\n\n\n@tool\ndef add(a: int, b: int = 2) -> int\n    return a + b\n"
GOOD = 'from mcpc import tool\n\n\n@tool\ndef add(a: int, b: int = 2) -> int:\n    """Add."""\n    return a + b\n'
STRICT = GOOD.replace("b: int = 2", "b: int")
ADDRESS = re.compile(r"the page is (http://\S+/ui/)#dev=(\S+)")
INCOMPLETE = tuple(
    {"name": "x", "complete": each} for each in ({}, {"prompt": "p"}, {"argument": "a"}, {"prompt": 1, "argument": "a"})
)
REFUSED = ("Failed to load resource",)


@contextmanager
def developed(project: Path, *words: str) -> Iterator[tuple[str, str]]:
    """Run `mcpc dev --ui` for a project; yield the address of the page, and its token."""
    needs("chromium")
    (project / "server.json").write_text('{"serverInfo": {"name": "demo", "version": "1"}}')
    log = project.parent / "dev.log"
    command = [sys.executable, "-m", "mcpc", "dev", "--ui", *words, str(project)]
    with log.open("wb") as stream:
        environment = {**os.environ, "PYTHONPATH": SOURCES}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=environment)
    try:
        until = time.monotonic() + WAIT_MILLISECONDS / 1000
        while (found := ADDRESS.search(log.read_text())) is None:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.05)
        yield found[1], found[2]
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_a_failed_build_is_shown_then_repaired_then_changed(project):
    (project / "tools.py").write_text(BROKEN)
    with developed(project) as (address, token), browser_page(allowed_errors=REFUSED) as tab:
        tab.set_default_timeout(WAIT_MILLISECONDS)
        tab.goto(f"{address}#dev={token}")
        tab.wait_for_selector("#banner .build.bad >> text=tools.py:5")
        assert token not in tab.url

        (project / "tools.py").write_text(GOOD)
        tab.wait_for_selector(".row >> text=add")
        assert tab.locator("#banner .build").count() == 0
        call(tab, "add")
        tab.wait_for_selector(".outcome >> text=missing required property")
        tab.get_by_label("a", exact=True).first.fill("40")
        tab.keyboard.press("Control+Enter")
        tab.wait_for_selector(".outcome >> text=42")

        (project / "tools.py").write_text(STRICT)
        tab.get_by_role("button", name="Builds", exact=False).click()
        tab.wait_for_selector("#drawer .changes >> text=tool:add")
        assert "breaking" in tab.locator("#drawer .changes").inner_text()

        (project / "tools.py").write_text(BROKEN)
        tab.wait_for_selector("#banner .banner.bad")
        tab.keyboard.press("Control+Enter")
        tab.wait_for_selector(".outcome .result")


RAISING = GOOD.replace("return a + b", "return {}['Oslo'] + b")


def test_the_log_has_the_traceback_of_a_handler_for_who_has_the_token(project):
    (project / "tools.py").write_text(RAISING)
    with developed(project) as (address, token), browser_page(allowed_errors=REFUSED) as tab:
        tab.set_default_timeout(WAIT_MILLISECONDS)
        tab.goto(f"{address}#dev={token}")
        tab.wait_for_selector(".row >> text=add")
        call(tab, "add", a="1")
        tab.wait_for_selector(".outcome >> text=KeyError: 'Oslo'")
        tab.wait_for_selector("#drawer [data-tone=bad] >> text=Log")
        tab.get_by_role("button", name="Log", exact=False).last.click()
        entry = tab.locator("#drawer .log li", has_text="Traceback (most recent call last):")
        entry.get_by_text("return {}['Oslo'] + b").wait_for()
        assert entry.inner_text().rstrip().endswith("KeyError: 'Oslo'")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{address}dev/builds?after=0", timeout=60)


def test_a_call_is_saved_as_a_test_and_nothing_else_is_written(project):
    (project / "tools.py").write_text(GOOD)
    with developed(project) as (address, token):
        check_what_is_refused(project, f"{address}dev/tests", {"Authorization": f"Bearer {token}"})
        with browser_page(allowed_errors=REFUSED) as tab:
            tab.set_default_timeout(WAIT_MILLISECONDS)
            tab.goto(f"{address}#dev={token}")
            tab.wait_for_selector(".row >> text=add")
            call(tab, "add", a="1")
            tab.wait_for_selector(".outcome >> text=Success")
            tab.get_by_role("button", name="Save as a test").click()
            tab.get_by_label("Name").last.fill("one and two")
            tab.get_by_role("button", name="Save", exact=True).click()
            tab.wait_for_selector("dialog >> text=saved in tests/recorded.yaml")
    assert "one and two" in (project / "tests/recorded.yaml").read_text()
    assert [path.name for path in (project / "tests").iterdir()] == ["recorded.yaml"]


PROMPT = """from mcpc import completion, prompt


@prompt
def travel(country: str, city: str) -> str:
    \"\"\"Plan a journey.\"\"\"
    return city


@completion("travel", "city")
def cities(value: str, context_arguments: dict[str, str]) -> list[str]:
    return [f"{value}ris", context_arguments["country"]]
"""


def test_suggestions_are_saved_as_a_test(project):
    (project / "prompts.py").write_text(PROMPT)
    with developed(project) as (address, token), browser_page(allowed_errors=REFUSED) as tab:
        tab.set_default_timeout(WAIT_MILLISECONDS)
        tab.goto(f"{address}#dev={token}")
        tab.locator(".row >> text=travel").click()
        tab.get_by_label("country").fill("FR")
        tab.get_by_label("city").fill("Pa")
        tab.wait_for_selector(".choices >> text=Paris")
        tab.keyboard.press("Escape")
        tab.get_by_role("button", name="Save as a test").click()
        tab.get_by_label("Expect").select_option(label="these suggestions for city")
        tab.get_by_role("button", name="Save", exact=True).click()
        tab.wait_for_selector("dialog >> text=saved in tests/recorded.yaml")
    (case,) = yaml.safe_load((project / "tests/recorded.yaml").read_text())["tests"]
    assert case["complete"] == {"prompt": "travel", "argument": "city", "value": "Pa"}
    assert (case["arguments"], case["expect"]) == ({"country": "FR"}, {"values": ["Paris", "FR"]})
    assert "prompt" not in case


def check_what_is_refused(project, tests: str, bearer: dict[str, str]) -> None:
    case = {"name": "x", "tool": "add", "expect": {}}
    json_type = {"Content-Type": "application/json"}
    assert post(tests, case, **json_type) == 401
    assert post(tests, case, Authorization="Bearer x", **json_type) == 401
    assert post(tests, case, **bearer, Origin="http://evil.example", **json_type) == 403
    assert post(tests, case, **bearer, Host="evil.example", **json_type) == 421
    assert post(tests, case, **bearer, **{"Content-Type": "text/plain"}) == 415
    for wrong in ({}, [], {**case, "name": "a\nb"}, {**case, "era": "x"}, {**case, "arguments": [1]}, *INCOMPLETE):
        assert post(tests, wrong, **bearer, **json_type) == 400
    assert not (project / "tests").exists()


def post(address: str, body: object, **headers: str) -> int:
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


def test_the_page_of_dev_is_for_this_machine(project):
    (project / "tools.py").write_text(GOOD)
    command = [sys.executable, "-m", "mcpc", "dev", "--ui", "--http", "0.0.0.0:8000", str(project)]
    done = run_program(command, env={**os.environ, "PYTHONPATH": SOURCES}, status=2)
    assert "expected a loopback address" in done.stderr
