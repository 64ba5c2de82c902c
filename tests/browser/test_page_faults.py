"""What a hostile or broken server may send, and who may not use the page."""

import json
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from support.artifact import build
from support.browser import page as browser_page
from support.page_steps import WAIT_MILLISECONDS, await_count, call, opened
from support.serving import served

BROKEN = ("Failed to load resource", "net::ERR")
MARKUP = "<img src=http://example.invalid/x onerror=alert(1)><script>alert(2)</script>"
HIDDEN = "a\u202eb\u0007c\u200bd"
TOKEN = "a-token-that-is-long-enough-for-a-person"


def answer_lists(tab, tools: list[dict], **results: object) -> None:
    """Have the server offer other tools, and answer their calls otherwise."""

    def handle(route):
        asked = json.loads(route.request.post_data or "{}")
        method = asked.get("method")
        if method == "tools/list":
            fulfil(route, asked, {"resultType": "complete", "tools": tools})
        elif method == "tools/call" and asked["params"]["name"] in results:
            given = results[asked["params"]["name"]]
            if isinstance(given, str):
                route.fulfill(body=given, content_type="application/json")
            else:
                fulfil(route, asked, given)
        else:
            route.fallback()

    def fulfil(route, asked: dict, found: object) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": found})
        route.fulfill(body=body, content_type="application/json")

    tab.route("**/mcp", handle)
    tab.route("**/ui/validate", lambda route: route.fulfill(json={"checked": False, "problems": []}))


@pytest.fixture
def mocked(everything):
    """Open the page of a server whose tools and results a test decides: `with mocked(tools, name=result) as tab`."""

    @contextmanager
    def opening(tools, allowed=(), **results):
        with browser_page(viewport={"width": 1280, "height": 800}, allowed_errors=allowed) as tab:
            tab.set_default_timeout(WAIT_MILLISECONDS)
            answer_lists(tab, tools, **results)
            tab.goto(f"{everything.root}/ui/")
            tab.wait_for_selector(".row")
            yield tab

    return opening


def tool(name: str, **more: object) -> dict:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def test_names_and_texts_of_a_server_are_text(mocked):
    tools = [
        tool(MARKUP, description=MARKUP * 100, title=MARKUP),
        tool(HIDDEN, description=f"{HIDDEN}\u2028x\ud83d"),
        tool("odd", description=5, title=[], annotations="x", _meta=7, inputSchema=None, outputSchema=3),
        tool("many", description="long " * 20_000),
    ]
    result = {"content": [{"type": "text", "text": MARKUP + HIDDEN}, {"type": "image", "mimeType": "text/html", "data": "x"},
                          {"type": "resource_link", "uri": "javascript:alert(3)", "name": MARKUP}, 5, None, {"type": 7}],
              "structuredContent": {"__proto__": 1, MARKUP: HIDDEN}}  # fmt: skip
    with mocked(tools, odd=result) as tab:
        for _ in tools:
            tab.keyboard.press("ArrowDown")
            tab.press("#list", "ArrowDown")
            tab.press("#list", "Enter")
            tab.wait_for_selector(".heading h2")
        tab.locator(".row", has_text="⟨U+202E⟩").click()
        assert "⟨U+202E⟩" in tab.locator(".heading h2").inner_text()
        call(tab, "odd")
        tab.wait_for_selector(".outcome .result")
        assert tab.locator("main img, main script, main iframe").count() == 0
        tab.get_by_role("tab", name="Structured").click()
        assert MARKUP in tab.locator(".panel").last.inner_text()


def test_a_huge_result_is_rendered_in_part(mocked):
    text = "line of text\n" * 240_000
    with mocked([tool("huge")], huge={"content": [{"type": "text", "text": text}]}) as tab:
        call(tab, "huge")
        tab.wait_for_selector(".outcome .result")
        assert tab.evaluate("document.body.innerText.length") < 100_000
        tab.get_by_role("tab", name="JSON").click()
        tab.get_by_role("button", name="Show more", exact=False).click()
        assert tab.evaluate("document.body.innerText.length") < 2_000_000


def test_a_malformed_answer_is_told(mocked):
    bodies = ["", "not json", "[]", "5", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":99,"result":{}}']
    tools = [tool(f"broken_{number}") for number in range(len(bodies))]
    with mocked(tools, **{each["name"]: body for each, body in zip(tools, bodies, strict=True)}) as tab:
        for each in tools:
            call(tab, each["name"])
            tab.wait_for_selector(".outcome .result.bad")


def test_an_address_is_opened_only_by_a_click_and_only_on_the_web(mocked):
    def asking(url: str) -> dict:
        params = {"mode": "url", "url": url, "message": "Sign in", "elicitationId": "1"}
        return {"method": "elicitation/create", "params": params}

    requests = {"web": asking("https://example.invalid/sign-in"), "script": asking("javascript:alert(1)")}
    result = {"resultType": "input_required", "inputRequests": requests, "requestState": "x"}
    with mocked([tool("asks")], asks=result) as tab:
        call(tab, "asks")
        tab.wait_for_selector(".question >> text=javascript:alert(1)")
        links = tab.locator(".question a")
        assert links.evaluate_all("all => all.map((each) => [each.href, each.rel, each.target])") == [
            ["https://example.invalid/sign-in", "noopener noreferrer", "_blank"]
        ]
        tab.get_by_role("button", name="Cancel", exact=True).click()
        tab.wait_for_selector(".outcome >> text=cancelled")
        await_count(tab.locator(".question"), 0)


def test_ten_thousand_tools_are_a_list_of_a_few_rows(mocked):
    tools = [tool(f"tool_{number}", description=f"Does the thing with number {number}.") for number in range(10_000)]
    with mocked(tools) as tab:
        tab.wait_for_selector(".kind >> text=10011")
        assert tab.locator(".row").count() < 60
        tab.fill("#filter", "tool_9999")
        await_count(tab.locator(".row"), 1)
        tab.fill("#filter", "")
        tab.press("#list", "End")
        await_count(tab.locator(".row.active"), 1)


@pytest.mark.slow
def test_a_server_that_dies_in_a_call_is_told_of_and_found_again(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "server.json").write_text('{"serverInfo": {"name": "dies", "version": "1"}}')
    (project / "tools.py").write_text(
        'import time\n\nfrom mcpc import tool\n\n\n@tool\ndef sleeps() -> str:\n    """Sleep."""\n'
        "    time.sleep(60)\n    return 'woke'\n"
    )
    artifact = build(project, tmp_path / "dies.pyz", "--ui")
    with served(artifact, "--ui") as server, opened(f"{server.root}/ui/", allowed_errors=BROKEN) as tab:
        call(tab, "sleeps")
        tab.wait_for_selector(".running:not([hidden])")
        server.process.kill()
        server.process.wait()
        tab.wait_for_selector(".outcome .result.bad")
        tab.wait_for_selector("#state[data-tone=bad]")
        port = server.root.rpartition(":")[2]
        with served_at(artifact, port):
            tab.wait_for_selector("#state[data-tone=good]")


def served_at(artifact, port):
    """Serve at a port that was used before."""
    return served(artifact, "--ui", "--http", port)


def test_a_token_is_asked_for_and_kept_out_of_the_address(everything, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ann {TOKEN}\n")
    tokens.chmod(0o600)
    artifact = everything.process.args[1]
    with served(artifact, "--ui", "--token-file", str(tokens)) as server:
        request = urllib.request.Request(f"{server.root}/ui/validate", b"{}", {"Content-Type": "application/json"})
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(request)
        with browser_page(allowed_errors=BROKEN) as tab:
            tab.set_default_timeout(WAIT_MILLISECONDS)
            tab.goto(f"{server.root}/ui/#token=wrong-{TOKEN}")
            tab.wait_for_selector("dialog >> text=the token was refused")
            tab.fill("#token-value", TOKEN)
            tab.keyboard.press("Enter")
            tab.wait_for_selector(".row")
        with browser_page() as tab:
            tab.set_default_timeout(WAIT_MILLISECONDS)
            tab.goto(f"{server.root}/ui/#token={TOKEN}")
            tab.wait_for_selector(".row")
            assert TOKEN not in tab.url
            call(tab, "test_simple_text")
            tab.wait_for_selector(".outcome >> text=This is a simple text")


def test_a_file_without_the_page_says_how_to_build_it(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "server.json").write_text('{"serverInfo": {"name": "plain", "version": "1"}}')
    (project / "tools.py").write_text(
        'from mcpc import tool\n\n\n@tool\ndef first() -> str:\n    """Be first."""\n    return ""\n'
    )
    artifact = build(project, tmp_path / "plain.pyz", "--http")
    with pytest.raises(RuntimeError, match="build it with `mcpc build --ui`"), served(artifact, "--ui"):
        pass
    assert b"page/index.html" not in artifact.read_bytes()
