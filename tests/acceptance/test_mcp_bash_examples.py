"""Every example that mcp-bash ships is built and answers as its README says, also where the original does not.

The examples are looked for in a checkout of mcp-bash that TESTS_MCP_BASH names; nothing of them is kept here but what
the wire carries.  They are copied first, without the permissions that a checkout may give others.  Two are asked for
what their READMEs get from elsewhere: `ffmpeg-studio` from ffmpeg, `12-config-and-downloads` from the network.
"""

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.artifact import build
from support.mcp_bash_client import ALLOW, Client, clients, error
from support.needs import needs

VARIABLE = "TESTS_MCP_BASH"
pytestmark = pytest.mark.checkout(VARIABLE)
UI = "io.modelcontextprotocol/ui"
TOKEN = {"_meta": {"progressToken": "token-1"}}
COMPLETE = "completion/complete"
DEMO = {"ref": {"type": "ref/prompt", "name": "demo.completion"}, "argument": {"name": "query", "value": "re"}}


def envelope(**members: Any) -> Any:
    return {"result": {"structuredContent": {"success": True, "result": members}, "_meta": {"exitCode": 0}}}


class Loader(yaml.SafeLoader):
    """Reads YAML with patterns."""


Loader.add_constructor("!match", lambda _, node: re.compile(node.value))
CASES: dict[str, Any] = yaml.load(Path(__file__).with_name("mcp_bash_examples.yaml").read_text("utf-8"), Loader)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    needs("bash", "jq")
    examples = Path(os.environ[VARIABLE]) / "examples"
    folder = tmp_path_factory.mktemp("examples")
    made: dict[tuple[str, ...], Path] = {}

    def make(example: str, *options: str) -> Path:
        if (example, *options) not in made:
            project = folder / example
            if not project.is_dir():
                shutil.copytree(examples / example, project)
                for path in (project, *project.rglob("*")):
                    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o022)
            made[example, *options] = build(project, folder / f"{len(made)}.pyz", *options)
        return made[example, *options]

    return make


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    with clients() as make:
        yield make


def likeness(wanted: Any, found: Any, place: str = "") -> list[str]:
    """Say where something found is not like what was wanted: objects may have more members, lists not."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [one for key in wanted for one in likeness(wanted[key], found.get(key), f"{place}.{key}")]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [
            one for n, pair in enumerate(zip(wanted, found, strict=True)) for one in likeness(*pair, f"{place}[{n}]")
        ]
    if isinstance(wanted, re.Pattern):
        is_like = isinstance(found, str) and wanted.search(found) is not None
    else:
        is_like = wanted == found and type(wanted) is type(found)
    return [] if is_like else [f"{place}: wanted {wanted!r}, found {found!r}"]


CHOSEN = {"confirmed": True, "choices": ["logging", "caching"]}


def answered(message: dict) -> dict:
    """Answer as the user of example 08."""
    field, schema = next(iter(message["params"]["requestedSchema"]["properties"].items()))
    choice = "low" if "oneOf" in schema else "safe"
    return {"result": {"action": "accept", "content": {field: CHOSEN.get(field, choice)}}}


@pytest.mark.parametrize("name", CASES)
def test_an_example_answers_as_its_readme_says(name: str, built: Callable[..., Path], client: Any) -> None:
    case = CASES[name]
    server = client(built(case["example"], *case.get("options", ())), answered, **ALLOW)
    server.start("2025-11-25", **case.get("capabilities", {}))
    for row in case["asked"]:
        found = server.ask(row["method"], row["params"])
        assert not likeness(row["answer"], found), (row, found)


def notes(server: Client, method: str) -> list[dict]:
    return [one["params"] for one in server.said if one.get("method") == f"notifications/{method}"]


def test_02_logs_at_the_level_that_was_set(built: Callable[..., Path], client: Any) -> None:
    server = client(built("02-logging-and-levels"))
    server.start()
    for level, wanted in (("debug", 1), ("info", 1), ("error", 0)):
        assert server.ask("logging/setLevel", {"level": level})["result"] == {}
        server.said.clear()
        assert not likeness(envelope(message="Check your logging notifications"), server.call("example-logger"))
        assert [one["logger"] for one in notes(server, "message")] == ["example.logger"] * wanted


def test_03_reports_while_it_runs(built: Callable[..., Path], client: Any) -> None:
    server = client(built("03-progress-and-cancellation"))
    server.start()
    found = server.call("example-slow", **TOKEN)
    assert not likeness(envelope(message="Completed after progress updates"), found)
    told = notes(server, "progress")
    assert [one["message"] for one in told] == [f"Working ({n}%)" for n in (10, 50, 90)]
    assert server.said[-1] == found  # every one of them before the answer


def test_03_is_stopped(built: Callable[..., Path], client: Any) -> None:
    """A difference: the specification wants no answer to a call that was cancelled, the README an error -32001."""
    server = client(built("03-progress-and-cancellation"))
    server.start()
    number = server.begin("tools/call", {"name": "example-slow", "arguments": {}, **TOKEN})
    while not notes(server, "progress"):
        server.message()
    server.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    server.said.clear()
    with pytest.raises(AssertionError, match="nothing came"):
        server.message(3.0)
    assert server.said == []


def test_08_a_client_that_cannot_ask(built: Callable[..., Path], client: Any) -> None:
    server = client(built("08-elicitation"))
    server.start()
    assert error(server.call("example-elicitation"))[0] == -32603
    assert not notes(server, "elicitation/create")


def test_10_goes_through_all_pages(built: Callable[..., Path], client: Any) -> None:
    server = client(built("10-completions"))
    server.start()
    found, more = [], {}
    for _ in range(9):
        completion = server.ask(COMPLETE, {**DEMO, "limit": 3, **more})["result"]["completion"]
        found += completion["values"]
        if not completion["hasMore"]:
            break
        more = {"cursor": completion["nextCursor"]}
    assert len(found) == len(set(found)) == 9
    assert {"retry job", "resolve incident"} <= set(found)


def test_12_is_told_by_its_environment(built: Callable[..., Path], client: Any) -> None:
    given = {"FETCH_API_CONFIG": '{"timeout": 7}', "MCPBASH_TOOL_ENV_MODE": "allowlist"}
    server = client(built("12-config-and-downloads"), **ALLOW, **given, MCPBASH_TOOL_ENV_ALLOWLIST="FETCH_API_CONFIG")
    server.start()
    server.call("fetch-api-data", {"url": "https://127.0.0.1/"})
    told = [one["data"] for one in notes(server, "message") if one["logger"] == "fetch-api-data"]
    assert told == ["Fetching https://127.0.0.1/ (timeout=7s, max=1048576 bytes)"]


def test_13_announces_its_interfaces(built: Callable[..., Path], client: Any) -> None:
    """A difference: in the handshake era no server announces extensions; in the dialect it does."""
    told = client(built("13-ui-basics", "--dialect", "mcp-bash")).start("2025-11-25", extensions={UI: {}})
    assert UI in told["capabilities"]["extensions"]
    assert "extensions" not in client(built("13-ui-basics")).start("2025-11-25")["capabilities"]
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {UI: {}}},
    }
    found = client(built("13-ui-basics")).ask("server/discover", {"_meta": meta})
    assert UI in found["result"]["capabilities"]["extensions"]
