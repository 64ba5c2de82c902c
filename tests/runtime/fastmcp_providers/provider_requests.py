"""The requests to the provider server whose answers are recorded: a table."""

CALLS = (
    ("db_scale_2", {"value": 4}),
    ("db_scale_3", {"value": 4}),
    ("scale_2", {"value": 4}),
    ("in_plus", {"a": 1}),
    ("in_plus", {"a": 1, "b": 2}),
    ("plus", {"a": 1}),
    ("in_never", {}),
    ("versioned", {}),
    ("kept", {}),
    ("child_greet", {"name": "A"}),
    ("child_hello", {"name": "A"}),
    ("child_other", {}),
    ("shown_a", {}),
    ("shown_b", {}),
)
VERSIONS = ("1.0", "2", "10.0", "7")
"""The versions of a tool that are asked for."""
READS = (
    "row://db/1",
    "row://db/3",
    "note://in/a%20b",
    "child://child/x/y/z",
    "child://x/y",
    "data://asked/x",
)
GETS = (
    ("in_ask", {"topic": "t"}),
    ("ask", {"topic": "t"}),
    ("asked_question", {"n": "2"}),
)
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def requests():
    """Return all requests: method, parameters, the client's answer to the server's request."""
    lists = [(method, {}, None) for method in LISTS]
    found = [*lists, *(("tools/call", {"name": name, "arguments": given}, None) for name, given in CALLS)]
    for version in VERSIONS:
        meta = {"_meta": {"fastmcp": {"version": version}}}
        found.append(("tools/call", {"name": "versioned", "arguments": {}, **meta}, None))
    found += [("resources/read", {"uri": uri}, None) for uri in READS]
    found += [("prompts/get", {"name": name, "arguments": arguments}, None) for name, arguments in GETS]
    for hidden in (True, False):
        found.append(("tools/call", {"name": "show", "arguments": {"hidden": hidden}}, None))
        found += [("tools/list", {}, None), ("tools/call", {"name": "in_plus", "arguments": {"a": 1}}, None)]
    return found
