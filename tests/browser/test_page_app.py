"""MCP Apps in their frame: what an App may do through its host, and that it can reach nothing else."""

import json
import select
import socket
import threading
from pathlib import Path

import pytest
import yaml

from support.artifact import build
from support.files import write_files
from support.page_steps import call, opened
from support.serving import served

REFUSED = ("Content Security Policy", "Failed to load", "ERR_", "Blocked", "net::", "violates", "Refused")

DATA = yaml.safe_load(Path(__file__).with_name("page_app.yaml").read_text("utf-8"))
APP = DATA["APP"]
FLOOD = "<script>setInterval(() => { for (let i = 0; i < 300; i++) parent.postMessage({ jsonrpc: '2.0', method: 'x' }, '*'); }, 10);</script>"
LEAVES = "<script>setTimeout(() => { location.href = 'http://CANARY/?secret'; }, 50);</script>flees"
RELOADS = "<script>setTimeout(() => { location.href = '/healthz'; }, 50);</script>"
TOOLS = DATA["TOOLS"]


class Elsewhere:
    """Another machine: a port that counts connections, what they brought, and packets."""

    def __init__(self) -> None:
        self.connections = self.packets = 0
        self.data = b""
        self._stream = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._stream.getsockname()[1]}"
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(self._stream.getsockname())
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        opened: list[socket.socket] = []
        while True:
            for ready in select.select([self._stream, self._datagrams, *opened], [], [])[0]:
                if ready is self._stream:
                    opened.append(self._stream.accept()[0])
                    self.connections += 1
                elif ready is self._datagrams:
                    self._datagrams.recv(2000)
                    self.packets += 1
                else:
                    self.data += (data := ready.recv(2000))
                    if not data:
                        opened.remove(ready)
                        ready.close()


@pytest.fixture(scope="module")
def elsewhere():
    return Elsewhere()


@pytest.fixture(scope="module")
def apps(tmp_path_factory, elsewhere):
    folder = tmp_path_factory.mktemp("apps")
    pages = {"app": APP, "flood": FLOOD, "leaves": LEAVES, "reloads": RELOADS}
    kind = "text/html;profile=mcp-app"
    rows = [{"uri": f"ui://apps/{name}", "name": name, "mimeType": kind, "file": f"{name}.html"} for name in pages]
    files = {
        "server.json": '{"serverInfo": {"name": "apps", "version": "1"}}',
        "tools.py": TOOLS,
        "resources.json": json.dumps({"resources": rows}),
        **{f"{name}.html": page.replace("CANARY", elsewhere.address) for name, page in pages.items()},
    }
    write_files(folder, files)
    with served(build(folder, folder.parent / "apps.pyz", "--ui"), "--ui") as server:
        yield server


def test_an_app_talks_with_its_host_and_reaches_nothing_else(apps, elsewhere):
    with opened(f"{apps.root}/ui/", allowed_errors=REFUSED) as tab:
        call(tab, "shows")
        tab.locator(".question >> text=The App asks to call tools of this server").wait_for()
        tab.get_by_role("button", name="Allow").click()
        out = tab.frame_locator("iframe").locator("#out")
        out.get_by_text("parent stays").wait_for()
        text = out.inner_text()
        assert text.startswith("shown|by the app|an App may not call this tool|"), text
        assert "WENT OUT" not in text
        tab.get_by_role("button", name="Refuse").click()
        out.get_by_text("refused").wait_for()
        assert tab.locator("iframe").evaluate("frame => frame.style.height") == "77px"
        assert tab.locator("iframe").get_attribute("sandbox") == "allow-scripts"
        tab.locator(".question >> text=The App asks to read what this server offers").wait_for()
        tab.get_by_role("button", name="Refuse").click()
        out.get_by_text("|-32601|").wait_for()
        refusal = "the person did not allow the App to read what this server offers"
        assert out.inner_text().split("|refused|")[1] == "|".join([*[refusal] * 3, "-32601", "-32601"])
        assert tab.locator(".question").count() == 0
    assert (elsewhere.connections, elsewhere.packets) == (0, 0)


@pytest.mark.parametrize(("tool", "said"), [("floods", "messages in a second"), ("reloads", "tried to leave")])
def test_an_app_that_floods_or_leaves_is_ended(apps, tool, said):
    with opened(f"{apps.root}/ui/", allowed_errors=REFUSED) as tab:
        call(tab, tool)
        tab.wait_for_selector(f".app >> text={said}")
        assert tab.locator("iframe").count() == 0


def test_an_app_cannot_go_to_another_site(apps, elsewhere):
    with opened(f"{apps.root}/ui/", allowed_errors=REFUSED) as tab:
        call(tab, "leaves")
        tab.wait_for_selector("iframe")
        tab.wait_for_timeout(500)
    # The browser connects before it asks the policy; no request is sent.
    assert (elsewhere.data, elsewhere.packets) == (b"", 0)
