"""mcbox's acceptance cases, by number, against a built file and the real bash.

`EXACT` is a server built with `--dialect mcbox`: refusals have mcbox's own words and codes.  `PLAIN` is the default,
where the specification of MCP wins: rejected arguments are a result the model can read, an unknown cursor an error.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from support.artifact import build, converse, mcpc
from support.needs import needs
from support.stdio import replies

PROJECT = Path(__file__).parent / "mcbox"
REJECTED = "Invalid params: tool arguments do not match inputSchema"


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    needs("bash", "jq")
    folder = tmp_path_factory.mktemp("mcbox")
    return {name: build(PROJECT, folder / f"{name}.pyz", "--dialect", name) for name in ("mcp", "mcbox")}


@pytest.fixture
def exact(servers: dict[str, Path]) -> Path:
    return servers["mcbox"]


@pytest.fixture
def plain(servers: dict[str, Path]) -> Path:
    return servers["mcp"]


def ask(server: Path, *requests: tuple[str, object], **how: object) -> list[dict]:
    return replies(server, requests, **how)


def call(server: Path, name: str, arguments: object = None) -> dict:
    params = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
    return ask(server, ("tools/call", params))[0]


def text(reply: dict) -> str:
    (block,) = reply["result"]["content"]
    return block["text"]


def error(reply: dict) -> tuple[int, str]:
    return reply["error"]["code"], reply["error"]["message"]


def test_case_1_initialize_is_the_definition(exact: Path) -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    result = ask(exact, ("initialize", client))[0]["result"]
    definition = json.loads((PROJECT / "server.json").read_text())
    assert result["capabilities"].pop("prompts") == {}  # added because there are prompts, as mcbox does
    assert result == definition
    assert list(result) == list(definition)


def test_case_2_the_list_is_the_definition(exact: Path) -> None:
    listed = ask(exact, ("tools/list", None))[0]["result"]
    assert json.dumps(listed) == json.dumps(json.loads((PROJECT / "tools.json").read_text()))


def test_case_3_a_text(exact: Path) -> None:
    assert call(exact, "smoketest")["result"] == {"content": [{"type": "text", "text": "ok"}]}


def test_case_4_a_failure(exact: Path) -> None:
    assert call(exact, "smoketest_fail")["result"] == {"content": [{"type": "text", "text": ""}], "isError": True}


def test_case_5_a_structured_result(exact: Path) -> None:
    result = call(exact, "echo_token", {"token": "abc"})["result"]
    assert result == {"content": [{"type": "text", "text": '{"token":"abc"}'}], "structuredContent": {"token": "abc"}}


def test_case_6_an_output_that_breaks_its_schema(exact: Path, plain: Path) -> None:
    for server in (exact, plain):
        reply = call(server, "echo_token_fail", {"token": "abc"})
        assert error(reply) == (-32603, "Internal error: tool output does not match outputSchema")


@pytest.mark.parametrize("arguments", [{}, {"token": 1}, {"token": "a", "x": 1}, []])
def test_case_7_rejected_arguments(exact: Path, plain: Path, arguments: object) -> None:
    assert error(call(exact, "echo_token", arguments)) == (-32602, REJECTED)
    reply = call(plain, "echo_token", arguments)
    if arguments == []:
        assert error(reply) == (-32602, "Invalid params: `arguments` must be an object")
    else:
        assert reply["result"]["isError"] is True
        assert re.search("token|x", text(reply))


def test_case_8_a_name_that_is_missing_malformed_or_unknown(exact: Path, plain: Path) -> None:
    missing = "Invalid params: tool call parameters missing required 'name' property"
    wrong = [
        ("tools/call", {}),
        ("tools/call", None),
        ("tools/call", {"name": "bad name!"}),
        ("tools/call", {"name": "nope"}),
    ]
    said = [missing, missing, "Invalid params: tool name is malformed", "Invalid params: tool not found"]
    assert [error(reply) for reply in ask(exact, *wrong)] == [(-32602, words) for words in said]
    assert [reply["error"]["code"] for reply in ask(plain, *wrong)] == [-32602] * 4


def test_case_9_a_file_and_a_log_line(exact: Path, tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.write_bytes(b"12345")
    assert call(exact, "file_size", {"path": str(file)})["result"]["structuredContent"] == {
        "path": str(file),
        "size": 5,
    }
    reply = call(exact, "file_size", {"path": "/no/such/file"})
    assert reply["result"]["isError"] is True
    line = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] \[error\] \[tools\.bash\] \[tool_file_size\] file not accessible"
    assert re.fullmatch(line, text(reply))


def test_case_10_both_streams_of_a_failure(exact: Path) -> None:
    reply = call(exact, "both_streams")
    assert (text(reply), reply["result"]["isError"]) == ("partial out\nwhy it failed", True)


def test_case_11_white_space_is_trimmed(exact: Path) -> None:
    assert text(call(exact, "spaces")) == "x"


def small(folder: Path, tools: str, bash: str) -> Path:
    """Build a project of these tools (name by name, without a schema to speak of)."""
    project = folder / "project"
    project.mkdir()
    shutil.copy(PROJECT / "server.json", project)
    listed = [{"name": name, "description": "d", "inputSchema": {"type": "object"}} for name in tools.split()]
    (project / "tools.json").write_text(json.dumps({"tools": listed}))
    (project / "tools.bash").write_text(bash)
    return build(project, folder / "small.pyz")


def test_case_12_names_with_dashes_and_dots(tmp_path: Path) -> None:
    functions = "tool_echo_token() { echo dash; }\ntool_fs_list() { echo dot; }\n"
    server = small(tmp_path, "echo-token fs.list", functions)
    assert (text(call(server, "echo-token")), text(call(server, "fs.list"))) == ("dash", "dot")


def prompt(server: Path, name: str, **more: object) -> dict:
    return ask(server, ("prompts/get", {"name": name, **more}))[0]


def test_case_13_prompts(exact: Path) -> None:
    messages = prompt(exact, "greet", arguments={"name": "Alice"})["result"]["messages"]
    assert messages == [{"role": "user", "content": {"type": "text", "text": "Hello Alice"}}]
    code, message = error(prompt(exact, "greet", arguments={}))
    assert code == -32602 and "name" in message
    code, message = error(prompt(exact, "greet", arguments={"name": "World", "unknown": "x"}))
    assert code == -32602 and "unknown" in message
    assert error(prompt(exact, "greet", arguments={"name": 42}))[0] == -32602
    assert error(prompt(exact, "greet", arguments="x")) == (-32602, "Invalid params: arguments must be a JSON object")
    assert "prompt_read_file" in prompt(exact, "read.file")["result"]["messages"][0]["content"]["text"]
    assert error(prompt(exact, "broken"))[0] == -32603
    assert error(prompt(exact, "failing")) == (-32603, "Internal error: prompt execution failed: why")


def test_case_14_a_prompt_with_a_title_and_no_arguments(exact: Path) -> None:
    listed = ask(exact, ("prompts/list", None))[0]["result"]["prompts"]
    assert listed == json.loads((PROJECT / "prompts.json").read_text())["prompts"]
    assert prompt(exact, "code-review")["result"]["description"] == "A review"


@pytest.mark.slow
def test_case_15_pages(servers: dict[str, Path], tmp_path: Path) -> None:
    paged = tmp_path / "paged.pyz"
    for dialect in ("mcp", "mcbox"):
        done = mcpc("build", PROJECT, "-o", paged, "--dialect", dialect, environment={"MCBOX_TOOLS_PAGE_SIZE": "1"})
        assert done.returncode == 0, done.stderr
        first = ask(paged, ("tools/list", {}))[0]["result"]
        assert [tool["name"] for tool in first["tools"]] == ["smoketest"]
        names, cursor = [], first["nextCursor"]
        while cursor:
            page = ask(paged, ("tools/list", {"cursor": cursor}))[0]["result"]
            names += [tool["name"] for tool in page["tools"]]
            cursor = page.get("nextCursor")
        assert names == [tool["name"] for tool in json.loads((PROJECT / "tools.json").read_text())["tools"]][1:]
        unknown = ask(paged, ("tools/list", {"cursor": "not-valid-base64!!!"}))[0]
        assert unknown["error"]["code"] == -32602 if dialect == "mcp" else unknown["result"] == first


def test_case_16_another_prefix(tmp_path: Path) -> None:
    needs("bash")
    project = tmp_path / "project"
    shutil.copytree(PROJECT, project)
    library = project / "tools.bash"
    library.write_text(library.read_text().replace("tool_", "custom_tool_"))
    prefix = {"MCBOX_TOOLS_FUNCTION_NAME_PREFIX": "custom_tool_"}
    assert mcpc("build", project, "-o", tmp_path / "a.pyz").returncode == 1
    assert mcpc("build", project, "-o", tmp_path / "a.pyz", environment=prefix).returncode == 0
    assert text(call(tmp_path / "a.pyz", "smoketest")) == "ok"
    assert mcpc("build", project, "-o", tmp_path / "b.pyz", "--tools-prefix", "custom_tool_").returncode == 0


def test_arguments_are_indented_json_in_one_word(exact: Path) -> None:
    assert text(call(exact, "arguments", {"n": 1, "e": "zzz"})) == '{\n  "n": 1,\n  "e": "zzz"\n}'
    hostile = "$(touch /tmp/x) `id` \"quoted\" 'single' \\back\\ \n new é 😀 ; rm -rf / NaN -n"
    assert json.loads(text(call(exact, "arguments", {"e": hostile}))) == {"e": hostile}


def test_a_whole_number_is_an_integer_and_another_is_not(exact: Path) -> None:
    assert "result" in call(exact, "arguments", {"n": 1.0})
    assert error(call(exact, "arguments", {"n": 1.5}))[0] == -32602


def test_standard_input_is_empty_and_no_request_is_lost(exact: Path) -> None:
    replies = ask(exact, ("tools/call", {"name": "reads_input"}), ("ping", None), ("tools/list", None))
    assert text(replies[0]) == "read"
    assert replies[1]["result"] == {}


def test_an_unset_variable_ends_the_call(exact: Path) -> None:
    reply = call(exact, "unset_variable")
    assert reply["result"]["isError"] is True
    assert "no_such_variable" in text(reply)


def test_the_configuration_is_exported(exact: Path) -> None:
    server, size = text(call(exact, "configuration")).split("\n")
    assert json.loads(server) == json.loads((PROJECT / "server.json").read_text())
    assert int(size) > 100


def test_handlers_inherit_the_environment_and_the_folder(tmp_path: Path) -> None:
    server = small(tmp_path, "where", 'tool_where() { echo "$PWD $FROM_OUTSIDE"; }\n')
    reply = ask(
        server, ("tools/call", {"name": "where"}), cwd=str(tmp_path), env={**os.environ, "FROM_OUTSIDE": "yes"}
    )[0]
    assert text(reply) == f"{tmp_path} yes"


def test_a_server_without_bash_says_so(exact: Path, tmp_path: Path) -> None:
    lines = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"smoketest"}}\n'
    done = converse([sys.executable, exact], lines, env={"PATH": str(tmp_path)})
    assert error(json.loads(done.stdout)) == (-32603, "Internal error: cannot run bash: No such file or directory")


def test_one_shell_reads_both_libraries(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(PROJECT / "server.json", project)
    (project / "tools.json").write_text('{"tools":[{"name":"t","description":"d","inputSchema":{"type":"object"}}]}')
    (project / "tools.bash").write_text("shared() { printf 'shared'; }\ntool_t() { helper; }\n")
    (project / "prompts.json").write_text('{"prompts":[{"name":"p","description":"d"}]}')
    message = '{"messages":[{"role":"user","content":{"type":"text","text":"%s"}}]}'
    (project / "prompts.bash").write_text(
        f"helper() {{ shared; }}\nprompt_p() {{ printf '{message}' \"$(shared)\"; }}\n"
    )
    server = build(project, tmp_path / "both.pyz")
    assert text(call(server, "t")) == "shared"
    assert prompt(server, "p")["result"]["messages"][0]["content"]["text"] == "shared"


def test_calls_at_once_have_temporary_files_of_their_own(tmp_path: Path) -> None:
    """Each writes its file, waits for the other's, and reads its own."""
    library = (
        'tool_a() { local work="$PLACE/x.$$"; echo "${FUNCNAME[0]}" >"$work"; '
        'while set -- "$PLACE"/x.*; (($# < 2)); do sleep 0.02; done; cat "$work"; }\n'
        'tool_b() { tool_a; cat "$PLACE/x.$$"; }\n'
    )
    server = small(tmp_path, "a b", library)
    place = tmp_path / "place"
    place.mkdir()
    requests = [("tools/call", {"name": name, "arguments": {}}) for name in "ab"]
    found = ask(server, *requests, env={**os.environ, "PLACE": str(place)})
    assert [text(reply) for reply in found] == ["tool_a", "tool_a\ntool_a"]
    assert len(list(place.iterdir())) == 2
