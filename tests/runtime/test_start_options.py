"""Options of serving: which tools are chosen, in every revision, and which words and variables are refused."""

import json
from functools import cache
from typing import Any

import pytest

from mcpc_runtime.artifact import start_options
from mcpc_runtime.artifact.start_options import (
    OPTIONS,
    StartOptionError,
    StartOptions,
    apply_start_options,
    help_rows,
    read_start_options,
    use_start_options,
    variable_of,
)
from mcpc_runtime.protocol.calls import nested_call
from mcpc_runtime.protocol.effects import Call, StartHandler
from mcpc_runtime.protocol.session import Session
from support.images import MODERN, archive, ask, image_of, project, request, tool

READS = {"readOnlyHint": True}
TAGGED = {"_meta": {"fastmcp": {"tags": ["users", "look"]}}}
TOOLS = [
    tool("get_issue", annotations=READS),
    tool("list_issues", annotations=READS, _meta={"_fastmcp": {"tags": ["look"]}}),
    tool("close_issue", annotations={"readOnlyHint": False}),
    tool("get_user", annotations=READS, **TAGGED),
    tool("drop_user", _meta={"fastmcp": {"tags": "users"}}),
]
NAMES = [one["name"] for one in TOOLS]
TOOLSETS = {"issues": ["*_issue", "list_issues"], "danger": ["drop_*"]}
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")


@cache
def built(page: int = 0) -> bytes:
    return archive(project(TOOLS, toolsets=TOOLSETS), tools_page_size=page).data


def session_of(options: StartOptions, page: int = 0) -> Session:
    image = image_of(built(page))
    apply_start_options((image,), options)
    return Session(image)


def asked(session: Session, method: str, version: str = "2025-11-25", **params: Any) -> Any:
    session.running.clear()
    if version == "2026-07-28":
        return ask(session, request(method, {**params, "_meta": MODERN}))
    session.wire = session.image.revision(version)
    return ask(session, request(method, params))


def listed(session: Session, version: str = "2025-11-25") -> list[str]:
    names: list[str] = []
    params: dict[str, str] = {}
    while True:
        result = asked(session, "tools/list", version, **params)["result"]
        names += [one["name"] for one in result["tools"]]
        if "nextCursor" not in result:
            return names
        params = {"cursor": result["nextCursor"]}


CHOICES: list[tuple[str, list[str]]] = [
    ("--tools get_issue,drop_user", ["get_issue", "drop_user"]),
    ("--tools=*_user", ["get_user", "drop_user"]),
    ("--tools get_issue --tools list_*", ["get_issue", "list_issues"]),
    ("--toolsets issues", ["get_issue", "list_issues", "close_issue"]),
    ("--toolsets users", ["get_user"]),
    ("--toolsets look,danger", ["list_issues", "get_user", "drop_user"]),
    ("--toolsets danger --tools get_user", ["get_user", "drop_user"]),
    ("--read-only", ["get_issue", "list_issues", "get_user"]),
    ("--read-only --toolsets issues", ["get_issue", "list_issues"]),
    ("--read-only --tools close_issue", []),
    ("--tolerant", NAMES),
    ("", NAMES),
]


@pytest.mark.parametrize(("words", "names"), CHOICES)
def test_the_chosen_tools_are_listed_and_called_in_every_revision(words: str, names: list[str]) -> None:
    options, others = read_start_options(words.split(), {})
    assert others == []
    for version in VERSIONS:
        session = session_of(options)
        assert listed(session, version) == names
        calls = {name: asked(session, "tools/call", version, name=name) for name in NAMES}
        assert [name for name, answer in calls.items() if isinstance(answer, StartHandler)] == names
        unknown = json.dumps(asked(session_of(options), "tools/call", version, name="unheard"))
        for name in {*NAMES} - {*names}:
            assert json.dumps(calls[name]) == unknown.replace("unheard", name)


def test_a_chosen_tool_is_listed_as_it_was_built_and_in_pages() -> None:
    whole = asked(session_of(StartOptions()), "tools/list", "2026-07-28")["result"]
    part = asked(session_of(StartOptions(["get_user", "close_issue"])), "tools/list", "2026-07-28")["result"]
    assert part["tools"] == [one for one in whole["tools"] if one["name"] in ("get_user", "close_issue")]
    paged = session_of(StartOptions(["*_user", "get_issue"]), page=2)
    assert [one["name"] for one in asked(paged, "tools/list")["result"]["tools"]] == ["get_issue", "get_user"]
    assert listed(paged) == ["get_issue", "get_user", "drop_user"]


def test_a_chosen_tool_may_call_another_and_a_client_may_not_even_then() -> None:
    session = session_of(StartOptions(["get_issue"]))
    started = asked(session, "tools/call", name="get_issue")
    within = nested_call(session, started.call, "drop_user", {})
    assert isinstance(within, Call)
    assert ask(session, request("tools/call", {"name": "drop_user"}, 7))["error"]["code"] == -32602


def test_a_token_narrows_the_choice() -> None:
    session = session_of(StartOptions(["*_issue"]))
    session.allows = {"get_issue", "get_user"}.__contains__
    assert listed(session) == ["get_issue"]


REFUSED = [
    ("--tools get_isue", "get_issue"),
    ("--tools get_issue,x*", "'x*'"),
    ("--toolsets user", "users"),
    ("--toolsets get_issue", "'get_issue'"),
    ("--tools", "--tools needs"),
    ("--tools=,", "--tools needs"),
    ("--read-only=yes", "--read-only: expected 1 or 0"),
    ("--tolerant=some", "1, 0 or auto"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_what_matches_nothing_is_refused_at_start(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert use_start_options(image_of(built()), words.split(), {}) == 2
    assert said in capsys.readouterr().err


def test_words_that_are_no_options_are_refused_and_others_keep_their_order() -> None:
    assert use_start_options(image_of(built()), ["--read-only", "list"], {}) == 2
    assert read_start_options(["--http", "80", "--tools=a", "--open"], {})[1] == ["--http", "80", "--open"]


def test_each_option_has_a_variable_that_it_overrides() -> None:
    variables = {"MCPC_TOOLS": "a, b*", "MCPC_TOOLSETS": "x", "MCPC_READ_ONLY": "1", "MCPC_TOLERANT": "auto"}
    variables["MCPC_MAX_RESULT"] = "64K"
    assert [variable_of(name) for name in OPTIONS] == [*variables]
    given = read_start_options([], variables)[0]
    assert (given.tools, given.toolsets, given.read_only, given.tolerant) == (("a", "b*"), ("x",), True, "auto")
    assert given.max_result == 65536
    assert read_start_options(["--max-result=1K"], variables)[0].max_result == 1024
    over = read_start_options(
        ["--tools", "c", "--tolerant"], {**variables, "MCPC_READ_ONLY": "0", "MCPC_TOOLSETS": ""}
    )[0]
    assert (over.tools, over.toolsets, over.read_only, over.tolerant) == (("c",), None, False, "1")
    with pytest.raises(StartOptionError, match="MCPC_READ_ONLY: expected 1 or 0, not 'yes'"):
        read_start_options([], {"MCPC_READ_ONLY": "yes"})
    with pytest.raises(StartOptionError, match="MCPC_MAX_RESULT: expected a size of at least 1K"):
        read_start_options([], {"MCPC_MAX_RESULT": "1023"})
    image = image_of(built())
    assert use_start_options(image, [], {b"MCPC_TOOLS": b"get_*"}) == 0
    assert listed(Session(image)) == ["get_issue", "get_user"]


def test_an_empty_choice_is_told_to_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(start_options, "log_line", lines.append)
    assert listed(session_of(StartOptions(["close_issue"], read_only=True))) == []
    assert lines == ["no tool of small is offered: no chosen tool has the annotation readOnlyHint"]


def test_a_name_counts_if_one_of_several_servers_has_it() -> None:
    images = [image_of(built()), image_of(archive(project([tool("other")])).data)]
    apply_start_options(images, StartOptions(["other", "get_user"]))
    assert [listed(Session(image)) for image in images] == [["get_user"], ["other"]]
    with pytest.raises(StartOptionError, match="did you mean other"):
        apply_start_options(images, StartOptions(["othr"]))


def test_every_option_is_on_the_help_page() -> None:
    assert [usage.partition(" ")[0].partition("[")[0] for usage, _ in help_rows()] == [*OPTIONS]
