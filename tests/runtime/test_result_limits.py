"""Results that are longer than a model should read: what is left of them fits, is valid and says what was cut."""

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpc_runtime.protocol import kept_results
from mcpc_runtime.protocol.calls import finished_tool_result
from mcpc_runtime.protocol.effects import ABSENT, Call, Outcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.kept_results import KeptResult, KeptResults
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.protocol.session import Session
from support.images import archive, ask, image_of, request

LIMIT = 2000
NEWEST, SESSIONS, OLDEST = "2026-07-28", "2025-11-25", "2024-11-05"
ROWS = {"type": "array", "items": {"type": "integer"}, "minItems": 5}
OUTPUTS = {
    "any": None,
    "rows": {"type": "object", "properties": {"rows": ROWS, "note": {"type": "string"}}, "required": ["rows"]},
    "exact": {"type": "object", "properties": {"code": {"type": "string", "maxLength": 9000, "pattern": "^[a-z]+$"}}},
}
ADVICE = "ask for less, or for a part"


@cache
def files() -> dict[str, str]:
    tools = [
        {"name": name, "description": "x", "inputSchema": {"type": "object"}, **({"outputSchema": out} if out else {})}
        for name, out in OUTPUTS.items()
    ]
    known = {
        "content": [{"type": "text", "text": "long\n" * 900}, {"type": "image", "data": "AA==", "mimeType": "i/p"}]
    }
    tools.append(
        {"name": "known", "description": "x", "inputSchema": {"type": "object"}, "_meta": {"mcpc/handler": known}}
    )
    server = {"serverInfo": {"name": "s", "version": "1"}, "_meta": {"mcpc/handlers": {"maxResult": LIMIT}}}
    functions = "".join(f"def {name}(**given): return 1\n" for name in OUTPUTS)
    return {"server.json": json.dumps(server), "tools.json": json.dumps({"tools": tools}), "tools.py": functions}


@cache
def data() -> bytes:
    return archive(files()).data


def session(conversation: str | None = None, image: Image | None = None) -> Session:
    made = Session(image or image_of(data()))
    made.conversation = conversation
    return made


def result(outcome: Outcome, tool: str = "any", version: str = NEWEST, of: Session | None = None) -> dict[str, Any]:
    """Return the result of a tool whose handler ended like that."""
    of = of or session()
    definition = of.image.tool(tool)
    assert definition is not None
    call = Call(Request(of, 1, "tools/call", {"name": tool}, of.image.revision(version)), definition, {})
    answer = finished_tool_result(call, outcome)
    assert isinstance(answer, bytes), answer.message
    found: dict[str, Any] = json.loads(answer)
    return found


def text(string: str) -> Any:
    return {"type": "text", "text": string}


def embedded(string: str) -> Any:
    return {"type": "resource", "resource": {"uri": "a:b", "text": string}}


IMAGE = {"type": "image", "data": "A" * 4000, "mimeType": "image/png"}
ROOM = LIMIT - 256
CONTENTS: dict[str, tuple[list[Any], list[Any], int, int]] = {
    "lines": ([text("12345678\n" * 300)], [text("12345678\n" * 193)], 1737, 2700),
    "one line": ([text("x" * 5000)], [text("x" * ROOM + "\n")], ROOM, 5000),
    "characters of two bytes": ([text("x" + "é" * 2000)], [text("x" + "é" * 871 + "\n")], 1743, 4001),
    "of four": ([text("𝄞" * 2000)], [text("𝄞" * 436 + "\n")], ROOM, 8000),
    "lone surrogates": ([text("\ud800" * 1000)], [text("\ud800" * 581 + "\n")], 1743, 3000),
    "a short first line": ([text("x\n" + "y" * 5000)], [text("x\n" + "y" * (ROOM - 2) + "\n")], ROOM, 5002),
    "blocks": ([text("a" * 1000), IMAGE, text("b\n" * 1000), text("c")], [text("a" * 1000), IMAGE, text("b\n" * 372)], 1744, 3001),
    "embedded": ([embedded("x" * 5000), IMAGE], [embedded("x" * ROOM + "\n"), IMAGE], ROOM, 5000),
}  # fmt: skip


@pytest.mark.parametrize("version", [NEWEST, SESSIONS, OLDEST])
@pytest.mark.parametrize("case", CONTENTS)
def test_text_is_cut_at_the_end_of_a_line_else_of_a_character(case: str, version: str) -> None:
    content, expected, shown, whole = CONTENTS[case]
    found = result(Outcome(content), version=version)
    line = f"[… {shown:,} of {whole:,} bytes shown; {ADVICE} …]"
    last = [block for block in expected if block["type"] != "image"][-1]
    marked = embedded(last["resource"]["text"] + line) if "resource" in last else text(last["text"] + line)
    assert found["content"] == [marked if block is last else block for block in expected]
    assert "isError" not in found


def test_what_fits_is_left_alone() -> None:
    for outcome in (Outcome([text("x" * LIMIT), IMAGE]), Outcome([text("")], {"rows": [1] * 900, "note": "n" * 150})):
        before = json.dumps([outcome.content, None if outcome.structured is ABSENT else outcome.structured])
        found = result(outcome)
        assert json.dumps([found["content"], found.get("structuredContent")]) == before


def test_the_operator_sets_another_limit_or_none() -> None:
    image = image_of(data())
    image.max_result = 0
    long = "x\n" * 4000
    assert result(Outcome([text(long)]), of=session(image=image))["content"] == [text(long)]
    image.max_result = 5000
    assert len(result(Outcome([text(long)]), of=session(image=image))["content"][0]["text"].encode()) in range(
        4700, 5000
    )


def test_structured_content_loses_items_and_stays_valid_where_the_schema_lets_it() -> None:
    whole = {"rows": list(range(1000, 2000)), "note": "kept"}
    found = result(Outcome([text("1000 rows")], whole), "rows")
    rows = found["structuredContent"]["rows"]
    assert rows == whole["rows"][: len(rows)] and len(rows) > 300
    assert len(json.dumps(found["structuredContent"], separators=(",", ":"))) <= ROOM
    assert found["structuredContent"]["note"] == "kept"
    assert found["content"] == [text(f"1000 rows\n[… 1,744 of 5,024 bytes shown; {ADVICE} …]")]
    note = {"rows": [1] * 5, "note": "n" * 9000}
    cut = result(Outcome([text("x")], note), "rows")["structuredContent"]
    assert cut["rows"] == [1] * 5 and cut["note"].endswith("\n[… 1,676 of 9,000 bytes shown …]")


@pytest.mark.parametrize(
    ("tool", "structured"),
    [
        ("rows", {"rows": [10**600] * 6}),
        ("exact", {"code": "c" * 8000}),
        ("any", {f"k{number}": number for number in range(500)}),
    ],
)
def test_what_cannot_be_cut_is_an_error_that_names_the_limit(tool: str, structured: Any) -> None:
    found = result(Outcome([text("x")], structured), tool)
    size = len(json.dumps(structured, separators=(",", ":")))
    said = f"The result has {size:,} bytes of structured content, which cannot be cut to 2,000; {ADVICE}"
    assert (found["isError"], found["content"], "structuredContent" in found) == (True, [text(said)], False)


def test_text_that_repeats_the_structured_content_stays_json() -> None:
    whole = {"rows": list(range(1000, 2000))}
    found = result(Outcome([text(json.dumps(whole, indent=2))], whole), "rows")
    shown, _, line = found["content"][0]["text"].rpartition("\n")
    assert json.loads(shown) == found["structuredContent"] != whole
    assert line == f"[… 1,740 of 10,018 bytes shown; {ADVICE} …]"
    small = {"rows": list(range(100, 300))}
    found = result(Outcome([text(json.dumps(small, indent=9))], small), "rows")
    assert found["structuredContent"] == small
    assert found["content"] == [text(json.dumps(small, separators=(",", ":")))], "nothing is lost in compact form"


def test_structured_content_that_a_revision_does_not_show_is_not_looked_at() -> None:
    whole = {f"k{number}": number for number in range(500)}
    assert result(Outcome([text("x")], whole), version=OLDEST)["content"] == [text("x")]


def test_errors_are_cut_too() -> None:
    found = result(Outcome([text("x\n" * 3000)], is_error=True), "rows")
    assert found["isError"] and len(found["content"][0]["text"].encode()) <= LIMIT


def test_a_static_result_is_cut() -> None:
    line = ask(session(), request("tools/call", {"name": "known", "arguments": {}}))
    shown, picture = line["result"]["content"]
    assert shown["text"] == "long\n" * 348 + f"[… 1,740 of 4,500 bytes shown; {ADVICE} …]"
    assert picture["type"] == "image"


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda value: st.lists(value) | st.dictionaries(st.text(), value)
    ),
    st.integers(0, 60),
    st.lists(st.text()),
)
def test_any_result_fits(value: Any, times: int, strings: list[str]) -> None:
    structured = {"a": [value] * times, "b": value, "c": json.dumps(value) * times}
    found = result(Outcome([text(string * (times + 1)) for string in strings], structured))
    strings = [block["text"] for block in found["content"]]
    assert sum(len(string.encode("utf-8", "surrogatepass")) for string in strings) <= LIMIT
    if not found.get("isError"):
        kept = found["structuredContent"]
        assert (
            len(json.dumps(kept, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")) <= LIMIT
        )
        assert kept.keys() == structured.keys()


def whole_of(of: Session, uri: str, version: str = SESSIONS) -> Any:
    """Return the answer to a conversation that reads a URI."""
    of.wire = of.image.revision(version)
    line = ask(of, request("resources/read", {"uri": uri}))
    return line.get("result", line.get("error"))


def test_the_whole_is_read_by_the_conversation_it_is_of_and_no_other() -> None:
    image = image_of(data())
    ann, ben, alone = (session(name, image) for name in ("ann", "ben", None))
    long = "line\n" * 900
    found = result(Outcome([text(long)]), version=SESSIONS, of=ann)
    cut, link = found["content"]
    assert link == {
        "type": "resource_link", "name": "result of any", "mimeType": "text/plain", "size": 4500, "uri": link["uri"],
    }  # fmt: skip
    assert cut["text"].endswith(f"\n[… 1,740 of 4,500 bytes shown; the whole is the resource {link['uri']} …]")
    assert whole_of(ann, link["uri"])["contents"] == [{"uri": link["uri"], "mimeType": "text/plain", "text": long}]
    assert whole_of(ben, link["uri"])["code"] == whole_of(alone, link["uri"])["code"] == -32002
    assert [block["type"] for block in result(Outcome([text(long)]), of=alone)["content"]] == ["text"]
    assert [block["type"] for block in result(Outcome([text(long)]), version=OLDEST, of=ann)["content"]] == ["text"]
    same = result(Outcome([text(long)]), version=SESSIONS, of=ben)["content"][1]
    assert same["uri"] == link["uri"] and whole_of(ben, link["uri"])["contents"][0]["text"] == long
    stated = {"rows": list(range(1000, 2000))}
    link = result(Outcome([text("x" * 3000)], stated), "rows", SESSIONS, ann)["content"][-1]
    text_part, json_part = whole_of(ann, link["uri"])["contents"]
    assert text_part["text"] == "x" * 3000 and json.loads(json_part["text"]) == stated


class Account:
    """An account that notes what it is charged; it refuses a principal without a name."""

    def __init__(self, principal: str, charged: dict[str, int]) -> None:
        self.principal, self.charged, self.size = principal, charged, 0

    def charge(self, size: int) -> bool:
        self.size = size
        self.charged[self.principal] = self.charged.get(self.principal, 0) + size
        return bool(self.principal)

    def clear(self) -> None:
        self.charged[self.principal] -= self.size


def test_what_is_kept_is_bounded_and_of_who_has_most_the_oldest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_results, "MAX_ENTRIES", 4)
    monkeypatch.setattr(kept_results, "OVERHEAD", 10)
    charged: dict[str, int] = {}
    found = KeptResults(1000)

    def there(conversation: str) -> list[str]:
        return [uri for uri in "12345" if (conversation, uri) in found._results]

    def keep(principal: str, uri: str, contents: bytes) -> bool:
        return found.keep(principal[:1], uri, KeptResult(contents, principal, Account(principal, charged)))

    assert all(keep("ann", uri, b"x" * 200) for uri in "123")
    assert found.read("a", "1") == b"x" * 200
    assert keep("ben", "1", b"y" * 300)
    assert (there("a"), there("b"), charged) == (["1", "2", "3"], ["1"], {"ann": 630, "ben": 310})
    assert keep("ann", "4", b"x")
    assert (there("a"), charged["ann"]) == (["1", "3", "4"], 431)
    assert keep("ben", "5", b"y" * 500)
    assert (there("a"), there("b")) == (["1", "3", "4"], ["5"]), "the largest holder loses its own"
    assert not keep("ben", "2", b"y" * 1001) and not keep("", "1", b"z")
    assert keep("ann", "4", b"xx") and (charged["ann"], charged["ben"]) == (432, 510)
    assert [found.read(*key) for key in (("b", "4"), (None, "4"), ("a", "9"))] == [None] * 3
    assert found.read("a", 4) is None
