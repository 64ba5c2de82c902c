"""Tests of the front end for mcp-bash: which projects are its own, and what it finds in them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.diagnostics import has_errors
from mcpc.frontends.mcp_bash import prompts, register, resources, tools
from mcpc.frontends.mcp_bash.reading import path_inside
from mcpc.frontends.mcp_bash.server import sdk_files
from mcpc.options import Options
from mcpc.pack import cache
from support.artifact import mcpc
from support.mcp_bash_projects import HEADER, NAMED, PROJECT, SH, codes, facts, read, sound, values, with_modes
from support.needs import needs
from support.projects import Files, checked, parsed
from support.whole_projects import print_cases

GOLDEN = Path(__file__).parents[1] / "golden/frontends"


def test_whole_projects(golden: Callable[[Path, str], None]) -> None:
    needs("bash")
    golden(GOLDEN / "mcp_bash.txt", print_cases(GOLDEN / "mcp_bash.cases"))


# The server


@pytest.mark.parametrize(
    ("files", "version"), [({"package.json": "no json"}, "0.0.0"), ({"package.json": "[" * 100_000}, "0.0.0")]
)
def test_an_undescribed_server_is_its_folder(files: Files, version: str) -> None:
    definition = sound({"tools/t/tool.sh": SH, "tools/t/tool.meta.json": NAMED, **files}, name="my-cool_server")
    assert definition.server.implied
    assert definition.server.node.value["serverInfo"] == {
        "name": "my-cool_server",
        "title": "My Cool Server",
        "version": version,
    }


def test_everything_is_carried_and_the_library_with_it() -> None:
    definition = sound({**PROJECT, "lib/x.sh": "", "data.bin": b"\0"})
    paths = [source.path for source in definition.beside]
    assert set(PROJECT) | {"lib/x.sh", "data.bin"} <= set(paths)
    assert ".mcpc/mcp-bash/sdk/tool-sdk.sh" in paths
    everything = [source.path for source in sdk_files((), forks=True)]
    assert everything == sorted(everything)
    assert set(everything) < set(paths)
    assert len(paths) == len(set(paths))
    modes = {source.path: source.mode for source in definition.beside}
    assert modes["tools/t/tool.sh"] & 0o100  # its first line says what runs it
    assert not modes["lib/x.sh"] & 0o111


@pytest.mark.parametrize(
    ("script", "is_there"),
    [
        ("#!/usr/bin/env python3\nprint(1)\n", False),
        ("#!/usr/bin/env python3\nimport os; os.environ['MCP_SDK']\n", True),
        ('#!/usr/bin/env bash\necho $$; source "$SDK/tool-sdk.sh"\n', True),
        ("#!/usr/bin/env bash\necho $$\n", False),
        ("#!/usr/bin/env bash\necho hi\n", True),  # it runs in a shell that has read the library
        ("#!/usr/bin/env bash\n: $$; . ../lib/x.sh\n", False),
    ],
)
def test_the_library_is_left_out_where_nothing_can_mean_it(script: str, is_there: bool) -> None:
    definition = sound({**PROJECT, "tools/t/tool.sh": script, "lib/x.sh": "true\n"})
    paths = {source.path for source in definition.beside}
    assert (".mcpc/mcp-bash/sdk/tool-sdk.sh" in paths) is is_there
    assert {".mcpc/mcp-bash/lib/tool-policy.sh", ".mcpc/mcp-bash/providers/git.sh"} <= paths


def test_a_file_that_means_the_library_brings_it() -> None:
    files: Files = {**PROJECT, "tools/t/tool.sh": "#!/usr/bin/env python3\n", "lib/deep/x.bin": b"\0source ui-sdk.sh"}
    assert ".mcpc/mcp-bash/sdk/ui-sdk.sh" in {source.path for source in sound(files).beside}


@pytest.mark.parametrize(
    ("script", "is_there"),
    [
        ("mcp_result_success '{}'", False),
        ('echo "$(mcp_args_raw)" "$(mcp_meta_raw)"', False),
        ("mcp_args_get '.a'", True),
        ("mcp_meta_get '.a'", True),
        ("mcp_require_path .a", True),
        ('f=mcp; "${f}_args_int" .a', True),
        ('f=args_get; "mcp_$f" .a', True),
    ],
)
def test_filters_in_python_are_carried_if_arguments_are_asked_for(script: str, is_there: bool) -> None:
    text = f'#!/usr/bin/env bash\nsource "${{MCP_SDK}}/tool-sdk.sh"\nsource ./more.sh\n{script}\n'
    for name in ("tools/t/tool.sh", "tools/t/more.sh"):  # what a tool reads counts as well
        paths = {source.path for source in sound({**PROJECT, name: text}).beside}
        assert ".mcpc/mcp-bash/lib/python/json_answer.py" in paths
        for module in ("json_filter", "json_filters", "json_functions"):
            assert (f".mcpc/mcp-bash/lib/python/{module}.py" in paths) is is_there


def test_filters_in_python_are_left_out_with_the_library() -> None:
    files: Files = {**PROJECT, "tools/t/tool.sh": "#!/usr/bin/env python3\nprint('mcp_args_get')\n"}
    assert not [one.path for one in sound(files).beside if one.path.startswith(".mcpc/mcp-bash/lib/python/")]


@pytest.mark.parametrize(
    ("home", "written", "path"),
    [
        ("tools", "a/b.sh", "tools/a/b.sh"),
        ("tools", "./a//b.sh", "tools/a/b.sh"),
        ("tools/x", "../y", "tools/y"),
        ("tools", "../..", None),
        ("", "..", None),
        ("", "/etc", None),
        ("", "~/x", None),
        ("", "a\0b", None),
        ("", "", ""),
    ],
)
def test_paths_stay_inside(home: str, written: str, path: str | None) -> None:
    assert path_inside(home, written) == path


def test_with_a_native_project_it_is_one_server() -> None:
    native = {"server.json": '{"serverInfo": {"name": "n", "version": "1"}}', "prompts.json": '{"prompts": []}'}
    written = {"tools/t/tool.sh": SH, "tools/t/tool.meta.json": NAMED, "tools/u/inline.sh": HEADER}
    definition, problems = parsed({**written, **native})
    assert definition.format == "native+mcp-bash"
    assert [tool["name"] for tool in values(definition, "tools")] == ["inline", "t"]
    assert definition.server.node.value["serverInfo"]["name"] == "n"  # type: ignore[index,call-overload]
    assert set(written) <= {source.path for source in definition.beside}
    assert "server.json" not in [source.path for source in definition.beside]
    assert "MCP228" not in codes(problems)


def test_the_name_of_the_folder_decides_a_build() -> None:
    one, other = (cache.cache_key(with_modes(PROJECT, {}, name), (), Options()) for name in ("a", "b"))
    assert one != other
    assert one == cache.cache_key(with_modes(PROJECT, {}, "a"), (), Options())
    assert one != cache.cache_key(with_modes(PROJECT, {}, "a"), (), Options(allow=("x",)))
    assert one != cache.cache_key(with_modes(PROJECT, {}, "a"), (), Options(hooks=True))


def test_a_script_that_reads_another_is_judged_with_it() -> None:
    def of(library: str) -> Any:
        script = '#!/usr/bin/env bash\nsource "${MCP_SDK}/tool-sdk.sh"\nsource "$(dirname "$0")/../../lib/a.sh"\n'
        (tool,) = read({"tools/t/tool.sh": script, "lib/a.sh": library})[0].tools
        return facts(tool)["fork"]

    assert of("f() { echo $$; }\n") is False
    assert of("f() { echo x; }\n") is True


def test_in_the_dialect_lists_have_what_its_own_lists_have_besides() -> None:
    files: Files = {
        **PROJECT,
        "tools/t/tool.meta.json": '{"name": "t", "description": "d", "timeoutHint": "h", "maxTimeoutSecs": 9}',
        "prompts/p.txt": "x",
        "prompts/p.meta.json": '{"name": "p", "description": "d", "role": "assistant"}',
        "resources/r.txt": "x",
        "resources/r.meta.json": '{"description": "d"}',
    }
    beside: dict[str, dict[str, Any]] = {
        "tools": {"path": "t/tool.sh", "timeoutSecs": None, "timeoutHint": "h", "maxTimeoutSecs": 9},
        "prompts": {"path": "p.txt", "role": "assistant", "metadata": None},
        "resources": {"path": "r.txt", "provider": "file"},
    }
    exact, plain = sound(files, dialect="mcp-bash"), sound(files)
    for kind, wanted in beside.items():
        (shown,), (usual,) = values(exact, kind), values(plain, kind)
        assert shown == {**usual, **wanted}
        assert not wanted.keys() & usual.keys()


def test_a_symlink_is_no_tool_of_its_own(tmp_path: Path) -> None:
    for path, text in {
        "lib/common.sh": SH,
        "tools/a/tool.sh": HEADER.replace("inline", "a"),
        "tools/b/b.sh": HEADER,
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    (tmp_path / "tools/a/common.sh").symlink_to("../../lib/common.sh")
    (tmp_path / "tools/b/common.sh").symlink_to("../../lib/common.sh")
    (tmp_path / "tools/c").symlink_to("b")
    shown = mcpc("inspect", tmp_path, "--definitions", "--allow", "*")
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("tool ")] == ["a", "inline"]
    assert {"file tools/a/common.sh", "file tools/c/b.sh"} <= {line.partition(":")[0] for line in lines}


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
