"""The requests to the demo server whose answers are recorded: a table."""

ACCEPT = {"action": "accept"}
CALLS = {
    "add": [
        {"a": 1},
        {"a": 1, "b": 3},
        {"a": "5"},
        {"a": "x"},
        {},
        {"a": 1, "c": 2},
        {"a": 1.5},
        {"a": None},
        {"a": True},
    ],
    "untyped": [{"a": [1]}, {"a": "x", "b": {"c": 1}}],
    "kinds": [
        {"text": "t"},
        {
            "text": "t",
            "number": 2,
            "flag": "true",
            "items": ["1", 2],
            "table": {"a": 1},
            "color": "blue",
            "level": "high",
        },
        {"text": "t", "items": "[1, 2]", "table": '{"a": 1}'},
        {"text": "t", "when": "2024-01-02T03:04:05Z"},
        {"text": 5, "color": "green", "level": "mid"},
    ],
    "person": [
        {"who": {"name": "a", "age": 3}},
        {"who": {"name": "a", "age": 3, "address": {"street": "s", "zipCode": "1"}}, "pair": {"left": "l"}},
        {"who": {"name": "a", "age": -3}},
        {"who": '{"name": "a", "age": 3}'},
        {"who": {"age": "x"}},
    ],
    "limited": [{"n": 3}, {"n": 11}, {"n": 1, "name": "y"}],
    "field_default": [{}, {"n": 2}, {"n": 0}],
    "aliased": [{}, {"wert": 3}, {"value": 4}],
    "returns_optional": [{"some": True}, {"some": False}],
    "fails": [{}, {"kind": "tool"}, {"kind": "key"}, {"kind": "os"}],
    "progresses": [{"n": 2}],
    "text_context": [{"x": 4}],
    "remember": [{"key": "k", "value": "1"}, {"key": "k", "value": "2"}],
    "depends": [{"x": 1}, {"x": 1, "db": "mine"}],
    "reads": [{"uri": "data://text"}, {"uri": "data://nothing"}, {"uri": "items://4/part/p"}],
    "asks": [
        {"kind": "person", "_answer": {**ACCEPT, "content": {"left": "l", "right": 4}}},
        {"kind": "person", "_answer": {**ACCEPT, "content": {"right": 4}}},
        {"kind": "text", "_answer": {**ACCEPT, "content": {"value": "v"}}},
        {"kind": "number", "_answer": {**ACCEPT, "content": {"value": 3}}},
        {"kind": "flag", "_answer": {**ACCEPT, "content": {"value": True}}},
        {"kind": "choice", "_answer": {**ACCEPT, "content": {"value": "a"}}},
        {"kind": "literal", "_answer": {**ACCEPT, "content": {"value": "y"}}},
        {"kind": "color", "_answer": {**ACCEPT, "content": {"value": "red"}}},
        {"kind": "titled", "_answer": {**ACCEPT, "content": {"value": "low"}}},
        {"kind": "several", "_answer": {**ACCEPT, "content": {"value": ["p"]}}},
        {"kind": "model", "_answer": {**ACCEPT, "content": {"street": "s"}}},
        {"kind": "nested", "_answer": {"action": "decline"}},
        {"kind": "text", "_answer": {"action": "decline"}},
        {"kind": "text", "_answer": {"action": "cancel"}},
    ],
    "samples": [
        {"text": "hi", "_answer": {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "m"}}
    ],
    "roots": [{"_answer": {"roots": [{"uri": "file:///a", "name": "a"}]}}],
    "renamed": [{"x": 2}],
    "original": [{"x": 2}],
    "times": [{"x": 2}],
    "made": [{"x": 2}],
    "static": [{"x": 2}],
    "anonymous": [{"x": 2}],
    "search": [{"query": "q"}],
    "sub_inner": [{"x": 1}, {"x": "y"}],
    "unknown": [{}],
}
"""Calls of tools by name, each with its arguments; `_answer` is the client's answer to the server's request."""
PLAIN = (
    "nothing",
    "returns_dict",
    "returns_list",
    "returns_models",
    "returns_alias",
    "returns_kept",
    "returns_model_unannotated",
    "returns_dataclass",
    "returns_typed_dict",
    "returns_bytes",
    "returns_raw_bytes",
    "returns_tuple",
    "returns_set",
    "returns_time",
    "returns_enum",
    "returns_any",
    "returns_empty_list",
    "returns_text_list",
    "returns_image",
    "returns_jpg",
    "returns_mixed",
    "returns_helpers",
    "returns_block",
    "returns_blocks",
    "returns_result",
    "returns_result_list",
    "returns_structured_only",
    "no_schema",
    "own_schema",
    "generator",
    "asynchronous",
    "fails_inside",
    "wrong_type",
    "logs",
    "optional_context",
    "current_context",
    "about",
    "depends_broken",
    "blocked",
    "changed",
    "slow",
    "sub_inner_fails",
    "sub_unknown",
    "hides",
    "tells",
)
"""Tools that are called without arguments."""
READS = (
    "data://text",
    "data://json",
    "data://dict",
    "data://bytes",
    "data://context",
    "data://fails",
    "data://refuses",
    "data://nothing",
    "items://4/part/p",
    "items://x/part/p",
    "items://4/part/a%20b",
    "files://a/b/c.txt",
    "files://../etc",
    "search://t",
    "search://t?limit=3",
    "search://t?limit=3&exact=true",
    "search://t?limit=x",
    "fails://1",
    "inner://sub/value",
    "inner://sub/v/t",
    "inner://value",
)
GETS = (
    ("greet", {"name": "A"}),
    ("greet", {"name": "A", "times": "3"}),
    ("greet", {"name": "A", "times": "x"}),
    ("greet", {}),
    ("greet", {"name": "A", "other": "1"}),
    ("chat", {"topic": "t"}),
    ("complex_prompt", {"numbers": "[1, 2]"}),
    ("complex_prompt", {"numbers": "[1, 2]", "options": '{"a": "b"}'}),
    ("complex_prompt", {"numbers": "nothing"}),
    ("context_prompt", {}),
    ("fails_prompt", {}),
    ("text_list", {}),
    ("unknown", {}),
    ("sub_inner_prompt", {"a": "1"}),
)


def requests():
    """Return all requests: method, parameters, the client's answer to the server's request."""
    found = []
    for name in PLAIN:
        found.append(("tools/call", {"name": name, "arguments": {}}, None))
    for name, calls in CALLS.items():
        for given in calls:
            arguments = {key: value for key, value in given.items() if key != "_answer"}
            params = {"name": name, "arguments": arguments}
            if name == "progresses":
                params["_meta"] = {"progressToken": "t"}
            found.append(("tools/call", params, given.get("_answer")))
    found += [("resources/read", {"uri": uri}, None) for uri in READS]
    found += [("prompts/get", {"name": name, "arguments": arguments}, None) for name, arguments in GETS]
    found.append(("tools/call", {"name": "notes", "arguments": {}}, None))
    return found
