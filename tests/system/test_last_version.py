"""A file that the last version of mcpc built is served, inspected, compared and verified by the commands of this one.

`tests/data/last-version` has the file and its project; CONTRIBUTING says how a release renews them.
"""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from mcpc import __version__
from support.artifact import mcpc
from support.needs import ROOT
from support.stdio import replies

PLACE = ROOT / "tests/data/last-version"
PROJECT = PLACE / "project"
COMMANDS = {
    "inspect": "resource kept://about",
    "inspect --files": "handlers/tools.py",
    "call shout text=loud": "LOUD",
    "call count text=one least=2": '"number":2',
    "call summary topic=rain --prompt": "Summarise rain.",
    "call kept://about --resource": "built by the last version",
    "scan": "no findings",
    "attest licenses": "mcpc-runtime",
    "attest sbom": '"bomFormat": "CycloneDX"',
    "attest provenance": "https://slsa.dev/provenance/v1",
    "install --print --client cursor": "kept.pyz",
}
"""Commands that are given the file, and what they print."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(shutil.copy(PLACE / "kept.pyz", tmp_path))


def built_by(file: Path) -> str:
    with zipfile.ZipFile(file) as archive:
        return str(json.loads(archive.read("META-INF/build.json"))["mcpc"])


def test_another_version_built_it(file: Path) -> None:
    assert built_by(file) != __version__, "a release renews tests/data/last-version: see CONTRIBUTING"


@pytest.mark.parametrize("line", COMMANDS)
@pytest.mark.sampled(4)
def test_this_commands_take_it(line: str, file: Path) -> None:
    words = line.split()
    at = 2 if words[0] in ("attest", "ship") else 1
    done = mcpc(*words[:at], file, *words[at:], status=0)
    assert COMMANDS[line] in done.stdout


def test_it_offers_what_its_project_offers_today(file: Path) -> None:
    assert "no changes" in mcpc("diff", file, PROJECT, "--fail-on", "breaking", status=0).stdout


def test_verify_says_that_another_version_built_it_and_what_it_compared(file: Path) -> None:
    done = mcpc("attest", "verify", file, PROJECT, status=6)
    assert f"was built by mcpc {built_by(file)}; this is mcpc {__version__}" in done.stderr
    assert f"uvx --from mcp-compiler=={built_by(file)} mcpc attest verify" in done.stderr
    assert "kept.pyz: same-sources:" in done.stdout
    mcpc("attest", "verify", "--sources-only", file, PROJECT, status=0)


def test_clients_of_earlier_revisions_are_served(file: Path) -> None:
    said = replies([file], [("tools/call", {"name": "shout", "arguments": {"text": ""}}),
                            ("resources/read", {"uri": "kept://about"})])  # fmt: skip
    assert said[0]["result"]["isError"] is True
    assert said[1]["result"]["contents"][0]["text"] == "a server that was built by the last version"
