"""Operations of APIs that are found and not listed, beside toolsets of another API and a tool in Python."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.http.endpoint import scope_refusal
from mcpc_runtime.http.principals import Principal
from support.artifact import build
from support.files import write_files
from support.http_api import Api, http_api
from support.posts import post_stateless
from support.serving import served
from support.stdio import StdioClient, only_text

FINDERS = ["search_operations", "describe_operation", "read_operation", "change_operation"]
LARGEST_LIST = 4096
SHOP = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders:
    get: {operationId: listOrders, tags: [Orders], summary: All orders, parameters: [{name: status, in: query, schema: {enum: [open, done]}}]}
    post: {operationId: placeOrder, tags: [Orders], summary: Order a thing, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}}
  /do/lines: {get: {operationId: orderEvents, tags: [Orders, Events], description: What happens to orders.}}
  /do/silent: {get: {operationId: waits}}
  /do/guarded: {get: {operationId: searchOperations, x-mcp: {name: read_operation}, parameters: [{name: customer, in: query, schema: {type: string}}]}}
components:
  schemas:
    Order: {type: object, properties: {thing: {type: string, description: What is ordered.}, in: {$ref: '#/components/schemas/Order'}}}
"""
ZOO = """
openapi: 3.1.0
info: {title: Zoo, version: "1"}
paths:
  /animals: {get: {operationId: listAnimals, tags: [Wild Äffchen]}}
  /health: {get: {operationId: state, tags: [mcp]}, put: {operationId: heal, x-speakeasy-mcp: {scopes: [care]}, tags: [mcp]}}
  /misc: {get: {operationId: misc}}
"""
PROJECT = {
    "apis/shop.toml": 'document = "shop.yaml"\nexpose = "search"\n[auth]\nbearer = "SHOP_TOKEN"\n',
    "apis/zoo.toml": 'document = "zoo.yaml"\nexpose = "toolsets"\n',
    "shop.yaml": SHOP,
    "zoo.yaml": ZOO,
    "tools.py": "from mcpc import Context, tool\n\n\n@tool\nasync def via(name: str, context: Context) -> str:\n"
    '    """Call an operation."""\n    result = await context.call_tool("read_operation", {"name": name})\n'
    '    return result["content"][0]["text"]\n',
}
LISTED = ["via", *FINDERS, "listAnimals", "state", "heal", "misc"]


def operation(name: str, *tags: str, summary: str = "", call: str = "read_operation") -> dict[str, Any]:
    return {"name": name, "summary": summary, "tags": [*tags], "call": call}


ORDERS = operation("listOrders", "Orders", summary="All orders")
PLACE = operation("placeOrder", "Orders", summary="Order a thing", call="change_operation")
EVENTS = operation("orderEvents", "Orders", "Events", summary="What happens to orders.")
WAITS = operation("waits", summary="GET /do/silent")
GUARDED = operation("shop_read_operation", summary="GET /do/guarded")
SEARCHES: list[tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]] = [
    ({"query": "list orders"}, [ORDERS, PLACE, EVENTS], {}),
    ({"query": "list orders", "limit": 1}, [ORDERS], {"matches": 3}),
    ({"query": "customers"}, [GUARDED], {}),
    ({"query": "happen", "tag": "events"}, [EVENTS], {}),
    ({"query": "vent"}, [EVENTS], {}),
    ({"tag": "ORDERS", "limit": 50}, [ORDERS, PLACE, EVENTS], {}),
    ({"query": "animals"}, [], {"tags": ["Orders", "Events"]}),
    ({"query": " / "}, [ORDERS, PLACE, EVENTS, WAITS, GUARDED], {"tags": ["Orders", "Events"]}),
]
DESCRIBED = {
    "name": "placeOrder",
    "description": "Order a thing",
    "inputSchema": {
        "type": "object",
        "properties": {
            "thing": {"type": "string", "description": "What is ordered."},
            "in": {"$ref": "#/$defs/Order"},
        },
        "$defs": {
            "Order": {
                "type": "object",
                "properties": {
                    "thing": {"type": "string", "description": "What is ordered."},
                    "in": {"$ref": "#/$defs/Order"},
                },
            }
        },
        "additionalProperties": False,
    },
    "annotations": {"destructiveHint": False, "openWorldHint": True},
    "call": "change_operation",
}
REFUSED = [
    ("read_operation", {"name": "placeOrder"}, "`placeOrder` changes something: call it with `change_operation`"),
    ("read_operation", {"name": "listOrder"}, "There is no operation `listOrder`; did you mean `listOrders`?"),
    ("read_operation", {"name": "via"}, "There is no operation `via`; `search_operations` finds those that there are"),
    ("describe_operation", {"name": "listAnimals"}, "There is no operation `listAnimals`; `search_operations` finds"),
    (
        "change_operation",
        {"name": "placeOrder", "arguments": {"thing": 1}},
        "Invalid arguments for placeOrder: 1 problem",
    ),
    ("read_operation", {"name": "listOrders", "status": "open"}, "Invalid arguments for read_operation: 1 problem"),
    ("via", {"name": "placeOrder"}, "changes something"),
]


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with http_api() as serving:
        yield serving


@pytest.fixture(scope="module")
def environment(api: Api) -> dict[str, str]:
    return {"SHOP_BASE_URL": api.url, "ZOO_BASE_URL": api.url, "SHOP_TOKEN": "s3cret"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = write_files(tmp_path_factory.mktemp("exposed"), PROJECT)
    return build(project, project.with_suffix(".pyz"), "--http")


@pytest.fixture(scope="module")
def client(server: Path, environment: dict[str, str]) -> Iterator[StdioClient]:
    with StdioClient(server, environment=environment) as talking:
        talking.initialize()
        yield talking


def names(message: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in message["result"]["tools"]]


def searched(client: StdioClient, **arguments: Any) -> list[str]:
    return [
        row["name"] for row in client.call_tool("search_operations", **arguments)["structuredContent"]["operations"]
    ]


def test_operations_are_not_listed(client: StdioClient) -> None:
    message = client.ask("tools/list")
    assert names(message) == LISTED
    assert len(json.dumps(message["result"]["tools"][1:5])) < LARGEST_LIST


@pytest.mark.parametrize(("arguments", "operations", "more"), SEARCHES)
def test_operations_are_found(
    client: StdioClient, arguments: dict[str, Any], operations: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    result = client.call_tool("search_operations", **arguments)
    assert result["structuredContent"] == {"operations": operations, "matches": len(operations), **more}
    assert json.loads(only_text(result)) == result["structuredContent"]


def test_an_operation_is_described_whole(client: StdioClient) -> None:
    assert client.call_tool("describe_operation", name="placeOrder")["structuredContent"] == DESCRIBED


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSED)
def test_calls_that_are_refused(
    client: StdioClient, api: Api, tool: str, arguments: dict[str, Any], message: str
) -> None:
    api.requests.clear()
    result = client.call_tool(tool, **arguments)
    assert message in only_text(result) and not api.requests
    assert result["isError"]


def test_an_operation_is_called_as_itself(server: Path, environment: dict[str, str], api: Api, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read_operation", {"name": "listOrders", "arguments": {"status": "open"}}),
        ("change_operation", {"name": "listOrders"}),
        ("change_operation", {"name": "placeOrder", "arguments": {"thing": "hat"}}),
        ("listOrders", {"status": "done"}),
        ("via", {"name": "listOrders"}),
        ("shop_read_operation", {}),
    ]
    api.requests.clear()
    api.asked.clear()
    api.gone.clear()
    with StdioClient(server, environment={**environment, "MCPC_CALL_LOG": str(log)}) as talking:
        talking.initialize()
        for tool, arguments in calls:
            assert not talking.call_tool(tool, **arguments).get("isError")
        number = talking.begin(
            "tools/call",
            {"name": "read_operation", "arguments": {"name": "orderEvents"}, "_meta": {"progressToken": "p"}},
        )
        assert only_text(talking.reply(number)["result"]) == '[{"a":1},{"a":2}]'
        progress = [
            each["params"]["message"] for each in talking.said if each.get("method") == "notifications/progress"
        ]
        number = talking.begin("tools/call", {"name": "read_operation", "arguments": {"name": "waits"}})
        assert api.asked.wait(30)
        talking.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        assert api.gone.wait(30)
        talking.end()
    assert progress == ['{"a":1}', '{"a":2}']
    targets = [(sent["method"], sent["target"], sent["body"]) for sent in api.requests]
    assert targets[:3] == [
        ("GET", "/orders?status=open", b""),
        ("GET", "/orders", b""),
        ("POST", "/orders", b'{"thing":"hat"}'),
    ]
    assert {sent["headers"]["Authorization"] for sent in api.requests} == {"Bearer s3cret"}
    logged = [json.loads(line)["tool"] for line in log.read_text("utf-8").splitlines()]
    assert logged[:4] == ["listOrders", "listOrders", "placeOrder", "listOrders"]
    assert {*logged[4:]} == {"via", "listOrders", "shop_read_operation", "orderEvents", "waits"}


@pytest.mark.parametrize(
    ("options", "listed", "operations"),
    [
        (
            ["--read-only"],
            [*FINDERS[:3], "listAnimals", "state", "misc"],
            ["listOrders", "orderEvents", "waits", "shop_read_operation"],
        ),
        (["--toolsets", "events,care"], [*FINDERS, "heal"], ["orderEvents"]),
        (["--tools", "search_*,placeOrder"], ["search_operations"], ["placeOrder"]),
    ],
)
def test_a_choice_is_about_operations_too(
    server: Path, environment: dict[str, str], options: list[str], listed: list[str], operations: list[str]
) -> None:
    with StdioClient(server, *options, environment=environment) as talking:
        talking.initialize()
        assert names(talking.ask("tools/list")) == listed
        assert searched(talking, limit=50) == operations
        is_there = "placeOrder" in operations
        assert ("result" in talking.ask("tools/call", {"name": "placeOrder", "arguments": {}})) == is_there


def test_over_http_toolsets_are_servers_and_tokens_name_operations(
    server: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("me all-of-them-0123456789\nyou some-of-them-0123456789 *e_operation,search_*,listOrders,heal\n")
    tokens.chmod(0o600)
    options = ("--token-file", str(tokens), "--quota", "placeOrder=1/h")
    with served(server, *options, environment=environment) as serving:
        root = serving.url.removesuffix("/mcp")

        def ask(path: str, whose: str, method: str, **params: Any) -> dict[str, Any]:
            token = f"Bearer {whose}-of-them-0123456789"
            return post_stateless(root + path, method, params, authorization=token).message

        paths = ("/wild-%C3%A4ffchen", "/mcp-tools", "/care", "/other")
        assert [names(ask(path, "all", "tools/list")) for path in paths] == [
            ["listAnimals"],
            ["state"],
            ["heal"],
            ["misc"],
        ]
        assert names(ask("/mcp", "some", "tools/list")) == [*FINDERS[:2], "change_operation", "heal"]
        said = ask("/mcp", "some", "tools/call", name="search_operations", arguments={})
        assert [row["name"] for row in said["result"]["structuredContent"]["operations"]] == ["listOrders"]
        said = ask("/mcp", "some", "tools/call", name="change_operation", arguments={"name": "placeOrder"})
        assert said["result"]["isError"]
        said = ask("/mcp", "all", "tools/call", name="change_operation", arguments={"name": "placeOrder"})
        assert said["result"]["structuredContent"] == {"ok": True}
        said = ask("/mcp", "all", "tools/call", name="change_operation", arguments={"name": "placeOrder"})
        assert "your quota of calls is 1/h of the tool placeOrder" in said["error"]["message"]


def test_a_token_needs_the_scopes_of_an_operation() -> None:
    asked: list[str] = []
    authenticator = SimpleNamespace(permit=lambda principal, method, name, path: asked.append(name))
    call = {"method": "tools/call", "params": {"name": "change_operation", "arguments": {"name": "placeOrder"}}}
    other: dict[str, Any] = {"method": "tools/call", "params": {"name": "via", "arguments": {"name": "placeOrder"}}}
    for index, names_asked in (
        ({"operations": True}, ["change_operation", "placeOrder", "via"]),
        ({}, ["change_operation", "via"]),
    ):
        asked.clear()
        driver: Any = SimpleNamespace(
            image=SimpleNamespace(index=index), settings=SimpleNamespace(authenticator=authenticator)
        )
        assert scope_refusal(driver, [call, other], Principal("me"), "/mcp") is None
        assert asked == names_asked
