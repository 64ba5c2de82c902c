"""Versions up to a date: what the date means, and what uv installs from a registry that says when files came."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from packaging.specifiers import SpecifierSet

from mcpc.cli import cli
from mcpc.packages import RequestedPackage, earliest, newest_version, stage_packages
from mcpc.packages.upload_dates import upload_limit
from support.wheels import only, wheel

UPLOADED = {"1.0": "2024-01-01T10:00:00Z", "2.0": "2025-06-30T23:00:00Z", "3.0": "2025-07-01T00:00:00Z"}


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A registry of two packages with versions of several dates, and uv that knows of no other."""
    only(tmp_path, monkeypatch)
    files = {name: [(wheel(tmp_path, name, version, {f"{name}.py": ""}, needs=needs), time)
                    for version, time in UPLOADED.items()]
             for name, needs in (("lib", ()), ("app", ("lib",)))}  # fmt: skip

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/").split("/")[-1]
            data = (tmp_path / name).read_bytes() if name.endswith(".whl") else self.listing(name)
            self.send_response(200)
            kind = "application/octet-stream" if name.endswith(".whl") else "application/vnd.pypi.simple.v1+json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_HEAD(self) -> None:
            self.do_GET()

        def listing(self, name: str) -> bytes:
            rows = [
                {"filename": path.name, "url": f"/files/{path.name}", "upload-time": time,
                 "hashes": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
                for path, time in files[name]
            ]  # fmt: skip
            return json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": rows}).encode()

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.delenv("UV_FIND_LINKS")
    address = f"http://127.0.0.1:{server.server_port}/simple"
    monkeypatch.setenv("UV_DEFAULT_INDEX", address)
    yield address
    server.shutdown()
    server.server_close()


def installed(date: str) -> dict[str, str]:
    found, problems = stage_packages([RequestedPackage("app", "app", exclude_newer=date)])
    assert found is not None, problems
    return {item.name: item.version for item in found.distributions}


def test_the_newest_of_the_date_are_installed_with_what_they_need(registry: str) -> None:
    assert installed("") == {"app": "3.0", "lib": "3.0"}
    assert installed("2025-06-30") == {"app": "2.0", "lib": "2.0"}
    assert installed("2025-06-29") == {"app": "1.0", "lib": "1.0"}


def test_what_is_too_new_is_a_diagnostic(registry: str) -> None:
    found, problems = stage_packages([RequestedPackage("app", "app>=2", exclude_newer="2024-12-31")])
    assert found is None
    assert [problem.code for problem in problems] == ["MCP405"]
    assert "only app==1.0 is available and you require app>=2" in problems[0].message


def test_the_newest_version_of_a_date_is_one_that_is_allowed(registry: str) -> None:
    assert newest_version("lib", SpecifierSet(), "2025-06-30") == "2.0"
    assert newest_version("lib", SpecifierSet("<2"), "2025-06-30") == "1.0"
    assert newest_version("lib", SpecifierSet(), "2020-01-01") == ""


def test_a_package_installed_with_the_compiler_is_not_taken_for_one_of_the_date(registry: str) -> None:
    found, problems = stage_packages([RequestedPackage("click", "click", exclude_newer="2025-06-30")])
    assert found is None, "the registry has no click"
    assert [problem.code for problem in problems] == ["MCP405"]


LIMITS = {
    "2025-06-30": "2025-07-01T00:00:00Z",
    "2025-12-31": "2026-01-01T00:00:00Z",
    "2025-06-30T10:00": "2025-06-30T10:00:00Z",
    "2025-06-30T10:00:00+02:00": "2025-06-30T08:00:00Z",
    "June": None,
    "": None,
    "2025-02-30": None,
}


@pytest.mark.parametrize("text", LIMITS)
def test_what_a_date_means(text: str) -> None:
    assert upload_limit(text) == LIMITS[text]


def test_the_earliest_date() -> None:
    assert earliest(["", "2025-06-30", "2025-06-30T10:00:00Z"]) == "2025-06-30T10:00:00Z"
    assert earliest([""]) == ""


def test_an_option_that_is_no_date_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["check", str(tmp_path), "--exclude-newer", "soon"])
    assert done.exit_code == 2
    assert "`soon` is not a date such as `2025-06-30`" in done.output
