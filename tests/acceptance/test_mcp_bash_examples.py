"""Every example that mcp-bash ships is built and answers as its README says, also where the original does not.

The examples are looked for in a checkout of mcp-bash that TESTS_MCP_BASH names; nothing of them is kept here but what
the wire carries.  They are copied first, without the permissions that a checkout may give others.  Two are asked for
what their READMEs get from elsewhere: `ffmpeg-studio` from ffmpeg, `12-config-and-downloads` from the network.
"""

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from support.artifact import build
from support.mcp_bash_client import ALLOW, Client, clients, error
from support.needs import needs

VARIABLE = "TESTS_MCP_BASH"
pytestmark = pytest.mark.checkout(VARIABLE)
UI = "io.modelcontextprotocol/ui"
PAGE = "text/html;profile=mcp-app"
TOKEN = {"_meta": {"progressToken": "token-1"}}
TOOLS, PROMPTS, RESOURCES = (f"{kind}/list" for kind in ("tools", "prompts", "resources"))
READ, GET, COMPLETE, CALL = "resources/read", "prompts/get", "completion/complete", "tools/call"
DEMO = {"ref": {"type": "ref/prompt", "name": "demo.completion"}, "argument": {"name": "query", "value": "re"}}


class Case(NamedTuple):
    """Requests to one example in one conversation, and what each answer has."""

    example: str
    asked: tuple[tuple[str, dict[str, Any], Any], ...]
    capabilities: Mapping[str, Any] = MappingProxyType({})
    options: tuple[str, ...] = ()


def call(name: str, arguments: dict[str, Any] | None = None, **more: Any) -> tuple[str, dict[str, Any]]:
    return CALL, {"name": name, "arguments": arguments or {}, **more}


def envelope(**members: Any) -> Any:
    return {"result": {"structuredContent": {"success": True, "result": members}, "_meta": {"exitCode": 0}}}


def failure(type_: str, **members: Any) -> Any:
    told = {"success": False, "error": {"type": type_, **members}}
    return {"result": {"structuredContent": told, "isError": True}}


def refused(code: int, message: Any) -> Any:
    return {"error": {"code": code, "message": message}}


def names(kind: str, *wanted: str) -> Any:
    return {"result": {kind: [{"name": name} for name in wanted]}}


def words(text: Any) -> Any:
    return {"result": {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}}


def completed(*values: str, more: bool = True) -> Any:
    return {"result": {"completion": {"values": list(values), "hasMore": more}}}


CASES: dict[str, Case] = {
    "00 greets": Case(
        "00-hello-tool",
        (
            (TOOLS, {}, names("tools", "example-hello")),
            (*call("example-hello"), envelope(message="Hello from example tool")),
        ),
    ),
    "01 takes an argument, and wants it": Case(
        "01-args-and-validation",
        (
            (*call("example-echo-arg", {"value": "hi"}), envelope(message="You sent: hi")),
            (*call("example-echo-arg"), refused(-32602, ".value is required")),
        ),
    ),
    "04 reads below its root, and says what a model can mend": Case(
        "04-roots-basics",
        (
            (
                *call("example-roots-read", {"path": "./data/sample.txt"}),
                envelope(content="Hello from roots example!", path=re.compile("^/.*/data/sample.txt$"), bytes=25),
            ),
            (
                *call("example-roots-read", {"path": "/etc/passwd"}),
                failure("permission_denied", data={"path": "/etc/passwd"}, hint=re.compile("Try a path within: /")),
            ),
            (*call("example-roots-read", {"path": "./data/none"}), failure("not_found", data={"path": "./data/none"})),
            (*call("example-roots-read"), refused(-32602, "Missing required argument: path")),
        ),
    ),
    "05 reads a file wherever the server was started": Case(
        "05-resources-basics",
        (
            (RESOURCES, {}, {"result": {"resources": [{"uri": "file://./resources/greeting.txt"}]}}),
            (
                READ,
                {"uri": "file://./resources/greeting.txt"},
                {"result": {"contents": [{"mimeType": "text/plain", "text": "Hello from a resource file"}]}},
            ),
            (READ, {"uri": "file:///etc/passwd"}, refused(-32002, re.compile("not found"))),
        ),
    ),
    "06 has a file in the answer": Case(
        "06-embedded-resources",
        (
            (
                *call("embed-resource"),
                {
                    "result": {
                        "content": [
                            {"type": "text"},
                            {"type": "resource", "resource": {"mimeType": "text/plain", "text": "Embedded report"}},
                        ],
                        "_meta": {"exitCode": 0},
                    }
                },
            ),
        ),
    ),
    "07 fills in the name": Case(
        "07-prompts-basics",
        (
            (PROMPTS, {}, {"result": {"prompts": [{"name": "prompt.greeting", "arguments": [{"name": "name"}]}]}}),
            (
                GET,
                {"name": "prompt.greeting", "arguments": {"name": "Ada"}},
                words("Hello, Ada! Welcome to MCP prompts."),
            ),
        ),
    ),
    "08 asks four questions": Case(
        "08-elicitation",
        (
            (
                *call("example-elicitation"),
                envelope(
                    message="Elicitation complete",
                    mode="safe",
                    quality="low",
                    features=re.compile("^logging, caching$"),
                ),
            ),
        ),
        capabilities={"elicitation": {}},
    ),
    "09 has what is registered and nothing else": Case(
        "09-registry-overrides",
        (
            (TOOLS, {}, names("tools", "manual.progress")),
            (RESOURCES, {}, names("resources", "echo.hello")),
            (PROMPTS, {}, names("prompts", "manual.prompt")),
            (*call("manual.progress", **TOKEN), envelope(message=re.compile("finished"))),
            (
                READ,
                {"uri": "echo://Hello-from-manual-registry"},
                {"result": {"contents": [{"text": "Hello-from-manual-registry"}]}},
            ),
            (
                GET,
                {"name": "manual.prompt", "arguments": {"topic": "order"}},
                words(re.compile(r"Topic hint: order\.$")),
            ),
            (GET, {"name": "manual.prompt"}, words(re.compile("echo"))),
        ),
    ),
    "10 completes, page by page": Case(
        "10-completions",
        ((COMPLETE, {**DEMO, "limit": 3}, completed("retry job", "review logs", "rebuild cache")),),
    ),
    "10 says in its own dialect where the next page is": Case(
        "10-completions",
        ((COMPLETE, DEMO, {"result": {"completion": {"hasMore": True, "nextCursor": re.compile(".")}}}),),
        options=("--dialect", "mcp-bash"),
    ),
    "11 has three templates, one of them registered over its file": Case(
        "11-resource-templates",
        (
            (
                "resources/templates/list",
                {},
                {
                    "result": {
                        "resourceTemplates": [
                            {"name": "logs-by-date"},
                            {"name": "project-files", "annotations": {"audience": ["assistant"]}},
                            {"name": "repo-tree"},
                        ]
                    }
                },
            ),
            (
                READ,
                {"uri": "file://./resources/example.txt"},
                {"result": {"contents": [{"text": re.compile("project-files template")}]}},
            ),
        ),
    ),
    "12 refuses what is not safe to fetch": Case(
        "12-config-and-downloads",
        (
            (
                *call("fetch-api-data", {"url": "http://api.example/"}),
                failure("validation_error", data={"received": "http://api.example/"}, hint=re.compile("https")),
            ),
            (*call("fetch-api-data", {"url": "https://127.0.0.1/"}), failure("host_blocked", hint=re.compile("."))),
            (*call("fetch-api-data"), refused(-32602, ".url is required")),
        ),
    ),
    "13 has interfaces, and its results name theirs": Case(
        "13-ui-basics",
        (
            (
                TOOLS,
                {},
                {"result": {"tools": [{"_meta": {"ui": {"resourceUri": "ui://ui-basics-example/weather"}}}]}},
            ),
            (
                *call("weather", {"location": "Oslo"}),
                {
                    "result": {
                        "structuredContent": {"location": "Oslo"},
                        "_meta": {"ui": {"resourceUri": "ui://ui-basics-example/weather"}},
                    }
                },
            ),
            (RESOURCES, {}, names("resources", "weather", "standalone-dashboard")),
            (
                READ,
                {"uri": "ui://ui-basics-example/weather"},
                {"result": {"contents": [{"mimeType": PAGE, "text": re.compile("<!DOCTYPE html>")}]}},
            ),
        ),
        capabilities={"extensions": {UI: {"mimeTypes": [PAGE]}}},
    ),
    "14 shows the machine in a page": Case(
        "14-ui-templates",
        (
            (*call("system-info"), envelope(hostname=re.compile("."), diskPercent=re.compile(r"^\d+$"))),
            (READ, {"uri": "ui://ui-templates-example/system-info"}, {"result": {"contents": [{"mimeType": PAGE}]}}),
        ),
    ),
    "15 wraps programs": Case(
        "15-cli-wrapper",
        (
            (TOOLS, {}, {"result": {"tools": [{"name": "system-info", "annotations": {"readOnlyHint": True}}]}}),
            (*call("system-info", {"command": "os"}), envelope(os_info=re.compile("."))),
            (*call("system-info", {"command": "disk"}), envelope(disk_usage=re.compile("Filesystem"))),
            (*call("system-info", {"command": "none"}), refused(-32602, re.compile("^Unknown command: none"))),
            (*call("system-info"), refused(-32602, "Missing required argument: command")),
        ),
    ),
    "99 runs out of time, and says what to try": Case(
        "99-test-fixtures",
        (
            (
                *call("slow-with-hint", {"duration": 9}, timeoutSecs=1),
                failure("timeout", timeoutSecs=1, hint=re.compile("dryRun"), reason="fixed"),
            ),
            (
                *call("slow-no-progress", {"duration": 9}, timeoutSecs=1, **TOKEN),
                failure("timeout", reason="idle", progressExtendsTimeout=True),
            ),
        ),
    ),
    "99 has more time while it reports": Case(
        "99-test-fixtures",
        (
            (
                *call("slow-with-progress", {"duration": 4}, timeoutSecs=2, **TOKEN),
                envelope(message="Completed after 4s"),
            ),
            (
                *call("slow-with-events", {"duration": 4}, timeoutSecs=2, **TOKEN),
                envelope(message="Completed after 4s"),
            ),
        ),
    ),
    "hooks register at the build": Case(
        "advanced/register-sh-hooks",
        (
            ("resources/templates/list", {}, {"result": {"resourceTemplates": [{"name": "logs-by-date"}]}}),
            (COMPLETE, DEMO, completed("retry", "review", "reset", more=False)),
        ),
        options=("--hooks",),
    ),
    "ffmpeg-studio says what a model can mend": Case(
        "advanced/ffmpeg-studio",
        (
            (TOOLS, {}, names("tools", "extract_frame", "inspect_media", "transcode")),
            (*call("inspect_media"), refused(-32602, "Missing required argument: path")),
            (*call("inspect_media", {"path": "/etc/passwd"}), refused(-32602, re.compile("outside allowed roots"))),
            (
                *call("transcode", {"input": "./media/example.mp4", "output": "./media/out.gif", "preset": "webm"}),
                {"result": {"isError": True, "structuredContent": {"error": {"preset": "webm"}}}},
            ),
        ),
    ),
}


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
    server = client(built(case.example, *case.options), answered, **ALLOW)
    server.start("2025-11-25", **case.capabilities)
    for method, params, wanted in case.asked:
        found = server.ask(method, params)
        assert not likeness(wanted, found), (method, params, found)


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
