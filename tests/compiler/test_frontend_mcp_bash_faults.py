"""Tests of what is wrong with projects of mcp-bash: each fault is put in, and reported where it stands."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.diagnostics import has_errors
from mcpc.frontends.mcp_bash import prompts, register, resources, tools
from mcpc.options import Options
from support.mcp_bash_projects import PROJECT, SH, codes, read
from support.projects import Files, checked


@pytest.mark.parametrize(("size", "expected"), [(1 << 20, []), ((1 << 20) + 1, ["MCP143"])])
def test_a_register_may_be_large_but_not_larger(size: int, expected: list[str]) -> None:
    assert codes(read({"server.d/register.json": '{"version": 1}'.ljust(size)})[1]) == expected


RUN_BY_THE_SERVER = (
    "server.d/policy.sh",
    "server.d/env.sh",
    "server.d/health-checks.sh",
    "server.d/register.json",
    "providers/p.sh",
)


@pytest.mark.parametrize("mode", [0o664, 0o777, 0o646])
@pytest.mark.parametrize("path", ["tools/t/tool.sh", "prompts/p.txt.completion.sh", *RUN_BY_THE_SERVER])
def test_what_others_may_change_is_refused(path: str, mode: int) -> None:
    files: Files = {**PROJECT, "server.d/register.json": '{"version": 1}', "providers/p.sh": SH}
    described = {"name": "p", "description": "d", "arguments": {"type": "object", "properties": {"x": {}}}}
    files |= {"prompts/p.txt": "x", "prompts/p.meta.json": json.dumps(described), "prompts/p.txt.completion.sh": SH}
    for hook in ("policy", "env", "health-checks"):
        files[f"server.d/{hook}.sh"] = ""
    modes = {"prompts/p.txt.completion.sh": 0o755}
    assert codes(read(files, modes)[1]) == []
    is_shared = path not in RUN_BY_THE_SERVER and mode == 0o664
    assert codes(read(files, {**modes, path: mode | 0o111})[1]) == ["MCP711" if is_shared else "MCP704"]


def test_tools_of_a_checkout_that_a_group_shares_are_built_with_one_warning() -> None:
    files = {f"tools/{name}/tool.sh": SH for name in ("a b", "c", "d")}
    _, problems = read(files, dict.fromkeys(files, 0o775))
    assert codes(problems) == ["MCP711"]
    assert problems[0].severity == "warning"
    assert all(part in problems[0].message for part in ("`tools/a b/tool.sh`", "2 other", "775"))
    _, problems = read(files, dict.fromkeys(files, 0o777))
    assert codes(problems) == ["MCP704"] * 3
    assert problems[0].hint == "`chmod go-w 'tools/a b/tool.sh'`"


@pytest.mark.parametrize(("key", "uri"), [("uri", "notes://today"), ("uriTemplate", "notes://{day}")])
def test_a_scheme_without_a_provider_is_reported_at_the_address(key: str, uri: str) -> None:
    text = json.dumps({"name": "a", "description": "d", key: uri, "mimeType": "text/plain"})
    _, problems = read({**PROJECT, "resources/a.txt": "x", "resources/a.meta.json": text})
    spans = [problem.span for problem in problems if problem.code == "MCP232"]
    assert [span and text[span.start : span.end] for span in spans] == [f'"{uri}"']


def test_a_hook_that_others_may_change_is_not_run() -> None:
    files = {"server.d/register.sh": "exit 3"}
    for mode in (0o666, 0o664):
        assert codes(read(files, {"server.d/register.sh": mode}, hooks=True)[1]) == ["MCP704"]
    assert codes(read(files, hooks=True)[1]) == ["MCP154"], "it was run, and said that it failed"


@pytest.mark.parametrize("folder", ["tools/t", "prompts", "resources"])
@pytest.mark.parametrize("end", ["\n", "\r"])
def test_names_with_line_ends_are_refused(folder: str, end: str) -> None:
    _, problems = read({f"{folder}/a{end}b.sh": SH})
    assert codes(problems) == ["MCP147"]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**10) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.dictionaries(
    st.sampled_from(
        [
            *tools.KNOWN_FIELDS,
            *prompts.KNOWN_FIELDS,
            *resources.KNOWN_FIELDS,
            "roots",
            "template",
            "entrypoint",
            "meta",
            "config",
        ]
    ),
    ANYTHING,
    max_size=6,
)
DESCRIBED = (
    "tools/t/tool.meta.json",
    "prompts/p.meta.json",
    "resources/r.meta.json",
    "resources/t.meta.json",
    "tools/t/ui/ui.meta.json",
    "ui/x/ui.meta.json",
    "server.d/server.meta.json",
    "config/roots.json",
    "package.json",
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from(DESCRIBED), FIELDS | ANYTHING, max_size=4), FIELDS)
@pytest.mark.slow
def test_no_description_breaks_the_compiler(written: dict[str, Any], said: dict[str, Any]) -> None:
    header = json.dumps(said)
    files: Files = {
        "tools/t/tool.sh": "",
        "tools/u/tool.sh": f"# mcp: {header}\n",
        "prompts/p.txt": "p",
        "resources/r.txt": "r",
        **{path: json.dumps(value) for path, value in written.items()},
    }
    server, problems = checked(files, Options(format="mcp-bash"))
    assert (server is None) == has_errors(problems)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from([*register.KEYS, "other"]), st.lists(FIELDS | ANYTHING, max_size=3) | ANYTHING))
def test_no_register_breaks_the_compiler(written: dict[str, Any]) -> None:
    files: Files = {"server.d/register.json": json.dumps(written), "tools/a.sh": "", "prompts/p": "", "c.sh": ""}
    server, problems = checked(files, Options(format="mcp-bash"))
    assert (server is None) == has_errors(problems)
