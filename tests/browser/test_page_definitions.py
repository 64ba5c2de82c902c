"""Resources, templates, prompts, skills and tasks; the raw conversation; commands that repeat a call elsewhere."""

import json
import subprocess
import sys

import pytest

from support.page_steps import call, choose, fill_raw, use_handshake


@pytest.fixture(scope="module")
def shared(page):
    with page(permissions=["clipboard-read", "clipboard-write"]) as opened:
        yield opened


@pytest.fixture
def tab(shared):
    """One tab for all tests, in the newest era and with all definitions listed."""
    if shared.locator("#revision").input_value():
        shared.select_option("#revision", "")
        shared.wait_for_selector("#state:has-text('stateless')")
    shared.get_by_role("button", name="All", exact=False).first.click()
    return shared


def test_resources_are_read_watched_and_told_of(tab):
    for era in ("stateless", "handshake"):
        if era == "handshake":
            use_handshake(tab)
        choose(tab, "test://watched-resource")
        tab.wait_for_selector(".outcome .result")
        tab.get_by_role("button", name="Subscribe", exact=True).click()
        tab.get_by_role("button", name="Unsubscribe").wait_for()
        tab.evaluate("""async () => {
            const meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {name: "t", version: "1"},
                "io.modelcontextprotocol/clientCapabilities": {}};
            const params = {name: "change_watched_resource", arguments: {text: "new"}, _meta: meta};
            await fetch("/mcp", {method: "POST", body: JSON.stringify({jsonrpc: "2.0", id: 1, method: "tools/call", params}),
                headers: {"Content-Type": "application/json", Accept: "application/json, text/event-stream",
                    "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": params.name}});
        }""")
        tab.wait_for_selector("article >> text=changed at")
    choose(tab, "test://static-binary")
    tab.wait_for_selector(".outcome img")


def test_a_template_is_filled_in_and_read(tab):
    choose(tab, "test://template/{id}/data")
    tab.get_by_label("id").fill("a b")
    tab.get_by_text("test://template/a%20b/data").wait_for()
    tab.get_by_label("id").fill("123")
    tab.keyboard.press("Control+Enter")
    tab.wait_for_selector(".outcome >> text=123")


def test_a_prompt_is_completed_and_shown(tab):
    choose(tab, "test_prompt_with_arguments")
    tab.get_by_label("arg1").fill("par")
    tab.get_by_role("option", name="park").wait_for()
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    assert tab.get_by_label("arg1").input_value() in ("paris", "park")
    tab.get_by_label("arg2").fill("two")
    tab.keyboard.press("Control+Enter")
    tab.wait_for_selector(".outcome >> text=arg2='two'")


def test_a_skill_is_read_with_its_files(tab):
    choose(tab, "skill://release-notes/SKILL.md")
    tab.wait_for_selector(".outcome >> text=release-notes")
    tab.locator(".files >> text=SKILL.md").first.wait_for()


def test_a_task_is_followed_asks_and_ends(tab):
    call(tab, "multi_input")
    for _ in range(2):
        question = tab.locator(".question").first
        answered = question.element_handle()
        question.get_by_role("button", name="JSON").click()
        question.locator("textarea").fill('{"name": "Ada", "age": 3}')
        question.get_by_role("button", name="Accept").click()
        answered.wait_for_element_state("hidden")  # or the next one to be answered would be this one again
    tab.wait_for_selector(".outcome >> text=Task completed")
    tab.get_by_role("button", name="Tasks").click()
    tab.locator(".row").first.click()
    tab.wait_for_selector("article >> text=Task completed")
    tab.get_by_role("button", name="All", exact=False).first.click()
    call(tab, "failing_job")
    tab.wait_for_selector(".outcome >> text=Tool error")
    call(tab, "protocol_error_job")
    tab.wait_for_selector(".outcome >> text=Protocol error")


def test_the_raw_conversation_has_everything(tab):
    call(tab, "test_simple_text")
    tab.wait_for_selector(".outcome .result")
    tab.locator(".drawer-tabs").get_by_role("button", name="Conversation", exact=False).click()
    tab.get_by_label("Filter the conversation").fill("tools/call")
    row = tab.locator(".exchanges li").first
    row.locator("summary").click()
    row.locator(".exchange").wait_for()
    text = row.inner_text()
    for part in ("tools/call", "200", "Mcp-Method", "content-type", '"test_simple_text"', "ms"):
        assert part in text, part
    tab.get_by_role("button", name="Copy all").click()
    copied = json.loads(tab.evaluate("navigator.clipboard.readText()"))
    assert any("test_simple_text" in each["request"]["body"] for each in copied)


def copied(tab, form: str) -> str:
    tab.locator(f"[data-form={form}]").click()
    tab.locator(f"[data-form={form}] >> text=Copied").wait_for()
    return tab.evaluate("navigator.clipboard.readText()")


@pytest.mark.parametrize("era", ["stateless", "handshake"])
def test_a_call_is_repeated_by_the_copied_commands(tab, era, everything):
    if era == "handshake":
        use_handshake(tab)
    choose(tab, "greet")
    fill_raw(tab, json.dumps({"name": 'Ada\'s "ünï" $HOME `x` \\ 🎉'}))
    assert copied(tab, "mcpc").startswith("./server.pyz call greet --json '")
    shell = subprocess.run(["bash", "-c", copied(tab, "curl")], capture_output=True, text=True, timeout=60, check=False)
    assert "Ada's" in shell.stdout, shell
    assert "🎉" in shell.stdout or "\\ud83c" in shell.stdout
    program = copied(tab, "Python")
    compile(program, "copied.py", "exec")
    assert everything.url in program


@pytest.mark.slow
def test_a_call_is_repeated_by_the_copied_program(tab):
    choose(tab, "greet")
    fill_raw(tab, json.dumps({"name": '"ünï" $HOME `x` 🎉'}))
    program = copied(tab, "Python")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert '"ünï" $HOME `x`' in done.stdout, done.stderr
