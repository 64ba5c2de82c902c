"""Calls by hand: results in their forms, progress, logs, cancellation, and what a server asks, in both eras."""

import json
import random

import pytest

from support.artifact import build
from support.files import write_files
from support.page_steps import await_count, call, choose, fill_raw, opened, result, use_handshake
from support.processes import running, until
from support.serving import served

FORM = {"username": "Ada", "email": "ada@example.com"}


@pytest.fixture(scope="module", params=("stateless", "handshake"))
def tab(request, page):
    with page() as opened_page:
        if request.param == "handshake":
            use_handshake(opened_page)
        yield opened_page


def test_a_tool_is_called_and_its_text_is_shown(tab):
    call(tab, "test_simple_text")
    tab.wait_for_selector(".outcome >> text=This is a simple text response for testing.")
    assert "Success" in result(tab)
    call(tab, "test_error_handling")
    tab.wait_for_selector(".outcome >> text=This tool intentionally returns an error for testing")
    assert "Tool error" in result(tab)


def test_images_sounds_and_resources_of_a_result_are_shown(tab):
    call(tab, "test_multiple_content_types")
    tab.wait_for_selector(".outcome img")
    assert tab.locator(".outcome img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    assert tab.locator(".outcome .content").count() == 3
    call(tab, "test_audio_content")
    tab.wait_for_selector(".outcome audio")
    tab.get_by_role("tab", name="JSON").click()
    assert '"audio"' in tab.locator(".outcome .code").first.inner_text()


def test_progress_and_logs_are_shown(tab):
    tab.select_option("#level", "debug")
    call(tab, "test_tool_with_progress")
    tab.wait_for_selector(".outcome >> text=all steps are completed")
    call(tab, "test_logging_tool")
    tab.wait_for_selector(".outcome >> text=one message was logged")
    tab.get_by_role("button", name="Log", exact=False).last.click()
    log = tab.locator("#drawer .log")
    log.get_by_text("somebody wanted to hear this").wait_for()
    assert "50 of 100" in log.inner_text()


def test_a_call_is_cancelled(tab):
    choose(tab, "slow_compute")
    seconds = f"{random.uniform(90, 99):.5f}"
    fill_raw(tab, json.dumps({"seconds": float(seconds), "label": "x"}))
    tab.keyboard.press("Control+Enter")
    if "handshake" in tab.locator("#state").inner_text():
        tab.get_by_role("button", name="Cancel", exact=True).click()
        tab.wait_for_selector(".outcome >> text=cancelled")
    else:
        tab.get_by_role("button", name="Cancel the task").click()
        tab.wait_for_selector(".outcome >> text=Task cancelled")


WAITING = {
    "server.json": {"serverInfo": {"name": "waiting", "version": "1"}},
    "tools.json": {"tools": [{"name": "wait", "description": "Wait.", "inputSchema": {"type": "object"}}]},
    "tools.bash": "tool_wait() { sleep 98.7654; }\n",
}


def test_a_call_that_is_no_task_is_cancelled_and_its_processes_end(tmp_path):
    artifact = build(write_files(tmp_path / "waiting", WAITING), tmp_path / "server.pyz", "--ui")
    with served(artifact, "--ui") as server, opened(f"{server.root}/ui/") as tab:
        assert "stateless" in tab.locator("#state").inner_text()
        call(tab, "wait")
        until(lambda: running("sleep", "98.7654"))
        tab.get_by_role("button", name="Cancel", exact=True).click()
        tab.wait_for_selector(".outcome >> text=cancelled")
        until(lambda: not running("sleep", "98.7654"))


def test_a_form_is_answered_by_hand(tab):
    choose(tab, "test_elicitation ")
    fill_raw(tab, '{"message": "Who are you?"}')
    tab.keyboard.press("Control+Enter")
    question = tab.locator(".question")
    question.get_by_text("Who are you?").wait_for()
    question.get_by_role("button", name="JSON").click()
    question.locator("textarea").fill(json.dumps(FORM))
    question.get_by_role("button", name="Accept").click()
    tab.wait_for_selector(".outcome >> text=ada@example.com")
    tab.keyboard.press("Control+Enter")
    question.get_by_role("button", name="Decline").click()
    tab.wait_for_selector(".outcome >> text=decline")
    await_count(question, 0)


def test_the_model_and_the_roots_are_asked_for_by_hand(tab):
    choose(tab, "test_sampling")
    fill_raw(tab, '{"prompt": "Say something"}')
    tab.keyboard.press("Control+Enter")
    question = tab.locator(".question")
    question.get_by_text("Say something").wait_for()
    question.get_by_label("What the model says").fill("a sample of what a model says")
    question.get_by_role("button", name="Send").click()
    tab.wait_for_selector(".outcome >> text=a sample of what a model says")
    call(tab, "test_input_required_result_list_roots")
    question.get_by_label("Roots", exact=False).fill("not a root")
    question.get_by_role("button", name="Send").click()
    question.get_by_text("does not begin with file://").wait_for()
    question.get_by_label("Roots", exact=False).fill("file:///home/ada")
    question.get_by_role("button", name="Send").click()
    tab.wait_for_selector(".outcome >> text=file:///home/ada")


def test_several_questions_are_asked_at_once_or_one_after_the_other(tab):
    call(tab, "test_input_required_result_multiple_inputs")
    answers = {
        "The server asks you": lambda card: (card.get_by_label("name", exact=True).first.fill("Ada"), "Accept"),
        "The server asks your model": lambda card: (card.get_by_label("What the model says").fill("hello"), "Send"),
        "The server asks which folders you work in": lambda card: (card.locator("textarea").fill("file:///x"), "Send"),
    }
    for title, answer in answers.items():
        card = tab.get_by_role("region", name=title, exact=True)
        card.get_by_role("button", name=answer(card)[1]).click()
    tab.wait_for_selector(".outcome .result .head >> text=Success")


def test_who_refuses_a_question_gets_the_reason(tab):
    choose(tab, "test_sampling")
    fill_raw(tab, '{"prompt": "Say something"}')
    tab.keyboard.press("Control+Enter")
    tab.locator(".question").get_by_role("button", name="Refuse").click()
    tab.wait_for_selector(".outcome >> text=User rejected")
