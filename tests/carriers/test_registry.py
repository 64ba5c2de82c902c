"""The registry's `server.json`: valid by its schema, and refused beforehand where the registry would refuse it."""

import hashlib
import json
from pathlib import Path

from mcpc.frontends.project_metadata import is_registry_manifest
from mcpc.reading import Source
from mcpc.release.carriers import BuiltServer
from mcpc.release.carriers.registry import Publication, registry_file
from support.artifact import mcpc
from support.carriers import FILES, assert_valid

SCHEMA = "registry/server.schema.2025-12-11.json"
URL = "https://github.com/example/weather/releases/download/v1.4.0/weather.mcpb"
PUBLISHED = Publication(
    "io.github.example/weather", ((URL, "0" * 64),), ("ghcr.io/example/weather:1.4.0",), ("https://w.example.com/mcp",)
)


def test_it_is_valid_and_complete(server: BuiltServer) -> None:
    found = json.loads(registry_file(server, PUBLISHED))
    assert_valid(SCHEMA, found)
    assert found["repository"] == {"url": "https://github.com/example/weather", "source": "github"}
    assert found["icons"] == [
        {"src": "https://example.org/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
    ]
    variables = {each["name"]: each for each in found["packages"][0]["environmentVariables"]}
    assert variables["API_KEY"]["isSecret"] is variables["API_KEY"]["isRequired"] is True
    assert variables["VERBOSE"]["default"] == "true"
    assert variables["REGION"]["choices"] == ["eu$1", "us"]
    assert variables["ROOT"]["format"] == "filepath"
    assert found["packages"][1] | {"environmentVariables": 0} == {
        "registryType": "oci", "identifier": "ghcr.io/example/weather:1.4.0", "transport": {"type": "stdio"},
        "environmentVariables": 0,
    }  # fmt: skip


def test_it_is_told_apart_from_a_project(server: BuiltServer) -> None:
    text = registry_file(server, PUBLISHED).encode()
    assert is_registry_manifest(Source("server.json", text, 0o644))
    own = FILES["server.json"]
    assert not is_registry_manifest(Source("server.json", own.encode() if isinstance(own, str) else own, 0o644))


def test_the_command_takes_the_digest_of_the_file(tmp_path: Path, artifact: Path) -> None:
    file = tmp_path / "weather.mcpb"
    file.write_bytes(b"bundle")
    done = mcpc("ship", "registry", artifact, "--mcpb", file, status=0)
    found = json.loads(done.stdout)
    assert_valid(SCHEMA, found)
    assert found["packages"][0]["identifier"] == URL
    assert found["packages"][0]["fileSha256"] == hashlib.sha256(b"bundle").hexdigest()
    assert found["packages"][1]["identifier"] == "ghcr.io/example/weather:1.4.0"
    refused = mcpc("ship", "registry", artifact, "-o", tmp_path / "server.json")
    assert (refused.returncode, (tmp_path / "server.json").exists()) == (2, False)
    assert "--mcpb URL=FILE" in " ".join(refused.stderr.split())
    unknown = tmp_path / "other.mcpb"
    unknown.write_bytes(b"")
    assert mcpc("ship", "registry", artifact, "--mcpb", unknown).returncode == 2
