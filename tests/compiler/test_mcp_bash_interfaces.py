"""Tests of user interfaces in projects of mcp-bash, and of the pages that templates make."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mcpc.frontends.mcp_bash.interfaces import PAGES, page
from support.mcp_bash_projects import SH, sound, values
from support.needs import needs
from support.projects import Files

# User interfaces


def test_a_tool_that_names_an_interface_keeps_it() -> None:
    meta = '{"name": "t", "description": "d", "_meta": {"ui": {"resourceUri": "ui://s/other"}}}'
    files: Files = {"tools/t/tool.sh": SH, "tools/t/tool.meta.json": meta, "tools/t/ui/index.html": "<p>"}
    (tool,) = values(sound(files, name="s"), "tools")
    assert tool["_meta"]["ui"] == {"resourceUri": "ui://s/other", "visibility": ["model", "app"]}


@pytest.mark.parametrize("template", PAGES)
def test_a_page_holds_what_is_configured_as_data_alone(template: str) -> None:
    hostile = '</script><script>alert(1)</script>@@script@@<!--"'
    made = page(template, {"title": hostile, "fields": [{"name": hostile, "options": [hostile]}]})
    assert "<script>alert" not in made
    assert made.count("</script>") == 2
    start = made.index('id="config">') + len('id="config">')
    assert json.loads(made[start : made.index("</script>", start)])["title"] == hostile
    assert "https://" not in made
    assert '<html lang="en">' in made


@pytest.mark.parametrize("template", PAGES)
def test_the_script_of_a_page_is_javascript(template: str, tmp_path: Path) -> None:
    needs("node")
    made = page(template, {})
    start = made.rindex("<script>") + len("<script>")
    (tmp_path / "page.js").write_text(made[start : made.rindex("</script>")], "utf-8")
    done = subprocess.run(["node", "--check", tmp_path / "page.js"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


HOST = Path(__file__).with_name("pages") / "host.mjs"
TOLD: dict[str, dict[str, Any]] = {
    "form": {
        "fields": [
            {"name": "what", "default": "tea"},
            {"name": "many", "type": "number", "default": 2},
            {"name": "hot", "type": "checkbox", "default": True},
            {"name": "size", "type": "select", "options": ["s", "l"], "default": "l"},
        ],
        "submitTool": "order",
        "submitArgs": {"shop": 1},
        "cancelable": True,
    },
    "data-table": {"columns": [{"key": "n", "label": "Number", "sortable": True}, {"key": "o"}]},
    "progress": {"cancelTool": "stop"},
    "diff-viewer": {"leftTitle": "Old"},
    "tree-view": {"selectable": True, "onSelectTool": "pick"},
    "kanban": {"onMoveTool": "move", "onCardClickTool": "open"},
}


def played(template: str, folder: Path, config: Any = None, **scene: Any) -> Any:
    """Return what a page shows and says in a host that plays a scene."""
    needs("node")
    (folder / "page.html").write_text(page(template, config or TOLD[template]), "utf-8")
    (folder / "scene.json").write_text(json.dumps(scene), "utf-8")
    words = ["node", HOST, folder / "page.html", folder / "scene.json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def structured(value: Any) -> dict[str, Any]:
    return {"content": [], "structuredContent": value}


def calls(told: Any) -> list[Any]:
    return [message["params"] for message in told["sent"] if message.get("method") == "tools/call"]


@pytest.mark.parametrize("template", PAGES)
def test_a_page_begins_as_hosts_expect(template: str, tmp_path: Path) -> None:
    told = played(template, tmp_path)
    first, second, third, *answers = told["sent"]
    assert (first["method"], first["params"]["protocolVersion"]) == ("ui/initialize", "2026-01-26")
    assert first["params"]["appInfo"]["name"] == PAGES[template]
    assert second["method"] == "ui/notifications/initialized"
    assert third["method"] == "ui/notifications/size-changed"
    assert [(one["id"], one.get("result"), one.get("error", {}).get("code")) for one in answers] == [
        ("host-1", {}, None),
        ("host-2", None, -32601),
    ]
    assert told["scheme"] == "dark"


def test_a_form_is_sent_to_its_tool(tmp_path: Path) -> None:
    told = played("form", tmp_path, submits=True)
    assert calls(told) == [
        {"name": "order", "arguments": {"shop": 1, "what": "tea", "many": 2, "hot": True, "size": "l"}}
    ]
    assert told["status"] == "Sent."


def test_a_form_says_what_failed(tmp_path: Path) -> None:
    told = played("form", tmp_path, {**TOLD["form"], "submitTool": "failing"}, submits=True)
    assert told["status"] == "It failed: no luck"


@pytest.mark.parametrize(
    "result",
    [
        structured({"items": [{"n": 10, "o": "b"}, {"n": 9, "o": {"x": 1}}]}),
        structured([{"n": 10, "o": "b"}, {"n": 9, "o": {"x": 1}}]),
        structured({"success": True, "result": {"items": [{"n": 10, "o": "b"}, {"n": 9, "o": {"x": 1}}]}}),
        {"content": [{"type": "text", "text": '[{"n": 10, "o": "b"}, {"n": 9, "o": {"x": 1}}]'}]},
    ],
)
def test_a_table_shows_rows_and_sorts_them(result: Any, tmp_path: Path) -> None:
    assert played("data-table", tmp_path, results=[result])["shown"] == 'Numbero10b9{"x":1}'
    sorted_by = played("data-table", tmp_path, results=[result], presses=["Number"])
    assert (sorted_by["shown"], sorted_by["status"]) == ('Numbero9{"x":1}10b', "2 rows")


def test_progress_counts_and_stops_when_pressed_twice(tmp_path: Path) -> None:
    steps = [structured({"percent": 40, "message": "One. "}), {"content": [{"type": "text", "text": "Two."}]}]
    told = played("progress", tmp_path, results=steps, presses=["Cancel"])
    assert (told["shown"], told["status"]) == ("One. Two.Press again to cancel", "40 %")
    assert calls(told) == []
    told = played("progress", tmp_path, presses=["Cancel", "Press again to cancel"])
    assert calls(told) == [{"name": "stop", "arguments": {}}]


def test_differences_are_what_changed(tmp_path: Path) -> None:
    told = played("diff-viewer", tmp_path, results=[structured({"left": "a\nb\nc", "right": "a\nx\nc"})])
    assert told["status"] == "2 lines differ"
    assert told["shown"] == "Old   1   a   2 - b   3   cModified   1   a   2 + x   3   c"


def test_a_tree_tells_what_was_chosen(tmp_path: Path) -> None:
    tree = [{"id": 1, "label": "top", "children": [{"id": 2, "label": "leaf", "meta": "new"}]}]
    told = played("tree-view", tmp_path, results=[structured(tree)], presses=["leaf"])
    assert told["shown"] == "topleaf new"
    assert calls(told) == [{"name": "pick", "arguments": {"nodeId": 2}}]


def test_cards_stand_in_their_columns_and_are_opened(tmp_path: Path) -> None:
    cards = {"cards": [{"id": "c", "title": "Card", "status": "done", "tags": ["x"], "priority": "high"}]}
    told = played("kanban", tmp_path, results=[structured(cards)], presses=["Card"])
    assert "DoneCardhigh · x" in told["shown"]
    assert calls(told) == [{"name": "open", "arguments": {"cardId": "c"}}]
