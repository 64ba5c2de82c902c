"""The documentation site: built strictly, complete, without a request that leaves the machine, and readable by everybody."""

import functools
import http.server
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import axe_playwright_python
import click
import pytest
from playwright.sync_api import Page

from generation import commands, diagnostics, files
from generation.site import build_site, write_sources
from generation.sources import SITE_PATHS, complete, page_for_site
from mcpc.cli.build import command as build_command
from mcpc.cli.commands import PATHS
from mcpc.diagnostics.codes import CODES
from mcpc.lower import protocol_schema
from mcpc_runtime.http.settings import OPTIONS, known_variables
from support.artifact import locked, store
from support.browser import page
from support.needs import ROOT

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
CONFIG = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
BY_CONTENT = ("serious", "critical")


@functools.cache
def site() -> Path:
    folder = store() / "site"
    with locked(folder.with_suffix(".lock")):
        if not (folder / "done").exists():
            assert build_site(folder) == 0
            (folder / "done").touch()
    return folder / "site"


class Found(HTMLParser):
    """The ids and the links of a page, and what it loads."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.update(value for name, value in attrs if name in ("id", "name") and value)
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        elif given.get("src") or (tag == "link" and given.get("href")):
            self.loaded.append(str(given.get("src") or given["href"]))


@functools.cache
def found(file: Path) -> Found:
    return Found(file)


def pages() -> list[Path]:
    return sorted(site().rglob("*.html"))


def nav_pages(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for item in nav.values() if isinstance(nav, dict) else nav:
            yield from nav_pages(item)


def test_every_link_and_every_image_leads_somewhere() -> None:
    problems = []
    for file in pages():
        for link in (*found(file).links, *found(file).loaded):
            url = urlsplit(link)
            if url.scheme or file.name == "404.html":
                continue
            target = (file.parent / unquote(url.path)).resolve() if url.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (url.fragment and unquote(url.fragment) not in found(target).ids):
                problems.append(f"{file.relative_to(site())}: {link}")
    assert not problems


def test_nothing_is_loaded_from_another_host() -> None:
    loaded = {link for file in pages() for link in found(file).loaded if urlsplit(link).netloc}
    assert not loaded
    styles = "".join(file.read_text(encoding="utf-8") for file in site().rglob("*.css"))
    assert not re.findall(r"url\(['\"]?https?:", styles)


def test_the_navigation_has_every_page_once() -> None:
    named = list(nav_pages(CONFIG["project"]["nav"]))
    built = {file.relative_to(site().parent / "docs").as_posix() for file in (site().parent / "docs").rglob("*.md")}
    assert sorted(named) == sorted(built)


def test_the_reference_has_every_command_option_code_and_variable() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in (site().parent / "docs/reference").rglob("*.md"))
    missing = [name for name in PATHS if f"### mcpc {name}\n" not in text]
    options = [each for each in build_command.params if isinstance(each, click.Option) and not each.hidden]
    missing += [each.opts[0] for each in options if f"`{each.opts[0]}" not in text]
    missing += [name for name in CODES if f"## {name} {{" not in text]
    missing += [option.name for option in OPTIONS.values() if f"`{option.name}" not in text]
    missing += [name for name in known_variables() if f"`{name}`" not in text]
    assert not missing


def test_the_page_of_handlers_names_every_option() -> None:
    page = (ROOT / "docs/handlers.md").read_text(encoding="utf-8")
    known = {*protocol_schema.TOOL_SAYS, *protocol_schema.SAYS_MESSAGES, *protocol_schema.SAYS_CONTENTS}
    assert [name for name in known if f"`{name}`" not in page] == []


def test_fields_of_files_are_listed_with_their_meaning() -> None:
    text = files.all_files()
    assert "| `tools[].inputSchema` | object | yes |" in text
    assert "| `tools[]._meta.mcpc/handler.timeout` |" in text


def test_exit_codes_are_read_from_the_command_line() -> None:
    numbers = re.findall(r"^\| `(\d+)`", commands.exit_codes(), re.MULTILINE)
    assert numbers == ["0", "1", "2", "4", "5", "6", "7", "8", "70", "128"]


def test_the_page_of_a_code_is_text() -> None:
    assert (
        diagnostics.page_text("An <a> and *this*:\n\n    <b>\n") == "An \\<a\\> and \\*this\\*:\n\n```text\n<b>\n```\n"
    )


def test_the_same_sources_make_the_same_pages(tmp_path: Path) -> None:
    write_sources(tmp_path / "docs")
    done = subprocess.run(
        ["diff", "-r", str(tmp_path / "docs"), str(site().parent / "docs")], capture_output=True, text=True, check=False
    )
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("source", "link", "made"),
    [
        ("docs/http.md", "[S](../SECURITY.md#reporting)", "[S](security.md#reporting)"),
        ("docs/reference/commands.md", "[h](../README.md)", "[h](../index.md)"),
        ("SECURITY.md", "[w](docs/windows.md)", "[w](windows.md)"),
        ("docs/http.md", "[examples](../examples)", "examples"),
        ("docs/http.md", "[x](https://example.com/a.md)", "[x](https://example.com/a.md)"),
        ("docs/http.md", "```\n[a](../SECURITY.md)\n```", "```\n[a](../SECURITY.md)\n```"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(source: str, link: str, made: str) -> None:
    assert page_for_site(link, source) == made


def test_a_link_to_nothing_and_a_section_that_nobody_writes_are_errors() -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        page_for_site("[x](../nothing.md)", "docs/http.md")
    with pytest.raises(KeyError):
        complete("<!-- generated: nothing -->", {})
    assert SITE_PATHS["docs/README.md"] == "index.md"


def test_a_broken_link_between_pages_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# A\n\n[b](b.md#nothing)\n")
    (tmp_path / "docs/b.md").write_text("# B\n")
    (tmp_path / "zensical.toml").write_text('[project]\nsite_name = "x"\nsite_dir = "site"\n')
    zensical = Path(sys.executable).with_name("zensical")
    done = subprocess.run([zensical, "build", "--strict"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode != 0


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """Serve the site below a folder of a host, as a project's pages are; yield its address."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None: ...

        def send_error(self, code: int, *_: Any) -> None:
            body = (folder / "below/404.html").read_bytes()
            self.send_response(code)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/below/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def serious_faults(tab: Page) -> list[str]:
    """Return what axe finds serious in the content of a page; the theme's own frame is not ours."""
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    results = tab.evaluate("axe.run('.md-content')")
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in results["violations"] if one["impact"] in BY_CONTENT
    ]


READ = ("index.html", "tutorial.html", "reference/built-file.html", "comparison.html", "how-it-works.html")


def test_pages_work_in_a_browser_below_any_address(tmp_path: Path) -> None:
    shutil.copytree(site(), tmp_path / "below")
    with hosted(tmp_path) as address:
        for scheme, width in (("light", 1280), ("dark", 400)):
            with page(viewport={"width": width, "height": 800}, color_scheme=scheme) as tab:
                for name in READ:
                    tab.goto(address + name)
                    assert not serious_faults(tab), (scheme, name)
                    assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
                    assert tab.evaluate("[...document.images].every(one => one.complete && one.naturalWidth > 0)"), name
        with page(viewport={"width": 1280, "height": 800}) as tab:
            tab.goto(address, wait_until="networkidle")
            tab.keyboard.press("Control+k")
            tab.get_by_placeholder("Search").fill("MCP110")
            tab.get_by_text(re.compile(r"^\d+ results?$")).wait_for(timeout=60_000)


def test_an_address_that_does_not_exist_has_a_page_with_a_way_back(tmp_path: Path) -> None:
    shutil.copytree(site(), tmp_path / "below")
    with hosted(tmp_path) as address, page(allowed_errors=("404",)) as tab:
        tab.goto(address + "nothing.html")
        tab.get_by_role("heading", name="This page does not exist").wait_for()
        tab.get_by_role("link", name="first page").click()
        assert tab.title() == "mcpc"
