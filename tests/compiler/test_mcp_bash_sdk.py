"""The SDK that tools of mcp-bash projects read, in a real Bash: what each function prints, and how it ends."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from support.needs import ROOT, needs
from support.scale import scaled

if TYPE_CHECKING:
    from collections.abc import Callable

TEMPLATES = ROOT / "templates/mcp_bash"
FUNCTION = re.compile(r"^(mcp_\w+)\(\) \{", re.MULTILINE)
OTHERS = ("mcp_tools_", "mcp_health_")
"""What only the project's own programs are given."""
ARGUMENTS = {
    "text": 'a "quoted"\nline \\ é\t😀',
    "number": 7,
    "negative": -3,
    "large": 12345678901234567890,
    "fraction": 1.50,
    "yes": True,
    "no": False,
    "one": 1,
    "nothing": None,
    "empty": "",
    "list": ["a b", 2, {"deep": [None]}],
    "object": {"x": {"y": "z"}, "a key": 1},
    "path": "/srv/../srv/./data/",
    "outside": "/etc/passwd",
}


class Ran(NamedTuple):
    """What a script printed, said, and ended with."""

    printed: str
    said: str
    status: int


class Sandbox:
    """A folder for what tools write, and the variables that a server gives them."""

    def __init__(self, folder: Path, sdk: Path = TEMPLATES / "sdk") -> None:
        self.folder = folder
        self.variables = {
            "PATH": os.environ["PATH"],
            "LANG": os.environ.get("LANG", "C"),
            "MCP_SDK": str(sdk),
            "MCP_TOOL_ARGS_JSON": json.dumps(ARGUMENTS, ensure_ascii=False, separators=(",", ":"), sort_keys=True),
            "MCP_TOOL_META_JSON": '{"who":"me"}',
            "MCP_TOOL_ERROR_FILE": str(folder / "error"),
            "MCP_TOOL_RESOURCES_FILE": str(folder / "resources"),
            "MCP_CANCEL_FILE": str(folder / "cancelled"),
            "MCP_PROGRESS_STREAM": str(folder / "progress"),
            "MCP_LOG_STREAM": str(folder / "log"),
            "MCP_PROGRESS_TOKEN": "t-1",
            "MCP_ROOTS_PATHS": f"/srv\n{folder}/[r]oot",
            "MCP_ROOTS_COUNT": "2",
            "MCPC_PYTHON": sys.executable,
            "MCPBASH_JSON_TOOL": "jq",
            "MCPBASH_JSON_TOOL_BIN": shutil.which("jq") or "",
            "MCPBASH_MODE": "full",
            "MCPBASH_DEBUG_LOG": str(folder / "debug"),
        }
        (folder / "error").touch()

    def run(self, script: str, *arguments: str, **variables: str) -> Ran:
        given = {**self.variables, **variables}
        text = 'source "$MCP_SDK/tool-sdk.sh"\n' + script.replace("HERE", str(self.folder))
        argv = ["bash", "-c", text, "tool.sh", *arguments]
        ran = subprocess.run(
            argv, env=given, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
        return Ran(ran.stdout.decode(), ran.stderr.decode(errors="replace"), ran.returncode)

    def lines(self, name: str) -> list[object]:
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    needs("bash")
    return Sandbox(tmp_path)


def refused(message: str) -> tuple[str, int]:
    return json.dumps({"code": -32602, "message": message, "data": None}, separators=(",", ":")) + "\n", 1


def result(text: str, structured: object, is_error: bool) -> tuple[str, int]:
    made = {"content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": is_error}
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n", 0


def success(value: object, text: str = "") -> tuple[str, int]:
    envelope = {"success": True, "result": value}
    return result(text or json.dumps(envelope, ensure_ascii=False, separators=(",", ":")), envelope, False)


def error(text: str, **more: object) -> tuple[str, int]:
    return result(text, {"success": False, "error": more}, True)


OUTPUT = {
    "mcp_json_escape 'a\"b\\c'": ('"a\\"b\\\\c"\n', 0),
    "mcp_json_escape $'\\x01\\x1f\\b\\f\\n\\r\\t\\x7f'": ('"\\u0001\\u001f\\b\\f\\n\\r\\t\x7f"\n', 0),
    "mcp_json_escape $'\\n\\n'": ('"\\n\\n"\n', 0),
    "mcp_json_escape 'é 😀 &amp; \\\\& $x `y`'": ('"é 😀 &amp; \\\\\\\\& $x `y`"\n', 0),
    "mcp_json_escape $'a\\xffb\\xc3'": ('"a\ufffdb\ufffd"\n', 0),
    "mcp_json_escape ''": ('""\n', 0),
    "mcp_json_escape": ('""\n', 0),
    "mcp_json_obj": ("{}", 0),
    "mcp_json_obj a 1 'k\"' $'v\\n'": ('{"a":"1","k\\"":"v\\n"}', 0),
    "mcp_json_obj a; echo never": ("", 1),
    "x=$(mcp_json_obj a); echo never": ("", 1),
    "mcp_json_arr": ("[]", 0),
    "mcp_json_arr a '' 'b c'": ('["a","","b c"]', 0),
    "MCP_TOOL_ARGS_JSON='{\"a\": 1}' mcp_args_raw": ('{"a": 1}', 0),
    "MCP_TOOL_ARGS_JSON='' mcp_args_raw": ("{}", 0),
    "echo -n ' [1] ' >HERE/f; MCP_TOOL_ARGS_FILE=HERE/f mcp_args_raw": (" [1] ", 0),
    "MCP_TOOL_ARGS_FILE=HERE/nowhere MCP_TOOL_ARGS_JSON='[2]' mcp_args_raw": ("[2]", 0),
    "mcp_meta_raw": ('{"who":"me"}', 0),
    "mcp_meta_get .who": ("me\n", 0),
    "mcp_meta_get .whom": ("null\n", 0),
    "mcp_meta_get .who.x || echo $?": ("5\n", 0),
    "mcp_args_get .number": ("7", 0),
    "mcp_args_get .text": (ARGUMENTS["text"], 0),
    "mcp_args_get .large": ("12345678901234567890", 0),
    "mcp_args_get .list[0]": ("a b", 0),
    "mcp_args_get '.list[]'": ('a b\n2\n{"deep":[null]}', 0),
    "mcp_args_get '.object[\"a key\"]'": ("1", 0),
    "mcp_args_get '.object'": ('{"a key":1,"x":{"y":"z"}}', 0),
    "mcp_args_get .object.x.y": ("z", 0),
    "mcp_args_get .absent": ("null", 0),
    "mcp_args_get .absent.more": ("null", 0),
    "mcp_args_get '.absent // empty'": ("", 0),
    "mcp_args_get '.absent // \"preset\"'": ("preset", 0),
    "mcp_args_get '.no // 5'": ("5", 0),
    "mcp_args_get '.list | length'": ("3", 0),
    "mcp_args_get '.object | keys'": ('["a key","x"]', 0),
    "mcp_args_get '.list | map(type) | join(\",\")'": ("string,number,object", 0),
    'mcp_args_get .number.x || echo " $?"': (" 5\n", 0),
    "MCP_TOOL_ARGS_JSON='{' mcp_args_get .a || echo $?": ("2\n", 0),
    "mcp_args_get '.[' || echo $?": ("3\n", 0),
    "mcp_args_require .number": ("7", 0),
    "mcp_args_require .no": ("false", 0),
    "mcp_args_require .absent": refused(".absent is required"),
    "mcp_args_require .empty 'Say something'": refused("Say something"),
    "x=$(mcp_args_require .nothing 2>/dev/null); echo never": ("", 1),
    "mcp_args_bool .yes": ("true", 0),
    "mcp_args_bool .one": ("true", 0),
    "mcp_args_bool .number": ("false", 0),
    "mcp_args_bool .no --default true": ("false", 0),
    "mcp_args_bool .absent --default 1": ("true", 0),
    "mcp_args_bool .absent --default other": ("false", 0),
    "mcp_args_bool .absent": refused(".absent is required"),
    "mcp_args_int .number --min 7 --max 7": ("7", 0),
    "mcp_args_int .negative": ("-3", 0),
    "mcp_args_int .absent --default 12": ("12", 0),
    "mcp_args_int .absent --default x": refused(".absent must be an integer"),
    "mcp_args_int .absent": refused(".absent is required"),
    "mcp_args_int .fraction": refused(".fraction must be an integer"),
    "mcp_args_int .text": refused(".text must be an integer"),
    "mcp_args_int .number --min 8": refused(".number must be >= 8"),
    "mcp_args_int .number --max 6": refused(".number must be <= 6"),
    "mcp_args_int .large --max 6": refused(".large must be <= 6"),
    "mcp_args_int .number --min 2 --max 1": refused("mcp_args_int: --min cannot exceed --max"),
    "mcp_is_cancelled || echo no; touch HERE/cancelled; mcp_is_cancelled && echo yes": ("no\nyes\n", 0),
    "mcp_fail -32001 'a \"message\"' '{ \"k\" : [ ] }'": (
        '{"code":-32001,"message":"a \\"message\\"","data":{"k":[]}}\n',
        1,
    ),
    "mcp_fail nonsense": ('{"code":-32603,"message":"Tool failed","data":null}\n', 1),
    "mcp_fail +0042 m 'not json'": ('{"code":42,"message":"m","data":null}\n', 1),
    "mcp_fail_invalid_args": refused("Invalid params"),
    "mcp_fail_invalid_args why": refused("why"),
    "mcp_emit_text $'a\\nb'": ("a\nb", 0),
    "mcp_emit_json ' { \"a\" : [ 1 , 2.50 ] } '": ('{"a":[1,2.50]}', 0),
    "mcp_emit_json 'not json'": ("not json", 0),
    "mcp_is_valid_json '[1e5]' && ! mcp_is_valid_json '1 2' && ! mcp_is_valid_json '' && ! mcp_is_valid_json '{a}'": (
        "",
        0,
    ),
    "mcp_is_valid_json false && mcp_is_valid_json ' null '": ("", 0),
    "mcp_byte_length 'é😀'": ("6\n", 0),
    "mcp_roots_list": ("/srv\nHERE/[r]oot", 0),
    "mcp_roots_count": ("2", 0),
    "mcp_roots_contains /srv && mcp_roots_contains /srv/x && mcp_roots_contains /srv/../srv/x": ("", 0),
    "mcp_roots_contains /srvx || mcp_roots_contains /srv/.. || mcp_roots_contains HERE/root || echo none": (
        "none\n",
        0,
    ),
    "mcp_roots_contains 'HERE/[r]oot/x'": ("", 0),
    "ln -s /etc HERE/link; MCP_ROOTS_PATHS=HERE mcp_roots_contains HERE/link/passwd || echo leads outside": (
        "leads outside\n",
        0,
    ),
    "MCP_ROOTS_PATHS=/ mcp_roots_contains /any/thing": ("", 0),
    "mcp_require_path .path": ("/srv/data", 0),
    "mcp_require_path .outside": refused(".outside is outside configured MCP roots"),
    "MCP_ROOTS_COUNT=0 mcp_require_path .outside": ("/etc/passwd", 0),
    "mcp_require_path .absent": refused(".absent is required"),
    "mcp_require_path .absent --allow-empty": ("", 0),
    "mcp_require_path .absent --default-to-single-root": refused(
        ".absent is required when zero or multiple roots are configured"
    ),
    "MCP_ROOTS_COUNT=1 MCP_ROOTS_PATHS=/srv mcp_require_path .absent --default-to-single-root": ("/srv", 0),
    "mcp_path_normalize ./a//b/../c/": ("HERE/a/c", 0),
    "mcp_path_normalize --logical -- /../..": ("/", 0),
    "mcp_path_normalize ''": ("HERE", 0),
    "mkdir d; ln -s d/.. l; mcp_path_normalize l/../x": ("HERE/../x", 0),
    "ln -s nowhere l; mcp_path_normalize --physical l/x": ("HERE/nowhere/x", 0),
    "mcp_path_collapse 'a b/../c*'": ("HERE/c*", 0),
    "mcp_with_retry 3 0.001 -- bash -c 'echo x; exit 3' || echo $?": ("x\nx\nx\n3\n", 0),
    "mcp_with_retry 3 .001 bash -c 'echo x; exit 2' || echo $?": ("x\n2\n", 0),
    "mcp_with_retry 3 0 true": ("", 0),
    "mcp_with_retry x 0 true": ("", 1),
    "mcp_with_retry 1 x true": ("", 1),
    "n() { echo n >>HERE/n; [[ $(wc -l <HERE/n) -gt 1 ]] || return 4; }; mcp_with_retry 5 0.01 n; wc -l <HERE/n": (
        "2\n",
        0,
    ),
    "mcp_elicit m '{}' || echo \" $?\"": ('{"action":"decline","content":null} 1\n', 0),
    "MCP_ELICIT_SUPPORTED=1 mcp_elicit m '{}' || echo \" $?\"": ('{"action":"error","content":null} 1\n', 0),
    "MCP_ELICIT_SUPPORTED=1 mcp_elicit m '{' || echo \" $?\"": ('{"action":"error","content":null} 1\n', 0),
    'mcp_extract_cli_error \'{"error":{"message":"M"},"message":"no"}\' err 2': ("M", 0),
    'mcp_extract_cli_error \'{"error":"E"}\' err 2': ("E", 0),
    'mcp_extract_cli_error \'{"ok":false,"message":"N"}\' err 2': ("N", 0),
    'mcp_extract_cli_error \'{"status":"error","message":"S"}\' err 2': ("S", 0),
    'mcp_extract_cli_error \'{"ok":true,"message":"N"}\' err 2': ("err", 0),
    'mcp_extract_cli_error \'{"errors":[{"message":"G"}]}\' err 2': ("G", 0),
    "mcp_extract_cli_error '{\"error\":{},\"errors\":[]}' '' 2": ("CLI exited with code 2", 0),
    "mcp_extract_cli_error '[1]' err 2": ("err", 0),
    'mcp_result_success \'{ "message" : "hi" }\'': success({"message": "hi"}),
    "mcp_result_success '\"é\\u00e9\\/\"'": success("éé/"),
    "mcp_result_success '[1,2,3]' 10": success([1, 2, 3], "Success: array with 3 items"),
    'mcp_result_success \'{"a":1,"b":{"c":[]}}\' 0': success({"a": 1, "b": {"c": []}}, "Success: object with 2 keys"),
    "MCPBASH_MAX_TEXT_BYTES=5 mcp_result_success 42": success(42, "Success: 42"),
    f"mcp_result_success '\"{'é' * 150}\"' 10": success("é" * 150, f"Success: {'é' * 100}"),
    "mcp_result_success ''": error(
        "mcp_result_success was given nothing", type="internal_error", message="mcp_result_success was given nothing"
    ),
    "mcp_result_success '{'": error(
        "mcp_result_success was given what is not JSON",
        type="internal_error",
        message="mcp_result_success was given what is not JSON",
    ),
    "mcp_result_success '1 2'": error(
        "Error: the result is not one JSON value",
        type="internal_error",
        message="mcp_result_success wants one JSON value",
        count=2,
    ),
    'mcp_result_error \'{"type":"t","message":"m","more":1}\'': error("m", type="t", message="m", more=1),
    "mcp_result_error '{}'": error("Unknown error", type="internal_error", message="Unknown error"),
    'mcp_result_error \'{"message":null,"type":false}\'': error(
        "Unknown error", message="Unknown error", type="internal_error"
    ),
    "mcp_result_error '{\"message\":[1]}'": error("[1]", message=[1], type="internal_error"),
    "mcp_result_error 'no json'": error(
        "mcp_result_error was given what is not JSON",
        type="internal_error",
        message="mcp_result_error was given what is not JSON",
        raw="no json",
    ),
    "mcp_result_error '[1]'": error(
        "An error is a JSON object", type="internal_error", message="An error is a JSON object", raw="[1]"
    ),
    "mcp_result_error '1 2'": error(
        "An error is one JSON value", type="internal_error", message="An error is one JSON value", raw="2 values"
    ),
    "mcp_error kind 'what \"it\" is'": error('what "it" is', type="kind", message='what "it" is'),
    "mcp_error": error("Unknown error", type="internal_error", message="Unknown error"),
    "mcp_error k m --data '{ \"n\": 1 }' --hint 'try x' --unknown": error(
        "m", type="k", message="m", hint="try x", data={"n": 1}
    ),
    "mcp_error k m --data '{'": error("m", type="k", message="m", data={"_invalid_json": "{"}),
    "mcp_error k m --data null; echo on": (error("m", type="k", message="m")[0] + "on\n", 0),
    'mcp_config_load --defaults \'{"a":1,"b":2}\'; mcp_config_get .a': ("1", 0),
    "mcp_config_load --defaults '{}' || echo none": ("none\n", 0),
    "mcp_config_load --defaults '[' || echo none": ("none\n", 0),
    'mcp_config_load --defaults \'{"s":"","f":false}\'; mcp_config_get .s; mcp_config_get .f': ("false", 0),
    "mcp_config_load --defaults '{\"a\":1}'; mcp_config_get .z --default d; mcp_config_get .z || echo none": (
        "dnone\n",
        0,
    ),
    'mcp_config_load --defaults \'{"a":{"b":[1,2]}}\'; mcp_config_get .a.b[1]': ("2", 0),
    "mcp_config_get '' || echo none": ("none\n", 0),
    "mcp_json_truncate '[1,2,3]'": ('{"result":[1,2,3],"truncated":false}\n', 0),
    "mcp_json_truncate '[1,2,3,4]' 5": ('{"result":[1,2],"truncated":true,"kept":2,"total":4}\n', 0),
    'mcp_json_truncate \'{"results":[1,2,3,4],"n":0}\' 23': (
        '{"result":{"results":[1,2],"n":0},"truncated":true,"kept":2,"total":4}\n',
        0,
    ),
    'mcp_json_truncate \'{"d":{"l":[]}}\' --array-path .d.l 3': (
        (
            '{"result":null,"truncated":false,"error":{"type":"output_too_large","message":'
            '"14 bytes are too many, even without an item"}}\n'
        ),
        0,
    ),
    "mcp_tool_meta_with_ui ui://a/b": ('{"ui":{"resourceUri":"ui://a/b","visibility":["model","app"]}}\n', 0),
    "mcp_tool_meta_with_ui ui://a ' app '": ('{"ui":{"resourceUri":"ui://a","visibility":["app"]}}\n', 0),
    "mcp_client_supports_ui || echo no; MCPBASH_CLIENT_SUPPORTS_UI=1 mcp_client_supports_ui && echo yes": (
        "no\nyes\n",
        0,
    ),
    "mcp_result_with_ui '' text '{\"a\":1}'": ('{"content":[{"type":"text","text":"text"}],"isError":false}\n', 0),
    "MCPBASH_CLIENT_SUPPORTS_UI=1; mcp_result_with_ui_data '' text '{ \"a\":1}'": (
        '{"content":[{"type":"text","text":"text"}],"structuredContent":{"a":1},"isError":false}\n',
        0,
    ),
    "mcp_download_safe --out x": ('{"success":false,"error":{"type":"invalid_url","message":"--url is required"}}', 0),
    "mcp_download_safe --url https://x": (
        '{"success":false,"error":{"type":"invalid_params","message":"--out is required"}}',
        0,
    ),
    "mcp_download_safe --url http://x --out x": (
        '{"success":false,"error":{"type":"invalid_url","message":"URL must use https://"}}',
        0,
    ),
    "mcp_download_safe --url https://x --out x --alow x": (
        '{"success":false,"error":{"type":"invalid_params","message":"There is no option --alow"}}',
        0,
    ),
    "mcp_download_safe --url https://x --out x --timeout 61": (
        '{"success":false,"error":{"type":"invalid_params","message":"--timeout cannot exceed 60 seconds"}}',
        0,
    ),
    "mcp_download_safe --url https://x.example --out x": (
        '{"success":false,"error":{"type":"host_blocked","message":"Host blocked by policy"}}',
        0,
    ),
    "mcp_download_safe_or_fail --url https://127.0.0.1 --out x --allow 127.0.0.1": refused(
        "Download failed (host_blocked): Host blocked by policy"
    ),
    "mcp_run_with_progress --pattern x": ("", 1),
    "mcp_run_with_progress -- true": ("", 1),
    "mcp_run_with_progress --pattern x --extract y -- true": ("", 1),
    "mcp_run_with_progress --pattern x --interval 0 -- true": ("", 1),
    "mcp_run_with_progress --pattern x --total 0 -- true": ("", 1),
    "mcp_run_with_progress --pattern x -- bash -c 'echo out; exit 7' || echo $?": ("out\n7\n", 0),
    "source $MCP_SDK/../lib/resource_content.sh; mcp_resource_detect_mime x 'text/html;profile=p'": (
        "text/html;profile=p",
        0,
    ),
    "source $MCP_SDK/../lib/resource_content.sh; mcp_resource_is_binary_mime image/PNG && ! mcp_resource_is_binary_mime text/x": (
        "",
        0,
    ),
    "source $MCP_SDK/../lib/resource_content.sh; printf 'a\\0b' >n; mcp_resource_should_base64 n text/plain; printf ab >n; mcp_resource_should_base64 n text/plain || echo text": (
        "text\n",
        0,
    ),
    "source $MCP_SDK/../lib/policy.sh; mcp_policy_extract_host_from_url 'https://u:p@[::1]:8/x@y'": ("::1", 0),
    "source $MCP_SDK/../lib/policy.sh; mcp_policy_normalize_host '[FE80::1]'": ("fe80::1", 0),
    "source $MCP_SDK/../lib/policy.sh; mcp_policy_host_allowed a 'b, A' '' && ! mcp_policy_host_allowed a a 'x a'": (
        "",
        0,
    ),
    "source $MCP_SDK/../lib/policy.sh; mcp_policy_host_match_list b 'a,[B]' && ! mcp_policy_host_match_list x '*'": (
        "",
        0,
    ),
    "source $MCP_SDK/../lib/policy.sh; mcp_policy_ipv4_is_private 10.0.0.1 && ! mcp_policy_ipv4_is_private 11.0.0.1": (
        "",
        0,
    ),
    "source $MCP_SDK/../lib/policy.sh; mcp_policy_ipv4_from_v4mapped_hex ::ffff:7f00:1": ("127.0.0.1", 0),
}


@pytest.mark.parametrize(("script", "expected"), OUTPUT.items(), ids=OUTPUT.keys())
def test_function(sandbox: Sandbox, script: str, expected: tuple[str, int]):
    ran = sandbox.run(script)
    wanted = expected[0].replace("HERE/../x", str(sandbox.folder.parent / "x")).replace("HERE", str(sandbox.folder))
    assert (ran.printed, ran.status) == (wanted, expected[1]), ran.said


def test_every_function_has_a_test():
    texts = [place.read_text() for place in sorted(TEMPLATES.rglob("*.sh")) if place.parent.name in ("sdk", "lib")]
    names = {name for text in texts for name in FUNCTION.findall(text)}
    tests = Path(__file__).read_text()
    assert {name for name in names if name not in tests and not name.startswith(OTHERS)} == set()
    assert len(names) > 60


PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "172.20.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
]
PRIVATE += [
    "::1",
    "[::1]",
    "::",
    "fe80::1%eth0",
    "fd00::1",
    "fc00::",
    "ff02::1",
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "localhost",
]
PUBLIC = [
    "93.184.216.34",
    "172.32.0.1",
    "100.128.0.1",
    "2606:2800:220:1::1",
    "::ffff:808:808",
    "::ffff:8.8.8.8",
    "8.8.8.8",
]


def test_private_addresses(sandbox: Sandbox):
    script = 'source $MCP_SDK/../lib/policy.sh; for a; do mcp_policy_ip_is_private "$a" && echo "$a"; done; true'
    assert sandbox.run(script, *PRIVATE, *PUBLIC).printed.split() == PRIVATE
    hosts = (
        'source $MCP_SDK/../lib/policy.sh; mcp_policy_host_is_private "$1" && mcp_policy_resolve_ips "$1" | head -n 1'
    )
    assert sandbox.run(hosts, "localhost").printed.strip() in ("127.0.0.1", "::1", "")


def test_resource_contents(sandbox: Sandbox):
    (sandbox.folder / "a.txt").write_text('a "b"\n\n')
    (sandbox.folder / "b.bin").write_bytes(bytes(range(256)))
    script = "source $MCP_SDK/../lib/resource_content.sh; mcp_resource_content_object_from_file"
    text = json.loads(sandbox.run(f"{script} a.txt text/plain u:1").printed)
    assert (text["uri"], text["text"]) == ("u:1", 'a "b"')
    assert "blob" in json.loads(sandbox.run(f"{script} b.bin application/octet-stream").printed)
    assert sandbox.run(f"{script} nowhere || echo none").printed == "none\n"


def test_notes(sandbox: Sandbox):
    script = (
        "mcp_progress 5 a; mcp_progress 007 'b \"' 010; mcp_progress x c x; mcp_progress 101 d; mcp_progress 99999999999999999999 e\n"
        "MCP_PROGRESS_TOKEN=12 mcp_progress 1 f; MCP_PROGRESS_TOKEN=+5 mcp_progress 1 g; MCP_PROGRESS_TOKEN= mcp_progress 1 h\n"
        'mcp_log WARNING l \'{"a":\n1}\'; mcp_log loud l 1; mcp_log_debug l "d\n"; mcp_log_info l i; mcp_log_warn l w; mcp_log_error l e\n'
        "mcp_debug one two; MCP_LOG_STREAM=/nowhere/x mcp_log_info l lost; MCPBASH_DEBUG_LOG= mcp_debug lost"
    )
    assert sandbox.run(script).said.count("\n") == 1
    said = [
        [note["params"][name] for name in ("progressToken", "progress", "total", "message")]
        for note in sandbox.lines("progress")
    ]
    assert [tuple(one) for one in said] == [
        ("t-1", 5, None, "a"), ("t-1", 7, 10, 'b "'), ("t-1", 0, None, "c"), ("t-1", 100, None, "d"), ("t-1", 100, None, "e"),
        (12, 1, None, "f"), ("+5", 1, None, "g"),
    ]  # fmt: skip
    logged = [tuple(note["params"].values()) for note in sandbox.lines("log")]
    assert logged == [
        ("warning", "l", {"a": 1}), ("info", "l", 1), ("debug", "l", "d\n"), ("info", "l", "i"), ("warning", "l", "w"),
        ("error", "l", "e"),
    ]  # fmt: skip
    assert re.fullmatch(r"\[\d\d:\d\d:\d\d\] one two\n", (sandbox.folder / "debug").read_text())


def test_an_error_of_two_texts_is_logged(sandbox: Sandbox):
    sandbox.run("mcp_error kind what --hint why")
    assert [tuple(note["params"].values()) for note in sandbox.lines("log")] == [
        ("debug", "mcp_error", "type=kind: what"),
        ("warning", "mcp_error", "type=kind hint: what"),
    ]


def test_a_failure_is_in_its_file_as_well(sandbox: Sandbox):
    ran = sandbox.run("mcp_fail -32050 'it failed' '[1]'")
    assert ran.said == "it failed\n"
    assert (sandbox.folder / "error").read_text() == ran.printed == '{"code":-32050,"message":"it failed","data":[1]}\n'
    elsewhere = sandbox.run("mcp_fail 1 m", MCP_TOOL_ERROR_FILE="/nowhere/error")
    assert (elsewhere.printed, elsewhere.said) == ('{"code":1,"message":"m","data":null}\n', "m\n")


def test_configuration_comes_from_four_places(sandbox: Sandbox):
    (sandbox.folder / "example.json").write_text('{"a":"example","b":"example","c":{"x":1}}')
    (sandbox.folder / "file.json").write_text('{"b":"file"}\n')
    (sandbox.folder / "other.json").write_text('{"c":{"y":2}}')
    load = 'mcp_config_load --example example.json --file file.json --env V --defaults \'{"d":"preset","a":"preset"}\''
    merged = {"d": "preset", "a": "example", "b": "file", "c": {"x": 1}}
    assert json.loads(sandbox.run(f'{load}; echo "$MCP_CONFIG_JSON"').printed) == merged
    own = sandbox.run(f"{load}; bash -c 'echo \"$MCP_CONFIG_JSON\"'", V='{"a":"env","e":"\\""}')
    assert json.loads(own.printed) == {**merged, "a": "env", "e": '"'}
    assert json.loads(sandbox.run(f'{load}; echo "$MCP_CONFIG_JSON"', V="other.json").printed) == {
        **merged,
        "c": {"y": 2},
    }
    assert json.loads(sandbox.run(f'{load}; echo "$MCP_CONFIG_JSON"', V="nonsense").printed) == merged


def test_files_in_an_answer(sandbox: Sandbox):
    (sandbox.folder / "a b.txt").write_text("text")
    (sandbox.folder / "c.json").write_text("{}")
    script = "mcp_result_text_with_resource '{\"n\":1}' --path 'a b.txt' --mime text/plain --uri u:1 --path nowhere --what --path c.json"
    ran = sandbox.run(script)
    assert json.loads(ran.printed)["structuredContent"] == {"success": True, "result": {"n": 1}}
    first, second = json.loads((sandbox.folder / "resources").read_text())
    assert first == {"path": "a b.txt", "mimeType": "text/plain", "uri": "u:1"}
    assert (second["path"], second["uri"]) == ("c.json", None)
    assert second["mimeType"] in ("application/json", "text/plain", "application/octet-stream")
    assert any("nowhere" in str(note["params"]["data"]) for note in sandbox.lines("log"))


def answering(sandbox: Sandbox, answer: Callable[[dict], str | None], asked: list[dict]) -> threading.Thread:
    """Answer questions as a server does, until one is not to be answered."""

    def run() -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                question = json.loads((sandbox.folder / "request").read_text())
            except FileNotFoundError:
                time.sleep(0.005)
                continue
            asked.append(question)
            (sandbox.folder / "request").unlink()
            said = answer(question)
            if said is None:
                return
            (sandbox.folder / "new").write_text(said)
            (sandbox.folder / "new").rename(sandbox.folder / "response")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def schema(name: str, **field: object) -> dict:
    return {"type": "object", "properties": {name: field}, "required": [name]}


TITLED = [{"const": "a", "title": "First: one"}, {"const": "b", "title": "b"}]
QUESTIONS = {
    'mcp_elicit_string "What\'s up?"': schema("value", type="string"),
    "mcp_elicit_string m 'my \"field\"'": schema('my "field"', type="string"),
    "mcp_elicit_confirm m": schema("confirmed", type="boolean"),
    "mcp_elicit_choice m 'a b' c": schema("choice", type="string", enum=["a b", "c"]),
    "mcp_elicit_multi_choice m a b": schema("choices", type="array", items={"type": "string", "enum": ["a", "b"]}),
    "mcp_elicit_titled_choice m 'a:First: one' b": schema("choice", type="string", oneOf=TITLED),
    "mcp_elicit_titled_multi_choice m 'a:First: one' b": schema("choices", type="array", items={"oneOf": TITLED}),
    'mcp_elicit m \'{ "type": "object" }\' 5 form': {"type": "object"},
}


def test_questions(sandbox: Sandbox):
    asked: list[dict] = []
    sandbox.variables.update(
        MCP_ELICIT_SUPPORTED="1",
        MCP_ELICIT_REQUEST_FILE=str(sandbox.folder / "request"),
        MCP_ELICIT_RESPONSE_FILE=str(sandbox.folder / "response"),
    )
    os.mkfifo(sandbox.folder / "stream")
    stream = os.open(sandbox.folder / "stream", os.O_RDWR)
    thread = answering(
        sandbox, lambda question: '{"action":"accept","content":{}}\n' if question["message"] != "stop" else None, asked
    )
    script = (
        "\n".join(f"{call}; echo" for call in QUESTIONS)
        + "\nmcp_elicit_url m 'https://x/?\"'; echo\nmcp_elicit stop '{}' 1 || echo $?"
    )
    ran = sandbox.run(script, MCP_PROGRESS_STREAM=str(sandbox.folder / "stream"))
    thread.join(30)
    assert ran.printed.splitlines() == ['{"action":"accept","content":{}}'] * 9 + ['{"action":"error","content":null}1']
    assert [one.get("schema") for one in asked] == [*QUESTIONS.values(), None, {}]
    assert asked[0] == {"message": "What's up?", "schema": schema("value", type="string"), "mode": "form"}
    assert asked[-2] == {"message": "m", "url": 'https://x/?"', "mode": "url"}
    assert os.read(stream, 1 << 16) == b'{"elicit":true}\n' * 10
    os.close(stream)
    assert not list(sandbox.folder.glob("re*st*"))


def test_a_question_of_a_tool_that_is_cancelled(sandbox: Sandbox):
    given = {"MCP_ELICIT_SUPPORTED": "1", "MCP_ELICIT_REQUEST_FILE": "request", "MCP_ELICIT_RESPONSE_FILE": "response"}
    ran = sandbox.run("(sleep 0.1; touch HERE/cancelled) & mcp_elicit_confirm m || echo $?", **given)
    assert ran.printed == '{"action":"cancel","content":null}1\n'
    assert not (sandbox.folder / "request").exists()


PROGRESS = {
    "--extract match1 --pattern '([0-9]+)%'": ("at 10%|nothing|at 50% of it", [(10, "at 10%"), (50, "at 50% of it")]),
    "--extract match1 --total 20 --pattern 'n=([0-9]+)'": ("n=5|n=10", [(25, "n=5"), (50, "n=10")]),
    "--extract ratio --pattern '([0-9]+)/([0-9]+)'": ("1/4|08/016|1/0", [(25, "1/4"), (50, "08/016")]),
    "--pattern progress": (
        '{"progress":12.7,"message":"m"}|{"progress":null}|{progress|{"progress":3}',
        [(12, "m"), (3, "Working...")],
    ),
}


@pytest.mark.parametrize(("options", "case"), PROGRESS.items(), ids=PROGRESS.keys())
@pytest.mark.parametrize("source", ["errors", "file"])
def test_progress_of_a_command(sandbox: Sandbox, options: str, case: tuple[str, list], source: str):
    text, expected = case
    where = "errors" if source == "errors" else "HERE/p"
    more = "" if source == "errors" else "--progress-file HERE/p"
    target = ">&2" if source == "errors" else f">>{where}"
    command = f"""bash -c 'echo out; for l; do printf "%s\\n" "$l" {target}; sleep 0.02; done; exit 4' x {" ".join(f"'{one}'" for one in text.split("|"))}"""
    ran = sandbox.run(
        f"mcp_run_with_progress {options} {more} --interval 0.01 --stdout HERE/out --stderr-file HERE/rest -- {command} || echo $?"
    )
    assert (ran.printed, (sandbox.folder / "out").read_text()) == ("4\n", "out\n")
    notes = [json.loads(line)["params"] for line in (sandbox.folder / "progress").read_text().splitlines() if line]
    assert [(note["progress"], note["message"]) for note in notes] == expected
    assert (sandbox.folder / "rest").read_text() == ("nothing\n" if "nothing" in text else "")


def test_a_cancelled_command_goes_along(sandbox: Sandbox):
    began = time.monotonic()
    ran = sandbox.run(
        "(sleep 0.1; touch HERE/cancelled) & mcp_run_with_progress --pattern x --interval 0.02 -- sleep 1000 || echo $?"
    )
    assert ran.printed == "130\n"
    assert time.monotonic() - began < 300


def test_progress_that_is_only_shown(sandbox: Sandbox):
    script = (
        """mcp_run_with_progress --dry-run --quiet --extract match1 --pattern '([0-9]+)' -- bash -c 'printf 7 >&2'"""
    )
    assert sandbox.run(script).said == '{"progress":7,"message":"7"}\n'
    assert not (sandbox.folder / "progress").exists()


def test_pages(sandbox: Sandbox):
    form = sandbox.run(
        "mcp_ui_form --title '<T> & \"' --field 'a-b:select:x,<y>' --field n:number --field t --submit-tool 'to\"ol'"
    ).printed
    assert "<title>&lt;T> &amp; &quot;</title>" in form
    assert '<label>A B <select name="a-b"><option>x</option><option>&lt;y></option></select></label>' in form
    assert '<input name="n" type="number">' in form
    assert 'data-tool="&quot;to\\&quot;ol&quot;"' in form
    table = sandbox.run("""mcp_ui_table --columns 'a,b' <<<'[{"a":"<i>","b":{"c":1}},3,{"b":null}]'""").printed
    assert '<th scope="col">a</th><th scope="col">b</th>' in table
    assert "<tr><td>&lt;i></td><td>{&quot;c&quot;:1}</td></tr>\n<tr><td></td><td></td></tr>" in table
    assert "<tbody></tbody>" in sandbox.run("mcp_ui_table --columns a <<<'{'").printed


def test_secrets_are_not_traced(sandbox: Sandbox):
    script = "set -x; mcp_args_get .s >/dev/null; x=1; mcp_args_raw >/dev/null; mcp_meta_get .who >/dev/null; mcp_args_require .s >/dev/null"
    ran = sandbox.run(script, MCP_TOOL_ARGS_JSON='{"s":"hidden-secret"}')
    assert ran.status == 0
    assert "x=1" in ran.said
    assert "hidden-secret" not in ran.said


def test_reading_twice_only_sets_options_and_variables(sandbox: Sandbox):
    script = 'mcp_fail() { echo mine; }; set +euo pipefail; unset MCP_PROGRESS_STREAM; source "$MCP_SDK/tool-sdk.sh"; mcp_fail; echo $-; echo "$MCP_PROGRESS_STREAM|"'
    assert re.fullmatch(r"mine\n\w*eh?u?\w*\n\|\n", sandbox.run(script).printed)


def test_it_may_be_read_by_a_relative_name(sandbox: Sandbox):
    relative = os.path.relpath(TEMPLATES / "sdk", sandbox.folder)
    assert sandbox.run("cd /; mcp_path_normalize a", MCP_SDK=relative).printed == "/a"


@pytest.mark.parametrize(
    "options", ["IFS=,", "IFS=", "set -f", "shopt -s nullglob", "shopt -s failglob", "LC_ALL=C", "set -x", "set +eu"]
)
def test_what_a_script_sets_is_its_own(sandbox: Sandbox, options: str):
    script = (
        f"{options} 2>/dev/null\nmcp_args_get '.list | .[0]'; mcp_json_arr a '*' 'b c'; mcp_result_success ' [1, \"é*\"] '; mcp_error k m --data '[ 1 ]';"
        ' mcp_path_normalize /a//b; before=$-; mcp_args_get .text >/dev/null; [[ $before == "$-" ]] && echo same'
    )
    plain = sandbox.run(script.replace(options, ":", 1))
    assert sandbox.run(script).printed == plain.printed
    assert plain.printed.endswith("same\n")


PLAIN_NAMES = (
    "address addresses agent allow alone amp array at attempt attempts before body char choice code columns count "
    "data defaults delay deny depth dry empty end envelope error example extract field fields file filter folder "
    "followed found given high hint host index inner input inputs interval is_begun is_preset is_string item kept "
    "label last least level line lines list loaded low lt member merged message micros mime mimes most name names "
    "number object open option options out output part parts path paths pattern pause percent pid place preset "
    "problem quiet quote raw request response rest root row rows seconds seen single skip slashes source stage start "
    "status step steps string text title token tool total twice type uri uris url value values variable waited wants "
    "who whole word"
)
"""What variables of scripts are often called."""

MORE_SCRIPTS = [
    "mcp_args_int .absent --default 5 --min 1 --max 9; mcp_args_bool .absent --default true",
    "mcp_args_get '.list | map(type)'; mcp_args_get '.list[2].deep[0] // .object | length'; mcp_args_get '.object[\"x\"]?'",
    "mcp_args_get '.nothing // \"none\" | tostring, type' || echo $?; mcp_args_get '.text // empty'; mcp_meta_get .",
    'mcp_result_success "$(mcp_json_arr {1..600})"; mcp_result_success "$(mcp_json_arr {1..300})" 50',
    f"mcp_json_escape $'\\x01\\t{'x' * 600}\\nü\\xff'; mcp_emit_json '[\"\\u0041\\ud83d\\ude00\\ud800\\u0001\", -1.5e3, {{}}]'",
    'mcp_result_error \'{"a":1,"a":{"message":[]}}\'; mcp_error k m --hint h --data \'[ 1, "\\u00e9\\u0000" ]\'',
    "mcp_log info l '{}'; mcp_log_warn l $'a\\nb'; mcp_log odd l 1; mcp_progress 007 m 10; mcp_progress 500 é; mcp_debug a b",
    'echo \'{"a":{"b":[1]},"c":2}\' >HERE/c; mcp_config_load --defaults \'{"c":1}\' --example HERE/none --file HERE/c && mcp_config_get .a',
    "echo '[1]' >HERE/c; C='{\"c\":3}'; mcp_config_load --env C --file HERE/c; mcp_config_get '.c'; mcp_config_get .d --default e",
    "echo t >HERE/t.txt; mcp_result_text_with_resource '{}' --path HERE/t.txt --mime text/x --uri u://t --path HERE/none; cat HERE/resources",
    "source $MCP_SDK/../lib/resource_content.sh; echo é >HERE/t; mcp_resource_content_object_from_file HERE/t text/x u://t; mcp_resource_detect_mime HERE/t",
    "source $MCP_SDK/../lib/policy.sh; mcp_policy_host_is_private 127.0.0.1 && mcp_policy_ip_is_private ::ffff:7f00:1 && mcp_policy_host_allowed a 'b, A' c",
    'mcp_ui_form --title T --field \'a-b:select:x,y\' --field n:number --submit-tool t; mcp_ui_table --columns a,b <<<\'[{"a":"<","b":[1]}]\'',
    "mcp_elicit_titled_choice m a:b c || mcp_elicit_multi_choice m a b || mcp_elicit_url m u://x || mcp_elicit_string m n || mcp_elicit_confirm m || echo $?",
    "export MCP_ELICIT_SUPPORTED=1 MCP_ELICIT_REQUEST_FILE=HERE/asked MCP_ELICIT_RESPONSE_FILE=HERE/answer; mcp_elicit_choice 'm é' a b 0 || echo $?; mcp_elicit m '{}' 0 || echo $?",
    "mcp_run_with_progress --pattern '([0-9]+)%' --extract match1 --interval 0.01 --stdout HERE/o --stderr-file HERE/e -- bash -c 'echo o; printf \"1%%\\nx\\n90%%\" >&2; exit 3' || echo $?; cat HERE/o HERE/e",
    'mcp_run_with_progress --pattern progress --dry-run --progress-file HERE/p -- bash -c \'echo "{\\"progress\\":3,\\"message\\":\\"m\\"}" >HERE/p\' ',
    "mcp_run_with_progress --pattern '(.)/(.)' --extract ratio --total 3 -- bash -c 'printf \"1/2\\n\" >&2'",
]
DRIVER = """set +e
for MCPC_SCRIPT; do
  case $MCPC_SCRIPT in
    mcp_run*) mv "$MCP_CANCEL_FILE" HERE/aside 2>/dev/null ;; # or its command would be ended, sooner or later
  esac
  (set -e; RANDOM=1; eval "$MCPC_DECLARED"; eval "$MCPC_SCRIPT")
  printf '\\n# %s ended %s\\n' "$MCPC_SCRIPT" "$?"
  mv HERE/aside "$MCP_CANCEL_FILE" 2>/dev/null || :
done"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("declared", "value"),
    {"readonly": "5", "declare -i": "5", "declare -ux": "a", "declare -A": "()", "declare -n": "nowhere"}.items(),
)
def test_what_a_script_calls_its_variables_is_its_own(
    tmp_path: Path, plain_output: list[str], declared: str, value: str
) -> None:
    before = f"{declared} {PLAIN_NAMES.replace(' ', f'={value} ')}={value}"
    assert output_of_all(tmp_path, before) == plain_output


@pytest.fixture(scope="module")
def plain_output(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What all scripts print where nothing is declared."""
    return output_of_all(tmp_path_factory.mktemp("plain"), ":")


def output_of_all(folder: Path, declared: str) -> list[str]:
    """Return the lines that all scripts print and write after these declarations."""
    needs("bash")
    sandbox = Sandbox(folder)
    scripts = [one.replace("HERE", str(sandbox.folder)) for one in (*OUTPUT, *MORE_SCRIPTS)]
    found = sandbox.run(DRIVER, *scripts, MCPC_DECLARED=declared)
    notes = [(sandbox.folder / file).read_text() for file in ("log", "progress", "error", "resources")]
    said = "\n".join((found.printed, found.said, *notes)).replace(str(sandbox.folder), "HERE")
    assert found.status == 0 and said.count("\n# ") == len(scripts)
    return said.split("\n")


def test_a_configuration_may_be_in_any_variable(sandbox: Sandbox):
    script = 'for name in defaults loaded merged path text variable; do printf -v "$name" \'{"a":1}\';'
    ran = sandbox.run(f'{script} mcp_config_load --env "$name"; mcp_config_get .a; unset "$name"; done')
    assert (ran.printed, ran.status) == ("1" * 6, 0)


def test_a_script_that_compares_without_case(sandbox: Sandbox):
    script = "shopt -s nocasematch\n"
    script += """for text in '{"a":[1]}' '{"A":[1]}' '{"a":TRUE}' '[1,]' '{"a":"x"}' '{"A":"X"}'; do\n"""
    script += """if mcp_is_valid_json "$text"; then mcp_emit_json "$text"; else printf no; fi; echo; done; shopt -q nocasematch"""
    ran = sandbox.run(script)
    assert ran.printed.split() == ['{"a":[1]}', '{"A":[1]}', "no", "no", '{"a":"x"}', '{"A":"X"}']
    assert (ran.said, ran.status) == ("", 0)


def random_value(rng: random.Random, depth: int = 0) -> object:
    kind = rng.randrange(8 if depth < 4 else 5)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([0, -1, 10**30, 5, -0.5, 1e-7, 123456])
    if kind < 5:
        return "".join(rng.choice(list('ab"\\/\n\t\x01é😀{}[]:, &%$\x7f\ud7ff')) for _ in range(rng.randrange(9)))
    if kind == 5:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {str(random_value(rng, 9)) + str(n): random_value(rng, depth + 1) for n in range(rng.randrange(4))}


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_what_is_read_is_what_was_written(sandbox: Sandbox):
    """Values of all sorts, written with any blanks and escapes."""
    rng = random.Random(7)
    values = [random_value(rng) for _ in range(300)]
    texts = [json.dumps(one, indent=rng.choice([None, 1, "\t"]), ensure_ascii=rng.random() < 0.5) for one in values]
    script = 'for text; do mcp_emit_json "$text"; printf "\\0"; done'
    found = sandbox.run(script, *texts).printed.split("\0")
    assert found[:-1] == [compact(one) for one in values]


def test_what_is_not_json_is_refused(sandbox: Sandbox):
    """Whatever one change makes of JSON: Bash and Python agree on whether it still is."""
    rng = random.Random(8)
    texts = []
    for _ in range(400):
        text = json.dumps(random_value(rng), ensure_ascii=rng.random() < 0.5)
        at = rng.randrange(len(text))
        texts.append(text[:at] + rng.choice(["", *'"\\{}[],: 01.eE-+tu\x02a']) + text[at + rng.randrange(2) :])
    verdicts = sandbox.run('for text; do mcp_is_valid_json "$text" && echo y || echo n; done', *texts).printed.split()
    expected = []
    for text in texts:
        try:
            json.loads(text, parse_constant=lambda name: 1 / 0)
            expected.append("y")
        except (ValueError, ZeroDivisionError):
            expected.append("n")
    assert [(text, one) for text, one in zip(texts, verdicts, strict=True)] == list(zip(texts, expected, strict=True))


FILTERS = [
    ".", ".a", ".a.b", ".a[0]", ".a[-1]", ".a[]", ".a[]?", ".a?", ".a.b?", '.["a"]', '."a"', ".a // 1", '.a // "d"', ".a // empty",
    ".a // .b", ".a // [] | length", ".b | length", "length", "type", ".a | type", ".a | not", ".b | tostring", ".[]", ".[0]",
    ".a.b.c", ".a[1].b", "empty", '"text"', "[]", ".a // false", ".nope // null", ".a[].b", ".b | .[0]", ".a == 1", ".a + 1",
    "keys", "map(.)", '.a, .b', "[.a, .b]", "{a}", '"\\(.a)!"', 'if .a then 1 else 2 end', '.a | has("b")', "to_entries", "..",
]  # fmt: skip
DOCUMENTS = [
    {"a": 1, "b": [1, 2]}, {"a": {"b": {"c": "é"}}, "b": "a\nb"}, {"a": [{"b": 1}, {"b": None}], "b": {"x": 1}}, {"a": None, "b": True},
    {"a": "", "b": "é😀"}, {"a": False}, [], {}, [1, [2]], "text", 5, None, {"a": ["x", 'y"\\']},
]  # fmt: skip


PAIRS = random.Random(9).sample(
    [(one, compact(document)) for one in FILTERS for document in DOCUMENTS], scaled(150, 60)
)


def filters_of(sandbox: Sandbox, tool: str, most: int = 2048) -> list[str]:
    script = f"""__mcpc_most={most}
    while (($#)); do
      MCP_TOOL_ARGS_JSON=$2 status=0
      mcp_args_get "$1" 2>/dev/null || status=$?
      printf ' [%s]\\0' "$status"
      shift 2
    done"""
    words = [word for pair in PAIRS for word in pair]
    return sandbox.run(script, *words, MCPBASH_JSON_TOOL_BIN=tool).printed.split("\0")[:-1]


@pytest.mark.slow
def test_filters_mean_the_same_everywhere(sandbox: Sandbox):
    """To Bash, to Python, which is used for large arguments or where there is no jq, and to jq."""
    needs("jq")
    in_bash = filters_of(sandbox, shutil.which("jq") or "")
    in_python = filters_of(sandbox, "/nonexistent", most=0)
    for pair, bash, python in zip(PAIRS, in_bash, in_python, strict=True):
        ran = subprocess.run(["jq", "-rc", pair[0]], input=pair[1], capture_output=True, text=True, check=False)
        if " // " in pair[0] and ran.returncode:
            continue  # older ones fail, newer ones take what is on the right
        expected = f"{'' if ran.returncode else ran.stdout.rstrip(chr(10))} [{ran.returncode}]"
        assert (pair, bash, python) == (pair, expected, expected)


def test_a_filter_that_nobody_knows(sandbox: Sandbox):
    ran = sandbox.run("mcp_args_get 'input_line_number' || echo $?", MCPBASH_JSON_TOOL_BIN="/nonexistent")
    assert ran.printed == "3\n"
    assert "without jq" in ran.said


def test_large_values(sandbox: Sandbox):
    """Above some size Python answers; the answers are the same, and numbers are as they were written."""
    value = {"items": [{"n": number, "text": f"é{number}"} for number in range(400)], "price": 1}
    text = compact(value).replace('"price":1', '"price":1.50')
    assert len(text) > 8000
    sandbox.variables["MCP_TOOL_ARGS_FILE"] = str(sandbox.folder / "args")
    (sandbox.folder / "args").write_text(text)
    ran = sandbox.run(
        'mcp_args_get .price; mcp_args_get ".items[399].text"; mcp_result_success "$(mcp_args_raw)"; mcp_result_success "$(mcp_args_raw)" 100'
    )
    first, second = ran.printed.splitlines()
    assert first.startswith("1.50é399{")
    envelope = f'{{"success":true,"result":{text}}}'
    assert json.loads(first.removeprefix("1.50é399"))["content"][0]["text"] == envelope
    assert f'"structuredContent":{envelope},"isError":false' in second
    assert json.loads(second)["content"][0]["text"] == "Success: object with 2 keys"
    without = sandbox.run('mcp_result_success "$(mcp_args_raw)"', MCPC_PYTHON="/nonexistent")
    assert without.printed == first.removeprefix("1.50é399") + "\n"


TRUNCATED = {
    "1 2": "invalid_json", "{": "invalid_json", "": "invalid_json", '{"d":1}': "invalid_array_path", "{}": "path_not_found",
    '{"d":null}': "path_not_found", "3": "invalid_path",
}  # fmt: skip


def test_what_cannot_be_truncated(sandbox: Sandbox):
    for text, kind in TRUNCATED.items():
        made = json.loads(sandbox.run('mcp_json_truncate "$1" 5 --array-path .d', text).printed)
        assert (text, made["error"]["type"], made["result"]) == (text, kind, None)
    assert (
        json.loads(sandbox.run("mcp_json_truncate '{}' --array-path 'd|x'").printed)["error"]["type"]
        == "invalid_path_syntax"
    )
    assert (
        json.loads(sandbox.run("mcp_json_truncate '{}' --array-path").printed)["error"]["type"] == "invalid_path_syntax"
    )
    large = json.loads(sandbox.run("mcp_json_truncate '[\"xxxxxxxxx\"]' 5").printed)
    assert large == {
        "result": [],
        "truncated": True,
        "kept": 0,
        "total": 1,
        "_warning": "individual items exceed max_bytes",
    }
    assert json.loads(sandbox.run("mcp_json_truncate '\"xxxxxxxxx\"' 5").printed)["error"]["type"] == "output_too_large"


def test_an_old_bash_is_told(sandbox: Sandbox):
    text = (TEMPLATES / "sdk/tool-sdk.sh").read_text().replace("< 404", "< 40400")
    (sandbox.folder / "tool-sdk.sh").write_text(text)
    ran = sandbox.run("echo never", MCP_SDK=str(sandbox.folder))
    assert (ran.printed, ran.status) == ("", 1)
    assert "4.4 or newer is needed" in ran.said


LIKE_THE_ORIGINAL = [
    script for script in OUTPUT
    if re.search(r"mcp_(json_(escape|obj|arr)|args|meta|is_c|fail|emit|is_valid|byte|roots|extract|result_success|result_error|error|require)", script)
    and not re.search(r"\\x|given|no json|'\{'|'1 2'|success ''|mcp_fail \+|'\[1\]'|fraction|2\.50|\.large|\$'a|d; \?|null,|/srv/\.\.|link", script)
]  # fmt: skip


@pytest.mark.checkout("TESTS_MCP_BASH")
def test_it_answers_as_the_original_does(sandbox: Sandbox, tmp_path: Path):
    """What both say of the same calls; TESTS_MCP_BASH names the folder of mcp-bash."""
    place = os.environ["TESTS_MCP_BASH"]
    needs("jq")
    (tmp_path / "other").mkdir()
    other = Sandbox(tmp_path / "other", Path(place) / "sdk")
    other.variables["MCPBASH_HOME"] = place
    assert len(LIKE_THE_ORIGINAL) > 60
    for script in LIKE_THE_ORIGINAL:
        ours, theirs = sandbox.run(script), other.run(script)
        found = theirs.printed.replace(str(other.folder), str(sandbox.folder))
        assert (script, ours.printed, ours.status) == (script, found, theirs.status)
