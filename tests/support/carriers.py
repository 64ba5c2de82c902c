"""A project with everything that carriers show, and the official schemas of what they are."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import referencing

from support.files import write_files
from support.reference import DATA

SCHEMAS = DATA / "schemas"
PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
HOSTILE = "100% \"quoted\" 'text' $HOME ${x} #{y} `z` {{ w }} \\ é 漢: - #"
SETTINGS: list[dict[str, Any]] = [
    {"name": "API_KEY", "title": "API key", "description": HOSTILE, "required": True, "secret": True},
    {"name": "SPARE_KEY", "secret": True},
    {"name": "REGION", "default": "eu$1", "choices": ["eu$1", "us"]},
    {"name": "PORT_NUMBER", "type": "integer", "default": 80},
    {"name": "LIMIT", "type": "number"},
    {"name": "VERBOSE", "type": "boolean", "default": True},
    {"name": "QUIET", "type": "boolean"},
    {"name": "ROOT", "type": "directory", "required": True},
]
FILES: dict[str, str | bytes] = {
    "server.json": json.dumps(
        {
            "serverInfo": {
                "name": "weather",
                "title": "Weather & more",
                "version": "1.4.0",
                "websiteUrl": "https://example.org/weather",
                "icons": [
                    {"src": PNG, "mimeType": "image/png", "sizes": ["1x1"]},
                    {"src": "https://example.org/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"},
                ],
            },
            "settings": SETTINGS,
        }
    ),
    "pyproject.toml": f"""
[project]
name = "weather"
version = "1.4.0"
description = {json.dumps(HOSTILE, ensure_ascii=False)}
authors = [{{email = "first@example.org"}}, {{name = "Ada Example", email = "ada@example.org"}}]
license = "MIT"
keywords = ["weather", "forecast"]
urls = {{Source = "https://github.com/example/weather", Issues = "https://github.com/example/weather/issues"}}

[tool.mcpc.registry]
name = "io.github.example/weather"
mcpb = "https://github.com/example/weather/releases/download/v{{version}}/weather.mcpb"
oci = "ghcr.io/example/weather:{{version}}"
remotes = ["https://weather.example.com/mcp"]
""",
    "tools.py": (
        "from mcpc import tool\n\n\n@tool\ndef forecast(place: str) -> str:\n"
        '    """Tell the weather of a place."""\n    return f"sunny in {place}"\n'
    ),
    "skills/knots/SKILL.md": '---\nname: knots\ndescription: Tie knots. "}]"\n---\n\nTie {"a": [1]}]}] é\n',
    "skills/knots/knot.png": b'\x89PNG\r\n\x1a\n}]"\\',
}


def write_project(folder: Path) -> Path:
    write_files(folder, FILES)
    return folder


@cache
def validator(path: str) -> jsonschema.protocols.Validator:
    """Return the validator of an official schema, which finds the schemas beside it."""
    place = SCHEMAS / path
    schema = json.loads(place.read_bytes())

    def neighbour(uri: str) -> referencing.Resource[Any]:
        found = json.loads((place.parent / uri.rpartition("/")[2]).read_bytes())
        return referencing.Resource.from_contents(found, default_specification=referencing.jsonschema.DRAFT4)

    registry: referencing.Registry[Any] = referencing.Registry(retrieve=neighbour)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft7Validator)
    return kind(schema, registry=registry, format_checker=kind.FORMAT_CHECKER)


def assert_valid(path: str, value: Any) -> None:
    """Compare a value with an official schema."""
    assert [problem.message for problem in validator(path).iter_errors(value)] == []
