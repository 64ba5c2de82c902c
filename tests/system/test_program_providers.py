"""A built file of a FastMCP project whose components come from providers, through transforms."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.artifact import built_fixture
from support.needs import ROOT
from support.stdio import StdioClient

PROJECT = ROOT / "tests/system/programs/sources"
SKILL = "---\ndescription: How knots are tied\n---\n# Knots\n"


artifact = built_fixture(PROJECT)


@pytest.fixture
def client(artifact: Path) -> Iterator[StdioClient]:
    found = StdioClient(artifact)
    found.initialize()
    yield found
    found.close()


def call(client: StdioClient, name: str, **arguments: object) -> Any:
    return client.ask("tools/call", {"name": name, "arguments": arguments})


def test_the_lists_have_the_components_of_all_providers(client: StdioClient) -> None:
    tools = client.ask("tools/list", {})["result"]["tools"]
    described = {tool["name"]: tool["description"] for tool in tools}
    assert described == {
        "entered": "Whether the table's lifespan was entered.",
        "hide": "Hide a tool from this session.",
        "add_rate": "Add a row to the table.",
        "money_to_euro": "Convert to euro, exactly",
        "money_to_yen": "Convert to yen, exactly",
        "add": "Add two numbers.",
    }
    prompts = client.ask("prompts/list", {})["result"]["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["thank"]
    resources = client.ask("resources/list", {})["result"]["resources"]
    assert [resource["uri"] for resource in resources] == ["skill://knots/SKILL.md", "skill://knots/_manifest"]
    templates = client.ask("resources/templates/list", {})["result"]["resourceTemplates"]
    assert [template["uriTemplate"] for template in templates] == ["skill://knots/{path*}"]


def test_a_list_that_a_provider_of_the_project_makes_is_made_for_each_request(client: StdioClient) -> None:
    assert call(client, "add_rate", currency="franc", rate=2.5)["result"]["content"][0]["text"] == "added"
    tools = client.ask("tools/list", {})["result"]["tools"]
    assert "money_to_franc" in [tool["name"] for tool in tools]
    assert call(client, "money_to_franc", amount=2)["result"]["structuredContent"] == {"amount": 5.0}


def test_calls_go_to_the_provider(client: StdioClient) -> None:
    assert call(client, "entered")["result"]["structuredContent"] == {"result": True}
    assert call(client, "money_to_euro", amount=3)["result"]["structuredContent"] == {"amount": 6.0}
    assert call(client, "add", a=2, b=3)["result"]["structuredContent"] == {"result": 5}
    assert call(client, "to_euro", amount=3)["result"]["isError"]
    thanked = client.ask("prompts/get", {"name": "thank", "arguments": {"name": "B"}})
    assert thanked["result"]["messages"][0]["content"]["text"] == "Thank B"


def test_files_of_skills_are_read(client: StdioClient) -> None:
    read = client.ask("resources/read", {"uri": "skill://knots/SKILL.md"})
    assert read["result"]["contents"][0]["text"] == SKILL
    other = client.ask("resources/read", {"uri": "skill://knots/bowline.md"})
    assert other["result"]["contents"][0]["text"] == "A bowline.\n"
    outside = client.ask("resources/read", {"uri": "skill://knots/%2e%2e%2fserver.py"})
    assert "error" in outside


def test_a_session_hides_a_tool_from_itself(artifact: Path, client: StdioClient) -> None:
    assert call(client, "hide")["result"]["content"][0]["text"] == "hidden"
    assert call(client, "entered")["result"]["isError"] is True
    other = StdioClient(artifact)
    other.initialize()
    assert call(other, "entered")["result"]["structuredContent"] == {"result": True}
    other.close()
